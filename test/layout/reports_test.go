package layout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReportsOfOthersHaveTests: each row of the table of public reports states the reported problem and its
// current state, and names an existing test. Every reported error has been corrected. Only rows about missing
// features have no test.
func TestReportsOfOthersHaveTests(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "reports.txt"))
	require.NoError(t, err)
	kinds := []string{
		"one name", "shown", "dry runs", "advice", "creation", "meaning", "planner", "asked", "held",
	}
	seen, before, now := map[string]bool{}, map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		require.Len(t, cells, 5, line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		kind, report, was, is, test := cells[0], cells[1], cells[2], cells[3], cells[4]
		assert.True(t, slices.Contains(kinds, kind), line)
		assert.False(t, seen[report], line)
		assert.True(t, slices.Contains([]string{"right", "wrong", "missing"}, was), line)
		assert.True(t, slices.Contains([]string{"right", "missing"}, is), line)
		seen[report] = true
		before[was]++
		now[is]++
		if is == "missing" {
			assert.Equal(t, "missing", was, line)
			assert.Empty(t, test, line)
			continue
		}
		file, name, _ := strings.Cut(test, " ")
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if assert.NoError(t, err, line) {
			assert.Contains(t, string(source), "func "+name+"(t ", line)
		}
	}
	t.Logf("%d reports: %v before, %v now", len(seen), before, now)
	assert.Positive(t, before["wrong"])
	assert.Zero(t, now["wrong"])
}

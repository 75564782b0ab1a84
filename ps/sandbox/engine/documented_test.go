package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocumented: the scripts in documented.txt have the answers that PowerShell's
// documentation and source state but no recording shows.
func TestDocumented(t *testing.T) {
	count := runLines(t, "documented.txt", func(_, want string) string { return want })
	assert.Greater(t, count, 100)
}

// TestRecordedLines: the scripts in recorded.txt have the answers of a real engine, or are refused.
func TestRecordedLines(t *testing.T) {
	count := runLines(t, "recorded.txt", func(script, want string) string {
		real, refusal, stricter := strings.Cut(want, " ==> ")
		if !stricter {
			return real
		}
		require.True(t, strings.HasPrefix(refusal, "REFUSED: ") ||
			strings.Contains(refusal, "Outside the script subset: "), script)
		return refusal
	})
	assert.Greater(t, count, 10)
}

// runLines runs the scripts of a file and returns their number. wanted returns the expected answer.
func runLines(t *testing.T, file string, wanted func(script, want string) string) (count int) {
	data, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	newLines := strings.NewReplacer("⏎", "\n")
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		script, want, ok := strings.Cut(line, " ==> ")
		require.True(t, ok, "line %d has no ==>", i+1)
		want = wanted(script, want)
		count++
		t.Run(fmt.Sprintf("line %d", i+1), func(t *testing.T) {
			s := NewEngine(Options{}).NewSession(Console{})
			got := lines(t, s, newLines.Replace(script))
			assert.Equal(t, newLines.Replace(want), strings.Join(got, "|"), "%s", script)
		})
	}
	return count
}

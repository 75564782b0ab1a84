package engine

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocumented runs documented.txt: what PowerShell's documentation and source
// say and no recording shows.
func TestDocumented(t *testing.T) {
	data, err := os.ReadFile("testdata/documented.txt")
	require.NoError(t, err)
	newLines := strings.NewReplacer("⏎", "\n")
	count := 0
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		script, want, ok := strings.Cut(line, " ==> ")
		require.True(t, ok, "line %d has no ==>", i+1)
		count++
		t.Run(fmt.Sprintf("line %d", i+1), func(t *testing.T) {
			s := NewEngine(Options{}).NewSession(Console{})
			got := lines(t, s, newLines.Replace(script))
			assert.Equal(t, newLines.Replace(want), strings.Join(got, "|"), "%s", script)
		})
	}
	assert.Greater(t, count, 100)
}

package syntax

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOutside: every text in outside.txt is refused for the reason given on its line.
func TestOutside(t *testing.T) {
	data, err := os.ReadFile("outside.txt")
	require.NoError(t, err)
	count := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		what, text, ok := strings.Cut(line, "\t")
		if line == "" || !ok && strings.HasPrefix(line, "# ") {
			continue
		}
		require.True(t, ok, "no tab in %q", line)
		count++
		t.Run(text, func(t *testing.T) {
			script, errs := Parse("", text)
			require.NotEmpty(t, errs)
			assert.Nil(t, script)
			assert.True(t, errs[0].Outside, "%s", errs[0].Message)
			assert.False(t, errs[0].Incomplete)
			assert.Equal(t, IDOutside, errs[0].ID)
			rest, named := strings.CutPrefix(errs[0].Message, "Outside the script subset: "+what)
			assert.True(t, named && (rest == "." || strings.HasPrefix(rest, "; ")), "%s", errs[0].Message)
		})
	}
	assert.Greater(t, count, 50)
}

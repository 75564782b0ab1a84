package layout

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoConflictMarkers: no tracked file contains a conflict marker of a merge.
func TestNoConflictMarkers(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("not a clone")
	}
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	files := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // removed, and not committed
		}
		require.NoError(t, err)
		for _, line := range markers(text) {
			assert.Fail(t, "a marker of a merge", "%s:%d", file, line)
		}
	}
}

func TestMarkersAreFound(t *testing.T) {
	ours, theirs := strings.Repeat("<", 7), strings.Repeat(">", 7)
	base, middle := strings.Repeat("|", 7), strings.Repeat("=", 7)
	for text, want := range map[string][]int{
		"a\n" + ours + " HEAD\nb\n" + middle + "\nc\n" + theirs + " 27fbcda (why)\nd\n": {2, 4, 6},
		ours + "\r\nb\r\n" + base + " 27fbcda\r\n" + middle + "\r\n" + theirs + "\r\n":  {1, 3, 4, 5},
		"a\n" + middle + "\nb":            {2},
		"a\n" + middle + "=\n " + ours:    nil,
		"a table " + base + " of nothing": nil,
		ours + "text":                     nil,
	} {
		assert.Equal(t, want, markers([]byte(text)), "%q", text)
	}
}

var marker = regexp.MustCompile(fmt.Sprintf(`^(?:[<]{7}|[|]{7}|[>]{7})(?: .*)?\r?$|^%s\r?$`, strings.Repeat("=", 7)))

// markers returns the lines of a text that are conflict markers.
func markers(text []byte) (lines []int) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if marker.Match(line) {
			lines = append(lines, i+1)
		}
	}
	return lines
}

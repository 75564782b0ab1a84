package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui/frame"
)

// pageRoutes returns the routes that answer GET, read from the files that register them.
func pageRoutes(t *testing.T) (all []string) {
	t.Helper()
	literal := regexp.MustCompile(`(?:"GET |p\.(?:Get|Anybody)\(")(/ui/[^"]*)"(\+)?`)
	computed := 0
	for _, file := range []string{"routes.go", "frame/pages.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "" {
				all = append(all, m[1])
			} else {
				computed++
			}
		}
	}
	for _, l := range listings {
		all = append(all, "/ui/"+l.Path)
	}
	for _, k := range frame.Kinds {
		if sections[k.HitType] != nil {
			all = append(all, "/ui/"+k.Path+"/{guid}")
		}
	}
	for _, path := range partsOfOU {
		all = append(all, "/ui/ous/{path}/"+path)
	}
	require.Equal(t, 3, computed, "each loop that registers routes is repeated above")
	return append(all, frame.TicketPath)
}

// TestEveryPageIsOnATour: the browser tests look at a page of every route, and check that the page belongs to
// the route in their list.
func TestEveryPageIsOnATour(t *testing.T) {
	const folder = "../../test/browser"
	list, err := os.ReadFile(filepath.Join(folder, "testdata", "routes.txt"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	var tours strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tours.Write(text)
	}
	var toured []string
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		require.GreaterOrEqual(t, len(words), 2, line)
		toured = append(toured, words[0])
		if words[1] != "-" {
			looks := regexp.MustCompile(`[({\s]"` + words[1] + `"[,)]`)
			assert.True(t, looks.MatchString(tours.String()), "%s has a look named %s", words[0], words[1])
		}
	}
	assert.True(t, slices.IsSorted(toured), "the routes are in order")
	assert.ElementsMatch(t, pageRoutes(t), toured)
}

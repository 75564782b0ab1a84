package main

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pagesOfZip returns what addManual adds, but for the front page.
func pagesOfZip(t *testing.T) map[string]file {
	t.Helper()
	t.Chdir("../..")
	all := map[string]file{}
	require.NoError(t, addManual(all, "\r\n"))
	found := manualFiles(all)
	require.Len(t, found, len(all)-1)
	delete(all, front)
	t.Chdir("cmd/release")
	return all
}

// Whoever unpacks a zip can follow the links from its front page.
func TestLinksBetweenPagesWorkInAZip(t *testing.T) {
	t.Chdir("../..")
	all := map[string]file{}
	require.NoError(t, addManual(all, "\r\n"))
	all["LICENSE.txt"] = file{}
	links := 0
	for page, f := range all {
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		assert.Equal(t, strings.Count(string(f.content), "\n"), strings.Count(string(f.content), "\r\n"), page)
		for _, match := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(f.content), -1) {
			links++
			target := path.Join(path.Dir(page), match[1])
			_, ok := all[target]
			assert.True(t, ok || target == manualFolder, "%s: %s is not in the zip", page, match[1])
		}
	}
	assert.Greater(t, links, 100)
	assert.Contains(t, all, "test/browser/testdata/person.png")
}

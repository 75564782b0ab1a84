package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/manual"
)

// pagesOfZip returns the files that addManual adds, except the front page.
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

// A reader of an unpacked zip can follow the links of its front page.
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

// A release embeds every page in compressed form.
func TestPagesOfAReleaseAreCompressed(t *testing.T) {
	t.Chdir("../..")
	replaced, err := packedPages(t.TempDir())
	require.NoError(t, err)
	assert.Len(t, replaced, len(manual.Names()))
	folder, err := filepath.Abs(manualFolder)
	require.NoError(t, err)
	for _, name := range manual.Names() {
		packed, err := os.ReadFile(replaced[filepath.Join(folder, filepath.FromSlash(name)+".md")])
		require.NoError(t, err, name)
		page, _ := manual.Find(name)
		want, err := manual.Packed([]byte(page.Text))
		require.NoError(t, err)
		assert.Equal(t, want, packed, name)
	}
}

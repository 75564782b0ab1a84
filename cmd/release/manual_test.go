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
	"adgateway/ps/packed"
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

// A release embeds every page, script and file of data in compressed form.
func TestFilesOfAReleaseAreCompressed(t *testing.T) {
	t.Chdir("../..")
	replaced, err := packedFiles(t.TempDir())
	require.NoError(t, err)
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	for _, name := range []string{"scripts/prelude.ps1", "scripts/ad/Get-GatewayUser.ps1",
		"ps/cmdlets/data/activedirectory.ndjson", "ps/sandbox/internal/data/corp.example.ldif"} {
		assert.Contains(t, replaced, filepath.Join(root, filepath.FromSlash(name)))
	}
	for _, name := range manual.Names() {
		assert.Contains(t, replaced, filepath.Join(root, filepath.FromSlash(manualFolder+"/"+name+".md")))
	}
	for original, name := range replaced {
		small, err := os.ReadFile(name)
		require.NoError(t, err)
		text, err := packed.Text(small)
		require.NoError(t, err)
		want, err := os.ReadFile(original)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(text), original)
		assert.Less(t, len(small), len(want), original)
	}
}

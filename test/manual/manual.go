// Package manual reads README.md and the pages in gateway/manual for the tests that compare
// them with the program.
package manual

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Front is the first page for readers.
const Front = "README.md"

// Folder is the folder with the other pages.
const Folder = "gateway/manual"

// Page is a page with its slash-separated path in the module.
type Page struct{ Path, Text string }

// Pages returns the front page, followed by the other pages in the order of their paths.
func Pages(t testing.TB) []Page {
	t.Helper()
	root := Root(t)
	pages := []Page{read(t, root, Front)}
	require.NoError(t, fs.WalkDir(os.DirFS(root), Folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, read(t, root, path))
		}
		return err
	}))
	require.Greater(t, len(pages), 40)
	return pages
}

// Text returns the text of a page. The name is its path in the manual's folder without the extension.
func Text(t testing.TB, name string) string {
	t.Helper()
	pages := Pages(t)
	at := slices.IndexFunc(pages, func(p Page) bool { return p.Path == Folder+"/"+name+".md" })
	require.GreaterOrEqual(t, at, 0, name)
	return pages[at].Text
}

// All returns the text of all pages, one after another.
func All(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, page := range Pages(t) {
		all.WriteString(page.Text + "\n")
	}
	return all.String()
}

// Root returns the root folder of the module, which is the test's folder or a parent of it.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		require.NotEqual(t, parent, folder, "a folder with go.mod")
		folder = parent
	}
}

func read(t testing.TB, root, path string) Page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	require.NoError(t, err)
	return Page{Path: path, Text: strings.ReplaceAll(string(text), "\r\n", "\n")}
}

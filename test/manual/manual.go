// Package manual reads README.md and the pages of gateway/manual for the tests that hold
// them against the program.
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

// Front is the page that a reader sees first.
const Front = "README.md"

// Folder has the other pages.
const Folder = "gateway/manual"

// Page is a page by its path in the module, which has slashes.
type Page struct{ Path, Text string }

// Pages returns the front page and then the others in the order of their paths.
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

// Text returns one page by its path in the folder of the manual, without its ending.
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

// Root returns the folder of the module, which is the folder of the test or one above it.
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

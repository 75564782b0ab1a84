package layout

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adgateway/test/manual"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unmapped are the packages that the map of the manual leaves to their parent.
var unmapped = regexp.MustCompile(`/internal/|^gateway/(atomicfile|every|filefault|nearest)$|^gateway/schema/|^test/|test$`)

// TestManualMapsThePackages holds the tree of packages in the manual against
// the folders, in both directions.
func TestManualMapsThePackages(t *testing.T) {
	_, section, found := strings.Cut(manual.Text(t, "develop"), "## Packages\n")
	require.True(t, found)
	block := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(section)
	require.NotNil(t, block)
	mapped := map[string]bool{}
	var parents []string
	line := regexp.MustCompile(`^( *)(\S+(?: {2}[a-z]+)*)  +\S`)
	for row := range strings.Lines(block[1]) {
		if strings.TrimSpace(row) == "" {
			continue
		}
		m := line.FindStringSubmatch(row)
		if m == nil { // a name without a description
			m = []string{"", row[:len(row)-len(strings.TrimLeft(row, " "))], strings.TrimSpace(row)}
		}
		depth := len(m[1]) / 4
		require.LessOrEqual(t, depth, len(parents), "%s", row)
		for _, name := range strings.Fields(m[2]) {
			parents = append(parents[:depth], strings.TrimSuffix(name, "/..."))
			mapped[path.Join(parents...)] = true
		}
	}
	for folder := range mapped {
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(folder)))
		assert.NoError(t, err, "the page maps %s", folder)
	}
	for _, s := range sources(t) {
		if !s.test() && !unmapped.MatchString(s.dir) {
			assert.True(t, mapped[s.dir], "the page's map lacks %s", s.dir)
		}
	}
}

// TestTestsThatAreNamedExist: every test that the page on security or the
// Makefile names is one of the project's.
func TestTestsThatAreNamedExist(t *testing.T) {
	var tests strings.Builder
	for _, s := range sources(t) {
		if s.test() {
			tests.Write(s.text)
		}
	}
	for _, place := range []struct{ file, from, to string }{
		{"gateway/manual/security.md", "# Security\n", "\n## "},
		{"Makefile", "\nSEQUENTIAL :=", "\n"},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", place.file))
		require.NoError(t, err)
		_, section, found := strings.Cut(string(text), place.from)
		require.True(t, found, place.file)
		section, _, _ = strings.Cut(section, place.to)
		names := regexp.MustCompile(`\bTest[A-Za-z]+`).FindAllString(section, -1)
		require.NotEmpty(t, names, place.file)
		for _, name := range names {
			assert.Contains(t, tests.String(), "\nfunc "+name+"(t *testing.T)", "%s names it", place.file)
		}
	}
}

package layout

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unmapped are the packages that the map of the README leaves to their parent.
var unmapped = regexp.MustCompile(`/internal/|^gateway/(filefault|nearest)$|^gateway/schema/|^test/|test$`)

// TestReadmeMapsThePackages holds the tree of packages in the README against
// the folders, in both directions.
func TestReadmeMapsThePackages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "## Packages\n")
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
		assert.NoError(t, err, "the README maps %s", folder)
	}
	for _, s := range sources(t) {
		if !s.test() && !unmapped.MatchString(s.dir) {
			assert.True(t, mapped[s.dir], "the README's map lacks %s", s.dir)
		}
	}
}

// TestReadmeNamesTestsThatExist: every test that the chapter on security names is
// one of the project's.
func TestReadmeNamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Security\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var tests strings.Builder
	for _, s := range sources(t) {
		if s.test() {
			tests.Write(s.text)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(section, -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		assert.Contains(t, tests.String(), "\nfunc "+name[1]+"(t *testing.T)", "the README names it")
	}
}

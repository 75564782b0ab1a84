package layout

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/prose"
)

// TestCommentsArePlain: no comment, in tests or elsewhere, contains a phrase of the list of [prose].
func TestCommentsArePlain(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, found := range prose.Comment(text) {
				assert.Fail(t, fmt.Sprintf("%s:%d: %s", s.path, s.line(group.Pos()), found))
			}
		}
	}
}

// TestNamesOfTestsArePlain: nor does the name of a test, read as words.
func TestNamesOfTestsArePlain(t *testing.T) {
	test := regexp.MustCompile(`(?m)^func (?:[Tt]est|Fuzz|Benchmark)([A-Z]\w*)\(`)
	names := 0
	for _, s := range sources(t) {
		for _, m := range test.FindAllSubmatch(s.text, -1) {
			names++
			for _, found := range prose.Comment(wordsOf(string(m[1]))) {
				assert.Fail(t, fmt.Sprintf("%s: %s: %s", s.path, m[1], found))
			}
		}
	}
	assert.Greater(t, names, 2000)
}

// wordsOf returns a name in Go as words in lower case.
func wordsOf(name string) string {
	for _, border := range []string{`([a-z0-9])([A-Z])`, `([A-Z])([A-Z][a-z])`} {
		name = regexp.MustCompile(border).ReplaceAllString(name, "$1 $2")
	}
	return strings.ToLower(name)
}

func TestWordsOfNames(t *testing.T) {
	assert.Equal(t, "pages are those of the api", wordsOf("PagesAreThoseOfTheAPI"))
	assert.Equal(t, "an id is kept", wordsOf("AnIDIsKept"))
}

// marks are the beginnings of comments in languages other than Go.
var marks = map[string]string{
	".cs": "//", ".js": "//", ".ps1": "#", ".psm1": "#", ".py": "#", ".sh": "#", ".yml": "#", "Makefile": "#",
}

// TestCommentsOfScriptsArePlain: nor does a comment in a file of another language. Only comments on lines
// without code are checked.
func TestCommentsOfScriptsArePlain(t *testing.T) {
	skipped := []string{"bin", "dist", "node_modules", "page", "testdata"} // page contains Swagger UI
	comments := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (slices.Contains(skipped, name) || strings.HasPrefix(name, ".git")) {
			return fs.SkipDir
		}
		mark, known := marks[name]
		if !known {
			mark = marks[filepath.Ext(name)]
		}
		if entry.IsDir() || mark == "" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for first, comment := range commentsIn(string(text), mark) {
			comments++
			for _, found := range prose.Comment(comment) {
				assert.Fail(t, fmt.Sprintf("%s:%d: %s", path, first, found))
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, comments, 1000)
}

// commentsIn returns the comments in a text by their first line. Each is joined to one line.
func commentsIn(text, mark string) map[int]string {
	comments, first := map[int]string{}, 0
	for i, line := range strings.Split(text, "\n") {
		comment, is := strings.CutPrefix(strings.TrimSpace(line), mark)
		switch {
		case !is:
			first = 0
			continue
		case first == 0:
			first = i + 1
		}
		comments[first] = strings.TrimSpace(comments[first] + " " + strings.TrimSpace(comment))
	}
	return comments
}

func TestCommentsInOtherLanguages(t *testing.T) {
	assert.Equal(t, map[int]string{1: "Each, whoever", 5: "Last"},
		commentsIn("# Each,\r\n#  whoever\r\ncall # not this\r\n\r\n    # Last\r\n", "#"))
}

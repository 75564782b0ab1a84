package layout

import (
	"bufio"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// phrase is a phrase that comments must not use, with its replacement.
type phrase struct {
	pattern *regexp.Regexp
	// text that each match contains; it is searched for first because that is faster; may be empty
	part    string
	instead string
}

// in returns the first match in a text, or "" if there is none.
func (p phrase) in(text string) string {
	if !strings.Contains(text, p.part) {
		return ""
	}
	return p.pattern.FindString(text)
}

// partOf returns the longest literal that it finds in every match of an expression, or "".
func partOf(e *syntax.Regexp) (part string) {
	switch {
	case e.Op == syntax.OpLiteral && e.Flags&syntax.FoldCase == 0:
		return string(e.Rune)
	case e.Op == syntax.OpConcat, e.Op == syntax.OpCapture, e.Op == syntax.OpPlus:
		for _, sub := range e.Sub {
			if of := partOf(sub); len(of) > len(part) {
				part = of
			}
		}
	}
	return part
}

// phrases reads the list of testdata.
func phrases(t *testing.T) (all []phrase) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "phrases.txt"))
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, instead, found := strings.Cut(line, "\t")
		require.True(t, found, "%q has no tab", line)
		compiled, err := regexp.Compile(pattern)
		require.NoError(t, err)
		tree, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		all = append(all, phrase{compiled, partOf(tree), strings.TrimSpace(instead)})
	}
	return all
}

// TestCommentsArePlain: no comment, in tests or elsewhere, contains a phrase of the list.
func TestCommentsArePlain(t *testing.T) {
	banned := phrases(t)
	require.GreaterOrEqual(t, len(banned), 25)
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, p := range banned {
				if found := p.in(text); found != "" {
					assert.Fail(t, fmt.Sprintf("%s:%d: %q: %s", s.path, s.line(group.Pos()), found, p.instead))
				}
			}
		}
	}
}

// TestPhrasesAreFound: each pattern of the list matches the example in its line.
func TestPhrasesAreFound(t *testing.T) {
	banned := phrases(t)
	matches := func(text string) bool {
		for _, p := range banned {
			if p.in(text) != "" {
				return true
			}
		}
		return false
	}
	for _, bad := range []string{
		"Finding is what became of a change.", "Get is that of [Store].", "unlock gives it to who waits for it.",
		"it is not kept any more", "whoever reads it sees all", "the values are sealed anew",
	} {
		assert.True(t, matches(bad), bad)
	}
	for _, good := range []string{
		"Finding is the outcome of a change.", "Get implements [Store].", "It is no longer kept.",
		"the names of a file and those of its copies", "A user who signs in gets a session.",
	} {
		assert.False(t, matches(good), good)
	}
}

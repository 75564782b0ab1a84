package manual_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/manual"
	"adgateway/test/prose"
)

func TestEveryPageIsInTheContents(t *testing.T) {
	listed := map[string]bool{}
	for _, section := range manual.Contents {
		for _, name := range section.Pages {
			assert.False(t, listed[name], "%s is listed twice", name)
			listed[name] = true
		}
		for _, page := range section.Entries() {
			assert.NotEmpty(t, page.Title, "%s: a page of this section does not exist", section.Reader)
		}
	}
	reference, _ := manual.Find("reference")
	endpoints, ok := manual.Find("endpoints")
	require.True(t, ok)
	for _, name := range manual.Names() {
		if file, below := strings.CutPrefix(name, "reference/"); below && file != "README" {
			index := reference.Text
			if strings.HasPrefix(file, "operations-") {
				index = endpoints.Text
			}
			assert.True(t, strings.Contains(index, "("+file+".md"), name)
			continue
		}
		assert.True(t, listed[name], "%s is not in the contents", name)
	}
}

// words counts the words that contain a letter or a digit, so the lines of tables do not count.
func words(text string) (n int) {
	for field := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// TestEveryPageIsShort: a page is short enough to be read, and its first line names its readers,
// its purpose and the time it takes. The reference is for looking things up, so it may be longer.
func TestEveryPageIsShort(t *testing.T) {
	first := regexp.MustCompile(`^For .+\. Result: .+\. Time: .+\.$`)
	for _, name := range manual.Names() {
		if strings.HasPrefix(name, "reference/") {
			continue
		}
		page, _ := manual.Find(name)
		assert.LessOrEqual(t, strings.Count(page.Text, "\n"), 150, "%s: lines", name)
		assert.LessOrEqual(t, words(page.Text), 1200, "%s: words", name)
		_, rest, _ := strings.Cut(page.Text, "\n\n")
		paragraph, _, _ := strings.Cut(rest, "\n\n")
		assert.Regexp(t, first, strings.ReplaceAll(paragraph, "\n", " "), "%s: its first line", name)
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"tokens": "tokens", "errors": "reference/errors", "reference/errors": "reference/errors",
		"reference": "reference/README", "": "", "..": "", "../tokens": "",
		"reference/../tokens": "", "token": "",
		"tokens.md": "", "/etc/passwd": "", "reference%2Ferrors": "",
	} {
		page, ok := manual.Find(name)
		assert.Equal(t, want, page.Name, name)
		assert.Equal(t, want != "", ok, name)
	}
	assert.Equal(t, "tokens", manual.Nearest("token"))
	assert.Equal(t, "reference/errors", manual.Nearest("reference/error"))
	assert.Empty(t, manual.Nearest("quarterly-report"))
}

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"Known gaps": "known-gaps", "What `DryRun` does": "what-dryrun-does", "A, B and C": "a-b-and-c",
		"Größe": "größe",
	} {
		assert.Equal(t, want, manual.Anchor(heading))
	}
}

func TestRow(t *testing.T) {
	page := manual.Page{Text: "# P\n\n| code | means |\n|:--|---|\n| `a` | one \\| two |\n" +
		"| `b`<br>`B` | three |\n\n| `c` | four |\n"}
	want := []manual.Cell{{Heading: "code", Text: "`a`"}, {Heading: "means", Text: "one | two"}}
	assert.Equal(t, want, manual.Row(page, "a"))
	assert.Equal(t, "three", manual.Row(page, "B")[1].Text)
	assert.Nil(t, manual.Row(page, "c"), "a row without headings")
	assert.Nil(t, manual.Row(page, "d"))
	assert.Equal(t, []string{"a", "b", "B", "c"}, manual.Keys(page))
}

func TestSearch(t *testing.T) {
	for query, first := range map[string]string{
		"idempotency-key": "safe-changes", "load balancer": "load-balancer",
		"EXTERNALDNS": "externaldns", "drifted": "undo",
	} {
		words, problem := manual.Words(query)
		require.Empty(t, problem, query)
		hits := manual.Search(words)
		require.NotEmpty(t, hits, query)
		assert.LessOrEqual(t, len(hits), 20)
		assert.Equal(t, first, hits[0].Page.Name, query)
		assert.NotContains(t, hits[0].Line, "`")
	}
	words, problem := manual.Words("  ")
	assert.Empty(t, words)
	assert.Empty(t, problem)
	words, problem = manual.Words("xyzzy token")
	assert.Empty(t, problem)
	assert.Empty(t, manual.Search(words), "all words must be there")
}

func TestQueriesThatCannotBeSearchedFor(t *testing.T) {
	for query, want := range map[string]string{
		"a":                        "Each word must have at least two letters.",
		"token x":                  "Each word must have at least two letters.",
		strings.Repeat("a ", 5000): "A search may have at most 100 letters.",
		strings.Repeat("ä", 101):   "A search may have at most 100 letters.",
	} {
		words, problem := manual.Words(query)
		assert.Equal(t, want, problem)
		assert.Empty(t, words)
	}
	words, problem := manual.Words("to\xffken")
	assert.Equal(t, []string{"to", "ken"}, words)
	assert.Empty(t, problem)
}

// TestSentencesAreShort: sentences are short enough to be read once. Tables, code and the pages for
// developers do not count.
func TestSentencesAreShort(t *testing.T) {
	block := regexp.MustCompile("(?ms)^ *```.*?^ *```$|<!--.*?-->|^ *\\|.*?$")
	part := regexp.MustCompile(`\n\s*\n|\n *- |\n *\d+\. |[.:;!?]\s`)
	for _, name := range manual.Names() {
		if strings.HasPrefix(name, "develop") || strings.HasPrefix(name, "reference/") {
			continue
		}
		page, _ := manual.Find(name)
		for _, sentence := range part.Split(block.ReplaceAllString(page.Text, ""), -1) {
			assert.LessOrEqual(t, len(strings.Fields(sentence)), 25, "%s: %s", name, sentence)
		}
	}
}

// TestPagesUsePlainWords: the prose of pages for users contains no words that hide who does what,
// or that praise.
func TestPagesUsePlainWords(t *testing.T) {
	hidden := regexp.MustCompile("(?ms)^ *```.*?^ *```$|<!--.*?-->|^ *\\|.*?$|`[^`]*`")
	for _, name := range manual.Names() {
		if strings.HasPrefix(name, "develop") || strings.HasPrefix(name, "reference/") {
			continue
		}
		page, _ := manual.Find(name)
		assert.Empty(t, prose.Text(hidden.ReplaceAllString(page.Text, "")), name)
	}
}

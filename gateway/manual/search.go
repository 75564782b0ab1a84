package manual

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of a search.
const (
	ShortestTerm = 2   // minimum letters of a word
	LongestQuery = 100 // maximum letters of all words
	mostHits     = 20
)

// Hit is a section of a page that was found by a search.
type Hit struct {
	Page    Page
	Heading string // heading of the section; empty for the text before the first section
	Anchor  string // anchor of the heading
	Line    string // first line of the section that contains one of the words
}

// section is a part of a page, for searching.
type section struct {
	page    Page
	heading string
	text    string
	folded  string // text in lower case
}

// sections are the parts of all pages, ordered by page name.
var sections = sync.OnceValue(func() []section {
	var all []section
	for _, name := range Names() {
		page := pages()[name]
		current := section{page: page}
		inCode := false
		add := func() {
			current.folded = strings.ToLower(current.heading + "\n" + current.text)
			all = append(all, current)
		}
		for line := range strings.Lines(page.Text) {
			inCode = inCode != strings.HasPrefix(line, "```")
			if heading, ok := strings.CutPrefix(line, "## "); ok && !inCode {
				add()
				current = section{page: page, heading: strings.TrimSpace(heading)}
				continue
			}
			current.text += line
		}
		add()
	}
	return all
})

// Words returns the words of a query that a search looks for, in lower case. problem explains why a query
// cannot be searched for. It is "" if the query is valid or empty.
func Words(query string) (words []string, problem string) {
	words = strings.Fields(strings.ToLower(strings.ToValidUTF8(query, " ")))
	short := func(word string) bool { return utf8.RuneCountInString(word) < ShortestTerm }
	switch {
	case utf8.RuneCountInString(query) > LongestQuery:
		return nil, "A search may have at most 100 letters."
	case slices.ContainsFunc(words, short):
		return nil, "Each word must have at least two letters."
	}
	return words, ""
}

// Search returns up to 20 sections that contain all words, best first. The words must be in lower case.
func Search(words []string) []Hit {
	type scored struct {
		hit   Hit
		score int
	}
	var found []scored
	for _, s := range sections() {
		score := 0
		for _, word := range words {
			n := strings.Count(s.folded, word)
			if n == 0 {
				score = 0
				break
			}
			score += min(n, 5)
			if strings.Contains(strings.ToLower(s.heading), word) {
				score += 10
			}
			if strings.Contains(strings.ToLower(s.page.Title), word) {
				score += 10
			}
		}
		score = (score + less(s.page) - 1) / less(s.page)
		if score > 0 {
			hit := Hit{Page: s.page, Heading: s.heading, Anchor: Anchor(s.heading), Line: lineWith(s.text, words)}
			found = append(found, scored{hit, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(less(a.hit.Page), less(b.hit.Page)))
	})
	var hits []Hit
	for _, f := range found[:min(len(found), mostHits)] {
		hits = append(hits, f.hit)
	}
	return hits
}

// less returns the factor by which words on a page count less. It is greater than one for pages that repeat
// explanations of other pages.
func less(page Page) int {
	switch {
	case page.Name == "reference/error-examples": // each of its headings is a code
		return 8
	case strings.HasPrefix(page.Name, "reference/operations-"):
		return 2
	}
	return 1
}

var marks = regexp.MustCompile("<[^>]*>|[`*|]|\\]\\([^)]*\\)|\\[")

// lineWith returns the first line that contains one of the words, without Markdown markup.
func lineWith(text string, words []string) string {
	for line := range strings.Lines(text) {
		folded := strings.ToLower(line)
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(folded, word) }) {
			return cut(strings.Join(strings.Fields(marks.ReplaceAllString(line, " ")), " "))
		}
	}
	return ""
}

// cut shortens a line to fit below a hit.
func cut(line string) string {
	const most = 200
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return line
}

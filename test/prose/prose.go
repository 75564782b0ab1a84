// Package prose finds phrases that the project's texts do not use. Its list says what to write instead.
package prose

import (
	_ "embed" // the list
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

//go:embed phrases.txt
var list string

// phrase is a phrase of the list, with its replacement.
type phrase struct {
	pattern *regexp.Regexp
	// text that each match contains; it is searched for first because that is faster; may be empty
	part    string
	instead string
	texts   bool // whether the phrase is allowed in comments
}

// Comment returns a finding for each phrase of the list that a comment, written as one line, contains.
func Comment(text string) []string { return find(text, false) }

// Text returns a finding for each phrase of the list that a text for users contains.
func Text(text string) []string { return find(text, true) }

func find(text string, isText bool) (found []string) {
	for _, p := range phrases() {
		if p.texts && !isText || !strings.Contains(text, p.part) {
			continue
		}
		if match := p.pattern.FindString(text); match != "" {
			found = append(found, fmt.Sprintf("%q: %s", match, p.instead))
		}
	}
	return found
}

// Len returns the number of phrases of the list.
func Len() int { return len(phrases()) }

var phrases = sync.OnceValue(func() (all []phrase) {
	texts := false
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case line == "[texts]":
			texts = true
			continue
		}
		pattern, instead, found := strings.Cut(line, "\t")
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if !found || err != nil {
			panic(fmt.Sprintf("prose: %q: no tab, or %v", line, err))
		}
		all = append(all, phrase{regexp.MustCompile(pattern), partOf(tree), strings.TrimSpace(instead), texts})
	}
	return all
})

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

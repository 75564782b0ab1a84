package ops

import (
	"fmt"
	"regexp"
	"strings"
)

// placeholder is {Name} of a parameter, {subject}, {records} or {count:NAME}.
var placeholder = regexp.MustCompile(`\{[A-Za-z_:]+\}`)

// SubjectOf names what the request is about: "user 'jdoe'".
func (op *Operation) SubjectOf(b *Bound) string {
	return placeholder.ReplaceAllStringFunc(op.Subject, func(name string) string {
		return shorten(b.Text(strings.Trim(name, "{}")))
	})
}

// Sentence fills a sentence of the row, with the number of records and the
// script's counts.
func (op *Operation) Sentence(sentence string, b *Bound, records int, counts map[string]int) string {
	return placeholder.ReplaceAllStringFunc(sentence, func(name string) string {
		name = strings.Trim(name, "{}")
		switch counted, isCount := strings.CutPrefix(name, "count:"); {
		case isCount:
			return plural(counts[counted], strings.TrimSuffix(counted, "s"))
		case name == "records":
			return plural(records, "record")
		case name == "subject":
			return op.SubjectOf(b)
		default:
			return shorten(b.Text(name))
		}
	})
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shorten keeps sentences readable whatever the client sent.
func shorten(text string) string {
	const limit = 200
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}

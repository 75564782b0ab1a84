package ops

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps"
)

// placeholder matches {Name} for a parameter, and {subject}, {records}, {count:NAME}, {counts} and
// {also}.
var placeholder = regexp.MustCompile(`\{[A-Za-z0-9_:]+\}`)

// fill replaces each placeholder by its value. All braces belong to placeholders, as [Check]
// verifies.
func fill(text string, value func(name string) string) string {
	var filled strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		var name string
		name, text, _ = strings.Cut(rest, "}")
		filled.WriteString(value(name))
	}
}

// SubjectOf names the target of a request: "user 'jdoe'". A part of Subject in square brackets is
// left out if its parameter is absent.
func (op *Operation) SubjectOf(b *Bound) string {
	subject := op.Subject
	for {
		before, rest, found := strings.Cut(subject, "[")
		if !found {
			break
		}
		part, after, _ := strings.Cut(rest, "]")
		if b.Text(strings.Trim(placeholder.FindString(part), "{}")) == "" {
			part = ""
		}
		subject = before + part + after
	}
	return fill(subject, func(name string) string { return shorten(b.Text(name)) })
}

// Sentence replaces the placeholders of a sentence. A nil result counts as empty.
func (op *Operation) Sentence(sentence string, b *Bound, records int, result *ps.Result) string {
	if result == nil {
		result = &ps.Result{}
	}
	return fill(sentence, func(name string) string {
		switch counted, isCount := strings.CutPrefix(name, "count:"); {
		case isCount:
			return plural(result.Counts[counted], strings.TrimSuffix(counted, "s"))
		case name == "counts":
			return allCounts(result.Counts)
		case name == "also":
			return also(result.Changes)
		case name == "records":
			return plural(records, "record")
		case name == "subject":
			return op.SubjectOf(b)
		default:
			return shorten(b.Text(name))
		}
	})
}

// Without returns the sentences about absent parameters, each preceded by a space.
func (b *Bound) Without() string {
	var sentences strings.Builder
	for i := range b.Op.Params {
		p := &b.Op.Params[i]
		if _, given := b.Args[p.arg()]; p.Without != "" && !given {
			sentences.WriteString(" " + p.Without)
		}
	}
	return sentences.String()
}

// Bare reports whether the request only names the object to update, without any new value.
func (b *Bound) Bare() bool {
	values := 0
	for i := range b.Op.Params {
		p := &b.Op.Params[i]
		switch {
		case p.Path != "", len(p.Parts()) == 0, p.Default != "":
		case p.Required || b.Has(p.Name):
			return false
		default:
			values++
		}
	}
	return b.Op.Effect == Update && values > 0
}

// allCounts lists the script's counts: "2 computers, 1 group".
func allCounts(counts map[string]int) string {
	var parts []string
	for _, noun := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, plural(counts[noun], strings.TrimSuffix(noun, "s")))
	}
	return strings.Join(parts, ", ")
}

// also names the objects that were changed along with the first: " together with
// 'CN=Laser,CN=PRINT1'". It returns "" if there are none.
func also(changes []ps.Change) string {
	const limit = 50
	var parts []string
	for i, change := range changes {
		switch {
		case i == 0:
		case i <= limit:
			parts = append(parts, "'"+change.DN+"'")
		default:
			return " together with " + strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(changes)-i)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " together with " + strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// shorten limits the length of a client's value in a sentence.
func shorten(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}

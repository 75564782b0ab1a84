// Package texts contains every text of the console in each of its languages.
//
// The files *.txt contain them, one for each topic. A text has a key, such as "signIn.title". Names in braces
// are placeholders:
//
//	texts.Of("list.found", "n", 12)
package texts

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Lang is a language of the console.
type Lang int

// The languages, in the order of the table's columns.
const (
	English Lang = iota
	German
)

// Langs are all languages.
var Langs = []Lang{English, German}

var codes = []string{"en", "de"}

// Code returns the code of the language in HTML and HTTP.
func (l Lang) Code() string { return codes[l] }

// Named returns the language with a code, and reports whether there is one.
func Named(code string) (l Lang, known bool) {
	for i, c := range codes {
		if c == code {
			return Lang(i), true
		}
	}
	return English, false
}

// Accepted returns the language that a browser prefers according to its Accept-Language
// header. Browsers list the languages in their user's order, so weights are ignored. If the
// header names no supported language, it returns English.
func Accepted(header string) Lang {
	for one := range strings.SplitSeq(header, ",") {
		one, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		main, _, _ := strings.Cut(strings.ToLower(one), "-")
		if l, known := Named(main); known && strings.TrimSpace(weight) != "q=0" {
			return l
		}
	}
	return English
}

// Has reports whether there is a text with the given key.
func Has(key string) bool { _, has := all[key]; return has }

// Text is a text whose language has not been chosen yet. Nil is the empty text, which templates treat as
// false.
type Text = *text

type text struct {
	key  string
	raw  string // used without a key
	with []any  // alternating names and values
	at   time.Time
	day  bool // show only the day of at
	list []Text
	each *[2]string
}

// Of returns a text of the table. pairs contains alternating placeholder names and values, which may be
// texts, numbers, strings, or values with a String method. If the key is missing from the table, the text is
// the key itself.
func Of(key string, pairs ...any) Text { return &text{key: key, with: pairs} }

// Raw returns a text that is the same in every language, such as a name.
func Raw(name string) Text {
	if name == "" {
		return nil
	}
	return &text{raw: name}
}

// Each returns a text that is given in each language. It returns nil if it is empty in all languages.
func Each(words [2]string) Text {
	if words == [2]string{} {
		return nil
	}
	return &text{each: &words}
}

// At returns a time to the minute.
func At(t time.Time) Text { return &text{at: t} }

// Day returns the day of a time.
func Day(t time.Time) Text { return &text{at: t, day: true} }

// List returns a text that joins others with commas.
func List(all ...Text) Text { return &text{list: all} }

// Count is like [Of], for a text with a number of things, which replaces {n}. If n is 1, it uses the key with
// the suffix ".one".
func Count(key string, n int, pairs ...any) Text {
	if n == 1 {
		key += ".one"
	}
	return Of(key, append([]any{"n", n}, pairs...)...)
}

// Empty reports whether there is no text.
func (t *text) Empty() bool { return t == nil }

// Reader determines the language of texts, and the zone of the times in them.
type Reader struct {
	Lang
	Zone *time.Location // if nil, each time is shown in its own zone
}

// here returns a time in the reader's zone.
func (r Reader) here(t time.Time) time.Time {
	if r.Zone == nil {
		return t
	}
	return t.In(r.Zone)
}

// In returns the text in a language.
func (t *text) In(l Lang) string { return t.For(Reader{Lang: l}) }

// For returns the text for a reader.
func (t *text) For(l Reader) string {
	switch {
	case t == nil:
		return ""
	case t.day:
		return l.Date(l.here(t.at))
	case !t.at.IsZero():
		return l.Moment(l.here(t.at))
	case t.each != nil:
		return t.each[l.Lang]
	case len(t.list) > 0:
		var said []string
		for _, one := range t.list {
			said = append(said, one.For(l))
		}
		return strings.Join(said, ", ")
	case t.key == "":
		return t.raw
	}
	said, known := all[t.key]
	if !known {
		return t.key
	}
	if len(t.with) == 0 {
		return said[l.Lang]
	}
	var pairs []string
	for i := 0; i+1 < len(t.with); i += 2 {
		pairs = append(pairs, fmt.Sprintf("{%s}", t.with[i]), l.value(t.with[i+1]))
	}
	return strings.NewReplacer(pairs...).Replace(said[l.Lang])
}

func (r Reader) value(v any) string {
	switch v := v.(type) {
	case Text:
		return v.For(r)
	case int:
		return r.Number(v)
	}
	return fmt.Sprint(v)
}

// Number returns a number with thousands separators.
func (l Lang) Number(n int) string {
	if n < 0 {
		return "−" + l.Number(-n)
	}
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s%s%03d", l.Number(n/1000), []string{",", "."}[l], n%1000)
}

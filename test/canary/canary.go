// Package canary finds secrets where none may be, in every form in which
// programs write them down.
//
// A secret that a test gives away carries [Mark] at both of its ends, so that one
// search finds all of them, also those that were cut off. Secrets that the
// program makes itself are looked for by their text.
package canary

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Mark is in every secret of [Secret]. It is long enough to be nowhere by
// chance, and no encoding of text leaves it as it is but for a reason.
const Mark = "Kn4Rw9Zb"

// Secret is a secret that tells, to who finds it, where it was put in. What is
// between its marks is spelt differently in most languages.
func Secret(where string) string { return Mark + "-" + where + `-ä"&<%2+\ ` + Mark }

// Plain is Secret for places that take letters, digits and hyphens only.
func Plain(where string) string { return Mark + "-" + where + "-" + Mark }

// A Hunt looks for secrets. It is safe for concurrent use.
type Hunt struct{ needles []needle }

type needle struct {
	secret, form string
	text         []byte
}

// Hit is a secret that was found.
type Hit struct {
	Where  string // the place that was searched
	Secret string
	Form   string // such as "base64 of UTF-16, read as JSON"
	Around string // what is before it
}

func (h Hit) String() string {
	return fmt.Sprintf("%s: %q as %s, after %q", h.Where, h.Secret, h.Form, h.Around)
}

// New hunts for the mark, and for other secrets. Their forms are found when they
// have 8 letters or more.
func New(secrets ...string) *Hunt {
	h := &Hunt{}
	for _, secret := range append([]string{Mark}, secrets...) {
		for encoding, text := range map[string][]byte{"": []byte(secret), " of UTF-16": wide(secret)} {
			add := func(form string, text []byte) {
				if !slices.ContainsFunc(h.needles, func(n needle) bool { return bytes.Equal(n.text, text) }) {
					h.needles = append(h.needles, needle{secret, form + encoding, text})
				}
			}
			add("text", text)
			add("hex", []byte(hex.EncodeToString(text)))
			add("hex", bytes.ToUpper([]byte(hex.EncodeToString(text))))
			for before := range 3 {
				add("base64", base64Of(base64.RawStdEncoding, text, before))
				add("base64", base64Of(base64.RawURLEncoding, text, before))
			}
		}
	}
	return h
}

// wide is text in UTF-16, as Windows writes it.
func wide(text string) []byte {
	var all []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		all = append(all, byte(unit), byte(unit>>8))
	}
	return all
}

// base64Of is what any base64 of a longer text holds, when so many bytes (but for
// whole groups of three) are before this one: digits that say nothing else.
func base64Of(encoding *base64.Encoding, text []byte, before int) []byte {
	const digit, octet = 6, 8
	all := encoding.EncodeToString(append(make([]byte, before), text...))
	first := (before*octet + digit - 1) / digit
	return []byte(all[first : (before+len(text))*octet/digit])
}

// Find looks through a text, as it is and as what it may be an encoding of.
func (h *Hunt) Find(where string, text []byte) []Hit {
	var hits []Hit
	for _, reading := range readings(text) {
		for _, n := range h.needles {
			if at := bytes.Index(reading.text, n.text); at >= 0 {
				hits = append(hits, Hit{where, n.secret, n.form + reading.name, string(reading.text[max(0, at-60):at])})
			}
		}
	}
	return hits
}

type reading struct {
	name string
	text []byte
}

// languages are those in which texts are quoted. What is wrong in one is left as
// it is.
var languages = []struct {
	name string
	read func([]byte) []byte
}{
	{"percent-encoding", func(b []byte) []byte { return decoded(b, '%', percent) }},
	{"JSON", func(b []byte) []byte { return decoded(b, '\\', escape) }},
	{"HTML", func(b []byte) []byte { return decoded(b, '&', entity) }},
	{"wrapped lines", func(b []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r"), nil), []byte("\n"), nil)
	}},
}

// decoded reads what stands behind a mark. read gives what it stands for and how
// long it is with the mark; zero: it is nothing, and stays as it is.
func decoded(text []byte, mark byte, read func([]byte) ([]byte, int)) []byte {
	var all []byte
	for {
		at := bytes.IndexByte(text, mark)
		if at < 0 {
			return append(all, text...)
		}
		stands, length := read(text[at:])
		if length == 0 {
			stands, length = text[at:at+1], 1
		}
		all = append(append(all, text[:at]...), stands...)
		text = text[at+length:]
	}
}

func percent(b []byte) ([]byte, int) { return number(b, len("%"), 2) }

// number reads so many hexadecimal digits as a character, two as a byte.
func number(b []byte, from, digits int) ([]byte, int) {
	if len(b) < from+digits {
		return nil, 0
	}
	value, err := strconv.ParseUint(string(b[from:from+digits]), 16, 32)
	if err != nil {
		return nil, 0
	}
	if digits == 2 {
		return []byte{byte(value)}, from + digits
	}
	return utf8.AppendRune(nil, rune(value)), from + digits
}

// escape reads an escape of JSON, or of a text that Go quotes.
func escape(b []byte) ([]byte, int) {
	if len(b) < 2 {
		return nil, 0
	}
	switch b[1] {
	case 'u':
		return number(b, 2, 4)
	case 'x':
		return number(b, 2, 2)
	}
	if at := strings.IndexByte(`"\/abfnrtv`, b[1]); at >= 0 {
		return []byte{"\"\\/\a\b\f\n\r\t\v"[at]}, 2
	}
	return nil, 0
}

func entity(b []byte) ([]byte, int) {
	const longest = 10
	end := bytes.IndexByte(b[:min(len(b), longest)], ';') + 1
	return []byte(html.UnescapeString(string(b[:end]))), end
}

// readings are a text in all languages, and what was read in all of them again.
func readings(text []byte) []reading {
	all := []reading{{"", text}}
	seen := func(text []byte) bool {
		return slices.ContainsFunc(all, func(r reading) bool { return bytes.Equal(r.text, text) })
	}
	from := 0
	for range 2 {
		to := len(all)
		for ; from < to; from++ {
			for _, language := range languages {
				if read := language.read(all[from].text); !seen(read) {
					all = append(all, reading{all[from].name + ", read as " + language.name, read})
				}
			}
		}
	}
	return all
}

package dotnet

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxJSONDepth = 1024

// FromJSON implements ConvertFrom-Json. Objects become *PSObject, arrays object[], whole
// numbers Int64, and text that is an ISO 8601 date DateTime. It refuses text that RFC 8259
// does not allow, and numbers that versions of PowerShell parse differently.
func FromJSON(text string) (any, error) {
	r := jsonReader{s: text}
	v := r.value(0)
	if r.space(); r.at < len(r.s) {
		r.fail("text")
	}
	return v, r.failed
}

type jsonReader struct {
	s      string
	at     int
	buf    []byte // room for a string with escapes
	failed error
}

// fail refuses the text and ends the parsing. Only the first reason counts.
func (r *jsonReader) fail(what string) any {
	if r.failed == nil {
		r.failed = Refuse("the JSON %s at byte %d", what, r.at)
	}
	r.at = len(r.s)
	return nil
}

// space skips white space.
func (r *jsonReader) space() {
	for r.at < len(r.s) && strings.IndexByte(" \t\r\n", r.s[r.at]) >= 0 {
		r.at++
	}
}

// next skips white space and returns the byte after it, or 0 at the end.
func (r *jsonReader) next() byte {
	r.space()
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

// take skips white space and then c, and reports whether c was next.
func (r *jsonReader) take(c byte) bool {
	if r.next() != c || r.at >= len(r.s) {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) value(depth int) any {
	if depth > maxJSONDepth {
		return r.fail("depth")
	}
	switch c := r.next(); {
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '"':
		s := r.text()
		if looksLikeDate(s) {
			return r.fail("date")
		}
		return s
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	default:
		return r.word()
	}
}

func (r *jsonReader) word() any {
	rest := r.s[r.at:]
	for i := range jsonWords {
		if w := &jsonWords[i]; strings.HasPrefix(rest, w.text) {
			r.at += len(w.text)
			return w.value
		}
	}
	return r.fail("value")
}

var jsonWords = []struct {
	text  string
	value any
}{{"true", true}, {"false", false}, {"null", nil}}

func (r *jsonReader) number() any {
	start := r.at
	for r.at < len(r.s) && strings.IndexByte("+-0123456789.eE", r.s[r.at]) >= 0 {
		r.at++
	}
	n, err := strconv.ParseInt(r.s[start:r.at], 10, 64)
	if err != nil {
		return r.fail("number")
	}
	return n
}

func (r *jsonReader) array(depth int) any {
	r.at++
	out := &Array{Items: []any{}}
	if r.take(']') {
		return out
	}
	for {
		out.Items = append(out.Items, r.value(depth+1))
		switch {
		case len(out.Items) > MaxArrayLength:
			return r.fail("array")
		case r.take(','):
		case r.take(']'):
			return out
		default:
			return r.fail("array")
		}
	}
}

func (r *jsonReader) object(depth int) any {
	r.at++
	out := &PSObject{}
	if r.take('}') {
		return out
	}
	for {
		if r.next() != '"' {
			return r.fail("name")
		}
		name := r.text()
		if !r.take(':') {
			return r.fail("object")
		}
		v := r.value(depth + 1)
		hash := foldHash(name)
		if name == "" || out.Props.find(name, hash) >= 0 {
			return r.fail("name") // empty, or equal to another name except for case
		}
		out.Props.t.add(name, hash, v)
		switch {
		case r.take(','):
		case r.take('}'):
			return out
		default:
			return r.fail("object")
		}
	}
}

// text reads a quoted string.
func (r *jsonReader) text() string {
	r.at++
	start := r.at
	for r.at < len(r.s) && r.s[r.at] >= ' ' {
		switch r.s[r.at] {
		case '"':
			s := r.s[start:r.at]
			r.at++
			return s
		case '\\':
			return r.textWithEscapes(start)
		}
		r.at++
	}
	r.fail("text")
	return ""
}

func (r *jsonReader) textWithEscapes(start int) string {
	rest := max(strings.IndexByte(r.s[r.at:], '"'), 32) // strings are seldom longer
	out := append(slices.Grow(r.buf[:0], r.at-start+rest), r.s[start:r.at]...)
	for r.at < len(r.s) && r.s[r.at] >= ' ' {
		switch r.s[r.at] {
		case '"':
			r.at++
			if !utf8.Valid(out) { // lone surrogates; versions differ
				r.fail("text")
			}
			r.buf = out
			return string(out)
		case '\\':
			out = r.escape(out)
		default:
			plain := r.at
			for r.at < len(r.s) && r.s[r.at] != '"' && r.s[r.at] != '\\' && r.s[r.at] >= ' ' {
				r.at++
			}
			out = append(out, r.s[plain:r.at]...)
		}
	}
	r.fail("text")
	return ""
}

// An escape of a character in jsonEscaped is the character of jsonUnescaped at the same place.
const (
	jsonEscaped   = `ntrbf"\/`
	jsonUnescaped = "\n\t\r\b\f\"\\/"
)

// escape reads one escape and appends the character that it represents.
func (r *jsonReader) escape(out []byte) []byte {
	if r.at+1 < len(r.s) {
		c := r.s[r.at+1]
		r.at += 2
		if i := strings.IndexByte(jsonEscaped, c); i >= 0 {
			return append(out, jsonUnescaped[i])
		}
		if c == 'u' && r.at+4 <= len(r.s) {
			if u, err := strconv.ParseUint(r.s[r.at:r.at+4], 16, 16); err == nil {
				r.at += 4
				return appendUnit(out, rune(u))
			}
		}
	}
	r.fail("escape")
	return out
}

// looksLikeDate reports whether any version of ConvertFrom-Json parses a text as a date. Such texts are ISO
// 8601 with a time, or /Date(ms)/.
func looksLikeDate(s string) bool {
	return strings.HasPrefix(s, "/Date(") || len(s) >= 19 && s[4] == '-' && s[7] == '-' && s[10] == 'T'
}

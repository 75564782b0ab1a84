// Package visible makes texts that others have stored safe to show to people. [Hidden] determines which
// characters control a terminal or the direction of text, or are not visible at all. [Text] escapes these
// characters in a value, and [Writer] in everything that is written to it.
package visible

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// fillers are invisible characters that Unicode counts as letters, marks or symbols.
var fillers = []rune{
	'\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u180b', '\u180c', '\u180d', '\u180f', '\u2800', '\u3164', '\uffa0',
}

// Hidden reports whether a character is invisible and affects how text is displayed, or only takes up space.
// These are control characters of both ranges, joiners and direction marks, line separators, fillers, and
// code points that are not characters.
func Hidden(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Noncharacter_Code_Point) || slices.Contains(fillers, r)
}

// Blank reports whether a character looks like a space but is not U+0020.
func Blank(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// Directs reports whether a character changes the direction of the text after it, or starts a new line within
// it, so that the text can be misread.
func Directs(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u2028' || r == '\u2029'
}

// Unseen reports whether a character is invisible and no language needs it in a text, or whether it
// changes the direction of text. Joiners of letters, soft hyphens and variation selectors are needed.
func Unseen(r rune) bool {
	switch {
	case r == '\u200c', r == '\u200d', r == '\u00ad', unicode.Is(unicode.Variation_Selector, r),
		unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return Hidden(r)
}

// Text returns a value on one line. Hidden characters, and spaces other than U+0020, are escaped as
// in JSON: "\u202e".
func Text(value string) string {
	return written(value, func(r rune) bool { return Hidden(r) || Blank(r) })
}

// Mirrored reports whether a text contains characters that are written from right to left, which
// would reorder adjacent text.
func Mirrored(value string) bool {
	for _, r := range value {
		if r < 0x590 {
			continue
		}
		properties, _ := bidi.LookupRune(r)
		switch properties.Class() {
		case bidi.R, bidi.AL, bidi.AN:
			return true
		}
	}
	return false
}

// written returns a text with the characters selected by out escaped.
func written(value string, out func(rune) bool) string {
	if !strings.ContainsFunc(value, func(r rune) bool { return out(r) || r == utf8.RuneError }) {
		return value
	}
	var b strings.Builder
	for _, r := range value { // an invalid byte becomes U+FFFD
		switch {
		case !out(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Writer returns a writer to w that escapes hidden characters, except for tabs and line endings.
// JSON keeps its meaning, because there such characters only occur in strings. The writer is safe
// for concurrent use.
func Writer(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	w    io.Writer
	mu   sync.Mutex
	rest []byte // first bytes of a character, or of a line ending
}

// Raw returns the destination of a [Writer], for output that is not text, or not for people. It
// returns any other writer unchanged.
func Raw(w io.Writer) io.Writer {
	if v, ok := w.(*writer); ok {
		return v.w
	}
	return w
}

func (v *writer) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	plain := func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' }
	if len(v.rest) == 0 && !slices.ContainsFunc(p, func(c byte) bool { return !plain(c) }) {
		return v.w.Write(p)
	}
	text := append(v.rest, p...)
	end := len(text)
	for i := 1; i < min(utf8.UTFMax, len(text)+1); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) || c == '\r' && i == 1 {
				end -= i
			}
			break
		}
	}
	v.rest = bytes.Clone(text[end:])
	shown := strings.ReplaceAll(string(text[:end]), "\r\n", "\n")
	shown = written(shown, func(r rune) bool { return Hidden(r) && r != '\n' && r != '\t' })
	if _, err := io.WriteString(v.w, shown); err != nil {
		return 0, err
	}
	return len(p), nil
}

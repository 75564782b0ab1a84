package dotnet

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	utf8text "golang.org/x/text/encoding/unicode"
)

// Strings in this package are UTF-8, in which a lone surrogate is encoded as three bytes (ED
// A0..BF xx), as in WTF-8. Nearly all strings are ASCII, where a byte is a unit.

func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] { // a word at a time
		if (s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7]) >= utf8.RuneSelf {
			return false
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decode decodes the code point at the start of s, including lone surrogates.
func decode(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n <= 1 && len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// appendUnit appends one UTF-16 unit or code point. It joins the unit with a high surrogate at the end of b.
func appendUnit(b []byte, r rune) []byte {
	switch {
	case r >= 0xDC00 && r <= 0xDFFF:
		if n := len(b); n >= 3 && b[n-3] == 0xED && b[n-2]&0xF0 == 0xA0 {
			high := 0xD000 | rune(b[n-2]&0x3F)<<6 | rune(b[n-1]&0x3F)
			return utf8.AppendRune(b[:n-3], utf16.DecodeRune(high, r))
		}
		fallthrough
	case r >= 0xD800 && r < 0xDC00:
		return append(b, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	default:
		return utf8.AppendRune(b, r)
	}
}

// Length returns the number of UTF-16 units in s.
func Length(s string) int {
	if isASCII(s) {
		return len(s)
	}
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x80 || c >= 0xC0 && c < 0xF0:
			n++
		case c >= 0xF0:
			n += 2
		}
	}
	return n
}

// Units returns the UTF-16 units of s.
func Units(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for len(s) > 0 {
		r, n := decode(s)
		s = s[n:]
		if r >= 0x10000 {
			high, low := utf16.EncodeRune(r)
			out = append(out, uint16(high), uint16(low))
		} else {
			out = append(out, uint16(r))
		}
	}
	return out
}

// FromUnits returns the string of UTF-16 units.
func FromUnits(units []uint16) string {
	b := make([]byte, 0, len(units))
	for _, u := range units {
		b = appendUnit(b, rune(u))
	}
	return string(b)
}

// asciiText contains each ASCII character at its own index.
var asciiText = func() string {
	var text [utf8.RuneSelf]byte
	for i := range text {
		text[i] = byte(i)
	}
	return string(text[:])
}()

// CharString returns a string of one unit.
func CharString(c Char) string {
	if c < utf8.RuneSelf {
		return asciiText[c : c+1]
	}
	return string(appendUnit(nil, rune(c)))
}

// UnitAt returns the unit at index i, which must be in range.
func UnitAt(s string, i int) Char {
	if i < len(s) && isASCII(s[:i+1]) {
		return Char(s[i])
	}
	at := 0
	for len(s) > 0 {
		r, n := decode(s)
		s = s[n:]
		switch {
		case r < 0x10000:
			if at == i {
				return Char(r)
			}
			at++
		default:
			high, low := utf16.EncodeRune(r)
			if at == i {
				return Char(high)
			}
			if at+1 == i {
				return Char(low)
			}
			at += 2
		}
	}
	return 0
}

// Slice implements Substring(start, count) on UTF-16 units. The range must be valid.
func Slice(s string, start, count int) string {
	if isASCII(s) {
		return s[start : start+count]
	}
	from, restFrom := unitOffset(s, start)
	to, restTo := unitOffset(s, start+count)
	if restFrom == 0 && restTo == 0 {
		return s[from:to]
	}
	return FromUnits(Units(s)[start : start+count])
}

// unitOffset returns the byte offset of unit i. rest is 1 if that unit is the second half of
// a surrogate pair.
func unitOffset(s string, i int) (offset, rest int) {
	at := 0
	for offset < len(s) && at < i {
		c := s[offset]
		switch {
		case c < 0x80:
			offset, at = offset+1, at+1
		case c >= 0xF0:
			if at+1 == i {
				return offset, 1
			}
			offset, at = offset+4, at+2
		case c >= 0xE0:
			offset, at = offset+3, at+1
		default:
			offset, at = offset+2, at+1
		}
	}
	return offset, 0
}

// Concat joins strings. A surrogate pair that is split between two strings becomes one character.
func Concat(parts ...string) string {
	split := false
	for i := 1; i < len(parts); i++ {
		if startsLow(parts[i]) {
			split = true
		}
	}
	if !split {
		if len(parts) == 2 {
			return parts[0] + parts[1]
		}
		return strings.Join(parts, "")
	}
	var b []byte
	for _, part := range parts {
		if startsLow(part) {
			r, n := decode(part)
			b = appendUnit(b, r)
			part = part[n:]
		}
		b = append(b, part...)
	}
	return string(b)
}

func startsLow(s string) bool { return len(s) >= 3 && s[0] == 0xED && s[1]&0xF0 == 0xB0 }

// FromUTF8 decodes bytes that should be UTF-8. Each invalid sequence becomes U+FFFD, as in .NET's decoder.
func FromUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	text, err := utf8text.UTF8.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(text)
}

// ToUTF8 returns the bytes of s in UTF-8. A lone surrogate becomes U+FFFD. The result may
// share memory with s and must not be modified.
func ToUTF8(s string) []byte {
	if utf8.ValidString(s) {
		return []byte(s)
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, n := decode(s)
		out = utf8.AppendRune(out, r) // a surrogate is written as U+FFFD
		s = s[n:]
	}
	return out
}

// upper returns the simple upper case in the invariant culture. A character outside ASCII
// never becomes ASCII.
func upper(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			return r - 32
		}
		return r
	}
	if u := unicode.ToUpper(r); u >= utf8.RuneSelf && (u < 0x10000) == (r < 0x10000) {
		return u
	}
	return r
}

func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return r + 32
		}
		return r
	}
	if l := unicode.ToLower(r); l >= utf8.RuneSelf && (l < 0x10000) == (r < 0x10000) {
		return l
	}
	return r
}

// ToUpper implements ToUpperInvariant.
func ToUpper(s string) string { return mapRunes(s, upper, 'a', 'z') }

// ToLower implements ToLowerInvariant.
func ToLower(s string) string { return mapRunes(s, lower, 'A', 'Z') }

// Folded looks up a name in a map with lower-case keys. It allocates nothing if the name is short and ASCII.
func Folded[V any](m map[string]V, name string) (V, bool) {
	var room [48]byte
	if len(name) > len(room) {
		v, ok := m[ToLower(name)]
		return v, ok
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= utf8.RuneSelf {
			v, ok := m[ToLower(name)]
			return v, ok
		}
		if 'A' <= c && c <= 'Z' {
			c += 32
		}
		room[i] = c
	}
	v, ok := m[string(room[:len(name)])]
	return v, ok
}

func mapRunes(s string, f func(rune) rune, from, to byte) string {
	change := false
	for i := 0; i < len(s) && !change; i++ {
		change = s[i] >= utf8.RuneSelf || s[i] >= from && s[i] <= to
	}
	if !change {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = decode(s[i:])
		}
		b = appendUnit(b, f(r))
		i += n
	}
	return string(b)
}

// EqualFold compares like StringComparison.OrdinalIgnoreCase.
func EqualFold(a, b string) bool {
	if a == b {
		return true
	}
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		if x < utf8.RuneSelf && y < utf8.RuneSelf {
			if x != y && foldByte(x) != foldByte(y) {
				return false
			}
			a, b = a[1:], b[1:]
			continue
		}
		rx, nx := decode(a)
		ry, ny := decode(b)
		if rx != ry && upper(rx) != upper(ry) {
			return false
		}
		a, b = a[nx:], b[ny:]
	}
	return len(a) == len(b)
}

func foldByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 32
	}
	return c
}

// CompareOrdinal compares by UTF-16 units.
func CompareOrdinal(a, b string) int {
	at, last := 0, min(len(a), len(b))
	for at < last && a[at] == b[at] {
		at++
	}
	if at < last && a[at] < 0xEE && b[at] < 0xEE { // below U+E000, bytes have the same order as units
		return int(a[at]) - int(b[at])
	}
	return slices.Compare(Units(a), Units(b))
}

const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// Hash returns a hash of a text, ignoring case.
func Hash(s string) uint32 { return foldHash(s) }

func foldHash(s string) uint32 {
	h := uint32(fnvOffset)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			h = (h ^ uint32(foldByte(c))) * fnvPrime
			i++
			continue
		}
		r, n := decode(s[i:])
		h = (h ^ uint32(upper(r))) * fnvPrime
		i += n
	}
	return h ^ h>>15
}

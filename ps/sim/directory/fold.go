package directory

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold makes the key under which two texts are the same name for the
// directory: case does not matter. (Active Directory's collation also treats
// some accented letters as their base letter, facts H21; that is left out.)
// Two texts have equal keys exactly when strings.EqualFold holds.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return foldASCII(s)
		}
	}
	return s
}

// foldASCII is fold for texts that are not folded yet, most of them ASCII.
func foldASCII(s string) string {
	var buf [shortName]byte
	return string(appendFold(buf[:0], s))
}

// appendFold is fold of s after what b has.
func appendFold(b []byte, s string) []byte {
	start := len(b)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(b[:start], strings.Map(foldRune, s)...)
		}
		b = append(b, lowerASCII(c))
	}
	return b
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// foldRune gives one representative of the runes that differ in case only.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
		if n < least {
			least = n
		}
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// utf16Len is the length in UTF-16 units, which the schema's ranges count.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

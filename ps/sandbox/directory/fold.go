package directory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold makes the key under which two texts are the same name for the
// directory: neither case matters nor what stands above, below or across a
// letter, and a sharp s is two (KB 938447: Müller is Muller, Meißner Meissner;
// facts H21). Of the directory's collation this leaves out what it passes over:
// soft hyphens and other characters that are not seen. Texts for which
// strings.EqualFold holds have equal keys.
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
			return appendLetters(b[:start], s)
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

// spelt are letters that the collation takes for others without being made of them.
var spelt = map[rune]string{'ß': "ss", 'ẞ': "ss", 'ø': "o", 'Ø': "o", 'æ': "ae", 'Æ': "ae"}

// subscript is the one mark that is a letter where it stands apart.
const subscript = '\u0345'

// appendLetters is fold of any text: of its letters without their marks. What
// has no letters is kept.
func appendLetters(b []byte, s string) []byte {
	start := len(b)
	for _, r := range norm.NFD.String(s) {
		switch other, ok := spelt[r]; {
		case ok:
			b = append(b, other...)
		case r == subscript || !unicode.Is(unicode.Mn, r):
			b = utf8.AppendRune(b, foldRune(r))
		}
	}
	if len(b) == start {
		return append(b, strings.Map(foldRune, s)...)
	}
	return b
}

// sameName tells whether two texts have the same key.
func sameName(a, b string) bool {
	return strings.EqualFold(a, b) || (!isASCII(a) || !isASCII(b)) && fold(a) == fold(b)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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

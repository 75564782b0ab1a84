package directory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// fold returns the key by which the directory compares names. It ignores case and diacritics, and ß
// equals ss (KB 938447: Müller is Muller, Meißner is Meissner; facts H21). It also ignores the width of
// characters and the kind of kana (facts H25). Unlike the real collation it does not ignore soft hyphens
// and other invisible characters. Strings that are equal under strings.EqualFold have equal keys.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return foldASCII(s)
		}
	}
	return s
}

// foldASCII is fold for strings that need folding, most of them ASCII.
func foldASCII(s string) string {
	var buf [shortName]byte
	return string(appendFold(buf[:0], s))
}

// appendFold appends the folded s to b.
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

// equalLetters are letters that collate equal without a Unicode decomposition.
var equalLetters = map[rune]string{'ß': "ss", 'ẞ': "ss", 'ø': "o", 'Ø': "o", 'æ': "ae", 'Æ': "ae"}

// subscript is the iota subscript, a combining mark whose case folding is a letter.
const subscript = '\u0345'

// appendLetters folds any string and removes combining marks. A string that consists only of marks is kept.
func appendLetters(b []byte, s string) []byte {
	start := len(b)
	for _, r := range norm.NFD.String(width.Fold.String(s)) {
		switch other, ok := equalLetters[r]; {
		case ok:
			b = append(b, other...)
		case r == subscript || !unicode.Is(unicode.Mn, r):
			b = utf8.AppendRune(b, foldRune(hiragana(r)))
		}
	}
	if len(b) == start {
		return append(b, strings.Map(foldRune, s)...)
	}
	return b
}

// sameName reports whether two names have the same key.
func sameName(a, b string) bool {
	return strings.EqualFold(a, b) || (!isASCII(a) || !isASCII(b)) && fold(a) == fold(b)
}

// hiragana returns the Hiragana of a Katakana, and other runes unchanged.
func hiragana(r rune) rune {
	if 'ァ' <= r && r <= 'ヶ' || r == 'ヽ' || r == 'ヾ' {
		r -= 'ァ' - 'ぁ'
	}
	return r
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldRune maps runes that differ only in case to the same rune.
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

// utf16Len returns the length in UTF-16 units, which the schema uses for ranges.
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

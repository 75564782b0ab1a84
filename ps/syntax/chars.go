package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// eof is the character that the lexer reads after the last one.
const eof rune = -1

// decode reads one character at the start of s. A lone surrogate in its three-byte form is one
// character, as in a .NET string. A byte that starts no valid character is read as U+FFFD.
func decode(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// wellFormed returns the text as a .NET string would contain it, with U+FFFD for each byte
// that starts no valid character. Pieces of the result can be concatenated.
func wellFormed(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := decode(text)
		if r == utf8.RuneError {
			b.WriteRune(r)
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// isSpace reports whether c is white space other than a line break.
func isSpace(c rune) bool {
	switch c {
	case ' ', '\t', '\v', '\f', 0x85, 0xA0:
		return true
	}
	return c >= 0x100 && unicode.In(c, unicode.Zs, unicode.Zl, unicode.Zp)
}

func isNewline(c rune) bool { return c == '\n' || c == '\r' }

func isDash(c rune) bool { return c == '-' || c == 0x2013 || c == 0x2014 || c == 0x2015 }

func isSingleQuote(c rune) bool { return c == '\'' || c >= 0x2018 && c <= 0x201B }

func isDoubleQuote(c rune) bool { return c == '"' || c >= 0x201C && c <= 0x201E }

// isLetter implements Char.IsLetter of .NET. A character outside the basic plane consists of two UTF-16
// units, neither of which is a letter.
func isLetter(c rune) bool {
	if c < utf8.RuneSelf {
		return c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	return c <= 0xFFFF && unicode.IsLetter(c)
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func isLetterOrDigit(c rune) bool {
	return isLetter(c) || isDigit(c) || c >= utf8.RuneSelf && c <= 0xFFFF && unicode.Is(unicode.Nd, c)
}

func isHexDigit(c rune) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isIdentStart(c rune) bool { return c == '_' || isLetter(c) }

func isIdentPart(c rune) bool { return c == '_' || isLetterOrDigit(c) }

func isVarStart(c rune) bool {
	switch c {
	case '$', ':', '?', '^', '_':
		return true
	}
	return isLetterOrDigit(c)
}

// endsToken reports whether c ends a word in every mode.
func endsToken(c rune) bool {
	switch c {
	case eof, 0, '\n', '\r', '&', '(', ')', ',', ';', '{', '|', '}':
		return true
	}
	return isSpace(c)
}

// endsNumber reports whether c ends a number in an expression.
func endsNumber(c rune) bool {
	switch c {
	case '!', '#', '%', '*', '+', '-', '.', '/', '<', '=', '>', ']':
		return true
	}
	return isDash(c)
}

// escapes maps the letters that have a special meaning after a backtick. The letters e and u have one only in
// version 7 and are refused.
var escapes = map[rune]rune{'0': 0, 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

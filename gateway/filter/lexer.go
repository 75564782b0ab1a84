package filter

import (
	"encoding/json"
	"strings"
	"unicode"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenOpen
	tokenClose
	tokenWord
	tokenText
	tokenNumber
)

// token is one word, string, number or parenthesis of a filter.
type token struct {
	kind tokenKind
	raw  string // as it was written
	text string // decoded text of a tokenText
	at   int    // position of the first character, from 1
}

func (t *token) wrong(message string) *Error {
	return &Error{Position: t.at, Token: shorten(t.raw), Message: message}
}

// is reports whether the token is a given word of the language, in any case.
func (t *token) is(word string) bool { return t.kind == tokenWord && strings.EqualFold(t.raw, word) }

// lexer splits a filter into tokens.
type lexer struct {
	text []rune
	pos  int
}

func (l *lexer) next() (token, *Error) {
	for l.pos < len(l.text) && unicode.IsSpace(l.text[l.pos]) {
		l.pos++
	}
	t := token{at: l.pos + 1}
	if l.pos == len(l.text) {
		return t, nil
	}
	start := l.pos
	switch c := l.text[l.pos]; {
	case c == '(':
		t.kind = tokenOpen
		l.pos++
	case c == ')':
		t.kind = tokenClose
		l.pos++
	case c == '"':
		return l.quoted(t)
	case c == '-' || '0' <= c && c <= '9':
		t.kind = tokenNumber
		l.skip(func(c rune) bool { return isWord(c) || c == '+' })
	case isWord(c):
		t.kind = tokenWord
		l.skip(isWord)
	default:
		l.pos++
		t.raw = string(c)
		switch c {
		case '[', ']':
			return t, t.wrong("value paths in brackets are not supported")
		case '\'', '“', '”':
			return t, t.wrong(`text must be in straight double quotes: "Sales"`)
		}
		return t, t.wrong("no part of a filter can begin with this")
	}
	t.raw = string(l.text[start:l.pos])
	return t, nil
}

func isWord(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-.:$", c)
}

func (l *lexer) skip(while func(rune) bool) {
	for l.pos < len(l.text) && while(l.text[l.pos]) {
		l.pos++
	}
}

// quoted reads a JSON string.
func (l *lexer) quoted(t token) (token, *Error) {
	start := l.pos
	l.pos++
	for l.pos < len(l.text) && l.text[l.pos] != '"' {
		if l.text[l.pos] == '\\' {
			l.pos++
		}
		l.pos++
	}
	if l.pos >= len(l.text) {
		t.raw = string(l.text[start:])
		l.pos = len(l.text)
		return t, t.wrong("the text has no closing quote")
	}
	l.pos++
	t.kind, t.raw = tokenText, string(l.text[start:l.pos])
	if json.Unmarshal([]byte(t.raw), &t.text) != nil {
		return t, t.wrong(`the text is not valid as in JSON: put a backslash before quotes and backslashes in it`)
	}
	for _, r := range t.text {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0xfffd && r <= 0xffff {
			return t, t.wrong("the text contains a control character, or one that is not valid Unicode")
		}
	}
	return t, nil
}

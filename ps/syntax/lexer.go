package syntax

import (
	"strings"
)

// mode determines how the lexer reads: a bare word has different meanings among the
// arguments of a command, in an expression, and in the brackets of a type.
type mode uint8

const (
	modeCommand mode = iota
	modeExpression
	modeType
)

// lexer splits a text into tokens, one at a time, when the parser requests them.
type lexer struct {
	p      *parser
	text   string
	at     int // offset of the next character
	start  int // offset of the token being read
	mode   mode
	signed bool // a sign before digits belongs to the number
	simple bool // whether to read an identifier even where a keyword or a longer word would be read
}

// peek returns the next character without consuming it.
func (l *lexer) peek() rune {
	if l.at >= len(l.text) {
		return eof
	}
	c, _ := decode(l.text[l.at:])
	return c
}

// next consumes the next character.
func (l *lexer) next() rune {
	if l.at >= len(l.text) {
		return eof
	}
	c, n := decode(l.text[l.at:])
	l.at += n
	return c
}

// take consumes the next character if it is c.
func (l *lexer) take(c byte) bool {
	if l.at < len(l.text) && l.text[l.at] == c {
		l.at++
		return true
	}
	return false
}

// takeLF consumes the line feed after a carriage return.
func (l *lexer) takeLF(c rune) {
	if c == '\r' {
		l.take('\n')
	}
}

func (l *lexer) token(k kind) token { return token{kind: k, start: l.start, end: l.at} }

func (l *lexer) raw() string { return l.text[l.start:l.at] }

// scan reads one token.
func (l *lexer) scan() token {
	for {
		l.start = l.at
		c := l.next()
		if isSpace(c) {
			continue
		}
		switch c {
		case '#':
			l.lineComment()
			continue
		case '<':
			if l.take('#') {
				l.blockComment()
			}
			return l.token(tRedirect)
		case '`':
			l.p.outsideStop(l.start, "a backtick outside of a string", "break lines after an operator or a bar")
		}
		return l.scanFrom(c)
	}
}

// skipBlank skips white space, new lines and comments.
func (l *lexer) skipBlank() {
	for {
		l.start = l.at
		switch c := l.next(); {
		case isSpace(c) || isNewline(c):
		case c == '#':
			l.lineComment()
		case c == '<' && l.take('#'):
			l.blockComment()
		default:
			l.at = l.start
			return
		}
	}
}

// punctuation contains the single-character tokens that are the same in every mode.
var punctuation = map[rune]kind{
	'(': tLParen, ')': tRParen, ']': tRBracket, '{': tLCurly, '}': tRCurly, ';': tSemi, ',': tComma,
}

// scanFrom reads the token that starts with c, which has already been consumed.
func (l *lexer) scanFrom(c rune) token {
	if k, ok := punctuation[c]; ok {
		return l.token(k)
	}
	switch {
	case c == eof:
		return token{kind: tEOF, start: len(l.text), end: len(l.text)}
	case isNewline(c):
		l.takeLF(c)
		return l.token(tNewLine)
	case isSingleQuote(c):
		return l.singleQuoted()
	case isDoubleQuote(c):
		return l.doubleQuoted()
	case isDigit(c):
		if c >= '1' && c <= '6' && l.peek() == '>' {
			l.at++
			return l.token(tRedirect)
		}
		return l.number(c)
	case isDash(c):
		return l.dash(c)
	case isIdentStart(c):
		return l.identifier()
	}
	switch c {
	case '@':
		return l.atSign()
	case '$':
		if l.take('(') {
			return l.token(tDollarParen)
		}
		return l.variable(false)
	case '+', '*', '/', '%', '=':
		return l.arithmetic(c)
	case '>':
		return l.token(tRedirect)
	case '[':
		if l.mode == modeCommand && !endsToken(l.peek()) {
			return l.generic()
		}
		return l.token(tLBracket)
	case '.':
		return l.dot()
	case '&':
		if l.take('&') {
			return l.token(tOutside)
		}
		return l.token(tAmp)
	case '|':
		if l.take('|') {
			return l.token(tOutside)
		}
		return l.token(tPipe)
	case '!', '?':
		if l.mode == modeExpression || c == '!' && endsToken(l.peek()) {
			if c == '?' && l.take('?') {
				l.take('=')
			}
			return l.token(tOutside)
		}
	case ':':
		if l.mode != modeCommand {
			return l.token(tUnknown)
		}
	}
	return l.generic()
}

// lineComment skips to the end of the line.
func (l *lexer) lineComment() {
	end := strings.IndexAny(l.text[l.at:], "\r\n")
	if end < 0 {
		l.at = len(l.text)
	} else {
		l.at += end
	}
	const requires = "#requires"
	if text := l.raw(); len(text) > len(requires) && strings.EqualFold(text[:len(requires)], requires) &&
		isSpace(rune(text[len(requires)])) {
		l.p.outside(l.start, "#requires", "leave it out: what a script needs is checked by its host")
	}
}

func (l *lexer) blockComment() {
	l.p.outsideStop(l.start, "a block comment", "begin each line with #")
}

// operatorOrWord handles signs that are operators, except that in command mode they start a
// word if another character follows directly.
func (l *lexer) operatorOrWord(t token) token {
	if l.mode == modeCommand && !endsToken(l.peek()) {
		return l.generic()
	}
	return t
}

func (l *lexer) symbol(text string) token {
	op := symbols[text]
	t := l.token(tOperator)
	t.op = op
	switch {
	case op.assign:
		t.kind = tAssign
	case text == "++":
		t.kind = tPlusPlus
	case text == "--":
		t.kind = tMinusMinus
	}
	return t
}

func (l *lexer) arithmetic(c rune) token {
	text := string(c)
	switch next := l.peek(); {
	case c == '+' && next == '+':
		l.at++
		text = "++"
	case c == '*' && next == '>':
		l.at++
		return l.token(tRedirect)
	case c != '=' && next == '=':
		l.at++
		if text += "="; c != '+' {
			return l.operatorOrWord(l.token(tOutside))
		}
	}
	return l.operatorOrWord(l.symbol(text))
}

func (l *lexer) dash(c rune) token {
	next := l.peek()
	switch {
	case isDash(next):
		l.next()
		return l.operatorOrWord(l.symbol("--"))
	case next == '=':
		l.at++
		return l.operatorOrWord(l.symbol("-="))
	case isLetter(next) || next == '_' || next == '?':
		return l.parameter()
	case l.signed && isDigit(next):
		return l.number(c)
	}
	return l.operatorOrWord(l.symbol("-"))
}

// parameter reads a parameter in command mode, and otherwise an operator that is spelled as a word.
func (l *lexer) parameter() token {
	from, colon := l.at, false
	end := from
loop:
	for {
		c := l.peek()
		switch {
		case c == eof || isSpace(c) || isNewline(c) || strings.ContainsRune("{}();,|&.[\x00", c):
			break loop
		case c == ':':
			if l.mode == modeCommand {
				l.at++
				colon = true
			}
			break loop
		case isSingleQuote(c) || isDoubleQuote(c):
			if l.mode == modeCommand {
				l.at = from
				return l.generic()
			}
			break loop
		case l.mode != modeCommand && (c >= 0x80 || !isLetter(c)):
			break loop
		}
		l.next()
		end = l.at
	}
	name := l.text[from:end]
	if l.mode != modeCommand {
		if op := words[strings.ToLower(name)]; op != nil {
			t := l.token(tOperator)
			t.op = op
			return t
		}
		if otherWords[strings.ToLower(name)] {
			return l.token(tOutside)
		}
		if name == "" {
			return l.symbol("-")
		}
	}
	t := l.token(tParameter)
	t.value, t.colon = name, colon
	return t
}

func (l *lexer) atSign() token {
	switch c := l.peek(); {
	case c == '{':
		l.at++
		return l.token(tAtCurly)
	case c == '(':
		l.at++
		return l.token(tAtParen)
	case isSingleQuote(c) || isDoubleQuote(c):
		l.p.outsideStop(l.start, "a here-string", "write a string")
	case isVarStart(c):
		return l.variable(true)
	}
	l.p.lexError(l.start, false, "UnrecognizedToken")
	return l.token(tUnknown)
}

func (l *lexer) dot() token {
	c := l.peek()
	if c == '.' {
		l.at++
		if l.mode == modeCommand && !endsToken(l.peek()) {
			return l.generic()
		}
		return l.token(tOutside)
	}
	if isDigit(c) {
		l.p.outsideStop(l.start, "a number with a point", "write a whole number")
	}
	if l.mode == modeCommand && !endsToken(c) && c != '$' && c != '"' && c != '\'' {
		return l.generic()
	}
	return l.token(tDot)
}

// identifier reads a word that starts with a letter or an underscore.
func (l *lexer) identifier() token {
	for isIdentPart(l.peek()) {
		l.next()
	}
	if l.mode == modeType {
		return l.typeName()
	}
	if l.mode == modeCommand && !l.simple {
		if !endsToken(l.peek()) {
			return l.generic()
		}
		if text := l.raw(); len(text) <= len("dynamicparam")+1 {
			if lower := strings.ToLower(text); keywords[lower] {
				t := l.token(tKeyword)
				t.value = lower
				return t
			}
		}
	}
	t := l.token(tIdentifier)
	t.value = l.raw()
	return t
}

func (l *lexer) typeName() token {
	for {
		c := l.peek()
		if !isLetterOrDigit(c) && (c < 0 || !strings.ContainsRune(".`_+#\\", c)) {
			break
		}
		l.next()
	}
	t := l.token(tIdentifier)
	t.value = l.raw()
	return t
}

// memberAccess reads the . or :: or [ that must directly follow its target.
func (l *lexer) memberAccess(bracket bool) (token, bool) {
	l.start = l.at
	rest := l.text[l.at:]
	blank := func(n int) bool { // in command mode, a dot after white space is an argument
		if l.mode != modeCommand {
			return false
		}
		if len(rest) == n {
			return true
		}
		c, _ := decode(rest[n:])
		return isSpace(c) || isNewline(c)
	}
	switch {
	case strings.HasPrefix(rest, "::") && !blank(2):
		l.at += 2
		return l.token(tColonColon), true
	case strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "..") && !blank(1):
		l.at++
		return l.token(tDot), true
	case bracket && strings.HasPrefix(rest, "["):
		l.at++
		return l.token(tLBracket), true
	}
	return token{}, false
}

// leftBracket reads a [ after white space and comments, at the beginning of an attribute or a type. If there
// is no [, it consumes nothing.
func (l *lexer) leftBracket() (token, bool) {
	back := l.at
	for {
		l.start = l.at
		switch c := l.next(); {
		case isSpace(c):
			continue
		case c == '#':
			l.lineComment()
			continue
		case c == '<' && l.take('#'):
			l.blockComment()
			continue
		case c == '[':
			return l.token(tLBracket), true
		}
		l.at = back
		return token{}, false
	}
}

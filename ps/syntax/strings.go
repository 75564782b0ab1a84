package syntax

import "strings"

// singleQuoted reads a single-quoted string after its opening quote.
func (l *lexer) singleQuoted() token {
	var b strings.Builder // text before the last doubled quote
	open := l.at
	from := l.at
	for {
		l.skipPlain()
		at := l.at
		c := l.next()
		if c == eof {
			l.p.lexError(open-1, true, "TerminatorExpectedAtEndOfString", "'")
		}
		if !isSingleQuote(c) {
			continue
		}
		last := l.text[from:at]
		from = l.at
		if !isSingleQuote(l.peek()) {
			t := l.token(tString)
			t.value, t.quote = b.String()+last, SingleQuoted
			return t
		}
		// Two quotes stand for one, so the second one is part of the string.
		b.WriteString(last)
		l.next()
	}
}

// skipPlain skips ASCII characters other than the single quote. It is fast because the strings at the start
// of a session have many thousands of such characters.
func (l *lexer) skipPlain() {
	// search in growing steps, so that a short string does not cost a scan of the text far behind it
	for step := 64; ; step *= 2 {
		part := l.text[l.at:min(l.at+step, len(l.text))]
		plain := part[:ascii(part)]
		if quote := strings.IndexByte(plain, '\''); quote >= 0 {
			l.at += quote
			return
		}
		l.at += len(plain)
		if len(plain) < step {
			return
		}
	}
}

// doubleQuoted reads an expandable string. Its opening quote has already been consumed.
func (l *lexer) doubleQuoted() token {
	var parts []part
	var text strings.Builder // literal text since the last part
	open := l.at - 1
	for {
		from := l.at
		c := l.next()
		switch {
		case c == eof:
			l.p.lexError(open, true, "TerminatorExpectedAtEndOfString", `"`)
		case isDoubleQuote(c):
			if !isDoubleQuote(l.peek()) {
				t := l.token(tString)
				t.quote, t.value = DoubleQuoted, text.String()
				if parts != nil {
					t.kind, t.parts = tExpand, append(parts, part{kind: partText, text: t.value})
				}
				return t
			}
			from = l.at
			l.next()
		case c == '$':
			if p, ok := l.dollar(); ok {
				parts = append(parts, part{kind: partText, text: text.String()}, p)
				text.Reset()
				continue
			}
		case c == '`' && l.peek() != eof:
			l.escape(&text)
			continue
		}
		text.WriteString(l.text[from:l.at])
	}
}

// escape reads the character after a backtick.
func (l *lexer) escape(text *strings.Builder) {
	from := l.at
	c := l.next()
	if plain, ok := escapes[c]; ok {
		text.WriteByte(byte(plain))
		return
	}
	if c == 'e' || c == 'u' && l.peek() == '{' {
		l.p.outside(from-1, "the escape `"+string(c),
			"write [char] and the character's code: Windows PowerShell does not know it")
	}
	text.WriteString(l.text[from:l.at])
}

// dollar reads a variable or a sub-expression inside a string. The dollar sign has already been consumed.
func (l *lexer) dollar() (part, bool) {
	from := l.at - 1
	c := l.peek()
	switch {
	case c == '(':
		l.at++
		return l.subText(from), true
	case c == '{' || isVarStart(c):
		start, mode := l.start, l.mode
		l.start, l.mode = from, modeExpression
		t := l.variable(false)
		l.start, l.mode = start, mode
		return part{kind: partVariable, start: from, end: l.at, text: t.value}, true
	}
	return part{}, false
}

// subText finds the end of a sub-expression inside a string. Like PowerShell, it counts parentheses and
// ignores quotes. It replaces two double quotes with one.
func (l *lexer) subText(from int) part {
	p := part{kind: partSub, start: from}
	for depth := 1; depth > 0; {
		switch c := l.next(); {
		case c == eof:
			l.p.lexError(from, true, "IncompleteDollarSubexpressionReference")
		case c == '(':
			depth++
		case c == ')':
			depth--
		case (c == '`' || isDoubleQuote(c)) && isDoubleQuote(l.peek()):
			l.p.outsideStop(l.at-1, "an escaped quote in a sub-expression of a string", "use single quotes")
		}
	}
	p.end = l.at
	return p
}

// variable reads a variable. Its $ or @ has already been consumed.
func (l *lexer) variable(splat bool) token {
	if l.peek() == '{' && !splat {
		return l.bracedVariable()
	}
	if !isVarStart(l.peek()) {
		return l.generic()
	}
	from := l.at
	if c := l.next(); c != '$' && c != '?' && c != '^' {
		for c := l.peek(); isIdentPart(c) || c == '?' || c == ':' &&
			!strings.HasPrefix(l.text[l.at:], "::"); c = l.peek() {
			l.next()
		}
	}
	if c := l.peek(); l.mode == modeCommand && !endsToken(c) && c != '.' && c != '[' && c != '=' && c != ':' {
		return l.generic()
	}
	t := l.token(tVariable)
	if splat {
		t.kind = tSplat
	}
	t.value = l.text[from:l.at]
	l.checkVariable(t.value)
	return t
}

// wordFromStart reads the token again as a word.
func (l *lexer) wordFromStart() token {
	l.at = l.start
	return l.generic()
}

// scopes are the prefixes of variables that scripts use.
var scopes = map[string]bool{"": true, "script": true, "env": true}

func (l *lexer) checkVariable(name string) {
	scope, rest := splitVariable(name)
	switch {
	case rest == "" && scope != "":
		l.p.lexError(l.start, false, "InvalidVariableReferenceWithDrive")
	case rest == "":
		l.p.lexError(l.start, false, "InvalidVariableReference")
	case !scopes[strings.ToLower(scope)]:
		l.p.outside(l.start, "the scope $"+scope+":", "")
	}
}

// splitVariable splits a name at its first colon.
func splitVariable(name string) (scope, rest string) {
	if strings.HasPrefix(name, ":") {
		return "", ""
	}
	if i := strings.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// bracedVariable reads ${name}.
func (l *lexer) bracedVariable() token {
	open := l.at
	l.at++
	for c := l.peek(); isIdentPart(c) || c == '?' || c == ':'; c = l.peek() {
		l.next()
	}
	t := l.token(tVariable)
	t.value = l.text[open+1 : l.at]
	switch c := l.next(); {
	case c == '}' && t.value == "":
		l.p.lexError(l.at-1, false, "EmptyVariableReference")
	case c == eof || isNewline(c) && strings.IndexByte(l.text[l.at:], '}') < 0:
		l.p.lexError(open, true, "IncompleteDollarVariableReference")
	case c != '}':
		l.p.outsideStop(l.start, "a variable whose name is no word", "")
	}
	t.end = l.at
	l.checkVariable(t.value)
	return t
}

// generic reads a word, starting with the token's first character.
func (l *lexer) generic() token {
	l.at = l.start
	mixed := false
	for first := true; ; first = false {
		c := l.peek()
		if endsToken(c) && !(first && c == 0) {
			t := l.token(tGeneric)
			t.mixed = mixed
			return t
		}
		l.next()
		if next := l.peek(); c == '`' || c == '$' && (next == '(' || next == '{' || isVarStart(next)) || !first &&
			(isSingleQuote(c) || isDoubleQuote(c)) {
			mixed = true
		}
	}
}

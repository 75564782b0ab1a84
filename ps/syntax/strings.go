package syntax

import "strings"

// singleQuoted reads a string without anything to expand; its quote has been taken.
func (l *lexer) singleQuoted() token {
	var b strings.Builder
	l.singleQuotedInto(&b)
	t := l.token(tString)
	t.value, t.quote = b.String(), SingleQuoted
	return t
}

func (l *lexer) singleQuotedInto(b *strings.Builder) {
	open := l.at
	from := l.at
	for {
		at := l.at
		c := l.next()
		if c == eof {
			l.p.lexError(l.source(open-1), true, "TerminatorExpectedAtEndOfString", "'")
		}
		if !isSingleQuote(c) {
			continue
		}
		b.WriteString(l.text[from:at])
		from = l.at
		if !isSingleQuote(l.peek()) {
			return
		}
		// Of two quotes the second one counts.
		l.next()
	}
}

// doubleQuoted reads an expandable string; its quote has been taken.
func (l *lexer) doubleQuoted() token {
	var x expander
	l.doubleQuotedInto(&x)
	t := l.token(tString)
	t.quote = DoubleQuoted
	x.finish(&t, tExpand)
	return t
}

// expander collects the pieces of an expandable string or word.
type expander struct {
	parts []part
	text  strings.Builder // literal text since the last part
	whole strings.Builder // all of it, with variables and sub-expressions as written
	words bool            // whole is wanted
}

func (x *expander) rune(c rune, n int, text string) {
	if c < 0x80 {
		x.text.WriteByte(byte(c))
	} else {
		x.text.WriteString(text[:n])
	}
}

func (x *expander) flush() {
	if x.text.Len() == 0 {
		return
	}
	text := x.text.String()
	x.text.Reset()
	x.parts = append(x.parts, part{kind: partText, text: text})
	if x.words {
		x.whole.WriteString(text)
	}
}

func (x *expander) add(p part, written string) {
	x.flush()
	x.parts = append(x.parts, p)
	if x.words {
		x.whole.WriteString(written)
	}
}

// finish puts what was collected into t, which becomes a token of kind when there is something to expand.
func (x *expander) finish(t *token, kind kind) {
	for _, p := range x.parts {
		if p.kind != partText {
			x.flush()
			t.kind, t.parts, t.value = kind, x.parts, x.whole.String()
			return
		}
	}
	t.value = x.text.String()
}

func (l *lexer) doubleQuotedInto(x *expander) {
	open := l.at - 1
	for {
		from := l.at
		c := l.next()
		switch {
		case c == eof:
			l.p.lexError(l.source(open), true, "TerminatorExpectedAtEndOfString", `"`)
		case isDoubleQuote(c):
			if !isDoubleQuote(l.peek()) {
				return
			}
			from = l.at
			c = l.next()
		case c == '$':
			if p, ok := l.dollar(false); ok {
				x.add(p, l.text[p.start:p.end])
				continue
			}
		case c == '`' && l.peek() != eof:
			l.escape(x)
			continue
		}
		x.rune(c, l.at-from, l.text[from:])
	}
}

// escape reads the character after a backtick.
func (l *lexer) escape(x *expander) {
	from := l.at
	c := l.next()
	if plain, ok := escapes[c]; ok {
		x.text.WriteByte(byte(plain))
		return
	}
	if c == 'e' || c == 'u' && l.peek() == '{' {
		l.p.outside(l.source(from-1), "the escape `"+string(c), "write [char] and the character's code: Windows PowerShell does not know it")
	}
	x.rune(c, l.at-from, l.text[from:])
}

// dollar reads a variable or a sub-expression inside a string; the dollar sign has been taken.
func (l *lexer) dollar(here bool) (part, bool) {
	from := l.at - 1
	c := l.peek()
	switch {
	case c == '(':
		l.at++
		return l.subText(from, here), true
	case c == '{' || isVarStart(c):
		start, mode := l.start, l.mode
		l.start, l.mode = from, modeExpression
		t := l.variable(false, true)
		l.start, l.mode = start, mode
		return part{kind: partVariable, start: from, end: l.at, text: t.value}, true
	}
	return part{}, false
}

// subText finds the end of a sub-expression inside a string. Parentheses are
// counted, quotes are not looked at, as PowerShell does it; of two double
// quotes the second is left out.
func (l *lexer) subText(from int, here bool) part {
	p := part{kind: partSub, start: from}
	for depth := 1; depth > 0; {
		switch c := l.next(); {
		case c == eof:
			l.p.lexError(l.source(from), true, "IncompleteDollarSubexpressionReference")
		case c == '(':
			depth++
		case c == ')':
			depth--
		case !here && (c == '`' || isDoubleQuote(c)) && isDoubleQuote(l.peek()):
			// Of a backtick and a quote, the quote stays.
			if c == '`' {
				p.skipped = append(p.skipped, l.at-1)
				l.next()
				continue
			}
			p.skipped = append(p.skipped, l.at)
			l.next()
		}
	}
	p.end = l.at
	return p
}

// hereString reads from behind the header @' or @".
func (l *lexer) hereString(expand bool) token {
	mark, isQuote := "'@", isSingleQuote
	if expand {
		mark, isQuote = `"@`, isDoubleQuote
	}
	for isSpace(l.peek()) {
		l.next()
	}
	switch c := l.peek(); {
	case c == eof:
		l.p.lexError(l.source(l.start), true, "TerminatorExpectedAtEndOfString", mark)
	case !isNewline(c):
		l.p.lexError(l.source(l.at), false, "UnexpectedCharactersAfterHereStringHeader")
	}
	l.takeLF(l.next())

	var x expander
	falseEnd := -1
	if !l.footer(isQuote, &falseEnd) {
		l.hereBody(&x, expand, mark, isQuote, falseEnd)
	}
	t := l.token(tString)
	t.quote = SingleHere
	if expand {
		t.quote = DoubleHere
	}
	x.finish(&t, tExpand)
	return t
}

func (l *lexer) hereBody(x *expander, expand bool, mark string, isQuote func(rune) bool, falseEnd int) {
	for {
		from := l.at
		c := l.next()
		switch {
		case isNewline(c):
			l.takeLF(c)
			end := l.at
			if l.footer(isQuote, &falseEnd) {
				return // the last line end is not part of it
			}
			x.text.WriteString(l.text[from:end])
			continue
		case c == eof:
			if falseEnd >= 0 {
				l.p.lexError(l.source(falseEnd), true, "WhitespaceBeforeHereStringFooter")
			}
			l.p.lexError(l.source(l.start), true, "TerminatorExpectedAtEndOfString", mark)
		case expand && c == '$':
			if p, ok := l.dollar(true); ok {
				x.add(p, "")
				continue
			}
		case expand && c == '`' && l.peek() != eof:
			l.escape(x)
			continue
		}
		x.rune(c, l.at-from, l.text[from:])
	}
}

// footer takes the end mark at the start of a line. It remembers the first one
// that has white space before it, for a better message.
func (l *lexer) footer(isQuote func(rune) bool, falseEnd *int) bool {
	back := l.at
	if isQuote(l.peek()) {
		l.next()
		if l.take('@') {
			return true
		}
		l.at = back
		return false
	}
	for isSpace(l.peek()) {
		l.next()
	}
	at := l.at
	if at > back && *falseEnd < 0 && isQuote(l.peek()) {
		l.next()
		if l.peek() == '@' {
			*falseEnd = at
		}
	}
	l.at = back
	return false
}

// variable reads a variable; $ or @ has been taken. In command mode a variable
// that goes on with other characters is a word with something to expand.
func (l *lexer) variable(splat, inString bool) token {
	if l.peek() == '{' && !splat {
		return l.bracedVariable(inString)
	}
	if !isVarStart(l.peek()) {
		return l.generic()
	}
	from := l.at
	if c := l.next(); c == '$' || c == '?' || c == '^' {
		if l.mode == modeCommand && !endsToken(l.peek()) {
			return l.wordFromStart()
		}
	} else {
		l.at = from
	scan:
		for {
			c := l.peek()
			switch {
			case isIdentPart(c) || c == '?':
			case c == ':':
				if strings.HasPrefix(l.text[l.at:], "::") {
					break scan
				}
			case endsToken(c) || c == '.' || c == '[' || c == '=':
				break scan
			case l.mode == modeCommand:
				return l.wordFromStart()
			default:
				break scan
			}
			l.next()
		}
	}
	k := tVariable
	if splat {
		k = tSplat
	}
	t := l.token(k)
	t.value = l.text[from:l.at]
	l.checkVariable(t.value)
	return t
}

// wordFromStart reads the token again, as a word.
func (l *lexer) wordFromStart() token {
	l.at = l.start
	return l.generic()
}

func (l *lexer) checkVariable(name string) {
	scope, rest := splitVariable(name)
	if strings.EqualFold(scope, "using") {
		l.p.outside(l.source(l.start), "$using:", "pass the value as a parameter: there is no other process to take it to")
	}
	if rest != "" {
		return
	}
	if scope != "" {
		l.p.lexError(l.source(l.start), false, "InvalidVariableReferenceWithDrive")
	}
	l.p.lexError(l.source(l.start), false, "InvalidVariableReference")
}

// splitVariable parts a name at its first colon.
// A name that begins with one is none.
func splitVariable(name string) (scope, rest string) {
	if strings.HasPrefix(name, ":") {
		return "", ""
	}
	if i := strings.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func (l *lexer) bracedVariable(inString bool) token {
	open := l.at
	l.at++
	var b strings.Builder
	for {
		from := l.at
		c := l.next()
		switch {
		case c == '}':
			return l.endBraced(b.String())
		case c == eof:
			l.p.lexError(l.source(open), true, "IncompleteDollarVariableReference")
		case c == '{':
			l.p.lexError(l.source(l.at), false, "OpenBraceNeedsToBeBackTickedInVariableName")
		case c == '`':
			var x expander
			if l.peek() != eof {
				l.escape(&x)
			}
			b.WriteString(x.text.String())
			continue
		case inString && isDoubleQuote(c) && isDoubleQuote(l.peek()):
			from = l.at
			l.next()
		}
		b.WriteString(l.text[from:l.at])
	}
}

func (l *lexer) endBraced(name string) token {
	if name == "" {
		l.p.lexError(l.source(l.at-1), false, "EmptyVariableReference")
	}
	if c := l.peek(); l.mode == modeCommand && !endsToken(c) && c != '.' && c != '[' {
		return l.wordFromStart()
	}
	scope, rest := splitVariable(name)
	if rest == "" {
		l.p.lexError(l.source(l.start), false, "InvalidBracedVariableReference")
	}
	if strings.EqualFold(scope, "using") {
		l.checkVariable(name)
	}
	t := l.token(tVariable)
	t.value = name
	return t
}

// generic reads a word from the token's first character on.
func (l *lexer) generic() token {
	l.at = l.start
	x := expander{words: true}
	first := true
	for {
		from := l.at
		c := l.peek()
		if endsToken(c) && !(first && c == 0) {
			break
		}
		l.next()
		switch {
		case c == '`' && l.peek() != eof:
			l.escape(&x)
			first = false
			continue
		case !first && isSingleQuote(c):
			l.singleQuotedInto(&x.text)
			continue
		case !first && isDoubleQuote(c):
			l.doubleQuotedInto(&x)
			continue
		case c == '$':
			if p, ok := l.dollar(false); ok {
				x.add(p, l.text[p.start:p.end])
				first = false
				continue
			}
		}
		x.rune(c, l.at-from, l.text[from:])
		first = false
	}
	t := l.token(tGeneric)
	x.finish(&t, tGeneric)
	return t
}

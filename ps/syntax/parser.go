package syntax

import (
	"strings"
)

// MaxDepth is the maximum nesting depth of a text: blocks in blocks, parentheses in parentheses,
// operands in long chains of operators. It limits the stack needed to walk the tree.
const MaxDepth = 1000

// Parse parses a whole script. name is the name of the text in errors.
//
// If there are errors, the script is nil. The errors are in the order in which they were found. The first one
// is also PowerShell's first error, and it alone decides whether more text could help ([Error.Incomplete]).
//
// Bytes of the text that are not valid UTF-8 are read as U+FFFD. All positions refer to Source.Text, which
// contains U+FFFD in their place.
func Parse(name, text string) (*Script, []*Error) {
	text = wellFormed(text)
	src := &Source{Name: name, Text: text}
	p := &parser{src: src, pos: newPositions(text)}
	p.l = &lexer{p: p, text: text}
	script := &Script{Source: src}
	p.run(func() { script.Block = p.scriptBlock(token{}, false) })
	if len(p.errors) > 0 {
		return nil, p.errors
	}
	if at, deep := tooDeep(script); deep {
		p.report(&Error{ID: IDTooDeep, Message: deepMessage, Pos: at})
		return nil, p.errors
	}
	if p.run(func() { p.check(script) }); len(p.errors) > 0 {
		return nil, p.errors
	}
	return script, nil
}

const deepMessage = "The script failed due to call depth overflow: it nests too deeply."

// parser builds the tree by recursive descent, with one method per rule of grammar.txt.
type parser struct {
	src    *Source
	pos    *positions
	l      *lexer
	tok    token // the token already looked at; valid if has is set
	has    bool
	errors []*Error
	depth  int
	quiet  bool // looking ahead: an error ends that without being reported

	// noComma is set where the comma is a separator and not an operator, which is in arguments of methods and
	// attributes, in defaults of parameters, and in keys.
	noComma bool
}

// stop ends parsing after an error from which the parser cannot recover.
type stop struct{}

// run runs work, a part of the parsing, which ends at the first error from which the parser cannot recover.
func (p *parser) run(work func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stop); !ok {
				panic(r)
			}
		}
	}()
	work()
}

// maxErrors is the maximum number of reported errors for a text.
const maxErrors = 50

// report records an error. An error that is found again because the text is read again is recorded only once.
func (p *parser) report(e *Error) {
	if p.quiet {
		panic(stop{})
	}
	e.File = p.src.Name
	for _, old := range p.errors {
		if old.ID == e.ID && old.Pos == e.Pos {
			return
		}
	}
	p.errors = append(p.errors, e)
	if len(p.errors) >= maxErrors {
		panic(stop{})
	}
}

// lexError reports an error found by the lexer, at an offset of the source, and stops.
func (p *parser) lexError(at int, incomplete bool, id string, args ...string) {
	p.report(&Error{ID: id, Message: message(id, args), Pos: p.pos.at(at), Incomplete: incomplete})
	panic(stop{})
}

// fail reports an error at an offset and continues.
func (p *parser) fail(at int, id string, args ...string) {
	p.report(&Error{ID: id, Message: message(id, args), Pos: p.pos.at(at)})
}

// failStop reports an error and stops.
func (p *parser) failStop(at int, id string, args ...string) {
	p.fail(at, id, args...)
	panic(stop{})
}

// incomplete reports an error and stops. If nothing follows end, more text may make
// the script valid.
func (p *parser) incomplete(at, end int, id string, args ...string) {
	p.report(&Error{ID: id, Message: message(id, args), Pos: p.pos.at(at), Incomplete: p.nothingAfter(end)})
	panic(stop{})
}

// outside reports a construct of PowerShell that is not in the subset, at an offset of the source. instead,
// if it is not empty, is the construct to use instead.
func (p *parser) outside(at int, what, instead string) {
	if instead != "" {
		what += "; " + instead
	}
	p.report(&Error{ID: IDOutside, Message: "Outside the script subset: " + what + ".", Pos: p.pos.at(at),
		Outside: true})
}

func (p *parser) outsideStop(at int, what, instead string) {
	p.outside(at, what, instead)
	panic(stop{})
}

// outsideToken refuses the construct that starts with t.
func (p *parser) outsideToken(t token, what, instead string) {
	p.outsideStop(t.start, what, instead)
}

// nothingAfter reports whether only white space and comments follow.
func (p *parser) nothingAfter(at int) bool {
	l := lexer{p: p, text: p.l.text, at: at}
	for {
		switch c := l.next(); {
		case c == eof:
			return true
		case c == '#':
			if end := strings.IndexAny(l.text[l.at:], "\r\n"); end >= 0 {
				l.at += end
			} else {
				return true
			}
		case !isSpace(c) && !isNewline(c):
			return false
		}
	}
}

// span returns the span between two offsets.
func (p *parser) span(from, to int) Span { return Span{From: p.pos.at(from), To: p.pos.at(to)} }

func (p *parser) spanOf(t token) Span { return p.span(t.start, t.end) }

// between returns the span from the start of one node to the end of another.
func between(from, to Node) Span { return Span{From: from.Extent().From, To: to.Extent().To} }

// through returns the span from a node to the end of a token.
func (p *parser) through(from Node, to token) Span {
	return Span{From: from.Extent().From, To: p.pos.at(to.end)}
}

// from returns the span from a token to the end of a node.
func (p *parser) from(t token, to Node) Span {
	return Span{From: p.pos.at(t.start), To: to.Extent().To}
}

// after returns the offset of the end of a node.
func (p *parser) after(n Node) int { return n.Extent().To.Offset }

// enter counts a level of nesting; leave undoes it.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.report(&Error{ID: IDTooDeep, Message: deepMessage, Pos: p.pos.at(p.l.start)})
		panic(stop{})
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) peek() token {
	if !p.has {
		p.tok, p.has = p.l.scan(), true
	}
	return p.tok
}

func (p *parser) next() token {
	t := p.peek()
	p.has = false
	return t
}

// unget puts back the token just taken.
func (p *parser) unget(t token) { p.tok, p.has = t, true }

// mark returns the offset to which rewind can go back.
func (p *parser) mark() int {
	if p.has {
		return p.tok.start
	}
	return p.l.at
}

// rewind sets the lexer back to an offset.
func (p *parser) rewind(at int) {
	p.has = false
	p.l.at = at
}

// setMode changes the mode of the lexer and returns the previous mode. A token that was looked at but not
// consumed is read again.
func (p *parser) setMode(m mode) mode {
	old := p.l.mode
	if old != m {
		if p.has {
			p.rewind(p.tok.start)
		}
		p.l.mode = m
	}
	return old
}

// skipNewlines skips new lines. It looks at characters instead of tokens, because in
// argument mode the next token may be long, and would be read again in another mode.
func (p *parser) skipNewlines() {
	if p.has {
		if p.tok.kind != tNewLine {
			return
		}
		p.has = false
	}
	p.l.skipBlank()
}

// skipLines is like skipNewlines, for places where a token that was looked at may be read again in another
// mode.
func (p *parser) skipLines() {
	if p.has {
		p.rewind(p.tok.start)
	}
	p.l.skipBlank()
}

// skipTerminators skips new lines and semicolons.
func (p *parser) skipTerminators() {
	for {
		p.skipNewlines()
		switch {
		case p.has && p.tok.kind == tSemi:
			p.has = false
		case p.has || !p.l.take(';'):
			return
		}
	}
}

// ahead returns the next character that is not white space, without looking at its token. It
// returns eof if a new line or a comment comes first.
func (p *parser) ahead() rune {
	at := p.mark()
	for at < len(p.l.text) {
		c, n := decode(p.l.text[at:])
		if !isSpace(c) {
			return c
		}
		at += n
	}
	return eof
}

// keyword reports whether the next token is the given keyword.
func (p *parser) keyword(word string) bool {
	t := p.peek()
	return t.kind == tKeyword && t.value == word
}

// text returns a token as written.
func (p *parser) text(t token) string { return p.l.text[t.start:t.end] }

// scriptBlock reads a param block and a body. If braced is set, open is the opening brace,
// and the closing brace is consumed.
func (p *parser) scriptBlock(open token, braced bool) *ScriptBlock {
	p.enter()
	defer p.leave()
	block := &ScriptBlock{Source: p.src}
	if p.paramAhead() {
		block.Param = p.paramBlock()
	}
	p.skipTerminators()
	if t := p.peek(); t.kind == tKeyword && isBlockName(t.value) {
		p.processBlock(block, t)
	} else {
		block.Body = p.statements()
	}
	t := p.next()
	if !braced {
		for t.kind != tEOF { // report a stray closing bracket and continue
			p.fail(t.start, "UnexpectedToken", p.text(t))
			p.statements()
			t = p.next()
		}
		block.Span = p.span(0, len(p.l.text))
		return block
	}
	if t.kind != tRCurly {
		p.incomplete(open.start, t.end, "MissingEndCurlyBrace")
	}
	block.Span = p.span(open.end, t.start)
	return block
}

func isBlockName(word string) bool {
	return word == "begin" || word == "process" || word == "end" || word == "dynamicparam"
}

// processBlock reads a body in the form process { }.
func (p *parser) processBlock(block *ScriptBlock, t token) {
	if t.value == "begin" {
		t = beginBlock(p, block, t)
	}
	if t.kind != tKeyword || t.value != "process" {
		p.outsideToken(t, "the block "+p.text(t), "write the statements without it, or in process")
	}
	p.next()
	if block.Body = p.block(); block.Body == nil {
		p.incomplete(t.end, t.end, "MissingNamedStatementBlock", t.value)
	}
	block.Process = true
	p.skipTerminators()
	if p.keyword("end") {
		t = p.next()
		if block.End = p.block(); block.End == nil {
			p.incomplete(t.end, t.end, "MissingNamedStatementBlock", t.value)
		}
		p.skipTerminators()
	}
	if t := p.peek(); t.kind == tKeyword && isBlockName(t.value) {
		p.outsideToken(t, "the block "+t.value+" behind process", "write the statements in process")
	}
}

// beginBlock reads a begin block and returns the token after it, which must be process.
func beginBlock(p *parser, block *ScriptBlock, t token) token {
	p.next()
	if block.Begin = p.block(); block.Begin == nil {
		p.incomplete(t.end, t.end, "MissingNamedStatementBlock", t.value)
	}
	p.skipTerminators()
	behind := p.peek()
	if behind.kind != tKeyword || behind.value != "process" {
		p.outsideToken(t, "the block begin without a process behind it", "write the statements in process")
	}
	return behind
}

// paramAhead reports whether a param block follows, possibly after attributes.
func (p *parser) paramAhead() (found bool) {
	p.skipLines()
	first := p.l.at
	if c := p.ahead(); c != '[' {
		return c|0x20 == 'p' && p.keyword("param") && p.parenAfterParam(first)
	}
	quiet, depth, comma := p.quiet, p.depth, p.noComma
	p.quiet = true
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stop); !ok {
				panic(r)
			}
			found = false
		}
		p.quiet, p.depth, p.noComma, p.l.mode = quiet, depth, comma, modeCommand
		p.rewind(first)
	}()
	p.attributes(false)
	return p.keyword("param") && p.parenAfterParam(first)
}

// parenAfterParam reports whether a parenthesis follows the keyword param. It then goes back to the offset
// first.
func (p *parser) parenAfterParam(first int) bool {
	p.next()
	p.skipNewlines()
	found := p.peek().kind == tLParen
	p.rewind(first)
	return found
}

func (p *parser) paramBlock() *ParamBlock {
	from := p.peek().start
	block := &ParamBlock{}
	attributes, types := p.attributes(false)
	block.Attributes = attributes
	for _, t := range types {
		p.report(&Error{ID: "TypeNotAllowedBeforeParam",
			Message: message("TypeNotAllowedBeforeParam", []string{t.String()}), Pos: t.From})
	}
	p.skipNewlines()
	p.next() // param
	p.skipNewlines()
	var end token
	block.Params, end = p.paramList()
	block.Span = p.span(from, end.end)
	return block
}

// paramList reads ( params ).
func (p *parser) paramList() ([]*Param, token) {
	open := p.next()
	var params []*Param
	for comma := (token{}); ; {
		param := p.param()
		if param == nil {
			if comma.kind == tComma {
				p.incomplete(comma.end, comma.end, "MissingExpressionAfterToken", ",")
			}
			break
		}
		params = append(params, param)
		p.skipNewlines()
		if comma = p.peek(); comma.kind != tComma {
			break
		}
		p.next()
	}
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		at := open.end
		if len(params) > 0 {
			at = p.after(params[len(params)-1])
		}
		p.incomplete(at, at, "MissingEndParenthesisInFunctionParameterList")
	}
	return params, end
}

func (p *parser) param() *Param {
	comma := p.noComma
	p.noComma = true
	mode := p.setMode(modeExpression)
	defer func() {
		p.noComma = comma
		p.setMode(mode)
	}()
	p.skipNewlines()
	from := p.peek().start
	param := &Param{}
	param.Attributes, param.Types = p.attributes(false)
	p.skipNewlines()
	t := p.next()
	if t.kind != tVariable {
		p.unget(t)
		if len(param.Attributes)+len(param.Types) > 0 {
			p.incomplete(t.start, t.start, "InvalidFunctionParameter")
		}
		return nil
	}
	param.Name = p.variable(t)
	param.Span = p.span(from, t.end)
	p.skipNewlines()
	if eq := p.peek(); eq.kind == tAssign && eq.op.assigns == Assign {
		p.next()
		p.skipNewlines()
		param.Default = p.expression()
		if param.Default == nil {
			p.incomplete(eq.end, eq.end, "MissingExpressionAfterToken", "=")
		}
		param.Span.To = param.Default.Extent().To
	}
	return param
}

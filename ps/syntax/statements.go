package syntax

import "strings"

// statements parses a list of statements, up to a token that cannot start one.
func (p *parser) statements() *Block {
	block := &Block{}
	p.skipTerminators()
	at := p.mark()
	block.Span = p.span(at, at)
	for {
		s := p.statement()
		if s == nil {
			break
		}
		if len(block.Statements) == 0 {
			block.From = s.Extent().From
		}
		block.Statements = append(block.Statements, s)
		block.To = s.Extent().To
		p.skipTerminators()
		if c := p.ahead(); c == ')' || c == '}' {
			break
		}
	}
	return block
}

// block reads { statements }, possibly after new lines. It returns nil if there is no brace.
func (p *parser) block() *Block {
	p.skipNewlines()
	if p.peek().kind != tLCurly {
		return nil
	}
	open := p.next()
	block := p.statements()
	end := p.next()
	if end.kind != tRCurly {
		p.incomplete(open.start, end.end, "MissingEndCurlyBrace")
	}
	block.Span = p.span(open.start, end.end)
	return block
}

// statement reads one statement. It returns nil if there is none.
func (p *parser) statement() Statement {
	p.enter()
	defer p.leave()
	if c := p.ahead(); c != eof && !isIdentStart(c) && !strings.ContainsRune("`#<", c) {
		return p.pipeline() // not a keyword
	}
	t := p.peek()
	switch t.kind {
	case tKeyword:
		if rule := p.statementRule(t); rule != nil {
			p.next()
			return rule(t)
		}
	case tEOF:
		return nil
	}
	return p.pipeline()
}

// statementRule returns the rule for a statement that starts with a keyword, or nil if the word is the name
// of a command here.
func (p *parser) statementRule(t token) func(token) Statement {
	switch t.value {
	case "if":
		return p.ifStatement
	case "switch":
		return p.switchStatement
	case "foreach":
		return p.forEach
	case "for":
		return p.forStatement
	case "while":
		return p.while
	case "do":
		return p.do
	case "function":
		return p.function
	case "try":
		return p.try
	case "return", "throw", "exit":
		return p.flow
	case "break", "continue":
		return p.jump
	}
	if instead, ok := refusedStatements[t.value]; ok {
		p.outsideToken(t, "the statement "+t.value, instead)
	}
	return nil
}

// refusedStatements maps the keywords of statements outside the subset to the constructs to use instead.
var refusedStatements = map[string]string{
	"class":         "use an ordered dictionary, and functions",
	"enum":          "use strings and ValidateSet",
	"workflow":      "write a function",
	"using":         "write full type names, and import modules in the host",
	"trap":          "use try and catch",
	"data":          "use a hashtable",
	"configuration": "write a function",
	"parallel":      "use foreach",
	"sequence":      "write the statements one after the other",
	"filter":        "write a function with a loop",
	"from":          "",
	"define":        "",
	"var":           "",
}

func (p *parser) ifStatement(t token) Statement {
	s := &If{}
	word := t
	for {
		cond, end := p.condition(word, "MissingOpenParenthesisInIfStatement", "IfStatementMissingCondition",
			"MissingEndParenthesisAfterStatement")
		body := p.block()
		if body == nil {
			p.incomplete(end.start, end.end, "MissingStatementBlock", p.text(word))
		}
		s.Clauses = append(s.Clauses, &IfClause{Span: between(cond, body), Cond: cond, Body: body})
		s.Span = p.from(t, body)
		// An else may be on a later line. If there is none, the line ending is not consumed.
		back := p.mark()
		p.skipNewlines()
		switch word = p.peek(); {
		case p.keyword("elseif"):
			p.next()
			continue
		case p.keyword("else"):
			p.next()
			if s.Else = p.block(); s.Else == nil {
				p.incomplete(word.end, word.end, "MissingStatementBlockAfterElse")
			}
			s.To = s.Else.To
		default:
			p.rewind(back)
		}
		return s
	}
}

// condition reads ( pipeline ) after the keyword word. The ids name the errors for a missing
// opening bracket, an empty condition, and a missing closing bracket.
func (p *parser) condition(word token, noOpen, nothing, noClose string) (Statement, token) {
	p.skipNewlines()
	open := p.next()
	if open.kind != tLParen {
		p.incomplete(word.end, word.end, noOpen, p.text(word))
	}
	p.skipNewlines()
	cond := p.pipeline()
	if cond == nil {
		p.incomplete(open.end, open.end, nothing, p.text(word))
	}
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		at, seen := p.after(cond), p.after(cond)
		if word.value == "if" || word.value == "elseif" {
			at, seen = end.start, end.end
		}
		p.incomplete(at, seen, noClose, p.text(word))
	}
	return cond, end
}

// body reads the block of a loop.
func (p *parser) body(after int, word, id string) *Block {
	body := p.block()
	if body == nil {
		p.incomplete(after, after, id, word)
	}
	return body
}

func (p *parser) while(t token) Statement {
	cond, end := p.condition(t, "MissingOpenParenthesisAfterKeyword", "MissingExpressionAfterKeyword",
		"MissingEndParenthesisAfterStatement")
	body := p.body(end.end, "while", "MissingLoopStatement")
	return &While{Span: p.from(t, body), Cond: cond, Body: body}
}

func (p *parser) do(t token) Statement {
	body := p.body(t.end, "do", "MissingLoopStatement")
	p.skipNewlines()
	word := p.next()
	if word.kind != tKeyword || word.value != "while" && word.value != "until" {
		at := p.after(body)
		p.incomplete(at, at, "MissingWhileOrUntilInDoWhile")
	}
	cond, end := p.condition(word, "MissingOpenParenthesisAfterKeyword", "MissingExpressionAfterKeyword",
		"MissingEndParenthesisAfterStatement")
	return &DoLoop{Span: p.span(t.start, end.end), Until: word.value == "until", Body: body, Cond: cond}
}

func (p *parser) forEach(t token) Statement {
	p.skipNewlines()
	if param := p.peek(); param.kind == tParameter {
		p.outsideToken(param, "foreach -"+strings.ToLower(param.value), "")
	}
	open := p.next()
	if open.kind != tLParen {
		p.incomplete(t.end, t.end, "MissingOpenParenthesisAfterKeyword", "foreach")
	}
	p.skipNewlines()
	name := p.next()
	if name.kind != tVariable {
		p.incomplete(open.end, open.end, "MissingVariableNameAfterForeach")
	}
	s := &ForEach{Var: p.variable(name)}
	p.skipNewlines()
	in := p.next()
	if in.kind != tKeyword || in.value != "in" {
		p.incomplete(name.end, name.end, "MissingInInForeach")
	}
	p.skipNewlines()
	if s.In = p.pipeline(); s.In == nil {
		p.incomplete(in.end, in.end, "MissingForeachExpression")
	}
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		at := p.after(s.In)
		p.incomplete(at, at, "MissingEndParenthesisAfterForeach")
	}
	s.Body = p.body(end.end, "foreach", "MissingForeachStatement")
	s.Span = p.from(t, s.Body)
	return s
}

func (p *parser) forStatement(t token) Statement {
	p.skipNewlines()
	open := p.next()
	if open.kind != tLParen {
		p.incomplete(t.end, t.end, "MissingOpenParenthesisAfterKeyword", "for")
	}
	last := open.end
	read := func(separator bool) Statement {
		p.skipNewlines()
		s := p.pipeline()
		if s != nil {
			last = p.after(s)
		}
		if separator && p.peek().kind == tSemi {
			last = p.next().end
		}
		return s
	}
	s := &For{}
	s.Init = read(true)
	s.Cond = read(true)
	s.Next = read(false)
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		p.incomplete(last, last, "MissingEndParenthesisAfterStatement", "for")
	}
	s.Body = p.body(end.end, "for", "MissingLoopStatement")
	s.Span = p.from(t, s.Body)
	return s
}

func (p *parser) switchStatement(t token) Statement {
	s := &Switch{}
	p.skipNewlines()
	if param := p.peek(); param.kind == tParameter {
		p.outsideToken(param, "switch -"+strings.ToLower(param.value), "use if and elseif")
	}
	open := p.peek()
	if open.kind != tLParen {
		p.incomplete(t.end, t.end, "PipelineValueRequired")
	}
	p.next()
	p.skipNewlines()
	if s.Value = p.pipeline(); s.Value == nil {
		p.incomplete(open.end, open.end, "PipelineValueRequired")
	}
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		at := p.after(s.Value)
		p.incomplete(at, at, "MissingEndParenthesisInSwitchStatement")
	}
	p.skipNewlines()
	curly := p.next()
	if curly.kind != tLCurly {
		p.incomplete(end.end, end.end, "MissingCurlyBraceInSwitchStatement")
	}
	p.skipNewlines()
	s.Span = p.span(t.start, p.switchClauses(s, curly).end)
	return s
}

func (p *parser) switchClauses(s *Switch, open token) token {
	last := open.end
	for {
		test := p.singleArgument()
		if test == nil {
			p.incomplete(last, last, "MissingSwitchConditionExpression")
		}
		last = p.after(test)
		body := p.block()
		if body == nil {
			p.incomplete(last, last, "MissingSwitchStatementClause")
		}
		last = p.after(body)
		if word, ok := test.(*String); ok && word.Quote == BareWord && strings.EqualFold(word.Value, "default") {
			p.outsideStop(word.From.Offset, "the clause default", "use if and else")
		}
		s.Clauses = append(s.Clauses, &SwitchClause{Span: between(test, body), Test: test, Body: body})
		p.skipTerminators()
		switch t := p.peek(); t.kind {
		case tRCurly:
			return p.next()
		case tEOF:
			p.incomplete(open.start, t.end, "MissingEndCurlyBrace")
		}
	}
}

func (p *parser) function(t token) Statement {
	p.skipNewlines()
	name := p.next()
	switch name.kind {
	case tPipe, tLParen, tLCurly, tAtParen, tAtCurly, tRCurly, tRParen, tEOF, tSemi, tRedirect, tOutside,
		tAmp, tVariable, tSplat, tString, tExpand, tNewLine, tComma:
		p.incomplete(t.end, t.end, "MissingNameAfterKeyword", p.text(t))
	}
	f := &FunctionDef{Name: p.text(name), NameSpan: p.spanOf(name)}
	if name.mixed {
		p.word(name)
	}
	last := name.end
	p.skipNewlines()
	if p.peek().kind == tLParen {
		p.outsideToken(p.peek(), "a parameter list in parentheses", "write a param block")
	}
	open := p.next()
	if open.kind != tLCurly {
		p.incomplete(last, last, "MissingFunctionBody")
	}
	f.Body = p.scriptBlock(open, true)
	f.Span = p.span(t.start, p.l.at)
	return f
}

func (p *parser) flow(t token) Statement {
	f := &Flow{Span: p.spanOf(t)}
	switch t.value {
	case "throw":
		f.Kind = Throw
	case "exit":
		f.Kind = Exit
	}
	if f.Value = p.pipeline(); f.Value != nil {
		f.To = f.Value.Extent().To
	}
	return f
}

func (p *parser) jump(t token) Statement {
	f := &Flow{Span: p.spanOf(t), Kind: Break}
	if t.value == "continue" {
		f.Kind = Continue
	}
	switch next := p.peek(); next.kind {
	case tSemi, tNewLine, tRParen, tRCurly, tEOF:
	default:
		p.outsideToken(next, "a label", "")
	}
	return f
}

func (p *parser) try(t token) Statement {
	s := &Try{}
	if s.Body = p.block(); s.Body == nil {
		p.incomplete(t.end, t.end, "MissingTryStatementBlock")
	}
	s.Span = p.from(t, s.Body)
	for {
		back := p.mark()
		p.skipNewlines()
		word := p.peek()
		switch {
		case p.keyword("catch"):
			if s.Catch != nil {
				p.outsideToken(word, "a second catch", "")
			}
			p.next()
			s.Catch = p.catch(word)
			s.To = s.Catch.To
			continue
		case p.keyword("finally"):
			p.next()
			if s.Finally = p.block(); s.Finally == nil {
				p.incomplete(word.end, word.end, "MissingFinallyStatementBlock")
			}
			s.To = s.Finally.To
		case s.Catch == nil:
			at := p.after(s.Body)
			p.incomplete(at, at, "MissingCatchOrFinally")
		default:
			p.rewind(back)
		}
		return s
	}
}

func (p *parser) catch(word token) *Catch {
	c := &Catch{}
	p.skipLines()
	if open, ok := p.l.leftBracket(); ok {
		p.outsideToken(open, "catch of a type", "test the type of $_.Exception with -is")
	}
	if c.Body = p.block(); c.Body == nil {
		p.incomplete(word.end, word.end, "MissingCatchHandlerBlock")
	}
	c.Span = p.from(word, c.Body)
	return c
}

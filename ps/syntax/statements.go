package syntax

import "strings"

// statements reads a row of statements, up to something that cannot begin one.
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

// block reads { statements }, after new lines; nil when there is no brace.
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

// statement reads one statement; nil when there is none.
func (p *parser) statement() Statement {
	p.enter()
	defer p.leave()
	if c := p.ahead(); c != eof && !isIdentStart(c) && !strings.ContainsRune(":`#<", c) {
		return p.pipeline() // neither a keyword nor a label
	}
	t := p.peek()
	switch t.kind {
	case tKeyword:
		if rule := p.statementRule(t); rule != nil {
			p.next()
			return rule(t)
		}
	case tLabel:
		return p.labelled()
	case tEOF:
		return nil
	}
	return p.pipeline()
}

// statementRule returns the rule for a statement that begins with a keyword; nil
// when the word is just the name of a command there.
func (p *parser) statementRule(t token) func(token) Statement {
	switch t.value {
	case "if":
		return p.ifStatement
	case "switch", "foreach", "for", "while", "do":
		return func(t token) Statement { return p.loop(t, t, "") }
	case "function", "filter":
		return p.function
	case "try":
		return p.try
	case "return", "throw", "exit":
		return p.flow
	case "break", "continue":
		return p.jump
	case "class", "enum", "workflow", "using", "trap", "data", "configuration", "parallel", "sequence":
		return p.refused
	case "from", "define", "var":
		return func(t token) Statement {
			p.failStop(t.start, "ReservedKeywordNotAllowed", t.value)
			return nil
		}
	}
	return nil
}

// instead says what to write for a refused statement.
var instead = map[string]string{
	"class":         "use [pscustomobject] or an ordered dictionary, and functions",
	"enum":          "use strings and ValidateSet",
	"workflow":      "write a function",
	"using":         "write full type names, and import modules in the host",
	"trap":          "use try and catch",
	"data":          "use a hashtable",
	"configuration": "write a function",
	"parallel":      "use foreach",
	"sequence":      "write the statements one after the other",
}

func (p *parser) refused(t token) Statement {
	switch t.value {
	case "class", "enum", "workflow":
		p.skipNewlines()
		if name := p.simpleName(); name == nil && p.peek().kind != tGeneric {
			p.incomplete(t.end, t.end, "MissingNameAfterKeyword", p.text(t))
		}
	}
	p.outsideToken(t, "the statement "+t.value, instead[t.value])
	return nil
}

// labelled reads a loop with a label; other words after a label make it the name of a command.
func (p *parser) labelled() Statement {
	label := p.next()
	p.skipNewlines()
	if t := p.peek(); t.kind == tKeyword {
		switch t.value {
		case "switch", "foreach", "for", "while", "do":
			p.next()
			return p.loop(label, t, label.value)
		}
	}
	p.rewind(label.start)
	return p.pipeline()
}

func (p *parser) loop(start, t token, label string) Statement {
	switch t.value {
	case "switch":
		return p.switchStatement(start, t, label)
	case "foreach":
		return p.forEach(start, t, label)
	case "for":
		return p.forStatement(start, t, label)
	case "while":
		return p.while(start, t, label)
	}
	return p.do(start, t, label)
}

func (p *parser) ifStatement(t token) Statement {
	s := &If{}
	word := t
	for {
		cond, end := p.condition(word, "MissingOpenParenthesisInIfStatement", "IfStatementMissingCondition", "MissingEndParenthesisAfterStatement")
		body := p.block()
		if body == nil {
			p.incomplete(end.start, end.end, "MissingStatementBlock", p.text(word))
		}
		s.Clauses = append(s.Clauses, &IfClause{Span: between(cond, body), Cond: cond, Body: body})
		s.Span = p.from(t, body)
		// An else may stand on a later line; if there is none, the line end stays.
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

// condition reads ( pipeline ) after the keyword word; the ids are those of the errors
// for a missing bracket, nothing inside, and a missing closing bracket.
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

func (p *parser) while(start, t token, label string) Statement {
	cond, end := p.condition(t, "MissingOpenParenthesisAfterKeyword", "MissingExpressionAfterKeyword", "MissingEndParenthesisAfterStatement")
	body := p.body(end.end, "while", "MissingLoopStatement")
	return &While{Span: p.from(start, body), Label: label, Cond: cond, Body: body}
}

func (p *parser) do(start, t token, label string) Statement {
	body := p.body(t.end, "do", "MissingLoopStatement")
	p.skipNewlines()
	word := p.next()
	if word.kind != tKeyword || word.value != "while" && word.value != "until" {
		at := p.after(body)
		p.incomplete(at, at, "MissingWhileOrUntilInDoWhile")
	}
	cond, end := p.condition(word, "MissingOpenParenthesisAfterKeyword", "MissingExpressionAfterKeyword", "MissingEndParenthesisAfterStatement")
	return &DoLoop{Span: p.span(start.start, end.end), Label: label, Until: word.value == "until", Body: body, Cond: cond}
}

func (p *parser) forEach(start, t token, label string) Statement {
	p.skipNewlines()
	if param := p.peek(); param.kind == tParameter {
		if isPrefix(param.value, "parallel") || isPrefix(param.value, "throttlelimit") {
			p.outsideToken(param, "foreach -"+strings.ToLower(param.value), "leave it out")
		}
		p.failStop(param.start, "InvalidForeachFlag", param.value)
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
	s := &ForEach{Label: label, Var: p.variable(name)}
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
	s.Span = p.from(start, s.Body)
	return s
}

func (p *parser) forStatement(start, t token, label string) Statement {
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
	s := &For{Label: label}
	s.Init = read(true)
	s.Cond = read(true)
	s.Next = read(false)
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		p.incomplete(last, last, "MissingEndParenthesisAfterStatement", "for")
	}
	s.Body = p.body(end.end, "for", "MissingLoopStatement")
	s.Span = p.from(start, s.Body)
	return s
}

// isPrefix tells whether word is the name or a shortening of it.
func isPrefix(word, name string) bool {
	return word != "" && len(word) <= len(name) && strings.EqualFold(word, name[:len(word)])
}

func (p *parser) switchStatement(start, t token, label string) Statement {
	s := &Switch{Label: label}
	p.skipNewlines()
	last := t.end
	for p.peek().kind == tParameter {
		param := p.next()
		last = param.end
		switch name := param.value; {
		case isPrefix(name, "regex"):
			s.Match = SwitchRegex
		case isPrefix(name, "wildcard"):
			s.Match = SwitchWildcard
		case isPrefix(name, "exact"):
			s.Match = SwitchExact
		case isPrefix(name, "casesensitive"):
			s.CaseSensitive = true
		case isPrefix(name, "file"):
			p.outsideToken(param, "switch -file", "scripts do not read files")
		case isPrefix(name, "parallel"):
			p.outsideToken(param, "switch -parallel", "leave it out")
		default:
			p.failStop(param.start, "InvalidSwitchFlag", name)
		}
	}
	open := p.peek()
	if open.kind != tLParen {
		p.incomplete(last, last, "PipelineValueRequired")
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
	s.Span = p.span(start.start, p.switchClauses(s, curly).end)
	return s
}

func (p *parser) switchClauses(s *Switch, open token) token {
	last := open.end
	for {
		test := p.singleArgument(contextCondition)
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
			if s.Default != nil {
				p.report(&Error{ID: "MultipleSwitchDefaultClauses", Message: message("MultipleSwitchDefaultClauses", nil), Pos: word.From})
			}
			s.Default = body
		} else {
			s.Clauses = append(s.Clauses, &SwitchClause{Span: between(test, body), Test: test, Body: body})
		}
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
	case tPipe, tLParen, tLCurly, tAtParen, tAtCurly, tRCurly, tRParen, tEOF, tSemi, tRedirect, tRedirectIn,
		tAndAnd, tOrOr, tAmp, tVariable, tSplat, tString, tExpand, tNewLine, tComma:
		p.incomplete(t.end, t.end, "MissingNameAfterKeyword", p.text(t))
	}
	f := &FunctionDef{Name: p.text(name), NameSpan: p.spanOf(name), Filter: t.value == "filter"}
	if name.kind == tGeneric {
		f.Name = name.value
	}
	last := name.end
	p.skipNewlines()
	if p.peek().kind == tLParen {
		f.HasList = true
		var end token
		f.Params, end = p.paramList()
		last = end.end
		p.skipNewlines()
	}
	open := p.next()
	if open.kind != tLCurly {
		p.incomplete(last, last, "MissingFunctionBody")
	}
	f.Body = p.scriptBlock(open, true)
	f.Span = p.span(t.start, p.l.at)
	if f.Filter && !f.Body.Named {
		f.Body.Process, f.Body.End = f.Body.End, nil
	}
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
	if f.Label = p.labelOrKey(); f.Label != nil {
		f.To = f.Label.Extent().To
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
			p.next()
			c := p.catch(word)
			s.Catches = append(s.Catches, c)
			s.To = c.To
			continue
		case p.keyword("finally"):
			p.next()
			if s.Finally = p.block(); s.Finally == nil {
				p.incomplete(word.end, word.end, "MissingFinallyStatementBlock")
			}
			s.To = s.Finally.To
		case len(s.Catches) == 0:
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
	last := word.end
	for {
		p.skipNewlines()
		if p.has {
			p.rewind(p.tok.start)
		}
		open, ok := p.l.leftBracket()
		if !ok {
			if len(c.Types) > 0 {
				p.incomplete(last, last, "MissingTypeLiteralToken")
			}
			break
		}
		attribute, typ := p.attribute(open)
		if attribute != nil {
			p.incomplete(last, last, "MissingCatchHandlerBlock")
		}
		c.Types = append(c.Types, typ)
		last = p.after(typ)
		p.skipNewlines()
		if p.peek().kind != tComma {
			break
		}
		last = p.next().end
	}
	if c.Body = p.block(); c.Body == nil {
		p.incomplete(last, last, "MissingCatchHandlerBlock")
	}
	c.Span = p.from(word, c.Body)
	return c
}

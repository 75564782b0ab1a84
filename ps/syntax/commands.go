package syntax

// pipeline reads a pipeline or an assignment. It returns nil, never an interface that contains a nil pointer,
// if there is none.
func (p *parser) pipeline() Statement {
	line := &Pipeline{}
	var pipe token
	for {
		element, assignment := p.element(len(line.Elements) == 0)
		if assignment != nil {
			return assignment
		}
		if element != nil {
			line.Elements = append(line.Elements, element)
		} else if len(line.Elements) > 0 || p.peek().kind == tPipe {
			at := p.peek().start
			if pipe.kind == tPipe {
				at = pipe.end
			}
			p.report(&Error{ID: "EmptyPipeElement", Message: message("EmptyPipeElement", nil), Pos: p.pos.at(at),
				Incomplete: p.nothingAfter(at)})
		}
		pipe = p.peek()
		if pipe.kind != tPipe {
			break
		}
		p.next()
		p.skipNewlines()
		if p.peek().kind == tEOF {
			p.incomplete(pipe.end, pipe.end, "EmptyPipeElement")
		}
	}
	p.endOfPipeline(pipe)
	if len(line.Elements) == 0 {
		return nil
	}
	line.Span = between(line.Elements[0], line.Elements[len(line.Elements)-1])
	return line
}

// endOfPipeline reports a token that cannot follow a pipeline.
func (p *parser) endOfPipeline(t token) {
	switch t.kind {
	case tSemi, tNewLine, tRParen, tRCurly, tEOF:
	case tOutside:
		p.outsideToken(t, "the operator "+p.text(t), "")
	case tRedirect:
		p.outsideToken(t, "a redirection", "")
	case tAmp:
		p.outsideToken(t, "& at the end of a command", "run the command in the session")
	default:
		p.fail(t.start, "UnexpectedToken", p.text(t))
	}
}

// element reads one stage of a pipeline, or a whole assignment.
func (p *parser) element(first bool) (Element, *Assignment) {
	mode := p.setMode(modeExpression)
	start := p.peek().start
	e := p.expression()
	var assign token
	if e != nil {
		if p.peek().kind == tAssign {
			assign = p.next()
		}
	}
	p.setMode(mode)
	if e == nil {
		if c := p.command(); c != nil {
			return c, nil
		}
		return nil, nil
	}
	if !first {
		p.fail(start, "ExpressionsMustBeFirstInPipeline")
	}
	if assign.kind == tAssign {
		return nil, p.assignment(e, assign)
	}
	return &ExprElement{Span: e.Extent(), Expr: e}, nil
}

func (p *parser) assignment(target Expr, op token) *Assignment {
	p.skipNewlines()
	value := p.statement()
	if value == nil {
		p.incomplete(op.end, op.end, "ExpectedValueExpression", p.text(op))
	}
	return &Assignment{Span: between(target, value), Target: target, Op: op.op.assigns, OpSpan: p.spanOf(op),
		Value: value}
}

// singleArgument reads the test of a switch clause, in the same way as an argument. It
// returns nil if there is none.
func (p *parser) singleArgument() Expr {
	if k := p.peek().kind; k == tComma || k == tEOF {
		return nil
	}
	mode := p.setMode(modeCommand)
	defer p.setMode(mode)
	return p.argument(p.next(), false)
}

// argument reads an argument that starts with t. If list is set, it may be a list of arguments separated by
// commas.
func (p *parser) argument(t token, list bool) Expr {
	var items []Expr
	var comma token
	for {
		var e Expr
		switch t.kind {
		case tPipe, tRCurly, tRParen, tEOF, tNewLine, tSemi, tRedirect, tOutside, tAmp, tMinusMinus, tComma:
			p.unget(t)
			if items == nil {
				return nil
			}
			p.incomplete(comma.end, comma.end, "MissingExpression", ",")
		case tSplat, tVariable, tNumber, tExpand, tString, tLParen, tDollarParen, tAtParen, tAtCurly, tLCurly:
			p.unget(t)
			e = p.primary()
		default:
			e = p.word(t)
		}
		if !list || p.peek().kind != tComma {
			if items == nil {
				return e
			}
			items = append(items, e)
			return &ArrayLiteral{Span: between(items[0], e), Items: items}
		}
		items = append(items, e)
		comma = p.next()
		p.skipNewlines()
		t = p.next()
	}
}

// word returns the bare word of a token.
func (p *parser) word(t token) Expr {
	if text := p.text(t); text == "--%" {
		p.outsideToken(t, "--%", "native programs are not called")
	}
	if label := p.text(t); len(label) > 1 && label[0] == ':' && isIdentStart(rune(label[1])) {
		p.outsideToken(t, "a label", "")
	}
	if t.mixed {
		p.outsideToken(t, "a word with a quote, a backtick or a variable in it", "write a string in quotes")
	}
	return &String{Span: p.spanOf(t), Value: p.text(t)}
}

// command reads a command. It returns nil if there is none.
func (p *parser) command() *Command {
	mode := p.setMode(modeCommand)
	defer p.setMode(mode)
	c := &Command{}
	t := p.next()
	first, end := t, t.end
	switch t.kind {
	case tDot:
		c.Operator = CallDot
		t = p.next()
	case tAmp:
		c.Operator = CallAmp
		t = p.next()
	}
loop:
	for ; ; t = p.next() {
		switch t.kind {
		case tPipe, tRCurly, tRParen, tEOF, tNewLine, tSemi, tRedirect, tOutside:
			p.unget(t)
			break loop
		case tAmp:
			p.outsideToken(t, "& behind a command", "run the command in the session")
		case tComma:
			p.failStop(t.start, "MissingArgument")
		case tMinusMinus:
			p.outsideToken(t, "--", "")
		case tParameter:
			if c.Name == nil {
				p.outsideToken(t, "a command whose name begins with a dash", "")
			}
			param := p.commandParam(t)
			c.Args = append(c.Args, param)
			end = p.after(param)
		default:
			if text := p.text(t); c.Name == nil && (text == "-" || text == "+") {
				p.outsideToken(t, "the operator "+text+" before a value", "write 0 - and the value in parentheses")
			}
			e := p.argument(t, c.Name != nil)
			if e == nil {
				p.failStop(t.start, "UnexpectedToken", p.text(t))
			}
			if c.Name == nil {
				c.Name = e
			} else {
				c.Args = append(c.Args, e)
			}
			end = p.after(e)
		}
	}
	if c.Name == nil {
		if c.Operator != CallPlain {
			p.failStop(first.start, "MissingExpression", p.text(first))
		}
		return nil
	}
	c.Span = p.span(first.start, end)
	return c
}

func (p *parser) commandParam(t token) *CommandParam {
	param := &CommandParam{Span: p.spanOf(t), Name: t.value}
	if !t.colon {
		return param
	}
	if p.peek().kind == tComma {
		return param // reported with the comma
	}
	if param.Value = p.argument(p.next(), true); param.Value == nil {
		p.failStop(t.end, "ParameterRequiresArgument", p.text(t))
	}
	param.To = param.Value.Extent().To
	return param
}

package syntax

import "strings"

// pipeline reads a pipeline or an assignment; nil when there is none. What it
// returns is never a nil pointer in an interface.
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
			p.report(&Error{ID: "EmptyPipeElement", Message: message("EmptyPipeElement", nil), Pos: p.posAt(at), Incomplete: p.nothingAfter(at)})
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
	case tAndAnd, tOrOr:
		p.outsideToken(t, "the operator "+p.text(t), "use if, and $? or try and catch: Windows PowerShell does not know it")
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
	element := &ExprElement{Span: e.Extent(), Expr: e}
	for p.peek().kind == tRedirect || p.peek().kind == tRedirectIn {
		r := p.redirection(p.next())
		element.Redirections = p.addRedirection(element.Redirections, r)
		element.To = r.To
	}
	return element, nil
}

func (p *parser) assignment(target Expr, op token) *Assignment {
	p.skipNewlines()
	value := p.statement()
	if value == nil {
		p.incomplete(op.end, op.end, "ExpectedValueExpression", p.text(op))
	}
	return &Assignment{Span: between(target, value), Target: target, Op: op.op.assigns, OpSpan: p.spanOf(op), Value: value}
}

// streams names the streams in errors.
var streams = [...]string{"* stream", "output stream", "error stream", "warning stream", "verbose stream", "debug stream", "information stream"}

func (p *parser) addRedirection(all []*Redirection, r *Redirection) []*Redirection {
	for _, old := range all {
		if old.Stream == r.Stream {
			p.report(&Error{ID: "StreamAlreadyRedirected", Message: message("StreamAlreadyRedirected", []string{streams[r.Stream]}), Pos: r.From})
			return all
		}
	}
	return append(all, r)
}

// redirection reads what follows a redirection operator: nothing, or $null.
func (p *parser) redirection(t token) *Redirection {
	r := &Redirection{Span: p.spanOf(t), Stream: int(t.redir.stream), Merge: t.redir.merge}
	if t.kind == tRedirect && t.redir.merge {
		if t.redir.to != 1 || t.redir.stream == 1 {
			p.failStop(t.start, "RedirectionNotSupported", p.text(t))
		}
		return r
	}
	target := p.singleArgument(contextFile)
	if target == nil {
		p.failStop(t.end, "MissingFileSpecification")
	}
	if t.kind == tRedirectIn {
		p.failStop(t.start, "RedirectionNotSupported", p.text(t))
	}
	if v, ok := target.(*Variable); !ok || v.Splat || v.Scope != "" || !strings.EqualFold(v.Name, "null") {
		p.outsideToken(t, "redirection to a file", "redirect to $null or with 2>&1: scripts do not write files")
	}
	r.To = target.Extent().To
	return r
}

// context is the place an argument stands in.
type context uint8

const (
	contextName      context = iota // name of a command
	contextCallName                 // name after & or .
	contextArgument                 // an argument, maybe a list with commas
	contextFile                     // behind a redirection
	contextCondition                // test of a switch clause
)

// singleArgument reads one argument the way a command's are read; nil when there is none.
func (p *parser) singleArgument(c context) Expr {
	if k := p.peek().kind; k == tComma || k == tEOF {
		return nil
	}
	mode := p.setMode(modeCommand)
	defer p.setMode(mode)
	return p.argument(c, p.next())
}

// argument reads an argument that begins with t.
func (p *parser) argument(c context, t token) Expr {
	var list []Expr
	var comma token
	for {
		var e Expr
		switch t.kind {
		case tPipe, tRCurly, tRParen, tEOF, tNewLine, tSemi, tRedirect, tRedirectIn, tAndAnd, tOrOr, tAmp, tMinusMinus, tComma:
			p.unget(t)
			if list == nil {
				return nil
			}
			p.incomplete(comma.end, comma.end, "MissingExpression", ",")
		case tSplat, tVariable, tNumber, tExpand, tString, tLParen, tDollarParen, tAtParen, tAtCurly, tLCurly:
			p.unget(t)
			e = p.primary(true)
		default:
			e = p.word(c, t)
		}
		if c != contextArgument || p.peek().kind != tComma {
			if list == nil {
				return e
			}
			list = append(list, e)
			return &ArrayLiteral{Span: between(list[0], e), Items: list}
		}
		list = append(list, e)
		comma = p.next()
		p.skipNewlines()
		t = p.next()
	}
}

// word makes a bare word of a token; one with variables expands, except as the name of a command.
func (p *parser) word(c context, t token) Expr {
	if t.kind != tGeneric {
		return &String{Span: p.spanOf(t), Value: p.text(t)}
	}
	if p.text(t) == "--%" {
		p.outsideToken(t, "--%", "native programs are not called")
	}
	if t.parts != nil && c != contextName {
		return p.expandable(t)
	}
	return &String{Span: p.spanOf(t), Value: t.value}
}

// command reads a command; nil when there is none.
func (p *parser) command() *Command {
	mode := p.setMode(modeCommand)
	defer p.setMode(mode)
	c := &Command{}
	t := p.next()
	first, end := t, t.end
	where := contextName
	switch t.kind {
	case tDot:
		c.Operator, where = CallDot, contextCallName
		t = p.next()
	case tAmp:
		c.Operator, where = CallAmp, contextCallName
		t = p.next()
	}
	dashes := false
loop:
	for ; ; t = p.next() {
		switch t.kind {
		case tPipe, tRCurly, tRParen, tEOF, tNewLine, tSemi, tAndAnd, tOrOr:
			p.unget(t)
			break loop
		case tAmp:
			p.outsideToken(t, "& behind a command", "run the command in the session")
		case tComma:
			p.failStop(t.start, "MissingArgument")
		case tMinusMinus:
			if where != contextArgument || dashes {
				c.add(&String{Span: p.spanOf(t), Value: p.text(t)})
			} else {
				c.Args = append(c.Args, &CommandParam{Span: p.spanOf(t), Name: "-"})
				dashes = true
			}
			end = t.end
		case tParameter:
			if where != contextArgument || dashes {
				c.add(&String{Span: p.spanOf(t), Value: p.text(t)})
				end = t.end
				break
			}
			param := p.commandParam(t)
			c.Args = append(c.Args, param)
			end = p.after(param)
		case tRedirect, tRedirectIn:
			if where != contextArgument {
				p.outsideToken(t, "a redirection as a command", "name a command")
			}
			r := p.redirection(t)
			c.Redirections = p.addRedirection(c.Redirections, r)
			end = p.after(r)
		default:
			e := p.argument(where, t)
			if e == nil {
				p.failStop(t.start, "UnexpectedToken", p.text(t))
			}
			c.add(e)
			end = p.after(e)
		}
		where = contextArgument
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

// add appends a name or an argument.
func (c *Command) add(e Expr) {
	if c.Name == nil {
		c.Name = e
		return
	}
	c.Args = append(c.Args, e)
}

func (p *parser) commandParam(t token) *CommandParam {
	param := &CommandParam{Span: p.spanOf(t), Name: t.value}
	if !t.colon {
		return param
	}
	if p.peek().kind == tComma {
		return param // reported with the comma
	}
	if param.Value = p.argument(contextArgument, p.next()); param.Value == nil {
		p.failStop(t.end, "ParameterRequiresArgument", p.text(t))
	}
	param.To = param.Value.Extent().To
	return param
}

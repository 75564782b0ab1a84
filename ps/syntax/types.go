package syntax

import "strings"

// String writes the type as its literal would, without the outer brackets.
func (t *TypeName) String() string {
	var b strings.Builder
	b.WriteString(t.Name)
	if len(t.Args) > 0 {
		b.WriteByte('[')
		for i, arg := range t.Args {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(arg.String())
		}
		b.WriteByte(']')
	}
	if t.Array {
		b.WriteString("[]")
	}
	return b.String()
}

// attributes reads a row of attributes and types in brackets. In an expression
// a new line ends the row after a type.
func (p *parser) attributes(inExpression bool) ([]*Attribute, []*TypeName) {
	var attributes []*Attribute
	var types []*TypeName
	for {
		if p.has {
			p.rewind(p.tok.start)
		}
		open, ok := p.l.leftBracket()
		if !ok {
			return attributes, types
		}
		attribute, typeName := p.attribute(open)
		if attribute != nil {
			attributes = append(attributes, attribute)
		} else {
			types = append(types, typeName)
		}
		if !inExpression || attribute != nil {
			p.skipLines()
		}
	}
}

// attribute reads one pair of brackets: an attribute when arguments follow the
// name, else a type.
func (p *parser) attribute(open token) (*Attribute, *TypeName) {
	p.enter()
	defer p.leave()
	p.skipLines()
	name := p.typeName()
	if name == nil {
		p.incomplete(open.end, open.end, "MissingTypename")
	}
	t := p.next()
	if t.kind != tLParen {
		if t.kind != tRBracket {
			p.failStop(t.start, "EndSquareBracketExpectedAtEndOfAttribute")
		}
		name.Span = p.span(open.start, t.end)
		return nil, name
	}
	a := &Attribute{Type: name}
	mode := p.setMode(modeExpression)
	last := p.attributeArgs(a, t.end)
	p.setMode(mode)
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		p.incomplete(last, last, "MissingEndParenthesisInExpression")
	}
	p.skipNewlines()
	bracket := p.next()
	if bracket.kind != tRBracket {
		p.incomplete(end.end, end.end, "EndSquareBracketExpectedAtEndOfAttribute")
	}
	a.Span = p.span(open.start, bracket.end)
	return a, nil
}

// attributeArgs reads the arguments and returns the offset behind the last one.
func (p *parser) attributeArgs(a *Attribute, last int) int {
	comma := p.noComma
	p.noComma = true
	defer func() { p.noComma = comma }()
	seen := map[string]bool{}
	for {
		p.skipNewlines()
		var arg Node
		if name := p.simpleName(); name != nil {
			named := p.namedArg(name)
			if seen[named.Name] {
				p.report(&Error{ID: "DuplicateNamedArgument", Message: message("DuplicateNamedArgument", []string{named.Name}), Pos: named.From})
			} else {
				seen[named.Name] = true
			}
			a.Named = append(a.Named, named)
			arg = named
		} else if e := p.expression(); e != nil {
			a.Positional = append(a.Positional, e)
			arg = e
		} else if len(a.Positional)+len(a.Named) > 0 {
			p.incomplete(last, last, "MissingExpressionAfterToken", ",")
		}
		if arg != nil {
			last = p.after(arg)
		}
		p.skipNewlines()
		t := p.peek()
		if t.kind != tComma {
			return last
		}
		last = t.end
		p.next()
	}
}

func (p *parser) namedArg(name *String) *NamedArg {
	arg := &NamedArg{Span: name.Span, Name: name.Value}
	if eq := p.peek(); eq.kind == tAssign && eq.op.assigns == Assign {
		p.next()
		p.skipNewlines()
		arg.Value = p.expression()
		if arg.Value == nil {
			p.incomplete(eq.end, eq.end, "MissingExpressionInNamedArgument")
		}
		arg.To = arg.Value.Extent().To
	}
	return arg
}

// typeName reads a type without its brackets; nil when there is no name.
func (p *parser) typeName() *TypeName {
	mode := p.setMode(modeType)
	defer p.setMode(mode)
	t := p.next()
	if t.kind != tIdentifier {
		p.unget(t)
		return nil
	}
	return p.typeRest(t, false)
}

// typeRest reads what may follow a type's name: generic arguments, array
// brackets. Inside is set within the brackets of a generic argument, where a
// comma begins the next one.
func (p *parser) typeRest(name token, inside bool) *TypeName {
	p.enter()
	defer p.leave()
	typ := &TypeName{Span: p.spanOf(name), Name: name.value}
	for first := true; ; first = false {
		open := p.peek()
		if open.kind == tComma && !inside {
			p.outsideToken(name, "a type name with its assembly", "write the type's name alone")
		}
		if open.kind != tLBracket {
			return typ
		}
		p.next()
		p.skipNewlines()
		t := p.next()
		var end token
		switch {
		case t.kind == tRBracket:
			if typ.Array {
				p.outsideToken(open, "an array of arrays", "use object[]")
			}
			typ.Array = true
			end = t
		case first && (t.kind == tIdentifier || t.kind == tLBracket):
			end = p.genericArgs(typ, t)
		case t.kind == tEOF:
			p.incomplete(open.end, open.end, "MissingTypename")
		default:
			p.failStop(t.start, "UnexpectedToken", p.text(t))
		}
		typ.To = p.posAt(end.end)
	}
}

func (p *parser) genericArgs(typ *TypeName, t token) token {
	for {
		typ.Args = append(typ.Args, p.genericArg(t))
		p.skipNewlines()
		end := p.next()
		if end.kind == tRBracket {
			return end
		}
		if end.kind != tComma {
			p.incomplete(end.start, end.start, "EndSquareBracketExpectedAtEndOfAttribute")
		}
		p.skipNewlines()
		if t = p.next(); t.kind != tIdentifier && t.kind != tLBracket {
			p.incomplete(end.end, end.end, "MissingTypename")
		}
	}
}

// genericArg reads one argument, in its own brackets or without.
func (p *parser) genericArg(t token) *TypeName {
	if t.kind == tIdentifier {
		return p.typeRest(t, true)
	}
	name := p.next()
	if name.kind != tIdentifier {
		p.incomplete(name.start, name.start, "MissingTypename")
	}
	typ := p.typeRest(name, false)
	if end := p.next(); end.kind != tRBracket {
		p.incomplete(end.start, end.start, "EndSquareBracketExpectedAtEndOfType")
	}
	return typ
}

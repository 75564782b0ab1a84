package syntax

import "strings"

// String returns the type in the form of a type literal without the outer brackets.
func (t *TypeName) String() string {
	var b strings.Builder
	b.WriteString(t.Name)
	if t.Arg != nil {
		b.WriteString("[" + t.Arg.String() + "]")
	}
	if t.Array {
		b.WriteString("[]")
	}
	return b.String()
}

// attributes reads a sequence of attributes and types in brackets. In an expression, a new
// line after a type ends the sequence.
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

// attribute reads one pair of brackets, which contain an attribute if arguments follow the name, and
// otherwise a type.
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

// attributeArgs reads the arguments and returns the offset after the last one.
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
				p.report(&Error{ID: "DuplicateNamedArgument",
					Message: message("DuplicateNamedArgument", []string{named.Name}), Pos: named.From})
			} else {
				seen[named.Name] = true
			}
			a.Named = append(a.Named, named)
			arg = named
		} else if e := p.constant(); e != nil {
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
		arg.Value = p.constant()
		if arg.Value == nil {
			p.incomplete(eq.end, eq.end, "MissingExpressionInNamedArgument")
		}
		arg.To = arg.Value.Extent().To
	}
	return arg
}

// constant reads an argument of an attribute: a number, a string or a variable. It returns
// nil if there is none.
func (p *parser) constant() Expr {
	switch t := p.peekSigned(); t.kind {
	case tNumber, tString, tVariable:
		return p.primary()
	case tRParen, tComma, tRBracket, tNewLine, tSemi, tRCurly, tEOF:
		return nil
	default:
		p.outsideToken(t, "an attribute's argument that is no number, string or variable", "")
		return nil
	}
}

// typeName reads a type without its brackets. It returns nil if there is no name.
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

// typeRest reads the optional rest of a type: generic arguments and array brackets. inside
// is set within the brackets of a generic argument, where a comma starts the next one.
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
			end = p.genericArg(typ, t)
		case t.kind == tEOF:
			p.incomplete(open.end, open.end, "MissingTypename")
		default:
			p.failStop(t.start, "UnexpectedToken", p.text(t))
		}
		typ.To = p.pos.at(end.end)
	}
}

func (p *parser) genericArg(typ *TypeName, t token) token {
	if t.kind == tLBracket {
		p.outsideToken(t, "a type argument in brackets of its own", "leave them out")
	}
	typ.Arg = p.typeRest(t, true)
	p.skipNewlines()
	end := p.next()
	if end.kind == tComma {
		p.outsideToken(end, "a second type argument", "")
	}
	if end.kind != tRBracket {
		p.incomplete(end.start, end.start, "EndSquareBracketExpectedAtEndOfAttribute")
	}
	return end
}

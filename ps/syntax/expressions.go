package syntax

// expression reads operands and binary operators. It returns nil if there is no expression.
func (p *parser) expression() Expr {
	p.enter()
	defer p.leave()
	mode := p.setMode(modeExpression)
	defer p.setMode(mode)
	left := p.arrayLiteral()
	if left == nil {
		return nil
	}
	operands := []Expr{left}
	var operators []token
	reduce := func(down int) {
		for n := len(operators); n > 0 && operators[n-1].op.prec >= down; n = len(operators) {
			op := operators[n-1]
			l, r := operands[n-1], operands[n]
			operands = append(operands[:n-1],
				&Binary{Span: between(l, r), Op: op.op.bin, Exact: op.op.exact, OpSpan: p.spanOf(op), Left: l, Right: r})
			operators = operators[:n-1]
		}
	}
	for {
		t := p.peek()
		switch t.kind {
		case tParameter: // a word with a dash that is not an operator
			p.failStop(t.start, "UnexpectedToken", p.text(t))
		case tOutside:
			p.outsideToken(t, "the operator "+p.text(t), "")
		}
		if t.kind != tOperator || !t.op.binary {
			break
		}
		p.next()
		reduce(t.op.prec)
		operators = append(operators, t)
		p.skipNewlines()
		right := p.arrayLiteral()
		if right == nil {
			p.refuseOperator()
			p.incomplete(t.end, t.end, "ExpectedValueExpression", p.text(t))
		}
		operands = append(operands, right)
	}
	reduce(0)
	return operands[0]
}

func (p *parser) arrayLiteral() Expr {
	first := p.unary()
	if first == nil || p.noComma || p.peek().kind != tComma {
		return first
	}
	items := []Expr{first}
	for p.peek().kind == tComma {
		comma := p.next()
		p.skipNewlines()
		item := p.unary()
		if item == nil {
			p.incomplete(comma.end, comma.end, "MissingExpressionAfterToken", ",")
		}
		items = append(items, item)
	}
	return &ArrayLiteral{Span: between(first, items[len(items)-1]), Items: items}
}

// peekSigned looks at the next token, and treats a sign before digits as part of the number.
func (p *parser) peekSigned() token {
	signed := p.l.signed
	p.l.signed = true
	if p.has && p.tok.kind == tOperator && p.tok.op.bin == Sub {
		p.rewind(p.tok.start)
	}
	t := p.peek()
	p.l.signed = signed
	return t
}

func (p *parser) unary() Expr {
	p.enter()
	defer p.leave()
	var e Expr
	switch t := p.peekSigned(); {
	case t.kind == tComma:
		if p.noComma {
			return nil
		}
		p.next()
		item := p.operand(t)
		e = &ArrayLiteral{Span: p.from(t, item), Items: []Expr{item}}
	case t.kind == tOperator && t.op.unary:
		p.next()
		operand := p.operand(t)
		e = &Unary{Span: p.from(t, operand), Op: t.op.un, Operand: operand}
	case t.kind == tLBracket:
		e = p.bracketed(t)
	default:
		e = p.primary()
	}
	if e == nil {
		return nil
	}
	if t := p.peek(); t.kind == tPlusPlus || t.kind == tMinusMinus {
		p.next()
		op := PostInc
		if t.kind == tMinusMinus {
			op = PostDec
		}
		e = &Unary{Span: p.through(e, t), Op: op, Operand: e}
	}
	return e
}

// operand reads the operand of a unary operator.
func (p *parser) operand(op token) Expr {
	p.skipNewlines()
	e := p.unary()
	if e == nil {
		p.refuseOperator()
		p.incomplete(op.end, op.end, "MissingExpressionAfterOperator", p.text(op))
	}
	return e
}

// refuseOperator refuses an operator where a value should start.
func (p *parser) refuseOperator() {
	switch t := p.peek(); t.kind {
	case tOutside, tOperator, tPlusPlus, tMinusMinus:
		p.outsideToken(t, "the operator "+p.text(t)+" before a value", "")
	}
}

// bracketed reads an expression that starts with a bracket: a type, or casts before a value.
func (p *parser) bracketed(open token) Expr {
	attributes, types := p.attributes(true)
	if len(attributes) > 0 {
		last := attributes[len(attributes)-1]
		if end := p.after(last); p.nothingAfter(end) {
			p.incomplete(last.From.Offset, end, "UnexpectedAttribute", last.Type.Name)
		}
		p.outsideStop(attributes[0].From.Offset, "an attribute on a variable",
			"put it on a parameter, or check the value with if")
	}
	if len(types) == 0 {
		return nil
	}
	last := types[len(types)-1]
	var e Expr
	if t, ok := p.memberToken(false); ok {
		e = p.members(&TypeExpr{Span: last.Span, Type: last}, t)
	} else if t := p.peek(); t.kind != tNewLine && t.kind != tComma {
		if operand := p.unary(); operand != nil {
			e = &Cast{Span: between(last, operand), Type: last, Operand: operand}
		}
	}
	if e == nil {
		e = &TypeExpr{Span: last.Span, Type: last}
	}
	for i := len(types) - 2; i >= 0; i-- {
		e = &Cast{Span: between(types[i], e), Type: types[i], Operand: e}
	}
	return e
}

// memberToken reads a member operator directly after the text read so far, if the parser has
// not looked further yet.
func (p *parser) memberToken(bracket bool) (token, bool) {
	if p.has {
		return token{}, false
	}
	return p.l.memberAccess(bracket)
}

func (p *parser) primary() Expr {
	t := p.next()
	var e Expr
	switch t.kind {
	case tVariable, tSplat:
		e = p.variable(t)
	case tNumber:
		e = &Number{Span: p.spanOf(t), Value: t.num, Text: p.text(t)}
	case tString:
		e = &String{Span: p.spanOf(t), Value: t.value, Quote: t.quote}
	case tExpand:
		e = p.expandable(t)
	case tLParen:
		e = p.paren(t)
	case tAtParen, tDollarParen:
		e = p.subExpression(t)
	case tAtCurly:
		e = p.hash(t)
	case tLCurly:
		e = p.scriptBlockExpr(t)
	default:
		p.unget(t)
		return nil
	}
	if t, ok := p.memberToken(true); ok {
		return p.members(e, t)
	}
	return e
}

func (p *parser) variable(t token) *Variable {
	scope, name := splitVariable(t.value)
	return &Variable{Span: p.spanOf(t), Scope: scope, Name: name, Splat: t.kind == tSplat}
}

// members reads a sequence of member accesses, calls and indexes.
func (p *parser) members(e Expr, t token) Expr {
	for ok := true; ok; t, ok = p.memberToken(true) {
		p.skipLines()
		if t.kind == tLBracket {
			e = p.index(e, t)
		} else {
			e = p.member(e, t)
		}
	}
	return e
}

func (p *parser) index(e Expr, open token) Expr {
	index := p.expression()
	if index == nil {
		p.incomplete(open.end, open.end, "MissingArrayIndexExpression")
	}
	p.skipNewlines()
	end := p.next()
	if end.kind != tRBracket {
		at := p.after(index)
		p.incomplete(at, at, "MissingEndSquareBracket")
	}
	return &Index{Span: p.through(e, end), Target: e, Index: index}
}

func (p *parser) member(e Expr, op token) Expr {
	static := op.kind == tColonColon
	name := p.memberName()
	if name == nil {
		p.incomplete(op.end, op.end, "MissingPropertyName")
	}
	if !p.has && p.l.peek() == '(' {
		p.l.start = p.l.at
		p.l.at++
		args, end := p.methodArgs(p.l.token(tLParen))
		return &Invoke{Span: p.through(e, end), Target: e, Name: name, Static: static, Args: args}
	}
	if !p.has && p.l.peek() == '{' {
		p.outsideStop(p.l.at, "a method call without parentheses", "write them around the script block")
	}
	return &Member{Span: between(e, name), Target: e, Name: name, Static: static}
}

// simpleName reads an identifier in any mode, even if it is a keyword.
func (p *parser) simpleName() *String {
	if p.has && p.tok.kind != tNewLine {
		p.rewind(p.tok.start)
	}
	p.l.simple = true
	t := p.peek()
	p.l.simple = false
	if t.kind != tIdentifier {
		if p.tok.kind != tNewLine {
			p.rewind(t.start)
		}
		return nil
	}
	p.next()
	return &String{Span: p.spanOf(t), Value: t.value}
}

// memberName reads a word.
func (p *parser) memberName() *String {
	if name := p.simpleName(); name != nil {
		return name
	}
	switch t := p.peek(); t.kind {
	case tVariable, tString, tExpand, tLParen, tDollarParen, tNumber, tLBracket, tLCurly, tAtCurly, tAtParen, tSplat,
		tOperator, tOutside, tPlusPlus, tMinusMinus, tComma:
		p.outsideToken(t, "a member name that is no word", "use an index")
	}
	return nil
}

// methodArgs reads the arguments of a method and the closing parenthesis.
func (p *parser) methodArgs(open token) ([]Expr, token) {
	comma := p.noComma
	p.noComma = true
	defer func() { p.noComma = comma }()
	var args []Expr
	at := open.end
	for {
		p.skipNewlines()
		arg := p.expression()
		if arg == nil {
			if len(args) > 0 {
				p.incomplete(at, at, "MissingExpressionAfterToken", ",")
			}
			break
		}
		args = append(args, arg)
		p.skipNewlines()
		if p.peek().kind != tComma {
			break
		}
		at = p.next().end
	}
	p.skipNewlines()
	end := p.next()
	if end.kind != tRParen {
		at := open.end
		if len(args) > 0 {
			at = p.after(args[len(args)-1])
		}
		p.incomplete(at, at, "MissingEndParenthesisInMethodCall")
	}
	return args, end
}

// inner reads the content of brackets with read. Inside them, the comma is an operator.
func (p *parser) inner(read func()) {
	comma := p.noComma
	p.noComma = false
	mode := p.setMode(modeCommand)
	read()
	p.noComma = comma
	p.setMode(mode)
}

func (p *parser) paren(open token) Expr {
	e := &Paren{}
	p.inner(func() {
		p.skipNewlines()
		if e.Inner = p.pipeline(); e.Inner == nil {
			p.incomplete(open.end, open.end, "ExpectedExpression")
		}
		p.skipNewlines()
		end := p.next()
		if end.kind != tRParen {
			at := p.after(e.Inner)
			p.incomplete(at, at, "MissingEndParenthesisInExpression")
		}
		e.Span = p.span(open.start, end.end)
	})
	return e
}

func (p *parser) subExpression(open token) Expr {
	var body *Block
	var span Span
	p.inner(func() {
		p.skipNewlines()
		body = p.statements()
		p.skipNewlines()
		end := p.next()
		if end.kind != tRParen {
			p.incomplete(end.start, end.end, "MissingEndParenthesisInSubexpression")
		}
		span = p.span(open.start, end.end)
	})
	if open.kind == tAtParen {
		return &ArrayExpr{Span: span, Body: body}
	}
	return &SubExpr{Span: span, Body: body}
}

func (p *parser) scriptBlockExpr(open token) Expr {
	e := &ScriptBlockExpr{}
	p.inner(func() {
		e.Block = p.scriptBlock(open, true)
		e.Span = p.span(open.start, p.l.at)
	})
	return e
}

func (p *parser) hash(open token) Expr {
	e := &Hash{}
	p.inner(func() {
		p.skipNewlines()
		for {
			entry := p.hashEntry()
			if entry == nil {
				break
			}
			e.Entries = append(e.Entries, entry)
			if k := p.peek().kind; k != tNewLine && k != tSemi {
				break
			}
			p.skipTerminators()
		}
		end := p.next()
		if end.kind != tRCurly {
			p.incomplete(open.end, end.end, "MissingEndCurlyBrace")
		}
		e.Span = p.span(open.start, end.end)
	})
	return e
}

func (p *parser) hashEntry() *HashEntry {
	mode := p.setMode(modeExpression)
	key := p.key()
	if key == nil {
		p.setMode(mode)
		return nil
	}
	eq := p.next()
	if eq.kind != tAssign || eq.op.assigns != Assign {
		p.failStop(p.after(key), "MissingEqualsInHashLiteral")
	}
	p.setMode(modeCommand)
	p.skipNewlines()
	value := p.statement()
	if value == nil {
		p.incomplete(eq.end, eq.end, "MissingStatementInHashLiteral")
	}
	p.setMode(mode)
	return &HashEntry{Span: between(key, value), Key: key, Value: value}
}

// key reads the key of a hash literal.
func (p *parser) key() Expr {
	if name := p.simpleName(); name != nil {
		return name
	}
	switch t := p.peek(); t.kind {
	case tString, tVariable:
		return p.primary()
	case tNumber, tExpand, tLParen, tDollarParen:
		p.outsideToken(t, "a key of this form", "write a word, a string or a variable")
	}
	return nil
}

// expandable returns the parts of an expandable string or word.
func (p *parser) expandable(t token) Expr {
	e := &ExpandString{Span: p.spanOf(t), Quote: t.quote}
	for _, part := range t.parts {
		switch part.kind {
		case partText:
			if part.text == "" {
				continue
			}
			e.Parts = append(e.Parts, &String{Span: e.Span, Value: part.text, Quote: t.quote})
		case partVariable:
			scope, name := splitVariable(part.text)
			e.Parts = append(e.Parts, &Variable{Span: p.span(part.start, part.end), Scope: scope, Name: name})
		case partSub:
			e.Parts = append(e.Parts, p.nested(part))
		}
	}
	return e
}

// nested parses the text of a sub-expression inside a string.
func (p *parser) nested(part part) Expr {
	p.enter()
	defer p.leave()
	outer, tok, has, comma := p.l, p.tok, p.has, p.noComma
	p.l, p.has, p.noComma = &lexer{p: p, mode: modeExpression, text: outer.text[:part.end],
		at: part.start}, false, false
	e := p.primary()
	p.l, p.tok, p.has, p.noComma = outer, tok, has, comma
	return e
}

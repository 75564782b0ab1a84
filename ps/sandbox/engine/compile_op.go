package engine

import (
	"strings"

	"slices"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// operatorName returns the name of an operator in package dotnet.
func operatorName(op syntax.BinaryOp, exact bool) string {
	name := op.String()
	if exact {
		name = "-c" + name[1:]
	}
	return name
}

func (c *compiler) binary(e *syntax.Binary) exprFn {
	switch e.Op {
	case syntax.And, syntax.Or:
		return c.logical(e)
	case syntax.Match, syntax.NotMatch:
		return c.match(e)
	case syntax.Is, syntax.IsNot:
		return c.typeOperator(e)
	case syntax.Add:
		if left, ok := e.Left.(*syntax.Binary); ok && left.Op == syntax.Add {
			return c.sum(e)
		}
	}
	if e.Op == syntax.Replace {
		return c.replace(e)
	}
	apply, ok := dotnet.Operator(operatorName(e.Op, e.Exact))
	if !ok {
		panic("engine: no operator " + e.Op.String())
	}
	operands := c.operands(e)
	fast := intOperators[e.Op]
	at := c.place(e)
	return func(f *frame) (any, error) {
		l, r, err := operands(f)
		if err != nil {
			return nil, err
		}
		if a, b, ok := int32s(l, r); ok && fast != nil {
			if v, ok := fast(a, b); ok {
				return v, nil
			}
		}
		v, err := apply(l, r)
		if err != nil {
			return nil, limitOf(err, at)
		}
		return v, f.chargeValue(v)
	}
}

// checkPattern refuses a pattern that matches differently in the culture of the session. In
// Turkish and Azeri, i and I are different letters even if case is ignored.
func (f *frame) checkPattern(pattern any) error {
	if !f.s.engine.dotless {
		return nil
	}
	text := dotnet.ToText(pattern)
	if operands, ok := dotnet.Enumerate(pattern); ok && len(operands) > 0 {
		text = dotnet.ToText(operands[0]) // for -replace
	}
	if strings.ContainsAny(text, "iI\u0130\u0131") || strings.Contains(lower(text), "-z") {
		return dotnet.Refuse("the pattern '%s', which ignores case, in the culture %s", text,
			f.s.engine.culture())
	}
	return nil
}

// operands compiles both sides of an operator, the left one first.
func (c *compiler) operands(e *syntax.Binary) func(f *frame) (l, r any, err error) {
	left, right := c.expr(e.Left), c.expr(e.Right)
	pattern := !e.Exact && (e.Op == syntax.Like || e.Op == syntax.Match || e.Op == syntax.NotMatch ||
		e.Op == syntax.Replace)
	return func(f *frame) (any, any, error) {
		l, err := left(f)
		if err != nil {
			return nil, nil, err
		}
		r, err := right(f)
		if err == nil && pattern {
			err = f.checkPattern(r)
		}
		return l, r, err
	}
}

func int32s(l, r any) (a, b int32, ok bool) {
	if a, ok = l.(int32); ok {
		b, ok = r.(int32)
	}
	return a, b, ok
}

// sum compiles a chain of +. If the left side is a string, the rest is concatenated in one step at the end.
func (c *compiler) sum(e *syntax.Binary) exprFn {
	type term struct {
		run exprFn
		at  *place
	}
	var row []*syntax.Binary
	for b, ok := e, true; ok && b.Op == syntax.Add; b, ok = b.Left.(*syntax.Binary) {
		row = append(row, b)
	}
	slices.Reverse(row)
	first, terms := c.expr(row[0].Left), make([]term, len(row))
	for i, b := range row {
		terms[i] = term{c.expr(b.Right), c.place(b)}
	}
	return func(f *frame) (any, error) {
		total, err := first(f)
		if err != nil {
			return nil, err
		}
		var buf [8]string
		pieces, length := buf[:0], 0
		for i := range terms {
			v, err := terms[i].run(f)
			if err != nil {
				return nil, err
			}
			text, ok := total.(string)
			if !ok {
				if total, err = f.add(total, v, terms[i].at); err != nil {
					return nil, err
				}
				continue
			}
			if len(pieces) == 0 {
				pieces, length = append(pieces, text), len(text)
			}
			piece := dotnet.ToText(v)
			pieces = append(pieces, piece)
			if length += len(piece); length > dotnet.MaxStringLength {
				_, err := dotnet.AddTexts(pieces...)
				return nil, limitOf(err, terms[i].at)
			}
		}
		if len(pieces) == 0 {
			return total, nil
		}
		if total, err = dotnet.AddTexts(pieces...); err != nil {
			return nil, err
		}
		return total, f.chargeValue(total)
	}
}

// add implements l + r.
func (f *frame) add(l, r any, at *place) (any, error) {
	v, err := dotnet.Add(l, r)
	if err != nil {
		return nil, limitOf(err, at)
	}
	return v, f.chargeValue(v)
}

// intOperators are fast paths for two Int32 values. ok is false if the result is not an Int32.
var intOperators = map[syntax.BinaryOp]func(a, b int32) (any, bool){
	syntax.Add: func(a, b int32) (any, bool) {
		sum := int64(a) + int64(b)
		return int32(sum), sum == int64(int32(sum))
	},
	syntax.Sub: func(a, b int32) (any, bool) {
		sum := int64(a) - int64(b)
		return int32(sum), sum == int64(int32(sum))
	},
	syntax.Eq: func(a, b int32) (any, bool) { return a == b, true },
	syntax.Ne: func(a, b int32) (any, bool) { return a != b, true },
	syntax.Lt: func(a, b int32) (any, bool) { return a < b, true },
	syntax.Le: func(a, b int32) (any, bool) { return a <= b, true },
	syntax.Gt: func(a, b int32) (any, bool) { return a > b, true },
	syntax.Ge: func(a, b int32) (any, bool) { return a >= b, true },
}

func (c *compiler) logical(e *syntax.Binary) exprFn {
	left, right := c.expr(e.Left), c.expr(e.Right)
	isOr := e.Op == syntax.Or
	return func(f *frame) (any, error) {
		v, err := left(f)
		if err != nil {
			return nil, err
		}
		if dotnet.Truthy(v) == isOr {
			return isOr, nil
		}
		if v, err = right(f); err != nil {
			return nil, err
		}
		return dotnet.Truthy(v), nil
	}
}

func (c *compiler) match(e *syntax.Binary) exprFn {
	operands := c.operands(e)
	negate, at := e.Op == syntax.NotMatch, c.place(e)
	return func(f *frame) (any, error) {
		l, r, err := operands(f)
		if err != nil {
			return nil, err
		}
		v, err := dotnet.Match(l, r, e.Exact, negate)
		return v, limitOf(err, at)
	}
}

func (c *compiler) replace(e *syntax.Binary) exprFn {
	operands, at := c.operands(e), c.place(e)
	return func(f *frame) (any, error) {
		l, r, err := operands(f)
		if err != nil {
			return nil, err
		}
		v, err := dotnet.Replace(l, r, e.Exact)
		if err != nil {
			return nil, limitOf(err, at)
		}
		return v, f.chargeValue(v)
	}
}

// typeOperator compiles -is and -isnot.
func (c *compiler) typeOperator(e *syntax.Binary) exprFn {
	left := c.expr(e.Left)
	x, ok := e.Right.(*syntax.TypeExpr)
	if !ok {
		c.refuse(e.Right, "a type that is not written in brackets")
		return left
	}
	ref, want := c.typeRef(x.Type), e.Op == syntax.Is
	return func(f *frame) (any, error) {
		l, err := left(f)
		if err != nil {
			return nil, err
		}
		t, err := ref(f)
		if err != nil {
			return nil, err
		}
		if t.Kind == dotnet.KindArray { // the array's exact type, although a string[] can be used as an object[]
			return (dotnet.TypeOf(plain(l)) == t) == want, nil
		}
		return dotnet.Is(plain(l), t) == want, nil
	}
}

func (c *compiler) unary(e *syntax.Unary) exprFn {
	switch e.Op {
	case syntax.PostInc:
		return c.increment(e, 1)
	case syntax.PostDec:
		return c.increment(e, -1)
	}
	operand := c.expr(e.Operand)
	if e.Op == syntax.Not {
		return func(f *frame) (any, error) {
			v, err := operand(f)
			if err != nil {
				return nil, err
			}
			return !dotnet.Truthy(v), nil
		}
	}
	return func(f *frame) (any, error) {
		v, err := operand(f)
		if err != nil {
			return nil, err
		}
		return dotnet.BitNot(v)
	}
}

// increment compiles $x++ and $x--, whose value is the old one.
func (c *compiler) increment(e *syntax.Unary, by int32) exprFn {
	read, write := c.expr(e.Operand), c.assignTo(e.Operand)
	return func(f *frame) (any, error) {
		old, err := read(f)
		if err != nil {
			return nil, err
		}
		next, err := dotnet.Increment(plain(old), by)
		if err != nil {
			return nil, err
		}
		if err := write(f, next); err != nil {
			return nil, err
		}
		if isNull(old) {
			return int32(0), nil
		}
		return old, nil
	}
}

package engine

import (
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// operatorNames are the texts package dotnet knows the operators by.
var operatorNames = map[syntax.BinaryOp]string{
	syntax.Add: "+", syntax.Sub: "-", syntax.Mul: "*", syntax.Div: "/", syntax.Mod: "%",
	syntax.Range: "..", syntax.Format: "-f", syntax.Xor: "-xor",
	syntax.BitAnd: "-band", syntax.BitOr: "-bor", syntax.BitXor: "-bxor",
	syntax.ShiftLeft: "-shl", syntax.ShiftRight: "-shr",
	syntax.Eq: "eq", syntax.Ne: "ne", syntax.Gt: "gt", syntax.Ge: "ge", syntax.Lt: "lt", syntax.Le: "le",
	syntax.Like: "like", syntax.NotLike: "notlike", syntax.Replace: "replace",
	syntax.Contains: "contains", syntax.NotContains: "notcontains", syntax.In: "in", syntax.NotIn: "notin",
	syntax.Split: "split", syntax.Join: "-join",
	syntax.Is: "-is", syntax.IsNot: "-isnot", syntax.As: "-as",
}

// operatorName is the text of an operator, with the letter for case.
func operatorName(op syntax.BinaryOp, cs syntax.Case) string {
	name := operatorNames[op]
	if name == "" || name[0] == '-' || name[0] < 'a' {
		return name
	}
	if cs == syntax.CaseExact {
		return "-c" + name
	}
	return "-" + name
}

func (c *compiler) binary(e *syntax.Binary) exprFn {
	switch e.Op {
	case syntax.And, syntax.Or, syntax.Xor:
		return c.logical(e)
	case syntax.Match, syntax.NotMatch:
		return c.match(e)
	case syntax.Is, syntax.IsNot, syntax.As:
		return c.typeOperator(e)
	case syntax.Add:
		if left, ok := e.Left.(*syntax.Binary); ok && left.Op == syntax.Add {
			return c.sum(e)
		}
	}
	apply, ok := dotnet.Operator(operatorName(e.Op, e.Case))
	if !ok {
		return c.refuseExpr(e)
	}
	left, right := c.expr(e.Left), c.expr(e.Right)
	fast := intOperators[e.Op]
	at := c.place(e)
	isReplace, isSplit, isAdd := e.Op == syntax.Replace, e.Op == syntax.Split, e.Op == syntax.Add
	return func(f *frame) (any, error) {
		l, err := left(f)
		if err != nil {
			return nil, err
		}
		r, err := right(f)
		if err != nil {
			return nil, err
		}
		if fast != nil {
			if a, ok := l.(int32); ok {
				if b, ok := r.(int32); ok {
					if v, ok := fast(a, b); ok {
						return v, nil
					}
				}
			}
		}
		if isAdd {
			r = f.addend(l, r)
		}
		if isReplace || isSplit {
			if err := f.guardRegex(l); err != nil {
				return nil, err
			}
		}
		if isReplace {
			if r, err = f.guardReplacement(l, r); err != nil {
				return nil, err
			}
		}
		v, err := apply(plain(l), plain(r))
		if err != nil {
			return nil, limitOf(err, at)
		}
		return v, f.chargeValue(v)
	}
}

// sum compiles a row of +. From where what is summed up is a text on, the pieces
// are put together once, at the end.
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
		var room [8]string
		pieces, length := room[:0], 0
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
			piece := f.text(v)
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

// addend is the right side of +: behind a text, collections are joined by $OFS.
func (f *frame) addend(l, r any) any {
	if _, ok := r.(*dotnet.Array); !ok {
		return r
	}
	switch l.(type) {
	case string, dotnet.Char:
		return f.text(r)
	}
	return r
}

// add is l + r.
func (f *frame) add(l, r any, at *place) (any, error) {
	v, err := dotnet.Add(plain(l), plain(f.addend(l, r)))
	if err != nil {
		return nil, limitOf(err, at)
	}
	return v, f.chargeValue(v)
}

// intOperators are shortcuts for two Int32; ok is false where the result is no Int32.
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
	op := e.Op
	return func(f *frame) (any, error) {
		l, err := left(f)
		if err != nil {
			return nil, err
		}
		a := dotnet.Truthy(l)
		if op == syntax.And && !a {
			return false, nil
		}
		if op == syntax.Or && a {
			return true, nil
		}
		r, err := right(f)
		if err != nil {
			return nil, err
		}
		b := dotnet.Truthy(r)
		if op == syntax.Xor {
			return a != b, nil
		}
		return b, nil
	}
}

// match compiles -match, which also sets $Matches.
func (c *compiler) match(e *syntax.Binary) exprFn {
	left, right := c.expr(e.Left), c.expr(e.Right)
	exact, negate := e.Case == syntax.CaseExact, e.Op == syntax.NotMatch
	return func(f *frame) (any, error) {
		l, err := left(f)
		if err != nil {
			return nil, err
		}
		r, err := right(f)
		if err != nil {
			return nil, err
		}
		if err := f.guardRegex(l); err != nil {
			return nil, err
		}
		v, matches, err := dotnet.Match(plain(l), plain(r), exact, negate)
		if err != nil {
			return nil, err
		}
		if matches != nil {
			f.scope.set(symMatches, "Matches", matches)
		}
		return v, nil
	}
}

// typeOperator compiles -is, -isnot and -as.
func (c *compiler) typeOperator(e *syntax.Binary) exprFn {
	left, right := c.expr(e.Left), c.expr(e.Right)
	op := e.Op
	if x, ok := e.Right.(*syntax.TypeExpr); ok && op != syntax.As {
		if t := staticType(typeText(x.Type)); t != nil {
			return func(f *frame) (any, error) {
				l, err := left(f)
				return err == nil && dotnet.Is(plain(l), t) == (op == syntax.Is), err
			}
		}
	}
	return func(f *frame) (any, error) {
		l, err := left(f)
		if err != nil {
			return nil, err
		}
		r, err := right(f)
		if err != nil {
			return nil, err
		}
		t, ok := r.(*dotnet.Type)
		if !ok {
			if t = f.s.lookupType(dotnet.ToText(r)); t == nil {
				return nil, typeNotFound(dotnet.ToText(r))
			}
		}
		switch op {
		case syntax.Is:
			return dotnet.Is(plain(l), t), nil
		case syntax.IsNot:
			return !dotnet.Is(plain(l), t), nil
		}
		v, err := f.convert(plain(l), t)
		if err != nil {
			if asPS(err) == nil {
				return nil, err
			}
			return nil, nil
		}
		return v, nil
	}
}

var unaryNames = map[syntax.UnaryOp]string{
	syntax.Not: "-not", syntax.Bang: "!", syntax.Minus: "-", syntax.Plus: "+",
	syntax.BitNot: "-bnot", syntax.UnarySplit: "-split", syntax.UnaryJoin: "-join",
}

func (c *compiler) unary(e *syntax.Unary) exprFn {
	switch e.Op {
	case syntax.PreInc:
		return c.increment(e, 1, false)
	case syntax.PreDec:
		return c.increment(e, -1, false)
	case syntax.PostInc:
		return c.increment(e, 1, true)
	case syntax.PostDec:
		return c.increment(e, -1, true)
	}
	operand := c.expr(e.Operand)
	if e.Op == syntax.Not || e.Op == syntax.Bang {
		return func(f *frame) (any, error) {
			v, err := operand(f)
			if err != nil {
				return nil, err
			}
			return !dotnet.Truthy(v), nil
		}
	}
	name := unaryNames[e.Op]
	return func(f *frame) (any, error) {
		v, err := operand(f)
		if err != nil {
			return nil, err
		}
		return dotnet.Unary(name, plain(v))
	}
}

// increment compiles ++ and --; after tells that the old value is the result.
func (c *compiler) increment(e *syntax.Unary, by int32, after bool) exprFn {
	read, write := c.expr(e.Operand), c.assignTo(e.Operand)
	return func(f *frame) (any, error) {
		old, err := read(f)
		if err != nil {
			return nil, err
		}
		var next any
		if n, ok := old.(int32); ok && n < 1<<30 && n > -1<<30 {
			next = n + by
		} else if next, err = dotnet.Increment(plain(old), by); err != nil {
			return nil, err
		}
		if err := write(f, next); err != nil {
			return nil, err
		}
		if !after {
			return next, nil
		}
		if isNull(old) {
			return int32(0), nil
		}
		return old, nil
	}
}

// guardRegex refuses texts that a regular expression would be busy with for too
// long: it cannot be stopped between matches.
func (f *frame) guardRegex(v any) error {
	limit := f.s.limits.RegexBytes
	if text, ok := v.(string); ok {
		if int64(len(text)) > limit {
			return &LimitError{Limit: "RegexBytes"}
		}
		return nil
	}
	items, _ := dotnet.Enumerate(v)
	size := int64(0)
	for _, item := range items {
		if text, ok := item.(string); ok {
			if size += int64(len(text)); size > limit {
				return &LimitError{Limit: "RegexBytes"}
			}
		}
	}
	return nil
}

// guardReplacement bounds what -replace can make: where the result could be too
// large, the replacement counts what it adds.
func (f *frame) guardReplacement(input, operand any) (any, error) {
	pair, ok := operand.(*dotnet.Array)
	if !ok || len(pair.Items) != 2 {
		return operand, nil
	}
	if _, block := pair.Items[1].(*ScriptBlock); block {
		return nil, runtimeError("NotSupported", dotnet.NotImplemented, nil,
			"-replace with a script block is not supported: call [regex]::Replace with it. Windows PowerShell would put in the block's text.")
	}
	with, err := f.guardText(input, pair.Items[1])
	if err != nil || with == pair.Items[1] {
		return operand, err
	}
	return dotnet.NewArray(pair.Items[0], with), nil
}

func (f *frame) guardText(input, with any) (any, error) {
	text, ok := with.(string)
	if !ok {
		return with, nil
	}
	size := int64(0)
	for _, item := range dotnet.EnumerateAny(input) {
		size += int64(len(dotnet.ToText(item))) + 1
	}
	if size*int64(len(text)) <= f.s.limits.ValueBytes {
		return with, nil
	}
	return &countedReplacement{f: f, text: text}, nil
}

// countedReplacement is a replacement text that counts how often it is used.
type countedReplacement struct {
	f    *frame
	text string
	made int64
}

// Type is ScriptBlock: the operator then asks for each match.
func (r *countedReplacement) Type() *dotnet.Type { return dotnet.TScriptBlock }

// Member finds nothing.
func (r *countedReplacement) Member(string) (any, bool) { return nil, false }

// Invoke gives the text for one match, its substitutions applied.
func (r *countedReplacement) Invoke(_ string, args []any) (any, error) {
	text := any(r.text)
	if strings.Contains(r.text, "$") && len(args) == 1 {
		result, err := dotnet.CallMethod(args[0], "Result", []any{r.text})
		if err != nil {
			return nil, err
		}
		text = result
	}
	r.made += int64(len(dotnet.ToText(text)))
	if r.made > r.f.s.limits.ValueBytes {
		return nil, &LimitError{Limit: "ValueBytes"}
	}
	return text, nil
}

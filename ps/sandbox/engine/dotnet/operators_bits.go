package dotnet

import (
	"math/big"
	"strings"
)

// Unary computes "-", "+", "!", "-not", "-bnot", "-split", "-join" and ",".
func Unary(op string, v any) (any, error) {
	v = base(v)
	switch op {
	case "-":
		return Subtract(int32(0), v)
	case "+":
		return Add(int32(0), v)
	case "!", "-not":
		return !Truthy(v), nil
	case "-bnot":
		return complement(v)
	case "-split", "-isplit", "-csplit":
		return splitBlank(v), nil
	case "-join":
		return joinOperator(v, "")
	case ",":
		return NewArray(v), nil
	default:
		return nil, RuntimeError("UnaryOperator", InvalidOperation, nil, "The operator '%s' is not known.", op)
	}
}

// Increment is ++ (by 1) and -- (by -1): numbers and null only.
func Increment(v any, by int32) (any, error) {
	v = base(v)
	if v == nil {
		return by, nil
	}
	if rank(v) == notNumber {
		if _, ok := v.(Char); !ok {
			op := "++"
			if by < 0 {
				op = "--"
			}
			return nil, RuntimeError("OperatorRequiresNumber", InvalidOperation, nil,
				`The '%s' operator works only on numbers. The operand is a '%s'.`, op, TypeOf(v).Text())
		}
	}
	return Add(v, by)
}

// whole makes a whole number of a bitwise operand.
func whole(v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return int32(0), nil
	case bool:
		return Convert(x, TInt32)
	case string:
		n, err := operand(x, nil, "")
		if err != nil {
			return nil, err
		}
		return whole(n)
	case Enum:
		n, _ := fitInt64(x.Value, x.Type.Under)
		return n, nil
	case Char:
		return int32(x), nil
	case float64, float32, Decimal:
		n, ok := asBig(x)
		if ok && n.IsInt64() {
			i := n.Int64()
			if i == int64(int32(i)) {
				return int32(i), nil
			}
			return i, nil
		}
		if ok && n.IsUint64() {
			return n.Uint64(), nil
		}
		return nil, castErrorCause("InvalidCastIConvertible", v, TInt64, overflow(TInt64))
	default:
		if rank(v) == notNumber {
			return nil, RuntimeError("MethodNotFound", InvalidOperation, nil,
				"Method invocation failed because [%s] does not contain a method named '%s'.", TypeOf(v).Text(), "op_BitwiseAnd")
		}
		return v, nil
	}
}

func bitwise(op byte) BinaryFunc {
	return func(l, r any) (any, error) {
		l, r = base(l), base(r)
		if x, ok := l.(int32); ok {
			if y, ok := r.(int32); ok {
				return bitwiseInt(op, x, y), nil
			}
		}
		a, err := whole(l)
		if err != nil {
			return nil, err
		}
		b, err := whole(r)
		if err != nil {
			return nil, err
		}
		x, _ := asBig(a)
		y, _ := asBig(b)
		var n big.Int
		switch op {
		case '&':
			n.And(x, y)
		case '|':
			n.Or(x, y)
		default:
			n.Xor(x, y)
		}
		if e, ok := l.(Enum); ok && n.IsInt64() {
			return Enum{e.Type, n.Int64()}, nil
		}
		level := max(rank(a), rank(b))
		t := map[numeric]*Type{numInt: TInt32, numUint: TUInt32, numLong: TInt64, numUlong: TUInt64}[level]
		if level == numUint && rank(a) != rank(b) {
			t = TInt64
		}
		if v, ok := fitInt(&n, t); ok {
			return v, nil
		}
		if n.IsInt64() {
			return n.Int64(), nil
		}
		return n.Uint64(), nil
	}
}

func bitwiseInt(op byte, x, y int32) int32 {
	switch op {
	case '&':
		return x & y
	case '|':
		return x | y
	default:
		return x ^ y
	}
}

func complement(v any) (any, error) {
	a, err := whole(v)
	if err != nil {
		return nil, err
	}
	if e, ok := v.(Enum); ok {
		return Enum{e.Type, ^e.Value}, nil
	}
	switch n := a.(type) {
	case uint32:
		return ^n, nil
	case uint64:
		return ^n, nil
	case int64:
		return ^n, nil
	default:
		i, _ := asInt64(a)
		return int32(^i), nil
	}
}

func shift(left bool) BinaryFunc {
	return func(l, r any) (any, error) {
		a, err := whole(base(l))
		if err != nil {
			return nil, err
		}
		count, err := Convert(r, TInt32)
		if err != nil {
			return nil, err
		}
		n := uint(count.(int32))
		switch x := a.(type) {
		case int64:
			if left {
				return x << (n & 63), nil
			}
			return x >> (n & 63), nil
		case uint64:
			if left {
				return x << (n & 63), nil
			}
			return x >> (n & 63), nil
		case uint32:
			if left {
				return x << (n & 31), nil
			}
			return x >> (n & 31), nil
		default:
			i, _ := asInt64(a)
			if left {
				return int32(i) << (n & 31), nil
			}
			return int32(i) >> (n & 31), nil
		}
	}
}

// Range is the operator ..: whole numbers, or two characters.
func Range(l, r any) (any, error) {
	if a, ok := rangeChar(l); ok {
		if b, ok := rangeChar(r); ok {
			return rangeItems(int64(a), int64(b), func(n int64) any { return Char(n) })
		}
	}
	from, err := Convert(l, TInt32)
	if err != nil {
		return nil, err
	}
	to, err := Convert(r, TInt32)
	if err != nil {
		return nil, err
	}
	return rangeItems(int64(from.(int32)), int64(to.(int32)), func(n int64) any { return int32(n) })
}

func rangeChar(v any) (Char, bool) {
	switch c := v.(type) {
	case Char:
		return c, true
	case string:
		if len(c) == 1 && (c[0] < '0' || c[0] > '9') {
			return Char(c[0]), true
		}
	}
	return 0, false
}

func rangeItems(from, to int64, item func(int64) any) (any, error) {
	step, count := int64(1), to-from+1
	if to < from {
		step, count = -1, from-to+1
	}
	if count > int64(MaxArrayLength) {
		return nil, &LimitError{"array length", MaxArrayLength}
	}
	items := make([]any, count)
	for i := range items {
		items[i] = item(from + int64(i)*step)
	}
	return &Array{Items: items}, nil
}

func isOperator(l, r any, negate bool) (any, error) {
	t, err := typeOperand(r)
	if err != nil {
		return nil, err
	}
	return Is(l, t) != negate, nil
}

func asOperator(l, r any) (any, error) {
	t, err := typeOperand(r)
	if err != nil {
		return nil, err
	}
	v, ok := TryConvert(l, t)
	if !ok {
		return nil, nil
	}
	return v, nil
}

func typeOperand(v any) (*Type, error) {
	if t, ok := v.(*Type); ok {
		return t, nil
	}
	t := Lookup(ToText(v))
	if t == nil {
		return nil, RuntimeError("TypeNotFound", InvalidOperation, ToText(v), "Unable to find type [%s].", ToText(v))
	}
	return t, nil
}

func joinOperator(l, r any) (any, error) {
	items, ok := Enumerate(l)
	if !ok {
		return ToText(l), nil
	}
	separator := ToText(r)
	parts := make([]string, len(items))
	total := 0
	for i, item := range items {
		parts[i] = ToText(item)
		total += len(parts[i]) + len(separator)
	}
	if total > MaxStringLength {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return Concat(interleave(parts, separator)...), nil
}

// splitBlank is unary -split: runs of white space separate, empty pieces are dropped.
func splitBlank(v any) any {
	out := &Array{Elem: TString}
	for _, item := range EnumerateAny(v) {
		for _, part := range strings.Fields(ToText(item)) {
			out.Items = append(out.Items, part)
		}
	}
	return out
}

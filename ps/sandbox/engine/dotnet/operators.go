package dotnet

import "math"

// BinaryFunc computes one binary operator.
type BinaryFunc func(l, r any) (any, error)

// Operator finds a binary operator by its text in lower case, such as "+", "-eq", "-ceq" or
// "-join". It does not know -and and -or, which the evaluator short-circuits, -is and -as,
// which need its types, or -match and -replace (see Match and Replace).
func Operator(name string) (BinaryFunc, bool) {
	f, ok := binaryOperators[name]
	return f, ok
}

var binaryOperators = func() map[string]BinaryFunc {
	all := map[string]BinaryFunc{
		"+": Add, "-": Subtract, "*": Multiply, "/": Divide, "%": Remainder,
		"-join": joinOperator,
		"-band": bitwise("-band", func(x, y int64) int64 { return x & y }),
		"-bor":  bitwise("-bor", func(x, y int64) int64 { return x | y }),
		"-shr":  shiftRight,
	}
	for prefix, cs := range map[string]bool{"-": false, "-c": true} {
		for name, f := range map[string]BinaryFunc{
			"eq": equality(cs, false), "ne": equality(cs, true),
			"lt": ordering(func(c int) bool { return c < 0 }), "le": ordering(func(c int) bool { return c <= 0 }),
			"gt": ordering(func(c int) bool { return c > 0 }), "ge": ordering(func(c int) bool { return c >= 0 }),
			"like":     likeOperator(cs),
			"contains": contains(cs, false), "notcontains": contains(cs, true),
		} {
			all[prefix+name] = f
		}
	}
	return all
}()

// refuseOperands returns the error for operands that an operator does not support.
func refuseOperands(op string, l, r any) error {
	return Refuse("the operator %s between [%s] and [%s]", op, display(l), display(r))
}

// display returns the name of a value's type.
func display(v any) string {
	if t := TypeOf(v); t != nil {
		return t.Display()
	}
	return "null"
}

// Add implements the operator +. The left operand determines the operation.
func Add(l, r any) (any, error) {
	if text, ok := l.(string); ok {
		return AddTexts(text, ToText(r))
	}
	if isCollection(l) {
		return addItems(l, r) // no output adds no item
	}
	l, r = base(l), base(r)
	if l == nil {
		return r, nil
	}
	return arithmetic("+", l, r)
}

// AddTexts applies the operator + to texts from left to right.
func AddTexts(texts ...string) (any, error) {
	length := 0
	for _, text := range texts {
		if length += len(text); length > MaxStringLength {
			return nil, &LimitError{"string length", MaxStringLength}
		}
	}
	return Concat(texts...), nil
}

func addItems(l, r any) (any, error) {
	left, _ := Enumerate(l)
	right, ok := Enumerate(r)
	if !ok {
		right = []any{r}
	}
	if len(left)+len(right) > MaxArrayLength {
		return nil, &LimitError{"array length", MaxArrayLength}
	}
	items := make([]any, 0, len(left)+len(right))
	return &Array{Items: append(append(items, left...), right...)}, nil
}

// Subtract implements the operator -.
func Subtract(l, r any) (any, error) {
	if x, ok := l.(DateTime); ok {
		if y, ok := r.(DateTime); ok {
			return TimeSpan(x.Ticks - y.Ticks), nil
		}
	}
	return arithmetic("-", base(l), base(r))
}

// Multiply implements the operator * for numbers.
func Multiply(l, r any) (any, error) { return arithmetic("*", base(l), base(r)) }

// Divide implements the operator / for numbers.
func Divide(l, r any) (any, error) { return arithmetic("/", base(l), base(r)) }

// Remainder implements the operator % for numbers.
func Remainder(l, r any) (any, error) { return arithmetic("%", base(l), base(r)) }

// arithmetic computes with Int32 and Int64. An Int32 result that does not fit becomes a
// double. An Int64 result that does not fit, and a fraction, are refused.
func arithmetic(op string, l, r any) (any, error) {
	a, ok1 := intOrLong(l)
	b, ok2 := intOrLong(r)
	if !ok1 || !ok2 {
		return nil, refuseOperands(op, l, r)
	}
	n, exact := a, true
	switch op {
	case "+":
		n = a + b
		exact = (n > a) == (b > 0)
	case "-":
		n = a - b
		exact = (n < a) == (b > 0)
	case "*":
		n = a * b
		exact = a == 0 || n/a == b && !(a == -1 && b == math.MinInt64)
	default:
		if b == 0 {
			return nil, divideByZero()
		}
		if b == -1 {
			n = -a
			exact = n != a || a == 0
		} else if n = a / b; op == "/" && n*b != a {
			return nil, Refuse("a quotient with a fraction")
		}
		if op == "%" {
			n, exact = a-n*b, true
		}
	}
	if !exact {
		return nil, refuseOperands(op, l, r)
	}
	_, long1 := l.(int64)
	_, long2 := r.(int64)
	if long1 || long2 {
		return n, nil
	}
	if n == int64(int32(n)) {
		return int32(n), nil
	}
	return nil, refuseOperands(op, l, r) // PowerShell's result is a double
}

func intOrLong(v any) (int64, bool) {
	switch n := v.(type) {
	case int32:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

func divideByZero() error {
	r := RuntimeError("RuntimeException", NotSpecified, nil, "Attempted to divide by zero.")
	r.Exception.Inner = ExceptionNamed("System.DivideByZeroException", "Attempted to divide by zero.")
	return r
}

// BitNot implements the operator -bnot.
func BitNot(v any) (any, error) {
	switch n := v.(type) {
	case int32:
		return ^n, nil
	case int64:
		return ^n, nil
	}
	return nil, refuseOperands("-bnot", nil, v)
}

// Increment implements ++ (by 1) and -- (by -1), for numbers and null only.
func Increment(v any, by int32) (any, error) {
	v = base(v)
	if v == nil {
		return by, nil
	}
	return arithmetic("+", v, by)
}

func bitwise(op string, compute func(x, y int64) int64) BinaryFunc {
	return func(l, r any) (any, error) {
		x, ok1 := intOrLong(base(l))
		y, ok2 := intOrLong(base(r))
		if !ok1 || !ok2 {
			return nil, refuseOperands(op, l, r)
		}
		n := compute(x, y)
		_, short1 := l.(int32)
		_, short2 := r.(int32)
		if short1 && short2 {
			return int32(n), nil
		}
		return n, nil
	}
}

func shiftRight(l, r any) (any, error) {
	n, ok1 := l.(int32)
	count, ok2 := r.(int32)
	if !ok1 || !ok2 {
		return nil, refuseOperands("-shr", l, r)
	}
	return n >> (uint32(count) & 31), nil
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
		if t, ok := item.(*Type); ok && len(t.Args) > 0 {
			return nil, Refuse("-join of a generic type")
		}
		if _, custom := item.(*PSObject); custom { // -join omits its text
			return nil, Refuse("-join of custom objects")
		}
		parts[i] = Text(item)
		total += len(parts[i]) + len(separator)
	}
	if total > MaxStringLength {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return joinTexts(parts, separator), nil
}

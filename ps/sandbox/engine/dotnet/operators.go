package dotnet

import (
	"math"
	"math/big"
	"strings"
)

// BinaryFunc computes one binary operator.
type BinaryFunc func(l, r any) (any, error)

// Operator finds a binary operator by its text in lower case: "+", "-", "*", "/",
// "%", "-eq", "-ceq", "-ieq", ..., "-like", "-replace", "-split", "-join", "-f",
// "-contains", "-in", "-band", "-shl", "-is", "-as", "..", "-xor". Not here: -and
// and -or (the evaluator short-circuits) and -match (see Match).
func Operator(name string) (BinaryFunc, bool) {
	f, ok := binaryOperators[name]
	return f, ok
}

var binaryOperators map[string]BinaryFunc

func declareOperators() {
	binaryOperators = map[string]BinaryFunc{
		"+": Add, "-": Subtract, "*": Multiply, "/": Divide, "%": Remainder,
		"..": Range, "-f": formatOperator, "-join": joinOperator,
		"-band": bitwise('&'), "-bor": bitwise('|'), "-bxor": bitwise('^'),
		"-shl": shift(true), "-shr": shift(false),
		"-xor":   func(l, r any) (any, error) { return Truthy(l) != Truthy(r), nil },
		"-is":    func(l, r any) (any, error) { return isOperator(l, r, false) },
		"-isnot": func(l, r any) (any, error) { return isOperator(l, r, true) },
		"-as":    asOperator,
	}
	for _, prefix := range []struct {
		text      string
		sensitive bool
	}{{"-", false}, {"-i", false}, {"-c", true}} {
		cs := prefix.sensitive
		for name, f := range map[string]BinaryFunc{
			"eq": equality(cs, false), "ne": equality(cs, true),
			"lt": ordering(cs, func(c int) bool { return c < 0 }), "le": ordering(cs, func(c int) bool { return c <= 0 }),
			"gt": ordering(cs, func(c int) bool { return c > 0 }), "ge": ordering(cs, func(c int) bool { return c >= 0 }),
			"like": likeOperator(cs, false), "notlike": likeOperator(cs, true),
			"contains": contains(cs, false), "notcontains": contains(cs, true),
			"in": within(cs, false), "notin": within(cs, true),
			"replace": replaceOperator(cs), "split": splitOperator(cs),
		} {
			binaryOperators[prefix.text+name] = f
		}
	}
}

// ---- arithmetic ----

// Add is the operator +: the left operand decides.
func Add(l, r any) (any, error) {
	l, r = base(l), base(r)
	switch x := l.(type) {
	case nil:
		return r, nil
	case int32:
		if y, ok := r.(int32); ok {
			if sum := int64(x) + int64(y); sum == int64(int32(sum)) {
				return int32(sum), nil
			}
		}
	case string:
		return addText(x, ToText(r))
	case Char:
		switch y := r.(type) {
		case string:
			return addText(CharString(x), y)
		case Char:
			return addText(CharString(x), CharString(y))
		}
	case *Hashtable:
		return addTables(x, r)
	case DateTime:
		return timeOperand("op_Addition", r, func(span TimeSpan) (any, error) { return x.add(int64(span)) })
	case TimeSpan:
		return timeOperand("op_Addition", r, func(span TimeSpan) (any, error) { return addSpans(x, span) })
	}
	if isCollection(l) {
		return addItems(l, r)
	}
	return arithmetic("+", "op_Addition", l, r)
}

// timeOperand computes with the right side made a TimeSpan.
func timeOperand(method string, r any, compute func(TimeSpan) (any, error)) (any, error) {
	v, err := Convert(r, TTimeSpan)
	if rec := AsRecord(err); rec != nil {
		e := ExceptionNamed(automation+"MethodException", `Cannot convert argument "1", with value: "%s", for "%s" to type "%s": "%s"`,
			ToText(r), method, TTimeSpan.Text(), rec.Exception.Message)
		return nil, NewError(e, "MethodArgumentConversionInvalidCastArgument", NotSpecified, nil)
	}
	if err != nil {
		return nil, err
	}
	return operatorResult(compute(v.(TimeSpan)))
}

// operatorResult makes a record of an exception that an operator met.
func operatorResult(v any, err error) (any, error) {
	if e, ok := err.(*Exception); ok {
		return nil, outcome(e)
	}
	return v, err
}

func addText(a, b string) (any, error) {
	if len(a)+len(b) > MaxStringLength {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return Concat(a, b), nil
}

// AddTexts is the operator + from a text to the next, the first one to the last.
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

func addTables(l *Hashtable, r any) (any, error) {
	right, ok := r.(*Hashtable)
	if !ok {
		if r == nil {
			return l.Clone(), nil
		}
		return nil, RuntimeError("AddHashTableToNonHashTable", InvalidOperation, nil, "A hash table can only be added to another hash table.")
	}
	sum := l.Clone()
	sum.Type = THashtable
	sum.Comparer = CompareCulture
	for i := range right.Len() {
		key, value := right.At(i)
		if !sum.Add(key, value) {
			return nil, outcome(duplicateKey(sum, key))
		}
	}
	return sum, nil
}

// Subtract is the operator -.
func Subtract(l, r any) (any, error) {
	l, r = base(l), base(r)
	switch x := l.(type) {
	case int32:
		if y, ok := r.(int32); ok {
			if d := int64(x) - int64(y); d == int64(int32(d)) {
				return int32(d), nil
			}
		}
	case DateTime:
		switch y := r.(type) {
		case DateTime:
			return TimeSpan(x.Ticks - y.Ticks), nil
		case TimeSpan:
			return operatorResult(x.add(-int64(y)))
		}
		e := NewException(Lookup(automation+"MethodException"), `Multiple ambiguous overloads found for "op_Subtraction" and the argument count: "2".`)
		return nil, NewError(e, "MethodCountCouldNotFindBest", NotSpecified, nil)
	case TimeSpan:
		return timeOperand("op_Subtraction", r, func(span TimeSpan) (any, error) { return subtractSpans(x, span) })
	}
	return arithmetic("-", "op_Subtraction", l, r)
}

// Multiply is the operator *: strings and arrays repeat.
func Multiply(l, r any) (any, error) {
	l, r = base(l), base(r)
	if s, ok := l.(string); ok {
		n, err := repeatCount(r)
		if err != nil {
			return nil, err
		}
		if n > 0 && len(s) > MaxStringLength/n {
			return nil, &LimitError{"string length", MaxStringLength}
		}
		return strings.Repeat(s, n), nil
	}
	if isCollection(l) {
		return multiplyItems(l, r)
	}
	return arithmetic("*", "op_Multiply", l, r)
}

func multiplyItems(l, r any) (any, error) {
	items, _ := Enumerate(l)
	n, err := repeatCount(r)
	if err != nil {
		return nil, err
	}
	if n > 0 && len(items) > MaxArrayLength/n {
		return nil, &LimitError{"array length", MaxArrayLength}
	}
	out := make([]any, 0, len(items)*n)
	for range n {
		out = append(out, items...)
	}
	return &Array{Items: out}, nil
}

func repeatCount(v any) (int, error) {
	n, err := Convert(v, TInt32)
	if err != nil {
		return 0, err
	}
	if n.(int32) < 0 {
		return 0, outcome(ExceptionNamed("System.ArgumentOutOfRangeException", "Specified argument was out of the range of valid values. (Parameter 'times')"))
	}
	return int(n.(int32)), nil
}

// Divide is the operator /.
func Divide(l, r any) (any, error) { return arithmetic("/", "op_Division", base(l), base(r)) }

// Remainder is the operator %.
func Remainder(l, r any) (any, error) { return arithmetic("%", "op_Modulus", base(l), base(r)) }

// arithmetic promotes both operands to one type on the ladder int, uint, long,
// ulong, decimal, double and computes there; whole numbers that overflow become doubles.
// An enumeration on the left stays one.
func arithmetic(op, method string, l, r any) (any, error) {
	if e, ok := l.(Enum); ok {
		n, _ := fitInt64(e.Value, e.Type.Under)
		v, err := arithmetic(op, method, n, r)
		if err != nil {
			return nil, err
		}
		if TypeOf(v) != e.Type.Under {
			return nil, outcome(ExceptionNamed("System.InvalidCastException", "Unable to cast object of type '%s' to type '%s'.", TypeOf(v).Name, e.Type.Name))
		}
		value, _ := asInt64(v)
		return Enum{e.Type, value}, nil
	}
	a, err := operand(l, r, method)
	if err != nil {
		return nil, err
	}
	b, err := operand(r, l, method)
	if err != nil {
		return nil, err
	}
	level := max(rank(a), rank(b))
	switch level {
	case numDouble:
		if _, single := a.(float32); single {
			if y, both := b.(float32); both {
				return float32(floatArithmetic(op, asFloat(a), float64(y))), nil
			}
		}
		return floatArithmetic(op, asFloat(a), asFloat(b)), nil
	case numDecimal:
		return decimalArithmetic(op, a, b)
	default:
		return wholeArithmetic(op, a, b, level)
	}
}

// operand makes a number of one side: strings are read, null is 0.
func operand(v, other any, method string) (any, error) {
	switch x := v.(type) {
	case nil:
		return int32(0), nil
	case bool:
		if x {
			return int32(1), nil
		}
		return int32(0), nil
	case Char:
		return int32(x), nil
	case string:
		if n, ok := ParseNumber(x); ok {
			return n, nil
		}
		if strings.TrimSpace(x) == "" {
			return int32(0), nil
		}
		target := TInt32
		if t := TypeOf(other); t != nil && isNumberType(t) {
			target = t
		}
		return convertText(x, target)
	case Enum:
		n, _ := fitInt64(x.Value, x.Type.Under)
		return n, nil
	default:
		if rank(v) != notNumber {
			return v, nil
		}
		t := TypeOf(v)
		return nil, RuntimeError("MethodNotFound", InvalidOperation, nil,
			"Method invocation failed because [%s] does not contain a method named '%s'.", t.Text(), method)
	}
}

func floatArithmetic(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	default:
		return math.Mod(a, b)
	}
}

func divideByZero() error {
	r := RuntimeError("RuntimeException", NotSpecified, nil, "Attempted to divide by zero.")
	r.Exception.Inner = ExceptionNamed("System.DivideByZeroException", "Attempted to divide by zero.")
	return r
}

func decimalArithmetic(op string, a, b any) (any, error) {
	x, ok1 := asDecimal(a)
	y, ok2 := asDecimal(b)
	var result Decimal
	ok := ok1 && ok2
	if ok {
		switch op {
		case "+":
			result, ok = x.add(y)
		case "-":
			result, ok = x.add(y.neg())
		case "*":
			result, ok = x.mul(y)
		default:
			if y.mantissa().Sign() == 0 {
				return nil, divideByZero()
			}
			if op == "/" {
				result, ok = x.div(y)
			} else {
				result, ok = x.rem(y)
			}
		}
	}
	if !ok {
		r := RuntimeError("RuntimeException", NotSpecified, nil, "Value was either too large or too small for a Decimal.")
		r.Exception.Inner = overflow(TDecimal)
		return nil, r
	}
	return result, nil
}

func wholeArithmetic(op string, a, b any, level numeric) (any, error) {
	x, _ := asBig(a)
	y, _ := asBig(b)
	var result big.Int
	switch op {
	case "+":
		result.Add(x, y)
	case "-":
		result.Sub(x, y)
	case "*":
		result.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return nil, divideByZero()
		}
		var rem big.Int
		result.QuoRem(x, y, &rem)
		if op == "%" {
			result.Set(&rem)
		} else if rem.Sign() != 0 {
			return asFloat(a) / asFloat(b), nil
		}
	}
	if t := wholeType(level, a, b); t != nil {
		if n, ok := fitInt(&result, t); ok {
			return n, nil
		}
	}
	f, _ := new(big.Float).SetInt(&result).Float64()
	return f, nil
}

// wholeType is the type both operands fit in: int, uint, long or ulong; nil for
// an unsigned type beside a negative number, which only a double holds.
func wholeType(level numeric, a, b any) *Type {
	signed := func(v any) bool {
		n, ok := asInt64(v)
		return ok && n < 0
	}
	switch level {
	case numUint:
		if signed(a) || signed(b) {
			return nil
		}
		return TUInt32
	case numLong:
		return TInt64
	case numUlong:
		if signed(a) || signed(b) {
			return nil
		}
		return TUInt64
	default:
		return TInt32
	}
}

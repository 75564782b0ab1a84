package dotnet

import "math"

func mathFloat(name string, f func(float64) float64) Member {
	return Method(name, "double", func(_ any, a []any) (any, error) { return f(a[0].(float64)), nil })
}

// mathBoth makes overloads for double and decimal.
func mathBoth(name string, f func(float64) float64, d func(Decimal) Decimal) []Member {
	return []Member{
		mathFloat(name, f),
		Method(name, "decimal", func(_ any, a []any) (any, error) { return d(a[0].(Decimal)), nil }),
	}
}

// mathPairs makes Max or Min for every number type.
func mathPairs(name string, first func(c int) bool) []Member {
	var rows []Member
	for _, t := range []string{"int", "long", "double", "decimal", "byte", "sbyte", "int16", "uint16", "uint32", "uint64", "single"} {
		rows = append(rows, Method(name, t+","+t, func(_ any, a []any) (any, error) {
			if first(compareNumbers(a[0], a[1])) {
				return a[0], nil
			}
			return a[1], nil
		}))
	}
	return rows
}

func floorDecimal(d Decimal) Decimal {
	r := d.round(0, false)
	if r.Cmp(d) > 0 {
		r, _ = r.add(DecimalFromInt(-1))
	}
	return r
}

func mathStatics() []Member {
	rows := []Member{
		Constant("PI", math.Pi), Constant("E", math.E),
		mathFloat("Sqrt", math.Sqrt), mathFloat("Exp", math.Exp), mathFloat("Log", math.Log), mathFloat("Log10", math.Log10),
		mathFloat("Log2", math.Log2), mathFloat("Sin", math.Sin), mathFloat("Cos", math.Cos), mathFloat("Tan", math.Tan),
		Method("Pow", "double,double", func(_ any, a []any) (any, error) { return math.Pow(a[0].(float64), a[1].(float64)), nil }),
		Method("Log", "double,double", func(_ any, a []any) (any, error) {
			return math.Log(a[0].(float64)) / math.Log(a[1].(float64)), nil
		}),
		Method("DivRem", "int,int,ref int", func(_ any, a []any) (any, error) {
			if a[1].(int32) == 0 {
				return nil, ExceptionNamed("System.DivideByZeroException", "Attempted to divide by zero.")
			}
			return a[0].(int32) / a[1].(int32), a[2].(*Ref).Set(a[0].(int32) % a[1].(int32))
		}),
	}
	rows = append(rows, mathBoth("Floor", math.Floor, floorDecimal)...)
	rows = append(rows, mathBoth("Ceiling", math.Ceil, func(d Decimal) Decimal { return floorDecimal(d.neg()).neg() })...)
	rows = append(rows, mathBoth("Truncate", math.Trunc, func(d Decimal) Decimal {
		if d.negative {
			return floorDecimal(d.neg()).neg()
		}
		return floorDecimal(d)
	})...)
	rows = append(rows, mathPairs("Max", func(c int) bool { return c >= 0 })...)
	rows = append(rows, mathPairs("Min", func(c int) bool { return c <= 0 })...)
	rows = append(rows, roundRows()...)
	for _, t := range []string{"int", "long", "double", "decimal", "int16", "sbyte", "single"} {
		rows = append(rows,
			Method("Abs", t, func(_ any, a []any) (any, error) {
				if compareNumbers(a[0], int32(0)) >= 0 {
					return a[0], nil
				}
				n, err := Subtract(int32(0), a[0])
				if err != nil {
					return nil, err
				}
				return numberOrOverflow(n, TypeOf(a[0]))
			}),
			Method("Sign", t, func(_ any, a []any) (any, error) { return sign(compareNumbers(a[0], int32(0))), nil }),
			Method("Clamp", t+","+t+","+t, func(_ any, a []any) (any, error) {
				if compareNumbers(a[0], a[1]) < 0 {
					return a[1], nil
				}
				if compareNumbers(a[0], a[2]) > 0 {
					return a[2], nil
				}
				return a[0], nil
			}))
	}
	return rows
}

func roundRows() []Member {
	round := func(v any, digits int32, mode int64) (any, error) {
		if _, exact := v.(Decimal); exact && (digits < 0 || digits > 28) {
			return nil, argumentRange("decimals", "Decimal can only round to between 0 and 28 digits of precision.")
		} else if !exact && (digits < 0 || digits > 15) {
			return nil, argumentRange("digits", "Rounding digits must be between 0 and 15, inclusive.")
		}
		if mode > 1 {
			return nil, ExceptionNamed("System.NotSupportedException", "Only the rounding modes ToEven and AwayFromZero are supported.")
		}
		away := mode == 1
		if d, ok := v.(Decimal); ok {
			return d.round(int(digits), away), nil
		}
		f := v.(float64)
		power := math.Pow10(int(digits))
		if math.Abs(f) >= 1e16 {
			return f, nil
		}
		if away {
			return math.Round(f*power) / power, nil
		}
		return math.RoundToEven(f*power) / power, nil
	}
	var rows []Member
	for _, t := range []string{"double", "decimal"} {
		rows = append(rows,
			Method("Round", t, func(_ any, a []any) (any, error) { return round(a[0], 0, 0) }),
			Method("Round", t+",int", func(_ any, a []any) (any, error) { return round(a[0], a[1].(int32), 0) }),
			Method("Round", t+",MidpointRounding", func(_ any, a []any) (any, error) { return round(a[0], 0, a[1].(Enum).Value) }),
			Method("Round", t+",int,MidpointRounding", func(_ any, a []any) (any, error) {
				return round(a[0], a[1].(int32), a[2].(Enum).Value)
			}))
	}
	return rows
}

package dotnet

import (
	"math"
	"strings"
)

// scalarInterfaces are implemented by all numbers, strings and dates.
var scalarInterfaces = []string{"System.IComparable", "System.IConvertible", "System.IEquatable"}

func declarePrimitives() {
	number := func(target **Type, name string, low, high any, aliases ...string) {
		*target = Register(Class{
			Name: "System." + name, Aliases: aliases, Kind: KindStruct,
			Implements: append([]string{"System.IFormattable"}, scalarInterfaces...),
			Members:    numberMembers,
			Static: append([]Member{Constant("MinValue", low), Constant("MaxValue", high)},
				numberStatics(target)...),
		})
	}
	number(&TInt32, "Int32", int32(math.MinInt32), int32(math.MaxInt32), "int")
	number(&TInt64, "Int64", int64(math.MinInt64), int64(math.MaxInt64), "long")
	number(&TByte, "Byte", uint8(0), uint8(math.MaxUint8), "byte")
	number(&TSByte, "SByte", int8(math.MinInt8), int8(math.MaxInt8), "sbyte")
	number(&TInt16, "Int16", int16(math.MinInt16), int16(math.MaxInt16), "short")
	number(&TUInt16, "UInt16", uint16(0), uint16(math.MaxUint16), "ushort")
	number(&TUInt32, "UInt32", uint32(0), uint32(math.MaxUint32), "uint")
	number(&TUInt64, "UInt64", uint64(0), uint64(math.MaxUint64), "ulong")
	number(&TDouble, "Double", -math.MaxFloat64, math.MaxFloat64, "double")
	number(&TSingle, "Single", float32(-math.MaxFloat32), float32(math.MaxFloat32), "float")
	maxDecimal, _ := newDecimal(maxMantissa, 0)
	number(&TDecimal, "Decimal", maxDecimal.neg(), maxDecimal, "decimal")
	TBool = Register(Class{
		Name: "System.Boolean", Aliases: []string{"bool"}, Kind: KindStruct, Implements: scalarInterfaces,
		Static: []Member{
			Constant("TrueString", "True"), Constant("FalseString", "False"),
			Method("Parse", "string", func(_ any, a []any) (any, error) { return parseBool(Text(a[0])) }),
			Method("TryParse", "string,ref bool", func(_ any, a []any) (any, error) {
				b, err := parseBool(Text(a[0]))
				return err == nil, a[1].(*Ref).Set(b)
			}),
		},
	})
	TChar = Register(Class{
		Name: "System.Char", Aliases: []string{"char"}, Kind: KindStruct, Implements: scalarInterfaces,
		Members: charMembers, Static: charStatics,
	})
	TByteArray = TByte.Array()
	registerGeneric("System.Nullable", 1, func(args []*Type) Class {
		return Class{Kind: KindNullable, Base: TValueType}
	})
}

func parseBool(s string) (any, error) {
	switch strings.ToLower(strings.Trim(s, " \t\r\n\x00")) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, ExceptionNamed("System.FormatException", "String '%s' was not recognized as a valid Boolean.", s)
	}
}

var numberMembers = []Member{
	Method("ToString", "", func(self any, _ []any) (any, error) { return Text(self), nil }),
	Method("ToString", "string", func(self any, a []any) (any, error) { return FormatValue(self, Text(a[0])) }),
	Method("ToString", "System.IFormatProvider", func(self any, _ []any) (any, error) { return Text(self), nil }),
	Method("ToString", "string,System.IFormatProvider", func(self any, a []any) (any, error) { return FormatValue(self, Text(a[0])) }),
	Method("CompareTo", "object", func(self any, a []any) (any, error) {
		if a[0] == nil {
			return int32(1), nil
		}
		return int32(order(int64(compareNumbers(self, a[0])), 0)), nil
	}),
}

// parseNumberText is T.Parse: no hex prefix, no rounding of fractions.
func parseNumberText(s string, t *Type) (any, error) {
	trimmed := strings.TrimSpace(s)
	switch t {
	case TDouble, TSingle:
		if f, ok := parseFloat(strings.ReplaceAll(trimmed, ",", "")); ok {
			n, _ := numberTo(f, t)
			return n, nil
		}
	case TDecimal:
		if d, ok := ParseDecimal(strings.ReplaceAll(trimmed, ",", "")); ok && !strings.ContainsAny(trimmed, "eE") {
			return d, nil
		}
	default:
		if strings.Trim(trimmed, "+-0123456789") == "" && strings.LastIndexAny(trimmed, "+-") <= 0 && strings.ContainsAny(trimmed, "0123456789") {
			if n, ok := parseBase(trimmed, 10, t); ok {
				return n, nil
			}
			return nil, overflow(t)
		}
	}
	return nil, badFormat(s)
}

func numberStatics(target **Type) []Member {
	parse := func(_ any, a []any) (any, error) {
		if a[0] == nil {
			return nil, argumentNull("s")
		}
		return parseNumberText(Text(a[0]), *target)
	}
	try := func(out int) Func {
		return func(_ any, a []any) (any, error) {
			n, err := parseNumberText(Text(a[0]), *target)
			if err != nil {
				n, _ = numberTo(int32(0), *target)
			}
			return err == nil, a[out].(*Ref).Set(n)
		}
	}
	rows := []Member{
		Method("Parse", "string", parse),
		Method("Parse", "string,System.IFormatProvider", parse),
		Method("Parse", "string,System.Globalization.NumberStyles", func(_ any, a []any) (any, error) {
			return parseStyled(Text(a[0]), a[1].(Enum).Value, *target)
		}),
		Method("Parse", "string,System.Globalization.NumberStyles,System.IFormatProvider", func(_ any, a []any) (any, error) {
			return parseStyled(Text(a[0]), a[1].(Enum).Value, *target)
		}),
		Method("TryParse", "string,ref object", try(1)),
		Method("TryParse", "string,System.Globalization.NumberStyles,System.IFormatProvider,ref object", func(_ any, a []any) (any, error) {
			n, err := parseStyled(Text(a[0]), a[1].(Enum).Value, *target)
			if err != nil {
				n, _ = numberTo(int32(0), *target)
			}
			return err == nil, a[3].(*Ref).Set(n)
		}),
	}
	if target == &TDouble || target == &TSingle {
		rows = append(rows,
			Method("IsNaN", "double", func(_ any, a []any) (any, error) { return math.IsNaN(asFloat(a[0])), nil }),
			Method("IsInfinity", "double", func(_ any, a []any) (any, error) { return math.IsInf(asFloat(a[0]), 0), nil }),
			Constant("NaN", math.NaN()), Constant("PositiveInfinity", math.Inf(1)), Constant("NegativeInfinity", math.Inf(-1)), Constant("Epsilon", math.SmallestNonzeroFloat64))
	}
	return rows
}

func parseStyled(s string, styles int64, t *Type) (any, error) {
	if styles&512 == 0 {
		return parseNumberText(s, t)
	}
	digits := strings.TrimSpace(s)
	if digits == "" || strings.Trim(digits, "0123456789abcdefABCDEF") != "" || !isIntegerType(t) {
		return nil, badFormat(s)
	}
	if n, ok := parseBase(digits, 16, t); ok {
		return n, nil
	}
	return nil, overflow(t)
}

func argumentNull(param string) *Exception {
	return withParam(ExceptionNamed("System.ArgumentNullException", "Value cannot be null."), param)
}

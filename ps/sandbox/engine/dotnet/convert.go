package dotnet

import (
	"math"
	"strings"
)

// Convert casts as [T]$v does. Errors are records of a failed cast.
func Convert(v any, t *Type) (any, error) {
	v = base(v)
	from := TypeOf(v)
	if from != nil && from.AssignableTo(t) {
		return v, nil
	}
	if v == nil {
		return convertNull(t)
	}
	if f := converters[t]; f != nil {
		return f(v, t)
	}
	switch {
	case t == TObject || t == TPSObject:
		return v, nil
	case t == TString:
		return ToText(v), nil
	case t == TBool:
		return Truthy(v), nil
	case isNumberType(t):
		return convertNumber(v, t)
	case t.Kind == KindEnum:
		return convertEnum(v, t)
	case t.Kind == KindNullable:
		return Convert(v, t.Elem)
	case t.Kind == KindArray:
		return convertArray(v, t)
	default:
		return convertObject(v, t)
	}
}

// TryConvert casts as -as does.
func TryConvert(v any, t *Type) (any, bool) {
	if base(v) == nil {
		return nil, false
	}
	r, err := Convert(v, t)
	return r, err == nil
}

// converters are the casts to types that need their own rule.
var converters map[*Type]func(v any, t *Type) (any, error)

func convertNull(t *Type) (any, error) {
	switch {
	case t == TString:
		return "", nil
	case t == TBool:
		return false, nil
	case t == TChar:
		return Char(0), nil
	case t == TSwitch:
		return NewSwitch(false), nil
	case t == TDouble:
		return float64(0), nil
	case t == TSingle:
		return float32(0), nil
	case t == TDecimal:
		return Decimal{}, nil
	case isIntegerType(t):
		n, _ := fitInt64(0, t)
		return n, nil
	case t.Kind == KindStruct:
		return nil, castError("nullToObjectInvalidCast", nil, `Cannot convert null to type "%s".`, t.Text())
	case t.Kind == KindEnum:
		return nil, castError("nullToEnumInvalidCast", nil,
			`Cannot convert null to type "%s" due to enumeration values that are not valid. Specify one of the following enumeration values and try again. The possible enumeration values are "%s".`,
			t.Text(), enumNames(t, ","))
	default:
		return nil, nil
	}
}

func finalCastError(v any, t *Type) error {
	return castError("ConvertToFinalInvalidCastException", nil,
		`Cannot convert the "%s" value of type "%s" to type "%s".`, Text(v), TypeOf(v).Text(), t.Text())
}

func castErrorCause(id string, v any, t *Type, cause *Exception) error {
	return castError(id, cause, `Cannot convert value "%s" to type "%s". Error: "%s"`, Text(v), t.Text(), cause.Message)
}

// ---- numbers ----

func convertNumber(v any, t *Type) (any, error) {
	switch n := v.(type) {
	case string:
		return convertText(n, t)
	case Char:
		if t == TDouble || t == TSingle || t == TDecimal {
			return nil, castErrorCause("InvalidCastIConvertible", v, t,
				ExceptionNamed("System.InvalidCastException", "Invalid cast from 'Char' to '%s'.", t.ShortName()))
		}
	case BigInteger:
		return convertText(string(n), t)
	case bool, Enum:
	default:
		if rank(v) == notNumber {
			return nil, finalCastError(v, t)
		}
	}
	if r, ok := numberTo(v, t); ok {
		return r, nil
	}
	return nil, castErrorCause("InvalidCastIConvertible", v, t, overflow(t))
}

func overflow(t *Type) *Exception {
	switch t {
	case TByte:
		return ExceptionNamed("System.OverflowException", "Value was either too large or too small for an unsigned byte.")
	case TSByte:
		return ExceptionNamed("System.OverflowException", "Value was either too large or too small for a signed byte.")
	case TDecimal:
		return ExceptionNamed("System.OverflowException", "Value was either too large or too small for a Decimal.")
	case TChar:
		return ExceptionNamed("System.OverflowException", "Value was either too large or too small for a character.")
	}
	article := "an"
	if strings.HasPrefix(t.ShortName(), "U") {
		article = "a"
	}
	return ExceptionNamed("System.OverflowException", "Value was either too large or too small for %s %s.", article, t.ShortName())
}

// numberTo converts between number types, rounding half to even; ok is false on overflow.
func numberTo(v any, t *Type) (any, bool) {
	switch t {
	case TDouble:
		return asFloat(v), true
	case TSingle:
		return float32(asFloat(v)), true
	case TDecimal:
		d, ok := asDecimal(v)
		return d, ok
	}
	if i, ok := asInt64(v); ok {
		return fitInt64(i, t)
	}
	if f, ok := v.(float64); ok && math.Abs(f) < 1<<53 {
		return fitInt64(int64(math.RoundToEven(f)), t)
	}
	n, ok := asBig(v)
	if !ok {
		return nil, false
	}
	return fitInt(n, t)
}

// convertText reads a number of type t: digits, "0x" for whole numbers, thousands
// commas, an exponent; a fraction is rounded. Empty text is 0.
func convertText(s string, t *Type) (any, error) {
	trimmed := strings.TrimSpace(s)
	if s == "" {
		n, _ := numberTo(int32(0), t)
		return n, nil
	}
	plain := strings.ReplaceAll(trimmed, ",", "")
	if strings.HasPrefix(trimmed, ",") {
		plain = trimmed
	}
	id := "InvalidCastFromStringToInteger"
	switch t {
	case TDecimal:
		if d, ok := ParseDecimal(plain); ok {
			return d, nil
		}
		id = "InvalidCastFromStringToDecimal"
	case TDouble, TSingle:
		if f, ok := parseFloat(plain); ok {
			r, _ := numberTo(f, t)
			return r, nil
		}
		id = "InvalidCastFromStringToDoubleOrSingle"
	default:
		if n, ok := parseInteger(trimmed, t); ok {
			return n, nil
		}
		if strings.Trim(trimmed, "+-0123456789") == "" && strings.LastIndexAny(trimmed, "+-") <= 0 && strings.ContainsAny(trimmed, "0123456789") {
			return nil, castErrorCause(id, s, t, overflow(t))
		}
		if f, ok := parseFloat(plain); ok {
			if n, ok := numberTo(f, t); ok {
				return n, nil
			}
		}
	}
	return nil, castErrorCause(id, s, t, badFormat(s))
}

func badFormat(s string) *Exception {
	return ExceptionNamed("System.FormatException", "The input string '%s' was not in a correct format.", s)
}

func parseInteger(s string, t *Type) (any, bool) {
	low := strings.ToLower(s)
	for _, prefix := range []string{"0x", "&h", "#"} {
		if digits, ok := strings.CutPrefix(low, prefix); ok {
			return parseBase(digits, 16, t)
		}
	}
	if s == "" || strings.Trim(s, "+-0123456789") != "" || strings.LastIndexAny(s, "+-") > 0 {
		return nil, false
	}
	return parseBase(s, 10, t)
}

// ---- characters, enumerations ----

func convertChar(v any, t *Type) (any, error) {
	switch n := v.(type) {
	case string:
		if Length(n) == 1 {
			return UnitAt(n, 0), nil
		}
		return nil, castErrorCause("InvalidCastParseTargetInvocation", v, t,
			ExceptionNamed("System.FormatException", "String must be exactly one character long."))
	case float64, float32, Decimal, bool:
		return nil, castErrorCause("InvalidCastIConvertible", v, t,
			ExceptionNamed("System.InvalidCastException", "Invalid cast from '%s' to 'Char'.", TypeOf(v).ShortName()))
	}
	if i, ok := asInt64(v); ok {
		if c, ok := fitInt64(i, TChar); ok {
			return c, nil
		}
		return nil, castErrorCause("InvalidCastIConvertible", v, t, overflow(TChar))
	}
	return nil, finalCastError(v, t)
}

func convertEnum(v any, t *Type) (any, error) {
	switch n := v.(type) {
	case string:
		return enumFromText(n, t)
	case *Array:
		total := int64(0)
		for _, item := range n.Items {
			part, err := Convert(item, t)
			if err != nil {
				return nil, err
			}
			total |= part.(Enum).Value
		}
		if len(n.Items) > 0 && (t.Flags || len(n.Items) == 1) {
			return Enum{t, total}, nil
		}
		return nil, finalCastError(v, t)
	}
	if _, ok := v.(Char); ok || rank(v) == notNumber {
		if _, ok := v.(Enum); !ok {
			return nil, finalCastError(v, t)
		}
	}
	whole, ok := numberTo(v, t.Under)
	if !ok {
		return nil, castErrorCause("InvalidCastIConvertible", v, t, overflow(t.Under))
	}
	i, _ := asInt64(whole)
	return definedEnum(i, t, "UndefinedIntegerToEnum", v)
}

// definedEnum refuses a value that no name, or for flags no set of names, stands for.
func definedEnum(value int64, t *Type, id string, v any) (any, error) {
	known := isDefined(t, value)
	if t.Flags {
		all := int64(0)
		for _, e := range t.Values {
			all |= e.Value
		}
		known = known || value&^all == 0
	}
	if !known {
		return nil, castError(id, nil,
			`Cannot convert value "%s" to type "%s" due to enumeration values that are not valid. Specify one of the following enumeration values and try again. The possible enumeration values are "%s".`,
			Text(v), t.Text(), enumNames(t, ","))
	}
	return Enum{t, value}, nil
}

func enumFromText(s string, t *Type) (any, error) {
	text := strings.TrimSpace(s)
	if text == "" {
		return nil, castError("InvalidEnumCastFromEmptyString", nil,
			`Cannot convert value "%s" to type "%s" due to enumeration values that are not valid. Specify one of the following enumeration values and try again. The possible enumeration values are "%s".`,
			s, t.Text(), enumNames(t, ","))
	}
	if n, ok := parseInteger(text, t.Under); ok {
		i, _ := asInt64(n)
		return definedEnum(i, t, "EnumParseUndefined", s)
	}
	total := int64(0)
	for _, part := range strings.Split(text, ",") {
		value, ok := enumByPrefix(t, strings.TrimSpace(part))
		if !ok {
			return nil, noEnumName(s, strings.TrimSpace(part), t)
		}
		total |= value
	}
	return definedEnum(total, t, "EnumParseUndefined", s)
}

func noEnumName(whole, name string, t *Type) error {
	return castErrorCause("SubstringDisambiguationEnumParseThrewAnException", whole, t,
		ExceptionNamed("System.Management.Automation.RuntimeException",
			"Unable to match the identifier name %s to a valid enumerator name. Specify one of the following enumerator names and try again:\n%s",
			name, enumNames(t, ", ")))
}

// enumByPrefix finds a name, or the only name that starts so.
func enumByPrefix(t *Type, name string) (int64, bool) {
	if v, ok := t.valueOf(name); ok {
		return v, true
	}
	hits, value := 0, int64(0)
	for _, v := range t.Values {
		if len(v.Name) >= len(name) && EqualFold(v.Name[:len(name)], name) && name != "" {
			hits++
			value = v.Value
		}
	}
	return value, hits == 1
}

func isDefined(t *Type, value int64) bool {
	for _, v := range t.Values {
		if v.Value == value {
			return true
		}
	}
	return false
}

func enumNames(t *Type, separator string) string {
	names := make([]string, len(t.Values))
	for i, v := range t.Values {
		names[i] = v.Name
	}
	return strings.Join(names, separator)
}

// enumText is ToString of an enumeration value.
func enumText(e Enum) string {
	for _, v := range e.Type.Values {
		if v.Value == e.Value {
			return v.Name
		}
	}
	if e.Type.Flags && e.Value != 0 {
		rest, names := e.Value, []string{}
		for i := len(e.Type.Values) - 1; i >= 0; i-- {
			if v := e.Type.Values[i]; v.Value != 0 && rest&v.Value == v.Value {
				rest &^= v.Value
				names = append([]string{v.Name}, names...)
			}
		}
		if rest == 0 {
			return strings.Join(names, ", ")
		}
	}
	return ToText(e.Value)
}

package dotnet

import (
	"slices"
	"strconv"
	"strings"
)

// Convert casts as [T]$v does. Its errors are records of a failed cast, or a *Refused for a
// conversion that the sandbox does not support.
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
	case isIntegerType(t) || t == TDouble:
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

// TryConvert is like Convert, for callers that do not need the reason for a failure.
func TryConvert(v any, t *Type) (any, bool) {
	if base(v) == nil {
		return nil, false
	}
	r, err := Convert(v, t)
	return r, err == nil
}

// converters are the casts to types that have special rules.
var converters map[*Type]func(v any, t *Type) (any, error)

// declareConverters fills converters after the types have been declared.
func declareConverters() {
	converters = map[*Type]func(any, *Type) (any, error){
		TString: func(v any, _ *Type) (any, error) { return ToText(v), nil },
		TBool:   func(v any, _ *Type) (any, error) { return Truthy(v), nil },
		TArray:  func(v any, _ *Type) (any, error) { return convertArray(v, TObjectArray) },
		TChar:   convertChar, TDateTime: convertDateTime, TGuid: convertGuid, TVersion: convertVersion, TIPAddress: convertIPAddress,
	}
}

// refuseCast returns the error of a conversion that the sandbox does not support.
func refuseCast(v any, t *Type) error {
	return Refuse("the conversion of [%s] to [%s]", display(v), t.Display())
}

func convertNull(t *Type) (any, error) {
	switch {
	case t == TString:
		return "", nil
	case t == TBool:
		return false, nil
	case isIntegerType(t) || t == TChar:
		n, _ := fitInt64(0, t)
		return n, nil
	case t.Kind == KindStruct, t.Kind == KindEnum:
		return nil, Refuse("the conversion of $null to [%s]", t.Display())
	default:
		return nil, nil
	}
}

func castErrorCause(id string, v any, t *Type, cause *Exception) error {
	return castError(id, cause, `Cannot convert value "%s" to type "%s". Error: "%s"`, Text(v), t.Text(), cause.Message)
}

func convertNumber(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		return convertDigits(s, t)
	}
	_, whole := asInt64(v)
	if !whole && !isNumber(v) {
		return nil, refuseCast(v, t)
	}
	if r, ok := numberTo(v, t); ok {
		return r, nil
	}
	return nil, refuseCast(v, t)
}

// convertDigits parses a decimal whole number. It refuses text that PowerShell may parse as
// another form of number.
func convertDigits(s string, t *Type) (any, error) {
	text := strings.TrimSpace(s)
	digits := strings.TrimLeft(text, "+-")
	switch {
	case s == "":
		return convertNull(t)
	case digits != "" && len(text)-len(digits) < 2 && strings.Trim(digits, "0123456789") == "":
		n, err := strconv.ParseInt(text, 10, 64)
		if v, ok := numberTo(n, t); ok && err == nil {
			return v, nil
		}
	case !strings.ContainsAny(text, "0123456789") && isIntegerType(t) && text != "":
		return nil, castErrorCause("InvalidCastFromStringToInteger", s, t,
			ExceptionNamed("System.FormatException", "The input string '%s' was not in a correct format.", s))
	}
	return nil, Refuse("the conversion of the text '%s' to [%s]", s, t.Display())
}

func convertChar(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		if Length(s) == 1 {
			return UnitAt(s, 0), nil
		}
		return nil, castErrorCause("InvalidCastParseTargetInvocation", v, t,
			ExceptionNamed("System.FormatException", "String must be exactly one character long."))
	}
	i, ok := asInt64(v)
	if !ok || !isNumber(v) {
		return nil, refuseCast(v, t)
	}
	if c, ok := fitInt64(i, TChar); ok {
		return c, nil
	}
	return nil, refuseCast(v, t)
}

// ---- enumerations ----

// convertEnum converts a value's name, or its number if it has a name.
func convertEnum(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		if n, ok := t.valueOf(s); ok {
			return Enum{t, n}, nil
		}
		isPrefix := func(known EnumValue) bool {
			return len(known.Name) >= len(s) &&
				EqualFold(known.Name[:len(s)], s)
		}
		if strings.Trim(s, "0123456789+-, ") != s || slices.ContainsFunc(t.Values, isPrefix) {
			return nil, refuseCast(v, t)
		}
		names := make([]string, len(t.Values))
		for i, known := range t.Values {
			names[i] = known.Name
		}
		return nil, castErrorCause("SubstringDisambiguationEnumParseThrewAnException", v, t,
			ExceptionNamed(automation+"RuntimeException",
				"Unable to match the identifier name %s to a valid enumerator name. "+
					"Specify one of the following enumerator names and try again:\n%s", s, strings.Join(names, ", ")))
	}
	if n, ok := v.(int32); ok && slices.ContainsFunc(t.Values,
		func(known EnumValue) bool { return known.Value == int64(n) }) {
		return Enum{t, int64(n)}, nil
	}
	return nil, refuseCast(v, t)
}

// enumText implements ToString for enumeration values.
func enumText(e Enum) string {
	for _, v := range e.Type.Values {
		if v.Value == e.Value {
			return v.Name
		}
	}
	return strconv.FormatInt(e.Value, 10)
}

// ---- arrays and objects ----

func convertArray(v any, t *Type) (any, error) {
	items, many := Enumerate(v)
	if !many {
		if s, isText := v.(string); isText && t.Elem == TChar {
			return charArray(s), nil
		}
		items = []any{v}
	}
	bytes, values := &Bytes{}, &Array{Elem: t.Elem, Items: make([]any, len(items))}
	for i, item := range items {
		converted, err := Convert(item, t.Elem)
		if err != nil && (t == TByteArray || !many) {
			return nil, refuseCast(v, t)
		}
		if err != nil {
			return nil, err
		}
		values.Items[i] = converted
		if t == TByteArray {
			bytes.B = append(bytes.B, converted.(uint8))
		}
	}
	if t == TByteArray {
		return bytes, nil
	}
	return values, nil
}

// convertObject converts to a type of a module: a text by Parse, any other value by a
// constructor with one argument that accepts it unchanged.
func convertObject(v any, t *Type) (any, error) {
	t.ready()
	if s, ok := v.(string); ok {
		if parse := t.static.find(nameParse); parse != nil {
			r, err := parse.methods[0].Call(nil, []any{s})
			if e, ok := err.(*Exception); ok {
				return nil, castErrorCause("InvalidCastParseTargetInvocation", s, t, e)
			}
			return r, err
		}
	}
	if t.constructor != nil {
		for _, m := range t.constructor.methods {
			if len(m.params) != 1 || m.variadic || !TypeOf(v).AssignableTo(m.params[0]) {
				continue
			}
			r, err := m.Call(nil, []any{v})
			if e, ok := err.(*Exception); ok {
				return nil, castErrorCause("InvalidCastConstructorTargetInvocation", v, t, e)
			}
			return r, err
		}
	}
	return nil, refuseCast(v, t)
}

package dotnet

import (
	"strconv"
	"strings"
)

// Convert casts as [T]$v does. Its errors are records of a failed cast, or a
// *Refused for a conversion that the sandbox does not have.
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

// TryConvert is Convert for callers that need no reason.
func TryConvert(v any, t *Type) (any, bool) {
	if base(v) == nil {
		return nil, false
	}
	r, err := Convert(v, t)
	return r, err == nil
}

// converters are the casts to types that have a rule of their own.
var converters map[*Type]func(v any, t *Type) (any, error)

// declareConverters fills converters once the types are declared.
func declareConverters() {
	converters = map[*Type]func(any, *Type) (any, error){
		TString: func(v any, _ *Type) (any, error) { return ToText(v), nil },
		TBool:   func(v any, _ *Type) (any, error) { return Truthy(v), nil },
		TArray:  func(v any, _ *Type) (any, error) { return convertArray(v, TObjectArray) },
		TChar:   convertChar, TSwitch: convertSwitch, TDateTime: convertDateTime, TTimeSpan: convertTimeSpan,
		TGuid: convertGuid, TVersion: convertVersion, TIPAddress: convertIPAddress,
	}
}

// refuseCast is the error of a conversion that the sandbox does not have.
func refuseCast(v any, t *Type) error {
	return Refuse("the conversion of [%s] to [%s]", display(v), t.Display())
}

func convertNull(t *Type) (any, error) {
	switch {
	case t == TString:
		return "", nil
	case t == TBool:
		return false, nil
	case t == TSwitch:
		return NewSwitch(false), nil
	case t == TDouble:
		return float64(0), nil
	case isIntegerType(t) || t == TChar:
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

func castErrorCause(id string, v any, t *Type, cause *Exception) error {
	return castError(id, cause, `Cannot convert value "%s" to type "%s". Error: "%s"`, Text(v), t.Text(), cause.Message)
}

func convertNumber(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		return convertDigits(s, t)
	}
	if _, ok := v.(Char); ok && t == TDouble {
		return nil, refuseCast(v, t)
	}
	_, whole := asInt64(v)
	if !whole && !isNumber(v) {
		return nil, refuseCast(v, t)
	}
	if r, ok := numberTo(v, t); ok {
		return r, nil
	}
	return nil, castErrorCause("InvalidCastIConvertible", v, t, overflow(t))
}

// convertDigits reads a decimal whole number; text that PowerShell may take for
// another form of number is refused.
func convertDigits(s string, t *Type) (any, error) {
	text := strings.TrimSpace(s)
	digits := strings.TrimLeft(text, "+-")
	switch {
	case s == "":
		return convertNull(t)
	case digits != "" && len(text)-len(digits) < 2 && strings.Trim(digits, "0123456789") == "":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			break
		}
		if v, ok := numberTo(n, t); ok {
			return v, nil
		}
		return nil, castErrorCause("InvalidCastFromStringToInteger", s, t, overflow(t))
	case !strings.ContainsAny(text, "0123456789") && isIntegerType(t) && text != "":
		return nil, castErrorCause("InvalidCastFromStringToInteger", s, t,
			ExceptionNamed("System.FormatException", "The input string '%s' was not in a correct format.", s))
	}
	return nil, Refuse("the conversion of the text '%s' to [%s]", s, t.Display())
}

func overflow(t *Type) *Exception {
	name := t.ShortName()
	switch t {
	case TByte:
		name = "an unsigned byte"
	case TSByte:
		name = "a signed byte"
	case TChar:
		name = "a character"
	case TUInt16, TUInt32, TUInt64:
		name = "a " + name
	default:
		name = "an " + name
	}
	return ExceptionNamed("System.OverflowException", "Value was either too large or too small for %s.", name)
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
	return nil, castErrorCause("InvalidCastIConvertible", v, t, overflow(TChar))
}

func convertSwitch(v any, t *Type) (any, error) {
	if b, ok := v.(bool); ok {
		return NewSwitch(b), nil
	}
	return nil, refuseCast(v, t)
}

// ---- enumerations ----

func convertEnum(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		if n, ok := t.valueOf(strings.TrimSpace(s)); ok {
			return Enum{t, n}, nil
		}
		if strings.Trim(s, "0123456789+-, ") == "" || strings.Contains(s, ",") || t.hasPrefix(s) {
			return nil, Refuse("the conversion of the text '%s' to [%s]", s, t.Display())
		}
		return nil, castErrorCause("SubstringDisambiguationEnumParseThrewAnException", v, t,
			ExceptionNamed(automation+"RuntimeException",
				"Unable to match the identifier name %s to a valid enumerator name. Specify one of the following enumerator names and try again:\n%s",
				strings.TrimSpace(s), enumNames(t, ", ")))
	}
	n, ok := asInt64(v)
	if !ok || !isNumber(v) || t.Flags {
		return nil, refuseCast(v, t)
	}
	for _, known := range t.Values {
		if known.Value == n {
			return Enum{t, n}, nil
		}
	}
	return nil, castError("UndefinedIntegerToEnum", nil,
		`Cannot convert value "%s" to type "%s" due to enumeration values that are not valid. Specify one of the following enumeration values and try again. The possible enumeration values are "%s".`,
		Text(v), t.Text(), enumNames(t, ","))
}

// hasPrefix reports whether a name of the enumeration starts with s, which
// PowerShell takes for the name if it is the only one.
func (t *Type) hasPrefix(s string) bool {
	for _, v := range t.Values {
		if len(v.Name) >= len(s) && EqualFold(v.Name[:len(s)], s) {
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
	rest, names := e.Value, ""
	for i := len(e.Type.Values) - 1; i >= 0 && e.Type.Flags; i-- {
		if v := e.Type.Values[i]; v.Value != 0 && rest&v.Value == v.Value {
			rest &^= v.Value
			names = v.Name + strings.TrimSuffix(", "+names, ", ")
		}
	}
	if rest == 0 && names != "" {
		return names
	}
	return strconv.FormatInt(e.Value, 10)
}

// ---- arrays and objects ----

func convertArray(v any, t *Type) (any, error) {
	items, ok := Enumerate(v)
	if !ok {
		if s, isText := v.(string); isText && t.Elem == TChar {
			return charArray(s), nil
		}
		items = []any{v}
	}
	bytes, values := &Bytes{}, &Array{Elem: t.Elem, Items: make([]any, len(items))}
	for i, item := range items {
		converted, err := Convert(item, t.Elem)
		if err != nil && t == TByteArray {
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

// convertObject converts to a type of a module: by Parse from a text, by a
// constructor of one argument that takes the value as it is.
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

package dotnet

import (
	"math/big"
	"strings"
)

func parseBase(digits string, numberBase int, t *Type) (any, bool) {
	digits = strings.TrimPrefix(digits, "+")
	if digits == "" || len(digits) > 200 || strings.ContainsRune(digits, '_') {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, numberBase)
	if !ok {
		return nil, false
	}
	if numberBase == 16 {
		size := map[*Type]int{TByte: 8, TSByte: 8, TInt16: 16, TUInt16: 16, TInt32: 32, TUInt32: 32}[t]
		if size == 0 {
			size = 64
		}
		if n.BitLen() == size && (t == TSByte || t == TInt16 || t == TInt32 || t == TInt64) {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(size)))
		}
	}
	return fitInt(n, t)
}

// ---- arrays ----

func convertArray(v any, t *Type) (any, error) {
	if t == TByteArray {
		return convertBytes(v)
	}
	items, ok := Enumerate(v)
	if !ok {
		if s, isText := v.(string); isText && t.Elem == TChar {
			out := &Array{Elem: TChar}
			for _, u := range Units(s) {
				out.Items = append(out.Items, Char(u))
			}
			return out, nil
		}
		items = []any{v}
	}
	return arrayOf(items, t.Elem)
}

// arrayOf converts the items into a new array.
func arrayOf(items []any, elem *Type) (any, error) {
	out := &Array{Elem: elem, Items: make([]any, len(items))}
	for i, item := range items {
		converted, err := Convert(item, elem)
		if err != nil {
			return nil, err
		}
		out.Items[i] = converted
	}
	return out, nil
}

func convertBytes(v any) (any, error) {
	items, ok := Enumerate(v)
	if !ok {
		items = []any{v}
	}
	out := &Bytes{B: make([]byte, len(items))}
	for i, item := range items {
		converted, err := Convert(item, TByte)
		if err != nil {
			return nil, err
		}
		out.B[i] = converted.(uint8)
	}
	return out, nil
}

// ---- objects ----

// convertObject tries, in PowerShell's order: Parse, a constructor of one
// argument, a constructor without arguments and properties from a dictionary.
func convertObject(v any, t *Type) (any, error) {
	t.ready()
	if s, ok := v.(string); ok {
		if parse := t.static.find(nameParse); parse != nil {
			return convertByParse(s, t, parse)
		}
	}
	if t.constructor != nil {
		if r, done, err := convertByConstructor(v, t); done {
			return r, err
		}
	}
	if r, done, err := convertByProperties(v, t); done {
		return r, err
	}
	if s, ok := v.(string); ok {
		return nil, castError("ConvertToFinalInvalidCastException", nil,
			`Cannot convert the "%s" value of type "%s" to type "%s".`, s, TString.Text(), t.Text())
	}
	return nil, finalCastError(v, t)
}

func convertByParse(s string, t *Type, parse *slot) (any, error) {
	id := "InvalidCastParseTargetInvocation"
	var best *Member
	for _, m := range parse.methods {
		if len(m.params) == 0 || m.params[0].typ != TString {
			continue
		}
		if len(m.params) == 1 && best == nil {
			best = m
		}
		if len(m.params) == 2 && m.params[1].typ == TIFormatProvider {
			id = "InvalidCastParseTargetInvocationWithFormatProvider"
		}
	}
	if best == nil {
		return nil, finalCastError(s, t)
	}
	r, err := best.Call(nil, []any{s})
	if e, ok := err.(*Exception); ok {
		return nil, castErrorCause(id, s, t, e)
	}
	return r, err
}

func convertByConstructor(v any, t *Type) (result any, done bool, err error) {
	for _, m := range t.constructor.methods {
		if len(m.params) != 1 || m.variadic || !castable(v, m.params[0].typ) {
			continue
		}
		arg, err := Convert(v, m.params[0].typ)
		if err != nil {
			continue
		}
		r, err := m.Call(nil, []any{arg})
		if e, ok := err.(*Exception); ok {
			return nil, true, castErrorCause("InvalidCastConstructorTargetInvocation", v, t, e)
		}
		return r, true, err
	}
	return nil, false, nil
}

// castable keeps a constructor's argument close: strings and numbers do not
// become each other on the way into one.
func castable(v any, t *Type) bool {
	from := TypeOf(v)
	return from.AssignableTo(t) || isNumberType(from) && isNumberType(t) ||
		t.Kind == KindArray && (from.Kind == KindArray || from == TString && t == TStringArray)
}

func convertByProperties(v any, t *Type) (result any, done bool, err error) {
	var names []string
	var values []any
	switch v := v.(type) {
	case *Hashtable:
		for i := range v.Len() {
			key, value := v.At(i)
			names, values = append(names, ToText(key)), append(values, value)
		}
	case *PSObject:
		for i := range v.Props.Len() {
			name, value := v.Props.At(i)
			names, values = append(names, name), append(values, value)
		}
	default:
		return nil, false, nil
	}
	if t.constructor == nil {
		return nil, false, nil
	}
	r, err := New(t, nil)
	if err != nil {
		return nil, false, nil
	}
	for i, name := range names {
		if err := SetMember(r, name, values[i]); err != nil {
			return nil, true, castError("ObjectCreationError", nil,
				`Cannot create object of type "%s". %s`, t.Text(), err.Error())
		}
	}
	return r, true, nil
}

func convertHashtable(v any, t *Type) (any, error) {
	h, ok := v.(*Hashtable)
	if !ok {
		return nil, finalCastError(v, t)
	}
	c := h.Clone()
	c.Type, c.Comparer = t, CompareExact
	if t == TOrderedDictionary {
		c.Comparer = CompareIgnore
	}
	return c, nil
}

func convertCustomObject(v any, _ *Type) (any, error) {
	h, ok := v.(*Hashtable)
	if !ok {
		return v, nil
	}
	o := &PSObject{}
	o.Props.Grow(h.Len())
	for i := range h.Len() {
		key, value := h.At(i)
		o.Props.Set(ToText(key), value)
	}
	return o, nil
}

func convertType(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		if found := Lookup(s); found != nil {
			return found, nil
		}
		return nil, castError("InvalidCastFromStringToType", nil, `Cannot convert the "%s" value of type "%s" to type "%s".`,
			s, TString.Text(), "System.Type")
	}
	return nil, finalCastError(v, t)
}

func convertSwitch(v any, t *Type) (any, error) {
	switch v := v.(type) {
	case bool:
		return NewSwitch(v), nil
	default:
		if rank(v) != notNumber {
			return NewSwitch(Truthy(v)), nil
		}
		return nil, finalCastError(v, t)
	}
}

func convertDateTime(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		d, err := parseDateTime(s)
		if err != nil {
			return nil, castErrorCause("InvalidCastParseTargetInvocationWithFormatProvider", v, t, err)
		}
		return d, nil
	}
	if i, ok := asInt64(v); ok && rank(v) != notNumber {
		return DateTime{Ticks: i}, nil
	}
	return nil, finalCastError(v, t)
}

func convertTimeSpan(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		d, err := parseTimeSpan(s)
		if err != nil {
			return nil, castErrorCause("InvalidCastParseTargetInvocationWithFormatProvider", v, t, err)
		}
		return d, nil
	}
	if i, ok := asInt64(v); ok && rank(v) != notNumber {
		return TimeSpan(i), nil
	}
	return nil, finalCastError(v, t)
}

func convertList(v any, t *Type) (any, error) {
	items, ok := Enumerate(v)
	if !ok {
		items = []any{v}
	}
	elem := TObject
	if len(t.Args) == 1 {
		elem = t.Args[0]
	}
	converted, err := arrayOf(items, elem)
	if err != nil {
		return nil, err
	}
	return &List{Type: t, Items: converted.(*Array).Items}, nil
}

// declareConverters fills converters; the types must be there.
func declareConverters() {
	converters = map[*Type]func(any, *Type) (any, error){
		TChar: convertChar, THashtable: convertHashtable, TOrderedDictionary: convertHashtable,
		TPSCustomObject: convertCustomObject, TType: convertType, TSwitch: convertSwitch,
		TArray: func(v any, _ *Type) (any, error) { return convertArray(v, TObjectArray) }, TDateTime: convertDateTime, TTimeSpan: convertTimeSpan, TArrayList: convertList,
	}
}

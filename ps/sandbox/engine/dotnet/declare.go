package dotnet

// Types that Go code names often. They are set while the package starts.
var (
	TObject, TValueType, TEnum, TDelegate                          *Type
	TString, TChar, TBool                                          *Type
	TInt32, TInt64, TByte, TSByte, TInt16, TUInt16                 *Type
	TUInt32, TUInt64, TDouble, TSingle, TDecimal                   *Type
	TDateTime, TTimeSpan, TGuid, TVersion, TDateTimeKind           *Type
	TType, TRuntimeType, TVoid, TRef                               *Type
	TArray, TObjectArray, TStringArray, TByteArray                 *Type
	THashtable, TOrderedDictionary, TDictionaryEntry               *Type
	TArrayList, TListObject, TStack, TQueue                        *Type
	TPSObject, TPSCustomObject, TSwitch, TScriptBlock              *Type
	TSecureString, TPSCredential                                   *Type
	TException, TRuntimeException, TPSInvalidCastException         *Type
	TErrorRecord, TErrorCategory, TSplitOptions                    *Type
	TIFormatProvider, TIEquatable, TIEnumerable, TIDictionary      *Type
	TStringComparison, TEncoding, TRegex, TStringBuilder, TCulture *Type
)

func init() {
	declareRoots()
	declareArray()
	declareInterfaces()
	declarePrimitives()
	declareEnums()
	declareText()
	declareTime()
	declareCollections()
	declareSystem()
	declareRegex()
	declareExceptions()
	declareAutomation()
	declareProperties()
	declareStreams()
	declareConverters()
	declareOperators()
}

func declareRoots() {
	TObject = Register(Class{Name: "System.Object", Aliases: []string{"object"}, New: []Member{
		Constructor("", func(any, []any) (any, error) { return NewInstance(TObject), nil }),
	}, Members: objectMembers, Static: []Member{
		Method("Equals", "object,object", func(_ any, a []any) (any, error) { return objectEquals(a[0], a[1]), nil }),
		Method("ReferenceEquals", "object,object", func(_ any, a []any) (any, error) { return a[0] == a[1], nil }),
	}})
	TValueType = Register(Class{Name: "System.ValueType", Base: TObject})
	TEnum = Register(Class{Name: "System.Enum", Base: TValueType, Members: enumMembers, Static: enumStatics})
	TArray = Register(Class{
		Name: "System.Array", Aliases: []string{"array"}, Implements: listInterfaces,
		Members: append(append([]Member{}, countMembers...), arrayMembers...), Static: arrayStatics,
	})
	TDelegate = Register(Class{Name: "System.Delegate"})
	TVoid = Register(Class{Name: "System.Void", Aliases: []string{"void"}, Kind: KindStruct})
	TType = Register(Class{Name: "System.Type", Aliases: []string{"type"}, Members: typeMembers, Static: []Member{
		Method("GetType", "string", func(_ any, a []any) (any, error) {
			if t := Lookup(Text(a[0])); t != nil {
				return t, nil
			}
			return nil, nil
		}),
	}})
	TRuntimeType = Register(Class{Name: "System.RuntimeType", Base: TType})
}

// objectMembers are what every value answers.
var objectMembers = []Member{
	Method("GetType", "", func(self any, _ []any) (any, error) { return TypeOf(self), nil }),
	Method("ToString", "", func(self any, _ []any) (any, error) { return Text(self), nil }),
	Method("Equals", "object", func(self any, a []any) (any, error) { return objectEquals(self, a[0]), nil }),
	Method("GetHashCode", "", func(self any, _ []any) (any, error) { return int32(CompareExact.hash(self)), nil }),
}

// objectEquals is Object.Equals: the same type and value, or the same object.
func objectEquals(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return TypeOf(a) == TypeOf(b) && (CompareExact.equal(a, b) || equalObjects(a, b))
}

var enumMembers = []Member{
	Property("value__", func(self any) (any, error) {
		n, _ := fitInt64(self.(Enum).Value, self.(Enum).Type.Under)
		return n, nil
	}),
	Method("HasFlag", "object", func(self any, a []any) (any, error) {
		n, _ := asInt64(a[0])
		return self.(Enum).Value&n == n, nil
	}),
	Method("ToString", "string", func(self any, a []any) (any, error) { return FormatValue(self, Text(a[0])) }),
	Method("ToString", "", func(self any, _ []any) (any, error) { return Text(self), nil }),
	Method("CompareTo", "object", func(self any, a []any) (any, error) {
		n, _ := asInt64(a[0])
		return int32(order(self.(Enum).Value, n)), nil
	}),
}

var enumStatics = []Member{
	Method("GetNames", "type", func(_ any, a []any) (any, error) {
		out := &Array{Elem: TString}
		for _, v := range a[0].(*Type).Values {
			out.Items = append(out.Items, v.Name)
		}
		return out, nil
	}),
	Method("GetValues", "type", func(_ any, a []any) (any, error) {
		t := a[0].(*Type)
		out := &Array{Elem: t}
		for _, v := range t.Values {
			out.Items = append(out.Items, Enum{t, v.Value})
		}
		return out, nil
	}),
	Method("IsDefined", "type,object", func(_ any, a []any) (any, error) {
		t := a[0].(*Type)
		if s, ok := a[1].(string); ok {
			for _, v := range t.Values {
				if v.Name == s {
					return true, nil
				}
			}
			return false, nil
		}
		n, _ := asInt64(a[1])
		return isDefined(t, n), nil
	}),
	Method("Parse", "type,string", func(_ any, a []any) (any, error) { return enumParse(a[0].(*Type), Text(a[1]), false) }),
	Method("Parse", "type,string,bool", func(_ any, a []any) (any, error) {
		return enumParse(a[0].(*Type), Text(a[1]), a[2].(bool))
	}),
	Method("ToObject", "type,object", func(_ any, a []any) (any, error) {
		n, _ := asInt64(a[1])
		return Enum{a[0].(*Type), n}, nil
	}),
}

func enumParse(t *Type, s string, ignoreCase bool) (any, error) {
	for _, v := range t.Values {
		if v.Name == s || ignoreCase && EqualFold(v.Name, s) {
			return Enum{t, v.Value}, nil
		}
	}
	if n, ok := parseInteger(s, t.Under); ok {
		i, _ := asInt64(n)
		return Enum{t, i}, nil
	}
	return nil, ExceptionNamed("System.ArgumentException", "Requested value '%s' was not found.", s)
}

// ofType makes a property row of a *Type getter.
func ofType(name string, get func(t *Type) any) Member {
	return Property(name, func(self any) (any, error) { return get(self.(*Type)), nil })
}

var typeMembers = []Member{
	ofType("Name", func(t *Type) any { return t.ShortName() }),
	ofType("FullName", func(t *Type) any { return t.FullName() }),
	ofType("Namespace", func(t *Type) any { return t.Namespace() }),
	ofType("BaseType", func(t *Type) any {
		if t.Base == nil {
			return nil
		}
		return t.Base
	}),
	ofType("IsArray", func(t *Type) any { return t.Kind == KindArray }),
	ofType("IsEnum", func(t *Type) any { return t.Kind == KindEnum }),
	ofType("IsValueType", func(t *Type) any { return t.IsValue() }),
	ofType("IsClass", func(t *Type) any { return t.Kind == KindClass || t.Kind == KindArray }),
	ofType("IsInterface", func(t *Type) any { return t.Kind == KindInterface }),
	ofType("IsGenericType", func(t *Type) any { return len(t.Args) > 0 }),
	ofType("IsPrimitive", func(t *Type) any {
		return isNumberType(t) && t != TDecimal || t == TBool || t == TChar
	}),
	ofType("IsPublic", func(*Type) any { return true }),
	ofType("UnderlyingSystemType", func(t *Type) any { return t }),
	Method("GetElementType", "", func(self any, _ []any) (any, error) {
		if e := self.(*Type).Elem; e != nil && self.(*Type).Kind == KindArray {
			return e, nil
		}
		return nil, nil
	}),
	Method("IsAssignableFrom", "type", func(self any, a []any) (any, error) {
		return a[0].(*Type).AssignableTo(self.(*Type)), nil
	}),
	Method("IsSubclassOf", "type", func(self any, a []any) (any, error) {
		return self != a[0] && self.(*Type).AssignableTo(a[0].(*Type)) && a[0].(*Type).Kind != KindInterface, nil
	}),
	Method("IsInstanceOfType", "object", func(self any, a []any) (any, error) { return Is(a[0], self.(*Type)), nil }),
	Method("GetGenericArguments", "", func(self any, _ []any) (any, error) {
		out := &Array{Elem: TType}
		for _, t := range self.(*Type).Args {
			out.Items = append(out.Items, t)
		}
		return out, nil
	}),
}

func declareInterfaces() {
	for _, row := range []struct {
		target  **Type
		name    string
		extends []string
	}{
		{&TIEnumerable, "System.Collections.IEnumerable", nil},
		{nil, "System.Collections.ICollection", []string{"System.Collections.IEnumerable"}},
		{nil, "System.Collections.IList", []string{"System.Collections.ICollection"}},
		{&TIDictionary, "System.Collections.IDictionary", []string{"System.Collections.ICollection"}},
		{nil, "System.Collections.IComparer", nil},
		{nil, "System.Collections.IEqualityComparer", nil},
		{nil, "System.Collections.IEnumerator", nil},
		{nil, "System.IComparable", nil},
		{nil, "System.IConvertible", nil},
		{nil, "System.IFormattable", nil},
		{&TIFormatProvider, "System.IFormatProvider", nil},
		{&TIEquatable, "System.IEquatable", nil},
		{nil, "System.IDisposable", nil},
		{nil, "System.ICloneable", nil},
	} {
		t := Register(Class{Name: row.name, Kind: KindInterface, Implements: row.extends})
		if row.target != nil {
			*row.target = t
		}
	}
}

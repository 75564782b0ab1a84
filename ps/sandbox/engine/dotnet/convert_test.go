package dotnet

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConvert(t *testing.T) {
	const format = `Error: "The input string 'abc' was not in a correct format."`
	for _, c := range []struct {
		v    any
		to   string
		want string
	}{
		{1.5, "int", "Int32 2"}, {2.5, "int", "Int32 2"}, {" 12 ", "int", "Int32 12"}, {"", "int", "Int32 0"}, {nil, "int", "Int32 0"}, {true, "int", "Int32 1"}, {Char('A'), "int", "Int32 65"},
		{"0x10", "int", "refused"}, {"1,000", "int", "refused"}, {"1.6", "int", "refused"}, {"1kb", "long", "refused"}, {"-7", "long", "Int64 -7"}, {"--7", "long", "refused"},
		{"abc", "int", `!InvalidCastFromStringToInteger: Cannot convert value "abc" to type "System.Int32". ` + format},
		{"2147483648", "int", "refused"}, {int32(300), "byte", "refused"}, {math.NaN(), "int", "refused"},
		{arr(int32(1)), "int", "refused"}, {"x", "double", "refused"}, {int64(5), "double", "Double 5"}, {int64(1e15), "double", "refused"}, {"5", "Nullable[int]", "Int32 5"}, {nil, "Nullable[bool]", "null"},
		{"false", "bool", "Boolean True"}, {"", "bool", "Boolean False"}, {int32(0), "bool", "Boolean False"}, {arr(), "bool", "Boolean False"}, {uint64(math.MaxUint64), "bool", "Boolean True"},
		{0.0, "bool", "Boolean False"}, {arr(int32(0)), "bool", "Boolean False"}, {arr(int32(0), int32(0)), "bool", "Boolean True"}, {NewPSObject(), "bool", "Boolean True"},
		{nil, "string", "String "}, {1.5, "string", "String 1.5"}, {arr(int32(1), int32(2)), "string", "String 1 2"}, {true, "string", "String True"},
		{int32(65), "char", "Char A"}, {"ab", "char", `!InvalidCastParseTargetInvocation: Cannot convert value "ab" to type "System.Char". Error: "String must be exactly one character long."`},
		{arr(int32(1), int32(2)), "string[]", "String[String 1; String 2]"}, {"x", "string[]", "String[String x]"}, {nil, "string[]", "null"},
		{arr("1", "2"), "int[]", "Int32[Int32 1; Int32 2]"}, {"ab", "char[]", "Char[Char a; Char b]"}, {int32(5), "array", "Object[Int32 5]"}, {"ab", "byte[]", "refused"},
		{"utc", "DateTimeKind", "DateTimeKind Utc"}, {"loc", "DateTimeKind", "refused"}, {int32(2), "DateTimeKind", "DateTimeKind Local"}, {int32(3), "DateTimeKind", "refused"}, {"2", "DateTimeKind", "refused"},
		{nil, "guid", "refused"},
		{"nope", "guid", `!InvalidCastParseTargetInvocationWithFormatProvider: Cannot convert value "nope" to type "System.Guid". Error: "Unrecognized Guid format."`},
		{"{A1B2C3D4-0000-1111-2222-333344445555}", "guid", "Guid a1b2c3d4-0000-1111-2222-333344445555"},
		{"01:00:00", "timespan", "refused"}, {"2024-05-06", "datetime", "DateTime 05/06/2024 00:00:00"}, {"05/06/2024 3:04 PM", "datetime", "refused"}, {"x", "datetime", "refused"},
		{"1.2", "version", "Version 1.2"}, {"x", "version", "refused"}, {int32(5), "hashtable", "refused"}, {"inner", "System.InvalidOperationException", "InvalidOperationException System.InvalidOperationException: inner"},
		{true, "switch", "refused"}, {"x", "switch", "refused"}, {"plain", "securestring", "refused"}, {"10.0.0.1", "ipaddress", "IPAddress 10.0.0.1"},
		{"x", "ipaddress", `!InvalidCastParseTargetInvocation: Cannot convert value "x" to type "System.Net.IPAddress". Error: "An invalid IP address was specified."`},
	} {
		to := Lookup(c.to)
		require.NotNil(t, to, c.to)
		v, err := Convert(c.v, to)
		assert.Equal(t, c.want, result(v, err), "[%s]%s", c.to, show(c.v))
		if rec := AsRecord(err); rec != nil {
			assert.Equal(t, InvalidArgument, rec.Category)
			assert.Equal(t, TRuntimeException, rec.Exception.Type)
			assert.Equal(t, TPSInvalidCastException, rec.Exception.Inner.Type)
		}
	}
	_, ok := TryConvert("x", TInt32)
	assert.False(t, ok)
}

func TestToText(t *testing.T) {
	nested := NewPSObject("a", int32(1), "b", arr(int32(1)), "c", NewHashtable(), "d", nil, "e",
		NewPSObject("x", int32(1)))
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, ""}, {AutomationNull, ""}, {1e14, "100000000000000"}, {1e-5, "1E-05"}, {0.0001, "0.0001"}, {-0.5, "-0.5"},
		{NewHashtable(), "System.Collections.Hashtable"}, {arr(arr(int32(1)), int32(2)), "System.Object[] 2"}, {TInt32, "int"}, {NewPSObject(), ""},
		{nested, "@{a=1; b=System.Object[]; c=System.Collections.Hashtable; d=; e=}"}, {&Bytes{B: []byte{1, 2}}, "1 2"},
		{NewSecureString("secret"), "System.Security.SecureString"}, {NewSwitch(true), "True"},
		{TimeSpan(-5), "-00:00:00.0000005"},
	} {
		assert.Equal(t, c.want, ToText(c.v))
	}
}

func TestDates(t *testing.T) {
	d, ok := DateTimeFromFileTime(133500000000000000)
	require.True(t, ok)
	for spec, want := range map[string]string{
		"yyyy-MM-dd HH:mm:ss": "String 2024-01-17 21:20:00", "yyyy-MM-ddTHH:mm:ss.fffZ": "String 2024-01-17T21:20:00.000Z",
		"o": "refused", "dddd": "refused", "yyyy'x'": "refused", "h:mm tt": "refused", "2006": "refused",
	} {
		assert.Equal(t, want, result(d.Format(spec)), spec)
	}
	assert.Equal(t, Unspecified, date(t, "2024-05-06T07:08:09").Kind)
	assert.Equal(t, UTC, date(t, "2024-05-06T07:08:09Z").Kind)
	assert.Equal(t, d, DateTimeOf(d.Time(), UTC))
}

func TestTypes(t *testing.T) {
	assert.Same(t, TListObject, Lookup("System.Collections.Generic.List[object]"))
	assert.Equal(t, "List`1", TListObject.ShortName())
	assert.Equal(t, "System.Collections.Generic.List[System.Object]", TListObject.Text())
	assert.Equal(t, "string[]", TStringArray.Display())
	for _, name := range []string{"Does.Not.Exist", "List[object", "System.Collections.Generic.List[nope]",
		"System.Collections.Generic.List[int,int]", "regex", "decimal[", "System.Console"} {
		assert.Nil(t, Lookup(name), name)
	}
	for _, typ := range append(Types(), Lookup("System.Collections.Generic.Dictionary[string,object]"),
		Lookup("string[][]")) {
		assert.NotPanics(t, typ.ready, typ.Name)
	}
	for _, c := range []struct {
		v    any
		t    string
		want bool
	}{
		{arr(), "System.Collections.IEnumerable", true}, {NewHashtable(), "System.Collections.IDictionary", true}, {NewOrdered(), "hashtable", false}, {"x", "object", true},
		{arr(), "array", true}, {&Array{Elem: TString}, "object[]", true}, {NewPSObject(), "pscustomobject", true}, {int32(1), "long", false}, {int32(1), "Nullable[int]", true},
		{Enum{Lookup("DateTimeKind"), 1}, "enum", true}, {nil, "object", false}, {ExceptionNamed("System.ArgumentNullException", "x"), "System.SystemException", true},
	} {
		assert.Equal(t, c.want, Is(c.v, Lookup(c.t)), "%v -is [%s]", c.v, c.t)
	}
}

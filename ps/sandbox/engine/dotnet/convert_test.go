package dotnet

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConvert(t *testing.T) {
	const dayNames = "Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday"
	for _, c := range []struct {
		v    any
		to   string
		want string
	}{
		{"0x10", "int", "Int32 16"}, {1.5, "int", "Int32 2"}, {2.5, "int", "Int32 2"}, {" 12 ", "int", "Int32 12"},
		{"1,000", "int", "Int32 1000"}, {"1.6", "int", "Int32 2"}, {"", "int", "Int32 0"}, {nil, "int", "Int32 0"},
		{"0xFFFFFFFF", "int", "Int32 -1"}, {true, "int", "Int32 1"}, {Char('A'), "int", "Int32 65"}, {dec("2.5"), "long", "Int64 2"},
		{"abc", "int", `!InvalidCastFromStringToInteger: Cannot convert value "abc" to type "System.Int32". Error: "The input string 'abc' was not in a correct format."`},
		{"2147483648", "int", `!InvalidCastFromStringToInteger: Cannot convert value "2147483648" to type "System.Int32". Error: "Value was either too large or too small for an Int32."`},
		{int32(300), "byte", `!InvalidCastIConvertible: Cannot convert value "300" to type "System.Byte". Error: "Value was either too large or too small for an unsigned byte."`},
		{3e9, "int", `!InvalidCastIConvertible: Cannot convert value "3000000000" to type "System.Int32". Error: "Value was either too large or too small for an Int32."`},
		{math.NaN(), "int", `!InvalidCastIConvertible: Cannot convert value "NaN" to type "System.Int32". Error: "Value was either too large or too small for an Int32."`},
		{arr(int32(1)), "int", `!ConvertToFinalInvalidCastException: Cannot convert the "System.Object[]" value of type "System.Object[]" to type "System.Int32".`},
		{"x", "double", `!InvalidCastFromStringToDoubleOrSingle: Cannot convert value "x" to type "System.Double". Error: "The input string 'x' was not in a correct format."`},
		{"1e3", "double", "Double 1000"}, {"1.50", "decimal", "Decimal 1.50"}, {int64(5), "double", "Double 5"}, {0.1, "decimal", "Decimal 0.1"},
		{"5", "Nullable[int]", "Int32 5"}, {nil, "Nullable[bool]", "null"},
		{"false", "bool", "Boolean True"}, {"", "bool", "Boolean False"}, {int32(0), "bool", "Boolean False"}, {arr(), "bool", "Boolean False"},
		{arr(int32(0)), "bool", "Boolean False"}, {arr(int32(0), int32(0)), "bool", "Boolean True"}, {NewPSObject(), "bool", "Boolean True"},
		{nil, "string", "String "}, {1.5, "string", "String 1.5"}, {arr(int32(1), int32(2)), "string", "String 1 2"}, {true, "string", "String True"},
		{int32(65), "char", "Char A"}, {"ab", "char", `!InvalidCastParseTargetInvocation: Cannot convert value "ab" to type "System.Char". Error: "String must be exactly one character long."`},
		{arr(int32(1), int32(2)), "string[]", "String[String 1; String 2]"}, {"x", "string[]", "String[String x]"}, {nil, "string[]", "null"},
		{arr("1", "2"), "int[]", "Int32[Int32 1; Int32 2]"}, {"ab", "char[]", "Char[Char a; Char b]"}, {int32(5), "array", "Object[Int32 5]"},
		{"Sunday", "DayOfWeek", "DayOfWeek Sunday"}, {"mon", "DayOfWeek", "DayOfWeek Monday"}, {int32(5), "DayOfWeek", "DayOfWeek Friday"},
		{"xx", "DayOfWeek", "!SubstringDisambiguationEnumParseThrewAnException: Cannot convert value \"xx\" to type \"System.DayOfWeek\". Error: \"Unable to match the identifier name xx to a valid enumerator name. Specify one of the following enumerator names and try again:\nSunday, Monday, Tuesday, Wednesday, Thursday, Friday, Saturday\""},
		{int32(9), "DayOfWeek", `!UndefinedIntegerToEnum: Cannot convert value "9" to type "System.DayOfWeek" due to enumeration values that are not valid. Specify one of the following enumeration values and try again. The possible enumeration values are "` + dayNames + `".`},
		{"1, 2", "System.StringSplitOptions", "!SubstringDisambiguationEnumParseThrewAnException: Cannot convert value \"1, 2\" to type \"System.StringSplitOptions\". Error: \"Unable to match the identifier name 1 to a valid enumerator name. Specify one of the following enumerator names and try again:\nNone, RemoveEmptyEntries, TrimEntries\""},
		{"RemoveEmptyEntries,TrimEntries", "System.StringSplitOptions", "StringSplitOptions RemoveEmptyEntries, TrimEntries"},
		{nil, "guid", `!nullToObjectInvalidCast: Cannot convert null to type "System.Guid".`},
		{"nope", "guid", `!InvalidCastParseTargetInvocationWithFormatProvider: Cannot convert value "nope" to type "System.Guid". Error: "Unrecognized Guid format."`},
		{"{A1B2C3D4-0000-1111-2222-333344445555}", "guid", "Guid a1b2c3d4-0000-1111-2222-333344445555"},
		{"01:00:00", "timespan", "TimeSpan 01:00:00"}, {"1.02:03:04.5", "timespan", "TimeSpan 1.02:03:04.5000000"}, {"6", "timespan", "TimeSpan 6.00:00:00"},
		{"25:00", "timespan", `!InvalidCastParseTargetInvocationWithFormatProvider: Cannot convert value "25:00" to type "System.TimeSpan". Error: "String '25:00' was not recognized as a valid TimeSpan."`},
		{"2024-05-06", "datetime", "DateTime 05/06/2024 00:00:00"}, {"05/06/2024 3:04 PM", "datetime", "DateTime 05/06/2024 15:04:00"},
		{"6 May 2024", "datetime", "DateTime 05/06/2024 00:00:00"},
		{"x", "datetime", `!InvalidCastParseTargetInvocationWithFormatProvider: Cannot convert value "x" to type "System.DateTime". Error: "String 'x' was not recognized as a valid DateTime."`},
		{"1.2", "version", "Version 1.2"}, {"int", "type", "RuntimeType int"},
		{int32(5), "hashtable", `!ConvertToFinalInvalidCastException: Cannot convert the "5" value of type "System.Int32" to type "System.Collections.Hashtable".`},
		{"inner", "System.InvalidOperationException", "InvalidOperationException System.InvalidOperationException: inner"},
		{true, "switch", "SwitchParameter True"}, {"x", "switch", `!ConvertToFinalInvalidCastException: Cannot convert the "x" value of type "System.String" to type "System.Management.Automation.SwitchParameter".`},
		{"plain", "securestring", `!ConvertToFinalInvalidCastException: Cannot convert the "plain" value of type "System.String" to type "System.Security.SecureString".`},
		{"10.0.0.1", "ipaddress", "IPAddress 10.0.0.1"},
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
}

func TestConvertObjects(t *testing.T) {
	h := NewOrdered()
	h.Set("B", int32(1))
	h.Set("a", int32(2))
	v, err := Convert(h, TPSCustomObject)
	require.NoError(t, err)
	assert.Equal(t, "@{B=1; a=2}", ToText(v))
	v, err = Convert(h, THashtable)
	require.NoError(t, err)
	assert.Equal(t, THashtable, TypeOf(v))
	v, err = Convert(arr(int32(1), "2"), Lookup("System.Collections.Generic.List[int]"))
	require.NoError(t, err)
	assert.Equal(t, []any{int32(1), int32(2)}, v.(*List).Items)
	v, err = Convert(arr(int32(1), "0x02"), TByteArray)
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 2}, v.(*Bytes).B)
	_, ok := TryConvert("x", TInt32)
	assert.False(t, ok)
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"1": "Int32 1", "2147483648": "Int64 2147483648", "9223372036854775807": "Int64 9223372036854775807",
		"9223372036854775808": "Decimal 9223372036854775808", "0x1F": "Int32 31", "0x80000000": "Int32 -2147483648", "0xFFFFFFFF": "Int32 -1",
		"0x80000000L": "Int64 2147483648", "0x100000000": "Int64 4294967296", "1KB": "Int32 1024", "3gb": "Int64 3221225472", "1e3": "Double 1000",
		"1.5": "Double 1.5", ".5": "Double 0.5", "10d": "Decimal 10", "1.50d": "Decimal 1.50", "5L": "Int64 5", "-7": "Int32 -7", "1.5kb": "Double 1536",
		"5us": "UInt16 5", "300uy": "", "x": "", "": "", "1x": "", "0x": "", "1_000": "", "--1": "", "1e": "", "inf": "", "5dd": "",
	} {
		v, ok := ParseNumber(text)
		if want == "" {
			assert.False(t, ok, "%q: %v", text, v)
			continue
		}
		assert.Equal(t, want, show(v), text)
	}
}

func TestToText(t *testing.T) {
	nested := NewPSObject("a", int32(1), "b", arr(int32(1)), "c", NewHashtable(), "d", nil, "e", NewPSObject("x", int32(1)))
	list := closed("System.Collections.Generic.KeyValuePair", TString, TInt32)
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, ""}, {AutomationNull, ""}, {1e15, "1E+15"}, {1e14, "100000000000000"}, {1e-5, "1E-05"}, {0.0001, "0.0001"}, {-0.5, "-0.5"}, {1e100, "1E+100"},
		{float32(1.1), "1.1"}, {float32(1e7), "1E+07"}, {dec("1.50"), "1.50"}, {math.Inf(-1), "-Infinity"}, {NewHashtable(), "System.Collections.Hashtable"},
		{arr(arr(int32(1)), int32(2)), "System.Object[] 2"}, {NewList(int32(1), "x"), "1 x"}, {TInt32, "int"},
		{nested, "@{a=1; b=System.Object[]; c=System.Collections.Hashtable; d=; e=}"}, {&Bytes{B: []byte{1, 2}}, "1 2"},
		{&DictionaryEntry{Key: "k", Value: int32(1)}, "System.Collections.DictionaryEntry"}, {&DictionaryEntry{Key: "k", Value: int32(1), Type: list}, "[k, 1]"},
		{NewSecureString("geheim"), "System.Security.SecureString"}, {NewSwitch(true), "True"},
	} {
		assert.Equal(t, c.want, ToText(c.v))
	}
}

func TestTypeNames(t *testing.T) {
	list := Lookup("System.Collections.Generic.List[object]")
	assert.Same(t, TListObject, list)
	assert.Equal(t, "List`1", list.ShortName())
	assert.Equal(t, "System.Collections.Generic.List[System.Object]", list.Text())
	assert.Equal(t, "int", TInt32.Display())
	assert.Equal(t, "string[]", TStringArray.Display())
	assert.Equal(t, "System.DayOfWeek", Lookup("dayofweek").Display())
	assert.Nil(t, Lookup("Does.Not.Exist"))
	assert.Nil(t, Lookup("List[object"))
	assert.Nil(t, Lookup("System.Collections.Generic.List[nope]"))
	assert.Nil(t, Lookup("System.Collections.Generic.List[int,int]"))
}

func TestIs(t *testing.T) {
	for _, c := range []struct {
		v    any
		t    string
		want bool
	}{
		{"x", "System.IComparable", true}, {arr(), "System.Collections.IEnumerable", true}, {NewHashtable(), "System.Collections.IDictionary", true},
		{NewOrdered(), "hashtable", false}, {"x", "object", true}, {arr(), "array", true}, {arr(), "object[]", true}, {StringArray(nil), "object[]", true},
		{NewPSObject(), "psobject", true}, {NewPSObject(), "pscustomobject", true}, {int32(1), "System.ValueType", true}, {int32(1), "long", false},
		{int32(1), "Nullable[int]", true}, {Enum{Lookup("DayOfWeek"), 1}, "System.Enum", true}, {nil, "object", false},
		{ExceptionNamed("System.ArgumentNullException", "x"), "System.SystemException", true}, {NewList(), "System.Collections.IList", true},
	} {
		assert.Equal(t, c.want, Is(c.v, Lookup(c.t)), "%v -is [%s]", c.v, c.t)
	}
}

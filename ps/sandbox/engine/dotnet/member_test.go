package dotnet

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStringMethods(t *testing.T) {
	ignore := EnumOf(TStringComparison, "OrdinalIgnoreCase")
	for _, c := range []struct {
		self   string
		method string
		args   []any
		want   string
	}{
		{"Abc", "ToUpperInvariant", nil, "String ABC"}, {" x ", "Trim", nil, "String x"}, {"x..", "TrimEnd", []any{"."}, "String x"}, {"xyz", "Trim", []any{"x", "z"}, "String y"},
		{"abc", "Substring", []any{int32(1)}, "String bc"}, {"abc", "Substring", []any{"0", int64(2)}, "String ab"}, {"abc", "IndexOf", []any{"c"}, "Int32 2"},
		{"abc", "EndsWith", []any{"C"}, "Boolean False"}, {"abc", "StartsWith", []any{"AB", "OrdinalIgnoreCase"}, "Boolean True"}, {"abc", "Equals", []any{"ABC", ignore}, "Boolean True"},
		{"a,b", "Split", []any{","}, "String[String a; String b]"}, {"a,b;c", "Split", []any{Char(','), Char(';')}, "String[String a; String b; String c]"},
		{"a::b", "Split", []any{"::"}, "String[String a; String b]"}, {"a,,b", "Split", []any{Char(','), "RemoveEmptyEntries"}, "String[String a; String b]"},
		{"a b\tc", "Split", nil, "String[String a; String b; String c]"}, {"aXbXc", "Split", []any{Char('X'), int32(2)}, "String[String a; String bXc]"},
		{"a", "PadLeft", []any{int32(3), "0"}, "String 00a"}, {"a", "PadRight", []any{int32(3)}, "String a  "}, {"abc", "Contains", []any{"b"}, "Boolean True"},
		{"a-b", "Replace", []any{"-", "+"}, "String a+b"}, {"a-b", "Replace", []any{"-", nil}, "String ab"}, {"ABab", "Replace", []any{"b", "x", ignore}, "String Axax"},
		{"😀AB", "IndexOf", []any{"b", ignore}, "Int32 3"}, {"abc", "Insert", []any{int32(1), "Z"}, "String aZbc"}, {"abc", "Remove", []any{int32(1), int32(1)}, "String ac"}, {"a", "CompareTo", []any{"b"}, "Int32 -1"},
		{"abcabc", "LastIndexOf", []any{"b"}, "Int32 4"}, {"ab", "ToCharArray", nil, "Char[Char a; Char b]"}, {"abc", "IndexOfAny", []any{"cb"}, "Int32 1"},
		{"a", "PadLeft", []any{int32(-1)}, `!ArgumentOutOfRangeException: Exception calling "PadLeft" with "1" argument(s): "Non-negative number required. (Parameter 'totalWidth')"`},
		{"a", "Replace", []any{"", "x"}, `!ArgumentException: Exception calling "Replace" with "2" argument(s): "String cannot be of zero length. (Parameter 'oldValue')"`},
		{"a", "GetType", nil, "RuntimeType string"}, {"a", "ToString", nil, "String a"}, {"a", "Equals", []any{int32(1)}, "Boolean False"},
	} {
		v, err := CallMethod(c.self, c.method, c.args)
		assert.Equal(t, c.want, result(v, err), "%q.%s(%v)", c.self, c.method, c.args)
	}
}

func TestStaticMethods(t *testing.T) {
	for _, c := range []struct {
		t, method string
		args      []any
		want      string
	}{
		{"string", "IsNullOrEmpty", []any{nil}, "Boolean True"}, {"string", "Join", []any{",", arr("a", "b")}, "String a,b"}, {"string", "Join", []any{"-", int32(1), int32(2)}, "String 1-2"},
		{"string", "Concat", []any{"a", "b"}, "String ab"}, {"string", "Format", []any{"{0}-{1}", int32(1), int32(2)}, "String 1-2"}, {"string", "Equals", []any{"a", "A", "OrdinalIgnoreCase"}, "Boolean True"},
		{"string", "new", []any{"x", int32(3)}, "String xxx"}, {"math", "Max", []any{int32(1), 2.5}, "Double 2.5"}, {"math", "Max", []any{int32(1), int32(5)}, "Int32 5"},
		{"math", "Floor", []any{2.7}, "Double 2"}, {"math", "Round", []any{2.5}, "Double 2"}, {"math", "Abs", []any{int32(-5)}, "Int32 5"}, {"math", "Truncate", []any{dec("-2.7")}, "Decimal -2"},
		{"math", "Clamp", []any{int32(9), int32(1), int32(5)}, "Int32 5"}, {"int", "Parse", []any{"12"}, "Int32 12"}, {"long", "Parse", []any{"x"}, `!FormatException: Exception calling "Parse" with "1" argument(s): "The input string 'x' was not in a correct format."`},
		{"int", "Parse", []any{"2147483648"}, `!OverflowException: Exception calling "Parse" with "1" argument(s): "Value was either too large or too small for an Int32."`},
		{"convert", "ToBase64String", []any{&Bytes{B: []byte{0xC3, 0xA9}}}, "String w6k="}, {"convert", "ToInt32", []any{"ff", int32(16)}, "Int32 255"},
		{"convert", "ToByte", []any{"0a", int32(16)}, "Byte 10"}, {"convert", "ToInt32", []any{"FFFFFFFF", int32(16)}, "Int32 -1"}, {"convert", "ToString", []any{int32(255), int32(2)}, "String 11111111"},
		{"convert", "ToBoolean", []any{"False"}, "Boolean False"}, {"convert", "ToInt32", []any{2.5}, "Int32 2"}, {"convert", "ToInt32", []any{"zz", int32(16)}, `!FormatException: Exception calling "ToInt32" with "2" argument(s): "Could not find any recognizable digits."`},
		{"bitconverter", "ToString", []any{&Bytes{B: []byte{1, 255}}}, "String 01-FF"}, {"bitconverter", "GetBytes", []any{uint32(5)}, "Byte[] 5 0 0 0"},
		{"bitconverter", "ToUInt32", []any{&Bytes{B: []byte{1, 0, 0, 0x80}}, int32(0)}, "UInt32 2147483649"}, {"bitconverter", "GetBytes", []any{int32(5)}, "Byte[] 5 0 0 0"},
		{"datetime", "FromFileTimeUtc", []any{int64(133500000000000000)}, "DateTime 01/17/2024 21:20:00"}, {"timespan", "FromSeconds", []any{int32(3600)}, "TimeSpan 01:00:00"},
		{"datetime", "DaysInMonth", []any{int32(2024), int32(2)}, "Int32 29"}, {"regex", "Escape", []any{"a.b"}, `String a\.b`}, {"regex", "Replace", []any{"aaa", "a", "b"}, "String bbb"},
		{"regex", "IsMatch", []any{"x", "y"}, "Boolean False"}, {"regex", "Split", []any{"a1b", `\d`}, "String[String a; String b]"}, {"char", "IsDigit", []any{"5"}, "Boolean True"},
		{"guid", "new", []any{&Bytes{B: make([]byte, 3)}}, `!ArgumentException: Exception calling ".ctor" with "1" argument(s): "Byte array for Guid must be exactly 16 bytes long. (Parameter 'b')"`},
		{"array", "IndexOf", []any{arr("a", "b"), "b"}, "Int32 1"}, {"System.Uri", "EscapeDataString", []any{"a b/ü"}, "String a%20b%2F%C3%BC"}, {"enum", "GetNames", []any{Lookup("System.DateTimeKind")}, "String[String Unspecified; String Utc; String Local]"},
		{"guid", "Nope", nil, "!MethodNotFound: Method invocation failed because [System.Guid] does not contain a method named 'Nope'."},
	} {
		typ := Lookup(c.t)
		if typ == nil {
			typ = Lookup("System." + c.t)
		}
		require.NotNil(t, typ, c.t)
		v, err := CallStatic(typ, c.method, c.args)
		assert.Equal(t, c.want, result(v, err), "[%s]::%s(%v)", c.t, c.method, c.args)
	}
}

func TestCollections(t *testing.T) {
	run := func(v any, steps ...[]any) string {
		var out []string
		for _, step := range steps {
			r, err := CallMethod(v, step[0].(string), step[1:])
			if err != nil || r != Void {
				out = append(out, result(r, err))
			}
		}
		return strings.Join(out, ", ")
	}
	list, _ := New(TListObject, nil)
	assert.Equal(t, "Object[Int32 1; String b], Boolean True, Int32 -1", run(list, []any{"Add", int32(1)}, []any{"Add", "b"}, []any{"ToArray"}, []any{"Contains", "b"}, []any{"IndexOf", "zz"}))
	ints, _ := New(Lookup("System.Collections.Generic.List[int]"), nil)
	assert.Equal(t, `!MethodArgumentConversionInvalidCastArgument: Cannot convert argument "0", with value: "x", for "Add" to type "System.Int32": "Cannot convert value "x" to type "System.Int32". Error: "The input string 'x' was not in a correct format.""`, run(ints, []any{"Add", "5"}, []any{"Add", "x"}))
	stack, _ := New(Lookup("System.Collections.Generic.Stack[object]"), nil)
	assert.Equal(t, `Int32 2, Int32 1, !InvalidOperationException: Exception calling "Pop" with "0" argument(s): "Stack empty."`, run(stack, []any{"Push", int32(1)}, []any{"Push", int32(2)}, []any{"Pop"}, []any{"Pop"}, []any{"Pop"}))
	al, _ := New(TArrayList, nil)
	assert.Equal(t, "Int32 0, Int32 1", run(al, []any{"Add", "x"}, []any{"Add", "y"}, []any{"RemoveAt", int32(0)}))
	fold, _, _ := GetStatic(Lookup("StringComparer"), "OrdinalIgnoreCase", nil)
	set, err := New(Lookup("System.Collections.Generic.HashSet[string]"), []any{fold})
	require.NoError(t, err)
	assert.Equal(t, "Boolean True, Boolean False, Boolean True", run(set, []any{"Add", "a"}, []any{"Add", "A"}, []any{"Contains", "A"}))
	h := NewHashtable()
	assert.Equal(t, `!ArgumentException: Exception calling "Add" with "2" argument(s): "Item has already been added. Key in dictionary: 'a'  Key being added: 'A'"`, run(h, []any{"Add", "a", int32(1)}, []any{"Add", "A", int32(2)}))
	_, err = Add(h, h)
	assert.Equal(t, "!System.ArgumentException: Item has already been added. Key in dictionary: 'a'  Key being added: 'a'", result(nil, err))
	d, err := New(Lookup("System.Collections.Generic.Dictionary[string,int]"), []any{fold})
	require.NoError(t, err)
	require.NoError(t, SetIndex(d, "a", "7"))
	var got any
	ref := &Ref{Get: func() any { return got }, Set: func(v any) error { got = v; return nil }}
	assert.Equal(t, "Boolean True, Boolean False", run(d, []any{"TryGetValue", "A", ref}, []any{"ContainsKey", "b"}))
	assert.Equal(t, int32(7), got)
	keys, values := arr("b", "A"), arr(int32(1), int32(2))
	by, _, _ := GetStatic(Lookup("StringComparer"), "Ordinal", nil)
	_, err = CallStatic(TArray, "Sort", []any{keys, values, by})
	require.NoError(t, err)
	assert.Equal(t, "A b 2 1", ToText(keys)+" "+ToText(values))
}

func TestIndexing(t *testing.T) {
	a := arr(int32(1), int32(2), int32(3))
	o := ordered("z", int32(1), "a", int32(2))
	for _, c := range []struct {
		v, i  any
		want  string
		found bool
	}{
		{a, int32(-1), "Int32 3", true}, {a, int32(9), "null", false}, {a, arr(int32(0), int32(2), int32(7)), "Object[Int32 1; Int32 3]", true}, {a, "1", "Int32 2", true},
		{"abc", int32(1), "Char b", true}, {"abc", int32(5), "null", false}, {o, int32(0), "Int32 1", true}, {o, "A", "Int32 2", true}, {o, int32(7), "null", false},
		{&Bytes{B: []byte{1, 2}}, int32(1), "Byte 2", true},
	} {
		v, found, err := GetIndex(c.v, c.i)
		assert.Equal(t, c.want, result(v, err))
		assert.Equal(t, c.found, found)
	}
	assert.Equal(t, "!System.IndexOutOfRangeException: Index was outside the bounds of the array.", result(nil, SetIndex(a, int32(5), nil)))
	ints := &Array{Elem: TInt32, Items: []any{int32(1)}}
	require.NoError(t, SetIndex(ints, int32(0), "7"))
	assert.Equal(t, "Int32[Int32 7]", show(ints))
}

func TestMembers(t *testing.T) {
	h := ordered("Count", int32(9), "n", int32(1))
	v, found, err := GetMember(h, "count")
	assert.Equal(t, "Int32 9", result(v, err))
	assert.True(t, found)
	for _, c := range []struct {
		v    any
		name string
		want string
	}{
		{int32(5), "Count", "Int32 1"}, {nil, "Count", "Int32 0"}, {"abc", "Length", "Int32 3"}, {"abc", "Count", "Int32 1"}, {&Bytes{B: []byte{1}}, "Length", "Int32 1"},
		{Guid{}, "Guid", "String 00000000-0000-0000-0000-000000000000"}, {Version{1, 2, 3, -1}, "Build", "Int32 3"}, {TimeSpan(ticksPerSecond * 90), "TotalMinutes", "Double 1.5"},
		{date("2024-05-06"), "DayOfWeek", "DayOfWeek Monday"}, {NewSwitch(true), "IsPresent", "Boolean True"}, {TInt32, "Name", "String Int32"}, {NewSecureString("abc"), "Length", "Int32 3"},
	} {
		v, found, err := GetMember(c.v, c.name)
		assert.Equal(t, c.want, result(v, err))
		assert.True(t, found)
	}
	_, found, _ = GetMember("a", "Nope")
	assert.False(t, found)
	values, found, err := EnumMember([]any{ordered("n", int32(1)), ordered("n", arr(int32(2), int32(3))), ordered("x", nil)}, "n")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, []any{int32(1), int32(2), int32(3)}, values)
	_, found, _ = EnumMember([]any{"a", int32(1)}, "Nope")
	assert.False(t, found)
}

func TestPropertiesWalk(t *testing.T) {
	o := NewPSObject("B", int32(1), "a", "x")
	view, _, err := GetMember(o, "PSObject")
	require.NoError(t, err)
	set, _, _ := GetMember(view, "Properties")
	var got []string
	for _, p := range EnumerateAny(set) {
		name, _, _ := GetMember(p, "Name")
		value, _, _ := GetMember(p, "Value")
		got = append(got, ToText(name)+"="+ToText(value))
	}
	assert.Equal(t, []string{"B=1", "a=x"}, got)
	p, found, err := GetIndex(set, "A")
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, SetMember(p, "Value", int32(5)))
	v, _ := o.Props.Get("a")
	assert.Equal(t, int32(5), v)
	require.NoError(t, func() error { _, err := CallMethod(set, "Remove", []any{"a"}); return err }())
	assert.Equal(t, 1, o.Props.Len())
}

func TestNetworkCredential(t *testing.T) {
	v, err := New(Lookup("System.Net.NetworkCredential"), []any{"", "p@ss"})
	require.NoError(t, err)
	s, _, err := GetMember(v, "SecurePassword")
	require.NoError(t, err)
	assert.Equal(t, "p@ss", s.(*SecureString).Reveal())
	assert.NotContains(t, ToText(s), "p@ss")
}

func TestUnrolling(t *testing.T) {
	for _, v := range []any{"abc", int32(1), NewHashtable(), NewPSObject(), nil} {
		_, ok := Enumerate(v)
		assert.False(t, ok, show(v))
	}
	items, ok := Enumerate(AutomationNull)
	assert.True(t, ok)
	assert.Empty(t, items)
	e, err := CallMethod(ordered("a", int32(1)), "GetEnumerator", nil)
	require.NoError(t, err)
	items, ok = Enumerate(e)
	require.True(t, ok)
	assert.Equal(t, "a", items[0].(*DictionaryEntry).Key)
}

func TestCyclesEnd(t *testing.T) {
	a := arr(int32(1))
	a.Items[0] = a
	l := NewList()
	l.Items = []any{l}
	assert.NotPanics(t, func() {
		ToText(a)
		Truthy(a)
		Truthy(l)
		Equal(a, a, false)
	})
	var stopped *LimitError
	_, _, err := EnumMember(a.Items, "Foo")
	require.ErrorAs(t, err, &stopped)
	_, err = CallMethod(a, "Foo", nil)
	require.ErrorAs(t, err, &stopped)
}

func TestLimits(t *testing.T) {
	text, items := MaxStringLength, MaxArrayLength
	defer func() { MaxStringLength, MaxArrayLength = text, items }()
	MaxStringLength, MaxArrayLength = 1000, 1000
	long := strings.Repeat("ab", 400)
	call := func(v any, name string, args ...any) error { _, err := CallMethod(v, name, args); return err }
	binary := func(name string, l, r any) error { f, _ := Operator(name); _, err := f(l, r); return err }
	many, err := Range(int32(1), int32(900))
	require.NoError(t, err)
	for name, err := range map[string]error{
		"multiply": binary("*", "ab", int32(1000)), "add": binary("+", long, long), "range": binary("..", int32(1), int32(1<<30)), "array multiply": binary("*", arr(int32(1)), int32(2000)),
		"array add": binary("+", many, many), "join": binary("-join", many, "-"), "replace": binary("-replace", long, arr("a", "xxx")), "format": binary("-f", "{0,2000}", int32(1)),
		"pad": call("a", "PadLeft", int32(5000)), "string replace": call(long, "Replace", "a", "xxx"), "insert range": call(NewList(many.(*Array).Items...), "AddRange", many),
	} {
		var stopped *LimitError
		require.ErrorAs(t, err, &stopped, name)
		assert.Nil(t, AsRecord(err), name)
	}
}

func TestRegexTimeout(t *testing.T) {
	limit := RegexTimeout
	defer func() { RegexTimeout = limit }()
	RegexTimeout = 50 * time.Millisecond
	_, _, err := Match(strings.Repeat("a", 40)+"!", `^(a+)+$|never-cached`, false, false)
	r := AsRecord(err)
	require.NotNil(t, r)
	assert.Equal(t, "System.Text.RegularExpressions.RegexMatchTimeoutException", r.ErrorID)
}

type lines struct{ *bufio.Reader }

func (l lines) ReadLine() (string, error) {
	s, err := l.ReadString('\n')
	if err == io.EOF && s != "" {
		err = nil
	}
	return strings.TrimSuffix(s, "\n"), err
}

func TestConsole(t *testing.T) {
	var out, errOut bytes.Buffer
	console := NewConsole(lines{bufio.NewReader(strings.NewReader("one\ntwo\n"))}, &out, &errOut)
	in, _, err := GetStatic(console, "In", nil)
	require.NoError(t, err)
	for _, want := range []any{"one", "two", nil, nil} {
		v, err := CallMethod(in, "ReadLine", nil)
		require.NoError(t, err)
		assert.Equal(t, want, v)
	}
	stdout, err := CallStatic(console, "OpenStandardOutput", nil)
	require.NoError(t, err)
	_, err = CallMethod(stdout, "Write", []any{&Bytes{B: []byte("xabcx")}, int32(1), int32(3)})
	require.NoError(t, err)
	writer, _, _ := GetStatic(console, "Error", nil)
	_, err = CallMethod(writer, "WriteLine", []any{"oops {0}", int32(1)})
	require.NoError(t, err)
	_, err = CallStatic(console, "WriteLine", []any{"é"})
	require.NoError(t, err)
	assert.Equal(t, "abcé\n", out.String())
	assert.Equal(t, "oops 1\n", errOut.String())
	assert.Nil(t, Lookup("System.Console"))
}

func TestWatchSeesChanges(t *testing.T) {
	h := ordered("a", int32(1), "b", int32(2))
	keys, _, _ := GetMember(h, "Keys")
	entries, _ := CallMethod(h, "GetEnumerator", nil)
	list := NewList(int32(1), int32(2))
	set, err := New(Lookup("System.Collections.Generic.HashSet[int]"), nil)
	require.NoError(t, err)
	changes := []struct {
		name   string
		watch  any
		change func()
	}{
		{"key added", h, func() { h.Set("c", nil) }},
		{"value replaced", keys, func() { require.NoError(t, SetIndex(h, "a", int32(5))) }},
		{"key removed", entries, func() { h.Delete("b") }},
		{"item added", list, func() { _, _ = CallMethod(list, "Add", []any{int32(3)}) }},
		{"list cleared", list, func() { _, _ = CallMethod(list, "Clear", nil) }},
		{"list filled", list, func() { _, _ = CallMethod(list, "Add", []any{int32(3)}) }},
		{"member added", set, func() { _, _ = CallMethod(set, "Add", []any{int32(3)}) }},
	}
	for _, c := range changes {
		changed := Watch(c.watch)
		assert.False(t, changed(), c.name)
		c.change()
		assert.True(t, changed(), c.name)
	}
	changed := Watch(arr(int32(1)))
	assert.False(t, changed())
	assert.Equal(t, "System.InvalidOperationException", CollectionModified().ErrorID)
}

func TestWhatIsNotSupportedSaysSo(t *testing.T) {
	utf8, err := New(Lookup("System.Text.UTF8Encoding"), []any{false, true})
	require.NoError(t, err)
	ansi, err := CallStatic(TEncoding, "GetEncoding", []any{int32(1252)})
	require.NoError(t, err)
	console := NewConsole(nil, nil, nil)
	for name, err := range map[string]error{
		"DecoderFallbackException": second(CallMethod(utf8, "GetString", []any{&Bytes{B: []byte{0xFF}}})),
		"EncoderFallbackException": second(CallMethod(utf8, "GetBytes", []any{CharString(0xD800)})),
		"CultureNotFoundException": second(New(TCulture, []any{"de-DE"})),
		"NotSupportedException":    second(CallStatic(Lookup("Math"), "Round", []any{2.5, "ToZero"})),
		"ExceptionWhenSetting":     SetStatic(console, "OutputEncoding", ansi),
	} {
		require.NotNil(t, AsRecord(err), name)
		assert.Equal(t, name, AsRecord(err).ErrorID)
	}
	require.NoError(t, SetStatic(console, "OutputEncoding", utf8))
}

func second(_ any, err error) error { return err }

// A table grows, shrinks and is written in between: it gives what a map gives, in
// the order in which keys came.
func TestTableOfManyKeys(t *testing.T) {
	h, known, order := NewHashtable(), map[string]any{}, []string{}
	random := rand.New(rand.NewSource(1))
	for range 5000 {
		name := fmt.Sprintf("Key%d", random.Intn(700))
		switch _, there := known[name]; {
		case random.Intn(3) > 0:
			if !there {
				order = append(order, name)
			}
			known[name] = int32(random.Intn(1000))
			h.Set(strings.ToUpper(name), known[name])
		default:
			require.Equal(t, there, h.Delete(strings.ToLower(name)))
			delete(known, name)
			order = slices.DeleteFunc(order, func(s string) bool { return s == name })
		}
		value, ok := h.Get(name)
		require.Equal(t, known[name], value)
		require.Equal(t, ok, known[name] != nil)
	}
	clone := h.Clone()
	h.Clear()
	require.Equal(t, 0, h.Len())
	require.Equal(t, len(order), clone.Len())
	require.Greater(t, len(order), 300, "more than a byte can count")
	for i, name := range order {
		key, value := clone.At(i)
		require.Equal(t, strings.ToUpper(name), key)
		require.Equal(t, known[name], value)
	}
}

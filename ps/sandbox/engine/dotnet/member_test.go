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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func callStatic(t *Type, name string, args ...any) (any, error) {
	n := MakeName(name)
	return n.CallStatic(t, args)
}

func static(t testing.TB, typ, name string) any {
	n := MakeName(name)
	v, err := n.GetStatic(Lookup(typ))
	require.NoError(t, err)
	return v
}

func TestMethods(t *testing.T) {
	ignore := EnumOf(Lookup("StringComparison"), "OrdinalIgnoreCase")
	utf8 := static(t, "System.Text.Encoding", "UTF8")
	for _, c := range []struct {
		self   any
		method string
		args   []any
		want   string
	}{
		{"Abc", "ToUpperInvariant", nil, "String ABC"}, {"x..", "TrimEnd", []any{"."}, "String x"}, {"x..", "TrimEnd", []any{".."}, "refused"}, {" x ", "Trim", []any{"x"}, "refused"},
		{"abc", "Substring", []any{int32(1)}, "String bc"}, {"abc", "Substring", []any{"0", int64(2)}, "refused"}, {"abc", "IndexOf", []any{"c"}, "Int32 2"}, {"äc", "IndexOf", []any{"c"}, "refused"},
		{"abc", "EndsWith", []any{"C"}, "refused"}, {"abc", "StartsWith", []any{"AB", ignore}, "Boolean True"}, {"a😀", "EndsWith", []any{"😀", ignore}, "Boolean True"}, {"abc", "Equals", []any{"ABC", ignore}, "Boolean True"},
		{"abc", "StartsWith", []any{"AB", "CurrentCulture"}, "refused"}, {"a,b", "Split", []any{","}, "String[String a; String b]"}, {"a,b;c", "Split", []any{Char(','), Char(';')}, "refused"}, {"a,b;c", "Split", []any{&Array{Elem: TChar, Items: []any{Char(','), Char(';')}}}, "String[String a; String b; String c]"},
		{"a::b", "Split", []any{"::"}, "refused"}, {"a b\tc", "Split", nil, "refused"}, {"a", "PadRight", []any{int32(3)}, "String a  "}, {"abc", "Contains", []any{"b"}, "Boolean True"},
		{"abc", "Contains", []any{nil}, "refused"}, {"a-b", "Replace", []any{"-", "+"}, "String a+b"}, {"abcabc", "LastIndexOf", []any{Char('b')}, "Int32 4"}, {"ab", "ToCharArray", nil, "Char[Char a; Char b]"},
		{"a", "PadRight", []any{int32(-1)}, "refused"},
		{"a", "Replace", []any{"", "x"}, `!ArgumentException: Exception calling "Replace" with "2" argument(s): "String cannot be of zero length. (Parameter 'oldValue')"`},
		{"abc", "Substring", []any{int32(9)}, `!ArgumentOutOfRangeException: Exception calling "Substring" with "1" argument(s): "startIndex cannot be larger than length of string. (Parameter 'startIndex')"`},
		{"a", "GetType", nil, "RuntimeType string"}, {"a", "Nope", nil, "refused"},
		{arr("a"), "ToString", nil, "refused"}, {utf8, "GetBytes", []any{"é\xed\xa0\x80"}, "Byte[] 195 169 239 191 189"}, {utf8, "GetByteCount", []any{"é"}, "Int32 2"},
		{utf8, "GetString", []any{&Bytes{B: []byte{0xC3, 0xA9, 0xFF}}}, "String é\ufffd"},
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
		{"string", "Concat", []any{"a", "b", "c", "d"}, "String abcd"}, {"string", "Equals", []any{"a", "A", "OrdinalIgnoreCase"}, "Boolean True"}, {"string", "Join", []any{",", arr("a")}, "refused"},
		{"convert", "ToBase64String", []any{&Bytes{B: []byte{0xC3, 0xA9}}}, "String w6k="}, {"convert", "FromBase64String", []any{"w6k"}, `!FormatException: Exception calling "FromBase64String" with "1" argument(s): "The input is not a valid Base-64 string as it contains a non-base 64 character, more than two padding characters, or an illegal character among the padding characters."`},
		{"convert", "ToInt32", []any{"ff", int32(16)}, "Int32 255"}, {"convert", "ToInt32", []any{"FFFFFFFF", int32(16)}, "Int32 -1"}, {"convert", "ToInt32", []any{"7", int32(8)}, "refused"},
		{"bitconverter", "ToString", []any{&Bytes{B: []byte{1, 255}}}, "String 01-FF"}, {"bitconverter", "GetBytes", []any{uint32(5)}, "Byte[] 5 0 0 0"}, {"bitconverter", "GetBytes", []any{int32(5)}, "refused"},
		{"datetime", "FromFileTimeUtc", []any{int64(133500000000000000)}, "DateTime 01/17/2024 21:20:00"}, {"guid", "Nope", nil, "refused"}, {"guid", "new", nil, "refused"},
		{"string", "new", []any{charArray("ab")}, "String ab"}, {"timespan", "new", []any{int64(5)}, "TimeSpan 00:00:00.0000005"},
	} {
		typ := Lookup(c.t)
		if typ == nil {
			typ = Lookup("System." + c.t)
		}
		require.NotNil(t, typ, c.t)
		v, err := callStatic(typ, c.method, c.args...)
		assert.Equal(t, c.want, result(v, err), "[%s]::%s(%v)", c.t, c.method, c.args)
	}
}

func TestCollections(t *testing.T) {
	list, err := New(TListObject, nil)
	require.NoError(t, err)
	for _, item := range []any{int32(1), "b"} {
		_, err := CallMethod(list, "Add", []any{item})
		require.NoError(t, err)
	}
	assert.Equal(t, "Object[Int32 1; String b]", result(CallMethod(list, "ToArray", nil)))
	h := NewHashtable()
	h.Set("a", int32(1))
	assert.Equal(t, "Boolean True", result(CallMethod(h, "ContainsKey", []any{"A"})))

	keys, items := arr("b", "A"), arr(int32(1), int32(2))
	_, err = callStatic(TArray, "Sort", keys, items, static(t, "StringComparer", "Ordinal"))
	require.NoError(t, err)
	assert.Equal(t, "A b 2 1", ToText(keys)+" "+ToText(items))
	assert.Equal(t, "refused", result(callStatic(TArray, "Sort", keys)))
}

func TestIndexing(t *testing.T) {
	a, o := arr(int32(1), int32(2), int32(3)), ordered("z", int32(1), "a", int32(2))
	for _, c := range []struct {
		v, i  any
		want  string
		found bool
	}{
		{a, int32(-1), "Int32 3", true}, {a, int32(9), "null", false}, {a, arr(int32(0)), "refused", false}, {a, "1", "refused", false}, {"abc", int32(1), "Char b", true},
		{"abc", int32(5), "null", false}, {o, int32(0), "Int32 1", true}, {o, "A", "Int32 2", true}, {o, int32(7), "null", false}, {o, int32(-1), "refused", false}, {&Bytes{B: []byte{1, 2}}, int32(1), "Byte 2", true},
	} {
		v, found, err := GetIndex(c.v, c.i)
		assert.Equal(t, c.want, result(v, err))
		assert.Equal(t, c.found, found)
	}
	assert.Equal(t, "!System.IndexOutOfRangeException: Index was outside the bounds of the array.",
		result(nil, SetIndex(a, int32(5), nil)))
	ints := &Array{Elem: TInt32, Items: []any{int32(1)}}
	require.NoError(t, SetIndex(ints, int32(0), "7"))
	assert.Equal(t, "Int32[Int32 7]", show(ints))
}

func TestMembers(t *testing.T) {
	for _, c := range []struct {
		v    any
		name string
		want string
	}{
		{ordered("Count", int32(9)), "count", "Int32 9"}, {ordered("a", nil), "Values", "refused"}, {ordered("a", nil), "b", "null"}, {int32(5), "Count", "Int32 1"}, {nil, "Count", "Int32 0"},
		{"abc", "Length", "Int32 3"}, {"abc", "Nope", "refused"}, {&Bytes{B: []byte{1}}, "Length", "Int32 1"}, {TInt32, "Name", "String Int32"}, {NewSecureString("abc"), "Length", "Int32 3"},
		{NewPSObject("a", int32(1)), "b", "null"}, {arr(), "Rank", "refused"}, {ExceptionNamed("System.Exception", "m"), "Message", "String m"}, {ExceptionNamed("System.Exception", "m"), "StackTrace", "refused"},
	} {
		v, _, err := GetMember(c.v, c.name)
		assert.Equal(t, c.want, result(v, err), "%s.%s", show(c.v), c.name)
	}
	n := MakeName("n")
	values, found, err := n.Enum([]any{ordered("n", int32(1)), ordered("n", arr(int32(2), int32(3))),
		ordered("x", nil)})
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, []any{int32(1), int32(2), int32(3)}, values)
	assert.Equal(t, "refused", result(nil, SetMember(NewPSObject("a", int32(1)), "b", int32(2))))

	view, _, err := GetMember(NewPSObject("B", int32(1), "a", "x"), "PSObject")
	require.NoError(t, err)
	set, _, err := GetMember(view, "Properties")
	require.NoError(t, err)
	var got []string
	for _, p := range EnumerateAny(set) {
		name, _, _ := GetMember(p, "Name")
		value, _, _ := GetMember(p, "Value")
		got = append(got, ToText(name)+"="+ToText(value))
	}
	assert.Equal(t, []string{"B=1", "a=x"}, got)
}

func TestNetworkCredential(t *testing.T) {
	v, err := New(Lookup("System.Net.NetworkCredential"), []any{"", "p@ss"})
	require.NoError(t, err)
	s, _, err := GetMember(v, "SecurePassword")
	require.NoError(t, err)
	assert.Equal(t, "p@ss", s.(*SecureString).Reveal())
	assert.NotContains(t, ToText(s), "p@ss")
}

func TestCyclesEnd(t *testing.T) {
	a := arr(int32(1))
	a.Items[0] = a
	l := &List{Type: TListObject}
	l.Items = []any{l}
	assert.NotPanics(t, func() {
		ToText(a)
		Truthy(a)
		Truthy(l)
		_, _ = Equal(a, a, false)
	})
	n := MakeName("Foo")
	_, _, err := n.Enum(a.Items)
	assert.Equal(t, "refused", result(nil, err))
	assert.Equal(t, "refused", result(CallMethod(a, "Foo", nil)))
}

// limits sets the limits of single operations for a test.
func limits(t testing.TB, text, items int) {
	oldText, oldItems := MaxStringLength, MaxArrayLength
	t.Cleanup(func() { MaxStringLength, MaxArrayLength = oldText, oldItems })
	MaxStringLength, MaxArrayLength = text, items
}

func TestLimits(t *testing.T) {
	limits(t, 1000, 1000)
	long := strings.Repeat("ab", 400)
	call := func(v any, name string, args ...any) error { _, err := CallMethod(v, name, args); return err }
	binary := func(name string, l, r any) error { f, _ := Operator(name); _, err := f(l, r); return err }
	many := &Array{Items: make([]any, 900)}
	_, replaced := Replace(long, arr("a", "xxx"), false)
	full := &List{Type: TListObject, Items: make([]any, 1000)}
	for name, err := range map[string]error{
		"add": binary("+", long, long), "array add": binary("+", many, many), "join": binary("-join", many, "--"), "replace": replaced,
		"string replace": call(long, "Replace", "a", "xxx"), "list": call(full, "Add", "x"),
	} {
		var stopped *LimitError
		require.ErrorAs(t, err, &stopped, name)
		assert.Nil(t, AsRecord(err), name)
	}
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
	stream := func(name string) any {
		n := MakeName(name)
		v, err := n.GetStatic(console)
		require.NoError(t, err)
		return v
	}
	for _, want := range []any{"one", "two", nil, nil} {
		v, err := CallMethod(stream("In"), "ReadLine", nil)
		require.NoError(t, err)
		assert.Equal(t, want, v)
	}
	stdout, err := callStatic(console, "OpenStandardOutput")
	require.NoError(t, err)
	_, err = CallMethod(stdout, "Write", []any{&Bytes{B: []byte("xabcx")}, int32(1), int32(3)})
	require.NoError(t, err)
	_, err = CallMethod(stream("Error"), "WriteLine", []any{"é"})
	require.NoError(t, err)
	assert.Equal(t, "abc", out.String())
	assert.Equal(t, "é\n", errOut.String())
}

func TestWatchSeesChanges(t *testing.T) {
	h := ordered("a", int32(1), "b", int32(2))
	keys, _, _ := GetMember(h, "Keys")
	list := &List{Type: TListObject}
	for _, c := range []struct {
		name   string
		watch  any
		change func()
	}{
		{"key added", h, func() { h.Set("c", nil) }},
		{"value replaced", keys, func() { require.NoError(t, SetIndex(h, "a", int32(5))) }},
		{"item added", list, func() { _, _ = CallMethod(list, "Add", []any{int32(3)}) }},
		{"list cleared", list, func() { _, _ = CallMethod(list, "Clear", nil) }},
	} {
		changed := Watch(c.watch)
		assert.False(t, changed(), c.name)
		c.change()
		assert.True(t, changed(), c.name)
	}
	assert.False(t, Watch(arr(int32(1)))())
	assert.Equal(t, "refused", result(nil, CollectionModified()))
}

// A table that grows and shrinks between writes contains the same keys as a map, in the
// order in which they were added.
func TestTableOfManyKeys(t *testing.T) {
	h, known, order := NewHashtable(), map[string]any{}, []string{}
	random := rand.New(rand.NewSource(1))
	for range 5000 {
		name := fmt.Sprintf("Key%d", random.Intn(700))
		_, there := known[name]
		if random.Intn(3) > 0 {
			if !there {
				order = append(order, name)
			}
			known[name] = int32(random.Intn(1000))
			h.Set(strings.ToUpper(name), known[name])
		}
		value, ok := h.Get(name)
		require.Equal(t, known[name], value)
		require.Equal(t, ok, known[name] != nil)
	}
	require.Greater(t, len(order), 300, "more than a byte can count")
	require.Equal(t, len(order), h.Len())
	for i, name := range order {
		key, value := h.At(i)
		require.Equal(t, strings.ToUpper(name), key)
		require.Equal(t, known[name], value)
	}
	assert.True(t, slices.Equal(h.Keys()[:1], []any{strings.ToUpper(order[0])}))
}

func TestTheIndexOfPropertiesFindsWhatTheyList(t *testing.T) {
	custom := &PSObject{}
	custom.Props.Set("givenName", "Lena")
	custom.Props.Set("sn", nil)
	note := NewInstance(tNoteProperty, "Name", "a", "Value", 1)
	for _, v := range []any{custom, note, "text", NewHashtable()} {
		set := &propertySet{v}
		for _, listed := range Properties(v) {
			found, _, err := GetIndex(set, strings.ToUpper(listed.Name))
			require.NoError(t, err)
			assert.Equal(t, listed, found)
		}
		found, _, err := GetIndex(set, "missing")
		require.NoError(t, err)
		assert.Nil(t, found)
	}
}

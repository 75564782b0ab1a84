package dotnet

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ordered(pairs ...any) *Hashtable {
	h := NewOrdered()
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// Expected texts are those PowerShell 7.6.5 wrote for the same values.
func TestToJSON(t *testing.T) {
	deep := func() any { return ordered("a", ordered("b", ordered("c", ordered("d", int32(1))))) }
	utc := DateTime{date("2024-01-02T03:04:05").Ticks, UTC}
	for _, c := range []struct {
		v     any
		depth int
		want  string
	}{
		{ordered("a", int32(1)), 2, `{"a":1}`}, {arr(int32(1), int32(2)), 2, `[1,2]`}, {arr(), 2, `[]`}, {nil, 2, `null`}, {`a"b`, 2, `"a\"b"`},
		{ordered("s", `é<&>'"`, "n", nil, "b", true, "i", int32(5), "l", int64(5000000000), "d", 1.5, "arr", arr(int32(1)), "o", NewPSObject("x", int32(1))), 4,
			`{"s":"é<&>'\"","n":null,"b":true,"i":5,"l":5000000000,"d":1.5,"arr":[1],"o":{"x":1}}`},
		{deep(), 4, `{"a":{"b":{"c":{"d":1}}}}`},
		{ordered("g", Guid{}, "d", utc, "t", TimeSpan(ticksPerSecond), "e", Enum{Lookup("DayOfWeek"), 1}, "by", &Bytes{B: []byte{1, 2}}, "c", Char('x'), "v", Version{1, 2, -1, -1}), 2,
			`{"g":"00000000-0000-0000-0000-000000000000","d":"2024-01-02T03:04:05Z","t":{"Ticks":10000000,"Days":0,"Hours":0,"Milliseconds":0,"Microseconds":0,"Nanoseconds":0,"Minutes":0,"Seconds":1,"TotalDays":1.1574074074074073E-05,"TotalHours":0.0002777777777777778,"TotalMilliseconds":1000.0,"TotalMicroseconds":1000000.0,"TotalNanoseconds":1000000000.0,"TotalMinutes":0.016666666666666666,"TotalSeconds":1.0},"e":1,"by":[1,2],"c":"x","v":{"Major":1,"Minor":2,"Build":-1,"Revision":-1,"MajorRevision":-1,"MinorRevision":-1}}`},
		{"a\tb\nc\x01\x7f\u2028", 2, `"a\tb\nc\u0001` + "\x7f" + `\u2028"`},
		{NewList(int32(1), "x"), 2, `[1,"x"]`}, {float32(1.5), 2, `1.5`}, {10.0, 2, `10.0`}, {dec("10"), 2, `10.0`}, {1e15, 2, `1E+15`},
		{NewSecureString("geheim"), 2, `{"Length":6}`}, {NewSwitch(true), 2, `{"IsPresent":true}`},
		{DateTime{date("2024-01-02").Ticks + 6780000, Unspecified}, 2, `"2024-01-02T00:00:00.678"`},
	} {
		got, truncated, err := ToJSON(c.v, JSONOptions{Depth: c.depth, Compress: true})
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
		assert.False(t, truncated)
	}
	got, truncated, err := ToJSON(deep(), JSONOptions{Depth: 2, Compress: true})
	require.NoError(t, err)
	assert.True(t, truncated)
	assert.Equal(t, `{"a":{"b":{"c":"System.Collections.Specialized.OrderedDictionary"}}}`, got)
	got, _, _ = ToJSON("é<😀", JSONOptions{Compress: true, EscapeNonASCII: true, EscapeHTML: true})
	assert.Equal(t, `"\u00e9\u003c\ud83d\ude00"`, got)
}

func TestToJSONIndented(t *testing.T) {
	got, _, err := ToJSON(ordered("a", int32(1), "b", arr(), "c", NewHashtable(), "d", arr(int32(1), arr(int32(2)))), JSONOptions{Depth: 2})
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    1,\n    [\n      2\n    ]\n  ]\n}", got)
}

func TestToJSONOfAnEndlessValueStops(t *testing.T) {
	h := NewHashtable()
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		h.Set(key, h)
	}
	limit := MaxStringLength
	defer func() { MaxStringLength = limit }()
	MaxStringLength = 1 << 16
	_, _, err := ToJSON(h, JSONOptions{Depth: 100, Compress: true})
	var stopped *LimitError
	require.ErrorAs(t, err, &stopped)
}

func TestFromJSON(t *testing.T) {
	v, err := FromJSON(`{"a":1,"b":[1,2],"c":null,"d":{"e":"x"},"f":true,"g":1.5}`)
	require.NoError(t, err)
	o := v.(*PSObject)
	a, _ := o.Props.Get("A")
	assert.Equal(t, int64(1), a)
	assert.Equal(t, 6, o.Props.Len())
	g, _ := o.Props.Get("g")
	assert.Equal(t, 1.5, g)
	for text, want := range map[string]string{
		`"2024-01-02T03:04:05Z"`: "DateTime 01/02/2024 03:04:05", `"=2024-01-02T03:04:05Z"`: "String =2024-01-02T03:04:05Z", `"2024-01-02"`: "String 2024-01-02",
		`"2024-13-02T03:04:05Z"`: "String 2024-13-02T03:04:05Z", `"/Date(1704164645000)/"`: "DateTime 01/02/2024 03:04:05",
		`12345678901234567890`: "BigInteger 12345678901234567890", `-5`: "Int64 -5", `1e3`: "Double 1000", `true`: "Boolean True", ``: "null", ` null `: "null",
		`"\u00e9\ud83d\ude00\n\/"`: "String é😀\n/", `'single'`: "String single", `[1, 2, ] // x`: "Object[Int64 1; Int64 2]", `/* c */ [ ]`: "Object[]", `{a: 1}`: "PSCustomObject @{a=1}",
		`{"a":1,"a":2}`: "PSCustomObject @{a=2}",
	} {
		v, err := FromJSON(text)
		assert.Equal(t, want, result(v, err), text)
	}
	for text, id := range map[string]string{
		`{bad`: "System.ArgumentException", `[1`: "System.ArgumentException", `{"a":}`: "System.ArgumentException", `1 2`: "System.ArgumentException", `"\x"`: "System.ArgumentException",
		`"abc`: "System.ArgumentException", `{"a" 1}`: "System.ArgumentException", `nope`: "System.ArgumentException", `{"a":1,"A":2}`: "KeysWithDifferentCasingInJsonString",
		`{"":1}`: "EmptyKeyInJsonString", strings.Repeat("[", 3000): "System.ArgumentException",
	} {
		_, err := FromJSON(text)
		r := AsRecord(err)
		if assert.NotNil(t, r, text) {
			assert.Equal(t, id+",Microsoft.PowerShell.Commands.ConvertFromJsonCommand", r.ErrorID, text)
		}
	}
}

func FuzzJSONRoundTrip(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true,{"b":{}}]}`, `"é😀\u2028\ud800"`, `[[[]],{}]`, `{"k":"2024-01-02T03:04:05+01:00"}`, `1e400`, `-0.0`, `"\"\\\/\b\f\n\r\t"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := FromJSON(FromUTF8([]byte(text)))
		if err != nil {
			require.NotNil(t, AsRecord(err), "errors are records")
			return
		}
		once, truncated, err := ToJSON(v, JSONOptions{Depth: 2000, Compress: true})
		require.NoError(t, err)
		require.False(t, truncated)
		again, err := FromJSON(once)
		require.NoError(t, err, once)
		twice, _, err := ToJSON(again, JSONOptions{Depth: 2000, Compress: true})
		require.NoError(t, err)
		require.Equal(t, once, twice)
		require.True(t, json.Valid(ToUTF8(once)) || strings.Contains(once, "-0.0"), once)
	})
}

package dotnet

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PowerShell 7.6.5 wrote the expected texts for the same values.
func TestToJSON(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{ordered("a", int32(1)), `{"a":1}`}, {arr(int32(1), int32(2)), `[1,2]`}, {arr(), `[]`}, {nil, `null`}, {`a"b`, `"a\"b"`},
		{ordered("s", `é<&>'"`, "n", nil, "b", true, "i", int32(5), "l", int64(5000000000), "arr", arr(int32(1)), "o", ordered("x", int32(1))),
			`{"s":"é<&>'\"","n":null,"b":true,"i":5,"l":5000000000,"arr":[1],"o":{"x":1}}`},
		{"a\tb\nc\x01\x7f\u2028", `"a\tb\nc\u0001` + "\x7f" + `\u2028"`}, {&List{Type: TListObject, Items: []any{int32(1), "x"}}, `[1,"x"]`},
	} {
		got, err := ToJSON(c.v, JSONOptions{Depth: 4, Compress: true})
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	deep := ordered("a", ordered("b", ordered("c", int32(1))))
	for _, v := range []any{deep, 1.5, Guid{}, date(t, "2024-01-02"), NewSecureString("x"), Char('x'), &Bytes{},
		Enum{Lookup("DateTimeKind"), 1}, NewPSObject("x", int32(1))} {
		got, err := ToJSON(v, JSONOptions{Depth: 1, Compress: true})
		assert.Equal(t, "refused", result(got, err), show(v))
	}
	got, err := ToJSON(ordered("a", int32(1), "b", arr(), "c", NewHashtable(), "d",
		arr(int32(1), arr(int32(2)))), JSONOptions{Depth: 2})
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    1,\n    [\n      2\n    ]\n"+
		"  ]\n}", got)
}

func TestToJSONOfAnEndlessValueStops(t *testing.T) {
	h := NewHashtable()
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		h.Set(key, h)
	}
	limits(t, 1<<16, 1<<12)
	_, err := ToJSON(h, JSONOptions{Depth: 100, Compress: true})
	var stopped *LimitError
	require.ErrorAs(t, err, &stopped)
}

func TestFromJSON(t *testing.T) {
	v, err := FromJSON(`{"a":1, "b":[1,2] ,"c":null,"d":{"e":"x"},"f":true}`)
	require.NoError(t, err)
	o := v.(*PSObject)
	a, _ := o.Props.Get("A")
	assert.Equal(t, int64(1), a)
	assert.Equal(t, 5, o.Props.Len())
	for text, want := range map[string]string{
		`"2024-01-02T03:04:05Z"`: "refused", `"=2024-01-02T03:04:05Z"`: "String =2024-01-02T03:04:05Z", `"2024-01-02"`: "String 2024-01-02",
		`"2024-13-02T03:04:05Z"`: "refused", `"/Date(1704164645000)/"`: "refused",
		`-5`: "Int64 -5", `true`: "Boolean True", ` null `: "null", `"\u00e9\ud83d\ude00\n\/"`: "String é😀\n/", `[ ]`: "Object[]",
	} {
		v, err := FromJSON(text)
		assert.Equal(t, want, result(v, err), text)
	}
	for _, text := range []string{``, `{bad`, `[1`, `{"a":}`, `1 2`, `"\x"`, `"abc`, `{"a" 1}`, `nope`, `{"a":1,"A":2}`, `{"a":1,"a":2}`, `{"":1}`, strings.Repeat("[", 3000),
		`1e3`, `1.5`, `12345678901234567890`, `'single'`, `[1,]`, `{a: 1}`, `[1] // x`, `/* c */ [ ]`, `"\ud83d"`, "\"\n\"", `NaN`, `0x1`} {
		v, err := FromJSON(text)
		assert.Equal(t, "refused", result(v, err), text)
	}
}

func FuzzJSONRoundTrip(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x",null,true,{"b":{}}]}`, `"é😀\u2028\ud800"`, `[[[]],{}]`, `{"k":"2024-01-02T03:04:05+01:00"}`, `-0`, `"\"\\\/\b\f\n\r\t"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := FromJSON(FromUTF8([]byte(text)))
		if err != nil {
			var refused *Refused
			require.ErrorAs(t, err, &refused)
			return
		}
		once, err := ToJSON(v, JSONOptions{Depth: 100, Compress: true})
		if err != nil {
			return // a date, or nested too deeply
		}
		again, err := FromJSON(once)
		require.NoError(t, err, once)
		twice, err := ToJSON(again, JSONOptions{Depth: 100, Compress: true})
		require.NoError(t, err)
		require.Equal(t, once, twice)
		require.True(t, json.Valid([]byte(once)), once)
	})
}

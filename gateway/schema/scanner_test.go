package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// requireChecked requires that the scanner finds a fault if and only if there is one.
func requireChecked(t *testing.T, text []byte, sound bool) {
	t.Helper()
	w := scanner{data: text}
	value := w.value()
	require.Equal(t, sound, w.ended(), "%q", text)
	if sound {
		require.Equal(t, string(bytes.Trim(text, " \t\r\n")), string(value))
	}
}

// notJSON are texts with one fault each, for every kind of fault.
var notJSON = []string{
	"", " ", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1],", "[]x", "{", "{]", "[}", "{1:2}", `{"a"}`, `{"a" 1}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{"a"`,
	"tru", "truex", "True", "nul", "nulll", "falsee", "-", "+1", "01", "-01", ".5", "1.", "1.e1", "1e", "1e+", "1e+-1", "0x1", "1_0", "NaN", "--1",
	`"`, `"a`, `"a\`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u123`, "\"a\tb\"", "\"\x00\"", "\"12345678\x1f\"", "\"1234567\n\"", `'a'`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc3\"", "\xc2\xa0[]", "\ufeff[]",
	"[\x00]", "1\x00", strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// TestScannerFindsEveryFault compares the scanner with encoding/json, which is slower.
func TestScannerFindsEveryFault(t *testing.T) {
	for _, text := range notJSON {
		require.False(t, json.Valid([]byte(text)) && utf8.ValidString(text), "%.40q", text)
		requireChecked(t, []byte(text), false)
	}
	for _, text := range []string{
		"0", "-0", "-0.50e+10", "1E-7", "12.0", "true", " false\r\n", "\tnull", `""`, `"\"\\\/\b\f\n\r\t\u00e4\uD800"`, `"1234567\"8"`, "\"1234567\x7f8Ω\u2028𝄞ab\"", `[[],{},[{"a":{"b":[0]}}]]`,
		`{ "a" : [ 1 , 2 ] , "" : null }`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		require.True(t, json.Valid([]byte(text)), "%.40q", text)
		requireChecked(t, []byte(text), true)
	}
	for c := range 256 { // every byte at every position in a word
		for at := range 9 {
			text := append([]byte(`"123456789"`), "   "...)
			text[1+at] = byte(c)
			requireChecked(t, text, json.Valid(text) && utf8.Valid(text))
		}
	}
}

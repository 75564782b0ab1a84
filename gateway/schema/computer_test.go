package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestKindsOfComputersAndOUs(t *testing.T) {
	const (
		notComputer = "invalid_request: must be a computer name: letters, digits, hyphens and underscores, no " +
			"hyphen at either end, and not only digits"
		notName = "invalid_request: must be a name that is not blank"
	)
	for _, c := range []struct {
		kind Kind
		raw  any
		want string
	}{
		{ComputerName, "PC042", `"PC042"`}, {ComputerName, "pc-042", `"pc-042"`}, {ComputerName, "P", `"P"`}, {ComputerName, "_a1", `"_a1"`}, {ComputerName, "1a", `"1a"`},
		{ComputerName, "abcdefghijklmno", `"abcdefghijklmno"`}, {ComputerName, "abcdefghijklmnop", "invalid_request: must be at most 15 characters long"},
		{ComputerName, "4711", notComputer}, {ComputerName, "PC$", `invalid_request: must be the computer's name, "PC", without the "$" of its account`}, {ComputerName, "-PC", notComputer}, {ComputerName, "PC-", notComputer}, {ComputerName, "P C", notComputer},
		{ComputerName, "PC.1", `invalid_request: must be the computer's name alone, "PC", without a DNS domain`}, {ComputerName, "PÄC", notComputer}, {ComputerName, "", notComputer}, {ComputerName, json.Number("7"), "invalid_request: must be text, not a number"},

		{Wildcard, "PC*", `"PC*"`}, {Wildcard, "**PC***1*", `"*PC*1*"`}, {Wildcard, "***", `"*"`}, {Wildcard, "", `""`}, {Wildcard, `a?[b]\2a`, `"a?[b]\\2a"`},
		{Wildcard, json.Number("4711"), `"4711"`}, {Wildcard, json.Number("-7"), `"-7"`}, {Wildcard, json.Number("12345678901234567890123"), `"12345678901234567890123"`},
		{Wildcard, json.Number("1.5"), "invalid_request: must be text, not a number"}, {Wildcard, json.Number("1e3"), "invalid_request: must be text, not a number"},
		{Wildcard, true, "invalid_request: must be text, not a boolean"}, {Wildcard, nil, "invalid_request: must be text, not null"}, {Wildcard, Composite{}, "invalid_request: must be text, not an object or array"},
		{Wildcard, "a\x00", "invalid_request: must not contain a NUL character"}, {Wildcard, strings.Repeat("*", 257), "invalid_request: must be at most 256 characters long"},

		{OUName, "Sales", `"Sales"`}, {OUName, ` a,b `, `" a,b "`}, {OUName, "  ", notName}, {OUName, "", notName},
		{OUName, strings.Repeat("ä", 64), `"` + strings.Repeat("ä", 64) + `"`}, {OUName, strings.Repeat("ä", 65), "invalid_request: must be at most 64 characters long"},
	} {
		assert.Equal(t, c.want, show(t, c.kind, c.raw), "%T %q", c.kind, c.raw)
	}
	for _, k := range []Kind{ComputerName, Wildcard, OUName} {
		assert.Nil(t, k.Clear())
		assert.NotEmpty(t, k.Doc().Text)
		assert.False(t, k.Secret())
	}
}

// FuzzWildcard: decoding a pattern preserves its meaning, that is the pieces between its stars, in
// order, and whether it begins and ends with a star.
func FuzzWildcard(f *testing.F) {
	for _, seed := range []string{"", "*", "**", "a", "a*", "*a", "a**b*", "a?b[c]", "ä*\u2028", "*)(cn=*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		decoded, problem := Wildcard.Decode(raw)
		if problem != nil {
			return
		}
		got := decoded.Text
		assert.True(t, utf8.ValidString(got))
		assert.NotContains(t, got, "**")
		assert.Equal(t, strings.ReplaceAll(raw, "*", ""), strings.ReplaceAll(got, "*", ""))
		assert.Equal(t, strings.HasPrefix(raw, "*"), strings.HasPrefix(got, "*"))
		assert.Equal(t, strings.HasSuffix(raw, "*"), strings.HasSuffix(got, "*"))
		again, problem := Wildcard.Decode(got)
		if assert.Nil(t, problem) {
			assert.Equal(t, got, again.Text)
		}
	})
}

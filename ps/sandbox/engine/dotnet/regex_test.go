package dotnet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct{ text, pattern, want string }{
		{"S-1-5-32-544", `^S-1-5-32-|-([0-9]{1,3})$`, "0=S-1-5-32-"},
		{"x-12", `^S-1-5-32-|-([0-9]{1,3})$`, "0=-12 1=12"},
		{"x-12\n", `-([0-9]+)$`, "0=-12 1=12"},
		{"x-12\n\n", `-([0-9]+)$`, "no"},
		{"12345678\n", `^[0-9A-F]{8}\z`, "no"},
		{"ABC", "b", "0=B"},
		{"\u212A", "k", "0=\u212A"}, // the Kelvin sign
		{"ſ", "[a-z]", "no"},        // the long s
		{"ſ", "s", "no"},
		{"😀", `[\ud800-\udfff]`, "0=\xed\xa0\xbd"},
		{"a😀b", "a..b", "0=a😀b"},
		{"a\nb", "a.b", "no"},
	} {
		v, err := Match(c.text, c.pattern, false, false)
		require.NoError(t, err, c.pattern)
		got := "no"
		if v == true {
			re, err := compileRegex(c.pattern, false)
			require.NoError(t, err)
			units := toUnits(c.text)
			found, err := re.find(units, 1)
			require.NoError(t, err)
			var groups []string
			for i, m := 0, found[0]; i < len(m); i += 2 {
				if m[i] >= 0 {
					groups = append(groups, fmt.Sprintf("%d=%s", i/2, fromUnits(units[m[i]:m[i+1]])))
				}
			}
			got = strings.Join(groups, " ")
		}
		assert.Equal(t, c.want, got, "%q -match %q", c.text, c.pattern)
	}
	v, err := Match(arr("ab", "cd", "ae"), "^a", false, false)
	require.NoError(t, err)
	assert.Equal(t, "Object[String ab; String ae]", show(v))
	v, err = Match(AutomationNull, "", false, false)
	require.NoError(t, err)
	assert.Equal(t, "Object[]", show(v))
}

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		text    any
		pattern string
		with    string
		want    string
	}{
		{`CN=a\,b,OU=c`, `^(?:[^,\\]|\\.)+,`, "", "String OU=c"},
		{"{x}\n", `^\{(.*)\}$`, "$1", "String x\n"},
		{"a.b.c", `\.`, "-", "String a-b-c"},
		{"a[b]?", "[\\[\\]?`]", "`$0", "String a`[b`]`?"},
		{"abc", "B", "", "String ac"},
		{arr("ab", "cb"), "b", "x", "refused"},
		{"é-é", "é", "😀", "String 😀-😀"},
		{"a", "x*", "-", "refused"},
		{"a", "a", "$2", "refused"},
		{"a", "a", "${x}", "refused"},
		{"a\n", "a$", "b", "refused"},
	} {
		assert.Equal(t, c.want, result(Replace(c.text, arr(c.pattern, c.with), false)), "%v -replace %q, %q",
			c.text, c.pattern, c.with)
	}
}

func TestUnsupportedExpressions(t *testing.T) {
	for _, pattern := range []string{`\d`, `\w`, `\s`, `\b`, `(?i)a`, `(?<n>a)`, `(?=a)`, `(a)\1`, `a$b`, `a^`, `(a$)`, `[a-z-[aeiou]]`, `[[:alpha:]]`, `[]a]`, `(`, `a**`, `(a*)*`,
		`\`, `\x4`, "😀", strings.Repeat("a", 2000), `(?:a{1000}){1000}`} {
		_, err := Match("a", pattern, false, false)
		assert.Equal(t, "refused", result(nil, err), pattern)
	}
}

// These patterns take exponential time in a backtracking matcher.
func TestPathologicalExpressions(t *testing.T) {
	for _, pattern := range []string{"^(a+)+$", "^(a|aa)+$", "(x+x+)+y"} {
		v, err := Match(strings.Repeat("a", 100_000)+"!", pattern, false, false)
		require.NoError(t, err, pattern)
		assert.Equal(t, false, v, pattern)
	}
	_, err := Match(strings.Repeat("a", 8<<20), strings.Repeat("a?", 400), true, false)
	var stopped *LimitError
	require.ErrorAs(t, err, &stopped)
}

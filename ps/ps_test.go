package ps_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decoded parses a data line in the same way as the prelude.
func decoded(t testing.TB, line string) (request map[string]any, secrets []string) {
	t.Helper()
	require.True(t, strings.HasPrefix(line, "#"), "a line that is read as a command is a comment")
	parts := strings.Split(line[1:], " ")
	body, err := base64.StdEncoding.DecodeString(parts[0])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &request))
	for _, part := range parts[1:] {
		secret, err := base64.StdEncoding.DecodeString(part)
		require.NoError(t, err)
		secrets = append(secrets, string(secret))
	}
	return request, secrets
}

func TestEncodeRequest(t *testing.T) {
	line := ps.EncodeRequest("7", "New-GatewayUser", ps.Args{
		"Text": ps.Text("2024-01-02T03:04:05Z"), "Yes": ps.Bool(true), "No": ps.Bool(false),
		"Number": ps.Int(-5), "List": ps.List([]string{"a", ""}), "Nothing": ps.Null(),
		"Password": ps.Secret("p w"), "Another": ps.Secret(""),
	})
	assert.Equal(t, -1, strings.IndexAny(line, "\r\n"), "one line")
	request, secrets := decoded(t, line)
	assert.Equal(t, map[string]any{
		"id": "=7", "script": "=New-GatewayUser",
		"arguments": map[string]any{
			"Text": "=2024-01-02T03:04:05Z", "Yes": true, "No": false, "Number": -5.0,
			"List": ",\x1fa\x1f", "Nothing": nil, "Another": "!0", "Password": "!1",
		},
	}, request)
	assert.Equal(t, []string{"", "p w"}, secrets, "secrets are numbered in the order of names")
}

func TestEncodeList(t *testing.T) {
	var controls, all strings.Builder
	for r := rune(0x10); r <= 0x1F; r++ {
		controls.WriteRune(r)
	}
	all.WriteString(controls.String())
	for r := rune(0xE000); r <= 0xF8FF; r++ {
		all.WriteRune(r)
	}
	for name, c := range map[string]struct {
		items []string
		want  any
	}{
		"none":                    {nil, []any{}},
		"one that is empty":       {[]string{""}, ",\x1f"},
		"several":                 {[]string{"a", "", "=b", "!0"}, ",\x1fa\x1f\x1f=b\x1f!0"},
		"with the separator":      {[]string{"a\x1fb", "c"}, ",\x1ea\x1fb\x1ec"},
		"with all control codes":  {[]string{controls.String(), "c"}, ",\uf8ff" + controls.String() + "\uf8ffc"},
		"that nothing could part": {[]string{all.String(), "c"}, []any{"=" + all.String(), "=c"}},
	} {
		t.Run(name, func(t *testing.T) {
			request, _ := decoded(t, ps.EncodeRequest("1", "S", ps.Args{"L": ps.List(c.items)}))
			assert.Equal(t, c.want, request["arguments"].(map[string]any)["L"])
		})
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	secret := ps.Secret("Corr3ct-Horse")
	args := ps.Args{"Password": secret}
	encoded, err := json.Marshal(args)
	require.NoError(t, err)
	for _, shown := range []string{
		secret.String(), fmt.Sprint(secret), fmt.Sprintf("%v %+v %#v %s %q", args, args, args, secret, secret), string(encoded),
	} {
		assert.NotContains(t, shown, "Corr3ct-Horse")
		assert.Contains(t, shown, "***")
	}
	assert.True(t, secret.IsSecret())
}

func TestValues(t *testing.T) {
	list := []string{"a"}
	value := ps.List(list)
	list[0] = "b"
	for _, c := range []struct {
		value              ps.Value
		typ, shown, asJSON string
	}{
		{ps.Null(), "", "null", "null"},
		{ps.Text(`a"b`), "string", `"a\"b"`, `"a\"b"`},
		{ps.Bool(true), "bool", "true", "true"},
		{ps.Int(42), "int", "42", "42"},
		{value, "string[]", `["a"]`, `["a"]`},
		{ps.Secret("x"), "securestring", "***", `"***"`},
	} {
		assert.Equal(t, c.typ, c.value.Type())
		assert.Equal(t, c.shown, c.value.String())
		encoded, err := json.Marshal(c.value)
		require.NoError(t, err)
		assert.Equal(t, c.asJSON, string(encoded))
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("pipe closed")
	e := &ps.Error{Kind: ps.KindDied, Step: "create user", ID: "X", Message: "gone", Cause: cause}
	assert.Equal(t, "died: create user: X: gone: pipe closed", e.Error())
	assert.ErrorIs(t, e, cause)
	assert.Same(t, e, ps.AsError(fmt.Errorf("run: %w", e)))
	other := ps.AsError(cause)
	assert.Equal(t, ps.KindInternal, other.Kind)
	assert.ErrorIs(t, other, cause)
}

func TestScriptParam(t *testing.T) {
	script := ps.Script{Params: []ps.Param{{Name: "UserName", Type: "string", Mandatory: true}}}
	p, ok := script.Param("UserName")
	assert.True(t, ok)
	assert.True(t, p.Mandatory)
	_, ok = script.Param("username")
	assert.False(t, ok, "names are compared exactly")
}

// For any text, the result is one line that decodes to that text and to nothing else.
func FuzzEncodeRequest(f *testing.F) {
	for _, seed := range []string{"", "a'b‘c", "$(1)`n", "\n#\r", "!0", "=", "\u2028😀", "\x00"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, text, secret string) {
		if !utf8.ValidString(text) {
			return // kinds accept only valid UTF-8
		}
		line := ps.EncodeRequest("1", "S",
			ps.Args{"T": ps.Text(text), "L": ps.List([]string{text, text}), "P": ps.Secret(secret)})
		if strings.ContainsAny(line, "\r\n\x00") {
			t.Fatalf("more than one line: %q", line)
		}
		request, secrets := decoded(t, line)
		arguments := request["arguments"].(map[string]any)
		assert.Equal(t, "="+text, arguments["T"])
		list := arguments["L"].(string)
		_, size := utf8.DecodeRuneInString(list[1:])
		assert.Equal(t, []string{text, text}, strings.Split(list[1+size:], list[1:1+size]))
		assert.Equal(t, "!0", arguments["P"])
		assert.Equal(t, []string{secret}, secrets)
	})
}

// TestTheBodyOfADataLine: the members of the body have the same order and escapes as those of a map that
// package json encodes.
func TestTheBodyOfADataLine(t *testing.T) {
	for _, args := range []ps.Args{
		nil, {"A": ps.Text("")},
		{"Name": ps.Text("<a> & \"b\" \\ \u2028 \x00 \xff ä"), "Big": ps.Int(-1 << 62), "On": ps.Bool(true), "None": {}, "Names": ps.List([]string{"a", "b"}), "Empty": ps.List(nil), "Pw": ps.Secret("s")},
	} {
		want := map[string]any{"id": "=7", "script": "=Get-It", "arguments": map[string]any{}}
		for name, text := range map[string]any{
			"A": "=", "Name": "=<a> & \"b\" \\ \u2028 \x00 \xff ä", "Big": -1 << 62, "On": true, "None": nil, "Names": ",\x1fa\x1fb", "Empty": []string{}, "Pw": "!0",
		} {
			if _, given := args[name]; given {
				want["arguments"].(map[string]any)[name] = text
			}
		}
		body, err := json.Marshal(want)
		require.NoError(t, err)
		first, rest, _ := strings.Cut(ps.EncodeRequest("7", "Get-It", args), " ")
		sent, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(first, "#"))
		require.NoError(t, err)
		assert.Equal(t, string(body), string(sent))
		_, secret := args["Pw"]
		assert.Equal(t, secret, rest != "")
	}
}

package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

var keptSecrets = []ps.Value{
	ps.Secret("plain \"and\" \u00fcber"), ps.Secret(`{"n":"Admin","t":"1dd49d35ab94000","p":"p\u0026\"w"}` + "\x00"),
	ps.Secret("no JSON"), ps.Secret(""),
}

// TestSealedValuesAreWhatTheyStandFor: sealed texts, secrets, and members of the JSON that Windows
// LAPS stores are opened.
func TestSealedValuesAreWhatTheyStandFor(t *testing.T) {
	shape := &Shape{Name: "S", Fields: []Field{
		{Name: "open"}, {Name: "sealed", Sealed: true, Null: true},
		{Name: "list", Type: ObjectListField, Of: []Field{{Name: "b", Sealed: true}, {Name: "a"}}},
	}}
	for sealed, want := range map[string]string{
		`"=!0"`: `"!0"`, `"!0"`: `"plain \"and\" über"`, `"!1.p"`: `"p&\"w"`, `"!1.n"`: `"Admin"`,
		`"!1.t"`: `"2026-09-21T14:13:20Z"`, `null`: `null`, `""`: `null`, `"="`: `null`, `"!3"`: `null`,
	} {
		got, err := Reveal(shape, json.RawMessage(`[{"list":[],"sealed":`+sealed+`,"open":"!0"}]`), keptSecrets)
		require.NoError(t, err, sealed)
		var records []map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got, &records))
		assert.JSONEq(t, want, string(records[0]["sealed"]), sealed)
		assert.Equal(t, `"!0"`, string(records[0]["open"]), "a field that is not sealed stays")
	}
	got, err := Reveal(shape, json.RawMessage(`[{"open":"","list":[{"a":"!0","b":"!0"}]}]`), keptSecrets)
	require.NoError(t, err)
	ordered := `[{"open":"","list":[{"b":"plain \"and\" über","a":"!0"}]}]`
	assert.Equal(t, ordered, string(got), "in the order of the fields")
}

// TestWhatIsNotSealedIsRefused: a secret that is not sealed is refused, and the error does not
// contain its value.
func TestWhatIsNotSealedIsRefused(t *testing.T) {
	for _, sealed := range []string{
		`"hunter22"`, `"!4"`, `"!-1"`, `"!x"`, `"!2.p"`, `"!1.x"`, `7`, `true`, `["!0"]`, `{"a":"!0"}`, `"!"`, `"!0x"`,
	} {
		_, err := Reveal(LocalAdminSecret, json.RawMessage(`[{"password":`+sealed+`}]`), keptSecrets)
		require.Error(t, err, sealed)
		assert.NotContains(t, err.Error(), "hunter22")
	}
	_, err := Reveal(LocalAdminSecret, json.RawMessage(`{}`), nil)
	assert.ErrorIs(t, err, ps.ErrInvalidRecords)
}

func TestReasons(t *testing.T) {
	for raw, accepted := range map[string]bool{
		"INC-4711: broken": true, "12345678": true, "1234567": false, "        ": false, "  12345  ": false,
		"a\nline break": false, string(make([]byte, 9)): false,
	} {
		_, problem := Reason.Decode(raw)
		assert.Equal(t, accepted, problem == nil, "%q", raw)
	}
	_, problem := Reason.Decode(nil)
	assert.NotNil(t, problem)
}

func TestNoReasonChangesTheDirectionOfText(t *testing.T) {
	for _, mark := range []string{"\u202e", "\u202a", "\u2066", "\u2069", "\u2028", "\u2029"} {
		for name, kind := range map[string]Kind{"reason": Reason, "note": Note} {
			_, problem := kind.Decode("INC-4711: " + mark + "broken")
			if assert.NotNil(t, problem, "%s %+q", name, mark) {
				assert.Contains(t, problem.Message, "character 11 is U+")
			}
		}
	}
	for _, plain := range []string{"INC-4711: גישה", "INC-4711: Prüfung – „Zugang“", "INC-4711: می\u200cخواهم"} {
		for name, kind := range map[string]Kind{"reason": Reason, "note": Note} {
			_, problem := kind.Decode(plain)
			assert.Nil(t, problem, "%s %q", name, plain)
		}
	}
}

func TestSecretsAreInTwoShapesOnly(t *testing.T) {
	assert.Equal(t, []string{"password", "password"}, Secrets(LocalAdminSecret))
	assert.Equal(t, []string{"recoveryPassword"}, Secrets(RecoveryKeySecret))
	assert.Empty(t, Secrets(LocalAdmin))
	assert.Empty(t, Secrets(RecoveryKey))
}

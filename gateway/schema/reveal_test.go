package schema

import (
	"encoding/json"
	"fmt"
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

// TestWhatPeopleWriteForOthersIsSeen: a reason, and the name of a job or of a saved view, has no
// characters that are invisible or change the direction of text, except those that join letters.
func TestWhatPeopleWriteForOthersIsSeen(t *testing.T) {
	kinds := map[string]Kind{"reason": Reason, "note": Note, "label": Label}
	for _, mark := range []string{
		"\u202e", "\u202a", "\u2066", "\u2069", "\u2028", "\u2029", "\u200b", "\u200e", "\u200f", "\u2060", "\ufeff",
		"\u061c", "\u2064", "\u206f", "\U000e0041", "\u3164", "\u034f",
	} {
		for name, kind := range kinds {
			_, problem := kind.Decode("INC-4711: " + mark + "broken")
			if assert.NotNil(t, problem, "%s %+q", name, mark) {
				assert.Equal(t, fmt.Sprintf("must not contain characters that are invisible or change the direction of "+
					"text: character 11 is U+%04X", []rune(mark)[0]), problem.Message)
			}
		}
	}
	for _, plain := range []string{
		"INC-4711: גישה", "INC-4711: Prüfung – „Zugang“", "INC-4711: می\u200cخواهم", "INC-4711: क्\u200dष", "INC-4711: ❤\ufe0f",
		"INC-4711: Benutzer\u00adkonto", "INC-4711:\u00a0x", "INC-4711: \u0600\u0661",
	} {
		for name, kind := range kinds {
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

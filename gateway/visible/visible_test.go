package visible_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/visible"
)

func TestHiddenCharactersAreWrittenOut(t *testing.T) {
	for value, want := range map[string]string{
		"Müller 日本 😀":         "Müller 日本 😀",
		"a\u202egnp.exe":      `a\u202egnp.exe`,
		"krb\u200btgt":        `krb\u200btgt`,
		"co\u00adburg\u00a0x": `co\u00adburg\u00a0x`,
		"\x1b[31mred\u009b0m": `\u001b[31mred\u009b0m`,
		"one\ntwo\r\tthree":   `one\u000atwo\u000d\u0009three`,
		"tag \U000e0041":      `tag \udb40\udc41`,
		"\u3164\u2800\uffa0":  `\u3164\u2800\uffa0`,
		"wide\u3000space":     `wide\u3000space`,
		"\ufdd0\U0001ffff":    `\ufdd0\ud83f\udfff`,
		"not text \xff":       "not text \ufffd",
	} {
		assert.Equal(t, want, visible.Text(value), "%q", value)
	}
	for r := range rune(unicode.MaxRune + 1) {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			require.True(t, visible.Hidden(r), "%U", r)
		}
		if visible.Directs(r) {
			require.True(t, visible.Hidden(r), "%U", r)
			require.True(t, visible.Unseen(r), "%U", r)
		}
	}
	assert.True(t, visible.Mirrored("שלום"))
	assert.True(t, visible.Mirrored("a سلام"))
	assert.False(t, visible.Mirrored("Müller 日本 ✓"))
}

// TestWhatIsWrittenControlsNoTerminal: hidden characters are escaped, even if pieces end within a
// character.
func TestWhatIsWrittenControlsNoTerminal(t *testing.T) {
	const text = "name\u202e\x1b[2J\u009b1m\tend\r\nü😀\rx\n"
	const want = "name\\u202e\\u001b[2J\\u009b1m\tend\nü😀\\u000dx\n"
	var whole, pieces bytes.Buffer
	_, err := visible.Writer(&whole).Write([]byte(text))
	require.NoError(t, err)
	assert.Equal(t, want, whole.String())
	w := visible.Writer(&pieces)
	for _, c := range []byte(text) {
		n, err := w.Write([]byte{c})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	assert.Equal(t, want, pieces.String())

	var encoded bytes.Buffer
	require.NoError(t, json.NewEncoder(visible.Writer(&encoded)).Encode(text))
	assert.NotContains(t, encoded.String(), "\u202e")
	var back string
	require.NoError(t, json.Unmarshal(encoded.Bytes(), &back))
	assert.Equal(t, text, back)

	_, err = visible.Writer(failing{}).Write([]byte("\x1b"))
	require.Error(t, err)
	assert.Same(t, &whole, visible.Raw(visible.Writer(&whole)))
	assert.Same(t, &whole, visible.Raw(&whole))
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, assert.AnError }

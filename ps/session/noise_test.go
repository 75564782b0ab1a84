package session

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCaptureMasksSecretsInEverySpelling(t *testing.T) {
	const secret = `p"ä\ss`
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	line := ps.EncodeRequest("1", "Set-X", ps.Args{"Password": ps.Secret(secret), "Name": ps.Text("x")})
	cases := []struct{ name, text string }{
		{"in clear", "before " + secret + " after"},
		{"as sent", "before " + encoded + " after"},
		{"as JSON", "before " + string(quoted) + " after"},
		{"the whole line", line},
		{"twice", secret + secret},
		{"wrapped by the console host", "before " + encoded[:4] + "\r\n" + encoded[4:] + " after"},
		{"wrapped with a margin", "before " + encoded[:4] + "\r\n     | " + encoded[4:] + " after " + secret[:3] + "\n" + secret[3:]},
		{"where the kept text ends", strings.Repeat("x", keepNoise-3) + secret + "y"},
		{"just behind the kept text", strings.Repeat("x", keepNoise) + secret},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var kept capture
			kept.guard(lineSecrets(line))
			for i := range len(c.text) { // in pieces, as pipes deliver them
				kept.add([]byte{c.text[i]})
			}
			text, total := kept.take()
			assert.EqualValues(t, len(c.text), total)
			assert.LessOrEqual(t, len(text), keepNoise)
			for _, spelt := range []string{secret, encoded, `p\"`, `p"`, encoded[4:]} {
				assert.NotContains(t, text, spelt)
			}
		})
	}
}

func TestCaptureStillMasksTheSecretsOfTheRequestBefore(t *testing.T) {
	var kept capture
	kept.guard([]string{"first"})
	kept.guard([]string{"second"})
	kept.add([]byte("first second third"))
	text, _ := kept.take()
	assert.Equal(t, "*** *** third", text)
	text, total := kept.take()
	assert.Empty(t, text)
	assert.Zero(t, total)
}

func TestASecretInAnotherIsNoWayAroundTheMask(t *testing.T) {
	for _, secrets := range [][]string{{"pass", "password1"}, {"password1", "pass"}} {
		assert.Equal(t, "a ***!", mask("a password1!", secrets))
	}
	assert.Equal(t, "***", mask("aaa", []string{"aa"}))
	assert.Equal(t, "a b", mask("a b", []string{"", " ", "\n"}))
}

func FuzzCapture(f *testing.F) {
	f.Add("secret", "a secret b", 3)
	f.Add("s", strings.Repeat("s", 9000), 100)
	f.Add("aa", "aaa", 1)
	f.Fuzz(func(t *testing.T, secret, text string, piece int) {
		if secret == "" || strings.ContainsAny(secret, "* \t\r\n|\uFFFD") || !utf8.ValidString(secret) {
			return // what the mask, the trimming or the repair of UTF-8 could spell again
		}
		var kept capture
		kept.guard([]string{secret})
		size := max(1, piece%1000)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			kept.add([]byte(rest[:n]))
			rest = rest[n:]
		}
		got, total := kept.take()
		require.EqualValues(t, len(text), total)
		require.NotContains(t, got, secret)
		require.LessOrEqual(t, len(got), keepNoise+2*utf8.UTFMax)
	})
}

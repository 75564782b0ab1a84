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

func TestCaptureMasksSecretsInEveryEncoding(t *testing.T) {
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
			for i := range len(c.text) { // in pieces, as from a pipe
				kept.add([]byte{c.text[i]})
			}
			text, total := kept.take()
			assert.EqualValues(t, len(c.text), total)
			assert.LessOrEqual(t, len(text), keepNoise)
			for _, spelled := range []string{secret, encoded, `p\"`, `p"`, encoded[4:]} {
				assert.NotContains(t, text, spelled)
			}
		})
	}
}

func TestCaptureStillMasksThePreviousRequestsSecrets(t *testing.T) {
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

// Standard error arrives independently of requests. A request may end, and the next one
// start, in the middle of a secret.
func TestCaptureMasksASecretInPieces(t *testing.T) {
	const secret = "s3cret pässword"
	line := ps.EncodeRequest("1", "Set-X", ps.Args{"Password": ps.Secret(secret)})
	for _, spelled := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
		for cut := 1; cut < len(spelled); cut++ {
			for _, before := range []string{"before ", strings.Repeat("x", 2*keepNoise)} {
				var kept capture
				kept.guard(lineSecrets(line))
				first, _ := kept.captured(before + spelled[:cut])
				assert.Equal(t, len(before) < keepNoise, strings.HasSuffix(first, "e ***"), first[max(0, len(first)-40):])
				kept.guard([]string{"another one"})
				second, _ := kept.captured(spelled[cut : cut+1])
				assert.Equal(t, "***", second)
				third, total := kept.captured(spelled[cut+1:] + " after")
				assert.Equal(t, strings.Repeat("*** ", min(1, len(spelled)-cut-1))+"after", third)
				assert.EqualValues(t, len(spelled)-cut-1+len(" after"), total)
			}
		}
	}
}

func (c *capture) captured(text string) (string, int64) {
	c.add([]byte(text))
	return c.take()
}

// Because masking shortens the text, more text than the limit is kept, and that text may end inside a secret.
func TestSecretsAreMaskedAtTheEndOfTheCapture(t *testing.T) {
	var kept capture
	kept.guard([]string{"password1"})
	text, _ := kept.captured(strings.Repeat("password1", keepNoise))
	assert.Equal(t, "***", text)
}

func TestOverlappingSecretsAreMasked(t *testing.T) {
	for _, secrets := range [][]string{{"pass", "password1"}, {"password1", "pass"}} {
		assert.Equal(t, "a ***!", mask("", "a password1!", secrets))
	}
	assert.Equal(t, "***", mask("", "aaa", []string{"aa"}))
	assert.Equal(t, "\x1b***!", mask("", "\x1bS3cret!", []string{"S3cret"}), "no escape sequence")
	assert.Equal(t, "a b", mask("", "a b", []string{"", " ", "\n"}))
}

func FuzzCapture(f *testing.F) {
	f.Add("secret", "a secret b", 3)
	f.Add("s", strings.Repeat("s", 9000), 100)
	f.Add("aa", "aaa", 1)
	f.Fuzz(func(t *testing.T, secret, text string, piece int) {
		if secret == "" || strings.ContainsAny(secret, "* \t\r\n|\x1b\uFFFD") || !utf8.ValidString(secret) {
			// These inputs are not checked: masking, trimming or replacing invalid UTF-8 could reproduce
			// the secret, an escape begins a sequence, and no accepted secret contains control characters.
			return
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

		if len(text) > keepNoise {
			return // truncated elsewhere
		}
		at := size % (len(secret) + 1)
		first, _ := kept.captured(text + secret[:at])
		second, _ := kept.captured(secret[at:] + text)
		require.NotContains(t, first+second, secret)
	})
}

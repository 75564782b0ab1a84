package session

import (
	"encoding/base64"
	"strings"
	"testing"

	"adgateway/ps"

	"github.com/stretchr/testify/assert"
)

// Windows PowerShell writes to a pipe in the computer's OEM code page, and other programs in
// its ANSI code page. A character that the page lacks becomes '?' or a similar one.
func TestSecretsAreMaskedInOtherCodePages(t *testing.T) {
	for _, c := range []struct{ name, secret, text string }{
		{"CP437", "pässwörd", "p\x84ssw\x94rd"},
		{"CP850", "Øresund-ø9", "\x9dresund-\x9b9"},
		{"Windows-1252", "pässwörd’s", "p\xe4ssw\xf6rd\x92s"},
		{"CP437, short", "äß", "\x84\xe1"},
		{"CP866", "пароль", "\xaf\xa0\xe0\xae\xab\xec"},
		{"replaced by question marks", "pāsswōrd€", "p?ssw?rd?"},
		{"nothing but question marks", "пароль", "??????"},
		{"letters that look alike", "pāsswōrd", "password"},
		{"only letters that look alike", "ĀŌŠ", "AOS"},
		{"quotes and dashes that look alike", "it’s – fine", "it's - fine"},
		{"a letter that stands for another", "smørrebrød", "sm\xedrrebr\xedd"},
		{"full width", "ｐａｓｓword1", "password1"},
		{"a pair, as two", "p4ss😀word", "p4ss??word"},
		{"a pair, as one", "p4ss😀word", "p4ss?word"},
		{"mixed", "pä€ss", "p\x84?ss"},
		{"wrapped", "pässwörd", "p\x84s\r\n  | sw\x94rd"},
		{"colored", "pässwörd", "p\x84\x1b[31mss\x1b[0mw\x94rd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := ps.EncodeRequest("1", "Set-X", ps.Args{"Password": ps.Secret(c.secret)})
			var kept capture
			kept.guard(lineSecrets(line))
			text, _ := kept.captured("before " + c.text + " after")
			assert.Equal(t, "before *** after", text)
			for cut := 1; cut < len(c.text); cut++ { // one request ends in the middle of the secret
				kept.guard(lineSecrets(line))
				first, _ := kept.captured("before " + c.text[:cut])
				second, _ := kept.captured(c.text[cut:] + " after")
				first, second = inserted.ReplaceAllString(first, ""), inserted.ReplaceAllString(second, "")
				assert.Equal(t, "before***", first, "%q", c.text[:cut])
				assert.Contains(t, []string{"***after", "after"}, second, "%q", c.text[cut:])
			}
		})
	}
}

func TestSecretsAreMaskedWithEscapeSequencesWithin(t *testing.T) {
	const secret = "s3cret-p4ss"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, text := range []string{
		"s3cret\x1b[0m-p4ss",
		"s\x1b[31m3\x1b[32mc\x1b[33mr\x1b[34me\x1b[35mt\x1b[36m-\x1b[37mp\x1b[38;5;200m4\x1b[38;2;1;2;3ms\x1b[0ms",
		"s3cret\x1b]0;a title\a-p4ss",
		"s3cret\x1b]8;;https://x\x1b\\-p4ss",
		"s3cret\x1b(B-p4ss",
		"s3cret\x1b[?25l-p4ss",
		"s3cret\x1bM-p4ss",
		"s3cret\x1b[31m\r\n\x1b[36;1m     | \x1b[31m-p4ss",
		encoded[:5] + "\x1b[0m" + encoded[5:],
	} {
		line := ps.EncodeRequest("1", "Set-X", ps.Args{"Password": ps.Secret(secret)})
		var kept capture
		kept.guard(lineSecrets(line))
		got, _ := kept.captured("before " + text + " after")
		assert.Equal(t, "before *** after", got, "%q", text)
		for cut := 1; cut < len(text); cut++ {
			first, _ := kept.captured("before " + text[:cut])
			second, _ := kept.captured(text[cut:] + " after")
			for _, part := range []string{secret[:4], secret[5:], encoded[:4], encoded[6:]} {
				assert.NotContains(t, first+second, part, "%q", text[:cut])
			}
		}
	}
}

func TestSecretsAreMaskedAsXMLAndAsWindowsPowerShellsJSON(t *testing.T) {
	line := ps.EncodeRequest("1", "Set-X", ps.Args{"Password": ps.Secret(`it's <"&">`)})
	for _, text := range []string{`it\u0027s \u003c\"\u0026\"\u003e`, `it&#39;s &lt;&#34;&amp;&#34;&gt;`} {
		assert.Equal(t, "a *** b", mask("", "a "+text+" b", lineSecrets(line)))
	}
}

// Text that is not a secret is not masked, even if it has the length of a secret or contains some of its
// characters.
func TestOtherTextIsNotMasked(t *testing.T) {
	for secret, text := range map[string]string{
		"пароль":   "ordinary text, what else?",
		"pässwörd": "pastword pastw?rd p?stw?rd",
		"äöü":      "?? ao ok",
		"ｐａｓｓword": "a word, the end",
	} {
		assert.Equal(t, text+".", mask("", text+".", []string{secret}), secret)
	}
}

func TestSecretsAreMaskedInErrors(t *testing.T) {
	secrets := []string{"pässword", "s3cret"}
	a := &answer{
		failure: &ps.Error{Message: "cannot set 'p\x84ssword'", Detail: "0000052D: s3cr\x1b[0met"},
		result:  &ps.Result{Failures: []ps.Failure{{Error: ps.Error{Message: "p?ssword"}}}},
	}
	maskAnswer(a, secrets)
	assert.Equal(t, "cannot set '***'", a.failure.Message)
	assert.Equal(t, "0000052D: ***", a.failure.Detail)
	assert.Equal(t, "***", a.result.Failures[0].Error.Message)

	ours := &ps.Error{Gateway: "not_found", Message: "The user 's3cret' was not found."}
	maskError(ours, secrets)
	assert.Equal(t, "The user 's3cret' was not found.", ours.Message, "it is a name that the caller has given")
}

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("some words that a module writes ", keepNoise/32)
	line := ps.EncodeRequest("1", "Set-X", ps.Args{"Password": ps.Secret("pässwörd’s-ürsprung-42")})
	secrets := lineSecrets(line)
	for b.Loop() {
		mask("", text, secrets)
	}
}

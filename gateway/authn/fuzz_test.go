package authn

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/identity"
)

func FuzzDigestOf(f *testing.F) {
	f.Add(NewToken())
	f.Add("adgw_")
	f.Add(TokenPrefix + strings.Repeat("0", randomLength+sumLength))
	f.Fuzz(func(t *testing.T, text string) {
		sum, ok := digestOf(text)
		if ok && (len(text) != tokenLength || !strings.HasPrefix(text, TokenPrefix)) {
			t.Fatalf("%q is taken for a token", text)
		}
		if !ok && sum != (digest{}) {
			t.Fatalf("%q has a digest and is no token", text)
		}
		if ok {
			last := byte('0')
			if text[tokenLength-1] == last {
				last = '1'
			}
			if _, ok := digestOf(text[:tokenLength-1] + string(last)); ok {
				t.Fatalf("%q has two checksums", text)
			}
		}
	})
}

// FuzzParseDocument: an accepted document is unchanged after it has been written and read again, and every
// fault names a line of the file.
func FuzzParseDocument(f *testing.F) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	d := &Document{Version: formatVersion}
	addToken(d, now, "portal", Rights{Scopes: []string{"*"}, Networks: []string{"10.0.0.0/8"},
		Limits: &identity.Limits{OUs: []string{"OU=a,DC=b"}}, Quota: &identity.Quota{Rate: "1/s"}})
	addUser(d, now, "anna", rights())
	text, err := json.Marshal(d)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"version":1}`)
	f.Add("{\"version\":1,\n\"tokens\":[null,{}],\"tokens\":[]}")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDocument("f", []byte(text))
		if (d == nil) == (err == nil) {
			t.Fatalf("document %v together with error %v", d, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("no line: %v", err)
			}
			return
		}
		again, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseDocument("f", again); err != nil {
			t.Fatalf("written, it is refused: %v\n%s", err, again)
		}
	})
}

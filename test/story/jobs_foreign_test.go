package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestFormulasOfAnotherCredential: the submitter of a list downloads it unchanged. For anybody else, no cell
// of the download is a formula.
func TestFormulasOfAnotherCredential(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	for media, list := range map[string]string{
		csvMedia:  "Id;Username;Description;MobilePhone\n=1+cmd|calc;aschmidt;=cmd|'/c calc'!A0;+49 1\n",
		jsonLines: `{"id":"=1+cmd|calc","parameters":{"Username":"aschmidt","Description":"=cmd|'/c calc'!A0","MobilePhone":"+49 1"}}`,
	} {
		job := submit(media, list, "Operation", "user.update", "NotBefore", "2099-01-01T00:00:00Z")
		a := s.Do(job.As(systemtest.PlainToken))
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		path := "/api/Jobs/" + a.Envelope.Result[0]["id"].(string) + "/Result"
		for token, apostrophe := range map[string]string{systemtest.PlainToken: "", systemtest.AllToken: "'"} {
			r := get(t, s, path+"?Format=csv")
			r.Header.Set("Auth-Token", "Bearer "+token)
			result := s.Send(r)
			require.Equal(t, http.StatusOK, result.Status, "%s", result.Body)
			for _, cell := range []string{"=1+cmd|calc", "=cmd|'/c calc'!A0", "+49 1"} {
				assert.Regexp(t, `(?m)(^|[;,"])`+apostrophe+`[`+cell[:1]+`]`, string(result.Body), token)
				assert.Contains(t, string(result.Body), apostrophe+cell, token)
			}
			if apostrophe != "" {
				assert.NotRegexp(t, `(?m)(^|[;,"])[=+]`, string(result.Body))
			}
		}
	}
}

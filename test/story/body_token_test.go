package story

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestTheCredentialInTheBody: a form or a JSON object may contain the credential, under the
// same rules as headers.
func TestTheCredentialInTheBody(t *testing.T) {
	const form, js = "application/x-www-form-urlencoded", "application/json"
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, c := range map[string]struct {
		contentType, body, header string
		status                    int
		code                      string
	}{
		"form":                  {form, "City=a&Auth-Token=Bearer+" + systemtest.AllToken, "", 200, ""},
		"form, any case":        {form, "AUTH-token=bearer%20" + systemtest.AllToken + "&City=b", "", 200, ""},
		"JSON":                  {js, `{"City":"c","Auth-Token":"Bearer ` + systemtest.AllToken + `"}`, "", 200, ""},
		"the same in header":    {js, `{"City":"d","auth-token":"Bearer ` + systemtest.AllToken + `"}`, "Bearer " + systemtest.AllToken, 200, ""},
		"another in header":     {js, `{"City":"e","Auth-Token":"Bearer ` + systemtest.PlainToken + `"}`, "Bearer " + systemtest.AllToken, 400, "invalid_request"},
		"another, form":         {form, "Auth-Token=Bearer+x", "Bearer " + systemtest.AllToken, 400, "invalid_request"},
		"twice":                 {form, "Auth-Token=Bearer+" + systemtest.AllToken + "&Auth-Token=Bearer+" + systemtest.AllToken, "", 400, "invalid_request"},
		"twice in JSON":         {js, `{"Auth-Token":"Bearer ` + systemtest.AllToken + `","auth-token":"Bearer ` + systemtest.AllToken + `"}`, "", 400, "invalid_request"},
		"unknown":               {form, "Auth-Token=Bearer+nobody", "", 401, "unauthenticated"},
		"no scheme":             {js, `{"Auth-Token":"` + systemtest.AllToken + `"}`, "", 401, "unauthenticated"},
		"not a text":            {js, `{"Auth-Token":7}`, "", 401, "unauthenticated"},
		"no JSON":               {js, `{"Auth-Token":"Bearer ` + systemtest.AllToken + `"`, "", 401, "unauthenticated"},
		"none":                  {js, `{"City":"x"}`, "", 401, "unauthenticated"},
		"another type":          {"text/plain", "Auth-Token=Bearer+" + systemtest.AllToken, "", 401, "unauthenticated"},
		"without the scope":     {form, "City=x&Auth-Token=Bearer+" + systemtest.ReadToken, "", 403, "forbidden"},
		"too long to look into": {form, "Auth-Token=Bearer+" + systemtest.AllToken + "&City=" + strings.Repeat("x", 20_000), "", 401, "unauthenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			headers := map[string]string{"Content-Type": c.contentType}
			if c.header != "" {
				headers["Auth-Token"] = c.header
			}
			a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt", Token: "none",
				Raw: strings.NewReader(c.body), Headers: headers})
			assert.Equal(t, c.status, a.Status, "%s", a.Body)
			if c.code != "" {
				assert.Equal(t, c.code, a.Envelope.Error.Code)
			}
			assert.NotContains(t, string(a.Body), "Bearer "+systemtest.AllToken)
		})
	}
	assert.NotContains(t, s.Log.String(), "Bearer "+systemtest.AllToken)
	s.Rejects(systemtest.Call{Method: http.MethodGet,
		Path: "/api/OU/All?Auth-Token=Bearer+" + systemtest.AllToken, Token: "none"}, http.StatusBadRequest,
		"invalid_request")
}

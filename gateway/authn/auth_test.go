package authn_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

func basic(text string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(text))
}

func TestAuthenticate(t *testing.T) {
	newStatic := func(t *testing.T, header authn.Header) *authn.Static {
		s := authn.NewStatic(header)
		require.NoError(t, s.AddToken("tok-1", &identity.Principal{Name: "one"}))
		require.NoError(t, s.AddUser("p:ä w", &identity.Principal{Name: "Anna"}))
		return s
	}
	type headers map[string][]string
	for name, c := range map[string]struct {
		headers headers
		query   []string
		allow   bool
		want    string
		code    schema.Code
		reason  string // part of the reason, if it is not authenticated
	}{
		"bearer":                       {headers: headers{"Auth-Token": {"Bearer tok-1"}}, want: "one"},
		"bearer in Authorization":      {headers: headers{"Authorization": {"Bearer tok-1"}}, want: "one"},
		"scheme in any case":           {headers: headers{"Auth-Token": {"bEARER  tok-1"}}, want: "one"},
		"same value in both":           {headers: headers{"Auth-Token": {"Bearer tok-1"}, "Authorization": {"Bearer tok-1"}}, want: "one"},
		"basic":                        {headers: headers{"Auth-Token": {basic("anna:p:ä w")}}, want: "Anna"},
		"different values":             {headers: headers{"Auth-Token": {"Bearer tok-1"}, "Authorization": {"Bearer x"}}, code: schema.InvalidRequest},
		"header twice":                 {headers: headers{"Auth-Token": {"Bearer tok-1", "Bearer tok-1"}}, code: schema.InvalidRequest},
		"nothing":                      {code: schema.Unauthenticated, reason: "no credential"},
		"unknown token":                {headers: headers{"Auth-Token": {"Bearer tok-2"}}, code: schema.Unauthenticated, reason: "token is unknown"},
		"token in other case":          {headers: headers{"Auth-Token": {"Bearer TOK-1"}}, code: schema.Unauthenticated},
		"no scheme":                    {headers: headers{"Auth-Token": {"tok-1"}}, code: schema.Unauthenticated, reason: "scheme"},
		"empty token":                  {headers: headers{"Auth-Token": {"Bearer "}}, code: schema.Unauthenticated, reason: "nothing follows"},
		"other scheme":                 {headers: headers{"Auth-Token": {"Digest tok-1"}}, code: schema.Unauthenticated, reason: "neither Bearer nor Basic"},
		"basic not base64":             {headers: headers{"Auth-Token": {"Basic ***"}}, code: schema.Unauthenticated, reason: "base64"},
		"basic without colon":          {headers: headers{"Auth-Token": {basic("anna")}}, code: schema.Unauthenticated, reason: "colon"},
		"basic without name":           {headers: headers{"Auth-Token": {basic(":p:ä w")}}, code: schema.Unauthenticated},
		"basic unknown user":           {headers: headers{"Auth-Token": {basic("berta:p:ä w")}}, code: schema.Unauthenticated},
		"basic wrong password":         {headers: headers{"Auth-Token": {basic("anna:")}}, code: schema.Unauthenticated, reason: "password is wrong"},
		"query refused":                {query: []string{"Bearer tok-1"}, code: schema.InvalidRequest},
		"query rejected with a header": {headers: headers{"Auth-Token": {"Bearer tok-1"}}, query: []string{"Bearer tok-1"}, code: schema.InvalidRequest},
		"query allowed, not readable":  {query: []string{""}, allow: true, code: schema.Unauthenticated},
		"query allowed":                {query: []string{"Bearer tok-1"}, allow: true, want: "one"},
		"query allowed, twice":         {query: []string{"Bearer tok-1", "Bearer tok-1"}, allow: true, code: schema.InvalidRequest},
		"query differs from header":    {headers: headers{"Auth-Token": {"Bearer tok-1"}}, query: []string{"Bearer x"}, allow: true, code: schema.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			credential := authn.Credential{AuthToken: c.headers["Auth-Token"],
				Authorization: c.headers["Authorization"], Query: c.query}
			p, err := newStatic(t, authn.Header{AllowQuery: c.allow}).Authenticate(t.Context(), credential)
			if c.code != "" {
				var refusal *authn.Refusal
				require.True(t, errors.As(err, &refusal), "%v", err)
				assert.Equal(t, c.code, refusal.Code)
				assert.NotContains(t, refusal.Message+refusal.Reason, "tok-")
				assert.Equal(t, c.code == schema.Unauthenticated, refusal.Reason != "", "for the log")
				assert.Contains(t, refusal.Reason, c.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, p.Name)
		})
	}
}

func TestStaticRejectsUnusableEntries(t *testing.T) {
	s := authn.NewStatic(authn.Header{})
	p := &identity.Principal{Name: "a"}
	require.NoError(t, s.AddToken("t", p))
	assert.ErrorContains(t, s.AddToken("t", p), "twice")
	assert.Error(t, s.AddToken("", p))
	assert.Error(t, s.AddToken("a b", p), "could never be sent")
	require.NoError(t, s.AddUser("w", p))
	assert.ErrorContains(t, s.AddUser("w", &identity.Principal{Name: "A"}), "twice")
	assert.Error(t, s.AddUser("w", &identity.Principal{Name: "a:b"}), "could never be sent")
	assert.Error(t, s.AddUser("", &identity.Principal{Name: "c"}))
}

func TestScopes(t *testing.T) {
	scopes, err := identity.ParseScopes([]string{"user:read", " dns:write ", "user:read"})
	require.NoError(t, err)
	assert.Equal(t, []identity.Scope{identity.UserRead, identity.DNSWrite}, scopes)
	_, err = identity.ParseScopes([]string{"user:reed", "", "*"})
	assert.ErrorContains(t, err, `"user:reed" (did you mean user:read?), ""`)
}

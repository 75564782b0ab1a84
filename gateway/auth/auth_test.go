package auth_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"adgateway/gateway/auth"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func basic(text string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(text))
}

func TestAuthenticate(t *testing.T) {
	newStatic := func(t *testing.T, header auth.Header) *auth.Static {
		s := auth.NewStatic(header)
		require.NoError(t, s.AddToken("tok-1", &auth.Principal{Name: "one"}))
		require.NoError(t, s.AddUser("p:ä w", &auth.Principal{Name: "Anna"}))
		return s
	}
	type headers map[string][]string
	for name, c := range map[string]struct {
		headers headers
		query   string
		allow   bool
		want    string
		status  int
		reason  string // with 401: part of the reason
	}{
		"bearer":                       {headers: headers{"Auth-Token": {"Bearer tok-1"}}, want: "one"},
		"bearer in Authorization":      {headers: headers{"Authorization": {"Bearer tok-1"}}, want: "one"},
		"scheme in any case":           {headers: headers{"Auth-Token": {"bEARER  tok-1"}}, want: "one"},
		"same value in both":           {headers: headers{"Auth-Token": {"Bearer tok-1"}, "Authorization": {"Bearer tok-1"}}, want: "one"},
		"basic":                        {headers: headers{"Auth-Token": {basic("anna:p:ä w")}}, want: "Anna"},
		"different values":             {headers: headers{"Auth-Token": {"Bearer tok-1"}, "Authorization": {"Bearer x"}}, status: 400},
		"header twice":                 {headers: headers{"Auth-Token": {"Bearer tok-1", "Bearer tok-1"}}, status: 400},
		"nothing":                      {status: 401, reason: "no credential"},
		"unknown token":                {headers: headers{"Auth-Token": {"Bearer tok-2"}}, status: 401, reason: "token is unknown"},
		"token in other case":          {headers: headers{"Auth-Token": {"Bearer TOK-1"}}, status: 401},
		"no scheme":                    {headers: headers{"Auth-Token": {"tok-1"}}, status: 401, reason: "scheme"},
		"empty token":                  {headers: headers{"Auth-Token": {"Bearer "}}, status: 401, reason: "nothing follows"},
		"other scheme":                 {headers: headers{"Auth-Token": {"Digest tok-1"}}, status: 401, reason: "neither Bearer nor Basic"},
		"basic not base64":             {headers: headers{"Auth-Token": {"Basic ***"}}, status: 401, reason: "base64"},
		"basic without colon":          {headers: headers{"Auth-Token": {basic("anna")}}, status: 401, reason: "colon"},
		"basic without name":           {headers: headers{"Auth-Token": {basic(":p:ä w")}}, status: 401},
		"basic unknown user":           {headers: headers{"Auth-Token": {basic("berta:p:ä w")}}, status: 401},
		"basic wrong password":         {headers: headers{"Auth-Token": {basic("anna:")}}, status: 401, reason: "password is wrong"},
		"query refused":                {query: "auth-token=Bearer+tok-1", status: 400},
		"query rejected with a header": {headers: headers{"Auth-Token": {"Bearer tok-1"}}, query: "AUTH-TOKEN=Bearer+tok-1", status: 400},
		"query with a semicolon":       {headers: headers{"Auth-Token": {"Bearer tok-1"}}, query: "Auth-Token=Bearer+x;y", status: 400},
		"query with a broken escape":   {headers: headers{"Auth-Token": {"Bearer tok-1"}}, query: "Auth-Token=%zz", status: 400},
		"query allowed, broken escape": {query: "Auth-Token=%zz", allow: true, status: 401},
		"query allowed":                {query: "Auth-Token=Bearer+tok-1", allow: true, want: "one"},
		"query differs from header":    {headers: headers{"Auth-Token": {"Bearer tok-1"}}, query: "Auth-Token=Bearer+x", allow: true, status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/api/x?"+c.query, nil)
			for key, values := range c.headers {
				r.Header[key] = values
			}
			p, err := newStatic(t, auth.Header{AllowQuery: c.allow}).Authenticate(r, netip.Addr{})
			if c.status != 0 {
				var refusal *auth.Refusal
				require.True(t, errors.As(err, &refusal), "%v", err)
				assert.Equal(t, c.status, refusal.Status)
				assert.NotContains(t, refusal.Message+refusal.Reason, "tok-")
				assert.Equal(t, c.status == 401, refusal.Reason != "", "for the log")
				assert.Contains(t, refusal.Reason, c.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, p.Name)
		})
	}
}

func TestStaticRejectsUnusableEntries(t *testing.T) {
	s := auth.NewStatic(auth.Header{})
	p := &auth.Principal{Name: "a"}
	require.NoError(t, s.AddToken("t", p))
	assert.ErrorContains(t, s.AddToken("t", p), "twice")
	assert.Error(t, s.AddToken("", p))
	assert.Error(t, s.AddToken("a b", p), "could never be sent")
	require.NoError(t, s.AddUser("w", p))
	assert.ErrorContains(t, s.AddUser("w", &auth.Principal{Name: "A"}), "twice")
	assert.Error(t, s.AddUser("w", &auth.Principal{Name: "a:b"}), "could never be sent")
	assert.Error(t, s.AddUser("", &auth.Principal{Name: "c"}))
}

func TestScopes(t *testing.T) {
	scopes, err := auth.ParseScopes([]string{"user:read", " dns:write ", "user:read"})
	require.NoError(t, err)
	assert.Equal(t, []auth.Scope{auth.UserRead, auth.DNSWrite}, scopes)
	_, err = auth.ParseScopes([]string{"user:reed", "", "*"})
	assert.ErrorContains(t, err, `"user:reed" (did you mean user:read?), ""`)

	p := &auth.Principal{Scopes: scopes}
	assert.True(t, p.Has(auth.UserRead))
	assert.False(t, p.Has(auth.DNSRead), "a write scope does not imply the read scope")
	assert.False(t, p.Has(auth.Privileged))
	all := &auth.Principal{Scopes: []auth.Scope{auth.All}}
	for _, scope := range auth.Scopes() {
		assert.True(t, all.Has(scope), scope)
	}
}

package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/test/harness"
)

// TestEveryCredentialHasTheDefaultQuota sends the third removal of a caller that may remove
// two objects an hour unless its quota says otherwise, in every way that a caller is known.
func TestEveryCredentialHasTheDefaultQuota(t *testing.T) {
	q := newQuotas(t)
	scopes := []identity.Scope{identity.UserDelete}
	stored, header := q.stored(authn.Rights{Scopes: []string{"user:delete"}})
	static := authn.NewStatic(authn.Header{})
	require.NoError(t, static.AddToken("of-the-sandbox", &identity.Principal{Name: "token 1", Scopes: scopes}))
	require.NoError(t, static.AddToken("of-the-sandbox-2", &identity.Principal{Name: "token 2", Scopes: scopes, Quota: &identity.Quota{DeletionsPerHour: number(3)}}))
	require.NoError(t, static.AddUser("password", &identity.Principal{Name: "operator", Scopes: scopes}))
	s := harness.New(t, harness.Answering(removedUser, "["+harness.Sample(schema.User)+"]"), func(o *gateway.Options) {
		portal := &identity.Principal{Name: "portal", Kind: identity.KindCertificate, Scopes: scopes}
		o.Auth = certified{authn.Chain{static, stored}, map[string]*identity.Principal{"CN=portal": portal}}
		o.Quotas = identity.NewMeters(identity.Quota{DeletionsPerHour: number(2)}, q.clock)
	})
	signed := func(sign func(*http.Request)) func() int {
		return func() int {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, "/api/ADUser/a", nil)
			sign(r)
			s.Handler().ServeHTTP(w, r)
			return w.Code
		}
	}
	with := func(header string) func() int {
		return signed(func(r *http.Request) { r.Header.Set("Auth-Token", header) })
	}
	inside := func(p *identity.Principal) func() int {
		return func() int {
			_, err := s.Call(t.Context(), "user.delete", call.Call{Principal: p, Input: call.Values{"Username": "a"}})
			if err != nil {
				return problem.Of(err).Code.Status()
			}
			return http.StatusOK
		}
	}
	chain := [][]*x509.Certificate{{{Subject: pkix.Name{CommonName: "portal"}}}}
	for name, c := range map[string]struct {
		remove func() int
		want   int // of the third removal
	}{
		"a token of a store":             {with(header[len("Auth-Token: "):]), http.StatusTooManyRequests},
		"a token of the settings":        {with("Bearer of-the-sandbox"), http.StatusTooManyRequests},
		"a token with a quota":           {with("Bearer of-the-sandbox-2"), http.StatusOK},
		"a user of the settings":         {with("Basic b3BlcmF0b3I6cGFzc3dvcmQ="), http.StatusTooManyRequests},
		"a call inside of the gateway":   {inside(&identity.Principal{Name: "sent", Kind: "token", Scopes: scopes}), http.StatusTooManyRequests},
		"what says that it is uncounted": {inside(&identity.Principal{Name: "free", Scopes: scopes, Uncounted: true}), http.StatusOK},
		"a certificate": {signed(func(r *http.Request) {
			r.TLS = &tls.ConnectionState{VerifiedChains: chain}
		}), http.StatusTooManyRequests},
	} {
		for i := range 3 {
			want := http.StatusOK
			if i == 2 {
				want = c.want
			}
			assert.Equal(t, want, c.remove(), "%s: removal %d", name, i+1)
		}
	}
}

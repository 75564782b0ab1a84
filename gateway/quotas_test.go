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
	"adgateway/ps"
	"adgateway/test/harness"
)

// TestEveryCredentialHasTheDefaultQuota: a caller without its own quota may remove as many objects an hour as
// the default quota allows, no matter which kind of credential it has.
func TestEveryCredentialHasTheDefaultQuota(t *testing.T) {
	q := newQuotas(t)
	scopes := []identity.Scope{identity.UserDelete}
	stored, header := q.stored(authn.Rights{Scopes: []string{"user:delete"}})
	static := authn.NewStatic(authn.Header{})
	require.NoError(t, static.AddToken("of-the-sandbox", &identity.Principal{Name: "token 1", Scopes: scopes}))
	require.NoError(t, static.AddToken("of-the-sandbox-2",
		&identity.Principal{Name: "token 2", Scopes: scopes, Quota: &identity.Quota{DeletionsPerHour: number(3)}}))
	require.NoError(t, static.AddUser("password", &identity.Principal{Name: "operator", Scopes: scopes}))
	s := harness.New(t, harness.Answering(removedUser, "["+harness.Sample(schema.User)+"]"),
		func(o *gateway.Options) {
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
		want   int // status of the third removal
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

// everyCaller maps each kind of caller to a function that returns a new principal for the same caller at each
// call, like the sessions of a person.
var everyCaller = map[string]func(own *identity.Quota) *identity.Principal{
	"token": func(own *identity.Quota) *identity.Principal {
		return &identity.Principal{ID: "4f0c", Name: "same", Kind: identity.KindToken, Quota: own}
	},
	"user": func(own *identity.Quota) *identity.Principal {
		return &identity.Principal{ID: "77aa", Name: "same", Kind: identity.KindUser, Quota: own}
	},
	"certificate": func(own *identity.Quota) *identity.Principal {
		return &identity.Principal{ID: "c3c3", Name: "same", Kind: identity.KindCertificate, Quota: own}
	},
	"token of the sandbox": func(own *identity.Quota) *identity.Principal {
		return &identity.Principal{Name: "same", Kind: identity.KindToken, Quota: own}
	},
	"person": func(own *identity.Quota) *identity.Principal {
		return &identity.Principal{ID: "S-1-5-21-1", Name: "same", Kind: identity.KindPerson, Quota: own}
	},
	"person of another domain": func(own *identity.Quota) *identity.Principal {
		return &identity.Principal{ID: "S-1-5-21-2", Name: "same", Kind: identity.KindPerson, Quota: own}
	},
}

// TestEveryCallerReachesTheSameLimits: the same calls reach the same limits for each kind of caller, with the
// default limit and with the caller's own. A caller's spending does not count for another caller with the
// same name.
func TestEveryCallerReachesTheSameLimits(t *testing.T) {
	q := newQuotas(t)
	changed := ps.Result{Effect: ps.EffectChanged, Changes: []ps.Change{{}}}
	for limit, c := range map[string]struct {
		quota     identity.Quota
		result    ps.Result
		operation string
		input     call.Values
		passing   int
	}{
		"rate":                  {identity.Quota{Rate: "2/m"}, harness.OK, "user.get", call.Values{"Username": "a"}, 2},
		"concurrency":           {identity.Quota{Concurrency: number(0)}, harness.OK, "user.get", call.Values{"Username": "a"}, 0},
		"deletionsPerHour":      {identity.Quota{DeletionsPerHour: number(2)}, removedUser, "user.delete", call.Values{"Username": "a"}, 2},
		"passwordResetsPerHour": {identity.Quota{PasswordResetsPerHour: number(2)}, changed, "user.resetPassword", call.Values{"Username": "a"}, 2},
		"changesPerHour":        {identity.Quota{ChangesPerHour: number(2)}, changed, "user.disable", call.Values{"Username": "a"}, 2},
	} {
		for _, isDefault := range []bool{true, false} {
			defaults, own := identity.Quota{}, &c.quota
			if isDefault {
				defaults, own = c.quota, nil
			}
			runner := harness.Answering(c.result, "["+harness.Sample(schema.User)+"]")
			s := harness.New(t, runner, func(o *gateway.Options) { o.Quotas = identity.NewMeters(defaults, q.clock) })
			for kind, callerOf := range everyCaller {
				for i := range c.passing + 1 {
					caller := callerOf(own)
					caller.Scopes = []identity.Scope{identity.All}
					_, err := s.Call(t.Context(), c.operation, call.Call{Principal: caller, Input: c.input})
					if i < c.passing {
						assert.NoError(t, err, "%s of a %s: call %d", limit, kind, i)
						continue
					}
					failed := problem.Of(err)
					require.NotNil(t, failed, "%s of a %s", limit, kind)
					assert.Equal(t, schema.RateLimited, failed.Code, "%s of a %s: %s", limit, kind, failed.Message)
					assert.Positive(t, failed.RetryAfter)
					require.Len(t, failed.Details, 1)
					assert.Equal(t, limit, failed.Details[0].Field)
				}
			}
		}
	}
}

// TestRolesHaveOneCount: changes that a person makes in one role count in all roles, and each role
// has its own limits.
func TestRolesHaveOneCount(t *testing.T) {
	q := newQuotas(t)
	meters := identity.NewMeters(identity.Quota{}, q.clock)
	role := func(rate identity.Rate, resets int) *identity.Principal {
		quota := &identity.Quota{Rate: rate, PasswordResetsPerHour: number(resets)}
		return meters.Of(&identity.Principal{ID: "S-1", Name: "p", Kind: identity.KindPerson, Quota: quota})
	}
	for range 2 {
		require.NoError(t, role("2/m", 1).Enter(1))
	}
	require.Error(t, role("2/m", 1).Enter(1))
	require.NoError(t, role("3/m", 2).Enter(1), "the other role allows one more")
	require.Error(t, role("3/m", 2).Enter(1))
	for range 2 {
		spent, err := role("3/m", 2).Spend(identity.PasswordReset, 1)
		require.NoError(t, err)
		spent.Settle(1)
	}
	_, err := role("2/m", 1).Spend(identity.PasswordReset, 1)
	assert.Error(t, err)
	_, err = role("2/m", 3).Spend(identity.PasswordReset, 1)
	assert.NoError(t, err)
}

package frame

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// everybody is a directory that accepts every name with any password.
type everybody struct{}

func (everybody) Check(_ context.Context, _, name string, _ []byte) (*signin.Person, error) {
	return &signin.Person{SID: "S-1", Name: name}, nil
}

func (everybody) Accept(context.Context, negotiate.Token) (*signin.Person, []byte, error) {
	return nil, nil, signin.ErrUnsupported
}

func (everybody) Groups(context.Context, string) (*signin.Person, error) {
	return &signin.Person{SID: "S-1"}, nil
}

// TestOpenPagesDoNotKeepASession: a page that refreshes itself uses the person's session, but does not
// prolong it.
func TestOpenPagesDoNotKeepASession(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	gate := signin.NewGate(signin.Options{
		Directory: everybody{}, Roles: []signin.Role{{}},
		Record: func(signin.Event) {}, Now: func() time.Time { return now },
	})
	id, err := gate.Password(t.Context(), "anna", []byte("right"), netip.MustParseAddr("192.0.2.1"), "")
	require.NoError(t, err)
	p := &Pages{Options: Options{Gate: gate}}
	ask := func(renews bool) *signin.Session {
		r := httptest.NewRequest(http.MethodGet, "/ui/jobs/1", nil)
		r.AddCookie(&http.Cookie{Name: plainCookie, Value: id})
		if renews {
			r.Header.Set(renewHeader, "1")
		}
		session, err := p.session(r)
		require.NoError(t, err)
		return session
	}
	now = now.Add(10 * time.Minute)
	require.NotNil(t, ask(false), "a person has asked")
	now = now.Add(10 * time.Minute)
	require.NotNil(t, ask(true))
	now = now.Add(6 * time.Minute)
	assert.Nil(t, ask(true))
	script, err := Files.ReadFile("assets/console.js")
	require.NoError(t, err)
	assert.Contains(t, string(script), `"`+renewHeader+`": "1"`)
}

// checker is an authenticator that accepts every token, or refuses it with err.
type checker struct{ err error }

func (c *checker) Authenticate(context.Context, authn.Credential) (*identity.Principal, error) {
	return &identity.Principal{ID: "1", Name: "desk", Kind: identity.KindToken}, c.err
}

// silent is an API that nobody calls.
type silent struct{ API }

func (silent) Proved(*http.Request) {}

// TestATokenThatCannotBeChecked: while the credentials cannot be read, nobody knows whether the token of a
// session is still valid. The session goes on, and ends only once the token is known to be revoked.
func TestATokenThatCannotBeChecked(t *testing.T) {
	tokens := &checker{}
	gate := signin.NewGate(signin.Options{Tokens: tokens})
	client := netip.MustParseAddr("192.0.2.1")
	id, err := gate.Token(t.Context(), "token", client)
	require.NoError(t, err)
	p := NewPages(Options{
		API: silent{}, Gate: gate, Client: func(*http.Request) netip.Addr { return client }, Unencrypted: true,
	}, Console{})
	p.Get("/ui/mine", func(c *Visit) { c.W.WriteHeader(http.StatusNoContent) })
	ask := func(r *http.Request) *httptest.ResponseRecorder {
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
		r.AddCookie(&http.Cookie{Name: plainCookie, Value: id})
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w
	}
	mine := func() *http.Request { return httptest.NewRequest(http.MethodGet, "/ui/mine", nil) }
	signIn := func() *http.Request {
		typed := url.Values{"token": {"token"}, "form": {gate.FormToken(id)}}.Encode()
		r := httptest.NewRequest(http.MethodPost, "/ui/signin", strings.NewReader(typed))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	for _, code := range []schema.Code{schema.Unavailable, schema.Overloaded} {
		tokens.err = &authn.Refusal{Code: code}
		for _, r := range []*http.Request{mine(), signIn()} {
			w := ask(r)
			assert.Equal(t, http.StatusServiceUnavailable, w.Code, "%s %s", code, r.URL)
			assert.NotEmpty(t, w.Header().Get("Retry-After"))
			assert.Contains(t, w.Body.String(), "The file of tokens cannot be read")
		}
		tokens.err = nil
		assert.Equal(t, http.StatusNoContent, ask(mine()).Code, "%s", code)
	}
	tokens.err = &authn.Refusal{Code: schema.Unauthenticated}
	assert.Equal(t, http.StatusUnauthorized, ask(mine()).Code)
	tokens.err = nil
	assert.Equal(t, http.StatusUnauthorized, ask(mine()).Code, "the session has ended")
}

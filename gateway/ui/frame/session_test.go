package frame

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
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

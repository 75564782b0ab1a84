package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestDefaultsHoldForTheSandboxsOwnCredentials: auth.deletionsPerHour and auth.rate also
// apply to tokens that are not in a store.
func TestDefaultsHoldForTheSandboxsOwnCredentials(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{}, "auth.deletionsPerHour=2", "auth.rate=20/h")
	user := func(method, name string) systemtest.Call {
		return systemtest.Call{Method: method, Path: "/api/ADUser/" + name, Token: systemtest.AllToken}
	}
	for _, name := range []string{"limit.one", "limit.two", "limit.three"} {
		s.OK(user(http.MethodPost, name), http.StatusCreated)
	}
	s.OK(user(http.MethodDelete, "limit.one"), http.StatusOK)
	s.OK(user(http.MethodDelete, "limit.two"), http.StatusOK)
	refused := s.Do(user(http.MethodDelete, "limit.three"))
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Contains(t, refused.Envelope.Output, "may remove 2 objects an hour and has 0 left")
	s.OK(user(http.MethodDelete, "limit.three").As(systemtest.PlainToken), http.StatusOK)
	details := user(http.MethodGet, "aschmidt/Details")
	for range 14 {
		s.OK(details, http.StatusOK)
	}
	refused = s.Do(details)
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Contains(t, refused.Envelope.Output, "20 at once and one every 3m0s on average")
}

package frame

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// denying is an API that denies all calls.
type denying struct {
	API
	outcome ps.Outcome
	calls   int
}

func (d *denying) Call(context.Context, string, call.Call) (call.Answer, error) {
	d.calls++
	denied := problem.New(schema.DirectoryDenied, "The directory denies access.")
	denied.Outcome = d.outcome
	return call.Answer{}, denied
}

// TestAChangeIsTriedInAnotherRole: a call is made in the next role only if nothing was done in the first one.
func TestAChangeIsTriedInAnotherRole(t *testing.T) {
	for outcome, calls := range map[ps.Outcome]int{
		"": 2, ps.OutcomeNone: 2, ps.OutcomePartial: 1, ps.OutcomeUnknown: 1,
	} {
		api := &denying{outcome: outcome}
		pages := &Pages{Options: Options{API: api, Client: func(*http.Request) netip.Addr { return netip.Addr{} }}}
		c := &Visit{
			Pages: pages, R: httptest.NewRequest(http.MethodPost, "/", nil),
			Principals: []*identity.Principal{{Name: "one"}, {Name: "other"}},
		}
		assert.Equal(t, http.StatusForbidden, c.Call("user.update", nil).Status, outcome)
		assert.Equal(t, calls, api.calls, outcome)
	}
}

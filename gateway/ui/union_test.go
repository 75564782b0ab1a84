package ui

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/work"
)

// ofRoles is an API that refuses the calls of some roles, by the name of the role.
type ofRoles struct {
	given
	refuses map[string]*problem.Error
}

func (o ofRoles) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	if failed := o.refuses[c.Principal.Name]; failed != nil {
		return call.Answer{}, failed
	}
	return o.given.Call(ctx, operation, c)
}

// TestALimitOfOneRoleFailsTheList: a list omits the records that a role may not see, but if one role has
// reached a limit, the whole list fails.
func TestALimitOfOneRoleFailsTheList(t *testing.T) {
	limit := problem.New(schema.RateLimited, "The role 'Berlin' may make 20 calls a minute (rate).")
	for name, c := range map[string]struct {
		refusal *problem.Error
		status  int
	}{
		"a limit":    {limit, http.StatusTooManyRequests},
		"no right":   {problem.New(schema.Forbidden, "No."), http.StatusOK},
		"not there":  {problem.New(schema.NotFound, "No."), http.StatusOK},
		"no session": {problem.New(schema.Overloaded, "Busy."), http.StatusServiceUnavailable},
	} {
		for _, role := range []string{"Berlin", "All"} { // whichever role comes first
			t.Run(name+" of "+role, func(t *testing.T) {
				found := given{"search.find": {{"type": "user", "guid": "g", "name": "Lea"}}}
				api := ofRoles{found, map[string]*problem.Error{role: c.refusal}}
				w := httptest.NewRecorder()
				v := &frame.Visit{
					Pages: New(frame.Options{API: api, Gate: signin.NewGate(signin.Options{}), Client: somewhere}),
					W:     w, R: httptest.NewRequest(http.MethodGet, "/ui/search?q=lea", nil), Session: &signin.Session{},
					Principals: []*identity.Principal{
						{
							Name: "Berlin", Scopes: []identity.Scope{identity.All},
						}, {Name: "All", Scopes: []identity.Scope{identity.All}},
					},
				}
				searchAll(v)
				assert.Equal(t, c.status, w.Code)
				if c.status == http.StatusTooManyRequests {
					assert.Contains(t, w.Body.String(), "may make 20 calls a minute (rate)")
				}
			})
		}
	}
}

// TestRecordsOfAZoneThatCannotBeReadFail: if a zone cannot be read, the page shows the refusal, even if the
// records could be read.
func TestRecordsOfAZoneThatCannotBeReadFail(t *testing.T) {
	w := httptest.NewRecorder()
	showRecordSet(&frame.Visit{
		Pages: New(frame.Options{
			API:  given{"record.listZone": {{"data": "10.0.0.1"}}},
			Gate: signin.NewGate(signin.Options{}), Client: somewhere,
		}),
		W: w, R: httptest.NewRequest(http.MethodGet, "/ui/zones/z/records/n/A", nil), Session: &signin.Session{},
		Principals: []*identity.Principal{{Scopes: []identity.Scope{identity.All}}},
	})
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Contains(t, w.Body.String(), "Not found")
}

// TestAPlanIsAppliedInItsRole: if two roles have the same scopes, a plan is applied in the role whose limits
// of every kind are the same as those when the plan was made.
func TestAPlanIsAppliedInItsRole(t *testing.T) {
	kinds := reflect.TypeFor[identity.Limits]()
	for i := range kinds.NumField() {
		var narrow identity.Limits
		reflect.ValueOf(&narrow).Elem().Field(i).Set(reflect.ValueOf([]string{"one"}))
		one := &identity.Principal{Name: "narrow", Scopes: []identity.Scope{identity.All}, Limits: narrow}
		two := &identity.Principal{Name: "wide", Scopes: []identity.Scope{identity.All}}
		for _, all := range [][]*identity.Principal{{one, two}, {two, one}} {
			v := &frame.Visit{Principals: all}
			for _, p := range all {
				found := work.RoleNow(v, work.RoleOf(p))
				require.NotNil(t, found)
				assert.Equal(t, p.Name, found.Name, kinds.Field(i).Name)
			}
		}
		assert.Nil(t, work.RoleNow(
			&frame.Visit{Principals: []*identity.Principal{two}}, work.RoleOf(one),
		), kinds.Field(i).Name)
	}
}

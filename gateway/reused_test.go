package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// reused is a server for two callers with the same name.
type reused struct {
	*gateway.Server
	t       *testing.T
	history *changes.History
}

// made stores a change by a caller.
func (r reused) made(p *identity.Principal) {
	r.t.Helper()
	c := &changes.Record{
		ID: changes.NewID(), Time: time.Now().UTC(), Author: changes.AuthorOf(p.Who()), Operation: "user.update",
		Intent: ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{
			{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "l", After: "Rome"}}},
		}},
	}
	require.NoError(r.t, r.history.Complete(r.t.Context(), c, ps.OutcomeDone))
}

// as makes a call as p. It returns the answer, and the code of the refusal or "" if the call was
// made.
func (r reused) as(p *identity.Principal, operation string, c call.Call) (call.Answer, schema.Code) {
	r.t.Helper()
	own := *p
	c.Principal = &own
	answer, err := r.Call(r.t.Context(), operation, c)
	if err != nil {
		return answer, problem.Of(err).Code
	}
	return answer, ""
}

// everybodysPages are pages where every person may do everything.
type everybodysPages struct{ http.Handler }

func (everybodysPages) Tickets() authn.Tickets { return nil }

func (everybodysPages) Rights(_ context.Context, sid string) ([]*identity.Principal, error) {
	p := &identity.Principal{ID: sid, Kind: identity.KindPerson, Scopes: []identity.Scope{identity.All}}
	return []*identity.Principal{p}, nil
}

const aSubdomain = "8e5700ea-a4bf-41c7-8a77-e990661dcc6a"

var (
	aUser = call.Values{"Username": "jdoe"}

	// namesakes are pairs of callers with the same name. The second caller is created after the first is gone,
	// or is of another kind or domain.
	namesakes = map[string][2]identity.Principal{
		"a token that is made again":      {{ID: "1", Kind: identity.KindToken}, {ID: "2", Kind: identity.KindToken}},
		"an API user that is added again": {{ID: "1", Kind: identity.KindUser}, {ID: "2", Kind: identity.KindUser}},
		"a certificate":                   {{ID: "1", Kind: identity.KindCertificate}, {ID: "2", Kind: identity.KindCertificate}},
		"a person of another domain":      {{ID: "S-1-5-1", Kind: identity.KindPerson}, {ID: "S-1-5-2", Kind: identity.KindPerson}},
		"a person and an API user":        {{ID: "S-1-5-1", Kind: identity.KindPerson}, {ID: "1", Kind: identity.KindUser}},
		"an API user and a token":         {{ID: "1", Kind: identity.KindUser}, {ID: "2", Kind: identity.KindToken}},
		"one of the sandbox and a token":  {{Kind: identity.KindToken}, {ID: "2", Kind: identity.KindToken}},
		"a token and one of the sandbox":  {{ID: "1", Kind: identity.KindToken}, {Kind: identity.KindToken}},
	}

	// keptThings has a function for each kind of data that the gateway stores for a caller. The function stores
	// data as the first caller, and returns a function that returns the data that another caller finds, or "" if
	// it finds nothing.
	keptThings = map[string]func(r reused, first *identity.Principal) (found func(p *identity.Principal) string){
		"plan": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			planned, refused := r.as(first, "user.disable",
				call.Call{Input: call.Values{"Username": "jdoe", "DryRun": true}})
			require.Empty(r.t, refused)
			id := planID(r.t, append(append([]byte(`{"plan":`), planned.Plan...), '}'))
			return func(p *identity.Principal) string {
				_, refused := r.as(p, "user.disable", call.Call{Input: call.Values{"Username": "jdoe", "PlanId": id}})
				if refused == schema.Forbidden {
					return ""
				}
				return "the plan"
			}
		},
		"key": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			c := call.Call{Input: aUser, Keys: []string{"a-key-of-the-first"}}
			_, refused := r.as(first, "user.disable", c)
			require.Empty(r.t, refused)
			return func(p *identity.Principal) string {
				answer, refused := r.as(p, "user.disable", c)
				require.Empty(r.t, refused)
				return answer.Replayed
			}
		},
		"changes": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			r.made(first)
			return func(p *identity.Principal) string {
				mine := identity.ReferenceTo(p.Identity())
				made, refused := r.as(p, "change.list", call.Call{Input: call.Values{"Caller": mine}})
				require.Empty(r.t, refused)
				return string(made.Records)
			}
		},
		"cursor": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			r.made(first)
			r.made(first)
			made, refused := r.as(first, "change.list", call.Call{Input: call.Values{"Limit": "1"}})
			require.Empty(r.t, refused)
			require.NotEmpty(r.t, made.Next)
			return func(p *identity.Principal) string {
				_, refused := r.as(p, "change.list", call.Call{Input: call.Values{"Limit": "1", "After": made.Next}})
				if refused == schema.TokenMismatch {
					return ""
				}
				return "the page"
			}
		},
		"job": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			list := aList{call.Values{"Operation": "user.disable", "Mode": "validate"}, "UserName\njdoe\n"}
			submitted, refused := r.as(first, "job.submit", call.Call{Input: list})
			require.Empty(r.t, refused)
			var job shownJob
			require.NoError(r.t, json.Unmarshal(submitted.Records, &job))
			return func(p *identity.Principal) string {
				_, refused := r.as(p, "job.cancel", call.Call{Input: call.Values{"JobId": job.ID}})
				if refused == schema.Forbidden {
					return ""
				}
				return "the job"
			}
		},
		"ACME account": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			policy := harness.Policy()
			policy.Protocols.Accounts = []ops.AcmeAccount{{
				Subdomain: aSubdomain, Credential: identity.ReferenceTo(first.Identity()),
				Name: "_acme-challenge.www.corp.example",
			}}
			require.NoError(r.t, r.Apply(policy))
			return func(p *identity.Principal) string {
				_, refused := r.as(p, "acme.update", call.Call{Input: call.Values{
					"subdomain": aSubdomain, "txt": "LPsIwTo7o8BoG0-vjCyGQGBWSVIPxI-i_X336eUOQZo",
				}})
				if refused == schema.Limit {
					return ""
				}
				return "the account, " + string(refused)
			}
		},
		"hourly limit": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			for range 3 {
				_, refused := r.as(first, "user.resetPassword", call.Call{Input: aUser})
				require.Empty(r.t, refused)
			}
			return func(p *identity.Principal) string {
				_, refused := r.as(p, "user.resetPassword", call.Call{Input: aUser})
				return string(refused)
			}
		},
		"rate": func(r reused, first *identity.Principal) func(*identity.Principal) string {
			for {
				if _, refused := r.as(first, "user.get", call.Call{Input: aUser}); refused == schema.RateLimited {
					break
				}
			}
			return func(p *identity.Principal) string {
				_, refused := r.as(p, "user.get", call.Call{Input: aUser})
				return string(refused)
			}
		},
	}
)

// TestANameThatIsUsedAgainInheritsNothing: only the caller for whom something is stored finds it,
// and no other caller with the same name does.
func TestANameThatIsUsedAgainInheritsNothing(t *testing.T) {
	for thing, leave := range keptThings {
		for which, pair := range namesakes {
			t.Run(thing+" of "+which, func(t *testing.T) {
				q := newQuotas(t)
				kept := storetest.Seal(t, store.NewMemory(nil))
				runner := harness.Answering(ps.Result{Effect: ps.EffectChanged, Changes: []ps.Change{{}}},
					"["+harness.Sample(schema.User)+"]")
				history := changes.New(kept, time.Hour, 1<<20)
				s := harness.New(t, runner, func(o *gateway.Options) {
					o.Kept, o.History, o.Auth = kept, history, current{harness.Auth(t)}
					o.Pages = func(*gateway.Server) gateway.Pages { return everybodysPages{} }
					o.Quotas = identity.NewMeters(identity.Quota{Rate: "20/h", PasswordResetsPerHour: number(3)}, q.clock)
				})
				for i := range pair {
					pair[i].Name, pair[i].Scopes = "all", []identity.Scope{identity.All}
				}
				found := leave(reused{s, t, history}, &pair[0])
				assert.NotContains(t, []string{"", "forbidden"}, found(&pair[0]), "its own")
				assert.Empty(t, found(&pair[1]), "a namesake's")
			})
		}
	}
}

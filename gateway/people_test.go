package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// aList is the input of job.submit.
type aList struct {
	values call.Values
	list   string
}

func (l aList) Read(context.Context) (call.Given, error) {
	return call.Given{Values: map[string]any(l.values), Document: []byte(l.list), Media: "text/csv"}, nil
}

// desk is a gateway where people may sign in, with a directory that determines their roles.
type desk struct {
	server *gateway.Server
	t      *testing.T

	mu    sync.Mutex
	now   []*identity.Principal // current roles of the person
	err   error
	item  int            // number of the item being called
	turns map[int]func() // called while an item is being called, by its number
}

const anna = "S-1-5-21-7"

func role(limits identity.Limits, scopes ...identity.Scope) *identity.Principal {
	return &identity.Principal{ID: anna, Name: "anna", Kind: identity.KindPerson, Scopes: scopes, Limits: limits}
}

// newDesk returns a desk where each script changes something, or fails with the error of refuse.
func newDesk(
	t *testing.T, quota identity.Quota, refuse func(req ps.Request) error, now ...*identity.Principal,
) *desk {
	d := &desk{t: t, now: now, turns: map[int]func(){}}
	kept := storetest.Seal(t, store.NewMemory(nil))
	history := changes.New(kept, time.Hour, 1<<20)
	changed := ps.Result{Effect: ps.EffectChanged, Changes: []ps.Change{{}}}
	answer := harness.Answering(changed, "["+harness.Sample(schema.User)+"]")
	runner := &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if refuse != nil {
			if err := refuse(req); err != nil {
				return nil, err
			}
		}
		d.mu.Lock()
		d.item++
		turn := d.turns[d.item]
		d.mu.Unlock()
		if turn != nil {
			turn()
		}
		return answer.Do(ctx, req)
	}}
	d.server = harness.New(t, runner, func(o *gateway.Options) {
		o.Kept, o.History, o.Work.Jobs.Rate = kept, history, 0
		o.Quotas = identity.NewMeters(quota, nil)
		o.Pages = func(*gateway.Server) gateway.Pages { return d }
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { d.server.Jobs().Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended; harness.Stop(t, d.server) })
	return d
}

func (*desk) Tickets() authn.Tickets { return nil }

func (d *desk) Rights(_ context.Context, sid string) ([]*identity.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if sid != anna {
		return nil, nil
	}
	return d.now, d.err
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// become changes the directory's answer about the person.
func (d *desk) become(err error, now ...*identity.Principal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now, d.err = now, err
}

type shownJob struct {
	ID, State, Why, Caller, CallerKind, CallerID string
	Done, Failed, Waiting, Running               int
}

// submit submits a list whose items each depend on the preceding one.
func (d *desk) submit(as *identity.Principal, operation string, items int) (shownJob, schema.Code) {
	d.t.Helper()
	var list strings.Builder
	list.WriteString("UserName,Id,After\n")
	for i := range items {
		fmt.Fprintf(&list, "u%d,i%d,%s\n", i, i, map[bool]string{true: fmt.Sprint("i", i-1)}[i > 0])
	}
	a, err := d.server.Call(d.t.Context(), "job.submit", call.Call{
		Principal: as, Input: aList{call.Values{"Operation": operation}, list.String()},
	})
	if err != nil {
		return shownJob{}, problem.Of(err).Code
	}
	var submitted shownJob
	require.NoError(d.t, json.Unmarshal(a.Records, &submitted))
	return submitted, ""
}

// until waits until a job is in a state and no item is being called.
func (d *desk) until(id string, state jobstate.Job, why jobstate.Reason) shownJob {
	d.t.Helper()
	all := &identity.Principal{
		Name: "ops", Kind: identity.KindToken, Scopes: []identity.Scope{identity.All}, Uncounted: true,
	}
	var now shownJob
	require.Eventually(d.t, func() bool {
		get := call.Call{Principal: all, Input: call.Values{"JobId": id}}
		a, err := d.server.Call(d.t.Context(), "job.get", get)
		now = shownJob{}
		if err != nil || json.Unmarshal(a.Records, &now) != nil || now.Running > 0 {
			return false
		}
		return now.State == string(state) && now.Why == string(why)
	}, time.Minute, 5*time.Millisecond, "%s, %s", state, why)
	return now
}

var clerkScopes = []identity.Scope{
	identity.JobSubmit, identity.JobRead, identity.UserWrite, identity.UserPassword,
}

// TestAJobOfAPersonHasTheRightsOfTheMoment: the person who submitted the job need not be signed in. The
// rights that the directory reports before each item count.
func TestAJobOfAPersonHasTheRightsOfTheMoment(t *testing.T) {
	clerk := role(identity.Limits{}, clerkScopes...)
	reader := role(identity.Limits{}, identity.UserRead)
	for name, c := range map[string]struct {
		turn  func(d *desk) // called while the second item is being called
		state jobstate.Job
		why   jobstate.Reason
		done  int
	}{
		"nothing changes":             {nil, jobstate.Done, "", 4},
		"the account is disabled":     {func(d *desk) { d.become(nil) }, jobstate.Held, jobstate.Credential, 2},
		"the role is narrowed":        {func(d *desk) { d.become(nil, reader) }, jobstate.Held, jobstate.Credential, 2},
		"another role is added":       {func(d *desk) { d.become(nil, reader, clerk) }, jobstate.Done, "", 4},
		"the directory is away":       {func(d *desk) { d.become(errors.New("away")) }, jobstate.Held, jobstate.Lane, 2},
		"the scope moves to any role": {func(d *desk) { d.become(nil, role(identity.Limits{}, identity.All)) }, jobstate.Done, "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, identity.Quota{}, nil, clerk)
			if c.turn != nil {
				d.turns[2] = func() { c.turn(d) }
			}
			job, refused := d.submit(clerk, "user.disable", 4)
			require.Empty(t, refused)
			owner := []string{job.Caller, job.CallerKind, job.CallerID}
			assert.Equal(t, []string{"anna", identity.KindPerson, anna}, owner)
			now := d.until(job.ID, c.state, c.why)
			assert.Equal(t, c.done, now.Done)
			assert.Equal(t, 4-c.done, now.Waiting)
			assert.Zero(t, now.Failed)
			if now.Waiting > 0 {
				d.become(nil, clerk)
				assert.Equal(t, 4, d.until(job.ID, jobstate.Done, "").Done, "it goes on once the right is there again")
			}
		})
	}
}

// TestWhoMaySubmitAJobAsAPerson: a person may submit a job if the directory knows the person and
// one of the person's roles allows the whole list.
func TestWhoMaySubmitAJobAsAPerson(t *testing.T) {
	clerk := role(identity.Limits{}, clerkScopes...)
	stranger := *clerk
	stranger.ID = "S-1-5-21-8"
	d := newDesk(t, identity.Quota{}, nil, clerk)
	for name, c := range map[string]struct {
		as        *identity.Principal
		operation string
		code      schema.Code
	}{
		"a person with the role":      {clerk, "user.disable", ""},
		"one without the scope":       {clerk, "user.delete", schema.Forbidden},
		"one with no role any more":   {&stranger, "user.disable", schema.Forbidden},
		"one who may submit no lists": {role(identity.Limits{}, identity.UserWrite), "user.disable", schema.Forbidden},
	} {
		_, refused := d.submit(c.as, c.operation, 1)
		assert.Equal(t, c.code, refused, name)
	}
	d.become(errors.New("away"), clerk)
	_, refused := d.submit(clerk, "user.disable", 1)
	assert.Equal(t, schema.Unavailable, refused)
}

// TestAnHourlyLimitOfAPersonHoldsTheJob: items count together with the person's changes on the
// pages.
func TestAnHourlyLimitOfAPersonHoldsTheJob(t *testing.T) {
	clerk := role(identity.Limits{}, clerkScopes...)
	d := newDesk(t, identity.Quota{ChangesPerHour: number(3)}, nil, clerk)
	byHand := call.Call{Principal: clerk, Input: call.Values{"Username": "by.hand"}}
	_, err := d.server.Call(t.Context(), "user.disable", byHand)
	require.NoError(t, err)
	job, refused := d.submit(clerk, "user.disable", 5)
	require.Empty(t, refused)
	now := d.until(job.ID, jobstate.Held, jobstate.Budget)
	assert.Equal(t, 2, now.Done)
	assert.Zero(t, now.Failed)
}

// TestWhatIsForbiddenForAnItemFailsTheItem: an item with a guarded object does not stop the other items. It
// is made in a role that allows it.
func TestWhatIsForbiddenForAnItemFailsTheItem(t *testing.T) {
	guarded := func(req ps.Request) error {
		if harness.TextArg(req, "UserName") != "u1" || string(harness.JSON(req.Args["Privileged"])) == "true" {
			return nil
		}
		return &ps.Error{Kind: ps.KindScript, Gateway: "forbidden", Outcome: ps.OutcomeNone,
			Message: "Changing 'u1' needs the scope 'privileged': it is guarded.",
		}
	}
	clerk := role(identity.Limits{}, clerkScopes...)
	chief := role(identity.Limits{}, append([]identity.Scope{identity.Privileged}, clerkScopes...)...)
	for name, c := range map[string]struct {
		roles        []*identity.Principal
		done, failed int
	}{
		"one role":               {[]*identity.Principal{clerk}, 1, 1},
		"and one that allows it": {[]*identity.Principal{clerk, chief}, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, identity.Quota{}, guarded, c.roles...)
			job, refused := d.submit(clerk, "user.disable", 3)
			require.Empty(t, refused)
			now := d.until(job.ID, jobstate.Done, "")
			assert.Equal(t, c.done, now.Done, "what comes after a failed item is not run")
			assert.Equal(t, c.failed, now.Failed)
		})
	}
}

package call

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// runner answers every run with a fixed function, and keeps the last request.
type runner struct {
	asked ps.Request
	run   func(req ps.Request) (*ps.Result, error)
}

func (r *runner) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	r.asked = req
	return r.run(req)
}

// emitting returns a function for a run that emits records and changes nothing.
func emitting(records string) func(ps.Request) (*ps.Result, error) {
	return func(req ps.Request) (*ps.Result, error) {
		return &ps.Result{Effect: ps.EffectNone, Server: "dc1"}, req.Records(json.RawMessage(records))
	}
}

// newService returns a service that makes calls with a runner.
func newService(r *runner) *Service {
	log := logrus.New()
	log.SetOutput(io.Discard)
	limit := []ps.Param{{Name: "AllowedOU", Type: "string[]"}}
	scripts := []ps.Script{{Name: opstest.Find("user.get").Script, Params: limit}}
	s, err := New(Options{
		Table: NewTable(ops.Table(), scripts), Runner: r, Log: log, StreamAbove: 1 << 20,
		Gateways: func() int { return 1 },
	})
	if err != nil {
		panic(err) // nothing is stored, so nothing can fail
	}
	return s
}

var policy = Policy{ReadLimit: time.Minute, ListLimit: 2 * time.Minute, WriteLimit: 3 * time.Minute}

// sales is a caller that is limited to an OU.
var sales = &identity.Principal{
	Name: "portal", Scopes: []identity.Scope{identity.All},
	Limits: identity.Limits{OUs: []string{"OU=Sales,DC=corp,DC=example"}},
}

func ofUser(id string, given ops.Given) Call {
	return Call{ID: "r1", Op: opstest.Find(id), Principal: sales, Input: Values(given)}
}

// TestAReadIsMadeWithoutTheRest: a read needs only a runner.
func TestAReadIsMadeWithoutTheRest(t *testing.T) {
	r := &runner{run: emitting(`[{"username":"ann"}]`)}
	c := ofUser("user.get", ops.Given{"Username": "ann", "ShowFields": "username"})
	answer, err := newService(r).Read(t.Context(), c, &policy, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"username":"ann"}`, string(answer.Records))
	assert.Equal(t, "dc1", answer.Server)
	assert.Equal(t, time.Minute, r.asked.Limit)
	assert.Equal(t, ps.List(sales.Limits.OUs), r.asked.Args["AllowedOU"])
	assert.False(t, r.asked.Write)
}

func TestARefusedReadRunsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *Call)
		code   schema.Code
	}{
		"without the scope": {func(c *Call) { c.Principal = &identity.Principal{Name: "portal"} }, schema.Forbidden},
		"with a key":        {func(c *Call) { c.Keys = []string{"12345678"} }, schema.NotSupported},
		"with If-Match":     {func(c *Call) { c.Match = []string{`"u1"`} }, schema.NotSupported},
		"outside the OUs": {func(c *Call) {
			c.Input = Values{"Username": "CN=Ann,OU=Other,DC=corp,DC=example"}
		}, schema.Limit},
	} {
		r := &runner{run: emitting("[]")}
		asked := ofUser("user.get", ops.Given{"Username": "ann"})
		c.change(&asked)
		_, err := newService(r).Read(t.Context(), asked, &policy, nil)
		require.Error(t, err, name)
		assert.Equal(t, c.code, problem.Of(err).Code, "%s: %v", name, err)
		assert.Empty(t, r.asked.Script, name)
	}
}

// TestARunDoesNotModifyTheAcceptedCall: a run does not modify the accepted call.
func TestARunDoesNotModifyTheAcceptedCall(t *testing.T) {
	s := newService(&runner{})
	a, err := s.Accept(t.Context(), ofUser("user.get", ops.Given{"Username": "ann"}), &policy)
	require.NoError(t, err)
	before := a.Bound.Canonical()
	first := s.Request(newCollector(a, Collecting{}), &policy, nil)
	assert.Equal(t, before, a.Bound.Canonical())
	assert.Equal(t, first.Args, s.Request(newCollector(a, Collecting{}), &policy, nil).Args)
}

// TestIfMatchIsAGuard: If-Match refuses a change exactly if it is announced for another state of the object.
func TestIfMatchIsAGuard(t *testing.T) {
	s := newService(&runner{})
	c := ofUser("user.disable", ops.Given{"Username": "ann"})
	c.Match = []string{`"u1-other"`}
	a, err := s.Accept(t.Context(), c, &policy)
	require.NoError(t, err)
	require.Len(t, a.Guards, 1)
	err = Unannounced(a.Guards, &ps.Result{Effect: ps.EffectNone, Server: "dc1"}, `"u1-present"`)
	require.Error(t, err)
	failed := problem.Of(err)
	assert.Equal(t, schema.PreconditionFailed, failed.Code)
	assert.Equal(t, `"u1-present"`, failed.Tag)
	assert.Equal(t, "dc1", failed.Server)
	assert.NoError(t, Unannounced(a.Guards, &ps.Result{Effect: ps.EffectNone}, `"u1-other"`))
	assert.NoError(t, Unannounced(a.Guards, &ps.Result{Effect: ps.EffectChanged}, `"u1-present"`))
	assert.Empty(t, c.Guards, "the call is not changed")
}

// TestADryRunStopsAtItsAnnouncement: the script of a dry run never gets leave to change anything.
func TestADryRunStopsAtItsAnnouncement(t *testing.T) {
	intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc1", Objects: []ps.Intended{{
		GUID: "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10", DN: "CN=Ann,OU=Sales,DC=corp,DC=example",
		Changes: []ps.IntendedChange{{Name: "enabled", Before: "True", After: "False"}},
	}}}
	r := &runner{run: func(req ps.Request) (*ps.Result, error) {
		err := req.Announced(intent)
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Server: "dc1", Cause: err}
	}}
	s := newService(r)
	c := ofUser("user.disable", ops.Given{"Username": "ann", ops.DryRun: "true"})
	a, err := s.Accept(t.Context(), c, &policy)
	require.NoError(t, err)
	trial, err := s.DryRun(t.Context(), a, &policy, nil, identity.ChangeRead)
	require.NoError(t, err)
	assert.False(t, r.asked.Write)
	assert.Equal(t, "Would change the user 'ann': enabled.", trial.Sentence())
	assert.Equal(t, "dc1", trial.Plan.Server)
	assert.Contains(t, trial.Plan.Requires, identity.ChangeRead)
	require.Len(t, trial.Plan.Objects, 1)
}

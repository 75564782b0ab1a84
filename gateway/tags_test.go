package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// TestWaitingForAnotherChangeCountsTowardsTheLimit: a call that waits for another change ends with 504 after
// its time limit, or when its client leaves. It has then changed nothing.
func TestWaitingForAnotherChangeCountsTowardsTheLimit(t *testing.T) {
	announced, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	runner := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
	run := runner.Do
	runner.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		result, err := run(ctx, req)
		if err == nil {
			first.Do(func() { close(announced); <-goOn })
		}
		return result, err
	}
	s := harness.New(t, runner, func(o *gateway.Options) { o.Policy.WriteLimit = 30 * time.Millisecond })
	var holder sync.WaitGroup
	holder.Go(func() {
		assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "").Code)
	})
	<-announced
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Enable", "")
	got := harness.Read(t, w)
	assert.Equal(t, http.StatusGatewayTimeout, w.Code)
	assert.Equal(t, []string{"timeout", "none"}, []string{string(got.Error.Code), got.Error.Outcome})
	left, cancel := context.WithCancel(t.Context())
	cancel()
	w = harness.CallWith(left, s, http.MethodPut, "/api/ADUser/jdoe/Enable")
	assert.Equal(t, "none", harness.Read(t, w).Error.Outcome)
	close(goOn)
	holder.Wait()
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Enable", "").Code)
}

// TestAStateThatCannotBeReadAllowsNothing: a guard fails if the state is unknown.
func TestAStateThatCannotBeReadAllowsNothing(t *testing.T) {
	for name, state := range map[string]string{"none": "", "no record": "[]", "another record": `{"guid":"x"}`,
		"null": "null"} {
		t.Run(name, func(t *testing.T) {
			runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
				require.NotNil(t, req.State)
				assert.Equal(t, "Get-GatewayUser", req.State.Script)
				assert.Equal(t, "UserName", req.State.Identity)
				err := req.Announced(ps.Intent{State: state,
					Objects: []ps.Intended{{GUID: "g",
						Changes: []ps.IntendedChange{{Name: "enabled", Before: "True", After: "False"}}}}})
				if err == nil {
					return &ps.Result{Effect: ps.EffectChanged},
						req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
				}
				return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
			}}
			s := harness.New(t, runner, nil)
			w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "", "If-Match: *")
			assert.Equal(t, http.StatusInternalServerError, w.Code)
			assert.Equal(t, "none", harness.Read(t, w).Error.Outcome)
		})
	}
}

func TestNothingIsReadWithoutIfMatch(t *testing.T) {
	runner := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
	s := harness.New(t, runner, nil)
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Empty(t, w.Header().Get("ETag"))
	assert.Nil(t, runner.Last(t).State)
}

func TestRequirementsThatCannotBeMet(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	policy := harness.Policy()
	policy.RequireGuard = []identity.Scope{"user:writes"}
	assert.ErrorContains(t, s.Apply(policy), `http.requireGuard: unknown scope "user:writes"`)
	policy.RequireGuard = []identity.Scope{identity.All}
	assert.NoError(t, s.Apply(policy))
	policy.RequireKey = []identity.Scope{identity.UserWrite}
	assert.ErrorContains(t, s.Apply(policy), "store.file")
}

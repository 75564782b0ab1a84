package gateway_test

import (
	"context"
	"net/http"
	"testing"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestADryRunIsNoChange(t *testing.T) {
	user := "[" + harness.Sample(schema.User) + "]"
	changing := harness.Answering(ps.Result{Effect: ps.EffectChanged}, user)
	unannounced := harness.Answering(ps.Result{Effect: ps.EffectChanged}, user)
	run := unannounced.Do
	unannounced.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		req.Announced = nil
		return run(ctx, req)
	}
	for name, c := range map[string]struct {
		runner  *harness.Runner
		status  int
		outcome string
	}{
		"announced":         {changing, 200, "none"},
		"nothing to do":     {harness.Answering(ps.Result{Effect: ps.EffectNone}, user), 200, "none"},
		"not found":         {harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "not_found", Message: "No."}), 404, "none"},
		"not announced":     {unannounced, 500, "done"},
		"stopped by others": {harness.Failing(ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone}), 503, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, lines := harness.Audited(t, c.runner, false)
			w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "")
			require.Equal(t, c.status, w.Code, w.Body)
			assert.False(t, c.runner.Last(t).Write, "it may be given up, and tried again")
			assert.NotContains(t, c.runner.Last(t).Args, "DryRun")
			all := lines()
			require.Len(t, all, 1, "there is no intent")
			assert.Equal(t, c.outcome, all[0].Outcome)
			assert.Equal(t, "true", all[0].Parameters["DryRun"])
		})
	}
}

func TestADryRunSpendsNothing(t *testing.T) {
	runner := harness.Answering(removedUser, "["+harness.Sample(schema.User)+"]")
	q, header := withQuota(t, runner,
		authn.Rights{Scopes: []string{"user:delete"}, Quota: &identity.Quota{DeletionsPerHour: number(1)}})
	for range 3 {
		q.answered("DELETE", "/api/ADUser/a?DryRun=true", header)
	}
	q.answered("DELETE", "/api/ADUser/a", header)
	q.refused("DELETE", "/api/ADUser/a?DryRun=true", header)
}

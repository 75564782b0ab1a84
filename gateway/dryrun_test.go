package gateway

import (
	"context"
	"net/http"
	"testing"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestADryRunIsNoChange(t *testing.T) {
	user := "[" + sample(schema.User) + "]"
	changing := answering(ps.Result{Effect: ps.EffectChanged}, user)
	unannounced := answering(ps.Result{Effect: ps.EffectChanged}, user)
	run := unannounced.run
	unannounced.run = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		req.Announced = nil
		return run(ctx, req)
	}
	for name, c := range map[string]struct {
		runner  *fakeRunner
		status  int
		outcome string
	}{
		"announced":         {changing, 200, "none"},
		"nothing to do":     {answering(ps.Result{Effect: ps.EffectNone}, user), 200, "none"},
		"not found":         {failing(ps.Error{Kind: ps.KindScript, Gateway: "not_found", Message: "No."}), 404, "none"},
		"not announced":     {unannounced, 500, "done"},
		"stopped by others": {failing(ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone}), 503, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, lines := audited(t, c.runner, false)
			w := call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "")
			require.Equal(t, c.status, w.Code, w.Body)
			assert.False(t, c.runner.last(t).Write, "it may be given up, and tried again")
			assert.NotContains(t, c.runner.last(t).Args, "DryRun")
			all := lines()
			require.Len(t, all, 1, "there is no intent")
			assert.Equal(t, c.outcome, all[0].Outcome)
			assert.Equal(t, "true", all[0].Parameters["DryRun"])
		})
	}
}

func TestADryRunSpendsNothing(t *testing.T) {
	runner := answering(removedUser, "["+sample(schema.User)+"]")
	q, header := withQuota(t, runner, authn.Rights{Scopes: []string{"user:delete"}, Quota: &identity.Quota{DeletionsPerHour: number(1)}})
	for range 3 {
		q.answered("DELETE", "/api/ADUser/a?DryRun=true", header)
	}
	q.answered("DELETE", "/api/ADUser/a", header)
	q.refused("DELETE", "/api/ADUser/a?DryRun=true", header)
}

package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planID returns the id of the plan in an answer.
func planID(t *testing.T, body []byte) string {
	t.Helper()
	var answer struct{ Plan struct{ ID string } }
	require.NoError(t, json.Unmarshal(body, &answer))
	require.NotEmpty(t, answer.Plan.ID, "%s", body)
	return answer.Plan.ID
}

func TestTheAuditNamesWhoPlannedAndWhoApplied(t *testing.T) {
	store := openKeys(t, filepath.Join(t.TempDir(), "state.db"))
	s, _, lines := audited(t, answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), false, func(o *Options) {
		o.Kept, o.Policy.PlansOfOthers = store, true
	})
	w := call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	apply := "/api/ADUser/jdoe/Disable?PlanId=" + planID(t, w.Body.Bytes())
	w = call(s, http.MethodPut, apply, "", "Auth-Token: Bearer "+writeToken)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var intents []*audit.Line
	for _, line := range lines() {
		if line.Event == audit.EventIntent {
			intents = append(intents, line)
		}
	}
	require.Len(t, intents, 1)
	assert.Equal(t, "writer", intents[0].Who.Name)
	assert.Equal(t, "all", intents[0].PlanCaller)
}

func TestPlansOfOthersAreNotKnown(t *testing.T) {
	s := newTestServer(t, answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), func(o *Options) {
		o.Kept = openKeys(t, filepath.Join(t.TempDir(), "state.db"))
	})
	id := planID(t, call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	for method, path := range map[string]string{http.MethodPut: "/api/ADUser/jdoe/Disable?PlanId=" + id, http.MethodGet: "/api/Plans/" + id} {
		assert.Equal(t, http.StatusNotFound, call(s, method, path, "", "Auth-Token: Bearer "+writeToken).Code)
	}
}

// A plan whose application fails without a change can be applied again.
func TestAPlanSurvivesWhatChangedNothing(t *testing.T) {
	runner := answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]")
	good, protected := runner.run, failing(ps.Error{Kind: ps.KindScript, Gateway: "protected", Message: "No.", Outcome: ps.OutcomeNone}).run
	unlucky := false
	runner.run = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if !unlucky {
			return good(ctx, req)
		}
		if err := announce(req); err != nil {
			return nil, err
		}
		return protected(ctx, req)
	}
	s := newTestServer(t, runner, func(o *Options) { o.Kept = openKeys(t, filepath.Join(t.TempDir(), "state.db")) })
	apply := "/api/ADUser/jdoe/Disable?PlanId=" + planID(t, call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	unlucky = true
	assert.Equal(t, schema.Protected, read(t, call(s, http.MethodPut, apply, "")).Error.Code)
	unlucky = false
	assert.Equal(t, http.StatusOK, call(s, http.MethodPut, apply, "").Code)
	got := read(t, call(s, http.MethodPut, apply, ""))
	assert.Equal(t, schema.PlanUsed, got.Error.Code)
}

func TestPlansEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := newTestServer(t, answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), func(o *Options) {
		o.Kept, o.Policy.PlanLife = openKeys(t, path), time.Nanosecond
	})
	id := planID(t, call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	w := call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?PlanId="+id, "")
	assert.Equal(t, http.StatusGone, w.Code, w.Body)
	assert.Contains(t, call(s, http.MethodGet, "/api/Plans/"+id, "").Body.String(), `"state":"expired"`)
}

func TestWithoutAStoreThereAreNoPlans(t *testing.T) {
	s := newTestServer(t, answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), nil)
	w := call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), `"id":null`)
	got := read(t, call(s, http.MethodGet, "/api/Plans/pl_019ab3f0-0000-7000-8000-000000000000", ""))
	assert.Equal(t, schema.NotSupported, got.Error.Code)
	assert.NotContains(t, call(s, http.MethodGet, "/version", "").Body.String(), "plan")
}

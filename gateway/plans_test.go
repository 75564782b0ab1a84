package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"

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
	store := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	s, _, lines := harness.Audited(t,
		harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]"), false,
		func(o *gateway.Options) {
			o.Kept, o.Policy.PlansOfOthers = store, true
		})
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	apply := "/api/ADUser/jdoe/Disable?PlanId=" + planID(t, w.Body.Bytes())
	w = harness.Call(s, http.MethodPut, apply, "", "Auth-Token: Bearer "+harness.WriteToken)
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
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged},
		"["+harness.Sample(schema.User)+"]"), func(o *gateway.Options) {
		o.Kept = harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	})
	id := planID(t, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	for method, path := range map[string]string{http.MethodPut: "/api/ADUser/jdoe/Disable?PlanId=" + id,
		http.MethodGet: "/api/Plans/" + id} {
		assert.Equal(t, http.StatusNotFound,
			harness.Call(s, method, path, "", "Auth-Token: Bearer "+harness.WriteToken).Code)
	}
}

// TestAPlanSurvivesWhatChangedNothing: a plan whose application fails without a change can be
// applied again.
func TestAPlanSurvivesWhatChangedNothing(t *testing.T) {
	runner := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
	good, protected := runner.Do, harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "protected",
		Message: "No.", Outcome: ps.OutcomeNone}).Do
	unlucky := false
	runner.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if !unlucky {
			return good(ctx, req)
		}
		if err := harness.Announce(req); err != nil {
			return nil, err
		}
		return protected(ctx, req)
	}
	s := harness.New(t, runner, func(
		o *gateway.Options) {
		o.Kept = harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	})
	apply := "/api/ADUser/jdoe/Disable?PlanId=" +
		planID(t, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	unlucky = true
	assert.Equal(t, schema.Protected, harness.Read(t, harness.Call(s, http.MethodPut, apply, "")).Error.Code)
	unlucky = false
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodPut, apply, "").Code)
	got := harness.Read(t, harness.Call(s, http.MethodPut, apply, ""))
	assert.Equal(t, schema.PlanUsed, got.Error.Code)
}

// TestAPlanOfNothingIsUsedUpAfterItsRun: a script that announces no change does not wait for the
// store.
func TestAPlanOfNothingIsUsedUpAfterItsRun(t *testing.T) {
	runner := harness.Answering(ps.Result{Effect: ps.EffectNone}, "["+harness.Sample(schema.User)+"]")
	var s *gateway.Server
	answers, id, state := runner.Do, "", ""
	runner.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if err := req.Announced(ps.Intent{Objects: []ps.Intended{{GUID: "g"}}}); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		state = harness.Call(s, http.MethodGet, "/api/Plans/"+id, "").Body.String()
		return answers(ctx, req)
	}
	s = harness.New(t, runner, func(o *gateway.Options) {
		o.Kept = harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	})
	id = planID(t, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	apply := "/api/ADUser/jdoe/Disable?PlanId=" + id
	w := harness.Call(s, http.MethodPut, apply, "")
	assert.Equal(t, http.StatusOK, w.Code, w.Body)
	assert.Contains(t, state, `"state":"open"`)
	assert.Equal(t, schema.PlanUsed, harness.Read(t, harness.Call(s, http.MethodPut, apply, "")).Error.Code)
}

func TestPlansEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged},
		"["+harness.Sample(schema.User)+"]"), func(o *gateway.Options) {
		o.Kept, o.Policy.PlanLife = harness.OpenStore(t, path), time.Nanosecond
	})
	id := planID(t, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?PlanId="+id, "")
	assert.Equal(t, http.StatusGone, w.Code, w.Body)
	assert.Contains(t, harness.Call(s, http.MethodGet, "/api/Plans/"+id, "").Body.String(), `"state":"expired"`)
}

func TestWithoutAStoreThereAreNoPlans(t *testing.T) {
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged},
		"["+harness.Sample(schema.User)+"]"), nil)
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), `"id":null`)
	got := harness.Read(t, harness.Call(s, http.MethodGet, "/api/Plans/pl_019ab3f0-0000-7000-8000-000000000000",
		""))
	assert.Equal(t, schema.NotSupported, got.Error.Code)
	assert.NotContains(t, harness.Call(s, http.MethodGet, "/version", "").Body.String(), "plan")
}

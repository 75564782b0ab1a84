package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// applying returns the call that applies plan p of c.
func applying(c systemtest.Call, p plan) systemtest.Call {
	params := map[string]any{"PlanId": p.ID}
	maps.Copy(params, c.Params)
	c.Params = params
	return c
}

// planned returns a plan as shown by the gateway.
func planned(s *systemtest.System, id string) plan {
	s.T.Helper()
	a := s.Get("/api/Plans/" + id)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	var answer struct{ Result []plan }
	require.NoError(s.T, json.Unmarshal(a.Body, &answer))
	require.Len(s.T, answer.Result, 1)
	return answer.Result[0]
}

func update(user string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + user, Params: params}
}

// TestEveryOperationAppliesItsPlan: every operation that changes something makes the change
// shown by its dry run, once. The plan and the history refer to each other. A plain run tries one row
// in two.
func TestEveryOperationAppliesItsPlan(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Changes() {
		if !thorough.OneOf(2, op.ID) {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			call := systemtest.Sample(op)
			p, _ := dryRun(s, call)
			assert.NotEmpty(t, p.Checks)
			assert.Equal(t, p, planned(s, p.ID))
			start := s.Snapshot()
			made := s.Do(applying(call, p))
			require.Less(t, made.Status, 300, "%s", made.Body)
			assert.NotEmpty(t, start.Compare(s.Snapshot()))
			id := made.Header.Get("X-Change-Id")
			found := changesIn(s, s.Do(getChange(id, nil)))
			require.Len(t, found, 1)
			assert.Equal(t, p.ID, *found[0].Plan)
			assert.Equal(t, p.Undo, found[0].Undo)
			require.Len(t, found[0].Objects, len(p.Objects))
			for i, object := range p.Objects {
				require.Len(t, found[0].Objects[i].Changes, len(object.Changes))
				for n, change := range object.Changes {
					recorded := found[0].Objects[i].Changes[n]
					assert.Equal(t, []any{change.Field, change.Kind, change.Undo, change.Before, change.After},
						[]any{recorded.Field, recorded.Kind, recorded.Undo, recorded.Before, recorded.After})
				}
			}
			used := planned(s, p.ID)
			assert.Equal(t, "used", used.State)
			assert.Equal(t, id, *used.Change)
			a := s.Rejects(applying(call, p), http.StatusConflict, "plan_used")
			assert.Contains(t, a.Envelope.Error.Details[0].Message, id)
			s.Undo(op)
		})
	}
}

func TestWhenAPlanIsNotApplied(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	change := update("aschmidt", map[string]any{"Department": "Quality", "Password": "N0t-shown.4711"})
	p, a := dryRun(s, change)
	assert.NotContains(t, string(a.Body), "N0t-shown")
	assert.Equal(t, "open", planned(s, p.ID).State)
	assert.NotContains(t, string(s.Get("/api/Plans/"+p.ID).Body), "N0t-shown")

	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
		field  string
	}{
		"of another object":        {applying(update("lweber", change.Params), p), 422, "plan_mismatch", "Username"},
		"with another value":       {applying(update("aschmidt", map[string]any{"Department": "IT", "Password": "N0t-shown.4711"}), p), 422, "plan_mismatch", "Department"},
		"with another password":    {applying(update("aschmidt", map[string]any{"Department": "Quality", "Password": "N0t-shown.4712"}), p), 422, "plan_mismatch", "Password"},
		"without the password":     {applying(update("aschmidt", map[string]any{"Department": "Quality"}), p), 422, "plan_mismatch", "Password"},
		"of another operation":     {applying(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Disable"}, p), 422, "plan_mismatch", "PlanId"},
		"that was never made":      {applying(change, plan{ID: "pl_019ab3f0-0000-7000-8000-000000000000"}), 404, "not_found", ""},
		"that has no such form":    {applying(change, plan{ID: "7"}), 400, "invalid_request", "PlanId"},
		"in upper case":            {applying(change, plan{ID: strings.ToUpper(p.ID)}), 400, "invalid_request", "PlanId"},
		"without a name":           {applying(change, plan{}), 400, "invalid_request", "PlanId"},
		"as a dry run":             {applying(update("aschmidt", map[string]any{"Department": "Quality", "Password": "N0t-shown.4711", "DryRun": true}), p), 400, "invalid_request", "PlanId"},
		"by another credential":    {applying(change, p).As(systemtest.PlainToken), 403, "forbidden", ""},
		"without the scope":        {applying(change, p).As(systemtest.ReadToken), 403, "forbidden", ""},
		"of a read":                {systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details", Params: map[string]any{"PlanId": p.ID}}, 400, "invalid_request", "PlanId"},
		"looked at by another one": {systemtest.Call{Method: http.MethodGet, Path: "/api/Plans/" + p.ID}.As(systemtest.ReadToken), 404, "not_found", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			start := s.Snapshot()
			a := s.Rejects(c.call, c.status, c.code)
			assert.Empty(t, start.Compare(s.Snapshot()))
			assert.NotContains(t, string(a.Body), "N0t-shown", "a password")
			if c.field != "" {
				assert.Equal(t, c.field, systemtest.FirstField(a))
			}
		})
	}
	assert.Equal(t, "open", planned(s, p.ID).State, "refusals do not use it up")

	s.OK(update("aschmidt", map[string]any{"Department": "Sales 2"}), http.StatusOK)
	start := s.Snapshot()
	refused := s.Rejects(applying(change, p), http.StatusPreconditionFailed, "drifted")
	assert.Empty(t, start.Compare(s.Snapshot()))
	require.Len(t, refused.Envelope.Error.Details, 1)
	assert.Equal(t, "department", refused.Envelope.Error.Details[0].Field)
	assert.Contains(t, string(refused.Body), `"found":"Sales 2"`)
	assert.Equal(t, "drifted", planned(s, p.ID).State)
	for _, change := range p.Objects[0].Changes {
		if change.Field == "department" {
			s.OK(update("aschmidt", map[string]any{"Department": change.Before}), http.StatusOK)
		}
	}
	fields := applying(change, p)
	fields.Params["ShowFields"] = "username"
	s.OK(fields, http.StatusOK) // the selected fields are not part of the plan
	assert.Equal(t, "used", planned(s, p.ID).State)
	s.Rejects(applying(change, p), http.StatusConflict, "plan_used")
}

// TestPlansOutsideTheLimitsAreNotKnown: a plan outside the limits of a credential is reported as unknown,
// regardless of the credential's other rights.
func TestPlansOutsideTheLimitsAreNotKnown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "plans.otherCaller=true")
	outside := update("dvlachos", map[string]any{"Department": "Quality", "Manager": "aschmidt"})
	p, _ := dryRun(s, outside)
	for name, call := range map[string]systemtest.Call{
		"shown":   {Method: http.MethodGet, Path: "/api/Plans/" + p.ID},
		"applied": applying(outside, p),
	} {
		a := s.Rejects(call.As(systemtest.LimitedToken), http.StatusNotFound, "not_found")
		assert.NotContains(t, string(a.Body), "dvlachos", name)
	}
	record := systemtest.Call{Method: http.MethodPut, Path: "/api/OU",
		Params: map[string]any{"OUPath": systemtest.AthensOU, "Description": "x"}}
	p, _ = dryRun(s, record)
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/Plans/" + p.ID}.As(systemtest.LimitedToken),
		http.StatusNotFound, "not_found")

	within, _ := dryRun(s, update("aschmidt", map[string]any{"Manager": "dvlachos"}))
	a := s.Do(systemtest.Call{Method: http.MethodGet,
		Path: "/api/Plans/" + within.ID}.As(systemtest.LimitedToken))
	assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.NotContains(t, string(a.Body), "Athens", "the name of an object outside the limits")
}

// TestARemovalOfMoreThanWasShown: a plan is not applied if it would remove more than the dry run showed.
func TestARemovalOfMoreThanWasShown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsLookupZone/planned.example"},
		http.StatusCreated)
	remove := systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsLookupZone/planned.example",
		Params: map[string]any{"Force": true}}
	p, _ := dryRun(s, remove)
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsARecord",
		Params: map[string]any{"ZoneName": "planned.example", "DNS_HostName": "www", "IP_Address": "10.0.0.7"}},
		http.StatusCreated)
	a := s.Rejects(applying(remove, p), http.StatusPreconditionFailed, "drifted")
	assert.Equal(t, "records", systemtest.FirstField(a))
}

// TestAKeyOfAnUndoIsForOneChange: a key cannot be reused for the undo of another change,
// because the change to undo is part of the call.
func TestAKeyOfAnUndoIsForOneChange(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	first := s.Do(update("aschmidt", map[string]any{"Department": "A"})).Header.Get("X-Change-Id")
	second := s.Do(update("aschmidt", map[string]any{"Company": "B"})).Header.Get("X-Change-Id")
	a := s.Do(keyed(undoChange(first, nil), "undo-key-1"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	s.Rejects(keyed(undoChange(second, nil), "undo-key-1"), http.StatusUnprocessableEntity, "key_reused")
}

// A plan that shows no change remains valid as long as the call would change nothing.
func TestAPlanWithoutChanges(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	enable := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Enable"}
	nothing, _ := dryRun(s, enable)
	again, _ := dryRun(s, enable)
	s.OK(applying(enable, nothing), http.StatusOK)
	s.Rejects(applying(enable, nothing), http.StatusConflict, "plan_used")
	disable := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Disable"}
	disabling, _ := dryRun(s, disable)
	s.OK(disable, http.StatusOK)
	s.Rejects(applying(enable, again), http.StatusPreconditionFailed, "drifted")
	s.Rejects(applying(disable, disabling), http.StatusPreconditionFailed, "drifted")
}

// TestAPlanOfAnotherCredential: with plans.otherCaller, a caller that may make the change may apply
// another caller's plan.
func TestAPlanOfAnotherCredential(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "plans.otherCaller=true")
	change := update("aschmidt", map[string]any{"Department": "Quality"})
	p, _ := dryRun(s, change.As(systemtest.PlainToken))
	s.Rejects(applying(change, p).As(systemtest.ReadToken), http.StatusForbidden, "forbidden")
	s.OK(applying(change, p), http.StatusOK)
	assert.Equal(t, "used", planned(s, p.ID).State)
}

// onlyOne makes simultaneous calls. One of them must succeed, and the others must be refused.
func onlyOne(t *testing.T, callers, refused int, call func(i int) systemtest.Answer) {
	t.Helper()
	var calls sync.WaitGroup
	statuses := make([]int, callers)
	for i := range statuses {
		calls.Go(func() { statuses[i] = call(i).Status })
	}
	calls.Wait()
	succeeded := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			succeeded++
			continue
		}
		assert.Equal(t, refused, status)
	}
	assert.Equal(t, 1, succeeded)
}

// TestAPlanIsAppliedOnce: of many concurrent calls, exactly one applies the plan.
func TestAPlanIsAppliedOnce(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	change := update("aschmidt", map[string]any{"Department": "Quality"})
	p, _ := dryRun(s, change)
	onlyOne(t, 8, http.StatusConflict, func(int) systemtest.Answer { return s.Do(applying(change, p)) })
	assert.Equal(t, "used", planned(s, p.ID).State)
}

// TestAPlanHoldsOrNothingIsChanged: a plan is either applied exactly or changes nothing. The test compares a
// user's values with a model, and changes some of them between the plan and its application.
func TestAPlanHoldsOrNothingIsChanged(t *testing.T) {
	const seed, steps = 22, 60
	random := rand.New(rand.NewPCG(seed, 0))
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	fields := []string{"Department", "Company", "JobTitle", "City", "Office"}
	some := func() map[string]any {
		params := map[string]any{}
		for range 1 + random.IntN(3) {
			params[fields[random.IntN(len(fields))]] = fmt.Sprint("value ", random.IntN(3))
		}
		return params
	}
	values := map[string]any{}
	model := func(params map[string]any) { maps.Copy(values, params) }
	start := map[string]any{}
	for _, field := range fields {
		start[field] = "value 0"
	}
	s.OK(update("aschmidt", start), http.StatusOK)
	model(start)
	held, drifted := 0, 0
	for range steps {
		change := some()
		p, _ := dryRun(s, update("aschmidt", change))
		before, meanwhile := maps.Clone(values), some()
		if random.IntN(3) > 0 {
			s.OK(update("aschmidt", meanwhile), http.StatusOK)
			model(meanwhile)
		}
		holds := true
		for field := range change {
			holds = holds && values[field] == before[field]
		}
		state := s.Snapshot()
		a := s.Do(applying(update("aschmidt", change), p))
		if holds {
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			model(change)
			held++
		} else {
			require.Equal(t, http.StatusPreconditionFailed, a.Status, "%s", a.Body)
			require.Empty(t, state.Compare(s.Snapshot()))
			drifted++
		}
		record := s.Record(s.Get("/api/ADUser/aschmidt/Details"))
		for field, value := range values {
			require.Equal(t, value, record[strings.ToLower(field[:1])+field[1:]], field)
		}
	}
	t.Logf("seed %d: %d plans held, %d had drifted", seed, held, drifted)
	assert.NotZero(t, held)
	assert.NotZero(t, drifted)
}

// TestThePlanOfARenamedComputerHasAllItsNames: the plan also shows the DNS name and the
// service principal names, which change together with the account name.
func TestThePlanOfARenamedComputerHasAllItsNames(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	rename := systemtest.RenameComputer("WEB1", "WEB9")
	p, _ := dryRun(s, rename)
	fields := map[string]any{}
	for _, change := range p.Objects[0].Changes {
		fields[change.Field] = change.After
	}
	assert.Equal(t, "WEB9$", fields["samName"])
	assert.Equal(t, "WEB9", fields["computerName"])
	assert.Equal(t, "web9.corp.example", fields["dnsName"])
	s.OK(applying(rename, p), http.StatusOK)
	stored := s.Stored("CN=WEB9,"+systemtest.ServersOU, "servicePrincipalName")
	if spns, has := fields["servicePrincipalName"]; assert.True(t, has) {
		assert.Contains(t, spns, "WEB9", "%v", stored)
	}
}

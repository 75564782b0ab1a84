package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

const auditSecret = "Corr3ct-Horse-9"

// TestTheServerOfAChangeIsRecorded: the server is recorded before the change is made, with the
// epoch in which the gateways chose it.
func TestTheServerOfAChangeIsRecorded(t *testing.T) {
	run := func(_ context.Context, req ps.Request) (*ps.Result, error) {
		err := req.Announced(ps.Intent{Effect: ps.EffectChanged, Server: "dc2.corp.example", PinEpoch: 7,
			Objects: []ps.Intended{
				{GUID: "g-1", DN: "CN=J", Changes: []ps.IntendedChange{{Name: "l", Before: "Bonn", After: "Rome"}}}}})
		require.NoError(t, err)
		return &ps.Result{Effect: ps.EffectChanged, Server: "dc2.corp.example"},
			req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
	}
	s, file, lines := harness.Audited(t, &harness.Runner{Do: run}, false)
	require.Equal(t, http.StatusOK, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe?City=Rome", "").Code)
	require.Len(t, lines(), 2)
	for _, line := range lines() {
		assert.Equal(t, "dc2.corp.example", line.Server, line.Event)
		assert.EqualValues(t, 7, line.PinEpoch, line.Event)
	}
	report, err := audit.Verify(audit.Check{File: file})
	require.NoError(t, err)
	assert.Empty(t, report.Faults)
}

func TestChangesAreRecorded(t *testing.T) {
	result := ps.Result{
		Effect: ps.EffectChanged, Server: "dc1.corp.example",
		Changes: []ps.Change{{GUID: "g1", DN: "CN=J",
			Before: map[string]json.RawMessage{"city": json.RawMessage(`"Bonn"`)},
			After:  map[string]json.RawMessage{"city": json.RawMessage(`"Köln"`)}}},
		Steps: []ps.Step{{Label: "set attributes", GUID: "g1", DN: "CN=J"}},
	}
	s, file, lines := harness.Audited(t, harness.Answering(result, "["+harness.Sample(schema.User)+"]"), false)
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe", "City=K%C3%B6ln&Password="+auditSecret,
		"Content-Type: application/x-www-form-urlencoded")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.Equal(t, http.StatusOK, harness.Call(s, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)

	all := lines()
	require.Len(t, all, 2, "reads are not recorded")
	intent, outcome := all[0], all[1]
	assert.Equal(t, audit.EventIntent, intent.Event)
	assert.Equal(t, "test-1", intent.RequestID)
	assert.Equal(t, &audit.Who{Name: "all", Kind: "token"}, intent.Who)
	assert.Equal(t, "192.0.2.1", intent.From)
	assert.Equal(t, "user.update", intent.Operation)
	assert.Equal(t, map[string]string{"Username": "jdoe", "Password": "***"}, intent.Parameters)
	assert.Equal(t, "done", outcome.Outcome)
	assert.Equal(t, http.StatusOK, outcome.Status)
	assert.Equal(t, "dc1.corp.example", outcome.Server)
	assert.Equal(t, result.Changes, outcome.Changes)
	assert.Equal(t, result.Steps, outcome.Steps)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), auditSecret)
}

func TestOutcomesOfTheAudit(t *testing.T) {
	user := "[" + harness.Sample(schema.User) + "]"
	panicking := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if err := harness.Announce(req); err != nil {
			return nil, err
		}
		panic("broken")
	}}
	unannounced := harness.Answering(ps.Result{Effect: ps.EffectChanged}, user)
	announced := unannounced.Do
	unannounced.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		req.Announced = nil
		return announced(ctx, req)
	}
	for name, c := range map[string]struct {
		runner  ps.Runner
		outcome string
		code    string
		status  int
		lines   int
	}{
		"nothing to do":  {harness.Answering(ps.Result{Effect: ps.EffectNone}, user), "none", "", 200, 1},
		"not found":      {harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "not_found", Message: "No."}), "none", "not_found", 404, 1},
		"half-way":       {harness.Failing(ps.Error{Kind: ps.KindScript, Code: "5", Type: "Microsoft.ActiveDirectory.Management.ADException", Outcome: ps.OutcomePartial, Remains: []ps.Object{{GUID: "g"}}}), "partial", "directory_denied", 403, 2},
		"cut off":        {harness.Failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown, Steps: []ps.Step{{Label: "s"}}}), "unknown", "timeout", 504, 2},
		"no records":     {harness.Answering(ps.Result{Effect: ps.EffectChanged}), "done", "not_read_back", 200, 2},
		"overloaded":     {harness.Failing(ps.Error{Kind: ps.KindOverloaded}), "refused", "overloaded", 503, 1},
		"no session":     {harness.Failing(ps.Error{Kind: ps.KindUnavailable}), "refused", "unavailable", 503, 1},
		"left the queue": {harness.Failing(ps.Error{Kind: ps.KindCancelled}), "refused", "timeout", 504, 1},
		"panic":          {panicking, "unknown", "internal", 500, 2},
		"not announced":  {unannounced, "done", "", 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, lines := harness.Audited(t, c.runner, false)
			require.Equal(t, c.status, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "").Code)
			all := lines()
			require.Len(t, all, c.lines, "only what announces a change has an intent")
			last := all[c.lines-1]
			assert.Equal(t, c.outcome, last.Outcome)
			assert.Equal(t, c.code, last.Code)
			assert.Equal(t, c.status, last.Status)
			assert.Equal(t, c.lines == 2, last.Intent > 0)
			assert.Equal(t, "jdoe", all[0].Parameters["Username"])
		})
	}
}

// TestTheOutcomeIsRecordedBeforeTheAnswer: the audit has the outcome when the first byte of the
// answer is written, for small and large answers and for refused changes.
func TestTheOutcomeIsRecordedBeforeTheAnswer(t *testing.T) {
	records := "[" + harness.Sample(schema.Computer) + strings.Repeat(","+harness.Sample(schema.Computer), 499) +
		"]"
	for name, c := range map[string]struct {
		runner       ps.Runner
		method, path string
		status       int
	}{
		"small":         {harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]"), http.MethodPut, "/api/ADUser/jdoe/Disable", 200},
		"large":         {harness.Answering(ps.Result{Effect: ps.EffectRemoved}, records, records), http.MethodDelete, "/api/Computers/Remove?WildCard=pc*&OUPath=OU=x,DC=corp,DC=example", 200},
		"failed":        {harness.Failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown}), http.MethodPut, "/api/ADUser/jdoe/Disable", 504},
		"nothing to do": {harness.Answering(ps.Result{Effect: ps.EffectNone}, "["+harness.Sample(schema.User)+"]"), http.MethodPut, "/api/ADUser/jdoe/Disable", 200},
		"refused":       {harness.Answering(harness.OK), http.MethodPut, "/api/ADUser/jdoe/Disable?Nonsense=1", 400},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, lines := harness.Audited(t, c.runner, false)
			w := &watchedWriter{ResponseRecorder: httptest.NewRecorder()}
			w.first = func() {
				all := lines()
				require.NotEmpty(t, all)
				w.seen = all[len(all)-1]
			}
			request := httptest.NewRequest(c.method, c.path, nil)
			request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
			s.Handler().ServeHTTP(w, request)
			require.Equal(t, c.status, w.Code, w.Body)
			require.NotNil(t, w.seen)
			assert.Equal(t, c.status, w.seen.Status)
			assert.NotEqual(t, audit.EventIntent, w.seen.Event)
		})
	}
}

// watchedWriter calls first before it writes the first byte.
type watchedWriter struct {
	*httptest.ResponseRecorder
	first func()
	seen  *audit.Line
}

func (w *watchedWriter) begin() {
	if w.first != nil {
		w.first()
		w.first = nil
	}
}

func (w *watchedWriter) WriteHeader(status int)      { w.begin(); w.ResponseRecorder.WriteHeader(status) }
func (w *watchedWriter) Write(b []byte) (int, error) { w.begin(); return w.ResponseRecorder.Write(b) }

// TestRefusedCallsAreRecorded: refusals are recorded for every changing row and for several
// reasons.
func TestRefusedCallsAreRecorded(t *testing.T) {
	const perServer = 6 // further refusals of an address are only counted
	var s *gateway.Server
	var lines func() []*audit.Line
	seen := 0
	for i, op := range opstest.Own() {
		if i%perServer == 0 {
			s, _, lines = harness.Audited(t, harness.Answering(harness.OK), false)
			seen = 0
		}
		path := target(op, "", "")
		harness.Call(s, op.Method, path, "", "Auth-Token: ")
		harness.Call(s, op.Method, path, "", "Auth-Token: Bearer "+harness.OpsToken)
		harness.Call(s, op.Method, path+"?Nonsense=1", "")
		all := lines()[seen:]
		seen += len(all)
		if !op.Effect.Writes() && !op.Reveals {
			assert.Empty(t, all, op.ID)
			continue
		}
		require.Len(t, all, 3, op.ID)
		for i, code := range []string{"unauthenticated", "forbidden", "invalid_request"} {
			assert.Equal(t, audit.EventRefused, all[i].Event)
			assert.Equal(t, code, all[i].Code, op.ID)
			assert.Equal(t, op.ID, all[i].Operation)
			for _, p := range op.Params {
				if p.Path != "" {
					assert.Equal(t, goodValue(p.Name), all[i].Parameters[p.Name], op.ID)
				}
			}
		}
	}
}

func TestARefusedSecretIsMasked(t *testing.T) {
	s, file, lines := harness.Audited(t, harness.Answering(harness.OK), false)
	harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword",
		`{"newPassword":"`+auditSecret+`","ChangePassword":3}`, "Content-Type: application/json")
	harness.Call(s, http.MethodDelete, "/api/ADUser/"+strings.Repeat("ü", 5000), "")
	all := lines()
	require.Len(t, all, 2)
	assert.Equal(t, "***", all[0].Parameters["newPassword"])
	assert.Len(t, all[1].Parameters["Username"], 256+len("…"), "values of refused requests are shortened")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), auditSecret)
}

func TestReadsAreRecordedIfConfigured(t *testing.T) {
	runner := harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]")
	s, _, lines := harness.Audited(t, runner, true, func(o *gateway.Options) { o.StreamAbove = 1 })
	require.Equal(t, http.StatusOK, harness.Call(s, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)
	all := lines()
	require.Len(t, all, 1)
	assert.Equal(t, "none", all[0].Outcome)
	assert.Equal(t, "jdoe", all[0].Parameters["Username"])

	require.Equal(t, http.StatusOK, harness.Call(s, http.MethodGet, "/api/ADUser/ListUsers/All", "").Code)
	all = lines()
	require.Len(t, all, 3)
	assert.Equal(t, audit.EventIntent, all[1].Event,
		"an answer that is streamed is recorded before it begins, and when it is complete")
	assert.Equal(t, "none", all[2].Outcome)
}

// TestNothingIsChangedWithoutARecord: while the audit cannot be written, changes are refused, reads
// are served, and /readyz fails.
func TestNothingIsChangedWithoutARecord(t *testing.T) {
	folder := ""
	lose := func() { // replaces the folder with a file, so that nothing in it can be opened
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.WriteFile(folder, nil, 0o600))
	}
	runner := harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]")
	run := runner.Do
	losing := false
	runner.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if losing {
			lose()
		}
		return run(ctx, req)
	}
	s, file, lines := harness.Audited(t, runner, false)
	folder = filepath.Dir(file)
	disable := func() int { return harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "").Code }
	ready := func() int { return harness.Call(s, http.MethodGet, "/readyz", "").Code }
	require.Equal(t, http.StatusOK, disable())
	require.Equal(t, http.StatusOK, ready())

	losing = true
	assert.Equal(t, http.StatusOK, disable(), "the change was made, so the answer stands")
	losing = false
	ran := runner.Count()
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "")
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	got := harness.Read(t, w)
	assert.Equal(t, schema.Unavailable, got.Error.Code)
	assert.Equal(t, "none", got.Error.Outcome)
	assert.NotContains(t, got.Output, folder, "the answer must not reveal a path")
	assert.Equal(t, ran, runner.Count(), "nothing must run")
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)
	w = harness.Call(s, http.MethodGet, "/readyz", "")
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Contains(t, w.Body.String(), "the audit log cannot be written")

	require.NoError(t, os.Remove(folder))
	assert.Equal(t, http.StatusOK, ready())
	assert.Equal(t, http.StatusOK, disable())
	var outcomes []uint64
	for _, line := range lines() {
		if line.Event == audit.EventOutcome {
			outcomes = append(outcomes, line.Intent)
		}
	}
	assert.Len(t, outcomes, 2, "the overdue outcome and the new one")
}

// TestNothingIsRevealedWithoutARecord: the audit has the intent before the script begins. Without
// an audit log, or with one that cannot be written, nothing runs.
func TestNothingIsRevealedWithoutARecord(t *testing.T) {
	const path, body = "/api/Computers/PC01/LocalAdmin/Reveal", "Reason=INC-4711+no+network"
	reveal := func(s *gateway.Server) int {
		w := harness.Call(s, http.MethodPost, path, body, "Content-Type: application/x-www-form-urlencoded")
		if w.Code != http.StatusOK {
			got := harness.Read(t, w)
			assert.Equal(t, schema.Unavailable, got.Error.Code)
			assert.NotEmpty(t, w.Header().Get("Retry-After"))
		}
		return w.Code
	}
	runner := harness.Answering(harness.OK, "["+harness.Sample(schema.LocalAdminSecret)+"]")
	off := harness.New(t, runner, func(o *gateway.Options) { o.Engine = "powershell" })
	assert.Equal(t, http.StatusServiceUnavailable, reveal(off))
	assert.Zero(t, runner.Count())

	begun := 0
	var lines func() []*audit.Line
	run := runner.Do
	runner.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		for _, line := range lines() {
			if line.Event == audit.EventIntent {
				begun++
			}
		}
		return run(ctx, req)
	}
	var s *gateway.Server
	var file string
	s, file, lines = harness.Audited(t, runner, false, func(o *gateway.Options) { o.Engine = "powershell" })
	require.Equal(t, http.StatusOK, reveal(s))
	assert.Equal(t, 1, begun, "before the script")
	folder := filepath.Dir(file)
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	lines = func() []*audit.Line { return nil }
	ran := runner.Count()
	reveal(s) // either this call or the next one notices that the log cannot be written
	assert.Equal(t, http.StatusServiceUnavailable, reveal(s))
	assert.LessOrEqual(t, runner.Count(), ran+1)
}

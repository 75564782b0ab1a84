package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const auditSecret = "Corr3ct-Horse-9"

// audited returns a server with an audit log, and a function that reads its lines.
func audited(t *testing.T, runner ps.Runner, reads bool) (s *Server, file string, lines func() []*audit.Line) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "log", "audit.jsonl")
	log, err := audit.Open(audit.Options{File: file, Reads: reads})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() }) // some tests remove its folder
	lines = func() []*audit.Line {
		var all []*audit.Line
		require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
			all = append(all, r.Lines()...)
			return nil
		}))
		return all
	}
	return newTestServer(t, runner, func(o *Options) { o.Audit = log }), file, lines
}

func TestChangesAreRecorded(t *testing.T) {
	result := ps.Result{
		Effect: ps.EffectChanged, Server: "dc1.corp.example",
		Changes: []ps.Change{{GUID: "g1", DN: "CN=J", Before: map[string]json.RawMessage{"city": json.RawMessage(`"Bonn"`)}, After: map[string]json.RawMessage{"city": json.RawMessage(`"Köln"`)}}},
		Steps:   []ps.Step{{Label: "set attributes", GUID: "g1", DN: "CN=J"}},
	}
	s, file, lines := audited(t, answering(result, "["+sample(schema.User)+"]"), false)
	w := call(s, http.MethodPut, "/api/ADUser/jdoe", "City=K%C3%B6ln&Password="+auditSecret, "Content-Type: application/x-www-form-urlencoded")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.Equal(t, http.StatusOK, call(s, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)

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
	user := "[" + sample(schema.User) + "]"
	panicking := &fakeRunner{run: func(context.Context, ps.Request) (*ps.Result, error) { panic("broken") }}
	for name, c := range map[string]struct {
		runner  ps.Runner
		outcome string
		code    string
		status  int
	}{
		"nothing to do": {answering(ps.Result{Effect: ps.EffectNone}, user), "none", "", 200},
		"not found":     {failing(ps.Error{Kind: ps.KindScript, Gateway: "not_found", Message: "No."}), "none", "not_found", 404},
		"half-way":      {failing(ps.Error{Kind: ps.KindScript, Code: "5", Type: "Microsoft.ActiveDirectory.Management.ADException", Outcome: ps.OutcomePartial, Remains: []ps.Object{{GUID: "g"}}}), "partial", "directory_denied", 403},
		"cut off":       {failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown, Steps: []ps.Step{{Label: "s"}}}), "unknown", "timeout", 504},
		"no records":    {answering(ps.Result{Effect: ps.EffectChanged}), "done", "internal", 500},
		"overloaded":    {failing(ps.Error{Kind: ps.KindOverloaded}), "none", "overloaded", 503},
		"panic":         {panicking, "unknown", "internal", 500},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, lines := audited(t, c.runner, false)
			require.Equal(t, c.status, call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "").Code)
			all := lines()
			require.Len(t, all, 2)
			assert.Equal(t, c.outcome, all[1].Outcome)
			assert.Equal(t, c.code, all[1].Code)
			assert.Equal(t, c.status, all[1].Status)
		})
	}
}

// TestRefusedCallsAreRecorded covers every changing row and several reasons.
func TestRefusedCallsAreRecorded(t *testing.T) {
	const perServer = 6 // beyond that, refusals of one address are only counted
	var s *Server
	var lines func() []*audit.Line
	seen := 0
	for i, op := range ops.Table() {
		if i%perServer == 0 {
			s, _, lines = audited(t, answering(okResult), false)
			seen = 0
		}
		path := target(op, "", "")
		call(s, op.Method, path, "", "Auth-Token: ")
		call(s, op.Method, path, "", "Auth-Token: Bearer "+opsToken)
		call(s, op.Method, path+"?Nonsense=1", "")
		all := lines()[seen:]
		seen += len(all)
		if !op.Effect.Writes() {
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
	s, file, lines := audited(t, answering(okResult), false)
	call(s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword", `{"newPassword":"`+auditSecret+`","ChangePassword":3}`, "Content-Type: application/json")
	call(s, http.MethodDelete, "/api/ADUser/"+strings.Repeat("ü", 5000), "")
	all := lines()
	require.Len(t, all, 2)
	assert.Equal(t, "***", all[0].Parameters["newPassword"])
	assert.Len(t, all[1].Parameters["Username"], 4096+len("…"), "values of refused requests are shortened")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), auditSecret)
}

func TestReadsAreRecordedIfConfigured(t *testing.T) {
	s, _, lines := audited(t, answering(okResult, "["+sample(schema.User)+"]"), true)
	require.Equal(t, http.StatusOK, call(s, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)
	all := lines()
	require.Len(t, all, 2)
	assert.Equal(t, "none", all[1].Outcome)
}

// TestNothingIsChangedWithoutARecord checks that, while the audit cannot be written,
// changes are refused, reads are served, and /readyz fails.
func TestNothingIsChangedWithoutARecord(t *testing.T) {
	folder := ""
	lose := func() { // replaces the folder by a file, so that nothing can be opened in it
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.WriteFile(folder, nil, 0o600))
	}
	runner := answering(okResult, "["+sample(schema.User)+"]")
	run := runner.run
	losing := false
	runner.run = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if losing {
			lose()
		}
		return run(ctx, req)
	}
	s, file, lines := audited(t, runner, false)
	folder = filepath.Dir(file)
	disable := func() int { return call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "").Code }
	ready := func() int { return call(s, http.MethodGet, "/readyz", "").Code }
	require.Equal(t, http.StatusOK, disable())
	require.Equal(t, http.StatusOK, ready())

	losing = true
	assert.Equal(t, http.StatusOK, disable(), "the change was made, so the answer stands")
	losing = false
	ran := runner.count()
	w := call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "")
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	got := read(t, w)
	assert.Equal(t, schema.Unavailable, got.Error.Code)
	assert.Equal(t, "none", got.Error.Outcome)
	assert.NotContains(t, got.Output, folder, "the answer must not reveal a path")
	assert.Equal(t, ran, runner.count(), "nothing must run")
	assert.Equal(t, http.StatusOK, call(s, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)
	w = call(s, http.MethodGet, "/readyz", "")
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

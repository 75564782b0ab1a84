package hostile

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// audited starts a system with an audit log. It returns the path of the log and a function
// that returns the size of the log in bytes.
func audited(t *testing.T, overrides ...string) (s *systemtest.System, file string, size func() int64) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "audit.jsonl")
	s = systemtest.New(t, sandbox.Options{Seed: 1}, append(overrides, "audit.file="+file)...)
	return s, file, func() int64 { return sizeOf(t, file) }
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Size()
}

// TestCallsWithoutEffectDoNotFillTheAudit repeats changes that have no effect, with the longest values
// allowed, more often in a thorough run. The audit hardly grows, and still contains the changes made before
// and between them.
func TestCallsWithoutEffectDoNotFillTheAudit(t *testing.T) {
	s, file, size := audited(t)
	change := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser,
		Params: map[string]any{"City": "Rome"}}
	require.Equal(t, http.StatusOK, s.Do(change).Status)
	before, repeats := size(), 60
	if thorough.All() {
		repeats = 200
	}
	long := "OU=" + strings.Repeat(`\"`, 2000) + "," + systemtest.EmptyOU
	for _, c := range []systemtest.Call{
		{Method: http.MethodPut, Path: "/api/OU/Move", Params: map[string]any{"OUPath": long, "OUDestinationPath": long}},
		{Method: http.MethodPut, Path: "/api/ADUser/nobody", Params: map[string]any{"JobTitle": "Clerk"}},
		change, // the change is already made
		{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser + "/Enable"},
		{Method: http.MethodPut, Path: "/api/OU", Params: map[string]any{"OUPath": systemtest.EmptyOU, "IsProtected": false}},
		{Method: http.MethodDelete, Path: "/api/Computers/Remove", Params: map[string]any{"WildCard": "none*"}},
	} {
		want := s.Do(c).Status
		for range repeats {
			require.Equal(t, want, s.Do(c).Status)
		}
	}
	grown := size() - before
	t.Logf("%d bytes of audit for 6 calls repeated %d times", grown, repeats)
	assert.Less(t, grown, int64(120<<10), "twenty lines of each kind")

	change.Params = map[string]any{"City": "Oslo"}
	require.Equal(t, http.StatusOK, s.Do(change).Status)
	cities := 0
	require.NoError(t, audit.Read(file, nil, audit.Filter{Outcome: "done"}, func(r *audit.Record) error {
		require.NotNil(t, r.Intent)
		cities++
		return nil
	}))
	assert.Equal(t, 2, cities)
}

// TestStrangersDoNotHideKnownCallers sends wrong tokens first. Later refusals of a valid token from the same
// address must still have one audit record each.
func TestStrangersDoNotHideKnownCallers(t *testing.T) {
	s, file, _ := audited(t)
	targets := []string{"Administrator", "krbtgt", "aschmidt", "jmueller", "asato", systemtest.SampleUser}
	for range 30 {
		s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/x/Disable", Token: "wrong"})
	}
	for _, name := range targets {
		s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + name + "/Disable",
			Token: systemtest.ReadToken}, http.StatusForbidden, "forbidden")
	}
	var found []string
	require.NoError(t, audit.Read(file, nil, audit.Filter{Outcome: audit.OutcomeRefused},
		func(r *audit.Record) error {
			if r.Call().Who != nil {
				found = append(found, r.Call().Parameters["Username"])
			}
			return nil
		}))
	assert.Equal(t, targets, found)
}

// TestNoIntentWithoutASession sends changes while no session can be started. They are refused without an
// intent in the audit. After the first few, refusals are only counted.
func TestNoIntentWithoutASession(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	s := systemtest.NewWithSessions(t, world, session.Config{Starter: noStarter{}}, "audit.file="+file,
		"pool.maxWait=100ms")
	for range 100 {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Disable"})
		require.Equal(t, http.StatusServiceUnavailable, a.Status)
		require.Equal(t, "none", a.Envelope.Error.Outcome)
	}
	lines := 0
	require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
		assert.Nil(t, r.Intent)
		assert.Equal(t, audit.OutcomeRefused, r.State())
		lines++
		return nil
	}))
	assert.LessOrEqual(t, lines, 20)
	assert.NotZero(t, s.Stack.Audit.Stats().Suppressed)
}

// noStarter fails to start processes.
type noStarter struct{}

func (noStarter) StartProcess(string, ...string) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	return nil, nil, nil, nil, os.ErrPermission
}

// TestChangesAreRefusedBeforeEvidenceIsRemoved fills the space for the audit. Changes are then refused with
// 503, reads still succeed, and no audit line is lost.
func TestChangesAreRefusedBeforeEvidenceIsRemoved(t *testing.T) {
	s, file, _ := audited(t, "audit.maxTotal=1")
	c := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser}
	changes, warned := 0, false
	var refused systemtest.Answer
	for ; changes < 2000; changes++ {
		c.Params = map[string]any{"Description": strings.Repeat("x", 1000) + []string{"a", "b"}[changes%2]}
		if a := s.Do(c); a.Status != http.StatusOK {
			refused = a
			break
		}
		if !warned && s.Stack.Audit.Warning() != "" {
			warned = true
			ready := s.Get("/readyz")
			assert.Equal(t, http.StatusOK, ready.Status, "changes are still possible")
			assert.Contains(t, string(ready.Body), `"degraded":true`)
		}
	}
	assert.True(t, warned)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	assert.Equal(t, "unavailable", refused.Envelope.Error.Code)
	assert.Equal(t, "none", refused.Envelope.Error.Outcome)
	assert.Contains(t, refused.Envelope.Output, "audit.maxTotal")
	assert.NotContains(t, refused.Envelope.Output, file)
	before := s.Snapshot()
	for range 50 {
		require.Equal(t, http.StatusServiceUnavailable, s.Do(c).Status)
	}
	assert.Empty(t, before.Compare(s.Snapshot()))
	assert.Equal(t, http.StatusOK, s.Get("/api/ADUser/"+systemtest.SampleUser+"/Details").Status)
	assert.Equal(t, http.StatusServiceUnavailable, s.Get("/readyz").Status)
	assert.NotEmpty(t, s.Stack.Audit.Warning())
	report, err := audit.Verify(audit.Check{File: file})
	require.NoError(t, err)
	assert.Empty(t, report.Faults)
	assert.Equal(t, uint64(1), report.First)
	done := 0
	require.NoError(t, audit.Read(file, nil, audit.Filter{Outcome: string(ps.OutcomeDone)},
		func(*audit.Record) error { done++; return nil }))
	assert.Equal(t, changes, done)
}

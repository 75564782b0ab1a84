package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/accesslog"
	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/transport"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const disable = "/api/ADUser/jdoe/Disable"

// served holds several gateways, with the scripts that each has run and the lines that it has recorded.
type served struct {
	*replicas
	runners []*harness.Runner
	audits  []string // paths of their audit files
	logs    []*logtest.Hook
}

func newServed(t *testing.T, n int) *served {
	t.Helper()
	s := &served{logs: make([]*logtest.Hook, n)}
	folder := t.TempDir()
	for range n {
		s.runners = append(s.runners,
			harness.Answering(ps.Result{Effect: ps.EffectChanged, Server: "dc1"}, "["+harness.Sample(schema.User)+"]"))
		s.audits = append(s.audits, filepath.Join(folder, string(rune('a'+len(s.audits)))))
	}
	s.replicas = newReplicas(t, n, func(n int) ps.Runner { return s.runners[n] },
		func(n int, o *gateway.Options) {
			var log *logrus.Logger
			log, s.logs[n] = logtest.NewNullLogger()
			lines, err := audit.Open(audit.Options{File: s.audits[n]})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, lines.Close()) })
			o.Log, o.Audit = log, lines
			o.Policy.TrustedProxies = []string{"10.9.9.9"}
			o.Pages = func(*gateway.Server) gateway.Pages {
				return nobodysPages(func(w http.ResponseWriter, r *http.Request) {
					http.SetCookie(w, &http.Cookie{Name: "at", Value: o.Hop.Gateway})
					_, _ = io.WriteString(w, transport.ClientOf(r).String())
				})
			}
		})
	return s
}

// nobodysPages implements pages on which nobody can sign in with a domain account.
type nobodysPages http.HandlerFunc

func (p nobodysPages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p(w, r) }

func (nobodysPages) Tickets() authn.Tickets { return nil }

func (nobodysPages) Rights(context.Context, string) ([]*identity.Principal, error) { return nil, nil }

// ran returns the number of scripts that a gateway has run.
func (s *served) ran(r *replicated) int { return s.runners[r.n].Count() }

// recorded returns the contents of a gateway's audit file.
func (s *served) recorded(r *replicated) string {
	text, err := os.ReadFile(s.audits[r.n])
	require.NoError(s.t, err)
	return string(text)
}

func TestAChangeIsMadeByTheLeader(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	header := []string{"Idempotency-Key: key-of-the-change", "From-Peer: 10.9.9.9:1234",
		"X-Forwarded-For: 192.0.2.77"}
	var first string
	for i, r := range s.others(leader) {
		w := harness.Call(r.Server, http.MethodPut, disable, "", header...)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		assert.Equal(t, "test-1", w.Header().Get("X-Request-Id"))
		assert.NotEmpty(t, w.Header().Get(harness.ChangeHeader))
		assert.Equal(t, []string{"nosniff"}, w.Header().Values("X-Content-Type-Options"))
		if i == 0 {
			first = w.Header().Get(harness.ChangeHeader)
		}
		assert.Equal(t, first, w.Header().Get(harness.ChangeHeader), "the key is that of the same change")
		assert.Zero(t, s.ran(r))
		assert.NotContains(t, s.recorded(r), "192.0.2.77")
		assert.InDelta(t, 1, forwarded(t, r, hop.Forwarded), 0)
		assert.Equal(t, leader.name, lineOf(t, s.logs[r.n], "request forwarded")["answered_by"])
	}
	assert.Equal(t, 1, s.ran(leader))
	assert.Contains(t, s.recorded(leader), `"192.0.2.77"`)
	line := lineOf(t, s.logs[leader.n], "request")
	assert.Equal(t, leader.name, line["answered_by"])
	assert.Equal(t, "192.0.2.77", line["client"])
	assert.NotEmpty(t, line["forwarded_by"])
}

// lineOf returns the first line of a log with a message.
func lineOf(t *testing.T, log *logtest.Hook, message string) map[string]any {
	t.Helper()
	for _, e := range log.AllEntries() {
		if e.Message == message {
			return fieldsOf(t, e)
		}
	}
	require.Fail(t, "no such line", message)
	return nil
}

// fieldsOf returns the fields of a log entry as they are formatted.
func fieldsOf(t *testing.T, entry *logrus.Entry) map[string]any {
	t.Helper()
	text, err := accesslog.JSON().Format(entry)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	return fields
}

func TestADirectoryReadIsNotForwarded(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	for _, r := range s.all {
		require.Equal(t, http.StatusOK, harness.Call(r.Server, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)
		assert.Equal(t, 1, s.ran(r))
	}
	assert.Equal(t, 1, s.ran(leader))
}

func TestPagesComeFromTheLeader(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	for _, r := range s.others(leader) {
		for path, at := range map[string]string{"/ui/": leader.name, "/ui/jobs": leader.name,
			"/ui/assets/1/a.css": r.name} {
			w := harness.Call(r.Server, http.MethodGet, path, "", "From-Peer: 192.0.2.5:1")
			assert.Equal(t, "at="+at, w.Header().Get("Set-Cookie"), path)
			assert.Equal(t, "192.0.2.5", w.Body.String())
		}
	}
}

// TestForgedHeadersOfTheHopCountForNothing: a client that sends the hop's headers to a public listener is
// treated like any other client, both by the leader and by the other gateways.
func TestForgedHeadersOfTheHopCountForNothing(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	forged := []string{"X-Adgateway-Hop-Client: 192.0.2.99", "X-Adgateway-Hop-Scheme: https",
		"X-Adgateway-Hop-Request-Id: forged", "From-Peer: 192.0.2.5:1"}
	for _, r := range s.all {
		w := harness.Call(r.Server, http.MethodPut, disable, "", forged...)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		assert.Equal(t, "test-1", w.Header().Get("X-Request-Id"))
		assert.Empty(t, w.Header().Get("Strict-Transport-Security"))
	}
	for _, r := range s.all {
		assert.NotContains(t, s.recorded(r), "192.0.2.99")
		assert.NotContains(t, s.recorded(r), "forged")
	}
	assert.Contains(t, s.recorded(leader), "192.0.2.5")
}

// TestWithoutALeader: changes are refused before they begin. Data in this gateway's copy can still
// be read, with a warning.
func TestWithoutALeader(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	made := harness.Call(leader.Server, http.MethodPut, disable, "").Header().Get(harness.ChangeHeader)
	require.NotEmpty(t, made)
	s.level()
	alone := s.others(leader)[0]
	alone.cut()
	leaderless := func() bool { return alone.Member.Status().Leader == "" }
	require.Eventually(t, leaderless, replicaPatience, 5*time.Millisecond)

	answers := s.calls(alone, []string{disable, "/api/Changes", "/api/Changes/" + made, "/api/Jobs", "/ui/jobs"})
	refused := answers[disable]
	assert.Equal(t, http.StatusServiceUnavailable, refused.Code)
	assert.Equal(t, "2", refused.Header().Get("Retry-After"))
	failed := errorOf(t, refused)
	assert.Equal(t, schema.NotLeader, failed.Code)
	assert.Equal(t, string(ps.OutcomeNone), failed.Outcome)
	assert.Equal(t, "test-1", failed.RequestID)
	assert.Zero(t, s.ran(alone))

	for _, path := range []string{"/api/Changes", "/api/Changes/" + made} {
		w := answers[path]
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		assert.Contains(t, w.Body.String(), made)
		assert.Contains(t, w.Body.String(), `"warnings":[{"code":"behind"`)
	}
	assert.Equal(t, schema.NotLeader, errorOf(t, answers["/api/Jobs"]).Code)
	page := answers["/ui/jobs"]
	assert.Equal(t, http.StatusServiceUnavailable, page.Code)
	assert.Equal(t, "2", page.Header().Get("Refresh"))
	assert.Contains(t, page.Header().Get("Content-Type"), "text/plain")
	assert.InDelta(t, 5, forwarded(t, alone, hop.NotLeader), 0)

	alone.sleep(30 * time.Second) // then nothing waits for a leader
	late := harness.Call(alone.Server, http.MethodGet, "/api/Changes", "").Body.String()
	assert.Contains(t, late, `"code":"behind"`)
	assert.InDelta(t, 5, forwarded(t, alone, hop.NotLeader), 0)

	alone.mend()
	s.leader()
	assert.NotContains(t, harness.Call(alone.Server, http.MethodGet, "/api/Changes", "").Body.String(), "behind")
}

// calls sends several requests to a gateway at once. Each waits a few seconds for a leader.
func (s *served) calls(at *replicated, paths []string) map[string]*httptest.ResponseRecorder {
	answers := make([]*httptest.ResponseRecorder, len(paths))
	var group sync.WaitGroup
	for i, path := range paths {
		group.Go(func() {
			method := http.MethodGet
			if path == disable {
				method = http.MethodPut
			}
			answers[i] = harness.Call(at.Server, method, path, "")
		})
	}
	group.Wait()
	byPath := map[string]*httptest.ResponseRecorder{}
	for i, path := range paths {
		byPath[path] = answers[i]
	}
	return byPath
}

// errorOf returns the error of an answer.
func errorOf(t *testing.T, w *httptest.ResponseRecorder) harness.Failure {
	t.Helper()
	var body struct{ Error harness.Failure }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body)
	return body.Error
}

// forwarded returns the number of calls that a gateway has sent to the leader with a given outcome.
func forwarded(t *testing.T, r *replicated, outcome hop.Outcome) float64 {
	t.Helper()
	return harness.Metric(t, r.Server, `adgateway_forwarded_total{outcome="`+string(outcome)+`"}`)
}

// TestAnAnswerThatDoesNotCome: the leader is lost while it makes a change. Only a call with a key
// may be repeated.
func TestAnAnswerThatDoesNotCome(t *testing.T) {
	t.Parallel()
	d := newTown()
	rs := newReplicas(t, 3, d.runner, nil)
	leader := rs.leader()
	d.set(func(_ int, point, _ string) bool {
		if point == "written" {
			leader.hop.refuse(true)
		}
		return false
	})
	w := harness.Call(rs.others(leader)[0].Server, http.MethodPut, "/api/ADUser/u1?City=Rome", "")
	failed := errorOf(t, w)
	assert.Equal(t, http.StatusGatewayTimeout, w.Code)
	assert.Equal(t, schema.Timeout, failed.Code)
	assert.Equal(t, string(ps.OutcomeUnknown), failed.Outcome)
	assert.Equal(t, 1, d.written("u1"))
}

func TestReadyzInACluster(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	ready := func(r *replicated, lane string) int {
		return harness.Call(r.Server, http.MethodGet, "/readyz?lane="+lane, "",
			"Auth-Token: Bearer "+harness.OpsToken).Code
	}
	for _, r := range s.all {
		assert.Equal(t, http.StatusOK, ready(r, "changes"))
		assert.Equal(t, r == leader, ready(r, "leader") == http.StatusOK, r.name)
	}
	alone := s.others(leader)[0]
	alone.cut()
	require.Eventually(t, func() bool { return alone.Member.Status().Leader == "" }, replicaPatience,
		5*time.Millisecond)
	assert.Equal(t, http.StatusOK, ready(alone, "changes"), "the others may know of none, too")
	alone.sleep(30 * time.Second)
	assert.Equal(t, http.StatusServiceUnavailable, ready(alone, "changes"))
	assert.Equal(t, http.StatusServiceUnavailable, ready(alone, "leader"))
	assert.Equal(t, http.StatusOK, ready(alone, "directory"))
}

func TestTheRecordOfTheCluster(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	show := func(r *replicated) (state standing.State) {
		w := harness.Call(r.Server, http.MethodGet, "/api/Cluster", "", "Auth-Token: Bearer "+harness.OpsToken)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		var body struct{ Result []standing.State }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		return body.Result[0]
	}
	for _, r := range s.all {
		state := show(r)
		assert.Equal(t, r.name, state.Gateway)
		assert.Equal(t, leader.name, *state.Leader)
		assert.NotZero(t, state.Term)
		assert.Equal(t, r == leader, *state.Role == cluster.Leader)
		assert.Zero(t, state.Leaderless)
		assert.Nil(t, state.Fault)
		require.Len(t, state.Gateways, 3)
		for i, g := range state.Gateways {
			assert.Equal(t, s.all[i].name, g.Name)
			assert.Equal(t, "lives", g.State)
			assert.Equal(t, g.Name == leader.name, *g.Role == cluster.Leader)
			assert.Equal(t, store.Newest, g.Format)
		}
	}
	alone := s.others(leader)[0]
	alone.cut()
	require.Eventually(t, func() bool { return alone.Member.Status().Leader == "" }, replicaPatience,
		5*time.Millisecond)
	state := show(alone)
	assert.True(t, state.Degraded)
	assert.Contains(t, *state.Reason, "nothing was heard of a leader")
	assert.Nil(t, state.Leader)
	assert.NotZero(t, state.Leaderless)
}

func TestReadyzOfAGatewayThatIsInNoCluster(t *testing.T) {
	s := harness.New(t, harness.Answering(ps.Result{}), nil)
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodGet, "/readyz?lane=leader", "").Code)
}

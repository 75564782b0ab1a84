package gateway

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/keep"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const disable = "/api/ADUser/jdoe/Disable"

// served are gateways with what each of them has run and recorded.
type served struct {
	*replicas
	runners []*fakeRunner
	audits  []string // files
	logs    []*logtest.Hook
}

func newServed(t *testing.T, n int) *served {
	t.Helper()
	s := &served{logs: make([]*logtest.Hook, n)}
	folder := t.TempDir()
	for range n {
		s.runners = append(s.runners, answering(ps.Result{Effect: ps.EffectChanged, Server: "dc1"}, "["+sample(schema.User)+"]"))
		s.audits = append(s.audits, filepath.Join(folder, string(rune('a'+len(s.audits)))))
	}
	s.replicas = newReplicas(t, n, func(n int) ps.Runner { return s.runners[n] }, func(n int, o *Options) {
		var log *logrus.Logger
		log, s.logs[n] = logtest.NewNullLogger()
		lines, err := audit.Open(audit.Options{File: s.audits[n]})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, lines.Close()) })
		o.Log, o.Audit = log, lines
		o.Policy.TrustedProxies = []string{"10.9.9.9"}
		o.Pages = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.SetCookie(w, &http.Cookie{Name: "at", Value: o.Hop.Gateway})
				_, _ = io.WriteString(w, ClientOf(r).String())
			})
		}
	})
	return s
}

// ran returns how many scripts a gateway has run.
func (s *served) ran(r *replicated) int { return s.runners[r.n].count() }

// recorded returns the audit of a gateway.
func (s *served) recorded(r *replicated) string {
	text, err := os.ReadFile(s.audits[r.n])
	require.NoError(s.t, err)
	return string(text)
}

func TestAChangeIsMadeByTheLeader(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	header := []string{"Idempotency-Key: key-of-the-change", "From-Peer: 10.9.9.9:1234", "X-Forwarded-For: 192.0.2.77"}
	var first string
	for i, r := range s.others(leader) {
		w := call(r.Server, http.MethodPut, disable, "", header...)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		assert.Equal(t, "test-1", w.Header().Get("X-Request-Id"))
		assert.NotEmpty(t, w.Header().Get(changeHeader))
		assert.Equal(t, []string{"nosniff"}, w.Header().Values("X-Content-Type-Options"))
		if i == 0 {
			first = w.Header().Get(changeHeader)
		}
		assert.Equal(t, first, w.Header().Get(changeHeader), "the key is that of the same change")
		assert.Zero(t, s.ran(r))
		assert.NotContains(t, s.recorded(r), "192.0.2.77")
		assert.InDelta(t, 1, testutil.ToFloat64(r.meters.forwarded.WithLabelValues(string(hop.Forwarded))), 0)
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
func lineOf(t *testing.T, log *logtest.Hook, message string) logrus.Fields {
	t.Helper()
	for _, e := range log.AllEntries() {
		if e.Message == message {
			return e.Data
		}
	}
	require.Fail(t, "no such line", message)
	return nil
}

func TestADirectoryReadStaysWhereItCame(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	for _, r := range s.all {
		require.Equal(t, http.StatusOK, call(r.Server, http.MethodGet, "/api/ADUser/jdoe/Details", "").Code)
		assert.Equal(t, 1, s.ran(r))
	}
	assert.Equal(t, 1, s.ran(leader))
}

func TestPagesAreThoseOfTheLeader(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	for _, r := range s.others(leader) {
		for path, at := range map[string]string{"/ui/": leader.name, "/ui/jobs": leader.name, "/ui/assets/1/a.css": r.name} {
			w := call(r.Server, http.MethodGet, path, "", "From-Peer: 192.0.2.5:1")
			assert.Equal(t, "at="+at, w.Header().Get("Set-Cookie"), path)
			assert.Equal(t, "192.0.2.5", w.Body.String())
		}
	}
}

// TestForgedHeadersOfTheHopCountForNothing: whoever sends them to a public listener is its
// client, at the leader and at others.
func TestForgedHeadersOfTheHopCountForNothing(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	forged := []string{"X-Adgateway-Hop-Client: 192.0.2.99", "X-Adgateway-Hop-Scheme: https", "X-Adgateway-Hop-Request-Id: forged", "From-Peer: 192.0.2.5:1"}
	for _, r := range s.all {
		w := call(r.Server, http.MethodPut, disable, "", forged...)
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

// TestWithoutALeader: changes are refused before anything is begun, and what can be read from
// the own copy is, with a word of warning.
func TestWithoutALeader(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	made := call(leader.Server, http.MethodPut, disable, "").Header().Get(changeHeader)
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
	assert.Equal(t, ps.OutcomeNone, failed.Outcome)
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
	assert.InDelta(t, 5, testutil.ToFloat64(alone.meters.forwarded.WithLabelValues(string(hop.NotLeader))), 0)

	alone.sleep(leaderlessFor) // then nothing waits for a leader any more
	late := call(alone.Server, http.MethodGet, "/api/Changes", "").Body.String()
	assert.Contains(t, late, `"code":"behind"`)
	assert.InDelta(t, 5, testutil.ToFloat64(alone.meters.forwarded.WithLabelValues(string(hop.NotLeader))), 0)

	alone.mend()
	s.leader()
	assert.NotContains(t, call(alone.Server, http.MethodGet, "/api/Changes", "").Body.String(), "behind")
}

// calls asks a gateway for several things at once. Each waits for a leader for some seconds.
func (s *served) calls(at *replicated, paths []string) map[string]*httptest.ResponseRecorder {
	answers := make([]*httptest.ResponseRecorder, len(paths))
	var group sync.WaitGroup
	for i, path := range paths {
		group.Go(func() {
			method := http.MethodGet
			if path == disable {
				method = http.MethodPut
			}
			answers[i] = call(at.Server, method, path, "")
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
func errorOf(t *testing.T, w *httptest.ResponseRecorder) errorBody {
	t.Helper()
	var body struct {
		Error errorBody `json:"error"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body)
	return body.Error
}

// TestAnAnswerThatDoesNotCome: only a key says that the call can be repeated.
func TestAnAnswerThatDoesNotCome(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[hop.Outcome]struct {
		code    schema.Code
		outcome ps.Outcome
	}{
		hop.NotLeader: {schema.NotLeader, ps.OutcomeNone},
		hop.Unknown:   {schema.Timeout, ps.OutcomeUnknown},
	} {
		for _, wait := range []time.Duration{0, 2 * time.Second} {
			s := newTestServer(t, answering(ps.Result{}), nil)
			broken := s.routes.normalise(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				routeOf(r).unled = &hop.Failure{Outcome: outcome, RetryAfter: wait, Err: io.ErrUnexpectedEOF}
				engine, err := s.engine(&s.current.Load().policy)
				require.NoError(t, err)
				engine.ServeHTTP(w, r)
			}))
			w := httptest.NewRecorder()
			broken.ServeHTTP(w, httptest.NewRequest(http.MethodPut, disable, nil))
			failed := errorOf(t, w)
			assert.Equal(t, want.code, failed.Code)
			assert.Equal(t, want.outcome, failed.Outcome)
			assert.Equal(t, want.code.Status(), w.Code)
			assert.Equal(t, wait > 0, w.Header().Get("Retry-After") != "")
		}
	}
}

func TestReadyzInACluster(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	ready := func(r *replicated, lane string) int {
		return call(r.Server, http.MethodGet, "/readyz?lane="+lane, "", "Auth-Token: Bearer "+opsToken).Code
	}
	for _, r := range s.all {
		assert.Equal(t, http.StatusOK, ready(r, "changes"))
		assert.Equal(t, r == leader, ready(r, "leader") == http.StatusOK, r.name)
		assert.Equal(t, 3, r.gateways())
	}
	alone := s.others(leader)[0]
	alone.cut()
	require.Eventually(t, func() bool { return alone.Member.Status().Leader == "" }, replicaPatience, 5*time.Millisecond)
	assert.Equal(t, http.StatusOK, ready(alone, "changes"), "the others may know of none, too")
	assert.Equal(t, 1, alone.gateways())
	alone.sleep(leaderlessFor)
	assert.Equal(t, http.StatusServiceUnavailable, ready(alone, "changes"))
	assert.Equal(t, http.StatusServiceUnavailable, ready(alone, "leader"))
	assert.Equal(t, http.StatusOK, ready(alone, "directory"))
}

func TestTheRecordOfTheCluster(t *testing.T) {
	t.Parallel()
	s := newServed(t, 3)
	leader := s.leader()
	show := func(r *replicated) (state ClusterState) {
		w := call(r.Server, http.MethodGet, "/api/Cluster", "", "Auth-Token: Bearer "+opsToken)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		var body struct{ Result []ClusterState }
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
			assert.Equal(t, keep.Newest, g.Format)
		}
	}
	alone := s.others(leader)[0]
	alone.cut()
	require.Eventually(t, func() bool { return alone.Member.Status().Leader == "" }, replicaPatience, 5*time.Millisecond)
	state := show(alone)
	assert.True(t, state.Degraded)
	assert.Contains(t, *state.Reason, "nothing was heard of a leader")
	assert.Nil(t, state.Leader)
	assert.NotZero(t, state.Leaderless)
}

func TestReadyzOfAGatewayThatIsInNoCluster(t *testing.T) {
	s := newTestServer(t, answering(ps.Result{}), nil)
	assert.Equal(t, http.StatusOK, call(s, http.MethodGet, "/readyz?lane=leader", "").Code)
}

func TestWhatIsWrongInAClusterIsSaid(t *testing.T) {
	at := func(sequence uint64) keep.Point { return keep.Point{Journal: "j", Sequence: sequence} }
	for name, c := range map[string]struct {
		status cluster.Status
		want   string
	}{
		"nothing":      {cluster.Status{Leader: "a", Gateways: []cluster.Gateway{{Name: "a", Alive: true}}}, ""},
		"no leader":    {cluster.Status{Leaderless: 7 * time.Second}, "nothing was heard of a leader for 7 s"},
		"a fault":      {cluster.Status{Leader: "a", Fault: io.EOF}, "the log cannot be used: EOF"},
		"no clock":     {cluster.Status{Leader: "a", ClockUnset: true}, "nothing expires"},
		"strangers":    {cluster.Status{Leader: "a", Strangers: []string{"x", "y"}}, "x, y"},
		"a silent one": {cluster.Status{Leader: "a", Gateways: []cluster.Gateway{{Name: "b"}}}, "b is silent"},
		"far behind": {cluster.Status{Leader: "a", Position: at(5), Gateways: []cluster.Gateway{
			{Name: "a", Alive: true, Beat: cluster.Beat{Position: at(5000)}}}}, "lacks the last 4995 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(wrongIn(c.status), "; ")
			assert.Equal(t, c.want == "", got == "")
			assert.Contains(t, got, c.want)
		})
	}
}

// TestAClientThatDoesNotReadAForwardedAnswerIsCutOff: it would hold the call of the leader.
func TestAClientThatDoesNotReadAForwardedAnswerIsCutOff(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	ended := make(chan error, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.Copy(&limitedWriter{w, time.Millisecond}, strings.NewReader(strings.Repeat("x", 1<<20)))
		ended <- err
	})}
	defer server.Close()
	go func() { _ = server.Serve(&oneConnection{conn: near, closed: make(chan struct{})}) }()
	_, err := io.WriteString(far, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	require.NoError(t, err)
	assert.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
}

// oneConnection is a listener with one connection.
type oneConnection struct {
	conn   net.Conn
	taken  bool
	closed chan struct{}
}

func (l *oneConnection) Accept() (net.Conn, error) {
	if l.taken {
		<-l.closed
		return nil, net.ErrClosed
	}
	l.taken = true
	return l.conn, nil
}

func (l *oneConnection) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *oneConnection) Addr() net.Addr { return l.conn.LocalAddr() }

package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
	"adgateway/test/harness"
)

// openHistory returns an empty history.
func openHistory(t *testing.T) *changes.History {
	t.Helper()
	h := changes.New(harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db")), time.Hour, 1<<30)
	return h
}

// changeCity adds a finished change.
func changeCity(t *testing.T, h *changes.History, to string) string {
	t.Helper()
	c := &changes.Record{ID: changes.NewID(), Time: time.Now().UTC(), Author: changes.Author{Caller: "portal"},
		Operation: "user.update", Intent: ps.Intent{
			Effect: ps.EffectChanged, Objects: []ps.Intended{{GUID: "g-1", DN: "CN=j",
				Changes: []ps.IntendedChange{{Name: "l", After: to}}}},
		}}
	require.NoError(t, h.Complete(t.Context(), c, ps.OutcomeDone))
	return c.ID
}

// openStream requests the stream of changes and returns the lines of the answer.
func openStream(t *testing.T, address, token string) (net.Conn, *bufio.Scanner) {
	t.Helper()
	connection := dial(t, address)
	require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
	_, err := fmt.Fprintf(connection,
		"GET /api/Changes/stream HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\n\r\n", token)
	require.NoError(t, err)
	lines := bufio.NewScanner(connection)
	lines.Buffer(nil, 1<<20)
	until(t, lines, "retry: 5000")
	return connection, lines
}

// until reads up to a line that contains text.
func until(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	require.Fail(t, "the stream ended", "before %q: %v", text, lines.Err())
}

// rest reads to the end of the stream.
func rest(t *testing.T, lines *bufio.Scanner) (all []string) {
	t.Helper()
	for lines.Scan() {
		all = append(all, lines.Text())
	}
	require.NoError(t, lines.Err())
	return all
}

// TestAQuietStreamStaysOpen: comments keep a stream without events open for longer than a request may take.
func TestAQuietStreamStaysOpen(t *testing.T) {
	h := openHistory(t)
	address := running(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		o.History, o.KeepAlive = h, 10*time.Millisecond
		o.Connections.BodyTimeout, o.Connections.SendTimeout = 50*time.Millisecond, 50*time.Millisecond
	})
	_, lines := openStream(t, address, harness.AllToken)
	for range 15 {
		until(t, lines, ": nothing new")
	}
	id := changeCity(t, h, "Rome")
	until(t, lines, "event: change")
	until(t, lines, `data: {"id":"`+id)
}

// blindToken belongs to a caller that may read the history, but no changes of users.
const blindToken = "token-that-reads-only-dns"

func withBlind(t *testing.T) *authn.Static {
	t.Helper()
	static := harness.Auth(t)
	require.NoError(t, static.AddToken(blindToken, &identity.Principal{
		Name: "blind", Scopes: []identity.Scope{identity.ChangeRead, identity.DNSRead},
	}))
	return static
}

// TestHeartbeatsRevealNothingHidden: each heartbeat has a different id, whether or not a
// hidden change has ended. A client may continue from any of them.
func TestHeartbeatsRevealNothingHidden(t *testing.T) {
	h := openHistory(t)
	address := running(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		o.History, o.Auth, o.KeepAlive = h, withBlind(t), 5*time.Millisecond
	})
	_, lines := openStream(t, address, blindToken)
	seen := map[string]bool{}
	beats := func() (id string) {
		for range 5 {
			until(t, lines, ": nothing new")
			require.True(t, lines.Scan())
			var is bool
			id, is = strings.CutPrefix(lines.Text(), "id: ")
			require.True(t, is, "%q", lines.Text())
			require.Len(t, id, 60)
			require.False(t, seen[id], "it tells that nothing has ended")
			seen[id] = true
			require.True(t, lines.Scan())
			require.Empty(t, lines.Text())
		}
		return id
	}
	quiet := beats()
	changeCity(t, h, "Rome")
	busy := beats()
	for _, id := range []string{quiet, busy} {
		position, err := h.Position(t.Context(), id)
		require.NoError(t, err)
		_, _, err = h.After(t.Context(), position, 1)
		require.NoError(t, err)
	}
}

// TestAWaitIsNotEndedByWhatIsHidden: hidden changes do not end a wait, no matter how many there are.
func TestAWaitIsNotEndedByWhatIsHidden(t *testing.T) {
	h := openHistory(t)
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		o.History, o.Auth = h, withBlind(t)
	})
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		w := harness.Call(s, http.MethodGet, "/api/Changes?Wait=1", "", "Auth-Token: Bearer "+blindToken)
		assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		assert.Contains(t, w.Body.String(), `"result":[]`)
		assert.GreaterOrEqual(t, time.Since(began), time.Second)
	}()
	for range 300 {
		changeCity(t, h, "Rome")
	}
	<-ended
}

// revocable is a credential that can be revoked.
type revocable struct {
	authn.Authenticator
	revoked, unread, noScope atomic.Bool
}

func (r *revocable) Authenticate(ctx context.Context, c authn.Credential) (*identity.Principal, error) {
	switch {
	case r.revoked.Load():
		return nil, &authn.Refusal{Code: schema.Unauthenticated, Message: "no"}
	case r.unread.Load():
		return nil, &authn.Refusal{Code: schema.Unavailable, Message: "not now"}
	case r.noScope.Load():
		return &identity.Principal{Name: "all"}, nil
	}
	return r.Authenticator.Authenticate(ctx, c)
}

func TestAStreamEndsWithItsCredential(t *testing.T) {
	for text, revoke := range map[string]func(*revocable){
		"the credential is no longer valid":              func(r *revocable) { r.revoked.Store(true) },
		"the credential no longer has the right to this": func(r *revocable) { r.noScope.Store(true) },
		"it cannot be determined now whether the credential is still valid": func(r *revocable) {
			r.unread.Store(true)
		},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			h, credentials := openHistory(t), &revocable{Authenticator: harness.Auth(t)}
			address := running(t, harness.Answering(harness.OK),
				func(o *gateway.Options) { o.History, o.Auth = h, credentials })
			_, lines := openStream(t, address, harness.AllToken)
			until(t, lines, "id: ")
			revoke(credentials)
			until(t, lines, ": "+text)
			changeCity(t, h, "Rome")
			assert.NotContains(t, strings.Join(lineUntilLastChunk(lines), "\n"), "Rome")
		})
	}
}

// lineUntilLastChunk reads to the end of the answer. The connection stays open.
func lineUntilLastChunk(lines *bufio.Scanner) (all []string) {
	for lines.Scan() && lines.Text() != "0" {
		all = append(all, lines.Text())
	}
	return all
}

func TestStreamsAndPollsEndWhenTheServerStops(t *testing.T) {
	h := openHistory(t)
	// otherwise a 30 s poll would be cut off
	s := harness.New(t, harness.Answering(harness.OK),
		func(o *gateway.Options) { o.History, o.Policy.Grace = h, 20*time.Second })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- s.Run(ctx, listener) }()
	_, lines := openStream(t, listener.Addr().String(), harness.AllToken)
	poll := dial(t, listener.Addr().String())
	_, err = fmt.Fprintf(poll, "GET /api/Changes?Wait=30 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+
		"Auth-Token: Bearer %s\r\n\r\n", harness.AllToken)
	require.NoError(t, err)
	// the metrics request itself counts
	require.Eventually(t, func() bool { return harness.Metric(t, s, "adgateway_http_requests_in_flight") == 3 },
		patience, time.Millisecond)
	stop()
	until(t, lines, ": "+"the gateway stops")
	answer := rest(t, bufio.NewScanner(poll))
	assert.Contains(t, answer[0], "200 OK")
	assert.Contains(t, answer[len(answer)-1], `"next":"`)
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(patience):
		assert.Fail(t, "the server does not end")
	}
}

// TestAStreamThatIsNotReadIsCutOff: a stream that is not read is cut off, and other streams keep
// getting their events.
func TestAStreamThatIsNotReadIsCutOff(t *testing.T) {
	h, log := openHistory(t), make(signal, 100)
	address := running(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		o.History, o.Connections.SendTimeout = h, 200*time.Millisecond
		o.Log = logrus.New()
		o.Log.SetOutput(log)
	})
	_, _ = openStream(t, address, harness.AllToken)
	_, reads := openStream(t, address, harness.AllToken)
	long := strings.Repeat("x", 256<<10)
	cut := false
	for i := 0; i < 100 && !cut; i++ {
		changeCity(t, h, long+fmt.Sprint(i))
		until(t, reads, "event: change")
		lines := reads
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") { // a long line
		}
		select {
		case line := <-log:
			cut = strings.Contains(line, "operation=change.stream")
		default:
		}
	}
	if !cut {
		assert.Contains(t, <-log, "operation=change.stream")
	}
}

func TestAStreamOverHTTP2(t *testing.T) {
	h := openHistory(t)
	config, client := testCertificate(t)
	address := running(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		// the limit applies to sending, not to silence
		o.History, o.KeepAlive, o.Connections.TLS, o.Connections.SendTimeout = h, 150*time.Millisecond, config, 50*time.Millisecond
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"https://"+address+"/api/Changes/stream", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, "HTTP/2.0", answer.Proto)
	lines := bufio.NewScanner(answer.Body)
	for range 3 {
		until(t, lines, ": nothing new")
	}
	id := changeCity(t, h, "Rome")
	until(t, lines, `data: {"id":"`+id)
}

// TestAStreamLeavesRoomForCalls: a credential that may run one request at a time can follow changes
// and make calls as well.
func TestAStreamLeavesRoomForCalls(t *testing.T) {
	h := openHistory(t)
	q := newQuotas(t)
	store, header := q.stored(authn.Rights{Scopes: []string{"*"},
		Quota: &identity.Quota{Concurrency: number(1)}})
	address := running(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.History, o.Auth = h, store })
	_, token, _ := strings.Cut(header, "Bearer ")
	_, lines := openStream(t, address, token)
	until(t, lines, "id: ")
	for range 3 { // and each one returns its place
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/OU/All",
			nil)
		require.NoError(t, err)
		request.Header.Set("Auth-Token", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, http.StatusOK, answer.StatusCode)
	}
}

// FuzzLastEventID: no matter which id a client sends, it gets a stream or is told that it cannot continue.
func FuzzLastEventID(f *testing.F) {
	plain, _, err := store.Open(store.Options{Path: filepath.Join(f.TempDir(), "state.db")})
	require.NoError(f, err)
	f.Cleanup(func() { _ = plain.Close() })
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(f, err)
	sealed, err := store.Seal(plain, key)
	require.NoError(f, err)
	h := changes.New(sealed, time.Hour, 1<<20)
	s := harness.New(f, harness.Answering(harness.OK), func(o *gateway.Options) { o.History = h })
	harness.Stop(f, s) // streams end soon after they begin
	end, err := h.End(f.Context())
	require.NoError(f, err)
	for _, text := range []string{h.Cursor(end), "", "0", "AQAAAAAAAAAAAAAAAAAAAAA", "2026-11-22T12:40:00Z",
		"a b", "\x00", strings.Repeat("A", 5000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest(http.MethodGet, "/api/Changes/stream", nil)
		r.Header["Last-Event-Id"] = []string{text}
		w := harness.Serve(s, r)
		assert.Contains(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusGone}, w.Code, "%s", w.Body)
		since := harness.Serve(s, httptest.NewRequest(http.MethodGet,
			"/api/Changes/stream?Since="+url.QueryEscape(text), nil))
		assert.Contains(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusGone}, since.Code, "%s",
			since.Body)
		after := harness.Serve(s, httptest.NewRequest(http.MethodGet,
			"/api/Changes?Wait=0&After="+url.QueryEscape(text), nil))
		assert.Contains(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusGone}, after.Code, "%s",
			after.Body)
	})
}

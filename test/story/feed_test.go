package story

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/authn"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// event is an event of a stream, as parsed by a client.
type event struct {
	ID, Name string
	change
}

// follower reads a stream of changes as the specification of server-sent events requires.
type follower struct {
	t      testing.TB
	events chan event
	last   atomic.Pointer[string] // last id of the stream; nil until the first
	ended  chan struct{}
	stop   context.CancelFunc
}

// follow opens the stream. token and lastID may be empty.
func follow(t testing.TB, s *systemtest.System, token, lastID string, params map[string]string) *follower {
	t.Helper()
	f, answer := tryFollow(t, s, token, lastID, params)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	return f
}

func tryFollow(
	t testing.TB, s *systemtest.System, token, lastID string, params map[string]string,
) (*follower, *http.Response) {
	t.Helper()
	query := url.Values{}
	for name, value := range params {
		query.Set(name, value)
	}
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/Changes/stream?"+query.Encode(),
		nil)
	require.NoError(t, err)
	if token == "" {
		token = systemtest.AllToken
	}
	request.Header.Set("Auth-Token", "Bearer "+token)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	f := &follower{t: t, events: make(chan event, 1000), ended: make(chan struct{}), stop: cancel}
	t.Cleanup(func() {
		cancel()
		_ = answer.Body.Close()
	})
	if answer.StatusCode != http.StatusOK {
		return nil, answer
	}
	go f.read(bufio.NewScanner(answer.Body))
	return f, answer
}

func (f *follower) read(lines *bufio.Scanner) {
	defer close(f.ended)
	defer close(f.events)
	lines.Buffer(nil, 1<<20)
	var data []string
	id, name := "", ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = append(data, value)
		}
		if lines.Text() != "" {
			continue
		}
		told := id
		f.last.Store(&told)
		if len(data) > 0 {
			e := event{ID: id, Name: name}
			if json.Unmarshal([]byte(strings.Join(data, "\n")), &e.change) == nil {
				e.change.RequestID = strings.Join(data, "\n") // tests compare it as a whole
				f.events <- e
			}
		}
		data, name = nil, ""
	}
}

// next returns the next event.
func (f *follower) next() event {
	f.t.Helper()
	select {
	case e, more := <-f.events:
		require.True(f.t, more, "the stream has ended")
		return e
	case <-time.After(systemtest.Patience):
		require.Fail(f.t, "no event came")
	}
	return event{}
}

// position waits for an id and returns it.
func (f *follower) position() string {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return f.last.Load() != nil }, systemtest.Patience, time.Millisecond)
	return *f.last.Load()
}

// end waits for the end of the stream.
func (f *follower) end() {
	f.t.Helper()
	select {
	case <-f.ended:
	case <-time.After(systemtest.Patience):
		require.Fail(f.t, "the stream did not end")
	}
}

// setCity changes a user and returns the change.
func setCity(s *systemtest.System, city string) string {
	s.T.Helper()
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser,
		Params: map[string]any{"City": city}})
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	require.NotEmpty(s.T, a.Header.Get("X-Change-Id"))
	return a.Header.Get("X-Change-Id")
}

// TestTheStreamTellsWhatIsChanged: each change results in an event with the same record as in the list, and
// the order is the same. A client that reconnects with the last id misses no event.
func TestTheStreamTellsWhatIsChanged(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	before := setCity(s, "Rome")
	stream := follow(t, s, "", "", nil)
	beginning := stream.position()
	var made []string
	for i := range 5 {
		made = append(made, setCity(s, fmt.Sprintf("City %d", i)))
	}
	var last string
	for _, id := range made {
		e := stream.next()
		assert.Equal(t, id, e.change.ID, "what came before %s is not told", before)
		assert.Equal(t, "change", e.Name)
		last = e.ID
		var shown struct{ Result []json.RawMessage }
		require.NoError(t, json.Unmarshal(
			s.Do(listChanges(map[string]any{"Limit": 1,
				"Until": time.Now().Add(time.Minute).UTC().Format(time.RFC3339)})).Body, &shown))
		if id == made[4] {
			assert.JSONEq(t, string(shown.Result[0]), e.RequestID)
		}
	}
	stream.stop()
	stream.end()

	t.Run("nothing is lost in between", func(t *testing.T) {
		s := s.In(t)
		missed := []string{setCity(s, "Bonn"), setCity(s, "Ulm")}
		again := follow(t, s, "", last, nil)
		for _, id := range missed {
			assert.Equal(t, id, again.next().change.ID)
		}
	})
	t.Run("who came before the first change can come back, too", func(t *testing.T) {
		again := follow(t, s.In(t), "", beginning, nil)
		assert.Equal(t, made[0], again.next().change.ID)
	})
	t.Run("since a time, and since a cursor", func(t *testing.T) {
		again := follow(t, s.In(t), "", "", map[string]string{"Since": "2020-01-01T00:00:00Z"})
		first := again.next()
		assert.Equal(t, before, first.change.ID)
		again.stop()
		// as browsers do
		again = follow(t, s.In(t), "", first.ID, map[string]string{"Since": "2020-01-01T00:00:00Z"})
		assert.Equal(t, made[0], again.next().change.ID)
		again = follow(t, s.In(t), "", "", map[string]string{"Since": last})
		assert.NotContains(t, made, again.next().change.ID)
	})
	t.Run("filters", func(t *testing.T) {
		s := s.In(t)
		created := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/feed.new"}).Header.Get(
			"X-Change-Id")
		for _, filter := range []map[string]string{
			{"Operation": "user.create"}, {"Object": "feed.new"}, {"Operation": "USER.create", "Outcome": "done", "Caller": systemtest.AllToken},
		} {
			filter["Since"] = "2020-01-01T00:00:00Z"
			assert.Equal(t, created, follow(t, s, "", "", filter).next().change.ID, "%v", filter)
		}
		quiet := follow(t, s, "", "", map[string]string{"Since": "2020-01-01T00:00:00Z", "Outcome": "partial"})
		other := setCity(s, "Jena")
		require.Eventually(t, func() bool { return quiet.position() != beginning }, systemtest.Patience,
			10*time.Millisecond)
		assert.Empty(t, quiet.events)
		assert.NotEmpty(t, other)
	})
}

// TestThePollGoesForward: a list with Wait answers as soon as there is a new change, and its
// cursor is valid for the stream.
func TestThePollGoesForward(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	first := s.Do(listChanges(map[string]any{"Wait": 0}))
	require.Equal(t, http.StatusOK, first.Status, "%s", first.Body)
	assert.Empty(t, first.Envelope.Result)
	cursor := nextOf(t, first)

	answers := make(chan systemtest.Answer, 1)
	go func() { answers <- s.Do(listChanges(map[string]any{"Wait": 30, "After": cursor})) }()
	one := setCity(s, "Rome")
	woken := <-answers
	require.Equal(t, http.StatusOK, woken.Status, "%s", woken.Body)
	require.Len(t, changesIn(s, woken), 1)
	assert.Equal(t, one, changesIn(s, woken)[0].ID)

	two, three := setCity(s, "Bonn"), setCity(s, "Ulm")
	page := s.Do(listChanges(map[string]any{"Wait": 1, "After": cursor, "Limit": 2}))
	assert.Equal(t, []string{one, two}, idsOf(changesIn(s, page)))
	page = s.Do(listChanges(map[string]any{"Wait": 1, "After": nextOf(t, page), "Limit": 2}))
	assert.Equal(t, []string{three}, idsOf(changesIn(s, page)))
	assert.Equal(t, two, follow(t, s, "", nextOf(t, woken), nil).next().change.ID, "the stream takes the cursor")

	started := time.Now()
	nothing := s.Do(listChanges(map[string]any{"Wait": 1, "After": nextOf(t, page)}))
	assert.GreaterOrEqual(t, time.Since(started), time.Second)
	assert.Empty(t, nothing.Envelope.Result)
	assert.NotEqual(t, nextOf(t, page), nextOf(t, nothing), "it would tell that nothing ended")
	four := setCity(s, "Hof")
	page = s.Do(listChanges(map[string]any{"Wait": 1, "After": nextOf(t, nothing)}))
	assert.Equal(t, []string{four}, idsOf(changesIn(s, page)))

	for name, wrong := range map[string]map[string]any{
		"too long":         {"Wait": 31},
		"with Until":       {"Wait": 1, "Until": "2026-11-22T12:40:00Z"},
		"not a cursor":     {"Wait": 1, "After": "abc"},
		"that of the list": {"Wait": 1, "After": nextOf(t, s.Do(listChanges(map[string]any{"Limit": 1})))},
	} {
		assert.Equal(t, http.StatusBadRequest, s.Do(listChanges(wrong)).Status, name)
	}
	assert.Equal(t, http.StatusBadRequest, s.Do(listChanges(map[string]any{"After": cursor})).Status,
		"without Wait it goes back")
}

func nextOf(t testing.TB, a systemtest.Answer) string {
	t.Helper()
	var answer struct{ Next string }
	require.NoError(t, json.Unmarshal(a.Body, &answer))
	require.NotEmpty(t, answer.Next, "%s", a.Body)
	return answer.Next
}

func idsOf(all []change) (ids []string) {
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return ids
}

// TestTheFeedAfterARestart: positions remain valid after a restart. The error distinguishes
// a position of another store from a malformed one.
func TestTheFeedAfterARestart(t *testing.T) {
	folder := t.TempDir()
	file := "store.file=" + filepath.Join(folder, "state.db")
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	var last, cursor, missed string
	t.Run("before", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), file)
		stream := follow(t, s, "", "", nil)
		setCity(s, "Rome")
		last = stream.next().ID
		stream.stop()
		cursor = nextOf(t, s.Do(listChanges(map[string]any{"Wait": 0})))
		missed = setCity(s, "Bonn")
	})
	t.Run("after", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), file)
		assert.Equal(t, missed, follow(t, s, "", last, nil).next().change.ID)
		assert.Equal(t, []string{missed},
			idsOf(changesIn(s, s.Do(listChanges(map[string]any{"Wait": 5, "After": cursor})))))
	})
	t.Run("another store", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), "store.file="+filepath.Join(t.TempDir(), "other.db"))
		s.Rejects(listChanges(map[string]any{"Wait": 5, "After": cursor}), http.StatusGone, "cursor_expired")
		for _, params := range []map[string]string{{"Since": last}, {}} {
			_, answer := tryFollow(t, s, "", last, params)
			assert.Equal(t, http.StatusGone, answer.StatusCode)
		}
		_, answer := tryFollow(t, s, "", "x"+last[1:], nil)
		assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
	})
}

func TestTheFeedShowsOnlyWhatTheCallerMaySee(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	all, limited := follow(t, s, "", "", nil), follow(t, s, systemtest.LimitedToken, "", nil)
	outside := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/feed.outside"}).Header.Get(
		"X-Change-Id")
	a := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/feed.inside",
		Params: map[string]any{"OUPath": systemtest.LimitedOU}})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	inside := a.Header.Get("X-Change-Id")
	assert.Equal(t, outside, all.next().change.ID)
	assert.Equal(t, inside, all.next().change.ID)
	assert.Equal(t, inside, limited.next().change.ID)
	_, answer := tryFollow(t, s, systemtest.ReadToken, "", nil)
	assert.Equal(t, http.StatusForbidden, answer.StatusCode)
}

// TestStreamsAreLimited: one caller cannot occupy all streams, and there are never more streams than the
// settings allow.
func TestStreamsAreLimited(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	tokens := []string{systemtest.AllToken, systemtest.PlainToken, systemtest.LimitedToken, systemtest.CorpToken,
		systemtest.ClassicToken}
	open := map[string]int{}
	var one *follower
	for i := range 50 {
		token := tokens[i/12]
		f, answer := tryFollow(t, s, token, "", nil)
		require.Equal(t, http.StatusOK, answer.StatusCode, "stream %d", i)
		open[token]++
		one = f
	}
	// one caller's share, then the last stream
	for _, token := range []string{systemtest.AllToken, systemtest.ClassicToken} {
		_, answer := tryFollow(t, s, token, "", nil)
		assert.Equal(t, http.StatusTooManyRequests, answer.StatusCode, "%v", open)
		assert.NotEmpty(t, answer.Header.Get("Retry-After"))
	}
	one.stop()
	one.end()
	require.Eventually(t, func() bool {
		_, answer := tryFollow(t, s, systemtest.ClassicToken, "", nil)
		return answer.StatusCode == http.StatusOK
	}, systemtest.Patience, 10*time.Millisecond, "a place that is free is given")
	setCity(s, "Rome") // unread streams do not block changes
}

// TestARevokedTokenGetsNoLaterChange: a client whose token has been revoked gets no later change, neither
// in a stream nor in a poll. When the gateway stops, no stream remains open.
func TestARevokedTokenGetsNoLaterChange(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("revoked", func(t *testing.T) {
		tokens := map[string]string{}
		var accounts []*authn.Account
		for _, name := range []string{"siem", "portal"} {
			a := authn.NewAccount(name, time.Now(), authn.Rights{Scopes: []string{"*"}})
			tokens[name] = a.AddToken(time.Now(), time.Now())
			accounts = append(accounts, a)
		}
		s, file := newWithAccounts(t, accounts...)
		change := func(city string) string {
			a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser,
				Params: map[string]any{"City": city}, Token: tokens["portal"]})
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			return a.Header.Get("X-Change-Id")
		}
		stream, other := follow(t, s, tokens["siem"], "", nil), follow(t, s, tokens["portal"], "", nil)
		id := change("Rome")
		assert.Equal(t, id, stream.next().change.ID)
		assert.Equal(t, id, other.next().change.ID)

		polled := make(chan systemtest.Answer, 1)
		go func() { polled <- s.Do(listChanges(map[string]any{"Wait": 30}).As(tokens["siem"])) }()
		require.NoError(t, file.Edit(t.Context(), func(d *authn.Document) error {
			d.Tokens = slices.DeleteFunc(d.Tokens, func(a *authn.Account) bool { return a.Name == "siem" })
			return nil
		}))
		stream.end()
		assert.Empty(t, stream.events)
		id = change("Bonn")
		assert.Equal(t, id, other.next().change.ID, "others go on")
		select {
		case a := <-polled: // the poll may have started too late to wait
			assert.Equal(t, http.StatusUnauthorized, a.Status, "%s", a.Body)
		case <-time.After(systemtest.Patience):
			assert.Fail(t, "the poll goes on")
		}
		_, answer := tryFollow(t, s, tokens["siem"], "", nil)
		assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	})
	systemtest.NoGoroutinesLeft(t, before)
}

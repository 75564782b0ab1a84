package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

func set(key, value string, expect store.Revision) store.Change {
	return store.Change{Kind: "k", Key: key, Value: []byte(value), Expect: expect}
}

func pairFor(t *testing.T, wrap func(http.Handler) http.Handler) *pair {
	t.Helper()
	p := newPair(t, t.TempDir(), time.Now, wrap)
	t.Cleanup(p.end)
	return p
}

// TestAFollowerReadsItsOwnWrites: a follower reads its own writes at once, and a conflict is reported as a
// conflict.
func TestAFollowerReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	var last store.Revision
	for range 50 {
		revision, err := p.store.Apply(t.Context(), set("a", "1", last))
		require.NoError(t, err)
		found, err := p.following.Get(t.Context(), "k", "a")
		require.NoError(t, err)
		require.Equal(t, revision, found.Revision)
		last = revision
	}
	_, err := p.store.Apply(t.Context(), set("a", "2", last-1))
	require.ErrorIs(t, err, store.ErrConflict)
	assert.NotErrorIs(t, err, store.ErrUnreachable)
	for range 50 {
		last, err = p.leading.Apply(t.Context(), set("a", "3", last))
		require.NoError(t, err)
		_, err = p.store.Apply(t.Context(), set("a", "2", last-1))
		require.ErrorIs(t, err, store.ErrConflict)
		found, err := p.following.Get(t.Context(), "k", "a")
		require.NoError(t, err)
		require.Equal(t, last, found.Revision, "who tries again must see why")
	}
	_, err = p.store.Apply(t.Context(), set("a", strings.Repeat("x", MostBytes), last))
	require.ErrorIs(t, err, store.ErrTooMany)
	require.ErrorIs(t, err, store.ErrNotSent)
}

// TestReachIsProof: after Reach the copy has everything that the leader had, and a leader that may
// have been deposed does not confirm it.
func TestReachIsProof(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	for range 50 {
		revision, err := p.leading.Apply(t.Context(), store.Change{Log: "log", Value: []byte("x")})
		require.NoError(t, err)
		require.NoError(t, p.store.Reach(t.Context()))
		present, err := p.following.Revision()
		require.NoError(t, err)
		require.GreaterOrEqual(t, present, revision)
	}
	p.certain.Store(false)
	gone, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, p.store.Reach(gone), store.ErrUnreachable)
}

// TestALostAnswer: if the answer to a forwarded change is lost, the outcome is found in this gateway's copy
// of the store. If the copy does not show the change, the outcome stays unknown.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	var loses, drops atomic.Bool
	soon, leave := context.WithCancel(t.Context())
	defer leave()
	p := pairFor(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if drops.Load() {
				_, _ = r.Body.Read(make([]byte, 1)) // the request has arrived
				time.AfterFunc(300*time.Millisecond, leave)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
			if loses.Load() {
				panic(http.ErrAbortHandler)
			}
		})
	})
	sealed := storetest.Seal(t, p.store)
	loses.Store(true)
	revision, err := sealed.Apply(t.Context(), set("a", "1", store.Absent))
	require.NoError(t, err)
	found, err := sealed.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, revision, found.Revision)

	loses.Store(false)
	drops.Store(true)
	_, err = sealed.Apply(soon, set("a", "2", revision))
	require.ErrorIs(t, err, store.ErrUnreachable)
	assert.NotErrorIs(t, err, store.ErrNotSent)
	_, err = sealed.Apply(t.Context(), store.Change{Log: "log", Value: []byte("2")})
	require.ErrorIs(t, err, store.ErrUnreachable, "nothing shows it")
	assert.NotErrorIs(t, err, store.ErrNotSent)
}

// TestAFailureOfTheLeader: the caller learns that the leader failed, and either that the outcome is
// unknown or that the change was not made.
func TestAFailureOfTheLeader(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	p.journal.fail(func() error { return errors.New("the disk is full") })
	_, err := p.store.Apply(t.Context(), set("a", "1", store.Absent))
	require.ErrorContains(t, err, "the disk is full")
	assert.NotErrorIs(t, err, store.ErrNotSent)

	// The batch is in doubt, so the file no longer leads.
	soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = p.store.Apply(soon, set("a", "1", store.Absent))
	require.ErrorIs(t, err, store.ErrUnreachable)
	require.ErrorIs(t, err, store.ErrNotSent)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestALeaderThatHasLeft: the change waits for the next leader, which may be this gateway.
func TestALeaderThatHasLeft(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	p.leading.Follow()
	applied := make(chan error, 1)
	go func() {
		_, err := p.store.Apply(context.Background(), set("a", "1", store.Absent))
		applied <- err
	}()
	p.leader.elect("gw2", "")
	p.following.Lead(&copier{each: make(chan stored, 10), at: store.Point{Journal: "j"}})
	require.NoError(t, <-applied)
	found, err := p.following.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
}

// TestNobodyLeads: changes wait for at most 5 s and then fail, certainly without having been made. Reads
// still work.
func TestNobodyLeads(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	_, err := p.store.Apply(t.Context(), set("a", "1", store.Absent))
	require.NoError(t, err)
	p.leader.elect("", "")
	_, err = p.store.Apply(t.Context(), set("b", "1", store.Absent))
	require.ErrorIs(t, err, store.ErrUnreachable)
	require.ErrorIs(t, err, store.ErrNotSent)
	_, err = p.store.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	state := p.store.State()
	assert.EqualValues(t, 1, state.Writes)
	assert.EqualValues(t, 1, state.Failures)
	require.ErrorIs(t, state.Failed, store.ErrNotSent)
	p.leader.elect("gw1", p.address)
	require.NoError(t, p.store.Reach(t.Context()))
	require.NoError(t, p.store.State().Failed)
}

// TestAnotherCopyTakesItsPlace: readers continue with the new copy, and get an error if they have
// already seen a part of the old one.
func TestAnotherCopyTakesItsPlace(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	for _, key := range []string{"a", "b"} {
		_, err := p.store.Apply(t.Context(), set(key, "1", store.Absent))
		require.NoError(t, err)
	}
	var copied atomic.Pointer[store.File]
	copied.Store(p.following)
	s := New(Options{File: copied.Load, Gateway: "gw2", Leader: p.leader, TLS: p.certificates.client("gw2")})
	defer s.Close()
	bell := s.Appends("log")
	replaced, err := keepAway(t, p)
	require.NoError(t, err)
	<-bell
	read := make(chan error, 1)
	go func() {
		_, err := s.Get(context.Background(), "k", "b")
		read <- err
	}()
	copied.Store(replaced)
	require.NoError(t, <-read)

	err = s.Range(t.Context(), "k", "", func(store.Entry) bool { return true })
	require.NoError(t, err)
	first := true
	part := func(_ *store.File, visit func(int) bool) error {
		assert.True(t, first, "it must not begin again")
		first = false
		visit(1)
		return store.ErrClosed
	}
	err = visiting(s.Local, t.Context(), func(int) bool { return true }, part)
	require.ErrorIs(t, err, store.ErrUnreachable)
}

// keepAway closes the store of a pair's follower, and opens a copy of its file.
func keepAway(t *testing.T, p *pair) (*store.File, error) {
	t.Helper()
	state := p.folder + "/gw2"
	if err := p.following.Close(); err != nil {
		return nil, err
	}
	if err := copyFile(state, state+".new"); err != nil {
		return nil, err
	}
	file, _, err := store.Open(store.Options{Path: state + ".new", Follows: true})
	t.Cleanup(func() { _ = file.Close() })
	return file, err
}

// TestWhatOnlyTheLeaderMayDo: a follower refuses changes that only the leader may make. It does so at once,
// and certainly without making them.
func TestWhatOnlyTheLeaderMayDo(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	leading := NewLocal(func() *store.File { return p.leading })
	following := NewLocal(func() *store.File { return p.following })
	revision, err := leading.Apply(t.Context(), set("a", "1", store.Absent))
	require.NoError(t, err)
	require.NoError(t, p.following.Await(t.Context(), revision))
	found, err := following.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, revision, found.Revision)
	_, err = following.Apply(t.Context(), set("a", "2", revision))
	require.ErrorIs(t, err, store.ErrFollows)
	require.ErrorIs(t, err, store.ErrNotSent)
	require.NoError(t, leading.Close())
	_, err = leading.Apply(t.Context(), set("a", "2", revision))
	require.ErrorIs(t, err, store.ErrClosed)
	_, err = p.leading.Apply(t.Context(), set("a", "2", revision))
	require.NoError(t, err, "the file is its owner's")
}

// TestACommandFindsTheLeader: a command finds the leader no matter which gateway it asks first, and fails if
// no gateway leads.
func TestACommandFindsTheLeader(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	revision, err := p.leading.Apply(t.Context(), set("a", "1", store.Absent))
	require.NoError(t, err)

	// gw2 names gw1 as the leader, and nothing listens at the address of gw3.
	l := listen(t)
	end := p.certificates.serve("gw2", l, p.leader, &Handler{
		File: func() *store.File { return p.following }, Leader: p.leader, Leads: func() bool { return false },
	})
	defer end()
	nobody := listen(t)
	require.NoError(t, nobody.Close())
	others := []Gateway{{"gw3", nobody.Addr().String()}, {"gw2", l.Addr().String()}}
	c := p.client(append(others, Gateway{"gw1", p.address})...)
	defer c.Close()
	found, err := c.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, store.Entry{Key: "a", Value: []byte("1"), Revision: revision}, found)
	_, err = c.Apply(t.Context(), set("a", "2", revision))
	require.NoError(t, err)
	_, err = c.Apply(t.Context(), set("a", "3", revision))
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = c.Get(t.Context(), "k", "none")
	require.ErrorIs(t, err, store.ErrAbsent)
	assert.WithinDuration(t, p.leading.Now(), c.Now(), time.Minute)
	<-c.Appends("log")

	soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = NewClient(soon, ClientOptions{Gateways: others, TLS: p.certificates.client("gw2")})
	require.ErrorIs(t, err, store.ErrUnreachable)
	require.ErrorIs(t, err, store.ErrNotSent)
	_, err = NewClient(t.Context(), ClientOptions{})
	require.ErrorIs(t, err, store.ErrNotSent)
}

// TestALeaderThatIsNotCertain: a leader that is not certain to lead answers no command.
func TestALeaderThatIsNotCertain(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	c := p.client()
	defer c.Close()
	p.certain.Store(false)
	soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := c.Get(soon, "k", "a")
	require.ErrorIs(t, err, store.ErrUnreachable)
	assert.NotErrorIs(t, err, store.ErrAbsent)
}

// TestMalformedRequestsAreRefused: malformed requests are refused, and nothing is changed.
func TestMalformedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	for name, body := range map[string][]byte{
		"nothing": {}, "unknown": {99}, "changes": {byte(applies), 0, 0, 0, 1}, "a key": {byte(gets), 0, 0, 0, 9},
		"more than one": append(question(tells, nil, nil), 1), "a position": question(reads, []string{"log"}, nil),
		"too large": make([]byte, MostBytes+1),
	} {
		_, err := p.store.far.ask(t.Context(), body, readFor, nil)
		require.ErrorIs(t, err, store.ErrNotSent, name)
		assert.ErrorContains(t, err, "the gateway that leads answers 4", name)
	}
	revision, err := p.leading.Revision()
	require.NoError(t, err)
	assert.Zero(t, revision)
}

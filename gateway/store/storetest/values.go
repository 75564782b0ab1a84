package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

func testChangesApplyTogetherOrNotAtAll(t *testing.T, s store.Store, _ *Clock) {
	_, err := s.Get(t.Context(), "k", "a")
	require.ErrorIs(t, err, store.ErrAbsent)
	assert.Empty(t, keys(t, s, ""))
	first, err := s.Apply(t.Context(), put("a", "1", store.Absent), put("b", "2", store.Absent))
	require.NoError(t, err)
	for name, changes := range map[string][]store.Change{
		"there already":            {put("a", "x", store.Absent)},
		"not there":                {put("c", "x", first)},
		"another revision":         {put("a", "x", first+1)},
		"one of two":               {put("a", "x", first), put("c", "y", first)},
		"removed, which is absent": {{Kind: "k", Key: "c", Expect: first}},
	} {
		_, err = s.Apply(t.Context(), changes...)
		require.ErrorIs(t, err, store.ErrConflict, name)
	}
	assert.Equal(t, []string{"a=1", "b=2"}, keys(t, s, ""))
	second, err := s.Apply(t.Context(), put("a", "3", first), store.Change{Kind: "k", Key: "b", Expect: first})
	require.NoError(t, err)
	assert.Greater(t, second, first)
	found, err := s.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, store.Entry{Key: "a", Value: []byte("3"), Revision: second}, found)
	third, err := s.Apply(t.Context(), put("b", "4", store.Absent))
	require.NoError(t, err)
	assert.Greater(t, third, second, "a value that comes again has a new revision")
}

func testValuesAreFoundByPrefixInOrder(t *testing.T, s store.Store, _ *Clock) {
	for _, key := range []string{"b/2", "a/1", "b/10", "b", "c"} {
		_, err := s.Apply(t.Context(), put(key, "v", store.Absent),
			store.Change{Kind: "other", Key: key, Value: []byte("o")})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"b/10=v", "b/2=v"}, keys(t, s, "b/"))
	for before, want := range map[string][]string{"": {"c", "b/2", "b/10", "b", "a/1"},
		"b/2": {"b/10", "b", "a/1"}, "bb": {"b/2", "b/10", "b", "a/1"}, "z": {"c", "b/2", "b/10", "b", "a/1"},
		"a": nil} {
		var found []string
		require.NoError(t, s.RangeBack(t.Context(), "k", before,
			func(e store.Entry) bool { found = append(found, e.Key); return true }))
		assert.Equal(t, want, found, "back from %q", before)
	}
	visited := 0
	require.NoError(t, s.RangeBack(t.Context(), "k", "",
		func(store.Entry) bool { visited++; return visited < 2 }))
	assert.Equal(t, 2, visited)
	visited = 0
	require.NoError(t, s.Range(t.Context(), "k", "", func(store.Entry) bool { visited++; return visited < 2 }))
	assert.Equal(t, 2, visited)
}

func testValuesExpire(t *testing.T, s store.Store, c *Clock) {
	change := put("a", "1", store.Absent)
	change.Expires = c.Now().Add(time.Hour)
	_, err := s.Apply(t.Context(), change, put("b", "2", store.Absent))
	require.NoError(t, err)
	c.Advance(time.Hour - time.Second)
	assert.Equal(t, []string{"a=1", "b=2"}, keys(t, s, ""))
	removed, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, removed)
	c.Advance(time.Second)
	assert.Equal(t, []string{"b=2"}, keys(t, s, ""))
	_, err = s.Get(t.Context(), "k", "a")
	require.ErrorIs(t, err, store.ErrAbsent)
	_, err = s.Apply(t.Context(), put("a", "3", store.Absent))
	require.NoError(t, err, "what has expired is absent")
	removed, err = s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, removed)
}

func testOneOfManyCallersWins(t *testing.T, s store.Store, _ *Clock) {
	const callers, rounds = 8, 10
	var won atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for round := range rounds {
				switch _, err := s.Apply(t.Context(), put(fmt.Sprint(round), "mine", store.Absent)); {
				case err == nil:
					won.Add(1)
				default:
					assert.ErrorIs(t, err, store.ErrConflict)
				}
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, rounds, won.Load())
}

func testCallsThatCannotBe(t *testing.T, s store.Store, _ *Clock) {
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("left")
	cancel(why)
	_, err := s.Apply(gone, put("a", "1", store.Absent))
	assert.ErrorIs(t, err, why)
	_, err = s.Get(gone, "k", "a")
	assert.ErrorIs(t, err, why)
	require.NoError(t, s.Close())
	_, err = s.Apply(t.Context(), put("a", "1", store.Absent))
	assert.ErrorIs(t, err, store.ErrClosed)
	_, err = s.Get(t.Context(), "k", "a")
	assert.ErrorIs(t, err, store.ErrClosed)
	_, err = s.Sweep(t.Context())
	assert.ErrorIs(t, err, store.ErrClosed)
}

// testClockJumps: values outlive the process, so they expire by the wall clock. A clock that is
// ahead hides them, and correcting it shows them again unless a sweep has removed them.
func testClockJumps(t *testing.T, s store.Store, c *Clock) {
	change := put("a", "1", store.Absent)
	change.Expires = c.Now().Add(24 * time.Hour)
	_, err := s.Apply(t.Context(), change)
	require.NoError(t, err)
	const year = 365 * 24 * time.Hour
	c.Advance(-year)
	assert.Equal(t, []string{"a=1"}, keys(t, s, ""), "behind")
	c.Advance(2 * year)
	assert.Empty(t, keys(t, s, ""), "ahead")
	c.Advance(-year)
	assert.Equal(t, []string{"a=1"}, keys(t, s, ""), "right again")
	c.Advance(year)
	removed, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, removed)
	c.Advance(-year)
	assert.Empty(t, keys(t, s, ""), "it was removed")
}

func testStateTellsHowWritesEnd(t *testing.T, s store.Store, c *Clock) {
	ctx := t.Context()
	revision, err := s.Apply(ctx, put("a", "1", store.Absent))
	require.NoError(t, err)
	_, err = s.Apply(ctx, put("a", "2", store.Absent))
	require.ErrorIs(t, err, store.ErrConflict)
	state := s.State()
	assert.Equal(t, store.State{Bytes: state.Bytes, Writes: 1}, state, "a conflict is no failure")
	assert.Positive(t, state.Bytes)

	_, err = s.Apply(ctx, put("", "1", store.Absent)) // no driver accepts this
	require.Error(t, err)
	state = s.State()
	assert.EqualValues(t, 1, state.Failures)
	assert.Error(t, state.Failed)

	_, err = s.Apply(ctx, store.Change{Kind: "k", Key: "a", Expect: revision, Value: []byte("3"),
		Expires: c.Now().Add(time.Minute)})
	require.NoError(t, err)
	assert.NoError(t, s.State().Failed, "it works again")
	c.Advance(time.Hour)
	_, err = s.Sweep(ctx)
	require.NoError(t, err)
	state = s.State()
	assert.Equal(t, store.State{Bytes: state.Bytes, Writes: 2, Failures: 1, Swept: 1}, state)
}

func testCallsShareATransaction(t *testing.T, s store.Store, _ *Clock) {
	ctx := t.Context()
	_, err := s.Apply(ctx, put("taken", "1", store.Absent))
	require.NoError(t, err)
	const callers, rounds = 8, 30
	var wait sync.WaitGroup
	var revisions sync.Map
	for caller := range callers {
		wait.Go(func() {
			for round := range rounds {
				key := fmt.Sprintf("%d-%d", caller, round)
				switch round % 3 {
				case 0:
					revision, err := s.Apply(ctx, put(key, "1", store.Absent), put(key+"b", "2", store.Absent))
					assert.NoError(t, err)
					_, twice := revisions.LoadOrStore(revision, key)
					assert.False(t, twice, "each call has its own revision")
				case 1:
					_, err := s.Apply(ctx, put(key, "1", store.Absent), put("taken", "2", store.Absent))
					assert.ErrorIs(t, err, store.ErrConflict)
				case 2:
					_, err := s.Apply(ctx, put(key, "1", store.Absent), put("", "2", store.Absent))
					assert.Error(t, err)
					assert.NotErrorIs(t, err, store.ErrConflict)
				}
			}
		})
	}
	wait.Wait()
	assert.Len(t, keys(t, s, ""), 1+2*callers*rounds/3, "the others wrote nothing")
	state := s.State()
	assert.EqualValues(t, 1+callers*rounds/3, state.Writes)
	assert.EqualValues(t, callers*rounds/3, state.Failures)
}

// testVisitorsMayUseTheStore: a visitor may be slow and change the store, because the driver holds
// no lock meanwhile.
func testVisitorsMayUseTheStore(t *testing.T, s store.Store, _ *Clock) {
	ctx, large := t.Context(), strings.Repeat("x", 1<<20) // a file must grow for it
	for i := range 40 {
		_, err := s.Apply(ctx, put(fmt.Sprintf("%02d", i), "v", store.Absent),
			store.Change{Log: "log", Value: []byte("x")})
		require.NoError(t, err)
	}
	visited := 0
	work := func() bool {
		visited++
		if visited%10 != 0 {
			return true
		}
		_, err := s.Apply(ctx, store.Change{Kind: "large", Key: fmt.Sprint(visited), Value: []byte(large)})
		require.NoError(t, err)
		_, err = s.Get(ctx, "k", "00")
		require.NoError(t, err)
		return true
	}
	require.NoError(t, s.Range(ctx, "k", "", func(store.Entry) bool { return work() }))
	require.NoError(t, s.RangeBack(ctx, "k", "", func(store.Entry) bool { return work() }))
	require.NoError(t, s.Log(ctx, "log", store.Position{}, func(store.Appended) bool { return work() }))
	assert.Equal(t, 3*40, visited)
}

func testManyValuesInBothDirections(t *testing.T, s store.Store, c *Clock) {
	const n = 1500
	var all []store.Change
	for i := range n {
		change := put(fmt.Sprintf("%05d", i), "v", store.Absent)
		if i%7 == 0 {
			change.Expires = c.Now().Add(time.Minute)
		}
		all = append(all, change)
	}
	for part := range slices.Chunk(all, store.MostChanges) {
		_, err := s.Apply(t.Context(), part...)
		require.NoError(t, err)
	}
	_, err := s.Apply(t.Context(), all[:store.MostChanges+1]...)
	require.ErrorIs(t, err, store.ErrTooMany)
	c.Advance(time.Hour)
	var there, back, want []string
	for i := range n {
		if i%7 != 0 {
			want = append(want, fmt.Sprintf("%05d", i))
		}
	}
	require.NoError(t, s.Range(t.Context(), "k", "",
		func(e store.Entry) bool { there = append(there, e.Key); return true }))
	require.NoError(t, s.RangeBack(t.Context(), "k", "",
		func(e store.Entry) bool { back = append([]string{e.Key}, back...); return true }))
	assert.Equal(t, want, there)
	assert.Equal(t, want, back)
}

// testACounterLosesNoStep: callers increment a counter by reading it and writing it back, and retry
// after a conflict. No step is lost.
func testACounterLosesNoStep(t *testing.T, s store.Store, _ *Clock) {
	const callers, steps = 6, 15
	read := func() (n int, revision store.Revision) {
		e, err := s.Get(t.Context(), "k", "counter")
		if errors.Is(err, store.ErrAbsent) {
			return 0, store.Absent
		}
		assert.NoError(t, err)
		_, err = fmt.Sscan(string(e.Value), &n)
		assert.NoError(t, err)
		return n, e.Revision
	}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for done := 0; done < steps; {
				n, revision := read()
				switch _, err := s.Apply(t.Context(), put("counter", fmt.Sprint(n+1), revision)); {
				case err == nil:
					done++
				case !assert.ErrorIs(t, err, store.ErrConflict):
					return
				}
			}
		})
	}
	group.Wait()
	n, _ := read()
	assert.Equal(t, callers*steps, n)
}

// testBatchesAreSeenWhole: two values that change together are never read at different states.
func testBatchesAreSeenWhole(t *testing.T, s store.Store, _ *Clock) {
	ctx, cancel := context.WithCancel(t.Context())
	revision, err := s.Apply(ctx, put("a", "0", store.Absent), put("b", "0", store.Absent))
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for ctx.Err() == nil {
				pair := keys(t, s, "")
				if assert.Len(t, pair, 2) {
					assert.Equal(t, pair[0][2:], pair[1][2:])
				}
			}
		})
	}
	for i := range 50 {
		revision, err = s.Apply(t.Context(), put("a", fmt.Sprint(i), revision), put("b", fmt.Sprint(i), revision))
		require.NoError(t, err)
	}
	cancel()
	group.Wait()
}

// testValuesAreCopied: a caller may reuse its memory without changing stored values.
func testValuesAreCopied(t *testing.T, s store.Store, _ *Clock) {
	given := []byte("kept")
	_, err := s.Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: given},
		store.Change{Log: "log", Value: given}, put("empty", "", store.Absent))
	require.NoError(t, err)
	copy(given, "gone")
	for range 2 {
		e, err := s.Get(t.Context(), "k", "a")
		require.NoError(t, err)
		assert.Equal(t, "kept", string(e.Value))
		copy(e.Value, "gone")
		require.NoError(t, s.Range(t.Context(), "k", "a", func(e store.Entry) bool {
			assert.Equal(t, "kept", string(e.Value))
			copy(e.Value, "gone")
			return true
		}))
		require.NoError(t, s.Log(t.Context(), "log", store.Position{}, func(a store.Appended) bool {
			assert.Equal(t, "kept", string(a.Value))
			copy(a.Value, "gone")
			return true
		}))
	}
	e, err := s.Get(t.Context(), "k", "empty")
	require.NoError(t, err, "a value may be empty")
	assert.Empty(t, e.Value)
}

func testClosingEndsWhatWaits(t *testing.T, s store.Store, _ *Clock) {
	var group sync.WaitGroup
	started := make(chan struct{}, 8)
	for caller := range 8 {
		group.Go(func() {
			for i := 0; ; i++ {
				_, err := s.Apply(t.Context(), put(fmt.Sprintf("%d-%d", caller, i), "v", store.Absent))
				if i == 0 {
					started <- struct{}{}
				}
				if err != nil {
					assert.ErrorIs(t, err, store.ErrClosed)
					return
				}
			}
		})
	}
	for range 8 {
		<-started
	}
	bell := s.Appends("log")
	require.NoError(t, s.Close())
	group.Wait()
	<-bell
	require.NoError(t, s.Close(), "a second time")
}

func testChangesThatNoDriverTakes(t *testing.T, s store.Store, _ *Clock) {
	for name, change := range map[string]store.Change{
		"no key":        {Kind: "k", Value: []byte("v")},
		"no kind":       {Key: "a", Value: []byte("v")},
		"a long key":    put(strings.Repeat("k", 32<<10+1), "v", store.Absent),
		"the counter":   {Kind: "revision", Key: "a", Value: []byte("v")},
		"the identity":  {Kind: "store", Key: "creation", Value: []byte("v")},
		"that of a log": {Kind: "logs", Key: "log", Value: []byte("v")},
	} {
		_, err := s.Apply(t.Context(), put("b", "v", store.Absent), store.Change{Log: "log", Value: []byte("x")},
			change)
		require.Error(t, err, name)
		assert.NotErrorIs(t, err, store.ErrConflict, name)
	}
	assert.Empty(t, keys(t, s, ""))
	end, err := s.End(t.Context(), "log")
	require.NoError(t, err)
	assert.Zero(t, end.Sequence)
	_, err = s.Apply(t.Context(), put(strings.Repeat("k", 32<<10), "v", store.Absent))
	require.NoError(t, err)
}

func testReopening(t *testing.T, d Driver) {
	folder, clock := t.TempDir(), NewClock()
	s, err := d.Open(folder, clock.Now)
	require.NoError(t, err)
	first, err := s.Apply(t.Context(), put("a", "1", store.Absent))
	require.NoError(t, err)
	_, err = d.Open(folder, clock.Now)
	require.Error(t, err, "one process has the store")
	require.NoError(t, s.Close())

	s, err = d.Open(folder, clock.Now)
	require.NoError(t, err)
	second, err := s.Apply(t.Context(), put("a", "2", first))
	require.NoError(t, err)
	assert.Greater(t, second, first)
	require.NoError(t, s.Close())
}

// testClosing: a store may be closed at any moment. Afterwards, every acknowledged batch is there,
// and every other batch is there completely or not at all.
func testClosing(t *testing.T, d Driver) {
	folder, clock := t.TempDir(), NewClock()
	var group sync.WaitGroup
	var acknowledged sync.Map
	for round := range 3 {
		s, err := d.Open(folder, clock.Now)
		require.NoError(t, err)
		started := make(chan struct{}, 4)
		for caller := range 4 {
			group.Go(func() {
				for i := 0; ; i++ {
					name := fmt.Sprintf("%d-%d-%d", round, caller, i)
					_, err := s.Apply(t.Context(), put(name+"a", "v", store.Absent), put(name+"b", "v", store.Absent),
						store.Change{Log: "log", Value: []byte(name)})
					if i == 1 {
						started <- struct{}{}
					}
					if err != nil {
						return
					}
					acknowledged.Store(name, true)
				}
			})
		}
		for range 4 {
			<-started
		}
		require.NoError(t, s.Close())
		group.Wait()
	}
	s, err := d.Open(folder, clock.Now)
	require.NoError(t, err)
	defer s.Close()
	found := map[string]int{}
	for _, entry := range keys(t, s, "") {
		found[strings.TrimRight(entry, "ab=v")]++
	}
	logged, _ := lines(t, s, store.Position{})
	for _, name := range logged {
		found[name]++
	}
	for name, n := range found {
		assert.Equal(t, 3, n, name)
	}
	acknowledged.Range(func(name, _ any) bool {
		return assert.Equal(t, 3, found[name.(string)], name)
	})
}

package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// entry is an entry of a journal.
type entry struct {
	batch []byte
	time  time.Time
	at    store.Point
}

// journal is an appender in memory. Its sequences have gaps.
type journal struct {
	last   store.Point
	before func(ctx context.Context) error // called before an entry is stored; may be nil
	after  func() error                    // called after an entry is stored; may be nil

	mu      sync.Mutex // guards the fields below
	entries []entry
}

func (j *journal) Append(ctx context.Context, batch []byte, time time.Time) (store.Point, error) {
	if j.before != nil {
		if err := j.before(ctx); err != nil {
			return store.Point{}, err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last.Sequence += 1 + uint64(len(j.entries)%2)
	j.last.Hash = sha256.Sum256(append(j.last.Hash[:], batch...))
	j.entries = append(j.entries, entry{append([]byte(nil), batch...), time, j.last})
	if j.after != nil {
		return j.last, j.after()
	}
	return j.last, nil
}

// all returns the entries.
func (j *journal) all() []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.entries
}

// bring applies the entries to a file that it has not applied yet.
func (j *journal) bring(t *testing.T, f *store.File) {
	t.Helper()
	at, err := f.Point()
	require.NoError(t, err)
	for _, e := range j.all() {
		err := f.ApplyBatch(t.Context(), e.batch, e.at, e.time)
		if e.at.Sequence <= at.Sequence {
			require.ErrorIs(t, err, store.ErrApplied)
		} else {
			require.NoError(t, err)
		}
	}
}

// follower opens a file as a follower.
func follower(t *testing.T, path string, now func() time.Time) *store.File {
	t.Helper()
	f, aside, err := store.Open(store.Options{Path: path, Now: now, Follows: true})
	require.NoError(t, err)
	require.Empty(t, aside)
	t.Cleanup(func() { _ = f.Close() }) // it may be closed already
	return f
}

// copied opens a copy of a file as a follower.
func copied(t *testing.T, f *store.File, path string, now func() time.Time) *store.File {
	t.Helper()
	install(t, f, path)
	return follower(t, path, now)
}

func requireEqual(t *testing.T, a, b *store.File) {
	t.Helper()
	at, digest, err := a.Digest(t.Context())
	require.NoError(t, err)
	too, other, err := b.Digest(t.Context())
	require.NoError(t, err)
	require.Equal(t, at, too)
	require.Equal(t, digest, other)
}

func set(key string, expect store.Revision) store.Change {
	return store.Change{Kind: "k", Key: key, Expect: expect, Value: []byte("v")}
}

func appended(log store.Log) store.Change { return store.Change{Log: log, Value: []byte("v")} }

func batchOf(calls ...store.Call) []byte { return (&store.Batch{Calls: calls}).Encode() }

// TestCopiesOfOneJournalAreEqual: copies are equal after any requests, also if they are restarted
// in between.
func TestCopiesOfOneJournalAreEqual(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 0))
		clock, folder, j := storetest.NewClock(), t.TempDir(), &journal{}
		first, second := filepath.Join(folder, "first.db"), filepath.Join(folder, "second.db")
		alone, _, err := store.Open(store.Options{Path: first, Now: clock.Now})
		require.NoError(t, err)
		_, err = alone.Apply(t.Context(), set("from before", store.Absent), appended("a"))
		require.NoError(t, err)
		b := copied(t, alone, second, clock.Now)
		require.NoError(t, alone.Close())
		a := follower(t, first, clock.Now)
		j.last, err = a.Point()
		require.NoError(t, err)
		require.EqualValues(t, 1, j.last.Sequence)
		a.Lead(j)
		for range 300 {
			choice := [4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}
			ask(t, a, clock.Now(), choice)
			switch r.IntN(20) {
			case 0:
				clock.Advance(time.Minute)
			case 1:
				require.NoError(t, a.Close())
				a = follower(t, first, clock.Now)
				a.Lead(j)
			case 2:
				j.bring(t, b)
				requireEqual(t, a, b)
			case 3:
				require.NoError(t, b.Close())
				b = follower(t, second, func() time.Time { return time.Unix(0, 0) }) // its clock decides nothing
			case 4: // the other one leads from here on
				a.Follow()
				j.bring(t, b)
				a, b, first, second = b, a, second, first
				a.Lead(j)
			}
		}
		j.bring(t, b)
		requireEqual(t, a, b)
		c := copied(t, a, filepath.Join(folder, "third.db"), clock.Now)
		requireEqual(t, a, c)
		end, err := a.End(t.Context(), "a")
		require.NoError(t, err)
		err = c.Log(t.Context(), "a", end, func(store.Appended) bool { return true })
		require.NoError(t, err, "a position is valid in every copy")
	}
}

// TestACallThatConflictsIsNoPartOfABatch: waiting calls share a batch, in which a call sees the
// changes of earlier ones. A call that conflicts is left out.
func TestACallThatConflictsIsNoPartOfABatch(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		j := &journal{before: func(context.Context) error { <-gate; return nil }}
		a := follower(t, filepath.Join(folder, "a.db"), nil)
		b := copied(t, a, filepath.Join(folder, "b.db"), nil)
		a.Lead(j)
		errs := map[string]error{}
		var mu sync.Mutex
		apply := func(name string, changes ...store.Change) {
			go func() {
				_, err := a.Apply(t.Context(), changes...)
				mu.Lock()
				defer mu.Unlock()
				errs[name] = err
			}()
			synctest.Wait()
		}
		apply("first", set("a", store.Absent))
		apply("second", set("b", store.Absent))
		other := store.Change{Kind: "other", Key: "b", Expect: 7, Value: []byte("v")}
		apply("conflict", set("c", store.Absent), other, appended("l"))
		apply("conflict with the second", set("b", store.Absent), appended("l"))
		apply("none", store.Change{Kind: "", Key: "x"})
		apply("third", set("d", store.Absent), appended("l"))
		assert.Empty(t, errs, "nobody is answered before it is stored")
		_, err := a.Get(t.Context(), "k", "a")
		require.ErrorIs(t, err, store.ErrAbsent, "reads go on, and see what is stored")
		close(gate)
		synctest.Wait()
		require.Len(t, j.all(), 2)
		batch, err := store.DecodeBatch(j.all()[1].batch)
		require.NoError(t, err)
		assert.Len(t, batch.Calls, 2)
		require.Len(t, errs, 6)
		for _, name := range []string{"first", "second", "third"} {
			assert.NoError(t, errs[name], name)
		}
		require.ErrorIs(t, errs["conflict"], store.ErrConflict)
		require.ErrorIs(t, errs["conflict with the second"], store.ErrConflict)
		require.Error(t, errs["none"])
		require.NotErrorIs(t, errs["none"], store.ErrConflict)
		j.bring(t, b)
		requireEqual(t, a, b)
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	})
}

func TestAFollowerRefusesCalls(t *testing.T) {
	f := follower(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return time.Unix(100, 0) })
	old, line := set("a", store.Absent), appended("l")
	old.Expires, line.Expires = time.Unix(50, 0), time.Unix(50, 0)
	call := func(revision store.Revision, changes ...store.Change) store.Call {
		return store.Call{Revision: revision, Changes: changes}
	}
	e := entry{batchOf(call(1, old, line)), time.Unix(40, 0), store.Point{Sequence: 5}}
	bell := f.Appends("l")
	require.NoError(t, f.ApplyBatch(t.Context(), e.batch, e.at, e.time))
	<-bell
	_, before, err := f.Digest(t.Context())
	require.NoError(t, err)
	_, err = f.Apply(t.Context(), set("b", store.Absent))
	require.ErrorIs(t, err, store.ErrFollows)
	require.ErrorIs(t, err, store.ErrNotSent)
	removed, err := f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, removed, "what has expired is removed by the writer")

	next := batchOf(call(2, set("b", 0)))
	for name, c := range map[string]struct {
		batch    []byte
		sequence uint64
		err      error
	}{
		"the same entry":     {e.batch, 5, store.ErrApplied},
		"an earlier entry":   {next, 4, store.ErrApplied},
		"no batch":           {next[1:], 6, store.ErrBatch},
		"a part of a batch":  {next[:30], 6, store.ErrBatch},
		"of a later store":   {batchOf(call(3)), 6, store.ErrDiverged},
		"of an earlier one":  {batchOf(call(0)), 6, store.ErrDiverged},
		"the second call is": {batchOf(call(2, set("b", 0)), call(7)), 6, store.ErrDiverged},
	} {
		err := f.ApplyBatch(t.Context(), c.batch, store.Point{Sequence: c.sequence}, e.time)
		require.ErrorIs(t, err, c.err, name)
		at, after, err := f.Digest(t.Context())
		require.NoError(t, err)
		assert.Equal(t, e.at, at, name)
		assert.Equal(t, before, after, name)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, f.ApplyBatch(ended, next, store.Point{Sequence: 6}, e.time), context.Canceled)
	require.NoError(t, f.ApplyBatch(t.Context(), nil, store.Point{Sequence: 9}, e.time))
	at, after, err := f.Digest(t.Context())
	require.NoError(t, err)
	assert.Equal(t, store.Point{Sequence: 9}, at, "an empty batch has a place")
	assert.Equal(t, before, after)

	f.Lead(&journal{last: at})
	require.ErrorIs(t, f.ApplyBatch(t.Context(), next, store.Point{Sequence: 10}, e.time), store.ErrLeads)
	removed, err = f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, removed)
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.ApplyBatch(t.Context(), next, store.Point{Sequence: 10}, e.time), store.ErrClosed)
	assert.ErrorIs(t, context.Cause(f.Lead(&journal{})), store.ErrClosed)
}

func TestAFileAloneAppliesNothingOfOthers(t *testing.T) {
	s, err := file.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer s.Close()
	err = s.(*store.File).ApplyBatch(t.Context(), nil, store.Point{Sequence: 9}, time.Now())
	require.ErrorIs(t, err, store.ErrLeads)
}

var errAway = errors.New("the journal is away")

// TestABatchThatIsNotStoredIsNotApplied: a batch that was not stored is not applied. If it may have
// been stored, the file stops leading.
func TestABatchThatIsNotStoredIsNotApplied(t *testing.T) {
	for name, c := range map[string]struct {
		refused, lost error
		leads         bool
	}{
		"it was not sent":                 {refused: fmt.Errorf("%w: %w", errAway, store.ErrNotSent), leads: true},
		"it may be sent and is not":       {refused: errAway},
		"it was sent, the answer is lost": {lost: errAway},
	} {
		t.Run(name, func(t *testing.T) {
			folder, now := t.TempDir(), func() time.Time { return begin }
			a := follower(t, filepath.Join(folder, "a.db"), now)
			b := copied(t, a, filepath.Join(folder, "b.db"), now)
			failing := true
			j := &journal{}
			j.before = func(context.Context) error {
				if failing {
					return c.refused
				}
				return nil
			}
			j.after = func() error {
				if failing {
					return c.lost
				}
				return nil
			}
			term := a.Lead(j)
			_, err := a.Apply(t.Context(), set("a", store.Absent))
			require.ErrorIs(t, err, errAway)
			assert.Equal(t, c.leads, errors.Is(err, store.ErrNotSent))
			require.ErrorIs(t, a.State().Failed, errAway)
			_, err = a.Get(t.Context(), "k", "a")
			require.ErrorIs(t, err, store.ErrAbsent)
			failing = false
			if !c.leads {
				require.ErrorIs(t, context.Cause(term), errAway)
				require.ErrorIs(t, context.Cause(term), store.ErrFollows)
				_, err = a.Apply(t.Context(), set("b", store.Absent))
				require.ErrorIs(t, err, store.ErrFollows)
				j.bring(t, a)
				a.Lead(j)
			}
			_, err = a.Apply(t.Context(), set("c", store.Absent))
			require.NoError(t, err)
			j.bring(t, b)
			requireEqual(t, a, b)
			_, err = b.Get(t.Context(), "k", "a")
			assert.Equal(t, c.lost != nil, err == nil)
		})
	}
}

// TestACallerMayLeave: when a caller leaves, its waiting call is not written, and a call that is
// being written continues.
func TestACallerMayLeave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		j := &journal{before: func(context.Context) error { <-gate; return nil }}
		f := follower(t, path, nil)
		f.Lead(j)
		ctx, leave := context.WithCancelCause(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		value := []byte("v")
		go func() {
			_, err := f.Apply(ctx, store.Change{Kind: "k", Key: "a", Value: value})
			first <- err
		}()
		synctest.Wait()
		go func() {
			_, err := f.Apply(ctx, set("b", store.Absent))
			second <- err
		}()
		synctest.Wait()
		leave(errAway)
		err := <-first
		require.ErrorIs(t, err, errAway)
		require.NotErrorIs(t, err, store.ErrNotSent)
		value[0] = 'x' // the caller may reuse its memory
		err = <-second
		require.ErrorIs(t, err, errAway)
		require.ErrorIs(t, err, store.ErrNotSent)
		_, err = f.Apply(ctx, set("c", store.Absent))
		require.ErrorIs(t, err, errAway, "it has not even waited")
		close(gate)
		synctest.Wait()
		e, err := f.Get(t.Context(), "k", "a")
		require.NoError(t, err)
		assert.Equal(t, "v", string(e.Value))
		_, err = f.Get(t.Context(), "k", "b")
		require.ErrorIs(t, err, store.ErrAbsent)
		require.NoError(t, f.Close())
	})
}

// TestTheLeaderMayStopAtAnyMoment: when a leader stops, the appender's context ends, and waiting
// calls are refused.
func TestTheLeaderMayStopAtAnyMoment(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(f *store.File)
		err  error
	}{
		"follow":     {func(f *store.File) { f.Follow() }, store.ErrFollows},
		"close":      {func(f *store.File) { _ = f.Close() }, store.ErrClosed},
		"lead again": {func(f *store.File) { f.Lead(&journal{}) }, store.ErrFollows},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		synctest.Test(t, func(t *testing.T) {
			j := &journal{before: func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }}
			f := follower(t, path, nil)
			term := f.Lead(j)
			first, second := make(chan error, 1), make(chan error, 1)
			for _, ended := range []chan error{first, second} {
				go func() {
					_, err := f.Apply(t.Context(), set("a", store.Absent))
					ended <- err
				}()
				synctest.Wait()
			}
			require.NoError(t, term.Err())
			c.stop(f)
			require.ErrorIs(t, context.Cause(term), c.err, name)
			require.ErrorIs(t, <-first, c.err, name)
			require.ErrorIs(t, <-second, c.err, name)
			require.Empty(t, j.all())
			require.NoError(t, f.Close())
		})
	}
}

// TestAFollowerGoesByTheTimeOfItsWriter: a follower's clock follows the log time of its writer.
func TestAFollowerGoesByTheTimeOfItsWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	still := store.ClockSources{Monotonic: func() time.Duration { return 0 },
		Agree: func() bool { return false }}
	open := func() *store.File {
		f, _, err := store.Open(store.Options{Path: path, Clock: store.NewClock(begin, still), Follows: true})
		require.NoError(t, err)
		return f
	}
	f := open()
	change := set("a", store.Absent)
	change.Expires = begin.Add(time.Hour)
	batch := batchOf(store.Call{Revision: 1, Changes: []store.Change{change}})
	require.NoError(t, f.ApplyBatch(t.Context(), batch, store.Point{Sequence: 1}, begin))
	_, err := f.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	require.NoError(t, f.ApplyBatch(t.Context(), nil, store.Point{Sequence: 2}, begin.Add(2*time.Hour)))
	for range 2 { // also after a restart
		_, err = f.Get(t.Context(), "k", "a")
		require.ErrorIs(t, err, store.ErrAbsent)
		assert.Equal(t, begin.Add(2*time.Hour), f.Now().UTC())
		require.NoError(t, f.Close())
		f = open()
	}
	require.NoError(t, f.Close())
}

var begin = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

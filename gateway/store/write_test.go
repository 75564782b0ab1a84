package store

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// noted is an appender that records the last batch.
type noted struct {
	batch []byte
	at    Point
}

func (n *noted) Append(_ context.Context, batch []byte, _ time.Time) (Point, error) {
	n.batch, n.at = append([]byte(nil), batch...), Point{Sequence: n.at.Sequence + 1}
	return n.at, nil
}

// TestAStoredBatchThatIsNotAppliedEndsTheLead: a file stops leading when a batch was stored but not
// applied, because the next batch would be decided without it. The batch is applied later, like one
// of another writer.
func TestAStoredBatchThatIsNotAppliedEndsTheLead(t *testing.T) {
	f, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db"), Follows: true})
	require.NoError(t, err)
	defer f.Close()
	journal := &noted{}
	term := f.Lead(journal)
	f.db.MaxSize = int(f.State().Bytes) // as on a full disk
	large := Change{Kind: "k", Key: "a", Value: make([]byte, 1<<20)}
	_, err = f.Apply(t.Context(), large)
	require.Error(t, err)
	require.EqualValues(t, 1, journal.at.Sequence)
	require.ErrorIs(t, context.Cause(term), ErrFollows)
	_, err = f.Apply(t.Context(), put("b", "1", Absent))
	require.ErrorIs(t, err, ErrFollows)
	at, err := f.Point()
	require.NoError(t, err)
	assert.Zero(t, at)
	require.Error(t, f.ApplyBatch(t.Context(), journal.batch, journal.at, time.Now()), "it is still full")
	assert.Error(t, f.State().Failed)

	f.db.MaxSize = 0
	require.NoError(t, f.ApplyBatch(t.Context(), journal.batch, journal.at, time.Now()))
	assert.NoError(t, f.State().Failed)
	f.Lead(journal)
	_, err = f.Apply(t.Context(), large)
	require.ErrorIs(t, err, ErrConflict)
}

// TestALargeBatchIsDivided: waiting calls share batches of limited size.
func TestALargeBatchIsDivided(t *testing.T) {
	f, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	defer f.Close()
	f.mu.Lock()
	f.writer = make(chan struct{})
	for i := range 5 {
		large := Change{Kind: "k", Key: string(rune('a' + i)), Value: make([]byte, batchSize/2)}
		f.waiting = append(f.waiting, &write{ended: make(chan struct{}), changes: []Change{large}})
	}
	all := f.waiting
	f.mu.Unlock()
	f.writeAll()
	for _, w := range all {
		<-w.ended
		assert.NoError(t, w.err)
	}
	at, err := f.Point()
	require.NoError(t, err)
	assert.EqualValues(t, 3, at.Sequence)
}

// TestWhatWasSetAgainIsNotSwept: if a value is set again after a sweep has found it expired and before the
// sweep removes it, the value stays.
func TestWhatWasSetAgainIsNotSwept(t *testing.T) {
	f, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	defer f.Close()
	old := put("a", "1", Absent)
	old.Expires = f.Now().Add(-time.Hour)
	_, err = f.Apply(t.Context(), old, put("b", "1", Absent))
	require.NoError(t, err)
	_, err = f.Apply(t.Context(), put("a", "2", Absent))
	require.NoError(t, err)
	there := []Change{{Kind: "k", Key: "a"}, {Kind: "k", Key: "b"}, {Kind: "none", Key: "a"}}
	sweep := &write{sweeps: true, changes: there}
	require.NoError(t, f.await(t.Context(), sweep))
	assert.Zero(t, sweep.removed)
	for _, key := range []string{"a", "b"} {
		_, err = f.Get(t.Context(), "k", key)
		require.NoError(t, err)
	}
	at, err := f.Point()
	require.NoError(t, err)
	assert.EqualValues(t, 2, at.Sequence, "nothing is no batch")
}

// TestAFileWithoutAPlace: a file of an earlier version, which has no point, begins a new hash chain. Its
// content can still be used.
func TestAFileWithoutAPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var revision Revision
	var end Position
	inFile(t, path, func(s Store) {
		var err error
		revision, err = s.Apply(t.Context(), put("a", "1", Absent), line("one", time.Time{}))
		require.NoError(t, err)
		end, err = s.End(t.Context(), "log")
		require.NoError(t, err)
	})
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(storeBucket).Delete(pointKey) }))
	require.NoError(t, db.Close())
	inFile(t, path, func(s Store) {
		f := s.(*File)
		require.NoError(t, f.State().Rewound)
		at, err := f.Point()
		require.NoError(t, err)
		assert.Zero(t, at)
		next, err := s.Apply(t.Context(), put("a", "2", revision), line("two", time.Time{}))
		require.NoError(t, err)
		assert.Equal(t, revision+1, next)
		require.NoError(t, s.Log(t.Context(), "log", end, noLine))
		at, err = f.Point()
		require.NoError(t, err)
		assert.EqualValues(t, 1, at.Sequence)
		assert.NotZero(t, at.Hash)
	})
}

// TestACallerThatLeftMayReuseItsValues: a caller that has left may reuse the memory of its values,
// even if its call is decided later.
func TestACallerThatLeftMayReuseItsValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	synctest.Test(t, func(t *testing.T) {
		f, _, err := Open(Options{Path: path, Follows: true})
		require.NoError(t, err)
		f.Lead(&noted{})
		f.mu.Lock()
		f.writer = make(chan struct{}) // as if a writer were busy
		f.mu.Unlock()
		ctx, leave := context.WithCancel(t.Context())
		value, left := []byte("v"), make(chan error)
		go func() {
			_, err := f.Apply(ctx, Change{Kind: "k", Key: "a", Value: value})
			left <- err
		}()
		synctest.Wait()
		f.mu.Lock()
		all := f.waiting
		f.waiting = nil
		f.mu.Unlock()
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		value[0] = 'x'
		f.mu.Lock()
		f.waiting = all
		f.mu.Unlock()
		f.writeAll()
		e, err := f.Get(t.Context(), "k", "a")
		require.NoError(t, err)
		assert.Equal(t, "v", string(e.Value))
		require.NoError(t, f.Close())
	})
}

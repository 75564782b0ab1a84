package store

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// grouped makes a file write several calls in one batch.
func grouped(f *File, all ...*write) {
	f.mu.Lock()
	f.writer = make(chan struct{})
	for _, w := range all {
		w.ended = make(chan struct{})
	}
	f.waiting = all
	f.mu.Unlock()
	f.writeAll()
	for _, w := range all {
		<-w.ended
	}
}

func updates(update func(*Tx) error) *write { return &write{updates: &updating{f: update}} }

// counting returns an update that increments a counter and records the value before.
func counting(seen *[]string) *write {
	return updates(func(tx *Tx) error {
		e, err := tx.Get("k", "n")
		if err != nil && !errors.Is(err, ErrAbsent) {
			return err
		}
		*seen = append(*seen, string(e.Value))
		tx.Put("k", "n", append(e.Value, 'x'), time.Time{})
		return nil
	})
}

// refusing returns an update that puts a value and then fails.
func refusing(seen *[]string) *write {
	return updates(func(tx *Tx) error {
		e, _ := tx.Get("k", "n") // the zero entry if it is absent
		*seen = append(*seen, string(e.Value))
		tx.Put("k", "n", []byte("refused"), time.Time{})
		tx.Put("k", "refused", []byte("1"), time.Time{})
		return errRefused
	})
}

var errRefused = errors.New("refused")

func openFile(t *testing.T, o Options) *File {
	t.Helper()
	o.Path = filepath.Join(t.TempDir(), "state.db")
	f, _, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

func sequence(t *testing.T, f *File) uint64 {
	t.Helper()
	at, err := f.Point()
	require.NoError(t, err)
	return at.Sequence
}

func value(t *testing.T, f *File, key string) string {
	t.Helper()
	e, err := f.Get(t.Context(), "k", key)
	if errors.Is(err, ErrAbsent) {
		return ""
	}
	require.NoError(t, err)
	return string(e.Value)
}

// TestUpdatesOfABatchSeeEachOther: an update sees the changes of earlier updates and calls of Apply
// in the same batch, but nothing of an update that was refused.
func TestUpdatesOfABatchSeeEachOther(t *testing.T) {
	f := openFile(t, Options{})
	var seen []string
	refused := refusing(&seen)
	conflicts := &write{changes: []Change{put("n", "applied", Absent)}}
	idle := updates(func(tx *Tx) error { _, err := tx.Get("k", "n"); return err })
	all := []*write{counting(&seen), refused, counting(&seen), conflicts, idle, counting(&seen)}
	grouped(f, all...)
	assert.Equal(t, []string{"", "x", "x", "xx"}, seen)
	assert.Equal(t, "xxx", value(t, f, "n"))
	assert.Empty(t, value(t, f, "refused"))
	assert.EqualValues(t, 1, sequence(t, f), "they share a batch")
	for i, want := range []error{nil, errRefused, nil, ErrConflict, nil, nil} {
		assert.ErrorIs(t, all[i].err, want, i)
	}
	assert.EqualValues(t, 3, f.State().Writes)
	assert.Zero(t, f.State().Failures)
}

// TestUpdatesOfABatchFailTogether: if a batch is not stored, updates that have seen its changes are
// not stored either.
func TestUpdatesOfABatchFailTogether(t *testing.T) {
	full := errors.New("the disk is full")
	for name, test := range map[string]struct {
		fails  error
		unsure bool
	}{
		"it is not known": {full, true},
		"it was not sent": {errors.Join(ErrNotSent, full), false},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFile(t, Options{Follows: true})
			f.Lead(failing{test.fails})
			var seen []string
			all := []*write{counting(&seen), refusing(&seen), counting(&seen)}
			grouped(f, all...)
			assert.Equal(t, []string{"", "x", "x"}, seen)
			for i, w := range all {
				require.ErrorIs(t, w.err, full)
				assert.Equal(t, test.unsure && i != 1, errors.Is(w.err, ErrUnsure), i)
			}
			var doubt *Doubt
			if errors.As(all[2].err, &doubt) {
				assert.Equal(t, []Change{{Kind: "k", Key: "n", Expect: 1, Value: []byte("xx")}}, doubt.Changes)
			}
			assert.Empty(t, value(t, f, "n"))
			assert.Zero(t, sequence(t, f))
		})
	}
}

type failing struct{ err error }

func (a failing) Append(context.Context, []byte, time.Time) (Point, error) { return Point{}, a.err }

// TestAnUpdateThatFindsNoRoom: an update that does not fit on the disk does not affect other updates in its
// batch, and none of its changes is kept.
func TestAnUpdateThatFindsNoRoom(t *testing.T) {
	disk := &disk{}
	f := openFile(t, Options{commits: disk.open})
	disk.room = batchSize / 4
	var seen []string
	large := updates(func(tx *Tx) error {
		tx.Put("k", "n", []byte("large"), time.Time{})
		tx.Put("k", "large", make([]byte, batchSize/2), time.Time{})
		return nil
	})
	first, last := counting(&seen), counting(&seen)
	grouped(f, first, large, last)
	require.NoError(t, first.err)
	require.Error(t, large.err)
	require.NotErrorIs(t, large.err, ErrUnsure)
	require.NoError(t, last.err)
	assert.Equal(t, "xx", value(t, f, "n"))
	assert.Empty(t, value(t, f, "large"))
}

// TestLargeUpdatesAreDivided: large updates are divided into several batches like calls of Apply,
// although their size is not known in advance.
func TestLargeUpdatesAreDivided(t *testing.T) {
	f := openFile(t, Options{})
	var all []*write
	for i := range 5 {
		all = append(all, updates(func(tx *Tx) error {
			tx.Put("k", strconv.Itoa(i), make([]byte, batchSize/2), time.Time{})
			return nil
		}))
	}
	grouped(f, all...)
	for _, w := range all {
		assert.NoError(t, w.err)
	}
	assert.EqualValues(t, 3, sequence(t, f))
}

// TestUpdatesThatFindAnotherRole: updates are refused if the file loses its role between two
// batches.
func TestUpdatesThatFindAnotherRole(t *testing.T) {
	f := openFile(t, Options{Follows: true})
	f.Lead(&noted{})
	large := func(key string) *write {
		return updates(func(tx *Tx) error {
			tx.Put("k", key, make([]byte, batchSize), time.Time{})
			f.mu.Lock()
			defer f.mu.Unlock()
			f.leave(ErrFollows) // as Follow does while a batch is written
			return nil
		})
	}
	first, second := large("a"), large("b")
	grouped(f, first, second)
	require.NoError(t, first.err)
	require.ErrorIs(t, second.err, ErrFollows)
	require.ErrorIs(t, second.err, ErrNotSent)
	assert.False(t, second.updates.called)
}

// held is an appender that blocks.
type held struct{ begun, goOn chan struct{} }

func (a held) Append(context.Context, []byte, time.Time) (Point, error) {
	a.begun <- struct{}{}
	<-a.goOn
	return Point{Sequence: 1}, nil
}

// TestACallerThatLeaves: a caller that leaves learns whether its function was called. If the function was not
// called, it never will be.
func TestACallerThatLeaves(t *testing.T) {
	f := openFile(t, Options{Follows: true})
	a := held{make(chan struct{}), make(chan struct{})}
	f.Lead(a)
	left := errors.New("left")
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		first <- f.Update(ctx, func(tx *Tx) error { tx.Put("k", "a", []byte("1"), time.Time{}); return nil })
	}()
	<-a.begun
	go func() {
		second <- f.Update(ctx, func(*Tx) error { t.Error("it is called"); return nil })
	}()
	for waits := false; !waits; {
		f.mu.Lock()
		waits = len(f.waiting) == 1
		f.mu.Unlock()
	}
	cancel(left)
	err := <-first
	require.ErrorIs(t, err, left)
	require.ErrorIs(t, err, ErrUnsure)
	err = <-second
	require.ErrorIs(t, err, left)
	require.ErrorIs(t, err, ErrNotSent)
	require.NotErrorIs(t, err, ErrUnsure)
	close(a.goOn)
	f.Follow()
	assert.Equal(t, "1", value(t, f, "a"), "it goes on")
}

// TestAPanicDoesNotEndTheWriter: if an update panics, the other calls of its batch are written.
func TestAPanicDoesNotEndTheWriter(t *testing.T) {
	f := openFile(t, Options{})
	var seen []string
	broken := updates(func(tx *Tx) error {
		tx.Put("k", "n", []byte("broken"), time.Time{})
		panic("broken")
	})
	all := []*write{counting(&seen), broken, counting(&seen)}
	grouped(f, all...)
	require.NoError(t, all[0].err)
	require.ErrorIs(t, broken.err, errPanicked)
	require.NoError(t, all[2].err)
	assert.Equal(t, "xx", value(t, f, "n"))
}

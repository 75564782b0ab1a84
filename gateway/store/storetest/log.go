package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

func line(text string, expires time.Time) store.Change {
	return store.Change{Log: "log", Value: []byte(text), Expires: expires}
}

// lines returns the texts of a log after a position, and the position of the last.
func lines(t *testing.T, s store.Store, after store.Position) (texts []string, last store.Position) {
	t.Helper()
	last = after
	require.NoError(t, s.Log(t.Context(), "log", after, func(a store.Appended) bool {
		texts, last = append(texts, string(a.Value)), a.Position
		return true
	}))
	return texts, last
}

func noLine(store.Appended) bool { return true }

func testALogHasTheOrderOfItsDecisions(t *testing.T, s store.Store, _ *Clock) {
	end, err := s.End(t.Context(), "log")
	require.NoError(t, err)
	assert.Zero(t, end.Sequence)
	assert.NotEmpty(t, end.Creation)
	none, _ := lines(t, s, end)
	assert.Empty(t, none)

	first, err := s.Apply(t.Context(), put("a", "1", store.Absent), line("one", time.Time{}))
	require.NoError(t, err)
	_, err = s.Apply(t.Context(), line("never", time.Time{}), put("a", "2", store.Absent))
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = s.Apply(t.Context(), line("two", time.Time{}), put("a", "2", first), line("three", time.Time{}),
		store.Change{Log: "other", Value: []byte("x")})
	require.NoError(t, err)

	all, last := lines(t, s, end)
	assert.Equal(t, []string{"one", "two", "three"}, all, "a refused decision appends nothing")
	assert.Equal(t, store.Position{Creation: end.Creation, Sequence: 3}, last)
	rest, _ := lines(t, s, store.Position{Creation: end.Creation, Sequence: 1})
	assert.Equal(t, []string{"two", "three"}, rest)
	visited := 0
	require.NoError(t, s.Log(t.Context(), "log", store.Position{},
		func(store.Appended) bool { visited++; return false }))
	assert.Equal(t, 1, visited)
	end, err = s.End(t.Context(), "log")
	require.NoError(t, err)
	assert.Equal(t, last, end)
}

func testAReaderLearnsThatItMissedEntries(t *testing.T, s store.Store, c *Clock) {
	soon, late := c.Now().Add(time.Hour), c.Now().Add(2*time.Hour)
	for _, change := range []store.Change{line("1", soon), line("2", late), line("3", soon),
		line("4", time.Time{})} {
		_, err := s.Apply(t.Context(), change)
		require.NoError(t, err)
	}
	end, err := s.End(t.Context(), "log")
	require.NoError(t, err)
	at := func(sequence uint64) store.Position {
		return store.Position{Creation: end.Creation, Sequence: sequence}
	}
	refused := func(after store.Position) {
		t.Helper()
		require.ErrorIs(t, s.Log(t.Context(), "log", after, noLine), store.ErrPosition)
	}
	refused(at(5))
	refused(store.Position{Creation: "another", Sequence: 2})
	refused(store.Position{Creation: "", Sequence: 2})
	for _, swept := range []bool{false, true} {
		c.Advance(soon.Sub(c.Now()))
		if swept {
			removed, err := s.Sweep(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 1, removed, "the third stays with the second before it")
		}
		refused(at(0))
		all, _ := lines(t, s, store.Position{})
		assert.Equal(t, []string{"2", "3", "4"}, all)
		all, _ = lines(t, s, at(1))
		assert.Equal(t, []string{"2", "3", "4"}, all)
	}
	_, err = s.Apply(t.Context(), store.Change{Log: "log", Through: 4})
	require.NoError(t, err)
	refused(at(3))
	all, _ := lines(t, s, at(4))
	assert.Empty(t, all)
	_, err = s.Apply(t.Context(), line("5", time.Time{}))
	require.NoError(t, err)
	_, last := lines(t, s, store.Position{})
	assert.Equal(t, at(5), last, "no number is given twice")
}

func testReadersOfALogAreWoken(t *testing.T, s store.Store, _ *Clock) {
	woken := func(bell <-chan struct{}) {
		t.Helper()
		select {
		case <-bell:
		case <-time.After(10 * time.Second):
			t.Fatal("not woken")
		}
	}
	asleep := func(bell <-chan struct{}) {
		t.Helper()
		select {
		case <-bell:
			t.Fatal("woken for nothing")
		default:
		}
	}
	bell, other := s.Appends("log"), s.Appends("other")
	_, err := s.Apply(t.Context(), put("a", "1", store.Absent))
	require.NoError(t, err)
	_, err = s.Apply(t.Context(), put("a", "1", store.Absent), line("no", time.Time{}))
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = s.Apply(t.Context(), store.Change{Log: "log", Through: 9})
	require.NoError(t, err)
	asleep(bell)
	_, err = s.Apply(t.Context(), line("1", time.Time{}), line("2", time.Time{}))
	require.NoError(t, err)
	woken(bell)
	asleep(other)
	bell = s.Appends("log")
	asleep(bell)
	require.NoError(t, s.Close())
	woken(bell)
	woken(other)
	woken(s.Appends("log"))
	require.ErrorIs(t, s.Log(t.Context(), "log", store.Position{}, noLine), store.ErrClosed)
	_, err = s.End(t.Context(), "log")
	require.ErrorIs(t, err, store.ErrClosed)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Log(gone, "log", store.Position{}, noLine), context.Canceled)
}

// testAReaderOfALogMissesNothing: a reader that continues from its last position while several
// callers append sees every entry once, and the entries of each writer in order.
func testAReaderOfALogMissesNothing(t *testing.T, s store.Store, _ *Clock) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const writers, each = 4, 25
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := range each {
				_, err := s.Apply(ctx, line(fmt.Sprintf("%d %d", writer, i), time.Time{}))
				assert.NoError(t, err)
			}
		})
	}
	var at store.Position
	next := map[int]int{}
	for seen := 0; seen < writers*each; {
		bell := s.Appends("log")
		require.NoError(t, s.Log(ctx, "log", at, func(a store.Appended) bool {
			seen++
			assert.EqualValues(t, seen, a.Position.Sequence)
			var writer, i int
			_, err := fmt.Sscan(string(a.Value), &writer, &i)
			assert.NoError(t, err)
			assert.Equal(t, next[writer], i)
			next[writer], at = i+1, a.Position
			return true
		}))
		if seen == writers*each {
			break
		}
		select {
		case <-bell:
		case <-ctx.Done():
			t.Fatal("the reader was not woken")
		}
	}
	group.Wait()
}

func testPositionsHold(t *testing.T, d Driver) {
	folder, clock := t.TempDir(), NewClock()
	var end store.Position
	for round := range 3 {
		s, err := d.Open(folder, clock.Now)
		require.NoError(t, err)
		if round > 0 {
			all, _ := lines(t, s, end)
			assert.Empty(t, all)
		}
		_, err = s.Apply(t.Context(), line("x", time.Time{}))
		require.NoError(t, err)
		_, err = s.Apply(t.Context(), store.Change{Log: "log", Through: 9})
		require.NoError(t, err)
		next, err := s.End(t.Context(), "log")
		require.NoError(t, err)
		assert.EqualValues(t, round+1, next.Sequence)
		assert.True(t, round == 0 || next.Creation == end.Creation)
		end = next
		require.NoError(t, s.Close())
	}
	s, err := d.Open(t.TempDir(), clock.Now)
	require.NoError(t, err)
	defer s.Close()
	require.ErrorIs(t, s.Log(t.Context(), "log", end, noLine), store.ErrPosition, "of another store")
}

package changes

import (
	"crypto/aes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/ps"
)

// end adds n changes that have ended, each a minute after the previous one, and returns their ids
// in order.
func end(t *testing.T, h *History, n int, from time.Time) (ids []string) {
	t.Helper()
	for i := range n {
		at := from.Add(time.Duration(i) * time.Minute)
		r := &Record{ID: idOf(at, uint64(i)), Time: time.Now()}
		require.NoError(t, h.Complete(t.Context(), r, ps.OutcomeDone))
		ids = append(ids, r.ID)
	}
	return ids
}

// all returns the ids of the changes that ended after a position, read in pieces of at most most.
func all(t *testing.T, h *History, position store.Position, most int) (ids []string) {
	t.Helper()
	for {
		ended, reached, err := h.After(t.Context(), position, most)
		require.NoError(t, err)
		if reached == position {
			return ids
		}
		for _, e := range ended {
			ids = append(ids, e.ID)
		}
		position = reached
	}
}

func TestChangesAreFollowedInTheOrderOfTheirEnds(t *testing.T) {
	h := open(t, 1<<20)
	beginning, err := h.End(t.Context())
	require.NoError(t, err)
	bell := h.Ends()
	ids := end(t, h, 7, time.Now())
	select {
	case <-bell:
	default:
		assert.Fail(t, "who waits is not woken")
	}
	for most := 1; most < 9; most++ {
		assert.Equal(t, ids, all(t, h, beginning, most))
	}
	assert.Equal(t, ids, all(t, h, store.Position{}, 3), "from the oldest")
	last, err := h.End(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all(t, h, last, 3))

	removed, err := h.Get(t.Context(), ids[2])
	require.NoError(t, err)
	drop(t, h, removed)
	assert.Equal(t, append(append([]string{}, ids[:2]...), ids[3:]...), all(t, h, beginning, 1),
		"what is not kept is passed over")
}

// TestThePositionOfATimeBesideAdoptedChanges: adopted changes, which began long before they were
// stored, do not hide the changes around them.
func TestThePositionOfATimeBesideAdoptedChanges(t *testing.T) {
	h := open(t, 1<<20)
	begin := time.Now().Add(-10 * time.Hour).Truncate(time.Millisecond)
	before := end(t, h, 120, begin)
	sent := begin.Add(121 * time.Minute)
	var adopted []string
	for i := range 400 {
		r := &Record{ID: idOf(begin.Add(-20*time.Hour), uint64(i)), Time: time.Now(), Outcome: ps.OutcomeDone}
		require.NoError(t, h.Adopt(t.Context(), r, sent))
		adopted = append(adopted, r.ID)
	}
	after := end(t, h, 120, begin.Add(122*time.Minute))
	for n, want := range map[int][]string{
		60:  slices.Concat(before[60:], adopted, after),
		150: after[28:],
	} {
		position, err := h.From(t.Context(), begin.Add(time.Duration(n)*time.Minute))
		require.NoError(t, err)
		got := all(t, h, position, 100)
		if assert.Len(t, got, len(want), n) {
			assert.Equal(t, want[0], got[0], n)
		}
	}
}

func TestThePositionOfATime(t *testing.T) {
	h := open(t, 1<<20)
	begin := time.Now().Add(-10 * time.Hour).Truncate(time.Millisecond)
	position, err := h.From(t.Context(), begin)
	require.NoError(t, err)
	assert.Zero(t, position.Sequence, "there is nothing yet")
	ids := end(t, h, 500, begin)
	for _, n := range []int{0, 1, 59, 60, 61, 250, 498, 499} {
		at := begin.Add(time.Duration(n) * time.Minute)
		for _, t2 := range []time.Time{at, at.Add(-time.Second)} {
			position, err := h.From(t.Context(), t2)
			require.NoError(t, err)
			assert.Equal(t, ids[n:], all(t, h, position, 100), "%d", n)
		}
	}
	position, err = h.From(t.Context(), time.Now())
	require.NoError(t, err)
	assert.Empty(t, all(t, h, position, 100))
	position, err = h.From(t.Context(), time.Time{}.Add(time.Hour))
	require.NoError(t, err)
	assert.Equal(t, ids, all(t, h, position, 100))
}

func TestCursors(t *testing.T) {
	h := open(t, 1<<20)
	end(t, h, 3, time.Now())
	position, err := h.End(t.Context())
	require.NoError(t, err)
	cursor := h.Cursor(position)
	read, err := h.Position(t.Context(), cursor)
	require.NoError(t, err)
	assert.Equal(t, position, read)
	again := h.Cursor(position)
	assert.NotEqual(t, cursor, again, "it would tell that nothing ended")
	assert.Len(t, again, len(cursor))

	read, err = h.Position(t.Context(), earlierCursor(h, position))
	require.NoError(t, err, "clients keep those of earlier versions")
	assert.Equal(t, position, read)

	position.Sequence++
	_, err = h.Position(t.Context(), h.Cursor(position))
	require.ErrorIs(t, err, store.ErrPosition, "the store was taken back")
	_, err = open(t, 1<<20).Position(t.Context(), cursor)
	require.ErrorIs(t, err, store.ErrPosition, "of another store with the same key")

	plain, _, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	defer plain.Close()
	key, err := store.NewKey([]byte("another key of thirty-two bytes."))
	require.NoError(t, err)
	sealed, err := store.Seal(plain, key)
	require.NoError(t, err)
	other := New(sealed, time.Hour, 1<<20)
	_, err = other.Position(t.Context(), cursor)
	require.ErrorIs(t, err, store.ErrPosition, "of a store with another key")
}

// earlierCursor returns the cursor of a position in the format of earlier versions.
func earlierCursor(h *History, position store.Position) string {
	plain := binary.BigEndian.AppendUint64(creationSum(position.Creation), position.Sequence)
	block, _ := aes.NewCipher(h.store.Sum([]byte("cursor of the feed")))
	block.Encrypt(plain, plain)
	return base64.RawURLEncoding.EncodeToString(append([]byte{blockCursor}, plain...))
}

// FuzzCursor checks that only cursors are accepted as positions.
func FuzzCursor(f *testing.F) {
	plain, _, err := store.Open(store.Options{Path: filepath.Join(f.TempDir(), "state.db")})
	require.NoError(f, err)
	f.Cleanup(func() { _ = plain.Close() })
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(f, err)
	sealed, err := store.Seal(plain, key)
	require.NoError(f, err)
	h := New(sealed, time.Hour, 1<<20)
	position, err := h.End(f.Context())
	require.NoError(f, err)
	f.Add(h.Cursor(position))
	f.Add(earlierCursor(h, position))
	for _, text := range []string{"", "A", "AQ", "AQAAAAAAAAAAAAAAAAAAAAA", "AQAAAAAAAAAAAAAAAAAAAAB",
		"AQAAAAAA\nAAAAAAAAAAAAAAA", "2026-11-22T12:40:00Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := h.Position(t.Context(), text)
		if err != nil {
			assert.True(t, errors.Is(err, ErrCursor) || errors.Is(err, store.ErrPosition), "%v", err)
			return
		}
		assert.Equal(t, position, read, "there is no other one yet")
	})
}

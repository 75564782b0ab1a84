package changes

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/ps"
)

// open returns an empty history.
func open(t *testing.T, most int64) *History {
	t.Helper()
	plain, _, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, plain.Close()) })
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(plain, key)
	require.NoError(t, err)
	h := New(sealed, time.Hour, most)
	return h
}

// add adds n changes and returns their ids, newest first.
func add(t *testing.T, h *History, n int, text string) (ids []string) {
	t.Helper()
	for i := range n {
		r := &Record{ID: NewID(), Time: time.Now(), Author: Author{Caller: text}, Running: i == 0,
			Intent: ps.Intent{Effect: ps.EffectCreated, Objects: []ps.Intended{{}}}}
		require.NoError(t, h.Save(t.Context(), r))
		ids = append([]string{r.ID}, ids...)
	}
	return ids
}

// newest returns the ids of changes.
func newest(t *testing.T, h *History, until time.Time, before string) (ids []string) {
	t.Helper()
	require.NoError(t, h.Newest(t.Context(), until, before, nil, func(r *Record) bool {
		ids = append(ids, r.ID)
		return true
	}))
	return ids
}

func TestChangesAreKeptInTheOrderOfTime(t *testing.T) {
	h := open(t, 1<<20)
	ids := add(t, h, 5, "portal")
	assert.Equal(t, ids, newest(t, h, time.Time{}, ""))
	assert.Equal(t, ids[2:], newest(t, h, time.Time{}, ids[1]))
	assert.Empty(t, newest(t, h, time.Now().Add(-time.Minute), ""))
	assert.Equal(t, ids, newest(t, h, time.Now().Add(time.Minute), ""))
	made, ok := Time(ids[0])
	assert.True(t, ok)
	assert.WithinDuration(t, time.Now(), made, time.Minute)
	for _, id := range []string{"", "ch_1", strings.ToUpper(ids[0]), ids[0] + "0",
		"ch_01a206eb-99d2-4a25-ad66-d6f18814f7f7"} {
		_, ok = Time(id)
		assert.False(t, ok, id)
	}
	running, err := h.Running(t.Context())
	require.NoError(t, err)
	require.Len(t, running, 1)
	drop(t, h, running[0])
	_, err = h.Get(t.Context(), running[0].ID)
	require.ErrorIs(t, err, ErrAbsent)
	require.ErrorIs(t, h.Update(t.Context(), running[0].ID, func(*Record) {}), ErrAbsent)
}

// drop removes a record.
func drop(t *testing.T, h *History, r *Record) {
	t.Helper()
	require.NoError(t, h.store.Update(t.Context(), func(tx *store.Tx) error {
		h.Drop(tx, r.ID)
		return nil
	}))
}

// TestAListUntilATimeExcludesIt: a list until the time of a change does not contain the change,
// even if its id was created in the preceding millisecond.
func TestAListUntilATimeExcludesIt(t *testing.T) {
	h := open(t, 1<<20)
	begun := time.Date(2035, 6, 30, 12, 0, 0, 999_999, time.UTC) // just before the next millisecond begins
	early := &Record{ID: first(begun), Time: begun}
	late := &Record{ID: first(begun.Add(time.Millisecond)), Time: begun.Add(time.Millisecond + time.Microsecond)}
	across := &Record{ID: early.ID[:len(early.ID)-1] + "1", Time: begun.Add(2 * time.Microsecond)}
	for _, r := range []*Record{early, across, late} {
		require.NoError(t, h.Save(t.Context(), r))
	}
	assert.Empty(t, newest(t, h, early.Time, ""))
	assert.Equal(t, []string{early.ID}, newest(t, h, across.Time, ""))
	assert.Equal(t, []string{early.ID}, newest(t, h, across.Time.Truncate(time.Microsecond), ""))
	assert.Equal(t, []string{across.ID, early.ID}, newest(t, h, late.Time, ""))
	assert.Equal(t, []string{late.ID, across.ID, early.ID}, newest(t, h, late.Time.Add(time.Nanosecond), ""))
}

func TestARecordIsCompletedAsItIs(t *testing.T) {
	h := open(t, 1<<20)
	id := add(t, h, 1, "portal")[0]
	stale, err := h.Get(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, h.Update(t.Context(), id, func(r *Record) {
		r.Running, r.Outcome = false, ps.OutcomePartial
		r.Identify(&ps.Result{Changes: []ps.Change{{GUID: "g", DN: "CN=x"}}, Failures: []ps.Failure{{GUID: "f"}}})
	}))
	require.ErrorIs(t, h.Save(t.Context(), stale), store.ErrConflict)
	r, err := h.Get(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, "g", r.Intent.Objects[0].GUID)
	assert.Equal(t, "CN=x", r.Intent.Objects[0].DN)
	assert.Equal(t, []string{"f"}, r.Failed)
}

// TestARecordIsFoundAsItWasPut: a record that was put last is found as it is stored, although it has ended in
// memory since, and a record that others have changed is found with their changes.
func TestARecordIsFoundAsItWasPut(t *testing.T) {
	h := open(t, 1<<20)
	r := &Record{ID: NewID(), Time: time.Now().UTC(), Running: true, Token: "t", Spent: &Spent{Account: "a"}}
	require.NoError(t, h.Save(t.Context(), r))
	r.End(ps.OutcomeDone)
	find := func() (found *Record) {
		require.NoError(t, h.store.Update(t.Context(), func(tx *store.Tx) (err error) {
			found, err = FindLast(h, tx, r)
			return err
		}))
		return found
	}
	found, stored := find(), func() *Record {
		read, err := h.Get(t.Context(), r.ID)
		require.NoError(t, err)
		return read
	}
	want, err := json.Marshal(stored())
	require.NoError(t, err)
	found.Formatted = stored().Formatted // encoding sets it
	text, err := json.Marshal(found)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(text))
	assert.Equal(t, "t", found.Token)

	require.NoError(t, h.Update(t.Context(), r.ID, func(other *Record) { other.Token = "another" }))
	assert.Equal(t, "another", find().Token)
	require.NoError(t, h.Complete(t.Context(), stored(), ps.OutcomeDone))
	assert.False(t, find().Running)
	drop(t, h, r)
	err = h.store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := FindLast(h, tx, r)
		return err
	})
	assert.ErrorIs(t, err, ErrAbsent)
}

func TestTheOldestChangesAreRemovedForNewerOnes(t *testing.T) {
	const most = 64 << 10
	h := open(t, most)
	ids := add(t, h, 40, strings.Repeat("x", 4<<10))
	require.NoError(t, h.trim(t.Context()))
	kept := newest(t, h, time.Time{}, "")
	assert.Less(t, len(kept), 20)
	assert.Greater(t, len(kept), 5)
	assert.Equal(t, ids[:len(kept)], kept, "the newest stay")
	size, err := h.measure(t.Context())
	require.NoError(t, err)
	assert.LessOrEqual(t, size, int64(most))
}

func TestSumsBelongToTheHistory(t *testing.T) {
	h := open(t, 1<<20)
	assert.Equal(t, h.Sum("a", "b"), h.Sum("a", "b"))
	assert.NotEqual(t, h.Sum("a", "b"), h.Sum("ab"))
	assert.Equal(t, time.Hour, h.Life())
}

// logged returns the ids in the log of completed changes.
func logged(t *testing.T, h *History) (ids []string) {
	t.Helper()
	require.NoError(t, h.store.Log(t.Context(), Log, store.Position{}, func(a store.Appended) bool {
		ids = append(ids, string(a.Value))
		return true
	}))
	return ids
}

func TestCompletedChangesAreLoggedOnce(t *testing.T) {
	h := open(t, 1<<20)
	var records []*Record
	for range 3 {
		r := &Record{ID: NewID(), Time: time.Now(), Running: true}
		require.NoError(t, h.Save(t.Context(), r))
		records = append(records, r)
	}
	assert.Empty(t, logged(t, h), "they are running")
	require.NoError(t, h.Complete(t.Context(), records[2], ps.OutcomeDone))
	require.NoError(t, h.Complete(t.Context(), records[0], ps.OutcomePartial))
	drop(t, h, records[1])
	require.NoError(t, h.Update(t.Context(), records[0].ID,
		func(r *Record) { r.UndoneBy = []Undoing{{ID: "x"}} }))
	assert.Equal(t, []string{records[2].ID, records[0].ID}, logged(t, h), "in the order of their ends")
	found, err := h.Get(t.Context(), records[0].ID)
	require.NoError(t, err)
	assert.False(t, found.Running)
	assert.Equal(t, ps.OutcomePartial, found.Outcome)
	records[0].revision = 0
	require.ErrorIs(t, h.Complete(t.Context(), records[0], ps.OutcomeDone), store.ErrConflict)
	assert.Len(t, logged(t, h), 2, "the record and its entry are one decision")
}

// TestTheLogEndsWithItsChanges: a change that is removed to make room is also removed from the log.
func TestTheLogEndsWithItsChanges(t *testing.T) {
	h := open(t, 64<<10)
	for range 40 {
		r := &Record{ID: NewID(), Time: time.Now(), Author: Author{Caller: strings.Repeat("x", 4<<10)}}
		require.NoError(t, h.Complete(t.Context(), r, ps.OutcomeDone))
	}
	require.NoError(t, h.trim(t.Context()))
	ids, kept := logged(t, h), newest(t, h, time.Time{}, "")
	require.Len(t, ids, len(kept))
	assert.Equal(t, kept[len(kept)-1], ids[0])
}

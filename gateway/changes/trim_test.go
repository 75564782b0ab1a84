package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// made completes a change of a caller, with a text of some length.
func made(t *testing.T, h *History, caller string, length int) *Record {
	t.Helper()
	r := &Record{
		ID: NewID(), Time: time.Now(), Author: Author{Caller: caller}, Operation: "user.update", Running: true,
		Parameters: map[string]string{"Description": strings.Repeat("x", length)},
	}
	require.NoError(t, h.Save(t.Context(), r))
	require.NoError(t, h.Complete(t.Context(), r, ps.OutcomeDone))
	return r
}

func TestAFloodOfOneCallerLeavesTheChangesOfOthers(t *testing.T) {
	h := New(storetest.Seal(t, store.NewMemory(nil)), 24*time.Hour, 64<<10)
	quiet := []*Record{made(t, h, "quiet", 10), made(t, h, "another", 10)}
	var flood []*Record
	for i := range 300 {
		flood = append(flood, made(t, h, "flood", 1000))
		if i == 150 {
			quiet = append(quiet, made(t, h, "quiet", 10))
		}
	}
	require.NoError(t, h.trim(t.Context()))
	for _, r := range quiet {
		_, err := h.Get(t.Context(), r.ID)
		require.NoError(t, err)
	}
	_, err := h.Get(t.Context(), flood[0].ID)
	require.ErrorIs(t, err, ErrAbsent)
	_, err = h.Get(t.Context(), flood[299].ID)
	require.NoError(t, err)
	size, err := h.measure(t.Context())
	require.NoError(t, err)
	assert.LessOrEqual(t, size, int64(64<<10)+64*100, "sealed")

	entries := 0
	require.NoError(t, h.store.Log(t.Context(), Log, store.Position{},
		func(store.Appended) bool { entries++; return true }))
	assert.LessOrEqual(t, entries, 64+300/15, "the order of the changes is bounded as well")
	_, _, err = h.After(t.Context(), store.Position{}, 1000)
	require.NoError(t, err, "who begins anew reads what is left")
}

// TestTheHistoryIsTrimmedWhileItRuns: records that others added earlier are counted from the start, a record
// that makes the history too large causes the removal of the oldest ones, and an error does not end the
// trimming.
func TestTheHistoryIsTrimmedWhileItRuns(t *testing.T) {
	kept := &refusing{Store: store.NewMemory(nil)}
	db := storetest.Seal(t, kept)
	before := New(db, 24*time.Hour, 1<<30)
	for range 100 {
		made(t, before, "before", 1000)
	}
	h := New(db, 24*time.Hour, 64<<10)
	kept.refuses.Store(true)
	failed := make(chan error)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.RunTrimming(ctx, func(err error) { failed <- err })
	}()
	require.ErrorIs(t, <-failed, errRefused)
	kept.refuses.Store(false)
	last := made(t, h, "now", 10)
	require.Eventually(t, func() bool {
		size, err := h.measure(t.Context())
		return err == nil && size <= 64<<10
	}, time.Minute, time.Millisecond)
	_, err := h.Get(t.Context(), last.ID)
	require.NoError(t, err)
	stop()
	<-ended
}

var errRefused = errors.New("refused")

// refusing is a store that refuses writes while refuses is set.
type refusing struct {
	store.Store
	refuses atomic.Bool
}

func (s *refusing) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if s.refuses.Load() {
		return store.Absent, errRefused
	}
	return s.Store.Apply(ctx, changes...)
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		bytes int64
		want  int64
	}{
		{[]int64{100}, 30, 70},
		{[]int64{10, 100}, 30, 70},
		{[]int64{50, 100}, 70, 40},
		{[]int64{50, 100, 30}, 180, 0},
		{[]int64{50, 100, 30}, 500, 0},
		{nil, 5, 0},
	} {
		assert.Equal(t, c.want, level(c.sizes, c.bytes), fmt.Sprint(c))
	}
}

func TestTheCallerOfARecordIsReadFromItsBeginning(t *testing.T) {
	text := `{"v":3,"id":"x","time":{"caller":"no"},"caller":"a","broken`
	assert.Equal(t, identity.ID{ID: "a"}, callerIn([]byte(text)), "an earlier version has kept the name only")
	text = `{"id":"x","caller":"a","by":{"kind":"token","id":"88"},"broken`
	assert.Equal(t, identity.ID{Kind: "token", ID: "88"}, callerIn([]byte(text)))
	for _, text := range []string{"", "null", "{}", `{"id":`, `{"caller":3}`, `[1]`} {
		assert.Empty(t, callerIn([]byte(text)), text)
	}
}

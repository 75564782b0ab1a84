package history

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// counting is a store that counts reads.
type counting struct {
	store.Store
	gets int
}

func (c *counting) Get(ctx context.Context, kind store.Kind, key string) (store.Entry, error) {
	c.gets++
	if err := ctx.Err(); err != nil {
		return store.Entry{}, err
	}
	return c.Store.Get(ctx, kind, key)
}

// newRecent returns a service over an empty history, the store that counts its reads, and the
// position of the history's end.
func newRecent(t *testing.T) (s *Service, kept *counting, from store.Position) {
	t.Helper()
	kept = &counting{Store: store.NewMemory(nil)}
	h := changes.New(storetest.Seal(t, kept), time.Hour, 1<<30)
	from, err := h.End(t.Context())
	require.NoError(t, err)
	s = New(Options{History: h, Operations: ops.Table()})
	s.recent.every = 0
	return s, kept, from
}

// changed adds a change of a user that has ended, and returns its id.
func changed(t *testing.T, h *changes.History, undoes string) string {
	t.Helper()
	r := &changes.Record{
		ID: changes.NewID(), Time: time.Now(), Operation: "user.update", Undoes: undoes,
		Intent: ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{
			GUID: "0b9f5c1e-7a54-4f0d-9c55-6f0a2d1b7c11", DN: "CN=j,OU=in,DC=x", Changes: []ps.IntendedChange{{Name: "l", Before: "Ulm", After: "Bern"}},
		}}},
	}
	require.NoError(t, h.Complete(t.Context(), r, ps.OutcomeDone))
	return r.ID
}

func TestStreamsShareWhatTheyRead(t *testing.T) {
	s, kept, from := newRecent(t)
	first := changed(t, s.History, "")
	kept.gets = 0
	part := s.recent.after(t.Context(), s, from)
	require.NoError(t, part.err)
	require.Len(t, part.ended, 1)
	for range 10 {
		again := s.recent.after(t.Context(), s, from)
		assert.Same(t, part, again)
		assert.Equal(t, part.ended[0].id(s.History), again.ended[0].id(s.History))
	}
	assert.Equal(t, 1, kept.gets)

	changed(t, s.History, first) // the data that was read does not show it
	part = s.recent.after(t.Context(), s, from)
	require.Len(t, part.ended, 2)
	reader := viewOf(&identity.Principal{Scopes: []identity.Scope{identity.All}})
	var shown struct{ UndoneBy []string }
	require.NoError(t, json.Unmarshal(part.ended[0].shownTo(t.Context(), s, reader), &shown))
	assert.Len(t, shown.UndoneBy, 1)
}

// TestWhatAReaderSeesIsItsOwn: a change is encoded once for all readers with equal rights, and again for
// other readers.
func TestWhatAReaderSeesIsItsOwn(t *testing.T) {
	s, _, from := newRecent(t)
	changed(t, s.History, "")
	c := s.recent.after(t.Context(), s, from).ended[0]
	shownTo := func(reader identity.Principal) []byte { return c.shownTo(t.Context(), s, viewOf(&reader)) }
	all := shownTo(identity.Principal{Scopes: []identity.Scope{identity.All}})
	same := shownTo(identity.Principal{Name: "b", Scopes: []identity.Scope{identity.All}})
	assert.Contains(t, string(all), "Bern")
	assert.Same(t, &all[0], &same[0])
	blind := shownTo(identity.Principal{Scopes: []identity.Scope{identity.ChangeRead}})
	assert.NotContains(t, string(blind), "Bern")
	limited := shownTo(identity.Principal{
		Scopes: []identity.Scope{identity.All}, Limits: identity.Limits{OUs: []string{"OU=in,DC=x"}},
	})
	assert.NotSame(t, &all[0], &limited[0])
}

// TestOneReaderThatLeavesFailsNobody: a reader whose context has ended does not make others fail.
func TestOneReaderThatLeavesFailsNobody(t *testing.T) {
	s, _, from := newRecent(t)
	changed(t, s.History, "")
	left, leave := context.WithCancel(t.Context())
	leave()
	s.recent.after(left, s, from)
	part := s.recent.after(t.Context(), s, from)
	require.NoError(t, part.err)
	assert.Len(t, part.ended, 1)
}

// TestOneReaderThatLeavesMisleadsNobody: a reader that leaves does not change the data that the
// others get.
func TestOneReaderThatLeavesMisleadsNobody(t *testing.T) {
	s, _, from := newRecent(t)
	first := changed(t, s.History, "")
	changed(t, s.History, changed(t, s.History, first)) // so that the first is in effect again
	c := s.recent.after(t.Context(), s, from).ended[0]
	left, leave := context.WithCancel(t.Context())
	leave()
	reader := viewOf(&identity.Principal{Scopes: []identity.Scope{identity.All}})
	c.shownTo(left, s, reader)
	var shown struct{ Undo string }
	require.NoError(t, json.Unmarshal(c.shownTo(t.Context(), s, reader), &shown))
	assert.Equal(t, "full", shown.Undo)
}

// TestFewPositionsAreShared reads from more positions than are kept.
func TestFewPositionsAreShared(t *testing.T) {
	s, _, from := newRecent(t)
	for range 2 * mostParts {
		changed(t, s.History, "")
		from.Sequence++
	}
	for n := range from.Sequence {
		part := s.recent.after(t.Context(), s, store.Position{Creation: from.Creation, Sequence: n})
		require.NoError(t, part.err)
		assert.Len(t, part.ended, int(from.Sequence-n))
	}
	assert.Len(t, s.recent.parts, mostParts)
}

// TestStreamsReadInTurns: a change that ends during a turn belongs to the next one, and nobody misses it.
func TestStreamsReadInTurns(t *testing.T) {
	s, kept, from := newRecent(t)
	s.recent.every = time.Hour
	changed(t, s.History, "")
	first := s.recent.after(t.Context(), s, from)
	require.Len(t, first.ended, 1)
	assert.False(t, closed(first.more))
	changed(t, s.History, "")
	kept.gets = 0
	again := s.recent.after(t.Context(), s, from)
	assert.Same(t, first, again)
	assert.Zero(t, kept.gets)
	assert.True(t, closed(again.more), "another change has ended")
	assert.False(t, closed(s.recent.turn()))
	s.recent.until = time.Time{} // the hour has passed
	next := s.recent.after(t.Context(), s, first.reached)
	assert.Len(t, next.ended, 1)
	assert.False(t, closed(next.more))
}

// TestATurnEnds: a stream that waits for the next turn gets it.
func TestATurnEnds(t *testing.T) {
	s, _, from := newRecent(t)
	s.recent.every = time.Millisecond
	changed(t, s.History, "")
	s.recent.after(t.Context(), s, from)
	<-s.recent.turn()
	assert.False(t, time.Now().Before(s.recent.until))
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestAStreamThatIsFarBehindDoesNotWaitForTurns: a stream that is far behind does not wait for turns.
func TestAStreamThatIsFarBehindDoesNotWaitForTurns(t *testing.T) {
	s, _, from := newRecent(t)
	for range feedBatch + 1 {
		changed(t, s.History, "")
	}
	part := s.recent.after(t.Context(), s, from)
	require.True(t, part.full)
	part = s.recent.after(t.Context(), s, part.reached)
	assert.False(t, part.full)
	assert.Len(t, part.ended, 1)
}

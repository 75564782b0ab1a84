package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// indexed is a history with its stored index.
type indexed struct {
	kept *rangeFault
	h    *changes.History
	draw *rand.Rand
	all  []*changes.Record
}

// newIndexed returns a history of 1,000 changes, and their index.
func newIndexed(t *testing.T) (*indexed, *indexing) {
	t.Helper()
	kept := &rangeFault{Store: store.NewMemory(nil)}
	i := &indexed{
		kept: kept, h: changes.New(storetest.Seal(t, kept), 24*time.Hour, 1<<30),
		draw: rand.New(rand.NewPCG(20261129, 5)),
	}
	i.add(t, 1000)
	return i, i.start(t)
}

// add completes changes, which are newer than the others.
func (i *indexed) add(t *testing.T, n int) {
	t.Helper()
	began := time.Now().Add(-2 * time.Hour)
	for range n {
		r := written(i.draw, began.Add(time.Duration(len(i.all))*time.Second))
		require.NoError(t, i.h.Complete(t.Context(), r, ps.OutcomeDone))
		i.all = append(i.all, r)
	}
}

// start returns the index of a gateway that starts.
func (i *indexed) start(t *testing.T) *indexing {
	t.Helper()
	i.kept.read = 0
	x := &indexing{Service: New(Options{History: i.h, Operations: ops.Table()})}
	require.NoError(t, x.load(t.Context()))
	require.NoError(t, x.extend(t.Context()))
	return x
}

// check searches for some objects and callers, with and without the index.
func (i *indexed) check(t *testing.T, x *indexing) {
	t.Helper()
	plain := &Service{Options: x.Options, index: newIndex()}
	for n := range 6 {
		for _, given := range []ops.Given{
			{"Object": fmt.Sprint("kern", n)}, {"Object": fmt.Sprint("guid-", n), "Caller": fmt.Sprint("caller", n%7)},
		} {
			assert.Equal(t, searched(t, plain, time.Time{}, "", given), searched(t, x.Service, time.Time{}, "", given))
		}
	}
}

// TestTheIndexOutlivesTheProcess: a gateway that starts reads only the changes that are newer than its stored
// index, and finds the changes that ended or were adopted after the index was stored.
func TestTheIndexOutlivesTheProcess(t *testing.T) {
	i, first := newIndexed(t)
	require.Len(t, first.index.blocks, 7)
	i.check(t, first)

	second := i.start(t)
	assert.Less(t, i.kept.read, 2*changesOfBlock, "what no block covers")
	assert.Equal(t, first.index.blocks, second.index.blocks)
	i.check(t, second)

	second.index.clear() // the process ends; another one of an earlier version makes changes
	old := written(i.draw, i.all[0].Time.Add(time.Minute))
	old.Intent.Objects[0].Names = []string{"late"}
	require.NoError(t, i.h.Complete(t.Context(), old, ps.OutcomeDone))
	i.add(t, 300)
	third := i.start(t)
	assert.Less(t, i.kept.read, 300+3*changesOfBlock)
	assert.Equal(t, []string{old.ID}, searched(t, third.Service, time.Time{}, "", ops.Given{"Object": "late"}))
	i.check(t, third)
}

// TestAChangeIsReadOnceForTheIndex: the terms of a change that ends are remembered until a block covers it,
// so the change is not decoded for them, and it is not read again for its end. One that was still running is.
func TestAChangeIsReadOnceForTheIndex(t *testing.T) {
	i, x := newIndexed(t)
	i.add(t, changesOfBlock)
	running := written(i.draw, i.all[1000].Time.Add(time.Millisecond))
	running.Running = true
	require.NoError(t, i.h.Save(t.Context(), running))
	assert.Empty(t, x.index.saved)
	assert.Empty(t, x.index.take())
	for _, c := range i.all[1000:] {
		known, final := x.index.final(c.ID)
		assert.True(t, final)
		assert.Equal(t, x.termsOf(c), known)
	}
	_, final := x.index.final(running.ID)
	assert.False(t, final)

	i.kept.read, i.kept.gets = 0, 0
	require.NoError(t, x.extend(t.Context()))
	assert.Len(t, x.index.blocks, 8)
	assert.Less(t, i.kept.read, 3*changesOfBlock)
	assert.Zero(t, i.kept.gets)

	x.index.used.Store(false) // another process completes it
	running.Intent.Objects[0].Names = []string{"late"}
	require.NoError(t, i.h.Complete(t.Context(), running, ps.OutcomeDone))
	x.index.used.Store(true)
	require.NoError(t, x.extend(t.Context()))
	late := ops.Given{"Object": "late"}
	assert.Equal(t, []string{running.ID}, searched(t, x.Service, time.Time{}, "", late))
	i.check(t, x)
}

// TestASearchReadsOnlyItsChanges: a search reads and decodes about as many changes as it finds.
func TestASearchReadsOnlyItsChanges(t *testing.T) {
	i, x := newIndexed(t)
	searched(t, x.Service, time.Time{}, "", ops.Given{"Object": "kern8"}) // learns what no block covers
	decoded := 0
	bound, problems := ops.Find(ops.Table(), "change.list").Bind(ops.Given{"Object": "kern8"})
	require.Empty(t, problems)
	require.NoError(t, x.newest(t.Context(), time.Time{}, "", x.wanted(bound), func(*changes.Record) bool {
		decoded++
		return true
	}))
	found := searched(t, x.Service, time.Time{}, "", ops.Given{"Object": "kern8"})
	require.NotEmpty(t, found)
	assert.Less(t, decoded, len(found)+3)
	i.check(t, x)
}

// TestAnUnusableStoredIndexIsRebuilt: a gateway that starts does not trust an index that is damaged,
// has no position, or whose position is not one of the feed. It finds everything anyway.
func TestAnUnusableStoredIndexIsRebuilt(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, i *indexed, tx *store.Tx, keys []string){
		"a block is damaged": func(_ *testing.T, _ *indexed, tx *store.Tx, keys []string) {
			tx.Put(indexKind, keys[2], []byte{blockFormat, 1, 2}, time.Time{})
		},
		"a block is of a later version": func(_ *testing.T, _ *indexed, tx *store.Tx, keys []string) {
			tx.Put(indexKind, keys[2], []byte{blockFormat + 1}, time.Time{})
		},
		"the process ended before the position": func(_ *testing.T, _ *indexed, tx *store.Tx, _ []string) {
			tx.Delete(indexKind, positionKey)
		},
		"the position is of another store": func(_ *testing.T, _ *indexed, tx *store.Tx, _ []string) {
			tx.Put(indexKind, positionKey, []byte("other.7"), time.Time{})
		},
		"the position is no position": func(_ *testing.T, _ *indexed, tx *store.Tx, _ []string) {
			tx.Put(indexKind, positionKey, []byte("7"), time.Time{})
		},
		"a block has expired": func(_ *testing.T, _ *indexed, tx *store.Tx, keys []string) {
			tx.Delete(indexKind, keys[2])
		},
	} {
		t.Run(name, func(t *testing.T) {
			i, x := newIndexed(t)
			x.index.clear()
			require.NoError(t, i.h.Store().Update(t.Context(), func(tx *store.Tx) error {
				var keys []string
				err := tx.Range(indexKind, "", func(e store.Entry) bool { keys = append(keys, e.Key); return true })
				spoil(t, i, tx, keys)
				return err
			}))
			i.check(t, i.start(t))
			again := i.start(t)
			assert.Less(t, i.kept.read, 2*changesOfBlock, "it was stored")
			i.check(t, again)
		})
	}
}

// TestTheIndexIsForgotten: after [Forget] a gateway that starts finds changes that were added without the
// feed.
func TestTheIndexIsForgotten(t *testing.T) {
	i, x := newIndexed(t)
	x.index.clear()
	require.NoError(t, Forget(t.Context(), i.h))
	added := written(i.draw, i.all[0].Time.Add(time.Minute))
	added.Intent.Objects[0].Names = []string{"added"}
	require.NoError(t, i.h.Save(t.Context(), added))
	i.add(t, 1)
	found := searched(t, i.start(t).Service, time.Time{}, "", ops.Given{"Object": "added"})
	assert.Equal(t, []string{added.ID}, found)
}

// TestTheIndexIsRebuiltWithoutRemovedChanges: the index does not outgrow the history if the changes of one
// caller are removed and another keeps old ones.
func TestTheIndexIsRebuiltWithoutRemovedChanges(t *testing.T) {
	i, x := newIndexed(t)
	x.most = 500
	i.h = changes.New(i.h.Store(), 24*time.Hour, 1)
	x.History = i.h
	require.NoError(t, i.h.Store().Update(t.Context(), func(tx *store.Tx) error {
		for _, r := range i.all[1:900] {
			i.h.Drop(tx, r.ID)
		}
		return nil
	}))
	i.add(t, 200)
	require.NoError(t, x.extend(t.Context()))
	assert.Len(t, x.index.blocks, 2)
	stored := 0
	require.NoError(t, i.kept.Range(t.Context(), indexKind, "", func(store.Entry) bool {
		stored++
		return true
	}))
	assert.Equal(t, 3, stored, "two blocks and the position")
	i.check(t, x)
}

// TestTheIndexIsStoredLater: what could not be stored is stored with the next changes.
func TestTheIndexIsStoredLater(t *testing.T) {
	i, _ := newIndexed(t)
	x := &indexing{Service: New(Options{History: i.h, Operations: ops.Table()})}
	require.NoError(t, x.load(t.Context()))
	i.add(t, 300)
	require.NoError(t, x.read(t.Context()))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, x.store(gone))
	require.NoError(t, x.store(t.Context()))
	assert.Equal(t, x.index.blocks, i.start(t).index.blocks)
}

// FuzzDecodeBlock: a block that is read can be written again, and no bytes make the reader fail otherwise
// than with its error.
func FuzzDecodeBlock(f *testing.F) {
	b := &block{after: 3, places: []place{4, 9, 1 << 60}, entries: []uint32{0, 7, 1<<29 - 1}}
	f.Add(b.encode())
	f.Add([]byte{blockFormat})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, from []byte) {
		b, err := decodeBlock(from)
		if err != nil {
			require.ErrorIs(t, err, errBlock)
			return
		}
		again, err := decodeBlock(b.encode())
		require.NoError(t, err)
		assert.Equal(t, b, again)
	})
}

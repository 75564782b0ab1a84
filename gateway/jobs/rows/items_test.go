package rows_test

import (
	"context"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnItemThatKillsTheGatewayIsGivenUp: if the gateway dies during an item's call before anything
// was announced, the call is made again, but only a few times. A client's call may be repeated any
// number of times.
func TestAnItemThatKillsTheGatewayIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		item bool
		runs int
	}{
		"an item":        {true, 1 + 3 + 1}, // attempts are counted once the job is resumed
		"a client's own": {false, 2*3 + 2},
	} {
		kept := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
		var dead []store.Entry // the keys that the gateway leaves behind if it dies during the call
		keys := func() (found []store.Entry) {
			require.NoError(t, kept.Range(t.Context(), harness.Keys, "", func(e store.Entry) bool {
				found = append(found, e)
				return true
			}))
			return found
		}
		runs := 0
		d := &harness.OneUser{City: "Rom", At: func(point string) {
			if point == "claimed" {
				runs++
				dead = keys()
			}
		}}
		runner := &harness.Runner{Do: d.Run}
		s := harness.New(t, runner, func(o *gateway.Options) { o.Kept = kept })
		var code string
		for attempt := range 2*3 + 2 {
			if c.item {
				item := harness.ItemToRome("jb.1")
				item.Resumed = attempt > 0
				code = s.Jobs().Items.Call(t.Context(), item).Code
			} else {
				_, answer, _ := harness.ToRome(s)
				require.Nil(t, answer.Error)
			}
			if code != "" {
				continue
			}
			for _, e := range keys() {
				_, err := kept.Apply(t.Context(), store.Change{Kind: harness.Keys, Key: e.Key, Expect: e.Revision})
				require.NoError(t, err)
			}
			for _, e := range dead {
				_, err := kept.Apply(t.Context(), store.Change{Kind: harness.Keys, Key: e.Key, Value: e.Value,
					Expires: e.Expires})
				require.NoError(t, err)
			}
		}
		assert.Equal(t, c.runs, runs, name)
		if c.item {
			assert.Equal(t, string(schema.Poison), code, name)
		}
	}
}

// losable is a store that is unreachable while it is lost. Reads then use a mirror.
type losable struct {
	store.Store
	lost atomic.Bool
}

func (l *losable) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if l.lost.Load() {
		return 0, store.ErrUnreachable
	}
	return l.Store.Apply(ctx, changes...)
}

func (l *losable) State() store.State {
	state := l.Store.State()
	if l.lost.Load() {
		state.Failed = store.ErrUnreachable
	}
	return state
}

// TestAnItemWhoseOutcomeCouldNotBeKept: the store is lost after an item has changed something. The result of
// the item names the change, so that it can be undone. When the item is called again, its outcome is the
// same.
func TestAnItemWhoseOutcomeCouldNotBeKept(t *testing.T) {
	db := &losable{Store: store.NewMemory(nil)}
	kept := storetest.Seal(t, db)
	history := changes.New(kept, time.Hour, 1<<20)
	d := &harness.OneUser{City: "Oslo", At: func(point string) { db.lost.Store(point == "changed") }}
	s := harness.New(t, &harness.Runner{Do: d.Run}, func(o *gateway.Options) {
		o.Kept, o.History, o.Policy.SettlePause = kept, history, time.Millisecond
	})
	item := harness.ItemToRome("jb.1")
	answer := s.Jobs().Items.Call(t.Context(), item)
	require.Equal(t, jobstate.Made, answer.State, "%+v", answer)
	db.lost.Store(false)
	again := s.Jobs().Items.Call(t.Context(), item)
	assert.Equal(t, jobstate.Made, again.State, "%+v", again)
	assert.Equal(t, answer.ChangeID, again.ChangeID)
	assert.Equal(t, 1, d.Changes)
	record, err := history.Get(t.Context(), answer.ChangeID)
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, record.Outcome)
}

// TestAnItemSaysWhatItsAnswerWarnsOf: important warnings of an item's answer appear in its result.
func TestAnItemSaysWhatItsAnswerWarnsOf(t *testing.T) {
	user := "[" + harness.Sample(schema.User) + "]"
	oslo := &harness.OneUser{City: "Oslo", At: func(string) {}}
	notRead := harness.WrittenThen(oslo, ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeDone, Server: "dc9"})
	other := ps.Result{Effect: ps.EffectChanged, Warnings: []ps.Warning{{Code: "bin_off", Message: "Look."}}}
	for want, runner := range map[string]ps.Runner{
		"not_read_back": notRead, "": harness.Answering(other, user),
	} {
		g := harness.NewGateway(t, func(func(string) bool) ps.Runner { return runner })
		answer := g.Jobs().Items.Call(t.Context(), harness.ItemToRome("jb.1"))
		assert.Equal(t, jobstate.Made, answer.State)
		assert.Equal(t, want, answer.Code)
	}
}

// TestAnUndoWhoseOutcomeCouldNotBeKept: the store is lost after an item has undone a change, and is
// available again before the answer. The item does not count as one that changed nothing.
func TestAnUndoWhoseOutcomeCouldNotBeKept(t *testing.T) {
	var lost atomic.Bool
	kept := storetest.Seal(t, &oneWriteLost{Store: store.NewMemory(nil), lost: &lost})
	history := changes.New(kept, time.Hour, 1<<20)
	d := harness.NewScene(t, &harness.Undos[0])
	runner := d.Run(func(point string) bool { lost.Store(point == "written"); return false })
	s := harness.New(t, runner, func(o *gateway.Options) {
		o.Kept, o.History, o.Policy.SettlePause = kept, history, time.Millisecond
	})
	past := &changes.Record{
		ID: changes.NewID(), Time: time.Now(), Operation: d.Undoes.Op,
		Intent: ps.Intent{Effect: d.Undoes.Effect, Objects: d.Undoes.Objects},
	}
	require.NoError(t, history.Complete(t.Context(), past, ps.OutcomeDone))
	item := harness.ItemToRome("jb.1")
	item.Spec.Operation, item.Spec.Parameters = "change.undo", map[string]any{ops.ChangeIDParam: past.ID}
	answer := s.Jobs().Items.Call(t.Context(), item)
	require.Equal(t, jobstate.Made, answer.State, "%+v", answer)
	again := s.Jobs().Items.Call(t.Context(), item)
	require.Equal(t, jobstate.Made, again.State, "%+v", again)
	assert.Equal(t, answer.ChangeID, again.ChangeID)
	assert.Equal(t, 1, d.Writes)
	record, err := history.Get(t.Context(), answer.ChangeID)
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, record.Outcome)
	assert.Equal(t, past.ID, record.Undoes)
}

// oneWriteLost is a store that is unreachable for a single write after it is lost.
type oneWriteLost struct {
	store.Store
	lost *atomic.Bool
}

func (o *oneWriteLost) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if o.lost.Swap(false) {
		return 0, store.ErrUnreachable
	}
	return o.Store.Apply(ctx, changes...)
}

// TestAnItemThatIsCutOffIsCalledAgain: an item's session ends before it has changed anything,
// because of its time limit or by itself. The item is called again. If its session ends every time,
// the item finally fails.
func TestAnItemThatIsCutOffIsCalledAgain(t *testing.T) {
	for name, c := range map[string]struct {
		kind  ps.Kind
		times int // number of times that it is cut off
		calls int // number of calls until the item has ended
		code  schema.Code
	}{
		"once, by its limit":      {ps.KindTimeout, 1, 2, ""},
		"twice, by itself":        {ps.KindDied, 2, 3, ""},
		"each time, by itself":    {ps.KindDied, math.MaxInt, 3 + 1, schema.Timeout},
		"each time, by its limit": {ps.KindTimeout, math.MaxInt, 3 + 1, schema.Timeout},
	} {
		kept := storetest.Seal(t, store.NewMemory(nil))
		history := changes.New(kept, time.Hour, 1<<20)
		d, cut := &harness.OneUser{City: "Oslo", At: func(string) {}}, 0
		s := harness.New(t, &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			if cut < c.times {
				cut++
				return nil, &ps.Error{Kind: c.kind, Outcome: ps.OutcomeNone}
			}
			return d.Run(ctx, req)
		}}, func(o *gateway.Options) { o.Kept, o.History = kept, history })
		item := harness.ItemToRome("jb.1")
		for range c.calls - 1 {
			answer := s.Jobs().Items.Call(t.Context(), item)
			require.True(t, answer.Again, "%s: %+v", name, answer)
		}
		answer := s.Jobs().Items.Call(t.Context(), item)
		require.False(t, answer.Again, name)
		assert.Equal(t, string(c.code), answer.Code, name)
	}
}

// TestAnItemThatWaitsForTooLongIsCalledAgain: the call failed because other changes of its object took
// precedence until there was no time left. This is not a fault of the item.
func TestAnItemThatWaitsForTooLongIsCalledAgain(t *testing.T) {
	kept := storetest.Seal(t, store.NewMemory(nil))
	history := changes.New(kept, time.Hour, 1<<20)
	announced, goOn := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(announced); <-goOn })
	d := &harness.OneUser{City: "Oslo", At: func(point string) {
		if point == "announced" {
			first()
		}
	}}
	s := harness.New(t, &harness.Runner{Do: d.Run}, func(o *gateway.Options) {
		o.Kept, o.History, o.Policy.WriteLimit = kept, history, 100*time.Millisecond
	})
	var group sync.WaitGroup
	group.Go(func() { s.Jobs().Items.Call(t.Context(), harness.ItemToRome("jb.1")) })
	<-announced
	answer := s.Jobs().Items.Call(t.Context(), harness.ItemToRome("jb.2"))
	close(goOn)
	group.Wait()
	assert.True(t, answer.Again, "%+v", answer)
	assert.Equal(t, 1, d.Changes)
}

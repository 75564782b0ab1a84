package quota

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting counts the calls of Apply, and fails while a test makes it.
type counting struct {
	store.Store
	mu      sync.Mutex
	applied int
	fails   error
}

func (c *counting) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	c.mu.Lock()
	c.applied++
	fails := c.fails
	c.mu.Unlock()
	if fails != nil {
		return 0, fails
	}
	return c.Store.Apply(ctx, changes...)
}

var (
	deletions = Budget{"portal", "deletion"}
	resets    = Budget{"portal", "passwordReset"}
)

func open(t *testing.T) (*Ledger, *counting, *storetest.Clock) {
	t.Helper()
	clock := storetest.NewClock()
	db := &counting{Store: store.NewMemory(clock.Now)}
	return NewLedger(storetest.Seal(t, db), false), db, clock
}

func total(t *testing.T, l *Ledger, of Budget) (n int) {
	t.Helper()
	spent, err := l.Spent(t.Context(), of)
	require.NoError(t, err)
	for _, one := range spent {
		n += one.N
	}
	return n
}

// reserve reserves amounts in a separate decision.
func reserve(l *Ledger, ctx context.Context, amounts map[Budget]int) (*reservation, error) {
	r := l.prepare(amounts)
	return r, l.store.Update(ctx, func(tx *store.Tx) error { return r.make(tx, nil) })
}

func TestWhatIsReservedIsSpentUntilItIsCorrected(t *testing.T) {
	l, store, _ := open(t)
	r, err := reserve(l, t.Context(), map[Budget]int{deletions: 3, resets: 0})
	require.NoError(t, err)
	assert.Equal(t, 3, total(t, l, deletions), "also if the gateway ends now")
	assert.Zero(t, total(t, l, resets))
	require.NoError(t, r.settle(t.Context(), map[Budget]int{deletions: 3, resets: 0}))
	assert.Equal(t, 1, store.applied, "one write if it is as it was announced")
	require.NoError(t, r.settle(t.Context(), map[Budget]int{deletions: 1, resets: 2}))
	assert.Equal(t, 2, store.applied, "both are one decision")
	assert.Equal(t, 1, total(t, l, deletions))
	assert.Equal(t, 2, total(t, l, resets))
	require.NoError(t, r.settle(t.Context(), map[Budget]int{deletions: 0, resets: 2}))
	assert.Zero(t, total(t, l, deletions), "it is given back")
	assert.Zero(t, total(t, l, Budget{"other", "deletion"}))
}

func TestWhatIsOlderThanAnHourDoesNotCount(t *testing.T) {
	l, store, clock := open(t)
	start := clock.Now()
	for range 3 {
		_, err := reserve(l, t.Context(), map[Budget]int{deletions: 2})
		require.NoError(t, err)
		clock.Advance(20 * time.Second)
	}
	slow, err := reserve(l, t.Context(), map[Budget]int{deletions: 4})
	require.NoError(t, err)
	clock.Advance(30 * time.Minute)
	_, err = reserve(l, t.Context(), map[Budget]int{deletions: 1})
	require.NoError(t, err)
	spent, err := l.Spent(t.Context(), deletions)
	require.NoError(t, err)
	assert.Equal(t, []Spent{{start.Add(40 * time.Second), 6}, {start.Add(time.Minute), 4},
		{start.Add(31 * time.Minute), 1}}, spent,
		"a number for each minute, by its end")
	require.NoError(t, slow.settle(t.Context(), map[Budget]int{deletions: 3}))
	assert.Equal(t, 10, total(t, l, deletions), "it is corrected where it was reserved")
	clock.Advance(29*time.Minute + 40*time.Second)
	assert.Equal(t, 4, total(t, l, deletions))
	clock.Advance(20 * time.Second)
	assert.Equal(t, 1, total(t, l, deletions))
	require.NoError(t, slow.settle(t.Context(), map[Budget]int{deletions: 0}))
	assert.Equal(t, 1, total(t, l, deletions), "what has passed is not given back")
	clock.Advance(3 * time.Hour)
	removed, err := store.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, removed)
}

func TestReservationsAtOnceAreAllCounted(t *testing.T) {
	l, _, _ := open(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 10 {
				r, err := reserve(l, t.Context(), map[Budget]int{deletions: 2, resets: 1})
				assert.NoError(t, err)
				if i%2 == 0 {
					assert.NoError(t, r.settle(t.Context(), map[Budget]int{deletions: 0, resets: 1}))
				}
			}
		})
	}
	group.Wait()
	assert.Equal(t, 80, total(t, l, deletions))
	assert.Equal(t, 80, total(t, l, resets))
}

// TestAFaultyStoreForgetsNothingThatWasSpent: an acknowledged amount is counted exactly once. An amount that
// was not acknowledged may be counted although it was not spent.
func TestAFaultyStoreForgetsNothingThatWasSpent(t *testing.T) {
	for seed := range uint64(3) {
		faulty := storetest.NewFaulty(store.NewMemory(nil), seed, 0.4)
		l := NewLedger(storetest.Seal(t, faulty), false)
		var group sync.WaitGroup
		var reserved, unsure atomic.Int64
		for range 4 {
			group.Go(func() {
				for range 10 {
					if _, err := reserve(l, t.Context(), map[Budget]int{deletions: 1}); err == nil {
						reserved.Add(1)
					} else {
						unsure.Add(1)
					}
				}
			})
		}
		group.Wait()
		faulty.Heal()
		n := int64(total(t, l, deletions))
		assert.GreaterOrEqual(t, n, reserved.Load(), "seed %d", seed)
		assert.LessOrEqual(t, n, reserved.Load()+unsure.Load(), "seed %d", seed)
		assert.NotZero(t, reserved.Load())
		require.NoError(t, faulty.Close())
	}
}

func TestAReservationThatCannotBeKept(t *testing.T) {
	l, db, _ := open(t)
	db.fails = store.ErrClosed
	_, err := reserve(l, t.Context(), map[Budget]int{deletions: 1})
	require.ErrorIs(t, err, store.ErrClosed)
	db.fails = store.ErrConflict
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("left")
	cancel(why)
	_, err = reserve(l, gone, map[Budget]int{deletions: 1})
	require.ErrorIs(t, err, why)
	db.fails = nil
	assert.Zero(t, total(t, l, deletions))
	_, err = l.store.Apply(t.Context(), store.Change{Kind: kind, Key: l.key(deletions), Value: []byte(`{"v":2}`)})
	require.NoError(t, err)
	_, err = l.Spent(t.Context(), deletions)
	require.ErrorContains(t, err, "format")
}

package idempotency

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/store"
)

// Limits bound the size of stored calls.
type Limits struct {
	Bytes int64        // of all of them, of which one caller gets a share; 0: no limit
	Room  *bounds.Room // what is left on the disk; nil: no limit
}

// recountEvery is how often the keys of a caller at the limit are counted again. Each count reads
// all of them.
const recountEvery = time.Second

// keyCount counts the keys that callers have.
type keyCount struct {
	store   *store.Sealed
	now     func() time.Time
	limits  Limits
	refused atomic.Int64

	mu   sync.Mutex
	kept map[string]*keptKeys // by caller, for callers that used a key since the start
}

// keptKeys is what is known of the keys of one caller.
type keptKeys struct {
	known     bool      // they were counted
	number    int       // upper bound: keys that expired since are included
	bytes     int64     // upper bound, like number
	countedAt time.Time // when the last count began
	oldest    time.Time // when the oldest key expires, by the last count
}

func newKeyCount(db *store.Sealed, limits Limits) *keyCount {
	if limits.Bytes == 0 {
		limits.Bytes = math.MaxInt64
	}
	return &keyCount{store: db, now: db.Now, limits: limits, kept: map[string]*keptKeys{}}
}

// add counts keys stored for a caller, or -1 for a removed one, and the growth in bytes.
func (k *keyCount) add(caller string, keys int, bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if of := k.kept[caller]; of != nil {
		of.number += keys
		of.bytes += bytes
	}
}

// forget forgets the numbers of keys, because another gateway may have stored some.
func (k *keyCount) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept)
}

// tooMany refuses a new key.
type tooMany struct {
	wait time.Duration // until the oldest key expires
	full *bounds.Full  // nil: they are too many, but not too large
}

// full returns why the caller of a key may not have another one now; nil: it may. The names of its
// keys begin with key.byID or key.byName. They are counted in the store if their number is not
// known, and again, at most once a second, when the limit is reached, because keys expire.
func (k *keyCount) full(ctx context.Context, key Key) (*tooMany, error) {
	now, caller := k.now(), key.byID
	if refusal, decided := k.decide(caller, now); decided {
		return refusal, nil
	}
	number, bytes, oldest := 0, int64(0), time.Time{}
	add := func(e store.Entry) bool {
		number++
		bytes += int64(len(e.Value))
		if oldest.IsZero() || e.Expires.Before(oldest) {
			oldest = e.Expires
		}
		return true
	}
	if err := k.store.Store.Range(ctx, kind, key.byID, add); err != nil { // the values need not be opened
		return nil, err
	}
	err := k.store.Range(ctx, kind, key.byName, func(e store.Entry) bool {
		var of kept
		return store.Decode(k.store, e.Value, &of) != nil || !key.mayOwn(of) || add(e)
	})
	if err != nil && !errors.Is(err, store.ErrUnreadable) { // an unreadable key answers nobody
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.kept[caller]
	if of == nil { // it was forgotten meanwhile
		of = &keptKeys{countedAt: now}
	}
	of.known, of.number, of.bytes, of.oldest = true, number, bytes, oldest
	return k.refusal(of, now), nil
}

// decide answers without the store. If it cannot, the caller of decide counts the keys. Until then
// other calls at the limit are answered by the last count.
func (k *keyCount) decide(caller string, now time.Time) (refusal *tooMany, decided bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.kept[caller]
	if of == nil {
		of = &keptKeys{}
		k.kept[caller] = of
	}
	if of.known && (of.number < bounds.Keys.Own && k.sizes(of) == nil || now.Sub(of.countedAt) < recountEvery) {
		return k.refusal(of, now), true
	}
	of.countedAt = now
	return nil, false
}

// refusal returns why a caller may not have another key, and counts it; nil: it may. k.mu is held.
func (k *keyCount) refusal(of *keptKeys, now time.Time) *tooMany {
	full := k.sizes(of)
	if of.number < bounds.Keys.Own && full == nil {
		return nil
	}
	k.refused.Add(1)
	refused := &tooMany{wait: max(of.oldest.Sub(now), recountEvery)}
	if of.number < bounds.Keys.Own {
		refused.full = full
	}
	return refused
}

// sizes returns the bound in bytes that is reached; nil: none. The sum includes callers that used a
// key since the start. k.mu is held.
func (k *keyCount) sizes(of *keptKeys) *bounds.Full {
	share, short := k.limits.Room.Share(k.limits.Bytes)
	if of.bytes >= share {
		return &bounds.Full{Row: bounds.KeyBytes, Own: true, Used: of.bytes, Most: share, Room: short}
	}
	var all int64
	for other := range maps.Values(k.kept) {
		all += other.bytes
	}
	if all >= k.limits.Bytes {
		return &bounds.Full{Row: bounds.KeyBytes, Used: all, Most: k.limits.Bytes}
	}
	return nil
}

// most returns the largest number of keys of one caller.
func (k *keyCount) most() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	numbers := []int{0}
	for of := range maps.Values(k.kept) {
		numbers = append(numbers, of.number)
	}
	return slices.Max(numbers)
}

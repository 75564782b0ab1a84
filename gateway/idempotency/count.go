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
	Bytes int64        // of all calls together; one caller gets a share; 0 for no limit
	Room  *bounds.Room // room left on the disk; nil for no limit
}

// recountEvery is the minimum time between two counts of the keys of a caller at the limit. Each count reads
// all keys of the caller.
const recountEvery = time.Second

// keyCount counts the keys of each caller.
type keyCount struct {
	store   *store.Sealed
	now     func() time.Time
	limits  Limits
	refused atomic.Int64

	mu   sync.Mutex
	kept map[string]*keptKeys // for callers that have used a key since the start
}

// keptKeys are the known facts about the keys of one caller.
type keptKeys struct {
	known     bool      // whether they have been counted
	number    int       // upper bound, which includes keys that have expired since
	bytes     int64     // upper bound, like number
	countedAt time.Time // when the last count began
	oldest    time.Time // when the oldest key expires, according to the last count
}

func newKeyCount(db *store.Sealed, limits Limits) *keyCount {
	if limits.Bytes == 0 {
		limits.Bytes = math.MaxInt64
	}
	return &keyCount{store: db, now: db.Now, limits: limits, kept: map[string]*keptKeys{}}
}

// add adds a number of keys, which is -1 for a removed key, and their growth in bytes to a caller's count.
func (k *keyCount) add(caller string, keys int, bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if of := k.kept[caller]; of != nil {
		of.number += keys
		of.bytes += bytes
	}
}

// forget drops the counts, because another gateway may have stored keys.
func (k *keyCount) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept)
}

// tooMany is the refusal of a new key.
type tooMany struct {
	wait time.Duration // until the oldest key expires
	full *bounds.Full  // nil if the number of keys is the reason instead of their size
}

// full returns the reason why the caller of a key must not get a new key now, or nil. The names of the
// caller's keys begin with key.byID or key.byName. full counts them in the store if their number is unknown.
// At the limit it counts them again, at most once a second, because keys expire.
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
	if err := k.store.Store.Range(ctx, kind, key.byID, add); err != nil { // the values need not be decrypted
		return nil, err
	}
	err := k.store.Range(ctx, kind, key.byName, func(e store.Entry) bool {
		var of kept
		return store.Decode(k.store, e.Value, &of) != nil || !key.mayOwn(of) || add(e)
	})
	if err != nil && !errors.Is(err, store.ErrUnreadable) { // no caller gets an answer from an unreadable key
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.kept[caller]
	if of == nil { // it was dropped meanwhile
		of = &keptKeys{countedAt: now}
	}
	of.known, of.number, of.bytes, of.oldest = true, number, bytes, oldest
	return k.refusal(of, now), nil
}

// decide decides without reading the store if it can. Otherwise the caller of decide must count the keys.
// Until then other calls at the limit get the result of the last count.
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

// refusal returns the reason why a caller must not get a new key, and counts the refusal, or
// returns nil. The caller holds k.mu.
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

// sizes returns the limit in bytes that is reached, or nil. The sum includes callers that have used
// a key since the start. The caller holds k.mu.
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

// most returns the highest number of keys of a caller.
func (k *keyCount) most() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	numbers := []int{0}
	for of := range maps.Values(k.kept) {
		numbers = append(numbers, of.number)
	}
	return slices.Max(numbers)
}

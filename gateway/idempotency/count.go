package idempotency

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/store"
)

// MostPerCaller is how many keys one credential may have.
const MostPerCaller = 10_000

// recountEvery is how often the keys of a caller at the limit are counted again: each count reads
// them all.
const recountEvery = time.Second

// keyCount counts the keys that callers have.
type keyCount struct {
	store   *store.Sealed
	now     func() time.Time
	refused atomic.Int64

	mu   sync.Mutex
	kept map[string]*keptKeys // by caller, of those that used one since the start
}

// keptKeys is what is known of the keys of one caller.
type keptKeys struct {
	known     bool      // they were counted
	number    int       // at most: those that expired since are still counted
	countedAt time.Time // when the last count began
	oldest    time.Time // when the first of them expires, by the last count
}

func newKeyCount(db *store.Sealed) *keyCount {
	return &keyCount{store: db, now: db.Now, kept: map[string]*keptKeys{}}
}

// add counts keys that were kept for a caller, or -1 for one that was given up.
func (k *keyCount) add(caller string, more int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if of := k.kept[caller]; of != nil {
		of.number += more
	}
}

// forget forgets how many keys callers have, as another gateway may have kept some.
func (k *keyCount) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept)
}

// full returns how long the caller of a key must wait for its next one, 0 if it may have one. Names
// of its keys begin with key.byID, and those that it owns with key.byName. The keys are counted in
// the store when their number is not known, and again when the limit is reached, as keys expire, but
// at most once a second.
func (k *keyCount) full(ctx context.Context, key Key) (time.Duration, error) {
	now, caller := k.now(), key.byID
	if wait, decided := k.decide(caller, now); decided {
		return wait, nil
	}
	number, oldest := 0, time.Time{}
	add := func(e store.Entry) bool {
		number++
		if oldest.IsZero() || e.Expires.Before(oldest) {
			oldest = e.Expires
		}
		return true
	}
	if err := k.store.Store.Range(ctx, kind, key.byID, add); err != nil { // the values are not needed
		return 0, err
	}
	err := k.store.Range(ctx, kind, key.byName, func(e store.Entry) bool {
		var of kept
		return store.Decode(k.store, e.Value, &of) != nil || !key.mayOwn(of) || add(e)
	})
	if err != nil && !errors.Is(err, store.ErrUnreadable) { // nobody gets the answer of such a key
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.kept[caller]
	if of == nil { // forgotten meanwhile
		of = &keptKeys{countedAt: now}
	}
	of.known, of.number, of.oldest = true, number, oldest
	return k.wait(of, now), nil
}

// decide answers without the store. If it cannot, the caller counts: other calls at the
// limit are answered by the count before until it has.
func (k *keyCount) decide(caller string, now time.Time) (wait time.Duration, decided bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.kept[caller]
	if of == nil {
		of = &keptKeys{}
		k.kept[caller] = of
	}
	if of.known && (of.number < MostPerCaller || now.Sub(of.countedAt) < recountEvery) {
		return k.wait(of, now), true
	}
	of.countedAt = now
	return 0, false
}

// wait returns how long the caller must wait, and counts the refusal if it must.
func (k *keyCount) wait(of *keptKeys, now time.Time) time.Duration {
	if of.number < MostPerCaller {
		return 0
	}
	k.refused.Add(1)
	return max(of.oldest.Sub(now), recountEvery)
}

// most returns the number of keys of the caller that has most.
func (k *keyCount) most() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	numbers := []int{0}
	for of := range maps.Values(k.kept) {
		numbers = append(numbers, of.number)
	}
	return slices.Max(numbers)
}

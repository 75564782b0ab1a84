package storetest

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"adgateway/gateway/store"
)

// Fault is a fault that a call can have.
type Fault string

// Faults of a [Faulty] store.
const (
	Refused Fault = "refused" // the change is not made, and the call fails
	Lost    Fault = "lost"    // the change is made, and the answer is lost
	Late    Fault = "late"    // the call fails, and the change is made afterwards if it is still possible
	Doubled Fault = "doubled" // the change is made twice, as if it had been sent again
	Delayed Fault = "delayed" // the call is slow
	Swapped Fault = "swapped" // a later call goes first
	Stale   Fault = "stale"   // a value is returned in its state before the last change
)

// ErrFault is the error of calls whose answer is unknown.
var ErrFault = errors.New("the answer of the store was lost")

// Faulty adds faults to another store. Changes that it acknowledges were made; other changes may be made, now
// or later.
type Faulty struct {
	store.Store

	mu       sync.Mutex // guards the fields below
	random   *rand.Rand
	share    float64
	happened map[Fault]int
	before   map[place]store.Entry // values before their last change
	turn     chan struct{}         // closed when the next call has passed

	late sync.WaitGroup
}

type place struct {
	kind store.Kind
	key  string
}

// NewFaulty returns a store that injects faults into a share of its calls, between 0 and 1. The seed selects
// the calls.
func NewFaulty(db store.Store, seed uint64, share float64) *Faulty {
	return &Faulty{
		Store: db, random: rand.New(rand.NewPCG(seed, 1)), share: share,
		happened: map[Fault]int{}, before: map[place]store.Entry{}, turn: make(chan struct{}),
	}
}

// Heal ends the faults. Late changes may still be made.
func (f *Faulty) Heal() { f.Fail(0) }

// Fail changes the share of calls with faults.
func (f *Faulty) Fail(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.share = share
}

// Happened returns how often each fault happened.
func (f *Faulty) Happened() map[Fault]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.happened)
}

// draw returns the fault of a call, or "", and its delay.
func (f *Faulty) draw(faults ...Fault) (Fault, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random.Float64() >= f.share {
		return "", 0
	}
	fault := faults[f.random.IntN(len(faults))]
	f.happened[fault]++
	return fault, time.Duration(f.random.IntN(int(3 * time.Millisecond)))
}

// Get implements [store.Store], with faults.
func (f *Faulty) Get(ctx context.Context, kind store.Kind, key string) (store.Entry, error) {
	fault, delay := f.draw(Refused, Delayed, Stale)
	switch fault {
	case Refused:
		return store.Entry{}, ErrFault
	case Delayed:
		pause(ctx, delay)
	case Stale:
		f.mu.Lock()
		old, known := f.before[place{kind, key}]
		f.mu.Unlock()
		switch {
		case known && old.Revision == store.Absent:
			return store.Entry{}, store.ErrAbsent
		case known:
			return old, nil
		}
	}
	return f.Store.Get(ctx, kind, key)
}

// Apply implements [store.Store], with faults.
func (f *Faulty) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	fault, delay := f.draw(Refused, Lost, Late, Doubled, Delayed, Swapped)
	switch fault {
	case Refused:
		return 0, ErrFault
	case Late:
		f.late.Go(func() {
			pause(context.WithoutCancel(ctx), delay)
			_, _ = f.apply(context.WithoutCancel(ctx), changes) // the caller does not see the outcome
		})
		return 0, ErrFault
	case Delayed:
		pause(ctx, delay)
	case Swapped:
		f.mu.Lock()
		turn := f.turn
		f.mu.Unlock()
		select {
		case <-turn:
		case <-time.After(5 * time.Millisecond): // there may be no other call
		}
	}
	revision, err := f.apply(ctx, changes)
	f.mu.Lock()
	close(f.turn)
	f.turn = make(chan struct{})
	f.mu.Unlock()
	switch fault {
	case Lost:
		return 0, ErrFault
	case Doubled:
		_, _ = f.apply(ctx, changes) // the answer to the first one is returned
	}
	return revision, err
}

// apply records the previous values of changes.
func (f *Faulty) apply(ctx context.Context, changes []store.Change) (store.Revision, error) {
	old := map[place]store.Entry{}
	for _, c := range changes {
		if c.Log == "" {
			old[place{c.Kind, c.Key}], _ = f.Store.Get(ctx, c.Kind, c.Key) // the zero entry if it is absent
		}
	}
	revision, err := f.Store.Apply(ctx, changes...)
	if err == nil {
		f.mu.Lock()
		maps.Copy(f.before, old)
		f.mu.Unlock()
	}
	return revision, err
}

// Close waits for delayed changes.
func (f *Faulty) Close() error {
	f.late.Wait()
	return f.Store.Close()
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

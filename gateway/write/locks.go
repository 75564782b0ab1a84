package write

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Changes of the same object exclude each other, from before its state is read until the change is made and
// settled. The objects of a change are known only when its script announces it, so the lock is taken then,
// without waiting. If the object is locked, or another change of this gateway has touched it since the run
// began, the run is stopped before it changes anything. The change waits without occupying a session, and
// then its script runs again with the lock held. Changes do not deadlock, because several locks are taken all
// at once, or one after another in a fixed order.
//
// A membership is a pair of a group and a member, so changes of different members of a group do not wait for
// each other. These changes share the locks of the group and the member. Any other change of these objects
// takes their locks exclusively, so an object is never removed while one of its memberships is changing.

// errContended stops a run that must wait for another change.
var errContended = errors.New("another change of the object goes first")

// ErrOvertaken is in the error chain of a change that has waited too long for other changes.
var ErrOvertaken = errors.New("other changes of the object went first for too long")

// lock is a lock on an object: exclusive, or shared with other holders of a shared lock.
type lock struct {
	object string
	shared bool
}

// locks holds the objects that are being changed.
type locks struct {
	mu     sync.Mutex
	queues map[string]*queue // by locked object
	now    uint64            // logical time
	ends   map[string]ends   // when changes of an object ended
	begins map[uint64]int    // number of runs that have not ended, by the time they began
}

// queue holds the state of a locked object: its holders and waiters.
type queue struct {
	holders int
	alone   bool      // the lock is exclusive
	waiting []*waiter // in order of arrival
}

type waiter struct {
	shared bool
	turn   chan struct{} // closed when the waiter gets the lock
}

// ends holds the times when the last change and the last exclusive change of an object ended.
type ends struct{ any, alone uint64 }

func newLocks() *locks {
	return &locks{queues: map[string]*queue{}, ends: map[string]ends{}, begins: map[uint64]int{}}
}

// free reports whether an object can be locked at once without overtaking a waiter.
func (q *queue) free(shared bool) bool {
	return q == nil || shared && !q.alone && len(q.waiting) == 0
}

// admit gives an object to its longest waiters, as far as their locks are compatible.
func (q *queue) admit() {
	for len(q.waiting) > 0 && (q.holders == 0 || q.waiting[0].shared && !q.alone) {
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.holders++
		q.alone = !next.shared
		close(next.turn)
	}
}

// hold is the set of locks of one request. It is not safe for concurrent use.
type hold struct {
	locks  *locks
	since  uint64 // time when the run began
	had    []lock // held locks
	wanted []lock // needed locks, sorted by object, one per object
	made   bool   // the run was allowed to make changes
}

// begin begins a run, which [hold.end] must end.
func (l *locks) begin() *hold {
	h := &hold{locks: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.start()
	return h
}

// start records that a run begins now. l.mu is held.
func (h *hold) start() {
	l := h.locks
	l.now++
	h.since = l.now
	l.begins[h.since]++
}

// stop ends the record of the run's beginning. l.mu is held.
func (h *hold) stop() {
	l := h.locks
	if l.begins[h.since]--; l.begins[h.since] == 0 {
		delete(l.begins, h.since)
	}
	const most = 1024
	switch {
	case len(l.begins) == 0:
		clear(l.ends)
	case len(l.ends) > most: // ends that are older than every run are no longer needed
		oldest := slices.Min(slices.Collect(maps.Keys(l.begins)))
		maps.DeleteFunc(l.ends, func(_ string, end ends) bool { return end.any < oldest })
	}
}

// claim locks objects without waiting. It fails with errContended if one of them is locked or was
// changed since the run began. Shared locks do not conflict with each other.
func (h *hold) claim(wanted []lock) error {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	h.wanted = eachOnce(wanted)
	missing := slices.DeleteFunc(slices.Clone(h.wanted), h.has)
	for _, one := range missing {
		if !l.queues[one.object].free(one.shared) {
			return errContended
		}
	}
	for _, one := range missing {
		l.take(one)
		h.had = append(h.had, one)
	}
	if slices.ContainsFunc(h.wanted, func(one lock) bool { return l.changedSince(h.since, one) }) {
		return errContended
	}
	return nil
}

// eachOnce returns one lock per object, sorted by object. If an object is wanted both shared and
// exclusive, its lock is exclusive.
func eachOnce(all []lock) []lock {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b lock) int {
		switch {
		case a.object != b.object:
			return cmp.Compare(a.object, b.object)
		case a.shared == b.shared:
			return 0
		case b.shared:
			return -1
		default:
			return 1
		}
	})
	return slices.CompactFunc(sorted, func(a, b lock) bool { return a.object == b.object })
}

// has reports whether a lock is held in the given mode.
func (h *hold) has(one lock) bool { return slices.Contains(h.had, one) }

// excludes reports whether one of the wanted locks excludes the given one.
func (h *hold) excludes(one lock) bool {
	return slices.ContainsFunc(h.wanted, func(other lock) bool {
		return one.object == other.object && !(one.shared && other.shared)
	})
}

// changedSince reports whether a change that excludes a lock has ended since then. l.mu is held.
func (l *locks) changedSince(then uint64, one lock) bool {
	if one.shared {
		return l.ends[one.object].alone > then
	}
	return l.ends[one.object].any > then
}

// wait acquires the locks that claim could not get, in order, and then records that the run begins now.
func (h *hold) wait(ctx context.Context) error {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(h.wanted, func(one lock) bool { return !h.has(one) }) {
		h.stop()
		h.start()
		return nil
	}
	h.release()
	for _, one := range h.wanted {
		if err := l.lock(ctx, one); err != nil {
			return err
		}
		h.had = append(h.had, one)
	}
	h.stop()
	h.start()
	return nil
}

// take locks a free object. l.mu is held.
func (l *locks) take(one lock) {
	q := l.queues[one.object]
	if q == nil {
		q = &queue{}
		l.queues[one.object] = q
	}
	q.holders++
	q.alone = !one.shared
}

// lock waits for an object. l.mu is held, and unlocked while it waits.
func (l *locks) lock(ctx context.Context, one lock) error {
	q := l.queues[one.object]
	if q.free(one.shared) {
		l.take(one)
		return nil
	}
	own := &waiter{one.shared, make(chan struct{})}
	q.waiting = append(q.waiting, own)
	l.mu.Unlock()
	var err error
	select {
	case <-own.turn:
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	if err == nil {
		return nil
	}
	if at := slices.Index(q.waiting, own); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.admit() // those that waited behind it can be admitted
	} else {
		l.unlock(one.object) // its turn came at the same moment
	}
	return err
}

// unlock hands an object to its longest waiter. l.mu is held.
func (l *locks) unlock(object string) {
	q := l.queues[object]
	q.holders--
	q.admit()
	if q.holders == 0 {
		delete(l.queues, object)
	}
}

// release unlocks everything. l.mu is held.
func (h *hold) release() {
	l := h.locks
	l.now++
	for _, one := range h.had {
		if h.made {
			end := l.ends[one.object]
			end.any = l.now
			if !one.shared {
				end.alone = l.now
			}
			l.ends[one.object] = end
		}
		l.unlock(one.object)
	}
	h.had, h.made = nil, false
}

// end ends the run and unlocks everything.
func (h *hold) end() {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	h.release()
	h.stop()
}

package write

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Changes of one object exclude each other, from before its state is read until the change is made
// and settled. The objects of a change are known when its script announces it, so the lock is taken
// then, and never waited for. If the run would have to wait, or another change of this gateway has
// touched the object since the run began, the run is stopped; it has changed nothing. Its session
// is free for others while the change waits, and then the script runs again with the lock. So no
// session waits for a lock. Changes do not deadlock either: several locks are taken all at once, or
// one after another in their order.
//
// A membership is a pair of a group and a member, so changes of different members of one group do
// not wait for each other. They share the locks of the group and the member. Any other change of
// these takes the lock alone, so it never removes an object while one of its memberships is
// changing.

// errContended is why a run is stopped that must wait for another change.
var errContended = errors.New("another change of the object goes first")

// ErrOvertaken is in the chain of the error of a change that has waited for others for too long.
var ErrOvertaken = errors.New("other changes of the object went first for too long")

// lock is an object that a change locks: alone, or shared with others that share it.
type lock struct {
	object string
	shared bool
}

// locks are the objects that are being changed.
type locks struct {
	mu     sync.Mutex
	queues map[string]*queue // by object that is locked
	now    uint64            // counts
	ends   map[string]ends   // when changes of an object ended
	begins map[uint64]int    // when runs began that have not ended, and how many
}

// queue is who has an object, and who waits for it.
type queue struct {
	holders int
	alone   bool      // the holder does not share it
	waiting []*waiter // in order of arrival
}

type waiter struct {
	shared bool
	turn   chan struct{} // closed when it has the object
}

// ends is when the last change of an object ended, and when the last that had it alone.
type ends struct{ any, alone uint64 }

func newLocks() *locks {
	return &locks{queues: map[string]*queue{}, ends: map[string]ends{}, begins: map[uint64]int{}}
}

// free reports whether an object can be had at once, overtaking nobody.
func (q *queue) free(shared bool) bool {
	return q == nil || shared && !q.alone && len(q.waiting) == 0
}

// admit gives an object to those who have waited for it longest, as far as they may have it.
func (q *queue) admit() {
	for len(q.waiting) > 0 && (q.holders == 0 || q.waiting[0].shared && !q.alone) {
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.holders++
		q.alone = !next.shared
		close(next.turn)
	}
}

// hold is what one request has locked. One goroutine uses it at a time.
type hold struct {
	locks  *locks
	since  uint64 // when the run began
	had    []lock // locked
	wanted []lock // to wait for, in order, each object once
	made   bool   // the run was allowed to change something
}

// begin notes that a run begins, which [hold.end] must end.
func (l *locks) begin() *hold {
	h := &hold{locks: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.start()
	return h
}

// start notes that a run begins now. The locks' mutex is held, here and in the functions
// below that say so.
func (h *hold) start() {
	l := h.locks
	l.now++
	h.since = l.now
	l.begins[h.since]++
}

// stop forgets when the run began. The mutex is held.
func (h *hold) stop() {
	l := h.locks
	if l.begins[h.since]--; l.begins[h.since] == 0 {
		delete(l.begins, h.since)
	}
	const most = 1024
	switch {
	case len(l.begins) == 0:
		clear(l.ends)
	case len(l.ends) > most: // those that no run can have missed
		oldest := slices.Min(slices.Collect(maps.Keys(l.begins)))
		maps.DeleteFunc(l.ends, func(_ string, end ends) bool { return end.any < oldest })
	}
}

// claim locks objects without waiting. It fails with errContended if one of them is locked,
// or was changed since the run began. Those that share an object do not count for each other.
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

// eachOnce returns locks in the order of their objects. One that is wanted both ways is
// locked alone.
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

// has reports whether a lock is held as it is wanted.
func (h *hold) has(one lock) bool { return slices.Contains(h.had, one) }

// excludes reports whether what the run wants excludes another lock.
func (h *hold) excludes(one lock) bool {
	return slices.ContainsFunc(h.wanted, func(other lock) bool {
		return one.object == other.object && !(one.shared && other.shared)
	})
}

// changedSince reports whether a change that excludes a lock has ended since then. The mutex
// is held.
func (l *locks) changedSince(then uint64, one lock) bool {
	if one.shared {
		return l.ends[one.object].alone > then
	}
	return l.ends[one.object].any > then
}

// wait locks what claim could not lock, in order, and notes that the run begins again.
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

// take locks an object that is free. The mutex is held.
func (l *locks) take(one lock) {
	q := l.queues[one.object]
	if q == nil {
		q = &queue{}
		l.queues[one.object] = q
	}
	q.holders++
	q.alone = !one.shared
}

// lock waits for an object, unlocking the mutex meanwhile.
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
		q.admit() // those that waited behind it only
	} else {
		l.unlock(one.object) // the turn came at the same moment
	}
	return err
}

// unlock hands an object to its longest waiter. The mutex is held.
func (l *locks) unlock(object string) {
	q := l.queues[object]
	q.holders--
	q.admit()
	if q.holders == 0 {
		delete(l.queues, object)
	}
}

// release unlocks everything. The mutex is held.
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

// end unlocks everything, after the run.
func (h *hold) end() {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	h.release()
	h.stop()
}

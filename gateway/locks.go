package gateway

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Changes of one object exclude each other, from before its state is read until the change
// is made and settled. Which objects a change is about is known when it is announced. So
// the lock is taken there, without waiting: a run that would have to wait, or whose object
// another change of this gateway has touched since the run began, is stopped, which changes
// nothing. Its session is free for others while it waits, and then it runs again with the
// lock. So no session ever waits for a lock, and no lock for itself: several locks are
// taken at once, or one after another in their order.

// errContended is why a run is stopped that must wait for another change.
var errContended = errors.New("another change of the object goes first")

// locks are the objects that are being changed.
type locks struct {
	mu     sync.Mutex
	queues map[string][]chan struct{} // by object that is locked: who waits for it, in order of arrival
	now    uint64                     // counts
	ends   map[string]uint64          // when a change of an object ended
	begins map[uint64]int             // when runs began that have not ended, and how many
}

func newLocks() *locks {
	return &locks{queues: map[string][]chan struct{}{}, ends: map[string]uint64{}, begins: map[uint64]int{}}
}

// hold is what one request has locked. One goroutine uses it at a time.
type hold struct {
	locks  *locks
	since  uint64   // when the run began
	keys   []string // locked
	wanted []string // to wait for, in order
	made   bool     // the run was allowed to change something
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
		maps.DeleteFunc(l.ends, func(_ string, end uint64) bool { return end < oldest })
	}
}

// claim locks objects without waiting. It fails with errContended if one of them is locked,
// or was changed since the run began.
func (h *hold) claim(keys []string) error {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	h.wanted = keys
	missing := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(h.keys, key) })
	for _, key := range missing {
		if _, locked := l.queues[key]; locked {
			return errContended
		}
	}
	for _, key := range missing {
		l.queues[key] = nil
		h.keys = append(h.keys, key)
	}
	if slices.ContainsFunc(keys, func(key string) bool { return l.ends[key] > h.since }) {
		return errContended
	}
	return nil
}

// wait locks what claim could not lock, in order, and notes that the run begins again.
func (h *hold) wait(ctx context.Context) error {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(h.wanted, func(key string) bool { return !slices.Contains(h.keys, key) }) {
		h.release()
		for _, key := range h.wanted {
			if err := l.lock(ctx, key); err != nil {
				return err
			}
			h.keys = append(h.keys, key)
		}
	}
	h.stop()
	h.start()
	return nil
}

// lock waits for an object, unlocking the mutex meanwhile.
func (l *locks) lock(ctx context.Context, key string) error {
	if _, locked := l.queues[key]; !locked {
		l.queues[key] = nil
		return nil
	}
	turn := make(chan struct{})
	l.queues[key] = append(l.queues[key], turn)
	l.mu.Unlock()
	var err error
	select {
	case <-turn:
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	if err == nil {
		return nil
	}
	if at := slices.Index(l.queues[key], turn); at >= 0 {
		l.queues[key] = slices.Delete(l.queues[key], at, at+1)
	} else {
		l.unlock(key) // the turn came at the same moment
	}
	return err
}

// unlock gives an object to who waits for it longest. The mutex is held.
func (l *locks) unlock(key string) {
	queue := l.queues[key]
	if len(queue) == 0 {
		delete(l.queues, key)
		return
	}
	l.queues[key] = queue[1:]
	close(queue[0])
}

// release unlocks everything. The mutex is held.
func (h *hold) release() {
	l := h.locks
	l.now++
	for _, key := range h.keys {
		if h.made {
			l.ends[key] = l.now
		}
		l.unlock(key)
	}
	h.keys, h.made = nil, false
}

// end unlocks everything, after the run.
func (h *hold) end() {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	h.release()
	h.stop()
}

// keysOf returns the objects that an announced change of an operation, in a zone, locks.
func keysOf(op *ops.Operation, zone string, i *ps.Intent) []string {
	var keys []string
	for n := range i.Objects {
		object := &i.Objects[n]
		switch {
		case len(object.Changes) == 0:
		case op.Lane == ps.DNS: // the name of a record; of a zone in a file only the announcement has it
			keys = append(keys, "dns "+strings.ToLower(cmp.Or(object.DN, zone)))
		case object.GUID != "": // of one to be created the directory sees to it that it is made once
			keys = append(keys, strings.ToLower(object.GUID))
		}
	}
	return keys
}

// runLocked runs a request, again if it had to wait for another change of its objects.
// Waiting counts towards the limit of the run, and ends when a quarter of that is left: a
// run that begins with less is cut off in the middle of its change, and keeps its object
// from others until it is known what became of it.
func (s *Server) runLocked(ctx context.Context, r *request, req ps.Request) (*ps.Result, error) {
	if !req.Write {
		return s.Runner.Run(ctx, req)
	}
	until := time.Now().Add(req.Limit)
	waiting, cancel := context.WithDeadline(ctx, until.Add(-req.Limit/4))
	defer cancel()
	fenced := false
	for {
		r.begun, r.seenAt = s.Members.Begin(), max(r.seenAt, s.latest())
		result, err := s.Runner.Run(ctx, req)
		switch {
		case errors.Is(err, errFenced) && !fenced:
			fenced = true // once; what was moved is known now
		case errors.Is(err, errFenced):
			r.unrecorded = pinMoved()
			return nil, err
		case errors.Is(err, errLeased):
			if err := s.waitForLeases(waiting, r); err != nil {
				r.unrecorded = busy()
				if !errors.Is(err, errLeased) {
					r.unrecorded = clusterUnavailable(err)
				}
				return nil, stoppedBy(ps.KindStopped, err)
			}
		case errors.Is(err, errNamePending):
			if !s.hasReplicated(waiting, r) {
				return result, err
			}
		case !errors.Is(err, errContended):
			return result, err
		}
		if err := r.hold.wait(waiting); err != nil {
			kind := ps.KindTimeout
			if ctx.Err() != nil {
				kind = ps.KindCancelled
			}
			if item := itemCallOf(r.c.Request); item != nil {
				item.overtaken = true
			}
			return nil, stoppedBy(kind, err)
		}
		req.Limit = max(time.Until(until), time.Nanosecond)
	}
}

// stoppedBy returns how a run ended that other changes kept from changing anything.
func stoppedBy(kind ps.Kind, cause error) error {
	return &ps.Error{Kind: kind, Outcome: ps.OutcomeNone, Message: "other changes of the object went first", Cause: cause}
}

// pinMoved returns the refusal of a change that was begun on a server that is not the
// pinned one any more, and again.
func pinMoved() *failure {
	failed := fail(schema.PinMoved, "The server that changes are made on was replaced while the change was prepared. Nothing was changed. Send it again.")
	failed.retryAfter = time.Second
	return failed
}

package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/every"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// The end of a call that the store does not take, such as on a full disk, is stored later as
// it is: nobody judges the change again while the process lives. Its key stays taken until
// then. A process that is started again settles the change like any other that was cut off.

// unstored is the end of a call that the store has not taken yet.
type unstored struct {
	parts []endPart
	key   *idempotency.Claim // nil: the call has none
	log   *logrus.Entry
}

// lateEnds are safe for concurrent use.
type lateEnds struct {
	storing sync.Mutex // of the waiting ones, in their order

	mu      sync.Mutex // guards the others
	waiting []*unstored
	left    map[*idempotency.Claim]bool // keys of waiting ends whose calls have left them
}

var notInHistory = ps.Warning{Code: call.NotInHistory, Message: "The change was made, but the history cannot be written at the moment, so that it is not there, or not as it ended."}

// add adds the end of a call.
func (e *lateEnds) add(one *unstored) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, one)
}

// first returns the end that waits longest; nil: there is none.
func (e *lateEnds) first() *unstored {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		return nil
	}
	return e.waiting[0]
}

// holds reports whether an end of a call with a key waits. The mutex is held.
func (e *lateEnds) holds(key *idempotency.Claim) bool {
	for _, one := range e.waiting {
		if one.key == key {
			return true
		}
	}
	return false
}

// stored removes the end that waits longest, and frees its key if its call has left that.
func (e *lateEnds) stored() {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := e.waiting[0].key
	e.waiting = e.waiting[1:]
	if e.left[key] && !e.holds(key) {
		delete(e.left, key)
		key.Release()
	}
}

// leave frees the key of a call, once all its ends are stored.
func (e *lateEnds) leave(key *idempotency.Claim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.holds(key) {
		key.Release()
		return
	}
	if e.left == nil {
		e.left = map[*idempotency.Claim]bool{}
	}
	e.left[key] = true
}

// storeEnds stores the ends of calls that the store has not taken before.
func (s *Server) storeEnds(ctx context.Context) error {
	s.unstored.storing.Lock()
	defer s.unstored.storing.Unlock()
	for {
		next := s.unstored.first()
		if next == nil {
			return nil
		}
		err := s.storeEnd(ctx, next.parts)
		if errors.Is(err, write.ErrClosed) || neverStored(err) {
			next.log.WithError(err).Error("what became of a call could not be kept")
			err = nil
		}
		if err != nil {
			return err
		}
		s.unstored.stored()
	}
}

// neverStored reports whether trying again would fail again. The change stays open then, until
// the next start finds out what became of it; the ends behind it must not wait.
func neverStored(err error) bool {
	return errors.Is(err, store.ErrTooMany) || errors.Is(err, store.ErrUnreadable)
}

// closingEvery is how often what could not be closed at once is tried again.
const closingEvery = time.Second

// RunClosing closes the changes that could not be closed when their calls were answered, until
// ctx is done: the store did not take them, or nobody could find out what became of them.
func (s *Server) RunClosing(ctx context.Context) {
	every.Do(ctx, closingEvery, func() { s.closeOpen(ctx) })
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.current.Load().SettleLimit)
	defer cancel()
	s.closeOpen(last)
}

// closeOpen tries once to close what is open.
func (s *Server) closeOpen(ctx context.Context) {
	if err := errors.Join(s.storeEnds(ctx), s.settleDoubts(ctx), s.removePaid(ctx)); err != nil && ctx.Err() == nil {
		s.Log.WithError(err).Warn("changes that have ended could not be closed yet")
	}
}

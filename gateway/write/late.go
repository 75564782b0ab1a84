package write

import (
	"context"
	"errors"
	"sync"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/store"
)

// The end of a call that the store does not take, such as on a full disk, is stored later as
// it is: nobody judges the change again while the process lives. Its key stays taken until
// then. A process that is started again settles the change like any other that was cut off.

// lateEnd is the end of a call that the store has not taken yet.
type lateEnd struct {
	parts []EndPart
	key   any // nil: the call has none
	log   *logrus.Entry
}

// lateEnds are safe for concurrent use.
type lateEnds struct {
	storing sync.Mutex // of the waiting ones, in their order

	mu      sync.Mutex // guards the fields below
	waiting []*lateEnd
	left    map[any]func() // by key of a call that has left it: what frees it
}

// add adds the end of a call.
func (e *lateEnds) add(one *lateEnd) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, one)
}

// first returns the end that waits longest; nil: there is none.
func (e *lateEnds) first() *lateEnd {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		return nil
	}
	return e.waiting[0]
}

// holds reports whether an end of a call with a key waits. The mutex is held.
func (e *lateEnds) holds(key any) bool {
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
	if free := e.left[key]; free != nil && !e.holds(key) {
		delete(e.left, key)
		free()
	}
}

// Leave calls free once no end of a call with a key waits to be stored, which may be at once. The
// call has ended. The key can be compared; free returns at once.
func (w *Writer) Leave(key any, free func()) {
	e := &w.late
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.holds(key) {
		free()
		return
	}
	if e.left == nil {
		e.left = map[any]func(){}
	}
	e.left[key] = free
}

// StoreLate stores the ends of calls that the store has not taken before.
func (w *Writer) StoreLate(ctx context.Context) error {
	w.late.storing.Lock()
	defer w.late.storing.Unlock()
	for {
		next := w.late.first()
		if next == nil {
			return nil
		}
		err := w.storeEnd(ctx, next.parts)
		if errors.Is(err, ErrClosed) || neverStored(err) {
			next.log.WithError(err).Error("what became of a call could not be kept")
			err = nil
		}
		if err != nil {
			return err
		}
		w.late.stored()
	}
}

// neverStored reports whether trying again would fail again. The change stays open then, until
// the next start finds out what became of it; the ends behind it must not wait.
func neverStored(err error) bool {
	return errors.Is(err, store.ErrTooMany) || errors.Is(err, store.ErrUnreadable)
}

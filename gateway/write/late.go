package write

import (
	"sync"

	"github.com/sirupsen/logrus"
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

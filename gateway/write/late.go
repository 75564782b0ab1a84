package write

import (
	"sync"

	"github.com/sirupsen/logrus"
)

// If the store cannot take the end of a call, for example because the disk is full, the same end is stored
// later. The change is not judged again during the life of the process. Its key stays taken until the end is
// stored. A restarted process settles the change like any other that was interrupted.

// lateEnd is the end of a call that the store has not taken yet.
type lateEnd struct {
	parts []EndPart
	key   any                  // nil if the call has none
	log   func() *logrus.Entry // of the call
}

// lateEnds holds the ends to store later. It is safe for concurrent use.
type lateEnds struct {
	storing sync.Mutex // held while the waiting ends are stored, in order

	mu      sync.Mutex // guards the fields below
	waiting []*lateEnd
	left    map[any]func() // functions that free the keys, by key of a call that has left its key
}

// add adds the end of a call.
func (e *lateEnds) add(one *lateEnd) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, one)
}

// first returns the end that has waited longest, or nil if there is none.
func (e *lateEnds) first() *lateEnd {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		return nil
	}
	return e.waiting[0]
}

// holds reports whether an end of a call with the key is waiting. e.mu is held.
func (e *lateEnds) holds(key any) bool {
	for _, one := range e.waiting {
		if one.key == key {
			return true
		}
	}
	return false
}

// stored removes the end that has waited longest, and frees its key if the call has left it.
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

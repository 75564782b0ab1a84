package gateway

import (
	"context"
	"fmt"
	"sync"

	"adgateway/gateway/keep"
)

// life is a gateway that dies at one of its steps: before or after a write to the store, or
// somewhere in a script. From then on it does nothing more.
type life struct {
	mu     sync.Mutex
	ends   int // at which step; 0: never
	steps  int
	ended  bool
	during string // the step at which it died
}

// begin starts to count the steps.
func (l *life) begin(ends int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends, l.steps, l.ended, l.during = ends, 0, false, ""
}

// step reports whether the gateway is dead, as it is from this step on if it dies here.
func (l *life) step(what string) (dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps++
	if l.ends > 0 && l.steps == l.ends {
		l.ended, l.during = true, fmt.Sprintf("%s, step %d", what, l.steps)
	}
	return l.ended
}

func (l *life) dead() (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended, l.during
}

// mortal is the way of such a gateway to the store.
type mortal struct {
	keep.Store
	*life
}

func (m *mortal) Get(ctx context.Context, kind keep.Kind, key string) (keep.Entry, error) {
	if dead, _ := m.dead(); dead {
		return keep.Entry{}, keep.ErrClosed
	}
	return m.Store.Get(ctx, kind, key)
}

func (m *mortal) Apply(ctx context.Context, all ...keep.Change) (keep.Revision, error) {
	if m.step("before a write") {
		return 0, keep.ErrClosed
	}
	revision, err := m.Store.Apply(ctx, all...)
	if m.step("after a write") {
		return 0, keep.ErrClosed
	}
	return revision, err
}

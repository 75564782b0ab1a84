package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Update implements [Updater]. If ctx ends while an [Appender] has the changes, it fails with
// [ErrUnsure] without waiting for the appender.
func (f *File) Update(ctx context.Context, update func(*Tx) error) error {
	own := &write{updates: &updating{f: update}}
	err := f.await(ctx, own)
	if errors.Is(err, errPanicked) {
		panic(own.updates.panicked)
	}
	return err
}

// updating is the function of a write that decides its changes.
type updating struct {
	f func(*Tx) error

	mu       sync.Mutex // held while f runs; guards the fields below
	called   bool
	left     bool // whether the caller has stopped waiting, so that f must not be called again
	panicked any
}

// errPanicked tells the caller of Update that its function has panicked.
var errPanicked = errors.New("the function of an update has panicked")

// decide calls the function and returns its changes. It recovers from panics, because other callers
// wait for the writer.
func (u *updating) decide(v view, now time.Time) (changes []Change, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.left {
		return nil, ErrNotSent // the caller is gone and does not see it
	}
	u.called = true
	defer func() {
		if reason := recover(); reason != nil {
			u.panicked, changes, err = reason, nil, errPanicked
		}
	}()
	before := inView{v, now}
	if changes, err = newTx(before, now).decide(u.f); err != nil {
		return nil, err
	}
	for i := range changes {
		if c := &changes[i]; c.Log == "" {
			e, _ := before.get(c.Kind, c.Key) // the zero entry if it is absent
			c.Expect = e.Revision
		}
	}
	return changes, nil
}

// leave makes the writer skip the function, after waiting for a running call of it, and returns the error for
// the caller. For a call of Apply, which has no function, u is nil.
func (u *updating) leave(cause error) error {
	if u == nil {
		return cause
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left = true
	if !u.called {
		return fmt.Errorf("%w: %w", ErrNotSent, cause)
	}
	return unsure(cause)
}

// inView is the [source] of a view.
type inView struct {
	view
	now time.Time
}

func (s inView) get(kind Kind, key string) (Entry, error) { return s.entry(kind, key, s.now) }

func (s inView) scan(kind Kind, prefix string, visit func(Entry) bool) error {
	next := s.ascend(kind, prefix)
	for key, stored := next(); key != nil && bytes.HasPrefix(key, []byte(prefix)); key, stored = next() {
		e, err := decode(key, stored)
		if err != nil {
			return err
		}
		if !e.expired(s.now) && !visit(e) {
			break
		}
	}
	return nil
}

package store

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// patience is how long each answer of a store is waited for again that was lost.
var patience = []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond}

// certainly makes changes of sealed values. If the answer is lost, it looks whether they
// were made, and makes them if not. No two sealed values are equal, so that one
// that is there was written by this call, and all others with it. What remains in doubt
// is no conflict: that says that nothing was changed. What was made and removed again in
// between would be made twice: a driver on other machines, which others change, is patient
// itself.
func (s *Sealed) certainly(ctx context.Context, changes []Change) (Revision, error) {
	revision, err := s.Store.Apply(ctx, changes...)
	mark, lost := mark(changes), err
	for _, wait := range patience {
		switch {
		case errors.Is(err, ErrNotSent) && lost != nil && !settled(lost):
			return 0, lost // this try was refused, but the outcome of the previous one is not known
		case err == nil || mark == nil || settled(err) || ctx.Err() != nil:
			return revision, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, err
		}
		if revision, err = s.Store.Apply(ctx, changes...); !errors.Is(err, ErrConflict) {
			continue
		}
		// A conflict with itself, or with another, which may have come before or after. A
		// value that has the expected revision was read as it was before.
		err = lost
		present, unread := s.Store.Get(ctx, mark.Kind, mark.Key)
		switch {
		case unread == nil && bytes.Equal(present.Value, mark.Value):
			return present.Revision, nil
		case unread == nil && present.Revision != mark.Expect:
			return 0, lost
		}
	}
	return revision, err
}

// settled reports whether trying again is useless: the answer is certain, or the driver has already
// retried.
func settled(err error) bool {
	for _, one := range []error{ErrConflict, ErrClosed, ErrNotSent, ErrUnreachable, ErrRewound, ErrFollows} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// mark returns the change that sets a value, by which changes are recognized; nil if there
// is none, or if no driver takes the changes.
func mark(changes []Change) (mark *Change) {
	if CheckChanges(changes) != nil {
		return nil
	}
	for i := range changes {
		c := &changes[i]
		if c.Log == "" && c.Value != nil {
			mark = c
		}
	}
	return mark
}

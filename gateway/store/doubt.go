package store

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// patience lists the pauses before each retry after a lost answer.
var patience = []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond}

// certainly applies changes of sealed values. If the answer is lost, it checks whether they were made, and
// makes them if not. No two sealed values are equal, so if the expected value is present, this call has
// written it together with all its other changes. An outcome that remains unknown is not reported as a
// conflict, because a conflict means that nothing was changed. Changes that were made and then removed by
// others would be made twice; therefore a driver whose store is shared with other machines must retry by
// itself.
func (s *Sealed) certainly(ctx context.Context, changes []Change) (Revision, error) {
	revision, err := s.Store.Apply(ctx, changes...)
	mark, lost := mark(changes), err
	for _, wait := range patience {
		switch {
		case errors.Is(err, ErrNotSent) && lost != nil && !settled(lost):
			return 0, lost // this attempt was refused, but the outcome of the previous one is unknown
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
		// The conflict is with the earlier attempt of this call, or with another writer's change before or after
		// it. A value that still has the expected revision was read before the change.
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

// settled reports whether a retry is useless, because the answer is certain or the driver has already
// retried.
func settled(err error) bool {
	for _, one := range []error{ErrConflict, ErrClosed, ErrNotSent, ErrUnreachable, ErrRewound, ErrFollows} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// mark returns the first change that sets a value, which identifies the changes in the store. It
// returns nil if there is none, or if no driver accepts the changes.
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

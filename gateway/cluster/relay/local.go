package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"adgateway/gateway/store"
)

// Local presents the copy of a gateway as a [store.Store] that continues to work if another file replaces the
// copy. It makes changes while the gateway leads. Otherwise Apply fails with [store.ErrFollows] and
// [store.ErrNotSent]. Use it for changes that only the leader may make.
type Local struct {
	file   func() *store.File
	closed atomic.Bool
}

// NewLocal returns a store over a file, which may be replaced at any time.
func NewLocal(file func() *store.File) *Local { return &Local{file: file} }

// usable returns an error if ctx has ended or the store is closed.
func (s *Local) usable(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.closed.Load():
		return store.ErrClosed
	}
	return nil
}

// Apply implements [store.Store].
func (s *Local) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	return s.file().Apply(ctx, changes...)
}

// Update implements [store.Updater].
func (s *Local) Update(ctx context.Context, f func(*store.Tx) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.file().Update(ctx, f)
}

// read calls its argument with the copy, and again if the copy was replaced meanwhile.
func (s *Local) read(ctx context.Context, read func(*store.File) error) error {
	until := time.NewTimer(copyFor)
	defer until.Stop()
	for {
		if err := s.usable(ctx); err != nil {
			return err
		}
		file := s.file()
		err := read(file)
		if !errors.Is(err, store.ErrClosed) {
			return err
		}
		for s.file() == file {
			select {
			case <-time.After(lookAgain):
				if err := s.usable(ctx); err != nil {
					return err
				}
			case <-until.C:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// Get implements [store.Store].
func (s *Local) Get(ctx context.Context, kind store.Kind, key string) (found store.Entry, err error) {
	err = s.read(ctx, func(file *store.File) (err error) {
		found, err = file.Get(ctx, kind, key)
		return err
	})
	return found, err
}

// errBroken is the error of a read that has visited values in a file that was then replaced.
var errBroken = fmt.Errorf("%w: another copy has taken its place", store.ErrUnreachable)

// Range implements [store.Store]. It fails with [store.ErrUnreachable] if the copy is replaced
// after a value was visited.
func (s *Local) Range(
	ctx context.Context, kind store.Kind, prefix string, visit func(store.Entry) bool,
) error {
	return visiting(s, ctx, visit, func(f *store.File, visit func(store.Entry) bool) error {
		return f.Range(ctx, kind, prefix, visit)
	})
}

// RangeBack implements [store.Store]. It fails like [Local.Range].
func (s *Local) RangeBack(
	ctx context.Context, kind store.Kind, before string, visit func(store.Entry) bool,
) error {
	return visiting(s, ctx, visit, func(f *store.File, visit func(store.Entry) bool) error {
		return f.RangeBack(ctx, kind, before, visit)
	})
}

// Log implements [store.Store]. It fails like [Local.Range].
func (s *Local) Log(
	ctx context.Context, log store.Log, after store.Position, visit func(store.Appended) bool,
) error {
	return visiting(s, ctx, visit, func(f *store.File, visit func(store.Appended) bool) error {
		return f.Log(ctx, log, after, visit)
	})
}

// visiting reads the copy. If the copy is replaced before any value was visited, it starts over.
func visiting[T any](
	s *Local, ctx context.Context, visit func(T) bool, read func(*store.File, func(T) bool) error,
) error {
	visited := false
	return s.read(ctx, func(file *store.File) error {
		err := read(file, func(found T) bool {
			visited = true
			return visit(found)
		})
		if visited && errors.Is(err, store.ErrClosed) && s.usable(ctx) == nil {
			return errBroken
		}
		return err
	})
}

// End implements [store.Store].
func (s *Local) End(ctx context.Context, log store.Log) (end store.Position, err error) {
	err = s.read(ctx, func(file *store.File) (err error) {
		end, err = file.End(ctx, log)
		return err
	})
	return end, err
}

// Appends implements [store.Store]. The channel is also closed when another file replaces the copy.
func (s *Local) Appends(log store.Log) <-chan struct{} { return s.file().Appends(log) }

// Sweep removes expired values while this gateway leads. Otherwise it does nothing, because the
// leader does it.
func (s *Local) Sweep(ctx context.Context) (int, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	return s.file().Sweep(ctx)
}

// State returns the condition of the copy.
func (s *Local) State() store.State { return s.file().State() }

// Now implements [store.Store].
func (s *Local) Now() time.Time { return s.file().Now() }

// Close makes later calls fail. It does not close the file.
func (s *Local) Close() error {
	s.closed.Store(true)
	return nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Appender stores what a file has decided where every copy of it finds it.
type Appender interface {
	// Append stores a batch of a log time and returns its place, which is after all that the
	// file has applied. After an error that is not [ErrNotSent] it is not known whether the
	// batch is or will be stored. It returns soon when ctx ends. It may read the file, and
	// must not change its role.
	Append(ctx context.Context, batch []byte, time time.Time) (Point, error)
}

// The errors of a file that is one of several copies.
var (
	// ErrFollows means that the changes are made elsewhere. It is joined with [ErrNotSent] if
	// a call was refused for it.
	ErrFollows = errors.New("the store follows another writer")

	ErrLeads    = errors.New("the store makes its own changes, and applies none of another writer")
	ErrApplied  = errors.New("the entry is not after those that were applied")
	ErrDiverged = errors.New("the store is not the one that the batch was made for")
)

// role is who decides the changes of a file: itself if the role is zero.
type role struct {
	follows  bool
	appender Appender        // nil: the file does not lead
	term     context.Context // of the appender
	end      context.CancelCauseFunc
}

// Lead makes the file decide changes, and has an appender store each batch before it is applied.
// The context that it returns ends, with the cause, when the file stops leading: with [File.Follow]
// and [File.Close], and when a batch may be stored and is not applied. Then the file follows, and
// its user must apply what is stored before calling Lead again.
func (f *File) Lead(a Appender) context.Context {
	term, end := context.WithCancelCause(context.Background())
	f.Follow()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave(ErrFollows)
	if f.closed {
		end(ErrClosed)
	} else {
		f.role = role{appender: a, term: term, end: end}
	}
	return term
}

// Follow makes the file apply what another writer has decided, by [File.ApplyBatch]. Calls
// of Apply that wait are refused. It returns when the batch that is being written is, or has
// failed; the ctx of its appender has ended.
func (f *File) Follow() {
	f.mu.Lock()
	f.leave(ErrFollows)
	writer := f.writer
	f.mu.Unlock()
	waitFor(writer)
}

// FollowWithin is Follow, but waits for the batch that is being written only until ctx ends,
// and returns its error then. So it may be called from inside an appender, which the batch
// waits for.
func (f *File) FollowWithin(ctx context.Context) error {
	f.mu.Lock()
	f.leave(ErrFollows)
	writer := f.writer
	f.mu.Unlock()
	if writer == nil {
		return nil
	}
	select {
	case <-writer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func waitFor(ended <-chan struct{}) {
	if ended != nil {
		<-ended
	}
}

// leave ends that the file decides changes, and refuses those that wait. f.mu is held.
func (f *File) leave(cause error) {
	if f.role.end != nil {
		f.role.end(cause)
	}
	f.role = role{follows: true}
	for _, w := range f.waiting {
		w.err = f.refusal()
		close(w.ended)
	}
	f.waiting = nil
}

// refusal returns why the file decides no changes; nil: it does. f.mu is held.
func (f *File) refusal() error {
	switch {
	case f.closed:
		return ErrClosed
	case f.role.follows:
		return fmt.Errorf("%w: %w", ErrFollows, ErrNotSent)
	}
	return nil
}

// ApplyBatch applies a batch of another writer, made at a log time, and keeps its place in
// the same transaction. An empty batch changes nothing but the place. It fails with
// [ErrApplied] if the place is not after the last one, with [ErrLeads] unless the file
// follows, with [ErrBatch], and with [ErrDiverged]; nothing is changed then.
func (f *File) ApplyBatch(ctx context.Context, batch []byte, at Point, time time.Time) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !f.follows() { // and may hold the only transaction
		return ErrLeads
	}
	decoded := &Batch{}
	if len(batch) > 0 {
		var err error
		if decoded, err = DecodeBatch(batch); err != nil {
			return err
		}
	}
	err := f.allPut()
	if err == nil {
		err = f.db.Update(func(tx *bbolt.Tx) error { return f.applyIn(tx, decoded, at, time) })
	}
	if errors.Is(err, ErrLeads) || errors.Is(err, ErrApplied) {
		return err
	}
	f.note(err, func(*State) {})
	if err != nil {
		return closed(err)
	}
	if f.clock != nil {
		f.clock.Raise(time)
	}
	f.bells.ring(decoded.changes())
	f.erase(decoded.changes())
	return nil
}

// applyIn applies a batch of another writer in a transaction.
func (f *File) applyIn(tx *bbolt.Tx, batch *Batch, at Point, time time.Time) error {
	last, _, err := readPoint(tx)
	switch {
	case err != nil:
		return err
	case !f.follows():
		return ErrLeads
	case at.Journal == last.Journal && at.Sequence <= last.Sequence:
		return fmt.Errorf("%w: %d, and %d was", ErrApplied, at.Sequence, last.Sequence)
	}
	applied := newRecent()
	if err = (view{tx, []*recent{applied}}).applyAll(batch); err != nil {
		return err
	}
	applied.at, applied.time = at, time
	return applied.put(tx)
}

// Leads reports whether the file decides changes that an appender stores.
func (f *File) Leads() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.role.appender != nil
}

func (f *File) follows() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.role.follows
}

// Now implements [Store].
func (f *File) Now() time.Time { return f.now() }

// pointKey is the key of the point in the bucket of the store.
var pointKey = []byte("point")

// Point returns the place that was applied last. It is zero in a file that has applied
// nothing since there are places.
func (f *File) Point() (at Point, err error) {
	err = f.see(context.Background(), func(v view) error {
		at, _, err = v.point()
		return err
	})
	return at, err
}

// readPoint returns the place that was applied last, and the log time of what led to it.
func readPoint(tx *bbolt.Tx) (p Point, at time.Time, err error) {
	b := tx.Bucket(storeBucket)
	if b == nil {
		return p, at, nil
	}
	stored := b.Get(pointKey)
	if stored == nil {
		return p, at, nil
	}
	e, err := decode(pointKey, stored)
	if err != nil {
		return p, at, err
	}
	return decodePoint(e.Value)
}

func putPoint(tx *bbolt.Tx, p Point, at time.Time) error {
	b, err := tx.CreateBucketIfNotExists(storeBucket)
	if err != nil {
		return err
	}
	return b.Put(pointKey, encode(encodePoint(p, at), 0, time.Time{}))
}

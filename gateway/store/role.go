package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Appender stores the batches that a file has decided in a place where all copies of the file find them.
type Appender interface {
	// Append stores a batch with its log time and returns its point, which is after all points that the file has
	// applied. After any error but [ErrNotSent] it is unknown whether the batch is or will be stored. Append
	// returns soon after ctx ends. It may read the file, but must not change the file's role.
	Append(ctx context.Context, batch []byte, time time.Time) (Point, error)
}

// Errors of a file that is one of several copies.
var (
	// ErrFollows means that changes are decided elsewhere. It is joined with [ErrNotSent] if a call
	// was refused for that reason.
	ErrFollows = errors.New("the store follows another writer")

	ErrLeads    = errors.New("the store makes its own changes, and applies none of another writer")
	ErrApplied  = errors.New("the entry is not after those that were applied")
	ErrDiverged = errors.New("the store is not the one that the batch was made for")
)

// role determines who decides the changes of a file. The zero role is the file itself, without an
// appender.
type role struct {
	follows  bool
	appender Appender        // nil if the file does not lead
	term     context.Context // ends when the file stops leading
	end      context.CancelCauseFunc
}

// Lead makes the file decide changes, and has an appender store each batch before it is applied. The returned
// context ends, with the cause, when the file stops leading. That happens after [File.Follow] and
// [File.Close], and when a batch may have been stored but was not applied. In the last case the file follows,
// and the caller must apply the stored batches before it calls Lead again.
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

// Follow makes the file apply the decisions of another writer, which it gets through [File.ApplyBatch]. It
// refuses waiting calls of Apply and ends the context of the appender. It returns once the batch that is
// being written has been written or has failed.
func (f *File) Follow() {
	f.mu.Lock()
	f.leave(ErrFollows)
	writer := f.writer
	f.mu.Unlock()
	waitFor(writer)
}

// FollowWithin is like [File.Follow], but waits for the current batch only until ctx ends, and then returns
// the error of ctx. So an appender can call it without waiting for its own batch.
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

// leave makes the file stop deciding changes, and refuses waiting calls. f.mu is held.
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

// refusal returns the reason why the file does not decide changes, or nil if it does. f.mu is held.
func (f *File) refusal() error {
	switch {
	case f.closed:
		return ErrClosed
	case f.role.follows:
		return fmt.Errorf("%w: %w", ErrFollows, ErrNotSent)
	}
	return nil
}

// ApplyBatch applies a batch of another writer, with its log time, and stores its point in the same
// transaction. An empty batch only changes the point. It fails with [ErrApplied] if the point is
// not after the last one, with [ErrLeads] unless the file follows, with [ErrBatch], and with
// [ErrDiverged]. After an error nothing has changed.
func (f *File) ApplyBatch(ctx context.Context, batch []byte, at Point, time time.Time) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !f.follows() { // a leading file may hold the only write transaction
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

// Leads reports whether the file decides changes and has an appender store them.
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

// Point returns the last point that was applied. It is zero in a file of a version without points
// that has applied nothing since.
func (f *File) Point() (at Point, err error) {
	err = f.see(context.Background(), func(v view) error {
		at, _, err = v.point()
		return err
	})
	return at, err
}

// readPoint returns the last point that was applied, and the log time of its batch.
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

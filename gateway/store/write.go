package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// write is a call of Apply, or a part of one of Sweep. The writer sets the fields below ended, and
// then closes it.
type write struct {
	changes []Change
	sweeps  bool      // the changes remove what has expired, unless it was set again meanwhile
	touches bool      // there are none
	updates *updating // decides them; nil: they are given

	ended    chan struct{}
	revision Revision
	removed  int
	err      error
}

// Apply shares a batch, and with it the wait for the disk, with the calls that came while the
// one before was written. If ctx ends while the call waits, nothing was changed, and the error
// is also [ErrNotSent]. Later, Apply waits for the disk all the same; but it does not wait for
// an [Appender], which goes on.
func (f *File) Apply(ctx context.Context, changes ...Change) (Revision, error) {
	own := &write{changes: changes}
	if err := f.await(ctx, own); err != nil {
		return 0, err
	}
	return own.revision, nil
}

// Sweep implements [Store]. While the file follows it removes nothing: its writer does.
func (f *File) Sweep(ctx context.Context) (removed int, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	var old []Change
	err = f.viewAll(func(tx *bbolt.Tx) error {
		old, err = allOld(tx, f.now())
		return err
	})
	if err != nil {
		return 0, closed(err)
	}
	for some := range slices.Chunk(old, MostChanges) {
		part := &write{changes: some, sweeps: true}
		err = f.await(ctx, part)
		if errors.Is(err, ErrFollows) && errors.Is(err, ErrNotSent) {
			return removed, nil
		}
		if err != nil {
			return removed, err
		}
		removed += part.removed
	}
	return removed, nil
}

// Touch has the appender of a file that leads store an empty batch, after the calls that were
// waiting. So what hinders the file from writing hinders Touch.
func (f *File) Touch(ctx context.Context) error {
	return f.await(ctx, &write{touches: true})
}

// allOld returns the changes that remove what has expired.
func allOld(tx *bbolt.Tx, now time.Time) ([]Change, error) {
	old, err := oldLines(tx, now)
	if err != nil {
		return nil, err
	}
	return old, tx.ForEach(func(kind []byte, b *bbolt.Bucket) error {
		return b.ForEach(func(key, stored []byte) error {
			if hasExpired(stored, now) {
				old = append(old, Change{Kind: Kind(kind), Key: string(key)})
			}
			return nil
		})
	})
}

// await waits until a call is written, or why it is not.
func (f *File) await(ctx context.Context, own *write) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	own.ended = make(chan struct{})
	f.mu.Lock()
	if err := f.refusal(); err != nil {
		f.mu.Unlock()
		return err
	}
	leads := f.role.appender != nil
	if leads && own.updates == nil {
		own.changes = cloned(own.changes) // which are written when the caller has left
	}
	f.waiting = append(f.waiting, own)
	if f.writer == nil {
		f.writer = make(chan struct{})
		go f.writeAll()
	}
	f.mu.Unlock()

	select {
	case <-own.ended:
		return own.err
	case <-ctx.Done():
	}
	if f.withdraw(own) {
		return fmt.Errorf("%w: %w", ErrNotSent, context.Cause(ctx))
	}
	if leads {
		select {
		case <-own.ended:
		default:
			return own.updates.leave(context.Cause(ctx))
		}
	}
	<-own.ended
	return own.err
}

func cloned(changes []Change) []Change {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i].Value = bytes.Clone(changes[i].Value)
	}
	return changes
}

// withdraw ends the wait of a call, and reports whether the call was still waiting.
func (f *File) withdraw(own *write) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.waiting, own)
	if i >= 0 {
		f.waiting = slices.Delete(f.waiting, i, i+1)
	}
	return i >= 0
}

// batchSize is the size in bytes after which those that still wait make another batch.
const batchSize = 1 << 20

// writeAll writes until nobody waits.
func (f *File) writeAll() {
	for {
		f.mu.Lock()
		n := 0
		for size := 0; n < len(f.waiting) && size < batchSize; n++ {
			size += sizeOf(f.waiting[n].changes)
		}
		all, by := f.waiting[:n:n], f.role
		f.waiting = f.waiting[n:]
		if n == 0 {
			f.waiting = nil
			close(f.writer)
			f.writer = nil
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		for len(all) > 0 {
			n := f.write(all, by)
			if all = all[n:]; len(all) > 0 && f.refuse(all, by) {
				break
			}
		}
	}
}

// refuse refuses calls if the file has another role by now.
func (f *File) refuse(all []*write, by role) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.refusal()
	if err == nil && f.role.term != by.term {
		err = fmt.Errorf("%w: %w", ErrFollows, ErrNotSent)
	}
	if err == nil {
		return false
	}
	for _, w := range all {
		w.err = err
		close(w.ended)
	}
	return true
}

// errNothing undoes a transaction in which nothing was changed.
var errNothing = errors.New("nothing is changed")

// write makes the changes of several calls in one batch. A call that conflicts does not
// hinder the others. If the transaction fails, each is tried by itself. While the file leads,
// a batch that may be stored elsewhere and is not applied ends that: what comes next would
// have to be decided with it. It returns how many calls were written: updates may need a batch
// of their own.
func (f *File) write(all []*write, by role) (n int) {
	var made []Change
	var reached Revision // of the batch, if its transaction was complete
	appending, appended := false, false
	n = len(all)
	err := f.db.Update(func(tx *bbolt.Tx) error {
		if err := f.tell(); err != nil {
			return err
		}
		now := f.now()
		var batch *Batch
		var err error
		if batch, n, err = compose(tx, all, now); err != nil {
			return err
		}
		if len(batch.Calls) == 0 {
			if by.appender != nil && slices.ContainsFunc(all[:n], func(w *write) bool { return w.touches }) {
				appending = true
				_, err = by.appender.Append(by.term, nil, now)
			}
			return cmp.Or(err, errNothing)
		}
		at, _, err := readPoint(tx)
		if err != nil {
			return err
		}
		encoded := batch.Encode()
		if by.appender == nil {
			at = at.after(encoded, now)
		} else {
			appending = true
			if at, err = by.appender.Append(by.term, encoded, now); err != nil {
				return err
			}
			appended = true
		}
		made = batch.changes()
		reached = batch.Calls[len(batch.Calls)-1].Revision
		return putPoint(tx, at, now)
	})
	doubtful := appended || appending && !errors.Is(err, ErrNotSent)
	unsynced := err != nil && !appending && f.shows(reached)
	switch {
	case errors.Is(err, errNothing):
		err = nil
	case err != nil && !appending && !unsynced && len(all) > 1:
		for i := range all {
			f.write(all[i:i+1], by)
		}
		return len(all)
	case err != nil && doubtful:
		f.mu.Lock()
		if f.role.term == by.term {
			f.leave(fmt.Errorf("%w: a batch is in doubt: %w", ErrFollows, err))
		}
		f.mu.Unlock()
	}
	f.bells.ring(made)
	f.erase(made)
	for _, w := range all[:n] {
		switch {
		case err != nil && w.updates != nil && len(w.changes) > 0 && (doubtful || unsynced):
			w.err = &Doubt{w.changes, err}
		case err != nil:
			w.err = err
		}
		f.finish(w, by)
	}
	return n
}

// shows reports whether the changes of a failed transaction can be read: they were written and not
// synced, and may be lost with the machine. Revision 0 belongs to no transaction.
func (f *File) shows(reached Revision) bool {
	if reached == 0 {
		return false
	}
	present, err := f.Revision()
	return err != nil || present >= reached
}

// finish answers a call.
func (f *File) finish(w *write, by role) {
	if w.updates == nil || len(w.changes) > 0 {
		f.note(w.err, func(s *State) {
			if w.sweeps {
				s.Swept += uint64(w.removed)
			} else {
				s.Writes++
			}
		})
	}
	w.err = closed(w.err)
	if w.err == nil && by.appender == nil {
		f.acknowledge(w.revision)
	}
	close(w.ended)
}

// compose decides calls in their order and makes their changes in a transaction. A call that
// is refused has its error, and changes nothing. After another error the transaction must be
// undone. It returns how many calls it has decided: after some size of what updates have put,
// the others make another batch.
func compose(tx *bbolt.Tx, all []*write, now time.Time) (batch *Batch, n int, err error) {
	batch = &Batch{Calls: make([]Call, 0, len(all))}
	for size := 0; n < len(all) && (n == 0 || size < batchSize); n++ {
		w := all[n]
		w.revision, w.removed = revisionOf(tx), 0
		if w.updates != nil {
			w.changes, w.err = w.updates.decide(tx, now)
		} else if w.sweeps {
			w.changes = slices.DeleteFunc(w.changes, func(c Change) bool { return !isOld(tx, &c, now) })
		} else {
			w.err = check(tx, w.changes, now)
		}
		if w.err != nil || w.touches || (w.sweeps || w.updates != nil) && len(w.changes) == 0 {
			continue
		}
		w.revision++
		call := Call{w.revision, withoutCompared(w.changes)}
		if w.removed, err = call.apply(tx); err != nil {
			return nil, len(all), err
		}
		size += sizeOf(call.Changes)
		batch.Calls = append(batch.Calls, call)
	}
	return batch, n, nil
}

// withoutCompared returns the changes that change something.
func withoutCompared(changes []Change) []Change {
	compares := func(c Change) bool { return c.Compares }
	if !slices.ContainsFunc(changes, compares) {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), compares)
}

// isOld reports whether what a change removes has expired.
func isOld(tx *bbolt.Tx, c *Change, now time.Time) bool {
	if c.Log != "" {
		return true // entries of logs do not change
	}
	b := tx.Bucket([]byte(c.Kind))
	return b != nil && hasExpired(b.Get([]byte(c.Key)), now)
}

// check returns why changes are not made.
func check(tx *bbolt.Tx, changes []Change, now time.Time) error {
	if err := CheckChanges(changes); err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		if c.Log != "" {
			continue // which never conflicts
		}
		var present Revision
		if b := tx.Bucket([]byte(c.Kind)); b != nil {
			e, err := get(b, c.Key, now)
			if err != nil && !errors.Is(err, ErrAbsent) {
				return err
			}
			present = e.Revision
		}
		if present != c.Expect {
			return fmt.Errorf("%w: %s %q", ErrConflict, c.Kind, c.Key)
		}
	}
	return nil
}

// Revision returns the revision of the last call that was applied.
func (f *File) Revision() (r Revision, err error) {
	err = f.viewAll(func(tx *bbolt.Tx) error {
		r = revisionOf(tx)
		return nil
	})
	return r, closed(err)
}

// Await returns once the call with a revision was applied, no matter which writer decided it. It
// returns the error of ctx if that ends first.
func (f *File) Await(ctx context.Context, r Revision) error {
	for {
		next := f.bells.next()
		present, err := f.Revision()
		if err != nil || present >= r {
			return err
		}
		select {
		case <-next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func revisionOf(tx *bbolt.Tx) Revision {
	if b := tx.Bucket(revisionBucket); b != nil {
		return Revision(b.Sequence())
	}
	return 0
}

// apply makes the changes of a call, whose conditions hold, and returns how many entries of logs
// and values it has removed. After an error the transaction must be undone.
func (c *Call) apply(tx *bbolt.Tx) (removed int, err error) {
	counter, err := tx.CreateBucketIfNotExists(revisionBucket)
	if err != nil {
		return 0, err
	}
	if last := Revision(counter.Sequence()); c.Revision != last+1 {
		return 0, fmt.Errorf("%w: it has revision %d, and a call %d", ErrDiverged, last, c.Revision)
	}
	if err = counter.SetSequence(uint64(c.Revision)); err != nil {
		return 0, err
	}
	for i := range c.Changes {
		n, err := c.Changes[i].apply(tx, c.Revision)
		if err != nil {
			return 0, err
		}
		removed += n
	}
	return removed, nil
}

func (c *Change) apply(tx *bbolt.Tx, revision Revision) (removed int, err error) {
	if c.Log != "" {
		return changeLog(tx, c, revision)
	}
	b, err := tx.CreateBucketIfNotExists([]byte(c.Kind))
	if err != nil {
		return 0, err
	}
	if c.Value == nil {
		return 1, b.Delete([]byte(c.Key))
	}
	return 0, b.Put([]byte(c.Key), encode(c.Value, revision, c.Expires))
}

// note notes how a write ended. A conflict is an answer of the store, no failure of it.
func (f *File) note(err error, done func(*State)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.state.Failed = nil
		done(&f.state)
	case !errors.Is(err, ErrConflict) && !errors.Is(err, berrors.ErrDatabaseNotOpen):
		f.state.failed(err)
	}
}

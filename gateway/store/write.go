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

	"adgateway/gateway/store/commitlog"
)

// write is a call of Apply, or a part of a call of Sweep. The writer sets the fields below ended,
// and then closes ended.
type write struct {
	changes []Change
	sweeps  bool      // whether the changes remove expired values, unless these were set again meanwhile
	touches bool      // whether it is a call of Touch, which has no changes
	patient bool      // whether it waits for another call, see [Patient]; guarded by File.mu while it is waiting
	updates *updating // decides the changes; nil if they are given

	ended    chan struct{}
	revision Revision
	removed  int
	err      error
}

// Apply implements [Store]. The call shares a batch, and with it the wait for the disk, with other
// calls that arrive while the previous batch is written. If ctx ends while the call is waiting,
// nothing was changed, and the error also matches [ErrNotSent]. If ctx ends later, Apply still
// waits for the disk, but not for an [Appender], which continues.
func (f *File) Apply(ctx context.Context, changes ...Change) (Revision, error) {
	own := &write{changes: changes}
	if err := f.await(ctx, own); err != nil {
		return 0, err
	}
	return own.revision, nil
}

// Sweep implements [Store]. While the file follows, it removes nothing, because the leader sweeps.
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
	for some := range slices.Chunk(old, mostRemoved) {
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

// Touch makes the appender of a leading file store an empty batch, after the calls that are already waiting.
// It fails or blocks in the same cases as a write.
func (f *File) Touch(ctx context.Context) error {
	return f.await(ctx, &write{touches: true})
}

// allOld returns the changes that remove expired values and log entries.
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

// await waits until a call is written, and returns its error.
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
		own.changes = cloned(own.changes) // they may be written after the caller has left
	}
	f.waiting = append(f.waiting, own)
	patience := patienceOf(ctx)
	patient := !leads && patience > 0
	if own.patient = patient; !patient {
		startWriter(f)
	}
	f.mu.Unlock()

	if patient {
		hurry := time.AfterFunc(patience, func() { own.hurry(f) })
		defer hurry.Stop()
	}
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

// startWriter makes sure that the waiting calls are written. f.mu is held.
func startWriter(f *File) {
	if f.writer == nil {
		f.writer = make(chan struct{})
		go f.writeAll()
	}
}

// hurry makes sure that a patient call is written if it is still waiting.
func (w *write) hurry(f *File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.patient = false; slices.Contains(f.waiting, w) {
		startWriter(f)
	}
}

func cloned(changes []Change) []Change {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i].Value = bytes.Clone(changes[i].Value)
	}
	return changes
}

// withdraw removes a call from the queue, and reports whether it was still waiting.
func (f *File) withdraw(own *write) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.waiting, own)
	if i >= 0 {
		f.waiting = slices.Delete(f.waiting, i, i+1)
	}
	return i >= 0
}

// batchSize is the size of a batch in bytes after which the remaining calls go into another batch.
const batchSize = 1 << 20

// writeAll writes batches until no call is waiting, or only patient ones are.
func (f *File) writeAll() {
	for {
		f.mu.Lock()
		if !slices.ContainsFunc(f.waiting, func(w *write) bool { return !w.patient }) {
			if len(f.waiting) == 0 {
				f.waiting = nil
			}
			close(f.writer)
			f.writer = nil
			f.mu.Unlock()
			return
		}
		n := 0
		for size := 0; n < len(f.waiting) && size < batchSize; n++ {
			size += sizeOf(f.waiting[n].changes)
		}
		all, by := f.waiting[:n:n], f.role
		f.waiting = f.waiting[n:]
		f.mu.Unlock()
		for len(all) > 0 {
			f.writing.Lock()
			n := f.write(all, by)
			f.writing.Unlock()
			if all = all[n:]; len(all) > 0 && f.refuse(all, by) {
				break
			}
		}
	}
}

// refuse refuses the calls if the role of the file has changed, and reports whether it has.
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

// errNothing rolls back a transaction in which nothing was changed.
var errNothing = errors.New("nothing is changed")

// write makes the changes of several calls in one batch, and returns the number of calls it has handled. The
// remaining calls need another batch. A call that conflicts does not affect the others. If the batch fails,
// each call is tried alone. While the file leads, a batch that may be stored elsewhere but was not applied
// ends the lead, because the next batch would have to be based on it. f.writing is held.
func (f *File) write(all []*write, by role) (n int) {
	d, err := &decision{n: len(all)}, f.tell()
	switch {
	case err != nil:
	case by.appender == nil:
		if err = f.see(context.Background(), func(v view) error { return f.decide(v, all, d) }); err == nil {
			err = f.store(d)
		}
	default:
		if err = f.putRecent(); err == nil {
			err = f.db.Update(func(tx *bbolt.Tx) error { return f.appendIn(tx, all, by, d) })
		}
	}
	doubtful := d.appended || d.appending && !errors.Is(err, ErrNotSent)
	unsure := errors.Is(err, commitlog.ErrInDoubt)
	switch {
	case errors.Is(err, errNothing):
		err = nil
	case err != nil && !d.appending && !unsure && len(all) > 1:
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
	f.bells.ring(d.made)
	f.erase(d.made)
	for _, w := range all[:d.n] {
		switch {
		case err != nil && w.updates != nil && len(w.changes) > 0 && (doubtful || unsure):
			w.err = &Doubt{w.changes, err}
		case err != nil:
			w.err = err
		}
		f.finish(w, by)
	}
	return d.n
}

// decision is a decided batch and its progress.
type decision struct {
	n       int // number of calls that it decides
	encoded []byte
	after   *recent // the batch's changes
	made    []Change

	appending, appended bool // whether the appender was given the batch, and has stored it
}

// decide composes a batch. It fails with [errNothing] if there is nothing to change.
func (f *File) decide(v view, all []*write, d *decision) error {
	d.after = newRecent()
	now := f.now()
	batch, n, err := compose(v.with(d.after), all, now)
	if d.n = n; err != nil {
		return err
	}
	if len(batch.Calls) == 0 {
		return errNothing
	}
	at, _, err := v.point()
	if err != nil {
		return err
	}
	d.encoded, d.made = batch.Encode(), batch.changes()
	d.after.at, d.after.time = at.after(d.encoded, now), now
	return nil
}

// store stores a batch of a file that decides changes itself.
func (f *File) store(d *decision) error {
	first, err := f.commit(d.encoded, d.after)
	if first {
		f.headAt = time.Time{} // an earlier version, which ignores the commit log, would lack the changes in it
	}
	return err
}

// appendIn decides a batch in a transaction of the file, has the appender store it, and applies it
// to the file.
func (f *File) appendIn(tx *bbolt.Tx, all []*write, by role, d *decision) error {
	err := f.decide(view{tx, nil}, all, d)
	touched := slices.ContainsFunc(all[:d.n], func(w *write) bool { return w.touches })
	switch {
	case errors.Is(err, errNothing) && touched:
		d.appending = true
		_, failed := by.appender.Append(by.term, nil, f.now())
		return cmp.Or(failed, err)
	case err != nil:
		return err
	}
	d.appending = true
	if d.after.at, err = by.appender.Append(by.term, d.encoded, d.after.time); err != nil {
		return err
	}
	d.appended = true
	return d.after.put(tx)
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

// compose decides calls in order and makes their changes in the latest layer of a view. It returns
// the batch and the number of calls it has decided, which is smaller than len(all) if the batch
// becomes too large. A refused call has its error, and changes nothing. If compose fails, the layer
// must not be used.
func compose(v view, all []*write, now time.Time) (batch *Batch, n int, err error) {
	batch = &Batch{Calls: make([]Call, 0, len(all))}
	for size := 0; n < len(all) && (n == 0 || size < batchSize); n++ {
		w := all[n]
		w.revision, w.removed = v.revision(), 0
		if w.updates != nil {
			w.changes, w.err = w.updates.decide(v, now)
		} else if w.sweeps {
			w.changes = slices.DeleteFunc(w.changes, func(c Change) bool { return !isOld(v, &c, now) })
		} else {
			w.err = check(v, w.changes, now)
		}
		if w.err != nil || w.touches || (w.sweeps || w.updates != nil) && len(w.changes) == 0 {
			continue
		}
		w.revision++
		call := Call{w.revision, withoutCompared(w.changes)}
		if w.removed, err = v.apply(&call); err != nil {
			return nil, len(all), err
		}
		size += sizeOf(call.Changes)
		batch.Calls = append(batch.Calls, call)
	}
	return batch, n, nil
}

// withoutCompared returns the changes without those that only compare.
func withoutCompared(changes []Change) []Change {
	compares := func(c Change) bool { return c.Compares }
	if !slices.ContainsFunc(changes, compares) {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), compares)
}

// isOld reports whether the value or log entry that a change removes has expired.
func isOld(v view, c *Change, now time.Time) bool {
	if c.Log != "" {
		return true // entries of logs do not change
	}
	return hasExpired(v.get(c.Kind, c.Key), now)
}

// check returns an error if the changes cannot be made.
func check(v view, changes []Change, now time.Time) error {
	if err := CheckChanges(changes); err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		if c.Log != "" {
			continue // a log never conflicts
		}
		e, err := v.entry(c.Kind, c.Key, now)
		if err != nil && !errors.Is(err, ErrAbsent) {
			return err
		}
		if e.Revision != c.Expect {
			return fmt.Errorf("%w: %s %q", ErrConflict, c.Kind, c.Key)
		}
	}
	return nil
}

// Revision returns the revision of the last call that was applied.
func (f *File) Revision() (r Revision, err error) {
	err = f.see(context.Background(), func(v view) error {
		r = v.revision()
		return nil
	})
	return r, err
}

// Await returns nil once the call with a revision was applied, regardless of which writer decided
// it. It returns the error of ctx if ctx ends first.
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

// note records how a write ended. A conflict does not count as a failure of the store.
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

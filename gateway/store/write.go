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
			f.writing.Lock()
			n := f.write(all, by)
			f.writing.Unlock()
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
// hinder the others. If the batch fails, each is tried by itself. While the file leads,
// a batch that may be stored elsewhere and is not applied ends that: what comes next would
// have to be decided with it. It returns how many calls were written: updates may need a batch
// of their own. f.writing is held.
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

// decision is a batch that was decided, and how far it has come.
type decision struct {
	n       int // calls that it decides
	encoded []byte
	after   *recent // what it changes
	made    []Change

	appending, appended bool // it was handed to an appender, which has stored it
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

// store stores a batch of a file that makes its own changes.
func (f *File) store(d *decision) error {
	first, err := f.commit(d.encoded, d.after)
	if first {
		f.headAt = time.Time{} // an earlier version, which knows no commit log, misses what it has
	}
	return err
}

// appendIn decides a batch in a transaction of the file, has the appender store it, and puts it into
// the file.
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

// compose decides calls in their order and makes their changes in the latest layer of a view. A call
// that is refused has its error, and changes nothing. After another error the layer is of no use.
// It returns how many calls it has decided: after some size of what updates have put, the others
// make another batch.
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

// withoutCompared returns the changes that change something.
func withoutCompared(changes []Change) []Change {
	compares := func(c Change) bool { return c.Compares }
	if !slices.ContainsFunc(changes, compares) {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), compares)
}

// isOld reports whether what a change removes has expired.
func isOld(v view, c *Change, now time.Time) bool {
	if c.Log != "" {
		return true // entries of logs do not change
	}
	return hasExpired(v.get(c.Kind, c.Key), now)
}

// check returns why changes are not made.
func check(v view, changes []Change, now time.Time) error {
	if err := CheckChanges(changes); err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		if c.Log != "" {
			continue // which never conflicts
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

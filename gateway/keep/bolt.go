package keep

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// file is a store in one file. Each value is preceded by its revision and the time when
// it expires.
type file struct {
	db       *bbolt.DB
	now      func() time.Time
	creation string
	bells    bells

	writing sync.Mutex // held by the call of Apply that writes for all that wait; guards the fields below
	head    head
	headAt  time.Time // when it was written last

	mu      sync.Mutex // guards the fields below
	waiting []*write
	state   State
}

// Options configure a store in a file.
type Options struct {
	Path string
	Now  func() time.Time // nil: time.Now
}

// lockTimeout is how long the lock of a file is waited for, which one process holds.
const lockTimeout = 500 * time.Millisecond

// Open opens the store in a file, which it creates if there is none. A file that cannot
// be read, such as after a loss of power, is renamed, and an empty store takes its place;
// aside is its new name then.
func Open(o Options) (store Store, aside string, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	db, err := open(o.Path)
	if err != nil && damaged(o.Path, err) {
		aside = o.Path + ".damaged-" + o.Now().UTC().Format("20060102T150405Z")
		if err = os.Rename(o.Path, aside); err == nil {
			db, err = open(o.Path)
		}
	}
	if errors.Is(err, berrors.ErrTimeout) {
		err = errors.New("another process has it open: a gateway that is running")
	}
	if err != nil {
		return nil, aside, fmt.Errorf("store %s: %w", o.Path, err)
	}
	f := &file{db: db, now: o.Now}
	if f.creation, err = created(db); err == nil {
		err = f.compare(aside != "")
	}
	if err != nil {
		return nil, aside, errors.Join(fmt.Errorf("store %s: %w", o.Path, err), db.Close())
	}
	return f, aside, nil
}

// open opens a file and reads all of it. Package bbolt may panic on a damaged one.
func open(path string) (db *bbolt.DB, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			db, err = nil, fmt.Errorf("%w: %v", errDamaged, reason)
		}
	}()
	db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

var errDamaged = errors.New("the file is damaged")

// damaged reports whether a file that could not be opened is one that never can be, as
// opposed to one that another process has or that may not be read.
func damaged(path string, err error) bool {
	for _, lasting := range []error{errDamaged, berrors.ErrInvalid, berrors.ErrChecksum, berrors.ErrVersionMismatch, io.ErrUnexpectedEOF} {
		if errors.Is(err, lasting) {
			return true
		}
	}
	info, statErr := os.Stat(path)
	return statErr == nil && info.Mode().IsRegular() && info.Size() < smallest
}

// smallest is the size of the smallest page, of which a file has several.
const smallest = 4096

const headerLength = 16

// encode precedes a value by its revision and its end in nanoseconds; 0 is none.
func encode(value []byte, revision Revision, expires time.Time) []byte {
	stored := make([]byte, headerLength, headerLength+len(value))
	binary.BigEndian.PutUint64(stored, uint64(revision))
	if !expires.IsZero() {
		binary.BigEndian.PutUint64(stored[8:], uint64(expires.UnixNano()))
	}
	return append(stored, value...)
}

// decode returns a copy: what bbolt returns is valid during its transaction only.
func decode(key, stored []byte) (Entry, error) {
	if len(stored) < headerLength {
		return Entry{}, fmt.Errorf("%w: a value has no header", errDamaged)
	}
	e := Entry{Key: string(key), Value: bytes.Clone(stored[headerLength:]), Revision: Revision(binary.BigEndian.Uint64(stored))}
	if end := binary.BigEndian.Uint64(stored[8:]); end > 0 {
		e.Expires = time.Unix(0, int64(end))
	}
	return e, nil
}

func (e Entry) expired(now time.Time) bool { return !e.Expires.IsZero() && !now.Before(e.Expires) }

func (f *file) Get(ctx context.Context, kind Kind, key string) (found Entry, err error) {
	err = f.view(ctx, kind, func(b *bbolt.Bucket) error {
		if b == nil {
			return ErrAbsent
		}
		found, err = f.get(b, key)
		return err
	})
	return found, err
}

func (f *file) get(b *bbolt.Bucket, key string) (Entry, error) {
	stored := b.Get([]byte(key))
	if stored == nil {
		return Entry{}, ErrAbsent
	}
	e, err := decode([]byte(key), stored)
	if err == nil && e.expired(f.now()) {
		err = ErrAbsent
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

func (f *file) Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error {
	return inPages(prefix, func(from string, most int) (page page, err error) {
		err = f.view(ctx, kind, func(b *bbolt.Bucket) error {
			if b == nil {
				return nil
			}
			cursor := b.Cursor()
			key, stored := cursor.Seek([]byte(from))
			page, err = f.read(ctx, key, stored, cursor.Next, []byte(prefix), most)
			page.next += "\x00" // the least key that is greater
			return err
		})
		return page, err
	}, visit)
}

func (f *file) RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error {
	return inPages(before, func(before string, most int) (page page, err error) {
		err = f.view(ctx, kind, func(b *bbolt.Bucket) error {
			if b == nil {
				return nil
			}
			cursor := b.Cursor()
			key, stored := cursor.Last()
			if before != "" {
				if at, _ := cursor.Seek([]byte(before)); at != nil {
					key, stored = cursor.Prev()
				} else {
					key, stored = cursor.Last()
				}
			}
			page, err = f.read(ctx, key, stored, cursor.Prev, nil, most)
			return err
		})
		return page, err
	}, visit)
}

// read reads a page of values that have not expired, beginning with one; next is its last
// key.
func (f *file) read(ctx context.Context, key, stored []byte, step func() ([]byte, []byte), prefix []byte, most int) (page page, err error) {
	now, size := f.now(), 0
	for ; key != nil && bytes.HasPrefix(key, prefix); key, stored = step() {
		if ctx.Err() != nil {
			return page, context.Cause(ctx)
		}
		e, err := decode(key, stored)
		if err != nil {
			return page, err
		}
		page.next = e.Key
		if e.expired(now) {
			continue
		}
		page.entries = append(page.entries, e)
		if size += len(e.Value); len(page.entries) >= most || size >= pageSize {
			page.more = true
			break
		}
	}
	return page, nil
}

// view reads a kind in one transaction; the bucket is nil if there is none yet.
func (f *file) view(ctx context.Context, kind Kind, read func(*bbolt.Bucket) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return closed(f.db.View(func(tx *bbolt.Tx) error { return read(tx.Bucket([]byte(kind))) }))
}

func closed(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// write is one call of Apply.
type write struct {
	changes  []Change
	ended    bool // the fields below are set
	revision Revision
	err      error
}

// Apply shares a transaction, and with it the wait for the disk, with the calls that came
// while the one before was written.
func (f *file) Apply(ctx context.Context, changes ...Change) (Revision, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	own := &write{changes: changes}
	f.mu.Lock()
	f.waiting = append(f.waiting, own)
	f.mu.Unlock()

	f.writing.Lock()
	defer f.writing.Unlock()
	if !own.ended {
		f.mu.Lock()
		all := f.waiting
		f.waiting = nil
		f.mu.Unlock()
		f.applyAll(all)
	}
	return own.revision, own.err
}

// applyAll makes the changes of several calls in one transaction. A call that conflicts
// does not hinder the others. If the transaction fails, each is tried by itself.
func (f *file) applyAll(all []*write) {
	err := f.db.Update(func(tx *bbolt.Tx) error {
		for _, w := range all {
			w.revision, w.err = f.apply(tx, w.changes)
			if w.err != nil && !errors.Is(w.err, ErrConflict) {
				return w.err
			}
		}
		return nil
	})
	if err != nil && len(all) > 1 {
		for _, w := range all {
			f.applyAll([]*write{w})
		}
		return
	}
	for _, w := range all {
		if err != nil {
			w.err = err
		}
		f.note(w.err, func(s *State) { s.Writes++ })
		if w.err != nil {
			w.revision, w.err = 0, closed(w.err)
		}
		w.ended = true
		if w.err == nil {
			f.acknowledge(w.revision)
			f.bells.ring(w.changes)
		}
	}
}

// apply makes changes in a transaction, all of them unless one conflicts. After another
// error the transaction must be undone.
func (f *file) apply(tx *bbolt.Tx, changes []Change) (Revision, error) {
	counter, err := tx.CreateBucketIfNotExists(revisionBucket)
	if err != nil {
		return 0, err
	}
	if err = CheckChanges(changes); err != nil {
		return 0, err
	}
	buckets := make([]*bbolt.Bucket, len(changes))
	for i, c := range changes {
		if c.Log != "" {
			continue // which never conflicts
		}
		if buckets[i], err = tx.CreateBucketIfNotExists([]byte(c.Kind)); err != nil {
			return 0, err
		}
		present, err := f.get(buckets[i], c.Key)
		switch {
		case err != nil && !errors.Is(err, ErrAbsent):
			return 0, err
		case present.Revision != c.Expect:
			return 0, fmt.Errorf("%w: %s %q", ErrConflict, c.Kind, c.Key)
		}
	}
	next, err := counter.NextSequence()
	if err != nil {
		return 0, err
	}
	for i, c := range changes {
		switch {
		case c.Log != "":
			err = appendTo(tx, c, Revision(next))
		case c.Value == nil:
			err = buckets[i].Delete([]byte(c.Key))
		default:
			err = buckets[i].Put([]byte(c.Key), encode(c.Value, Revision(next), c.Expires))
		}
		if err != nil {
			return 0, err
		}
	}
	return Revision(next), nil
}

func (f *file) Sweep(ctx context.Context) (removed int, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	err = f.db.Update(func(tx *bbolt.Tx) error {
		var err error
		if removed, err = f.sweepLogs(tx); err != nil {
			return err
		}
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			now, cursor := f.now(), b.Cursor()
			var old [][]byte // a cursor must not skip what is removed under it
			for key, stored := cursor.First(); key != nil; key, stored = cursor.Next() {
				if e, err := decode(key, stored); err == nil && e.expired(now) {
					old = append(old, bytes.Clone(key))
				}
			}
			for _, key := range old {
				if err := b.Delete(key); err != nil {
					return err
				}
				removed++
			}
			return nil
		})
	})
	f.note(err, func(s *State) { s.Swept += uint64(removed) })
	return removed, closed(err)
}

// note notes how a write ended. A conflict is an answer of the store, no failure of it.
func (f *file) note(err error, done func(*State)) {
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

func (f *file) State() State {
	f.mu.Lock()
	state := f.state
	f.mu.Unlock()
	if info, err := os.Stat(f.db.Path()); err == nil {
		state.Bytes = info.Size()
	}
	return state
}

func (f *file) Close() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	var err error
	if f.db.Path() != "" { // not closed yet
		err = f.head.write(f.db.Path())
	}
	err = errors.Join(err, f.db.Close())
	f.bells.close()
	return err
}

package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/store/commitlog"
)

// File is a store in one file. Each value is preceded by its revision and its expiry. A file that
// decides changes stores them in a commit log next to it (see durable), or has an appender store
// them first. A file that follows applies the changes of another writer. See [File.Lead].
type File struct {
	durable
	path  string
	now   func() time.Time
	clock *Clock // now reads it; nil if now was given
	bells bells

	head   head // head of the writer; its creation is empty if the file has none
	headAt time.Time
	eraser eraser
	unsaid error // reason why the head could not be written when the file was opened, or nil
	save   func(path string, text []byte) error

	mu      sync.Mutex // guards the fields below
	closed  bool
	role    role
	waiting []*write
	writer  chan struct{} // closed when the writing goroutine ends; nil if none runs
	state   State
}

// Options configure a store in a file.
type Options struct {
	Path string

	// Now returns the time by which values expire. It is not used if Clock is set. If neither is set, a new
	// clock is used that begins at the wall clock.
	Now   func() time.Time
	Clock *Clock

	// Follows opens the file as a follower that applies another writer's decisions until [File.Lead] is called.
	// It continues from its current point. A follower that is older than its head does not count as rewound, and
	// its clock begins at least at the time of the last applied entry.
	Follows bool

	// Erase lists the kinds whose values are overwritten in the file shortly after they are
	// removed. When the file is opened, all remains of removed values are overwritten.
	Erase []Kind

	// AfterSync is called each time after a batch was synced, for benchmarks of slow disks. It may be
	// nil.
	AfterSync func()

	write   func(path string, text []byte) error      // replaces a file; nil means atomicfile.Write
	commits func(path string) (commitlog.File, error) // opens a commit log; nil means [commitlog.Open]
}

// ErrInUse means that another process has a file open.
var ErrInUse = errors.New("another process has it open: a gateway that is running")

// lockTimeout is how long opening a file waits for a lock that another process holds.
const lockTimeout = 500 * time.Millisecond

// Open opens the store in a file, and creates the file if it does not exist. A file that cannot be
// read, for example after a power failure, is renamed to aside and replaced with an empty store;
// otherwise aside is empty.
func Open(o Options) (file *File, aside string, err error) {
	f := &File{path: o.Path, save: o.write, now: o.Now, clock: o.Clock, role: role{follows: o.Follows}}
	if f.clock == nil && f.now == nil {
		f.clock = NewClock(time.Time{}, ClockSources{})
	}
	if f.clock != nil {
		f.now = f.clock.Now
	}
	if f.save == nil {
		f.save = func(path string, text []byte) error { return atomicfile.Write(path, text, nil) }
	}
	f.eraser.kinds = o.Erase
	f.commits = commitlog.Log{Path: commitsOf(o.Path), Open: o.commits, AfterSync: o.AfterSync}
	f.recent = newRecent()
	f.failed = func(err error) { f.note(err, func(*State) {}) }
	f.db, err = open(o.Path)
	if err != nil && damaged(o.Path, err) {
		aside = o.Path + ".damaged-" + f.now().UTC().Format("20060102T150405Z")
		if err = setAside(o.Path, aside); err == nil {
			f.db, err = open(o.Path)
		}
	}
	if errors.Is(err, berrors.ErrTimeout) {
		err = ErrInUse
	}
	if err != nil {
		return nil, aside, fmt.Errorf("store %s: %w", o.Path, err)
	}
	if err = f.begin(aside != ""); err != nil {
		return nil, aside, errors.Join(fmt.Errorf("store %s: %w", o.Path, err), f.endCommits(false), f.db.Close())
	}
	if len(o.Erase) > 0 {
		f.eraseFree()
	}
	return f, aside, nil
}

// begin determines the identity and the point of the store in the file. fresh means that the file
// is new and replaces a damaged one.
func (f *File) begin(fresh bool) (err error) {
	removeBeside(f.path)
	if f.creation, err = created(f.db); err != nil {
		return err
	}
	if err = f.replay(); err != nil {
		return err
	}
	if !f.role.follows {
		return f.compare(fresh)
	}
	return f.see(context.Background(), func(v view) error {
		_, at, err := v.point()
		if err == nil && f.clock != nil {
			f.clock.Raise(at)
		}
		return err
	})
}

// setAside renames a file that cannot be read, together with its commit log.
func setAside(path, aside string) error {
	err := os.Rename(commitsOf(path), commitsOf(aside))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(path, aside)
}

// open opens a file for writing, after reading all of it.
func open(path string) (*bbolt.DB, error) { return openAs(path, false) }

// openWhole opens a file for reading, including the content of its commit log. No process may have
// the file open.
func openWhole(path string) (*bbolt.DB, error) {
	if _, err := os.Stat(commitsOf(path)); err == nil {
		db, err := open(path)
		if err == nil {
			err = errors.Join(putLeft(db, path), db.Close())
		}
		if err != nil {
			return nil, err
		}
	}
	return openAs(path, true)
}

// openAs opens a file and reads all of it. Package bbolt may panic on a damaged file, or read
// beyond the mapped file.
func openAs(path string, readOnly bool) (db *bbolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: %v", errDamaged, reason)
		}
		if err != nil && db != nil {
			db, err = nil, errors.Join(err, db.Close())
		}
	}()
	db, err = bbolt.Open(path, 0o600, &bbolt.Options{
		ReadOnly: readOnly, Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, PageSize: newPages,
	})
	if err != nil {
		return nil, err
	}
	db.AllocSize = growsBy
	return db, db.View(func(tx *bbolt.Tx) error {
		if err := checkStructure(tx); err != nil {
			return err
		}
		var found error
		for err := range tx.Check() { // read to the end, because Check reads the mapped file until then
			found = cmp.Or(found, fmt.Errorf("%w: %w", errDamaged, err))
		}
		return found
	})
}

// How a file takes space. Values of 500 to 1,000 bytes leave a quarter of a page of 4 KiB empty.
const (
	newPages = 8 << 10 // size of a page of a new file; an existing file keeps its own
	growsBy  = 4 << 20 // a larger file grows by this much
)

// damaged reports whether a file that could not be opened can never be opened, unlike one that
// another process has open or that may not be read.
func damaged(path string, err error) bool {
	for _, lasting := range []error{errDamaged, berrors.ErrInvalid, berrors.ErrChecksum,
		berrors.ErrVersionMismatch, io.ErrUnexpectedEOF} {
		if errors.Is(err, lasting) {
			return true
		}
	}
	info, statErr := os.Stat(path)
	return statErr == nil && info.Mode().IsRegular() && info.Size() < smallest
}

// smallest is the smallest page size. A file has several pages.
const smallest = 4096

const headerLength = 16

// encode returns a value with its revision and expiry in front of it.
func encode(value []byte, revision Revision, expires time.Time) []byte {
	stored := make([]byte, headerLength, headerLength+len(value))
	binary.BigEndian.PutUint64(stored, uint64(revision))
	binary.BigEndian.PutUint64(stored[8:], end(expires))
	return append(stored, value...)
}

// end returns an expiry time in nanoseconds; 0 means never.
func end(expires time.Time) uint64 {
	if expires.IsZero() {
		return 0
	}
	return uint64(expires.UnixNano())
}

// fromEnd returns the time that end has encoded.
func fromEnd(end uint64) time.Time {
	if end == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(end))
}

// decode returns a copy, because memory from bbolt is only valid during its transaction.
func decode(key, stored []byte) (Entry, error) {
	if len(stored) < headerLength {
		return Entry{}, fmt.Errorf("%w: a value has no header", errDamaged)
	}
	return Entry{
		Key: string(key), Value: bytes.Clone(stored[headerLength:]),
		Revision: Revision(binary.BigEndian.Uint64(stored)), Expires: fromEnd(binary.BigEndian.Uint64(stored[8:])),
	}, nil
}

// hasExpired reports whether a stored value has expired. A damaged value never has.
func hasExpired(stored []byte, now time.Time) bool {
	return len(stored) >= headerLength &&
		Entry{Expires: fromEnd(binary.BigEndian.Uint64(stored[8:]))}.expired(now)
}

func (e Entry) expired(now time.Time) bool { return !e.Expires.IsZero() && !now.Before(e.Expires) }

func (f *File) Get(ctx context.Context, kind Kind, key string) (found Entry, err error) {
	err = f.see(ctx, func(v view) error {
		found, err = v.entry(kind, key, f.now())
		return err
	})
	return found, err
}

// entry returns a value, or [ErrAbsent].
func (v view) entry(kind Kind, key string, now time.Time) (Entry, error) {
	stored := v.get(kind, key)
	if stored == nil {
		return Entry{}, ErrAbsent
	}
	e, err := decode([]byte(key), stored)
	if err == nil && e.expired(now) {
		err = ErrAbsent
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

func (f *File) Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error {
	return inPages(prefix, func(from string, most int) (page page, err error) {
		err = f.see(ctx, func(v view) error {
			page, err = f.read(ctx, v.ascend(kind, from), []byte(prefix), most)
			page.next += "\x00" // the least key that is greater
			return err
		})
		return page, err
	}, visit)
}

func (f *File) RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error {
	return inPages(before, func(before string, most int) (page page, err error) {
		err = f.see(ctx, func(v view) error {
			page, err = f.read(ctx, v.descend(kind, before), nil, most)
			return err
		})
		return page, err
	}, visit)
}

// read reads a page of values that have not expired. The page's next is its last key.
func (f *File) read(ctx context.Context, next steps, prefix []byte, most int) (page page, err error) {
	now, size := f.now(), 0
	for key, stored := next(); key != nil && bytes.HasPrefix(key, prefix); key, stored = next() {
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

func closed(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

func (f *File) State() State {
	f.mu.Lock()
	state := f.state
	f.mu.Unlock()
	if info, err := os.Stat(f.path); err == nil {
		state.Bytes = info.Size()
	}
	return state
}

// Close waits until the current batch is written. Waiting calls are refused.
func (f *File) Close() error {
	f.mu.Lock()
	opened := !f.closed
	f.closed = true
	f.leave(ErrClosed)
	writer := f.writer
	f.mu.Unlock()
	waitFor(writer)
	f.eraser.stop()
	var err error
	if opened {
		err = f.endCommits(len(f.eraser.kinds) > 0)
		if f.head.Creation != "" {
			err = errors.Join(err, f.writeHead())
		}
	}
	err = errors.Join(err, f.db.Close())
	f.bells.close()
	return err
}

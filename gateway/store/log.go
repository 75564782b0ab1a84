package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// The identity of a store is a value with a header, like all other values. Each log is a bucket within one
// common bucket, because the sequence of a log outlives its entries.
var (
	revisionBucket = []byte("revision")
	storeBucket    = []byte("store")
	creationKey    = []byte("creation")
	logsBucket     = []byte("logs")
)

// created returns the identity of the store in a file. It creates one for a new file, or a file of an earlier
// version, which has none.
func created(db *bbolt.DB) (creation string, err error) {
	err = db.View(func(tx *bbolt.Tx) (err error) {
		creation, err = creationOf(tx)
		return err
	})
	if err != nil || creation != "" {
		return creation, err
	}
	return recreate(db, 0)
}

// creationOf returns the identity of the store in a file, or "" if it has none.
func creationOf(tx *bbolt.Tx) (string, error) {
	b := tx.Bucket(storeBucket)
	if b == nil {
		return "", nil
	}
	stored := b.Get(creationKey)
	if stored == nil {
		return "", nil
	}
	e, err := decode(creationKey, stored)
	return string(e.Value), err
}

// recreate gives the store in a file a new identity. The next revision will be greater than the given one.
func recreate(db *bbolt.DB, than Revision) (creation string, err error) {
	creation = uuid.Must(uuid.NewV7()).String()
	return creation, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(storeBucket)
		if err != nil {
			return err
		}
		counter, err := tx.CreateBucketIfNotExists(revisionBucket)
		if err != nil {
			return err
		}
		if err = counter.SetSequence(max(counter.Sequence(), uint64(than))); err != nil {
			return err
		}
		return b.Put(creationKey, encode([]byte(creation), 0, time.Time{}))
	})
}

// oldLines returns the changes that remove expired entries from the beginnings of logs.
func oldLines(tx *bbolt.Tx, now time.Time) (changes []Change, err error) {
	all := tx.Bucket(logsBucket)
	if all == nil {
		return nil, nil
	}
	err = all.ForEachBucket(func(name []byte) error {
		through, cursor := uint64(0), all.Bucket(name).Cursor()
		for key, stored := cursor.First(); key != nil && hasExpired(stored, now); key, stored = cursor.Next() {
			through = binary.BigEndian.Uint64(key)
		}
		if through > 0 {
			changes = append(changes, Change{Log: Log(name), Through: through})
		}
		return nil
	})
	return changes, err
}

func (f *File) Log(ctx context.Context, log Log, after Position, visit func(Appended) bool) error {
	return logInPages(after, func(after Position, most int) (page logPage, err error) {
		err = f.see(ctx, func(v view) error {
			page, err = f.readLog(v.log(log), after, most)
			return err
		})
		return page, err
	}, visit)
}

// readLog reads a page of a log.
func (f *File) readLog(log viewedLog, after Position, most int) (page logPage, err error) {
	now, next, kept := f.now(), log.from(0), log.last+1 // kept is the sequence of the oldest kept entry
	sequence, stored := next()
	for ; stored != nil; sequence, stored = next() {
		e, err := decode(nil, stored)
		if err != nil {
			return page, err
		}
		if !e.expired(now) {
			kept = sequence
			break
		}
	}
	if err = within(after, f.creation, kept, log.last); err != nil {
		return page, err
	}
	if after.Sequence >= kept {
		next = log.from(after.Sequence + 1)
		sequence, stored = next()
	}
	for size := 0; stored != nil; sequence, stored = next() {
		e, err := decode(nil, stored)
		if err != nil {
			return page, err
		}
		page.entries = append(page.entries, Appended{Position{f.creation, sequence}, e.Value})
		if size += len(e.Value); len(page.entries) >= most || size >= pageSize {
			page.more = true
			break
		}
	}
	return page, nil
}

func (f *File) End(ctx context.Context, log Log) (end Position, err error) {
	err = f.see(ctx, func(v view) error {
		end = Position{Creation: f.creation, Sequence: v.log(log).last}
		return nil
	})
	return end, err
}

func (f *File) Appends(log Log) <-chan struct{} { return f.bells.wait(log) }

// bells wake goroutines that wait for appended entries or for the next batch. The zero value is
// ready.
type bells struct {
	mu      sync.Mutex // guards the fields below
	waiting map[Log]chan struct{}
	any     chan struct{} // closed with the next batch; nil if nobody waits for it
	closed  bool
}

// next returns a channel that is closed with the next batch, regardless of its changes.
func (b *bells) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.any == nil {
		b.any = make(chan struct{})
		if b.closed {
			close(b.any)
		}
	}
	return b.any
}

func (b *bells) wait(log Log) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[log] == nil {
		if b.waiting == nil {
			b.waiting = map[Log]chan struct{}{}
		}
		b.waiting[log] = make(chan struct{})
		if b.closed {
			close(b.waiting[log])
		}
	}
	return b.waiting[log]
}

// ring wakes goroutines that wait for the appended entries.
func (b *bells) ring(changes []Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.any != nil && !b.closed {
		close(b.any)
		b.any = nil
	}
	for i := range changes {
		c := &changes[i]
		if bell := b.waiting[c.Log]; c.Log != "" && c.Value != nil && bell != nil && !b.closed {
			close(bell)
			delete(b.waiting, c.Log)
		}
	}
}

// close wakes all current and future waiters.
func (b *bells) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	if b.any != nil {
		close(b.any)
	}
	for _, bell := range b.waiting {
		close(bell)
	}
}

// Drivers read in pages, and call visitors between them. Otherwise a visitor that uses the store
// would deadlock, and a slow one would block other callers.

const (
	firstPage = 16 // entries
	mostPage  = 256
	pageSize  = 1 << 20 // bytes of values after which a page ends
)

// page is a part of a range. more reports whether another page follows, which begins with next.
type page struct {
	entries []Entry
	next    string
	more    bool
}

// inPages calls visit with the entries of all pages, beginning with the page at from.
func inPages(
	from string, read func(from string, most int) (page, error), visit func(Entry) bool,
) error {
	for most := firstPage; ; most = min(most*4, mostPage) {
		found, err := read(from, most)
		if err != nil {
			return err
		}
		for _, e := range found.entries {
			if !visit(e) {
				return nil
			}
		}
		if !found.more {
			return nil
		}
		from = found.next
	}
}

// logPage is a part of a log. more reports whether another page may follow.
type logPage struct {
	entries []Appended
	more    bool
}

// logInPages calls visit with the entries of all pages after a position.
func logInPages(
	after Position, read func(after Position, most int) (logPage, error), visit func(Appended) bool,
) error {
	for most := firstPage; ; most = min(most*4, mostPage) {
		found, err := read(after, most)
		if err != nil {
			return err
		}
		for _, e := range found.entries {
			if !visit(e) {
				return nil
			}
			after = e.Position
		}
		if !found.more {
			return nil
		}
	}
}

// within returns nil if the log still has all entries after a position, or [ErrPosition]. kept is
// the sequence of the oldest entry that is kept, and last the sequence of the last entry appended.
func within(after Position, creation string, kept, last uint64) error {
	if after == (Position{}) || after.Creation == creation && after.Sequence+1 >= kept &&
		after.Sequence <= last {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrPosition, after)
}

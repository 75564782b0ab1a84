package store

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// The identity of a store is a value with a header, like all others. Logs are buckets
// in one bucket: their sequence outlives their entries.
var (
	revisionBucket = []byte("revision")
	storeBucket    = []byte("store")
	creationKey    = []byte("creation")
	logsBucket     = []byte("logs")
)

// created returns the identity of the store in a file, and gives it one if it has none,
// being new or of an earlier version.
func created(db *bbolt.DB) (creation string, err error) {
	read := func(tx *bbolt.Tx) error {
		creation = ""
		if b := tx.Bucket(storeBucket); b != nil {
			if stored := b.Get(creationKey); stored != nil {
				e, err := decode(creationKey, stored)
				creation = string(e.Value)
				return err
			}
		}
		return nil
	}
	if err = db.View(read); err != nil || creation != "" {
		return creation, err
	}
	return recreate(db, 0)
}

// recreate gives the store in a file a new identity, and revisions that are greater than
// one.
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

// changeLog appends to a log, or removes what is at its beginning, and returns how many
// entries it has removed.
func changeLog(tx *bbolt.Tx, c *Change, revision Revision) (removed int, err error) {
	all, err := tx.CreateBucketIfNotExists(logsBucket)
	if err != nil {
		return 0, err
	}
	log, err := all.CreateBucketIfNotExists([]byte(c.Log))
	if err != nil {
		return 0, err
	}
	if c.Value == nil {
		return cut(log, func(sequence uint64, _ []byte) bool { return sequence <= c.Through })
	}
	sequence, err := log.NextSequence()
	if err != nil {
		return 0, err
	}
	return 0, log.Put(binary.BigEndian.AppendUint64(nil, sequence), encode(c.Value, revision, c.Expires))
}

// cut removes entries from the beginning of a log to the first that shall stay.
func cut(log *bbolt.Bucket, old func(sequence uint64, stored []byte) bool) (removed int, err error) {
	var keys [][]byte // a cursor must not skip what is removed under it
	cursor := log.Cursor()
	for key, stored := cursor.First(); key != nil && old(binary.BigEndian.Uint64(key), stored); key, stored = cursor.Next() {
		keys = append(keys, append([]byte(nil), key...))
	}
	for _, key := range keys {
		if err = log.Delete(key); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// oldLines returns the changes that remove what has expired at the beginnings of logs.
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
		err = f.viewLog(ctx, log, func(b *bbolt.Bucket) error {
			page, err = f.readLog(b, after, most)
			return err
		})
		return page, err
	}, visit)
}

// readLog reads a page of a log, of which the bucket is nil if there is none.
func (f *File) readLog(b *bbolt.Bucket, after Position, most int) (page logPage, err error) {
	if b == nil {
		return page, within(after, f.creation, 1, 0)
	}
	now, cursor, kept := f.now(), b.Cursor(), b.Sequence()+1 // of the oldest that is kept
	key, stored := cursor.First()
	for ; key != nil; key, stored = cursor.Next() {
		e, err := decode(nil, stored)
		if err != nil {
			return page, err
		}
		if !e.expired(now) {
			kept = binary.BigEndian.Uint64(key)
			break
		}
	}
	if err = within(after, f.creation, kept, b.Sequence()); err != nil {
		return page, err
	}
	if after.Sequence >= kept {
		key, stored = cursor.Seek(binary.BigEndian.AppendUint64(nil, after.Sequence+1))
	}
	for size := 0; key != nil; key, stored = cursor.Next() {
		e, err := decode(nil, stored)
		if err != nil {
			return page, err
		}
		page.entries = append(page.entries, Appended{Position{f.creation, binary.BigEndian.Uint64(key)}, e.Value})
		if size += len(e.Value); len(page.entries) >= most || size >= pageSize {
			page.more = true
			break
		}
	}
	return page, nil
}

func (f *File) End(ctx context.Context, log Log) (end Position, err error) {
	err = f.viewLog(ctx, log, func(b *bbolt.Bucket) error {
		end = Position{Creation: f.creation}
		if b != nil {
			end.Sequence = b.Sequence()
		}
		return nil
	})
	return end, err
}

// viewLog reads a log in one transaction; the bucket is nil if there is none yet.
func (f *File) viewLog(ctx context.Context, log Log, read func(*bbolt.Bucket) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return closed(f.viewAll(func(tx *bbolt.Tx) error {
		all := tx.Bucket(logsBucket)
		if all == nil {
			return read(nil)
		}
		return read(all.Bucket([]byte(log)))
	}))
}

func (f *File) Appends(log Log) <-chan struct{} { return f.bells.wait(log) }

// bells tell those who wait that something was appended. The zero value is ready.
type bells struct {
	mu      sync.Mutex // guards the fields below
	waiting map[Log]chan struct{}
	any     chan struct{} // closed with the next batch; nil: nobody waits for it
	closed  bool
}

// next returns a channel that is closed with the next batch, whatever that changes.
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

// ring wakes those who wait for what was appended.
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

// close wakes everyone, now and later.
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

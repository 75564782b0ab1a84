package store

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"adgateway/gateway/store/commitlog"
)

// durable is the content of a store in a file. While the file decides changes, a batch is stored as
// soon as it is in the commit log next to the file, which takes a single sync. Its changes are kept
// in memory until they are put into the file, together with the changes of later batches, in one
// transaction. So the file always has the state of a complete transaction. After a crash, the
// commit log has all later batches, and they are put into the file when it is opened again.
//
// A batch in the commit log names its store and the point in the hash chain after the batch, so a batch of
// another store or of an earlier round is never mistaken for the next one.
type durable struct {
	db *bbolt.DB

	pages sync.RWMutex // held while the file is read, because reads may need pages that have since been freed

	writing  sync.Mutex // held during writes; guards the fields below
	creation string
	commits  commitlog.Log
	idle     *time.Timer // puts recent into the file when it fires; nil if recent is empty
	ended    bool        // the file is closed, or about to be
	failed   func(error) // records why recent could not be put into the file

	reading sync.RWMutex // guards recent; changing recent also requires writing to be held
	recent  *recent      // changes that are not in the file yet
}

// idleAfter is the time without a new batch after which the content of the commit log is put into
// the file.
const idleAfter = 5 * time.Second

// mostRemoved is the number of removed values and log entries after which recent is put into the
// file. Removals take little space in the commit log, but each may rewrite a page of the file, and other batches
// wait meanwhile.
const mostRemoved = 300

// commitsOf returns the path of a store's commit log.
func commitsOf(path string) string { return path + ".commits" }

// see calls read with a consistent view of the store. read must be short, because nothing is written
// meanwhile.
func (d *durable) see(ctx context.Context, read func(view) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.pages.RLock()
	defer d.pages.RUnlock()
	d.reading.RLock()
	defer d.reading.RUnlock()
	return closed(d.db.View(func(tx *bbolt.Tx) error { return read(view{tx, []*recent{d.recent}}) }))
}

// viewAll calls read with a transaction that covers the whole store. read may be slow, because the store can
// be written meanwhile.
func (d *durable) viewAll(read func(*bbolt.Tx) error) error {
	d.pages.RLock()
	defer d.pages.RUnlock()
	tx, err := d.beginAll()
	if err != nil {
		return closed(err)
	}
	return errors.Join(read(tx), tx.Rollback())
}

// beginAll puts recent into the file if needed, and begins a read transaction.
func (d *durable) beginAll() (*bbolt.Tx, error) {
	d.reading.RLock()
	if d.recent.empty() {
		defer d.reading.RUnlock()
		return d.db.Begin(false)
	}
	d.reading.RUnlock()
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := d.putRecent(); err != nil {
		return nil, err
	}
	return d.db.Begin(false)
}

// commit stores a batch of a file that decides changes. first reports whether it is the oldest
// batch that is not in the file. After any error but [commitlog.ErrInDoubt] the batch is not
// stored. d.writing is held.
func (d *durable) commit(batch []byte, after *recent) (first bool, err error) {
	text := encodeCommit(&commit{d.creation, after.at, after.time, batch})
	if !d.commits.Fits(len(text)) || d.recent.removed >= mostRemoved {
		if err = d.putRecent(); err != nil {
			return false, err
		}
	}
	if err = d.commits.Append(text); err != nil {
		return false, err
	}
	first = d.recent.empty()
	d.reading.Lock()
	d.recent.take(after)
	d.reading.Unlock()
	if d.idle == nil && !d.ended {
		d.idle = time.AfterFunc(idleAfter, d.putIdle)
	}
	return first, nil
}

// putIdle puts recent into the file. If that fails, it is retried later.
func (d *durable) putIdle() {
	d.writing.Lock()
	defer d.writing.Unlock()
	if d.ended || d.idle == nil {
		return
	}
	if err := d.putRecent(); err != nil {
		d.failed(err)
		d.idle = time.AfterFunc(idleAfter, d.putIdle)
	}
}

// putRecent puts recent into the file. d.writing is held.
func (d *durable) putRecent() error {
	if d.recent.empty() {
		return nil
	}
	if err := d.db.Update(d.recent.put); err != nil {
		return closed(err)
	}
	d.reading.Lock()
	d.recent = newRecent()
	d.reading.Unlock()
	d.commits.Restart()
	if d.idle != nil {
		d.idle.Stop()
		d.idle = nil
	}
	return nil
}

// allPut calls putRecent for a caller that does not hold d.writing.
func (d *durable) allPut() error {
	d.reading.RLock()
	empty := d.recent.empty()
	d.reading.RUnlock()
	if empty {
		return nil
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	return d.putRecent()
}

// eraseCommits puts recent into the file and overwrites the commit log.
func (d *durable) eraseCommits() error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := d.putRecent(); err != nil {
		return err
	}
	return d.commits.Erase()
}

// endCommits closes the commit log, and removes it if the file has everything. If erase is set, the
// log is overwritten first.
func (d *durable) endCommits(erase bool) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.ended = true
	if d.idle != nil {
		d.idle.Stop()
	}
	err := d.putRecent()
	if err == nil && erase {
		err = d.commits.Erase()
	}
	if err != nil {
		return errors.Join(err, d.commits.Close())
	}
	return d.commits.Remove()
}

// replay puts batches that an earlier process left in the commit log into the file, or keeps them
// in memory while the file has no room.
func (d *durable) replay() error {
	d.writing.Lock()
	defer d.writing.Unlock()
	err := d.db.View(func(tx *bbolt.Tx) (err error) {
		d.recent, err = left(tx, &d.commits, d.creation)
		return err
	})
	if err != nil {
		return err
	}
	if err = d.putRecent(); err != nil {
		d.failed(err)
		d.idle = time.AfterFunc(idleAfter, d.putIdle)
	}
	return nil
}

// commit is a batch in the commit log.
type commit struct {
	creation string // identity of the store
	at       Point  // after the batch
	time     time.Time
	batch    []byte
}

func encodeCommit(c *commit) []byte {
	to := binary.BigEndian.AppendUint64(make([]byte, 0, 128+len(c.batch)), c.at.Sequence)
	to = binary.BigEndian.AppendUint64(to, uint64(c.time.UnixNano()))
	to = appendText(append(to, c.at.Hash[:]...), c.creation)
	return append(to, c.batch...)
}

func decodeCommit(text []byte) (c commit, err error) {
	from := reader{left: text}
	c.at.Sequence, c.time = from.number(), time.Unix(0, int64(from.number()))
	copy(c.at.Hash[:], from.take(len(c.at.Hash)))
	c.creation = string(from.bytes())
	c.batch = from.left
	return c, from.err
}

// left returns the changes in a file's commit log that the file does not have.
func left(tx *bbolt.Tx, from *commitlog.Log, creation string) (*recent, error) {
	found := newRecent()
	at, _, err := readPoint(tx)
	if err != nil {
		return found, err
	}
	v, over := view{tx, []*recent{found}}, false
	return found, from.Left(func(text []byte) (taken bool, err error) {
		one, err := decodeCommit(text)
		if over = over || err != nil || one.creation != creation; over {
			return false, nil // it belongs to another store
		}
		if one.at.Sequence <= at.Sequence {
			return false, nil // the file has it
		}
		next := at.after(one.batch, one.time)
		if over = one.at != next; over {
			return false, nil
		}
		batch, err := DecodeBatch(one.batch)
		if err == nil {
			err = v.applyAll(batch)
		}
		at, found.at, found.time = next, next, one.time
		return true, err
	})
}

// putLeft puts the content of a file's commit log into the file, and removes the log. No process
// may have the file open.
func putLeft(db *bbolt.DB, path string) error {
	from := &commitlog.Log{Path: commitsOf(path)}
	var found *recent
	err := db.View(func(tx *bbolt.Tx) error {
		creation, err := creationOf(tx)
		if err == nil {
			found, err = left(tx, from, creation)
		}
		return err
	})
	if err == nil && !found.empty() {
		err = db.Update(found.put)
	}
	if err != nil {
		return err
	}
	return from.Remove()
}

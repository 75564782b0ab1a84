package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/store/commitlog"
)

// ErrCopy means that something is no whole copy of a store, or not the one that is wanted.
var ErrCopy = errors.New("this is not the copy of a store")

// Digest returns the SHA-256 of what the store holds, with its identity, revisions and
// positions, and the place up to which it was applied. Files that have applied the same
// entries, from the same copy on, have the same.
func (f *File) Digest(ctx context.Context) (at Point, digest Hash, err error) {
	sum := sha256.New()
	err = f.viewAll(func(tx *bbolt.Tx) error {
		if at, _, err = readPoint(tx); err != nil {
			return err
		}
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return addBucket(ctx, sum, name, b, bytes.Equal(name, storeBucket))
		})
	})
	return at, Hash(sum.Sum(nil)), closed(err)
}

// addBucket adds a bucket to a sum, but for the place in the bucket of the store.
func addBucket(ctx context.Context, sum hash.Hash, name []byte, b *bbolt.Bucket, store bool) error {
	add := func(what byte, parts ...[]byte) {
		sum.Write([]byte{what})
		for _, part := range parts {
			sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			sum.Write(part)
		}
	}
	add('b', name, binary.BigEndian.AppendUint64(nil, b.Sequence()))
	err := b.ForEach(func(key, stored []byte) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case stored == nil:
			return addBucket(ctx, sum, key, b.Bucket(key), false)
		case !store || !bytes.Equal(key, pointKey):
			add('v', key, stored)
		}
		return nil
	})
	add('e')
	return err
}

// CopyTo writes a copy of the store as it is at one moment, which [Install] takes, and
// returns its place. The store may be used meanwhile, however slow the writer is: the copy is
// beside the file until it has been written.
func (f *File) CopyTo(ctx context.Context, w io.Writer) (at Point, err error) {
	beside, err := createBeside(f.path)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, beside.Close(), os.Remove(beside.Name())) }()
	err = f.viewAll(func(tx *bbolt.Tx) error {
		if at, _, err = readPoint(tx); err != nil {
			return err
		}
		return writeAll(ctx, tx, beside)
	})
	if err != nil {
		return at, closed(err)
	}
	if _, err = beside.Seek(0, io.SeekStart); err != nil {
		return at, err
	}
	return at, summed(ctx, w, func(w io.Writer) error {
		_, err := io.Copy(w, beside)
		return err
	})
}

// writeAll writes the file of a transaction.
func writeAll(ctx context.Context, tx *bbolt.Tx, w io.Writer) error {
	_, err := tx.WriteTo(untilEnd{ctx, w})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// summed lets write write, and then writes the sum of that.
func summed(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	sum := sha256.New()
	err := write(untilEnd{ctx, io.MultiWriter(w, sum)})
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	return err
}

// CopyFile is [File.CopyTo] for the store in a file that no process has open, and which it
// does not change. It fails with [ErrInUse] if one has.
func CopyFile(ctx context.Context, path string, w io.Writer) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db, err := openWhole(path)
	if errors.Is(err, berrors.ErrTimeout) {
		err = ErrInUse
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return summed(ctx, w, func(w io.Writer) error { return writeAll(ctx, tx, w) })
	})
	return errors.Join(err, db.Close())
}

// untilEnd writes until ctx ends.
type untilEnd struct {
	ctx context.Context
	w   io.Writer
}

func (u untilEnd) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.w.Write(p)
}

// Install puts a copy that [File.CopyTo] has written in the place of the store in a file, or
// where there is none yet, and reads r to its end. The store must not be open. Install fails
// with [ErrCopy] unless the copy is whole and at a place; the zero point is any. After an
// error what was there is there.
func Install(path string, r io.Reader, want Point) error {
	return install(path, r, want, func() error {
		// The head belongs to the store before.
		if err := os.Remove(HeadOf(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Restore is [Install] for a copy of any place that may be older than what the store has
// acknowledged. A store that is opened after it says [ErrRewound], and is another store. The head
// beside the file tells it what was acknowledged.
func Restore(path string, r io.Reader) error {
	return install(path, r, Point{}, func() error {
		known, err := readHead(path)
		if err != nil {
			return err
		}
		said := head{} // the store that was there is another one
		if known != nil {
			said.Revision = known.Revision
		}
		text, err := said.text()
		if err != nil {
			return err
		}
		return atomicfile.Write(HeadOf(path), text, nil)
	})
}

// install puts a copy in the place of a store; before is called when all is checked.
func install(path string, r io.Reader, want Point, before func() error) (err error) {
	beside, err := createBeside(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = beside.Close() // it may be closed already
			err = errors.Join(err, os.Remove(beside.Name()))
		}
	}()
	if _, err = io.Copy(beside, r); err != nil {
		return err
	}
	if err = cutSum(beside); err != nil {
		return err
	}
	if err = errors.Join(beside.Sync(), beside.Close()); err != nil {
		return err
	}
	if err = checkCopy(beside.Name(), want); err != nil {
		return err
	}
	if err = Unused(path); err != nil {
		return err
	}
	if err = (&commitlog.Log{Path: commitsOf(path)}).Remove(); err != nil { // of a store that is damaged
		return err
	}
	if err = before(); err != nil {
		return err
	}
	return atomicfile.Replace(beside.Name(), path)
}

// cutSum removes the sum at the end of a copy. It fails unless that is the sum of the rest.
func cutSum(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - sha256.Size
	if size < 0 {
		return fmt.Errorf("%w: it is too short", ErrCopy)
	}
	sum, said := sha256.New(), make([]byte, sha256.Size)
	if _, err = io.Copy(sum, io.NewSectionReader(file, 0, size)); err != nil {
		return err
	}
	if _, err = file.ReadAt(said, size); err != nil {
		return err
	}
	if !bytes.Equal(said, sum.Sum(nil)) {
		return fmt.Errorf("%w: it is not whole", ErrCopy)
	}
	return file.Truncate(size)
}

// checkCopy returns why a file is not the store that is wanted.
func checkCopy(path string, want Point) error {
	db, err := open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCopy, err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		at, _, err := readPoint(tx)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrCopy, err)
		case want != Point{} && at != want:
			return fmt.Errorf("%w: it is after entry %d with hash %s, not after %d with %s",
				ErrCopy, at.Sequence, at.Hash, want.Sequence, want.Hash)
		case tx.Bucket(storeBucket) == nil || tx.Bucket(storeBucket).Get(creationKey) == nil:
			return fmt.Errorf("%w: it has no identity", ErrCopy)
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

// Unused returns [ErrInUse] if a process has the store in a file open. One that is damaged,
// or not there, is not in use. What a process that was killed has left beside the file is put into it.
func Unused(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("store %s: %w", path, ErrInUse)
	case err != nil:
		return nil
	}
	return errors.Join(putLeft(db, path), db.Close())
}

// copyMark is what the names of files contain that hold a copy for a while.
const copyMark = ".copy-"

func createBeside(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), filepath.Base(path)+copyMark+"*")
}

// removeBeside removes what a process that ended has left beside a store.
func removeBeside(path string) {
	folder := filepath.Dir(path)
	found, _ := os.ReadDir(folder) // it only takes space
	for _, entry := range found {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+copyMark) {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

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

// ErrCopy means that a file is not a complete copy of a store, or not the expected copy.
var ErrCopy = errors.New("this is not the copy of a store")

// Digest returns the SHA-256 of the store's content, including its identity, revisions and
// positions, and the point up to which batches were applied. Files that started from the same copy
// and have applied the same entries have the same digest.
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

// addBucket adds the content of a bucket to sum. If store is set, the bucket belongs to the store itself,
// whose point is omitted.
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

// CopyTo writes a consistent copy of the store for [Install], and returns its point. The store can
// be used meanwhile, even if w is slow: a temporary copy is kept next to the file until it has been
// written.
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

// summed calls write, and then writes the checksum of the written data.
func summed(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	sum := sha256.New()
	err := write(untilEnd{ctx, io.MultiWriter(w, sum)})
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	return err
}

// CopyFile is like [File.CopyTo], for a store's file that no process has open. It does not change the content
// of the store. It fails with [ErrInUse] if a process has the file open.
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

// untilEnd is a writer that fails once ctx ends.
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

// Install replaces the store in a file with a copy that [File.CopyTo] has written, or creates the
// file, and reads r to its end. The store must not be open. Install fails with [ErrCopy] unless the
// copy is complete and at the point want; a zero point accepts any. After an error the previous
// store is unchanged.
func Install(path string, r io.Reader, want Point) error {
	return install(path, r, want, func() error {
		// The head belongs to the previous store.
		if err := os.Remove(HeadOf(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Restore is like [Install], for a copy at any point, which may lack changes that the store has acknowledged.
// A store that is opened afterwards has a new identity and reports [ErrRewound]. The head file passes on the
// acknowledged revision.
func Restore(path string, r io.Reader) error {
	return install(path, r, Point{}, func() error {
		known, err := readHead(path)
		if err != nil {
			return err
		}
		said := head{} // without an identity, so the restored store counts as another one
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

// install replaces a store with a copy. It calls before once the copy is checked.
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
	if err = (&commitlog.Log{Path: commitsOf(path)}).Remove(); err != nil { // left by a damaged store
		return err
	}
	if err = before(); err != nil {
		return err
	}
	return atomicfile.Replace(beside.Name(), path)
}

// cutSum removes the checksum at the end of a copy. It fails if the checksum does not match.
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

// checkCopy returns an error unless the file is a store at the point want.
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

// Unused returns [ErrInUse] if a process has the store in a file open. A damaged or missing file is
// not in use. If a killed process left a commit log, its content is put into the file.
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

// copyMark is part of the names of temporary copies.
const copyMark = ".copy-"

func createBeside(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), filepath.Base(path)+copyMark+"*")
}

// removeBeside removes files that an ended process left next to a store.
func removeBeside(path string) {
	folder := filepath.Dir(path)
	found, _ := os.ReadDir(folder) // leftovers only take space
	for _, entry := range found {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+copyMark) {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

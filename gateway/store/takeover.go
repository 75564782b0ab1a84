package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// ErrDamaged means that a file is permanently unreadable.
var ErrDamaged = errDamaged

// Stored is a part of a file's content: a value, an entry of a log, or the end of a log.
type Stored struct {
	Kind Kind // of a value
	Key  string

	Log    Log    // of an entry, or of the end
	Number uint64 // sequence of the entry; 0 for the end
	Last   uint64 // for the end: sequence of the last entry ever appended

	Value    []byte
	Revision Revision
	Expires  time.Time
}

// ReadMirror calls visit with the whole content of the mirror in a file, including expired values,
// and returns the identity of its store and the last change that it has. The end of a log comes
// after its entries. The file is not changed. ReadMirror fails with [ErrInUse] if a process has the
// file open, with [ErrDamaged], with [os.ErrNotExist], with [ErrAbsent] if the mirror is empty, and
// with [ErrRewound] if it is behind the last known point of its store.
func ReadMirror(path string, visit func(Stored) error) (at Known, err error) {
	db, err := openToRead(path)
	if err != nil {
		return at, fmt.Errorf("%s: %w", path, err)
	}
	m := &mirror{db: db, path: path}
	err = db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(storeBucket); b != nil && b.Get(creationKey) != nil {
			e, err := decode(creationKey, b.Get(creationKey))
			if err != nil {
				return err
			}
			m.creation = string(e.Value)
		}
		return nil
	})
	if err == nil {
		at, err = m.complete()
	}
	if err == nil {
		err = db.View(func(tx *bbolt.Tx) error { return readAll(tx, visit) })
	}
	return at, errors.Join(err, db.Close())
}

// complete returns the identity of the mirror's store and the mirror's last change, or an error if
// the mirror is behind the last known point.
func (m *mirror) complete() (Known, error) {
	at, err := m.at()
	if err != nil {
		return at, err
	}
	known, err := readKnown(m.path)
	switch {
	case err != nil:
		return at, err
	case at.Sequence == 0:
		return at, fmt.Errorf("%w: the mirror is empty", ErrAbsent)
	case known.Creation != "" && known.Creation != at.Creation:
		return at, fmt.Errorf("%w: the mirror is of another store than was known last", ErrRewound)
	case known.Creation != "" && known.Sequence > at.Sequence:
		return at, fmt.Errorf("%w: the mirror goes up to change %d, and %d was known", ErrRewound,
			at.Sequence, known.Sequence)
	}
	return at, nil
}

// openToRead opens a file for reading. It fails with [ErrInUse] if a process has it open.
func openToRead(path string) (*bbolt.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	db, err := openWhole(path)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrInUse
	case err != nil && !errors.Is(err, ErrDamaged) && damaged(path, err):
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return db, err
}

func readAll(tx *bbolt.Tx, visit func(Stored) error) error {
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		switch string(name) {
		case string(mirrorBucket), string(storeBucket), string(revisionBucket):
			return nil
		case string(logsBucket):
			return b.ForEachBucket(func(log []byte) error { return readEntries(Log(log), b.Bucket(log), visit) })
		}
		return b.ForEach(func(key, stored []byte) error {
			e, err := decode(key, stored)
			if err != nil {
				return err
			}
			one := Stored{Kind: Kind(name), Key: e.Key, Value: e.Value, Revision: e.Revision, Expires: e.Expires}
			return visit(one)
		})
	})
}

func readEntries(log Log, b *bbolt.Bucket, visit func(Stored) error) error {
	err := b.ForEach(func(key, stored []byte) error {
		e, err := decode(key, stored)
		if err == nil && len(key) != 8 {
			err = fmt.Errorf("%w: an entry of a log has no number", errDamaged)
		}
		if err != nil {
			return err
		}
		number := binary.BigEndian.Uint64(key)
		return visit(Stored{Log: log, Number: number, Value: e.Value, Revision: e.Revision, Expires: e.Expires})
	})
	if err != nil {
		return err
	}
	return visit(Stored{Log: log, Last: b.Sequence()})
}

// Build makes a new store in a file that must not exist, with the content that fill puts into it. Values and
// entries keep their revisions, sequences and expiries, and the store continues with greater ones. The store
// gets a new identity, so that positions of other stores are rejected. After an error the file must not be
// used.
func Build(path string, fill func(put func(Stored) error) error) (creation string, err error) {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return "", errors.Join(fmt.Errorf("%s: %w", path, os.ErrExist), err)
	}
	db, err := open(path)
	if err != nil {
		return "", err
	}
	db.NoSync = true // until everything is written
	b := &building{db: db}
	if err = fill(b.put); err == nil {
		err = b.write()
	}
	if err == nil {
		creation, err = recreate(db, b.highest)
	}
	if err == nil {
		err = db.Sync()
	}
	return creation, errors.Join(err, db.Close())
}

// building is a running call of [Build].
type building struct {
	db      *bbolt.DB
	waiting []Stored
	size    int
	highest Revision
}

func (b *building) put(s Stored) error {
	if s.Log == "" {
		if err := (&Change{Kind: s.Kind, Key: s.Key}).check(); err != nil {
			return err
		}
	}
	b.highest = max(b.highest, s.Revision)
	b.waiting = append(b.waiting, s)
	if b.size += len(s.Value) + len(s.Key); b.size < batchSize && len(b.waiting) < MostChanges {
		return nil
	}
	return b.write()
}

// write writes the waiting parts.
func (b *building) write() error {
	err := b.db.Update(func(tx *bbolt.Tx) error {
		for i := range b.waiting {
			if err := b.waiting[i].write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	b.waiting, b.size = b.waiting[:0], 0
	return err
}

func (s *Stored) write(tx *bbolt.Tx) error {
	if s.Log == "" {
		b, err := tx.CreateBucketIfNotExists([]byte(s.Kind))
		if err != nil {
			return err
		}
		return b.Put([]byte(s.Key), encode(s.Value, s.Revision, s.Expires))
	}
	all, err := tx.CreateBucketIfNotExists(logsBucket)
	if err != nil {
		return err
	}
	log, err := all.CreateBucketIfNotExists([]byte(s.Log))
	if err != nil {
		return err
	}
	last := max(log.Sequence(), s.Last, s.Number)
	if err = log.SetSequence(last); err != nil || s.Number == 0 {
		return err
	}
	return log.Put(binary.BigEndian.AppendUint64(nil, s.Number), encode(s.Value, s.Revision, s.Expires))
}

// Holds reports whether the store in a file has a value. It does not change the content of the
// store. A file that does not exist has no values. Holds fails with [ErrInUse] and [ErrDamaged].
func Holds(path string, kind Kind, key string) (bool, error) {
	db, err := openToRead(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	found := false
	err = db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(kind))
		found = b != nil && b.Get([]byte(key)) != nil
		return nil
	})
	return found, errors.Join(err, db.Close())
}

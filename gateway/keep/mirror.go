package keep

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"adgateway/gateway/atomicfile"
)

// Mirror is a copy, in a local file, of a store that is on other machines and tells its
// changes in order. Reads are those of a file; it changes by [Mirror.Follow] only. Its
// writes do not wait for the disk: what a loss of power damages is read anew.
//
// It is safe for concurrent use, but for Restart, Follow and Close.
type Mirror struct {
	f       *File
	known   Known
	writeAt time.Time // when known was written last
}

// Known is what is known of the store that a mirror follows, which outlives the mirror.
type Known struct {
	Creation string    `json:"creation"`
	Sequence uint64    `json:"sequence"` // of the last change that was followed or acknowledged
	At       time.Time `json:"at"`       // when the change of the sequence was made
}

// Arrival is a change of the store that is followed: of a value, of an entry of a log, or
// of how far a log goes.
type Arrival struct {
	Kind Kind // of a value
	Key  string

	Log    Log    // of an entry, or of the end of a log
	Number uint64 // sequence of the entry; 0: the end of the log
	Last   uint64 // the end: sequence of the last entry that was ever appended
	Cut    uint64 // the end: entries up to this one are removed

	Value    []byte // nil: the value is removed
	Revision Revision
	Expires  time.Time
}

var (
	mirrorBucket = []byte("followed")
	sequenceKey  = []byte("sequence")
)

// OpenMirror opens the mirror in a file, or an empty one if there is none or if it is
// damaged. Before anything else [Mirror.Known] is compared with the store, or
// [Mirror.Restart] is called. Nil is [time.Now].
func OpenMirror(path string, now func() time.Time) (*Mirror, error) {
	if now == nil {
		now = time.Now
	}
	db, err := open(path)
	if err != nil && damaged(path, err) {
		if err = os.Remove(path); err == nil {
			db, err = open(path)
		}
	}
	if err != nil {
		return nil, err
	}
	db.NoSync = true
	m := &Mirror{f: &File{db: db, path: path, now: now}}
	if m.known, err = readKnown(path); err == nil {
		m.f.creation, err = created(db)
	}
	var at Known
	if err == nil {
		at, err = m.At()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if m.known.Creation == at.Creation && m.known.Sequence < at.Sequence {
		m.known = at
	}
	return m, nil
}

// readKnown returns what was known of the store when the mirror in a file was used last.
// It is nothing if there is no such file, or none that can be read.
func readKnown(path string) (known Known, err error) {
	text, err := os.ReadFile(HeadOf(path))
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err == nil && json.Unmarshal(text, &known) != nil {
		known = Known{}
	}
	return known, err
}

func (m *Mirror) writeKnown() error {
	text, err := json.Marshal(m.known)
	if err != nil {
		return err
	}
	m.writeAt = time.Now()
	return atomicfile.Write(HeadOf(m.f.db.Path()), append(text, '\n'), nil)
}

// Known returns what is known of the store. It has no creation if nothing is.
func (m *Mirror) Known() Known { return m.known }

// At returns which store the mirror is of, and up to which change.
func (m *Mirror) At() (Known, error) {
	at := Known{Creation: m.f.creation}
	err := m.f.db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(mirrorBucket); b != nil {
			if stored, err := decode(sequenceKey, b.Get(sequenceKey)); err == nil && len(stored.Value) == 16 {
				at.Sequence, at.At = binary.BigEndian.Uint64(stored.Value), time.Unix(0, int64(binary.BigEndian.Uint64(stored.Value[8:])))
			}
		}
		return nil
	})
	return at, closed(err)
}

// Restart empties the mirror, which is of a store from then on.
func (m *Mirror) Restart(creation string) error {
	err := m.f.db.Update(func(tx *bbolt.Tx) error {
		var names [][]byte
		err := tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			names = append(names, append([]byte(nil), name...))
			return nil
		})
		for _, name := range names {
			err = errors.Join(err, tx.DeleteBucket(name))
		}
		b, created := tx.CreateBucketIfNotExists(storeBucket)
		if err = errors.Join(err, created); err != nil {
			return err
		}
		return b.Put(creationKey, encode([]byte(creation), 0, time.Time{}))
	})
	if err != nil {
		return err
	}
	m.f.creation, m.known = creation, Known{Creation: creation}
	return m.writeKnown()
}

// Follow makes changes, which lead to a sequence of the store at a time. Readers see all
// of them or none.
func (m *Mirror) Follow(arrivals []Arrival, sequence uint64, at time.Time) error {
	var rung []Change
	err := m.f.db.Update(func(tx *bbolt.Tx) error {
		for i := range arrivals {
			if err := follow(tx, &arrivals[i]); err != nil {
				return err
			}
			if a := &arrivals[i]; a.Log != "" && a.Number > 0 {
				rung = append(rung, Change{Log: a.Log, Value: a.Value})
			}
		}
		b, err := tx.CreateBucketIfNotExists(mirrorBucket)
		if err != nil {
			return err
		}
		reached := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, sequence), uint64(at.UnixNano()))
		return b.Put(sequenceKey, encode(reached, 0, time.Time{}))
	})
	if err != nil {
		return closed(err)
	}
	m.f.bells.ring(rung)
	if sequence > m.known.Sequence {
		m.known.Creation, m.known.Sequence, m.known.At = m.f.creation, sequence, at
	}
	if time.Since(m.writeAt) >= headEvery {
		_ = m.writeKnown() // the next one is tried again
	}
	return nil
}

func follow(tx *bbolt.Tx, a *Arrival) error {
	if a.Log == "" {
		b, err := tx.CreateBucketIfNotExists([]byte(a.Kind))
		switch {
		case err != nil:
			return err
		case a.Value == nil:
			return b.Delete([]byte(a.Key))
		}
		return b.Put([]byte(a.Key), encode(a.Value, a.Revision, a.Expires))
	}
	all, err := tx.CreateBucketIfNotExists(logsBucket)
	if err != nil {
		return err
	}
	log, err := all.CreateBucketIfNotExists([]byte(a.Log))
	if err != nil {
		return err
	}
	if a.Number > 0 {
		return log.Put(binary.BigEndian.AppendUint64(nil, a.Number), encode(a.Value, a.Revision, a.Expires))
	}
	if _, err = cut(log, func(sequence uint64, _ []byte) bool { return sequence <= a.Cut }); err != nil {
		return err
	}
	return log.SetSequence(max(log.Sequence(), a.Last))
}

// Raw returns a value as it is in the mirror, also if it has expired. It fails with
// [ErrAbsent] if there is none.
func (m *Mirror) Raw(kind Kind, key string) (found Entry, err error) {
	err = m.f.view(context.Background(), kind, func(b *bbolt.Bucket) error {
		if b == nil {
			return ErrAbsent
		}
		stored := b.Get([]byte(key))
		if stored == nil {
			return ErrAbsent
		}
		found, err = decode([]byte(key), stored)
		return err
	})
	return found, err
}

// Kinds returns the kinds of values that there are.
func (m *Mirror) Kinds() (kinds []Kind, err error) {
	err = m.f.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			switch string(name) {
			case string(mirrorBucket), string(storeBucket), string(logsBucket), string(revisionBucket):
			default:
				kinds = append(kinds, Kind(name))
			}
			return nil
		})
	})
	return kinds, closed(err)
}

// Logs returns the logs that there are.
func (m *Mirror) Logs() (logs []Log, err error) {
	err = m.f.db.View(func(tx *bbolt.Tx) error {
		all := tx.Bucket(logsBucket)
		if all == nil {
			return nil
		}
		return all.ForEachBucket(func(name []byte) error {
			logs = append(logs, Log(name))
			return nil
		})
	})
	return logs, closed(err)
}

// Get is that of [Store].
func (m *Mirror) Get(ctx context.Context, kind Kind, key string) (Entry, error) {
	return m.f.Get(ctx, kind, key)
}

// Range is that of [Store].
func (m *Mirror) Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error {
	return m.f.Range(ctx, kind, prefix, visit)
}

// RangeBack is that of [Store].
func (m *Mirror) RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error {
	return m.f.RangeBack(ctx, kind, before, visit)
}

// Log is that of [Store].
func (m *Mirror) Log(ctx context.Context, log Log, after Position, visit func(Appended) bool) error {
	return m.f.Log(ctx, log, after, visit)
}

// End is that of [Store].
func (m *Mirror) End(ctx context.Context, log Log) (Position, error) { return m.f.End(ctx, log) }

// Appends is that of [Store].
func (m *Mirror) Appends(log Log) <-chan struct{} { return m.f.bells.wait(log) }

// Sweep is that of [Store].
func (m *Mirror) Sweep(ctx context.Context) (int, error) { return m.f.Sweep(ctx) }

// Bytes returns the size of the file.
func (m *Mirror) Bytes() int64 { return m.f.State().Bytes }

// Close closes the file.
func (m *Mirror) Close() error {
	if m.f.db.Path() == "" {
		return nil // it is closed
	}
	err := errors.Join(m.writeKnown(), m.f.db.Sync(), m.f.db.Close())
	m.f.bells.close()
	return err
}

package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"time"

	"go.etcd.io/bbolt"
)

// recent holds the changes of batches that are not in the file yet. Its values are encoded as in
// the file, and never modified.
type recent struct {
	at       Point // after the last batch; zero if there is none
	time     time.Time
	revision Revision
	removed  int // number of removed values and log entries
	kinds    map[Kind]*recentKind
	logs     map[Log]*recentLog
}

// recentKind holds the values of a kind that were set or removed.
type recentKind struct {
	by   map[string][]byte // nil if the value was removed
	keys []string          // of by, in order
}

// recentLog holds the entries that were appended to a log or removed from its beginning.
type recentLog struct {
	last    uint64   // sequence of the last entry that was ever appended
	through uint64   // sequence up to which entries were removed
	entries [][]byte // the last ones, up to last
}

func newRecent() *recent {
	return &recent{kinds: map[Kind]*recentKind{}, logs: map[Log]*recentLog{}}
}

// empty reports whether there is no batch.
func (r *recent) empty() bool { return r.at == Point{} }

func (r *recent) kind(kind Kind) *recentKind {
	k := r.kinds[kind]
	if k == nil {
		k = &recentKind{by: map[string][]byte{}}
		r.kinds[kind] = k
	}
	return k
}

// set sets an encoded value, or removes it if stored is nil.
func (k *recentKind) set(key string, stored []byte) {
	if _, known := k.by[key]; !known {
		at, _ := slices.BinarySearch(k.keys, key)
		k.keys = slices.Insert(k.keys, at, key)
	}
	k.by[key] = stored
}

// cut removes entries up to a sequence.
func (l *recentLog) cut(through uint64) {
	l.through = max(l.through, min(through, l.last))
	if first := l.first(); through >= first {
		l.entries = slices.Clone(l.entries[min(through-first+1, uint64(len(l.entries))):])
	}
}

// first returns the sequence of the first entry.
func (l *recentLog) first() uint64 { return l.last + 1 - uint64(len(l.entries)) }

// take adds the changes of later batches.
func (r *recent) take(later *recent) {
	r.at, r.time, r.revision = later.at, later.time, later.revision
	r.removed += later.removed
	for kind, k := range later.kinds {
		own := r.kind(kind)
		for key, stored := range k.by {
			own.set(key, stored)
		}
	}
	for log, l := range later.logs {
		own := r.logs[log]
		if own == nil {
			r.logs[log] = l
			continue
		}
		own.cut(l.through)
		own.entries, own.last = append(own.entries, l.entries...), l.last
		own.through = max(own.through, l.through)
	}
}

// put writes all changes to the file.
func (r *recent) put(tx *bbolt.Tx) error {
	var err error
	if r.revision != 0 {
		err = putRevision(tx, r.revision)
	}
	for kind, k := range r.kinds {
		if err == nil {
			err = k.put(tx, kind)
		}
	}
	for log, l := range r.logs {
		if err == nil {
			err = l.put(tx, log)
		}
	}
	if err != nil {
		return err
	}
	return putPoint(tx, r.at, r.time)
}

// pageFill is the fill ratio of pages with keys that are added in order. Package bbolt would leave
// them half full.
const pageFill = 0.95

func putRevision(tx *bbolt.Tx, revision Revision) error {
	counter, err := tx.CreateBucketIfNotExists(revisionBucket)
	if err != nil {
		return err
	}
	return counter.SetSequence(uint64(revision))
}

func (k *recentKind) put(tx *bbolt.Tx, kind Kind) error {
	b, err := tx.CreateBucketIfNotExists([]byte(kind))
	if err == nil {
		if last, _ := b.Cursor().Last(); len(k.keys) > 0 && k.keys[len(k.keys)-1] > string(last) {
			b.FillPercent = pageFill
		}
	}
	for _, key := range k.keys {
		if err != nil {
			break
		}
		if stored := k.by[key]; stored == nil {
			err = b.Delete([]byte(key))
		} else {
			err = b.Put([]byte(key), stored)
		}
	}
	return err
}

func (l *recentLog) put(tx *bbolt.Tx, log Log) error {
	all, err := tx.CreateBucketIfNotExists(logsBucket)
	if err != nil {
		return err
	}
	b, err := all.CreateBucketIfNotExists([]byte(log))
	if err != nil {
		return err
	}
	b.FillPercent = pageFill
	if err = cut(b, l.through); err != nil {
		return err
	}
	if err = b.SetSequence(l.last); err != nil {
		return err
	}
	for i, stored := range l.entries {
		if err = b.Put(sequenceName(l.first()+uint64(i)), stored); err != nil {
			return err
		}
	}
	return nil
}

// sequenceName returns the key of an entry of a log.
func sequenceName(sequence uint64) []byte { return binary.BigEndian.AppendUint64(nil, sequence) }

// cut removes entries from the beginning of a log, up to a sequence.
func cut(log *bbolt.Bucket, through uint64) error {
	var keys [][]byte // collected first, because a cursor may skip entries while others are removed
	cursor := log.Cursor()
	for key, _ := cursor.First(); key != nil && binary.BigEndian.Uint64(key) <= through; key, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	for _, key := range keys {
		if err := log.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// view is a consistent view of a store: a transaction of its file, and the layers that are not in
// the file yet, latest first.
type view struct {
	tx   *bbolt.Tx
	over []*recent
}

// with returns the view with a later layer.
func (v view) with(later *recent) view {
	return view{v.tx, append([]*recent{later}, v.over...)}
}

func (v view) revision() Revision {
	for _, r := range v.over {
		if r.revision != 0 {
			return r.revision
		}
	}
	return revisionOf(v.tx)
}

// point returns the last point that was applied, and the log time of its batch.
func (v view) point() (Point, time.Time, error) {
	for _, r := range v.over {
		if !r.empty() {
			return r.at, r.time, nil
		}
	}
	return readPoint(v.tx)
}

// get returns an encoded value, or nil if there is none.
func (v view) get(kind Kind, key string) []byte {
	for _, r := range v.over {
		if k := r.kinds[kind]; k != nil {
			if stored, known := k.by[key]; known {
				return stored
			}
		}
	}
	if b := v.tx.Bucket([]byte(kind)); b != nil {
		return b.Get([]byte(key))
	}
	return nil
}

// steps is an iterator over keys and encoded values. After the last one, it returns nil.
type steps func() (key, stored []byte)

// ascend iterates over the values of a kind from a key on.
func (v view) ascend(kind Kind, from string) steps {
	var all []steps
	for _, r := range v.over {
		if k := r.kinds[kind]; k != nil {
			at, _ := slices.BinarySearch(k.keys, from)
			all = append(all, k.steps(at, 1))
		}
	}
	if b := v.tx.Bucket([]byte(kind)); b != nil {
		cursor := b.Cursor()
		key, stored := cursor.Seek([]byte(from))
		all = append(all, stepsFrom(key, stored, cursor.Next))
	}
	return merged(all, 1)
}

// descend iterates over the values of a kind whose keys are less than before, greatest first. An
// empty before means all values.
func (v view) descend(kind Kind, before string) steps {
	var all []steps
	for _, r := range v.over {
		if k := r.kinds[kind]; k != nil {
			at := len(k.keys)
			if before != "" {
				at = sort.SearchStrings(k.keys, before)
			}
			all = append(all, k.steps(at-1, -1))
		}
	}
	if b := v.tx.Bucket([]byte(kind)); b != nil {
		cursor := b.Cursor()
		key, stored := cursor.Last()
		if before != "" {
			if at, _ := cursor.Seek([]byte(before)); at != nil {
				key, stored = cursor.Prev()
			} else {
				key, stored = cursor.Last()
			}
		}
		all = append(all, stepsFrom(key, stored, cursor.Prev))
	}
	return merged(all, -1)
}

// steps iterates over the values from index at on, forwards or backwards. For a removed value it returns the
// key and nil.
func (k *recentKind) steps(at, by int) steps {
	return func() (key, stored []byte) {
		if at < 0 || at >= len(k.keys) {
			return nil, nil
		}
		name := k.keys[at]
		at += by
		return []byte(name), k.by[name]
	}
}

// stepsFrom returns one value, and then the values of next.
func stepsFrom(key, stored []byte, next steps) steps {
	begun := false
	return func() ([]byte, []byte) {
		if begun {
			return next()
		}
		begun = true
		return key, stored
	}
}

// merged merges iterators in order, forwards or backwards. If several iterators have the same key, the value
// of the first one wins. Removed values are left out.
func merged(all []steps, order int) steps {
	keys, values := make([][]byte, len(all)), make([][]byte, len(all))
	for i, next := range all {
		keys[i], values[i] = next()
	}
	return func() (key, stored []byte) {
		for {
			key, stored = nil, nil
			for i := range all {
				if keys[i] != nil && (key == nil || bytes.Compare(keys[i], key)*order < 0) {
					key, stored = keys[i], values[i]
				}
			}
			if key == nil {
				return nil, nil
			}
			for i, next := range all {
				if keys[i] != nil && bytes.Equal(keys[i], key) {
					keys[i], values[i] = next()
				}
			}
			if stored != nil {
				return key, stored
			}
		}
	}
}

// viewedLog is a log in a view.
type viewedLog struct {
	last    uint64 // sequence of the last entry ever appended
	through uint64 // entries up to this sequence were removed
	in      *bbolt.Bucket
	over    []*recentLog // latest first
}

// log returns a log, which is empty if there is none yet.
func (v view) log(name Log) (l viewedLog) {
	if all := v.tx.Bucket(logsBucket); all != nil {
		if l.in = all.Bucket([]byte(name)); l.in != nil {
			l.last = l.in.Sequence()
		}
	}
	for _, r := range v.over {
		if own := r.logs[name]; own != nil {
			l.over = append(l.over, own)
			l.last, l.through = max(l.last, own.last), max(l.through, own.through)
		}
	}
	return l
}

// from iterates over the encoded entries from a sequence on.
func (l viewedLog) from(sequence uint64) (next func() (sequence uint64, stored []byte)) {
	at, cursor, later := max(sequence, l.through+1), (*bbolt.Cursor)(nil), len(l.over)
	if l.in != nil {
		cursor = l.in.Cursor()
	}
	begun := false
	return func() (uint64, []byte) {
		if cursor != nil {
			key, stored := []byte(nil), []byte(nil)
			if begun {
				key, stored = cursor.Next()
			} else {
				begun = true
				key, stored = cursor.Seek(sequenceName(at))
			}
			if key != nil {
				at = binary.BigEndian.Uint64(key) + 1
				return at - 1, stored
			}
			cursor = nil
		}
		for later > 0 {
			own := l.over[later-1]
			if first := max(own.first(), at); first <= own.last && len(own.entries) > 0 {
				at = first + 1
				return first, own.entries[first-own.first()]
			}
			later--
		}
		return 0, nil
	}
}

// apply makes the changes of a call in the latest layer, and returns how many values and log
// entries it has removed. The conditions of the changes must hold.
func (v view) apply(c *Call) (removed int, err error) {
	to := v.over[0]
	if last := v.revision(); c.Revision != last+1 {
		return 0, fmt.Errorf("%w: it has revision %d, and a call %d", ErrDiverged, last, c.Revision)
	}
	to.revision = c.Revision
	for i := range c.Changes {
		removed += v.change(to, &c.Changes[i], c.Revision)
	}
	to.removed += removed
	return removed, nil
}

// applyAll makes the changes of a batch in the latest layer.
func (v view) applyAll(b *Batch) error {
	for i := range b.Calls {
		if _, err := v.apply(&b.Calls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v view) change(to *recent, c *Change, revision Revision) (removed int) {
	switch {
	case c.Log != "":
		return v.changeLog(to, c, revision)
	case c.Value == nil:
		to.kind(c.Kind).set(c.Key, nil)
		return 1
	}
	to.kind(c.Kind).set(c.Key, encode(c.Value, revision, c.Expires))
	return 0
}

func (v view) changeLog(to *recent, c *Change, revision Revision) (removed int) {
	log := v.log(c.Log)
	own := to.logs[c.Log]
	if own == nil {
		own = &recentLog{last: log.last}
		to.logs[c.Log] = own
	}
	if c.Value != nil {
		own.last++
		own.entries = append(own.entries, encode(c.Value, revision, c.Expires))
		return 0
	}
	next := log.from(0)
	for sequence, stored := next(); stored != nil && sequence <= c.Through; sequence, stored = next() {
		removed++
	}
	own.cut(c.Through)
	return removed
}

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Updater is a [Store] that can run a function that decides changes.
type Updater interface {
	// Update calls f with the newest state of the store, and returns once the changes of f are durable or
	// dropped. Calls of f run one after another, and each sees the changes of all earlier calls, even if these
	// are not durable yet. So there are no conflicts. All calls that arrive while a batch is written share the
	// next batch. If f fails, Update returns its error and drops only the changes of f.
	//
	// f must be short, must not wait, and must use the store through its Tx only. It must set its results again
	// on every call, because it is called again if its batch could not be composed or, where another machine
	// decides the changes, if another change comes first. It is never called after Update has returned. If f
	// panics, so does Update.
	//
	// After [ErrUnsure] it is unknown whether the changes were stored. After any other error none
	// of them was or will be stored; [ErrFollows] means that the store does not decide changes. If
	// ctx ends before f is called, the error also matches [ErrNotSent].
	Update(ctx context.Context, f func(*Tx) error) error
}

// ErrUnsure means that it is unknown whether changes were or will be stored.
var ErrUnsure = errors.New("it is not known whether the changes were stored")

// unsure wraps an error so that it matches [ErrUnsure].
func unsure(err error) error { return fmt.Errorf("%w: %w", ErrUnsure, err) }

// Doubt is an [ErrUnsure] with the changes that may have been stored and the revisions of their
// values before, for a store that can determine the outcome.
type Doubt struct {
	Changes []Change
	Cause   error
}

func (d *Doubt) Error() string { return unsure(d.Cause).Error() }

// Unwrap returns [ErrUnsure] and the cause.
func (d *Doubt) Unwrap() []error { return []error{ErrUnsure, d.Cause} }

// Tx gives the function of an [Updater] access to the store. Only that function may use it, until
// it returns.
type Tx struct {
	from    source
	now     time.Time
	of      *Sealed // store whose formats are used
	seals   bool    // values in from are sealed by of
	changes []Change
	at      map[place]int // index in changes, by the value that is set or removed
}

// source is the state before the changes of a Tx.
type source interface {
	get(kind Kind, key string) (Entry, error) // or ErrAbsent
	scan(kind Kind, prefix string, visit func(Entry) bool) error
}

// place identifies a value.
type place struct {
	kind Kind
	key  string
}

func newTx(from source, now time.Time) *Tx {
	return &Tx{from: from, now: now, of: &Sealed{common: &common{}}, at: map[place]int{}}
}

// Now returns the time by which values expire. It does not change during an update.
func (tx *Tx) Now() time.Time { return tx.now }

// Get returns a value, or [ErrAbsent]. A value that tx itself has put has revision 0.
func (tx *Tx) Get(kind Kind, key string) (Entry, error) {
	if i, own := tx.at[place{kind, key}]; own {
		if e, there := tx.own(i); there {
			return e, nil
		}
		return Entry{}, ErrAbsent
	}
	e, err := tx.from.get(kind, key)
	if err != nil {
		return Entry{}, err
	}
	return tx.open(kind, e)
}

// own returns the value that change i sets. there is false if the change removes the value, or if the value
// has expired.
func (tx *Tx) own(i int) (e Entry, there bool) {
	c := &tx.changes[i]
	e = Entry{Key: c.Key, Value: bytes.Clone(c.Value), Expires: c.Expires}
	return e, c.Value != nil && !e.expired(tx.now)
}

func (tx *Tx) open(kind Kind, e Entry) (Entry, error) {
	if tx.seals {
		return tx.of.open(kind, e)
	}
	return e, nil
}

// Range calls visit with the values whose keys begin with prefix, in the order of their keys, until
// it returns false. visit may use tx; values that it puts are not visited.
//
// Where another machine decides the changes, a value that was only visited may be added or changed
// without a conflict. A caller that depends on the visited values must read another value that each
// such change also puts.
func (tx *Tx) Range(kind Kind, prefix string, visit func(Entry) bool) error {
	var all []Entry
	var failed error
	err := tx.from.scan(kind, prefix, func(e Entry) bool {
		if _, own := tx.at[place{kind, e.Key}]; !own {
			if e, failed = tx.open(kind, e); failed == nil {
				all = append(all, e)
			}
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	before := len(all)
	for p, i := range tx.at {
		if e, there := tx.own(i); there && p.kind == kind && strings.HasPrefix(p.key, prefix) {
			all = append(all, e)
		}
	}
	if len(all) > before {
		slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	}
	for _, e := range all {
		if !visit(e) {
			break
		}
	}
	return nil
}

// Put sets a value. It expires at the given time; the zero time means never.
func (tx *Tx) Put(kind Kind, key string, value []byte, expires time.Time) {
	tx.set(Change{Kind: kind, Key: key, Value: append([]byte{}, value...), Expires: expires})
}

// Delete removes a value, which may be absent.
func (tx *Tx) Delete(kind Kind, key string) { tx.set(Change{Kind: kind, Key: key}) }

func (tx *Tx) set(c Change) {
	p := place{c.Kind, c.Key}
	if i, again := tx.at[p]; again {
		tx.changes[i] = c
		return
	}
	tx.at[p] = len(tx.changes)
	tx.changes = append(tx.changes, c)
}

// Append appends an entry to a log. It expires at the given time; the zero time means never.
func (tx *Tx) Append(log Log, value []byte, expires time.Time) {
	tx.changes = append(tx.changes, Change{Log: log, Value: append([]byte{}, value...), Expires: expires})
}

// Trim removes the entries of a log up to and including a sequence.
func (tx *Tx) Trim(log Log, through uint64) {
	tx.changes = append(tx.changes, Change{Log: log, Through: through})
}

// Load decodes a value that [Save] or [Encode] has written. It fails with [ErrAbsent] or
// [ErrNewer].
func Load[T any, P Value[T]](tx *Tx, kind Kind, key string) (value T, err error) {
	e, err := tx.Get(kind, key)
	if err == nil {
		err = Decode(tx.of, e.Value, P(&value))
	}
	return value, err
}

// Save puts a value as JSON, in the format that is written now.
func Save[T any, P Value[T]](tx *Tx, kind Kind, key string, value T, expires time.Time) error {
	text, err := Encode[T, P](tx.of, value)
	if err == nil {
		tx.Put(kind, key, text, expires)
	}
	return err
}

// Update implements [Updater]. It fails with [ErrOtherKey] as [Sealed.Apply] does.
func (s *Sealed) Update(ctx context.Context, f func(*Tx) error) error {
	if err := s.Writable(); err != nil {
		return err
	}
	own, ok := s.Store.(Updater)
	if !ok {
		return CompareAndSet(ctx, s, f)
	}
	return own.Update(ctx, func(tx *Tx) error {
		tx.of, tx.seals = s, true
		return f(tx)
	})
}

// take returns the changes in the form in which they are stored.
func (tx *Tx) take() ([]Change, error) {
	for i := range tx.changes {
		c := &tx.changes[i]
		switch {
		case c.Value == nil || !tx.seals:
		case c.Log != "":
			c.Value = tx.of.seal(c.Value, boundTo(c.Log))
		default:
			c.Value = tx.of.seal(c.Value, bound(c.Kind, c.Key))
		}
	}
	return tx.changes, CheckChanges(tx.changes)
}

// decide calls f and returns its changes.
func (tx *Tx) decide(f func(*Tx) error) ([]Change, error) {
	if err := f(tx); err != nil {
		return nil, err
	}
	return tx.take()
}

// Package keep stores what the gateway must remember beyond one request: which calls
// with an idempotency key have run, and how, and what was changed.
//
// A [Store] holds values by kind and key. Every value has a revision; [Store.Apply]
// changes several values together, or none, and only while their revisions are the
// expected ones, so that a decision is one call. [Open] opens the store in one file.
// [Seal] encrypts the values of a store, because they hold personal data.
package keep

import (
	"context"
	"errors"
	"time"
)

// Kind is a group of values: "key", "change". The names of kinds are part of the file's format.
type Kind string

// Revision counts the changes of a store. A value has the revision of its last change,
// so that no two values of a store, at any time, have the same.
type Revision uint64

// Absent is the expected revision of a value that must not be there.
const Absent Revision = 0

// Entry is a value with its revision.
type Entry struct {
	Key      string
	Value    []byte
	Revision Revision
	Expires  time.Time // zero: never
}

// Change sets or removes one value, if it has the expected revision.
type Change struct {
	Kind    Kind
	Key     string
	Expect  Revision
	Value   []byte // nil removes the value
	Expires time.Time
}

// Store is safe for concurrent use. Values that have expired are absent.
type Store interface {
	// Get returns a value, or [ErrAbsent].
	Get(ctx context.Context, kind Kind, key string) (Entry, error)

	// Range calls visit with the values whose keys begin with prefix, in the order of
	// their keys, until it returns false. It must not change the store.
	Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error

	// RangeBack calls visit with the values whose keys are less than before, or with all
	// if it is empty, the greatest key first, until it returns false. It must not change
	// the store.
	RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error

	// Apply makes all the changes, of different values, and returns the revision that they have, once they
	// are on the disk; or none of them. It fails with [ErrConflict] if a value does not
	// have the expected revision. After any other error it is not known whether the
	// changes were made.
	Apply(ctx context.Context, changes ...Change) (Revision, error)

	// Sweep removes expired values and returns how many.
	Sweep(ctx context.Context) (int, error)

	// State returns how the store is.
	State() State

	// Close closes the store; other calls fail then.
	Close() error
}

// State is how a store is.
type State struct {
	Bytes    int64  // size of its file; 0 if it is not known
	Writes   uint64 // calls of Apply that were on the disk
	Failures uint64 // calls of Apply and Sweep that failed, but for conflicts
	Swept    uint64 // expired values that were removed
	Failed   error  // why the last write failed; nil: it did not
}

// The errors of stores.
var (
	ErrAbsent   = errors.New("there is no such value")
	ErrConflict = errors.New("the value is not the expected one")
	ErrClosed   = errors.New("the store is closed")
)

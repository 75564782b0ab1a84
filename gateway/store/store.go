// Package store stores what the gateway must remember beyond one request: which calls
// with an idempotency key have run, and how, what was changed, and what was spent.
//
// A [Store] holds values by kind and key. Every value has a revision; [Store.Apply]
// changes several values together, or none, and only while their revisions are the
// expected ones, so that a decision is one call. [Open] opens the store in a file, and
// [NewMemory] one that ends with the process; what every driver must do is in storetest. Beside its
// file, a store that makes its own changes has a commit log: a batch is stored when it is there.
// [Seal] encrypts the values of a store, because they hold personal data, and finds out
// whether a change was made whose answer was lost.
//
// Beside the values there are logs, whose entries have an order: [Store.Apply] appends
// to them in the same decision, and a reader goes on from the [Position] that it has
// reached, also after a restart, and learns if it has missed anything.
package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is a group of values: "key", "change". The names of kinds are part of the file's
// format, which has "revision", "store", "logs" and "followed" for itself.
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

// Change sets or removes one value, if it has the expected revision. With a Log, it
// appends the value to it, or removes what is at its beginning; Kind, Key and Expect
// are not used then.
type Change struct {
	Kind    Kind
	Key     string
	Expect  Revision
	Value   []byte // nil removes the value, or the entries of the log
	Expires time.Time

	Compares bool // the value is not changed: it must only have the expected revision

	Log     Log
	Through uint64 // sequence of the last entry of the log to remove
}

// mostKey is the length of the longest key that a driver takes.
const mostKey = 32 << 10

// MostChanges is how many changes a call of [Store.Apply] makes at most.
const MostChanges = 900

// CheckChanges returns why no driver takes changes, or nil.
func CheckChanges(changes []Change) error {
	if len(changes) > MostChanges {
		return fmt.Errorf("%w: %d, and a call makes at most %d", ErrTooMany, len(changes), MostChanges)
	}
	for i := range changes {
		if err := changes[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// check returns why no driver takes a change.
func (c *Change) check() error {
	switch {
	case c.Log != "":
		return nil
	case c.Kind == "", c.Kind == "revision", c.Kind == "store", c.Kind == "logs", c.Kind == "followed":
		return fmt.Errorf("values have no kind %q", c.Kind)
	case c.Key == "", len(c.Key) > mostKey:
		return errors.New("the key of a value has 1 to 32768 bytes")
	}
	return nil
}

// Log is an ordered list of values. The names of logs are part of the file's format.
type Log string

// Position is a place in a log: after an entry, or before the first. The zero position
// is before the oldest entry that is kept, in every store.
type Position struct {
	Creation string // identifies the store, and with it what the sequence counts
	// of the entry; 0 before the first. Entries have 1, 2, 3 and so on: none is left out or given
	// twice
	Sequence uint64
}

// String returns the position as text without white space or commas, which
// [Position.UnmarshalText] reads.
func (p Position) String() string { return fmt.Sprintf("%s.%d", p.Creation, p.Sequence) }

// MarshalText never fails.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the text of a position. It fails with [ErrPosition] if it is none.
func (p *Position) UnmarshalText(text []byte) error {
	creation, number, _ := strings.Cut(string(text), ".")
	sequence, err := strconv.ParseUint(number, 10, 64)
	read := Position{creation, sequence}
	if err != nil || read.String() != string(text) {
		return fmt.Errorf("%w: %q is none", ErrPosition, text)
	}
	*p = read
	return nil
}

// Appended is an entry of a log.
type Appended struct {
	Position Position
	Value    []byte
}

// Store is safe for concurrent use. Values that have expired are absent.
type Store interface {
	// Get returns a value, or [ErrAbsent].
	Get(ctx context.Context, kind Kind, key string) (Entry, error)

	// Range calls visit with the values whose keys begin with prefix, in the order of
	// their keys, until it returns false. It may use the store; whether values are passed
	// that change meanwhile, and how, is not said.
	Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error

	// RangeBack calls visit with the values whose keys are less than before, or with all
	// if it is empty, the greatest key first, until it returns false, as Range does.
	RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error

	// Apply makes all the changes, which are of different values, and returns the revision
	// that they have, once they are on the disk; or none of them. It fails with
	// [ErrConflict] if a value does not have the expected revision, and with [ErrTooMany]
	// if they are more than [MostChanges]. After any other error it is not known whether
	// the changes were made.
	Apply(ctx context.Context, changes ...Change) (Revision, error)

	// Log calls visit with the entries of a log after a position, in their order, until visit
	// returns false. Visit may use the store. An entry is kept until its time and the times of all
	// before it have passed, or until it is removed. Log fails with [ErrPosition] if entries after
	// the position are no longer kept, or if the position is not one of this store: then the reader
	// has missed something, and may go on from [Store.End].
	Log(ctx context.Context, log Log, after Position, visit func(Appended) bool) error

	// End returns the position after the last entry that was ever appended to a log.
	End(ctx context.Context, log Log) (Position, error)

	// Appends returns a channel that is closed when something is appended to a log, or when
	// the store is closed. A reader takes it before it reads the log, and waits afterwards.
	Appends(log Log) <-chan struct{}

	// Sweep removes expired values and entries of logs and returns how many.
	Sweep(ctx context.Context) (int, error)

	// State returns the condition of the store.
	State() State

	// Now returns the time by which values and entries of logs expire. It may differ from
	// the wall clock: what is kept is given an end, and asked whether it has passed, by
	// this time only.
	Now() time.Time

	// Close closes the store; other calls fail then.
	Close() error
}

// Remote is a [Store] that reads from a copy of what is on other machines.
type Remote interface {
	// Reach returns once the copy has what the others had when it was called, or why it
	// may be older.
	Reach(ctx context.Context) error
}

// Remote reports whether the store is on other machines.
func (s *Sealed) Remote() bool {
	_, remote := s.Store.(Remote)
	return remote
}

// Reach implements [Remote]. It returns nil for a store that is not on other machines.
func (s *Sealed) Reach(ctx context.Context) error {
	if remote, ok := s.Store.(Remote); ok {
		return remote.Reach(ctx)
	}
	return nil
}

// State is the condition of a store.
type State struct {
	Bytes    int64  // size of its file; 0 if it is not known
	Writes   uint64 // calls of Apply that were on the disk
	Failures uint64 // calls of Apply and Sweep that failed, but for conflicts
	Swept    uint64 // expired values that were removed
	Failed   error  // why the last write failed; nil: it did not
	Rewound  error  // [ErrRewound], until it is accepted; nil: nothing is missing
	Unerased error  // why removed secrets may still be in the file; nil: they are erased
}

// failed notes why a write failed.
func (s *State) failed(err error) {
	s.Failed = err
	s.Failures++
}

// The errors of stores.
var (
	ErrAbsent   = errors.New("there is no such value")
	ErrConflict = errors.New("the value is not the expected one")
	ErrClosed   = errors.New("the store is closed")
	ErrPosition = errors.New("the position is not one of this log, or entries after it are not kept any more")
	ErrTooMany  = errors.New("so many changes cannot be made together")

	// ErrUnreachable means that a store on other machines did not answer. It is joined with
	// [ErrNotSent] if the change has certainly not been made.
	ErrUnreachable = errors.New("the store cannot be reached")
	ErrNotSent     = errors.New("nothing was sent to it")
)

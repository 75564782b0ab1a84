// Package store stores everything that the gateway must remember beyond one request: idempotency
// keys with the outcomes of their calls, changes, and spent quotas.
//
// A [Store] holds values by kind and key. Every value has a revision. [Store.Apply] changes several values
// together or none, and only if they have the expected revisions, so a decision takes a single call. [Open]
// opens a store in a file, and [NewMemory] creates one in memory; package storetest tests the requirements
// for drivers. A store that decides its changes has a commit log next to its file, and a batch is stored once
// it is in that log. [Seal] encrypts the values of a store, because they contain personal data, and
// determines the outcome of a change whose answer was lost.
//
// In addition to values there are logs, which are ordered lists of entries. [Store.Apply] appends to them in
// the same decision. A reader continues from the last [Position] that it has reached, even after a restart,
// and learns whether it has missed entries.
package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is a group of values, such as "key" or "change". The names of kinds are part of the file's
// format, which reserves "revision", "store", "logs" and "followed".
type Kind string

// Revision counts the changes of a store. A value has the revision of its last change, so two different
// states of a value never have the same revision.
type Revision uint64

// Absent is the expected revision of a value that must not exist.
const Absent Revision = 0

// Entry is a value with its revision.
type Entry struct {
	Key      string
	Value    []byte
	Revision Revision
	Expires  time.Time // zero means never
}

// Change sets or removes one value if it has the expected revision. If Log is set, the change
// instead appends Value to the log, or removes entries from its beginning. Kind, Key and Expect are
// not used then.
type Change struct {
	Kind    Kind
	Key     string
	Expect  Revision
	Value   []byte // nil removes the value, or the entries of the log
	Expires time.Time

	Compares bool // compare only: the value must have the expected revision and is not changed

	Log     Log
	Through uint64 // sequence of the last log entry to remove
}

// mostKey is the length of the longest key that drivers accept, in bytes.
const mostKey = 32 << 10

// MostChanges is the greatest number of changes in a call of [Store.Apply].
const MostChanges = 900

// CheckChanges returns an error if no driver accepts the changes.
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

// check returns an error if no driver accepts the change.
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

// Position is a place in a log, either after an entry or before the first one. The zero position is before
// the oldest entry that is kept, in any store.
type Position struct {
	Creation string // identifies the store that has assigned the sequence
	// of the entry; 0 before the first. Entries have the sequences 1, 2, 3 and so on, without gaps
	// or reuse
	Sequence uint64
}

// String returns the position as text without white space or commas, which
// [Position.UnmarshalText] reads.
func (p Position) String() string { return fmt.Sprintf("%s.%d", p.Creation, p.Sequence) }

// MarshalText implements [encoding.TextMarshaler]. It never fails.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It fails with [ErrPosition] if text is not a
// position.
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

// Appended is an entry of a log with its position.
type Appended struct {
	Position Position
	Value    []byte
}

// Store is safe for concurrent use. Values that have expired are absent.
type Store interface {
	// Get returns a value, or [ErrAbsent].
	Get(ctx context.Context, kind Kind, key string) (Entry, error)

	// Range calls visit with the values whose keys begin with prefix, in the order of their keys,
	// until it returns false. visit may use the store. It is undefined whether values that change
	// during the walk are visited, and in which state.
	Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error

	// RangeBack is like Range, for the values whose keys are less than before, or for all values if before is
	// empty. It visits the greatest key first.
	RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error

	// Apply makes all the changes or none, and returns their revision once they are on disk. No two changes may
	// be of the same value. It fails with [ErrConflict] if a value does not have the expected revision, and with
	// [ErrTooMany] if there are more than [MostChanges]. After any other error it is unknown whether the changes
	// were made.
	Apply(ctx context.Context, changes ...Change) (Revision, error)

	// Log calls visit with the entries of a log after a position, in order, until visit returns
	// false. visit may use the store. An entry is kept until it and all entries before it have
	// expired, or until it is removed. Log fails with [ErrPosition] if entries after the position
	// are no longer kept, or if the position belongs to another store. In both cases the reader has
	// missed entries, and may continue from [Store.End].
	Log(ctx context.Context, log Log, after Position, visit func(Appended) bool) error

	// End returns the position after the last entry ever appended to a log.
	End(ctx context.Context, log Log) (Position, error)

	// Appends returns a channel that is closed when an entry is appended to a log, or when the store is closed.
	// To miss no entry, a reader gets the channel before it reads the log, and then waits for the channel.
	Appends(log Log) <-chan struct{}

	// Sweep removes expired values and log entries, and returns their number.
	Sweep(ctx context.Context) (int, error)

	// State returns the state of the store.
	State() State

	// Now returns the time by which values and entries of logs expire. It may differ from the wall clock, so
	// expiry times must be computed from this time and only be compared with it.
	Now() time.Time

	// Close closes the store. Later calls fail.
	Close() error
}

// Remote is a [Store] that reads from a local copy of data that is on other machines.
type Remote interface {
	// Reach returns nil once the copy has everything that the other machines had when Reach was called. After an
	// error, the copy may be older.
	Reach(ctx context.Context) error
}

// Remote reports whether the store's data is on other machines.
func (s *Sealed) Remote() bool {
	_, remote := s.Store.(Remote)
	return remote
}

// Reach calls [Remote.Reach] of the underlying store. It returns nil for a store that is not on
// other machines.
func (s *Sealed) Reach(ctx context.Context) error {
	if remote, ok := s.Store.(Remote); ok {
		return remote.Reach(ctx)
	}
	return nil
}

// State is the state of a store.
type State struct {
	Bytes    int64  // file size; 0 if unknown
	Writes   uint64 // calls of Apply that reached the disk
	Failures uint64 // calls of Apply and Sweep that failed, without conflicts
	Swept    uint64 // expired values that were removed
	Failed   error  // reason why the last write failed; nil if it succeeded
	Rewound  error  // [ErrRewound], until it is accepted; nil if nothing is missing
	Unerased error  // reason why removed secrets may still be in the file; nil if they are erased
}

// failed records why a write failed.
func (s *State) failed(err error) {
	s.Failed = err
	s.Failures++
}

// Errors of stores.
var (
	ErrAbsent   = errors.New("there is no such value")
	ErrConflict = errors.New("the value is not the expected one")
	ErrClosed   = errors.New("the store is closed")
	ErrPosition = errors.New("the position is not one of this log, or entries after it are not kept any more")
	ErrTooMany  = errors.New("so many changes cannot be made together")

	// ErrUnreachable means that a store on other machines did not answer. It is joined with
	// [ErrNotSent] if the change was certainly not made.
	ErrUnreachable = errors.New("the store cannot be reached")
	ErrNotSent     = errors.New("nothing was sent to it")
)

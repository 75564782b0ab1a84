// Package journal is the log of a cluster. One gateway at a time writes to it, in one order, and
// every gateway applies it to the store in its own file.
//
// An [Entry] is one message of a [Stream], sealed with the key of the cluster. It names the term of
// its writer and the hash of the entry before. The stream decides which message is next: a writer
// names the message that it has read last, and is refused if another one has come since. So two
// writers cannot both go on, whatever their clocks say.
//
// A message that was sent and not answered is never taken for lost. Its writer sends it again until
// it reads the message itself or a message of a higher term. A message that does not verify is
// skipped and counted. It deposes no leader and stops no reader.
package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/store"
)

// Process is a gateway from its start to its end. A term belongs to a process: a gateway
// that is started again needs a new one.
type Process struct {
	Gateway string `json:"gateway"`
	Start   string `json:"start"` // unique to the process
}

// Entry is what a writer appends to the journal.
type Entry struct {
	Term     uint64     `json:"term"`
	Process  Process    `json:"process"`
	Number   uint64     `json:"number"` // of the entry in its term; 0: the term itself begins
	Token    string     `json:"token"`  // the same each time that the entry is sent
	Time     time.Time  `json:"time"`   // log time, by which what is kept expires
	Previous store.Hash `json:"previous"`
	Batch    []byte     `json:"batch,omitempty"` // what the store applies; empty: nothing, the writer is alive
}

// Begins reports whether the entry begins a term.
func (e *Entry) Begins() bool { return e.Number == 0 }

// Stream is where the messages of a journal are kept in order. It knows nothing of what they
// mean. It is safe for concurrent use.
type Stream interface {
	// Publish appends a message if the last one has the sequence expect, and returns its own.
	// It fails with [ErrRefused] if the stream says that it has another last sequence, and
	// with another error if no answer came. After either it is not known whether the message
	// is or will be in the stream. Another try goes through another node if there is one.
	Publish(ctx context.Context, expect uint64, message []byte, try int) (uint64, error)

	// Read returns the message with a sequence. It fails with [ErrNotYet] if the node that answers
	// has none so high, and with [ErrGone] if the message is no longer kept.
	Read(ctx context.Context, sequence uint64) ([]byte, error)

	// Last returns the sequences of the oldest message that is kept and of the last one, as the
	// node that answers knows them. There may be later ones.
	Last(ctx context.Context) (oldest, last uint64, err error)

	// Follow calls visit with the messages after a sequence, in order and without a gap, until
	// ctx ends or visit returns false. It returns why it cannot go on.
	Follow(ctx context.Context, after uint64, visit func(sequence uint64, message []byte) bool) error
}

// The errors of streams and journals.
var (
	ErrRefused = errors.New("the stream has another last message")
	ErrNotYet  = errors.New("the stream has no message with this sequence yet")
	ErrGone    = errors.New("the message is not kept any more")

	// ErrDeposed means that a higher term has begun. No more entries of this term are stored.
	ErrDeposed = errors.New("another gateway leads: its term is higher")

	// ErrRewound means that the stream ends before what was applied, or differs there.
	ErrRewound = errors.New("the log is older than what was applied, or differs from it")

	// ErrReplaced is an [ErrRewound]: another stream has the name of the one that was followed.
	ErrReplaced = fmt.Errorf("%w: another stream has taken its place", ErrRewound)

	// ErrBehind means that the stream does not reach back to what was applied: the file of
	// another gateway is needed.
	ErrBehind = errors.New("the log does not reach back to what was applied")

	// ErrNewer means that an entry has a format that this version cannot read.
	ErrNewer = errors.New("the log was written by a newer version, which this gateway must have, too")

	// ErrKeyUnknown is returned by a [Cipher] for a message under a key that it does not have.
	ErrKeyUnknown = store.ErrKeyUnknown

	// ErrUndecided means that an entry was sent, and that it is not known yet whether it is
	// or will be stored. [Log.Resolve] goes on with it.
	ErrUndecided = errors.New("it is not known yet whether the entry is stored")

	// ErrNotSent means that an entry was not sent, and will not be, because it is not known
	// yet whether the one before is stored.
	ErrNotSent = errors.New("the entry before is not decided yet")
)

// Cipher seals messages with the key of the cluster. It is safe for concurrent use.
type Cipher interface {
	// Seal returns plain encrypted, and bound to what bound says.
	Seal(plain, bound []byte) []byte

	// Open returns what was sealed. It fails if sealed was altered, was bound to something
	// else, or has another key: with [ErrKeyUnknown] if it names one that is not known.
	Open(sealed, bound []byte) ([]byte, error)
}

var _ Cipher = store.Cipher{}

// Applier stores the content of a journal's entries: a store in a file.
type Applier interface {
	// Point returns the place that was applied last.
	Point() (store.Point, error)

	// Apply applies an entry, and keeps its place in the same transaction. It is called once
	// for each entry that verifies, in their order, and again for one that it failed for. An
	// entry without a batch changes nothing: its place may be kept later.
	Apply(ctx context.Context, e *Entry, at store.Point) error
}

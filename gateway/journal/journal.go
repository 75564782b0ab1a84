// Package journal implements the log of a cluster. One gateway at a time writes to it, in one
// order, and every gateway applies it to the store in its own file.
//
// An [Entry] is a message of a [Stream], sealed with the key of the cluster. It contains the term of its
// writer and the hash of the previous entry. The stream decides which message is next. A writer sends the
// sequence of the last message that it has read, and is refused if another message has arrived since. So two
// writers cannot both continue, no matter what their clocks show.
//
// A message that was sent but not answered never counts as lost. Its writer sends it again until it
// reads the message itself or a message of a higher term. A message that does not verify is skipped
// and counted. It deposes no leader and stops no reader.
package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/store"
)

// Process is one run of a gateway. A term belongs to a process, so a restarted gateway needs a new term.
type Process struct {
	Gateway string `json:"gateway"`
	Start   string `json:"start"` // unique to the process
}

// Entry is a record that a writer appends to the journal.
type Entry struct {
	Term     uint64     `json:"term"`
	Process  Process    `json:"process"`
	Number   uint64     `json:"number"` // of the entry in its term; 0 for the entry that begins the term
	Token    string     `json:"token"`  // stays the same when the entry is sent again
	Time     time.Time  `json:"time"`   // log time, by which stored values expire
	Previous store.Hash `json:"previous"`
	Batch    []byte     `json:"batch,omitempty"` // for the store; empty for a heartbeat
}

// Begins reports whether the entry begins a term.
func (e *Entry) Begins() bool { return e.Number == 0 }

// Stream keeps the messages of a journal in order. It does not interpret them. It is safe for
// concurrent use.
type Stream interface {
	// Publish appends a message if the last one has the sequence expect, and returns the message's
	// sequence. It fails with [ErrRefused] if the stream reports another last sequence, and with
	// another error if no answer came. After any error it is unknown whether the message is or will
	// be in the stream. If try is not 0, it uses another node if there is one.
	Publish(ctx context.Context, expect uint64, message []byte, try int) (uint64, error)

	// Read returns the message with the given sequence number. It fails with [ErrNotYet] if the
	// answering node has no such message yet, and with [ErrGone] if the message is no longer kept.
	Read(ctx context.Context, sequence uint64) ([]byte, error)

	// Last returns the sequences of the oldest and of the last message that the answering node knows. There may
	// be later messages.
	Last(ctx context.Context) (oldest, last uint64, err error)

	// Follow calls visit with the messages after a sequence, in order and without gaps, until ctx
	// ends or visit returns false. It returns the reason why it cannot continue.
	Follow(ctx context.Context, after uint64, visit func(sequence uint64, message []byte) bool) error
}

// Errors of streams and journals.
var (
	ErrRefused = errors.New("the stream has another last message")
	ErrNotYet  = errors.New("the stream has no message with this sequence yet")
	ErrGone    = errors.New("the message is not kept any more")

	// ErrDeposed means that a higher term has begun. No more entries of this term are stored.
	ErrDeposed = errors.New("another gateway leads: its term is higher")

	// ErrRewound means that the stream ends before the last applied entry, or differs there.
	ErrRewound = errors.New("the log is older than what was applied, or differs from it")

	// ErrReplaced is an [ErrRewound]. It means that another stream has the name of the followed stream.
	ErrReplaced = fmt.Errorf("%w: another stream has taken its place", ErrRewound)

	// ErrBehind means that the stream no longer has the entries after the last applied one, so
	// the file of another gateway is needed.
	ErrBehind = errors.New("the log does not reach back to what was applied")

	// ErrNewer means that an entry has a format that this version cannot read.
	ErrNewer = errors.New("the log was written by a newer version, which this gateway must have, too")

	// ErrKeyUnknown is returned by a [Cipher] for a message sealed with a key that it does not
	// have.
	ErrKeyUnknown = store.ErrKeyUnknown

	// ErrUndecided means that an entry was sent, and that it is unknown whether it is or will be
	// stored. [Log.Resolve] continues with it.
	ErrUndecided = errors.New("it is not known yet whether the entry is stored")

	// ErrNotSent means that an entry was not sent and will not be, because it is unknown whether
	// the previous one is stored.
	ErrNotSent = errors.New("the entry before is not decided yet")
)

// Cipher seals messages with the key of the cluster. It is safe for concurrent use.
type Cipher interface {
	// Seal encrypts plain and binds it to bound.
	Seal(plain, bound []byte) []byte

	// Open decrypts a sealed message. It fails if sealed was altered, was bound to another context, or was
	// sealed with another key. The error is [ErrKeyUnknown] if the message names an unknown key.
	Open(sealed, bound []byte) ([]byte, error)
}

var _ Cipher = store.Cipher{}

// Applier stores the content of a journal's entries, in a store in a file.
type Applier interface {
	// Point returns the last point that was applied.
	Point() (store.Point, error)

	// Apply applies an entry, and stores its point in the same transaction. It is called for each entry that
	// verifies, in order. If it fails, it is called again for the same entry. An entry without a batch changes
	// nothing, and its point may be stored later.
	Apply(ctx context.Context, e *Entry, at store.Point) error
}

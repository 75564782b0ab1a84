// Package call makes the calls of operations: for a client over HTTP, a page, an item of a job, or
// an undo.
//
// [Service.Do] takes a [Call] and returns an [Answer]. It accepts the call first: the caller has
// the right to it, its parameters are bound, and nothing stands against it (an [Accepted]). A read
// then runs its script. A change takes its key, its plan and what it may spend (packages
// idempotency, plan, quota); package write runs its script, stores all of them before the script
// may begin, and closes them once it has ended. A row without a script is answered by its
// [Handler].
package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A Call is one use of an operation as its caller states it. It is a value, which Do does not
// change.
type Call struct {
	ID        string // of the request, for log, audit and history
	Op        *ops.Operation
	Principal *identity.Principal // authenticated
	From      netip.Addr          // of the client, for the audit
	Input     Input
	Classic   bool  // dialect of parameters and records
	Behind    bool  // the answer may be from a copy that lacks the last changes
	Item      *Item // nil: the call is not made for an item of a job

	// Path are the values in the path, for the audit of a call that is refused before Input is read.
	Path map[string]string
	// Lines of headers as they were given. What they say is examined when the call is made.
	Keys             []string // Idempotency-Key
	Match, NoneMatch []string // If-Match, If-None-Match
	UnmodifiedSince  []string // If-Unmodified-Since
	LastEvents       []string // Last-Event-ID

	// Again finds the caller once more, with its rights of now. Nil: they stay.
	Again func() (*identity.Principal, error)
	// Accepts reports whether the caller takes an answer of a media type. Nil: it takes all.
	Accepts func(media string) bool
	// Prefers reports whether the caller names a media type or its kind, as a page does for an image.
	// Nil: it names none.
	Prefers func(media string) bool

	For    Outer   // nil: the call is no part of another one
	Undoes Undoing // zero: it takes nothing back
	Guards []Guard // besides If-Match and the plan
}

// Outer is a call that is being made, and that makes others as its parts. They have its policy, its
// key and its plan, and count with it. The caller of Do implements it.
type Outer interface {
	// Part returns a call that is a part of it, with a request id of its own.
	Part(id string, op *ops.Operation, given ops.Given) Call
	// Resumed returns the first of the changes that an earlier call with the key has made, before it
	// was cut off; empty: there is no such call, or it has made none. It fails while that is not
	// known, and if it will stay unknown: then first is the change in question.
	Resumed(ctx context.Context) (first string, err error)
	// Plan finds the plan that the call names, for its only part to apply, and lets the plan of a dry
	// run be kept. With several parts none is kept, as none could be applied. It is called before the
	// first part is made.
	Plan(ctx context.Context, parts int) error
}

// Undoing says which change a call takes back, for the history.
type Undoing struct {
	Change  string   // empty: none
	Fields  []string // of it; none: all
	Batch   string   // the first of the changes that the outer call has made; empty: this is the first
	Objects []string // GUIDs of what the change was about
	Guarded []string // the protected ones among them
}

// Guard compares what a script announces with what the call depends on. One goroutine at a time
// uses it. It must not wait.
type Guard interface {
	// Announced is called with each announcement of a change, which may come again from another
	// server. An error refuses the call: the script changes nothing.
	Announced(i *ps.Intent) error
	// Unannounced is called with the result of a script that had nothing to change, and with the
	// entity tag of its record; an empty tag is not known. An error refuses the call.
	Unannounced(result *ps.Result, tag string) error
	// Refused returns the error of a call that was refused as err says: err itself, unless the guard
	// knows the reason better.
	Refused(err error) error
}

// NewID returns an id for a call whose caller has given it none. Later ones are greater.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Item names an item of a job. Its call is made once at most, as if it had an idempotency key, and
// can be made again if it fails with [ErrAgain].
type Item struct {
	Key     string    // in place of Keys
	Expires time.Time // until when the key is kept
}

// ErrAgain is in the chain of the error of an item's call that changed nothing, because it was cut
// off or because other changes of the object went first for too long. The call is worth making again.
var ErrAgain = errors.New("the call can be made again")

// Input yields the parameters of a call.
type Input interface {
	// Read returns them. It is called once at most, after the caller was found to have the right to
	// the operation, as reading may take memory and time.
	Read(ctx context.Context) (Given, error)
}

// Given are the parameters of a call as they were given.
type Given struct {
	Values   ops.Given
	Problems []schema.FieldError  // with names and duplicates
	Sent     map[string]string    // other names under which parameters were sent, by their own
	Document []byte               // body that the operation takes as a whole; nil: none
	Media    string               // type of the document
	Parsing  func() (done func()) // waits until the document may be parsed, which takes memory; nil: it may
}

// Values are an [Input] of values that need not be read.
type Values ops.Given

// Read implements [Input].
func (v Values) Read(context.Context) (Given, error) { return Given{Values: ops.Given(v)}, nil }

// An Answer is what a call that succeeded came to, at least in part. With a [Sink] that has taken
// records it is what follows them.
type Answer struct {
	Output   string          // a sentence for people
	Records  json.RawMessage // separated by commas; empty: none, or a Sink has taken them
	Count    int             // of records
	Effect   ps.Effect
	Partly   *problem.Error // why it was made in part only; nil: all of it was
	Warnings []ps.Warning
	Page
	Tag      string          // entity tag; empty: none
	Same     bool            // If-None-Match names the tag: there is nothing new
	ChangeID string          // in the history; empty: nothing was changed
	Change   *changes.Record // as it ended; nil: nothing was changed, or the history does not have it
	Server   string          // that was used; empty: none
	Plan     json.RawMessage
	Secret   *ops.Generated // to be shown once, with the record; nil: none was generated
	Replayed string         // id of the request that this is the answer to; empty: this one
	Location string         // of what was made; empty: not told
	Foreign  any            // body in the form of a protocol of others; nil: none
	Document *Document
	Kept     *Kept       // of an earlier call, in place of all that makes a body; nil: none
	Audited  schema.Code // for log and audit, which the answer must not show; empty: none
}

// Page says what an answer is a page of.
type Page struct {
	Next  string // cursor of the next page; empty: there is none
	Total *int   // of all pages; nil: not asked for
}

// Kept is the answer to an earlier call, as it was kept.
type Kept struct {
	Status int
	Body   []byte
}

// Document is an answer that is not an envelope.
type Document struct {
	Media string
	Name  string // of the file that a browser makes of it; empty: the browser shows it
	// Write writes it, and returns the number of its records.
	Write func(to io.Writer) (records int, err error)
	// Sent is called when the client has all of it; nil: that matters to nobody.
	Sent func()
}

// A Sink takes the records of a list that is too long to hold back, while the script runs.
type Sink interface {
	// Take takes rendered records, with commas between all of them. After the first call the answer
	// can only be a success. It fails if the client does.
	Take(records []byte) error
}

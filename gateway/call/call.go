// Package call makes the calls of operations: for a client over HTTP, a page, an item of a job, or
// an undo.
//
// [Service.Do] takes a [Call] and returns an [Answer]. It first accepts the call: it checks the
// caller's rights, binds the parameters, and checks limits (an [Accepted]). A read then runs its
// script. A change takes its key, its plan and its quota (packages idempotency, plan, quota).
// Package write stores all of them before the script may begin, runs the script, and closes them
// once it has ended. A row without a script is answered by its [Handler].
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

// A Call is one use of an operation, as its caller states it. It is a value; Do does not change it.
type Call struct {
	ID        string // of the request, for log, audit and history
	Op        *ops.Operation
	Principal *identity.Principal // authenticated
	From      netip.Addr          // of the client, for the audit
	Input     Input
	Classic   bool  // dialect of parameters and records
	Behind    bool  // the answer may come from a copy that lacks the last changes
	Item      *Item // nil: the call is not made for an item of a job

	// Path has the values in the path, for the audit of a call that is refused before Input is
	// read.
	Path map[string]string
	// Lines of headers as received. They are parsed when the call is made.
	Keys             []string // Idempotency-Key
	Match, NoneMatch []string // If-Match, If-None-Match
	UnmodifiedSince  []string // If-Unmodified-Since
	LastEvents       []string // Last-Event-ID

	// Again finds the caller again, with its present rights. Nil: the rights do not change.
	Again func() (*identity.Principal, error)
	// Accepts reports whether the caller accepts a media type. Nil: it accepts all.
	Accepts func(media string) bool
	// Prefers reports whether the caller names a media type or its kind, as a page does for an
	// image. Nil: it names none.
	Prefers func(media string) bool

	For    Outer   // nil: the call is not part of another one
	Undoes Undoing // zero: it undoes nothing
	Guards []Guard // besides If-Match and the plan
}

// Outer is a running call that makes others as its parts. The parts have its policy, key and plan,
// and count together with it. The caller of Do implements it.
type Outer interface {
	// Part returns a part of the call, with a request id of its own.
	Part(id string, op *ops.Operation, given ops.Given) Call
	// Resumed returns the first change of an earlier call with the same key that was cut off;
	// empty: there is no such call, or it has made no change. It fails while that is not known. If
	// it will stay unknown, it also fails, and first is the change in question.
	Resumed(ctx context.Context) (first string, err error)
	// Plan finds the plan that the call names, which its only part applies, or prepares the plan of
	// a dry run. With several parts there is no plan, because it could not be applied. It is called
	// before the first part is made.
	Plan(ctx context.Context, parts int) error
}

// Undoing says which change a call undoes, for the history.
type Undoing struct {
	Change  string   // empty: none
	Fields  []string // fields to undo; none: all
	Batch   string   // first change of the outer call; empty: this is the first
	Objects []string // GUIDs of the objects of the change
	Guarded []string // the protected ones among them
}

// Guard compares the announcement of a script with a condition of the call. Only one goroutine at a
// time uses it. It must not wait.
type Guard interface {
	// Announced is called with each announcement of a change. It may be called again, for another
	// server. An error refuses the call, and the script changes nothing.
	Announced(i *ps.Intent) error
	// Unannounced is called with the result of a script that had nothing to change, and with the
	// entity tag of its record; an empty tag is unknown. An error refuses the call.
	Unannounced(result *ps.Result, tag string) error
	// Refused returns the error of a call that was refused with err: err itself, unless the guard
	// has a better reason.
	Refused(err error) error
}

// NewID returns an id for a call whose caller has given none. Later ids are greater.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Item names an item of a job. Its call is made at most once, as if it had an idempotency key. It
// can be made again if it fails with [ErrAgain].
type Item struct {
	Key     string    // used instead of Keys
	Expires time.Time // until when the key is kept
}

// ErrAgain is in the chain of the error of an item's call that changed nothing, because it was cut
// off or other changes of the object went first for too long. The caller should make it again.
var ErrAgain = errors.New("the call can be made again")

// Input yields the parameters of a call.
type Input interface {
	// Read returns them. It is called at most once, after the caller's right to the operation was
	// checked, because reading may take memory and time.
	Read(ctx context.Context) (Given, error)
}

// Given are the parameters of a call as received.
type Given struct {
	Values   ops.Given
	Problems []schema.FieldError  // with names and duplicates
	Sent     map[string]string    // names under which parameters were sent, if different, by parameter
	Document []byte               // body that the operation takes as a whole; nil: none
	Media    string               // type of the document
	Parsing  func() (done func()) // waits until the document may be parsed, which takes memory; nil: it may
}

// Values is an [Input] of values that are at hand.
type Values ops.Given

// Read implements [Input].
func (v Values) Read(context.Context) (Given, error) { return Given{Values: ops.Given(v)}, nil }

// An Answer is the result of a call that succeeded, at least in part. If a [Sink] has taken
// records, the answer is what follows them.
type Answer struct {
	Output   string          // a sentence for people
	Records  json.RawMessage // separated by commas; empty: none, or a Sink has taken them
	Count    int             // number of records
	Effect   ps.Effect
	Partly   *problem.Error // why it was made only in part; nil: it was made as a whole
	Warnings []ps.Warning
	Page
	Tag      string          // entity tag; empty: none
	Same     bool            // If-None-Match names the tag, so nothing is new
	ChangeID string          // in the history; empty: nothing was changed
	Change   *changes.Record // as it ended; nil: nothing was changed, or the history does not have it
	Server   string          // server that was used; empty: none
	Plan     json.RawMessage
	Secret   *ops.Generated // shown once, with the record; nil: none was generated
	Replayed string         // id of the request that got this answer first; empty: this one
	Location string         // address of the new object; empty: not shown
	Foreign  any            // body in the form of another protocol; nil: none
	Document *Document
	Kept     *Kept       // answer to an earlier call, which replaces the body; nil: none
	Audited  schema.Code // code for log and audit that the answer must not show; empty: none
}

// Page locates an answer in a list.
type Page struct {
	Next  string // cursor of the next page; empty: there is none
	Total *int   // number of records of all pages; nil: not asked for
}

// Kept is the stored answer to an earlier call.
type Kept struct {
	Status int
	Body   []byte
}

// Document is an answer that is not an envelope.
type Document struct {
	Media string
	Name  string // name of the file that a browser saves; empty: the browser shows it
	// Write writes it, and returns the number of its records.
	Write func(to io.Writer) (records int, err error)
	// Sent is called when the client has received everything. It may be nil.
	Sent func()
}

// A Sink takes the records of a list that is too long to hold back, while the script runs.
type Sink interface {
	// Take takes rendered records, separated by commas. After the first call the answer can only be
	// a success. It fails if the client does.
	Take(records []byte) error
}

// Package call makes the calls of operations: for a client over HTTP, a page, an item of a job, or
// an undo.
//
// [Service.Do] takes a [Call] and returns an [Answer]. It first accepts the call: it checks the caller's
// rights, binds the parameters, and checks limits (an [Accepted]). A read then runs its script. A change
// takes its key, its plan and its quota (packages idempotency, plan, quota). Package write stores all three
// before the script may begin, runs the script, and closes them once the script has ended. A row without a
// script is answered by its [Handler].
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
	ID        string // request id, for log, audit and history
	Op        *ops.Operation
	Principal *identity.Principal // authenticated
	From      netip.Addr          // client address, for the audit
	Input     Input
	Classic   bool  // dialect of parameters and records
	Behind    bool  // the answer may come from a copy of the store that lacks the latest changes
	Item      *Item // the item of a job that makes the call; nil if none does

	// Path contains the values in the path. The audit shows them if a call is refused before Input is
	// read.
	Path map[string]string
	// Lines of headers as received. They are parsed when the call is made.
	Keys             []string // Idempotency-Key
	Match, NoneMatch []string // If-Match, If-None-Match
	UnmodifiedSince  []string // If-Unmodified-Since
	LastEvents       []string // Last-Event-ID

	// Again looks up the caller again, with its current rights. If nil, the rights do not change.
	Again func() (*identity.Principal, error)
	Wants

	// Started is called when the call was accepted and its script is about to run. It is not called for a call
	// that is refused, or for an operation that does not satisfy [Reads]. It may be nil.
	Started func()

	For    Outer   // the call that this one is part of; nil if none
	Undoes Undoing // zero if it undoes nothing
	Guards []Guard // in addition to If-Match and the plan
}

// Wants are the formats of answers that a caller can take.
type Wants struct {
	// Best returns the media type that the caller wants most, or "" if it accepts none of them. If two
	// are equal, it returns the first. If nil, the caller accepts all.
	Best func(offers ...string) string
	// Prefers reports whether the caller names a media type or its kind, as a web page does for an
	// image. If nil, it names none.
	Prefers func(media string) bool
}

// BestOf returns the media type to answer with, or "" if the caller accepts none of them.
func (w Wants) BestOf(offers ...string) string {
	if w.Best == nil {
		return offers[0]
	}
	return w.Best(offers...)
}

// Outer is a running call that makes other calls as its parts. The parts share its policy, key and
// plan, and count as one call together with it. The caller of Do implements it.
type Outer interface {
	// Part returns a part of the call, with a request id of its own.
	Part(id string, op *ops.Operation, given ops.Given) Call
	// Resumed returns the first change of an earlier, interrupted call with the same key, or "" if there is no
	// such call or the call has made no change. It fails while it is unknown whether the change was made. If
	// that will stay unknown, first is the change in question.
	Resumed(ctx context.Context) (first string, err error)
	// Plan finds the plan that the call names and that its only part applies, or prepares the plan of a dry run.
	// A call with several parts gets no plan, because such a plan could not be applied. Plan is called before
	// the first part is made.
	Plan(ctx context.Context, parts int) error
}

// Undoing identifies the change that a call undoes, for the history.
type Undoing struct {
	Change  string   // id; empty if none
	Fields  []string // fields to undo; nil means all
	Batch   string   // first change of the outer call; empty if this is the first
	Objects []string // GUIDs of the objects of the change
	Guarded []string // GUIDs of the protected ones
}

// Guard compares the announcement of a script with a condition of the call. It is not used concurrently, and
// its methods must not block.
type Guard interface {
	// Announced is called with each announcement of a change, and again if the run moves to another
	// server. If it returns an error, the call is refused and the script changes nothing.
	Announced(i *ps.Intent) error
	// Unannounced is called with the result of a script that had nothing to change, and with the
	// entity tag of its record, which is empty if unknown. If it returns an error, the call is
	// refused.
	Unannounced(result *ps.Result, tag string) error
	// Refused returns the error of a call that was refused with err. It returns err itself, unless the guard
	// knows a better reason.
	Refused(err error) error
}

// NewID returns an id for a call whose caller has given none. Ids sort in the order of their creation.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Item names an item of a job. Its call is made at most once, as if it had an idempotency key. The call can
// be made again if it fails with [ErrAgain].
type Item struct {
	Key     string    // idempotency key, used instead of Keys
	Expires time.Time // time until which the key is kept
	Resumed bool      // whether an earlier process began the job, and so may have ended because of this item
	Done    []string  // changes of the job to the same objects since the item's plan, the latest first
	// Left is called at most once, when the item's change was made. It lets the next item begin before the end
	// of this one is stored. It is not called in a cluster. It may be nil.
	Left func()
}

// ErrAgain is in the error chain of an item's call that changed nothing because it was cut off, or because
// other changes of the object took precedence for too long. The caller should make the call again.
var ErrAgain = errors.New("the call can be made again")

// Input yields the parameters of a call.
type Input interface {
	// Read returns the parameters. It is called at most once, and only after the caller's right to the
	// operation was checked, because reading may take memory and time.
	Read(ctx context.Context) (Given, error)
}

// Given are the parameters of a call as received.
type Given struct {
	Values   ops.Given
	Problems []schema.FieldError  // problems with names and duplicates
	Sent     map[string]string    // names under which parameters were sent, if different, keyed by parameter
	Document []byte               // body, if the operation takes it as a whole; otherwise nil
	Media    string               // type of the document
	Parsing  func() (done func()) // waits until there is enough memory to parse the document; may be nil
}

// Values is an [Input] whose values need not be read.
type Values ops.Given

// Read implements [Input].
func (v Values) Read(context.Context) (Given, error) { return Given{Values: ops.Given(v)}, nil }

// An Answer is the result of a call that succeeded, at least in part. If a [Sink] has taken records, the
// answer holds the remaining ones.
type Answer struct {
	Output   string          // a sentence for people
	Records  json.RawMessage // separated by commas; empty if there are none, or a Sink has taken them
	Count    int             // number of records
	Effect   ps.Effect
	Partly   *problem.Error // reason why the call was made only in part; nil if it was made as a whole
	Warnings []ps.Warning
	Page
	Tag      string          // entity tag; empty if none
	Same     bool            // the caller has this state already (If-None-Match)
	ChangeID string          // id of the change in the history; empty if nothing was changed
	Change   *changes.Record // the change as it ended; nil if nothing was changed, or the history lacks it
	Server   string          // server that was used; empty if none
	Plan     json.RawMessage
	Secret   *ops.Generated // shown once, with the record; nil if none was generated
	Replayed string         // id of the request that got this answer first; empty if this request did
	Location string         // address of the new object; empty if not shown
	Foreign  any            // body in the form of another protocol; nil if none
	Document *Document
	Kept     *Kept       // answer to an earlier call, which replaces the body; nil if none
	Audited  schema.Code // code for log and audit that the answer must not show; empty if none
}

// Page describes the records of a list. It is zero for other answers.
type Page struct {
	Columns []string // names of the records' members, in order
	Next    string   // cursor of the next page; empty if this is the last
	Total   *int     // number of records of all pages; nil if not requested
}

// Kept is the stored answer to an earlier call.
type Kept struct {
	Status int
	Body   []byte
}

// Document is an answer in a format other than JSON, without an envelope.
type Document struct {
	Media string
	Name  string // file name for the browser to save it under; empty to display it
	// Write writes the document and returns the number of its records.
	Write func(to io.Writer) (records int, err error)
	// Sent is called when the client has received everything. It may be nil.
	Sent func()
}

// A Sink takes the records of a list that is too long to be held in memory while the script runs.
type Sink interface {
	// Take takes rendered records, separated by commas, and the names of their members, which are the
	// same in each call. From the second call on, a comma precedes the records. After the first call
	// the answer can only be a success. Take fails if the client's connection does.
	Take(columns []string, records []byte) error
}

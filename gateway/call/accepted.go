package call

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// An Accepted is a call that may be made: its caller has the right to it, and its parameters are
// bound. It is a value.
type Accepted struct {
	Call       // if it is a change, its Guards begin with its Conditions
	Bound      *ops.Bound
	Given      Given
	Conditions Conditions
	Tagged     bool              // the answer has entity tags
	Fields     *schema.Selection // fields that the script reads; nil if the row has no fields to choose
	Readable   []string          // types of objects that a search over several types may find
	Unread     []ps.Warning      // warnings about types that the caller may not read
	// Once identifies the objects that the call creates, so that a repetition does not create others. It is
	// empty if the call has no key.
	Once   string
	Limits Limits
	// As is the call as the outer call of its parts.
	As Outer
	// Leave frees the caller's request slot. A stream calls it, because it would block the caller's
	// other calls. It may be called more than once.
	Leave func()
}

// Limits are the time limits of an accepted call.
type Limits struct {
	Read   time.Duration // of one run of a read
	Settle time.Duration // for finding the outcome of a change
}

// A Handler answers the calls of a row without a script. It is safe for concurrent use. If it fails, the
// answer still has ChangeID if a change was made, and Server if a server was asked.
type Handler func(ctx context.Context, a Accepted) (Answer, error)

// A Streamer sends the events of a row without a script. If it returns an error, it has sent no events. It is
// safe for concurrent use.
type Streamer func(ctx context.Context, a Accepted, to Events) error

// Local holds the handlers and streamers of the rows without a script, by the ids of the rows.
type Local struct {
	Handlers  map[string]Handler
	Streamers map[string]Streamer
}

// Add adds rows without a script.
func (l Local) Add(more Local) {
	maps.Copy(l.Handlers, more.Handlers)
	maps.Copy(l.Streamers, more.Streamers)
}

// Check returns a fault for each row without a script that has neither a handler nor a streamer.
func (l Local) Check(table []*ops.Operation) (faults []error) {
	for _, op := range table {
		if op.Local && l.Handlers[op.ID] == nil && l.Streamers[op.ID] == nil {
			faults = append(faults, fmt.Errorf("row %s has no script, and nothing answers it", op.ID))
		}
	}
	return faults
}

// DryRun reports whether the call is a dry run, which must not change anything. It returns false for a call
// that was not accepted.
func (a Accepted) DryRun() bool { return a.Bound != nil && a.Bound.Text(ops.DryRun) == "true" }

// Reads reports whether the caller may read the object of the call.
func (a Accepted) Reads() bool {
	return !a.Op.Effect.Writes() || change.SightOf(a.Principal).Reads(a.Op)
}

// Columns returns the names of the members of the records, in order, if the answer is a list. It
// returns nil for all other rows.
func (a Accepted) Columns() []string {
	if a.Op.Reply.Mark != ops.List || a.Fields == nil {
		return nil
	}
	columns := a.Fields.Shown()
	if a.Tagged {
		columns = append(columns, schema.TagMember)
	}
	return columns
}

// Parse waits until the document of the call may be parsed. The caller must call done.
func (a Accepted) Parse() (done func()) {
	if a.Given.Parsing == nil {
		return func() {}
	}
	return a.Given.Parsing()
}

// behind is the warning in an answer from a copy of the store that may lack the latest changes.
var behind = ps.Warning{
	Code: string(schema.Behind),
	Message: "No gateway of the cluster leads now. This answer is from the copy of the answering gateway, " +
		"which may lack the latest changes.",
}

// Answer returns an answer with records that no script emitted.
func (a Accepted) Answer(output string, records ...any) Answer {
	answer := Answer{Output: output, Count: len(records)}
	encoded := make([][]byte, len(records))
	for i, record := range records {
		encoded[i] = schema.JSON(record)
	}
	answer.Records = bytes.Join(encoded, []byte(","))
	if a.Behind {
		answer.Warnings = []ps.Warning{behind}
	}
	return answer
}

// Found returns an answer with the records of a list.
func (a Accepted) Found(records []any) Answer {
	return a.Answer(a.Op.Sentence("{records} found", a.Bound, len(records), &ps.Result{}), records...)
}

package call

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
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

// Accept reads the parameters of a call and refuses calls that the caller may not make. If it fails, a
// contains everything that is known about the call, so that the audit can record it.
func (s *Service) Accept(ctx context.Context, c Call, p *Policy) (a Accepted, err error) {
	a = Accepted{Call: c, Limits: Limits{Read: p.ReadLimit, Settle: p.SettleLimit}}
	if a.Given, err = read(ctx, &c); err != nil {
		return a, err
	}
	if a.Bound, err = bind(c.Op, a.Given); err != nil {
		if c.Undoes.Change != "" { // the record supplied the values
			problem.Of(err).Code = schema.NotUndoable
		}
		return a, err
	}
	if err = readDocument(&a); err != nil {
		return a, err
	}
	if c.Classic {
		a.Bound.Classic()
	}
	if err = Authorize(c.Principal, a.Bound.Scopes...); err != nil {
		return a, err
	}
	if a.Readable, a.Unread, err = readableTypes(c.Principal, a.Bound); err != nil {
		return a, err
	}
	if err = checkCursor(c.Principal, a.Bound); err != nil {
		return a, err
	}
	if a.Conditions, err = conditionsOf(&c); err != nil {
		return a, err
	}
	if err = complete(a, p); err != nil {
		return a, err
	}
	if err = s.checkLimits(c.Principal, a.Bound); err != nil {
		return a, err
	}
	if err = s.recordable(a); err != nil {
		return a, err
	}
	if c.Op.Effect.Writes() {
		if err = requireReason(a, p.RequireReason); err != nil {
			return a, err
		}
		if err = requireGuard(a, p.RequireGuard); err != nil {
			return a, err
		}
	}
	a.Tagged, a.Fields = a.Conditions.tagged(a.Bound), a.Bound.Fields
	if a.Tagged && a.Fields != nil {
		a.Fields = a.Fields.ReadingAll()
	}
	if a.Fields != nil && !a.Reads() {
		a.Fields = a.Fields.Keys()
		a.Unread = append(a.Unread, change.Unreadable(c.Op))
	}
	if c.Op.Effect.Writes() && (a.Conditions != Conditions{}) {
		reader := ops.Find(s.Rows, c.Op.Guard.Reader)
		fromHeaders := &condition{Conditions: a.Conditions, bound: a.Bound, reader: reader}
		a.Guards = slices.Insert(slices.Clone(c.Guards), 0, Guard(fromHeaders))
	}
	return a, nil
}

// read reads the parameters of a call after checking the caller's right to its row.
func read(ctx context.Context, c *Call) (given Given, err error) {
	if c.For != nil { // the values need not be read, so the audit shows them even if the caller lacks the right
		if given, err = c.Input.Read(ctx); err != nil {
			return given, err
		}
		return given, AuthorizeRow(c.Principal, c.Op)
	}
	if err = AuthorizeRow(c.Principal, c.Op); err != nil {
		return given, err
	}
	return c.Input.Read(ctx)
}

// bind checks the values of a call. Its error begins with the problems found while the values were read.
func bind(op *ops.Operation, given Given) (*ops.Bound, error) {
	bound, problems := op.Bind(given.Values, given.Problems...)
	if len(problems) > 0 {
		for i := range problems {
			given.say(op, &problems[i])
		}
		return nil, problem.Invalid(problems)
	}
	return bound, nil
}

// say adds the value that was sent, unless it is secret, and the name under which it was sent to the problem
// with a parameter.
func (g Given) say(op *ops.Operation, p *schema.FieldError) {
	param := op.Param(p.Field)
	if param == nil {
		return
	}
	if value := shownValue(g.Values[param.Name]); value != "" && !param.Kind.Secret() &&
		strings.HasPrefix(p.Message, "must ") && !strings.Contains(p.Message, value) {
		p.Message += "; " + value + " was sent"
	}
	if sent := g.Sent[param.Name]; sent != "" {
		p.Field, p.Message = sent, p.Message+"; here its name is "+param.Name
	}
}

// shownValue returns a value in the form in which answers repeat it, or "" if it has no such form.
func shownValue(value any) string {
	const most = 100
	switch value := value.(type) {
	case string:
		return "'" + problem.Printable(value, most) + "'"
	case bool, json.Number:
		return problem.Printable(fmt.Sprint(value), most)
	}
	return ""
}

// Audited reports whether the audit records calls of an operation.
func (s *Service) Audited(op *ops.Operation) bool {
	return s.Audit != nil && op != nil && (op.Effect.Writes() || op.Reveals || s.Audit.Reads())
}

// recordable returns an error if the call could not be recorded and so must not run. It returns nil
// if the row is not audited.
func (s *Service) recordable(a Accepted) error {
	if a.Op.Effect.Writes() && !a.DryRun() {
		if err := s.Kept.Writable(); err != nil {
			failed := problem.New(schema.Unavailable, "The key of the store is not the right one, and nothing is "+
				"changed without the store. An administrator must restore the key file; GET /readyz shows which one.")
			failed.RetryAfter, failed.Cause = problem.StoreRetry, err
			return failed
		}
	}
	if !s.Audited(a.Op) {
		return nil
	}
	if err := s.Audit.Check(); err != nil {
		return unrecorded(err)
	}
	return nil
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

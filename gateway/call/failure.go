package call

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// scriptCodes are the codes that scripts may raise.
var scriptCodes = []schema.Code{
	schema.InvalidRequest, schema.Forbidden, schema.Limit, schema.DirectoryDenied, schema.NotFound,
	schema.Conflict, schema.Protected, schema.NotEmpty, schema.Ambiguous, schema.TooMany,
	schema.ParentDeleted, schema.NotUndoable, schema.Policy, schema.Unprocessable,
}

// Failure returns the error of a call whose run failed with err. It derives the code and the message from
// error numbers and types, never from error texts, which are localized.
func Failure(op *ops.Operation, b *ops.Bound, err error) error {
	e := ps.AsError(err)
	f := &problem.Error{Outcome: e.Outcome, Server: e.Server, RetryAfter: e.RetryAfter, Cause: err}
	if e.Outside {
		f.Audited = schema.Limit
	}
	switch e.Kind {
	case ps.KindScript:
		scriptError(f, op, b, e)
	case ps.KindTimeout:
		f.Code, f.Message = schema.Timeout, "The call did not finish in time."
	case ps.KindOverloaded:
		f.Code, f.Message = schema.Overloaded, "The gateway is busy. Try again later."
	case ps.KindUnavailable, ps.KindStopped:
		f.Code = schema.Unavailable
		f.Message = "No PowerShell session can be started, or no server can be reached. Try again later. GET " +
			"/readyz shows which; " + problem.AskWhy
		if errors.Is(e, ps.ErrClosing) {
			f.Message = "The gateway is shutting down. Try again later."
		}
		if errors.Is(e, ps.ErrStarting) {
			f.Message = "The first PowerShell session is starting. Try again later. GET /readyz shows when it is " +
				"ready."
		}
	case ps.KindDied:
		f.Code, f.Message = schema.Backend, "The PowerShell session ended before it answered."
		if op.Effect.Writes() {
			f.Code = schema.Timeout // a write whose session died is reported as a timeout
		}
	case ps.KindCancelled:
		f.Code, f.Message = schema.Timeout, "The caller ended the request before it was answered."
	default:
		f.Code, f.Message = ourFault.code, ourFault.sentence
	}
	if (e.Kind == ps.KindTimeout || e.Kind == ps.KindDied) && f.Outcome == "" {
		f.Outcome = ps.OutcomeUnknown
	}
	if f.RetryAfter <= 0 && f.Code.Status() == 503 {
		f.RetryAfter = 5 * time.Second
	}
	for _, left := range e.Remains {
		f.Details = append(f.Details, problem.Remaining(left))
	}
	if f.Outcome == ps.OutcomeUnknown {
		for _, step := range e.Steps {
			f.Details = append(f.Details, problem.Detail{
				Message: fmt.Sprintf("This was done before: %s '%s'", step.Label, cmp.Or(step.DN, step.GUID)),
			})
		}
	}
	for _, note := range e.Notes {
		f.Details = append(f.Details, problem.Detail{Message: note})
	}
	forOperation(op, f)
	if f.Code == schema.Timeout {
		f.Message += leftBehind[f.Outcome]
	}
	if f.Outcome == ps.OutcomeDone && f.Code.Status() < 500 {
		f.Code = schema.Backend
		f.Message = "The change was made, but could not be read back: " + f.Message
	}
	return f
}

// forOperation completes an error for an operation. It removes the outcome unless the operation is a change.
func forOperation(op *ops.Operation, f *problem.Error) {
	if op.Effect.Writes() && f.Outcome == "" {
		f.Outcome = ps.OutcomeNone
	}
	if !op.Effect.Writes() {
		f.Outcome = ""
	}
}

// leftBehind completes the sentence about an interrupted write.
var leftBehind = map[ps.Outcome]string{
	ps.OutcomeNone:    " Nothing was changed.",
	ps.OutcomePartial: " Part of it was done; see details.",
	ps.OutcomeUnknown: " Whether it was done could not be found out.",
}

// scriptError completes the error of a run whose script failed.
func scriptError(f *problem.Error, op *ops.Operation, b *ops.Bound, e *ps.Error) {
	field := op.FieldOf(e.Arg)
	if e.Gateway != "" {
		f.Code, f.Message = schema.Code(e.Gateway), e.Message
		if !slices.Contains(scriptCodes, f.Code) || e.Message == "" {
			f.Code, f.Message = ourFault.code, ourFault.sentence
		}
		if p := op.Param(field); p != nil && p.Kind == schema.DN &&
			b != nil && !schema.NamesDomain(b.Text(p.Name)) {
			f.Message += " A distinguished name ends with the domain: OU=Sales,DC=corp,DC=example."
		}
	} else {
		var found meaning
		found, f.DirectoryCode = meaningOf(e)
		// The numbers do not say which object is missing. The target is missing, unless the failed step was about
		// an object that a parameter refers to (facts D9).
		if p := op.Param(field); found == badReference && p != nil && op.IsAbout(p) {
			found = missing
		}
		f.Code, f.Message = found.code, found.sentence
		if found == tookLong && op.Param(ops.FilterName) != nil {
			f.Code = schema.Unprocessable
			f.Message = "The domain controller gave up the search because it took too long. " +
				"Narrow it: with a Text, an OUPath, or a Filter on a field that has an index."
		}
		if asked := b.Added(); found == ourFault && e.Type == "System.ArgumentException" && len(asked) > 0 {
			f.Code, field = schema.Unprocessable, ""
			f.Message = "The directory does not know an attribute of these: " + strings.Join(asked, ", ") +
				". Its schema lacks it: Exchange adds extensionAttribute1 to 15, " +
				"and the setting directory.userAttributes names those of this installation."
		}
		if found == shutZone && !op.Effect.Writes() {
			f.Code = schema.Unavailable // the object will become readable again
		}
		if found == missing && op.Reply.Mark != ops.List {
			f.Message = "The " + op.SubjectOf(b) + " was not found."
		}
	}
	if status := f.Code.Status(); field != "" && status >= 400 && status < 500 {
		f.Details = append(f.Details, problem.Detail{Field: field, Message: f.Message})
	}
	for _, more := range e.Details {
		f.Details = append(f.Details, problem.Detail{Message: more})
	}
}

package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// scriptCodes are the codes that scripts may raise themselves.
var scriptCodes = map[string]bool{
	string(schema.InvalidRequest): true, string(schema.Forbidden): true, string(schema.Limit): true, string(schema.DirectoryDenied): true,
	string(schema.NotFound): true, string(schema.Conflict): true, string(schema.Protected): true, string(schema.NotEmpty): true,
	string(schema.Ambiguous): true, string(schema.TooMany): true, string(schema.ParentDeleted): true, string(schema.NotUndoable): true, string(schema.Policy): true, string(schema.Unprocessable): true,
}

// askWhy completes a sentence that refers to /readyz.
const askWhy = "with the scope " + string(identity.OpsRead) + " also why."

// failureOf returns the answer to a failed run.
func failureOf(op *ops.Operation, b *ops.Bound, err error) error {
	e := ps.AsError(err)
	f := &problem.Error{Outcome: e.Outcome, Server: e.Server, RetryAfter: e.RetryAfter, Cause: err}
	if e.Outside {
		f.Audited = schema.Limit
	}
	switch e.Kind {
	case ps.KindScript:
		scriptError(f, op, b, e)
	case ps.KindTimeout:
		f.Code, f.Message = schema.Timeout, "The work was not finished in time."
	case ps.KindOverloaded:
		f.Code, f.Message = schema.Overloaded, "The gateway is busy. Try again later."
	case ps.KindUnavailable, ps.KindStopped:
		f.Code, f.Message = schema.Unavailable, "No PowerShell session can be started, or no server that could answer be reached. Try again later. GET /readyz tells which; "+askWhy
		if errors.Is(e, ps.ErrClosing) {
			f.Message = "The gateway is shutting down. Try again later."
		}
		if errors.Is(e, ps.ErrStarting) {
			f.Message = "The first PowerShell session is starting. Try again later. GET /readyz tells when it is ready."
		}
	case ps.KindDied:
		f.Code, f.Message = schema.Backend, "The PowerShell session ended before it answered."
		if op.Effect.Writes() {
			f.Code = schema.Timeout // a died write is reported like a timed-out one
		}
	case ps.KindCancelled:
		f.Code, f.Message = schema.Timeout, "The request was given up before it was answered."
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
			f.Details = append(f.Details, problem.Detail{Field: "", Message: fmt.Sprintf("This was done before: %s '%s'", step.Label, cmp.Or(step.DN, step.GUID))})
		}
	}
	for _, note := range e.Notes {
		f.Details = append(f.Details, problem.Detail{Field: "", Message: note})
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

// forOperation completes an error for an operation: only changes have an outcome.
func forOperation(op *ops.Operation, f *problem.Error) {
	if op.Effect.Writes() && f.Outcome == "" {
		f.Outcome = ps.OutcomeNone
	}
	if !op.Effect.Writes() {
		f.Outcome = ""
	}
}

// leftBehind completes the sentence about a write that was cut off.
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
		if !scriptCodes[e.Gateway] || e.Message == "" {
			f.Code, f.Message = ourFault.code, ourFault.sentence
		}
	} else {
		var found meaning
		found, f.DirectoryCode = meaningOf(e)
		// The numbers do not say which object is missing: it is the target, unless the
		// failed step was about an object that a parameter refers to (facts D9).
		if p := op.Param(field); found == badReference && p != nil && op.IsAbout(p) {
			found = missing
		}
		f.Code, f.Message = found.code, found.sentence
		if found == tookLong && op.Param(ops.FilterName) != nil {
			f.Code, f.Message = schema.Unprocessable, "The domain controller gave up the search because it took too long. Narrow it: with a Text, an OUPath, or a Filter on a field that has an index."
		}
		if found == shutZone && !op.Effect.Writes() {
			f.Code = schema.Unavailable // it will be readable again
		}
		if found == missing && op.Reply.Mark != ops.List {
			f.Message = "The " + op.SubjectOf(b) + " was not found."
		}
	}
	if status := f.Code.Status(); field != "" && status >= 400 && status < 500 {
		f.Details = append(f.Details, problem.Detail{Field: field, Message: f.Message})
	}
	for _, more := range e.Details {
		f.Details = append(f.Details, problem.Detail{Field: "", Message: more})
	}
}

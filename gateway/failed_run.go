package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
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
func failureOf(op *ops.Operation, b *ops.Bound, err error) *failure {
	e := ps.AsError(err)
	f := &failure{outcome: e.Outcome, server: e.Server, retryAfter: e.RetryAfter, outside: e.Outside, cause: err}
	switch e.Kind {
	case ps.KindScript:
		f.scriptError(op, b, e)
	case ps.KindTimeout:
		f.code, f.message = schema.Timeout, "The work was not finished in time."
	case ps.KindOverloaded:
		f.code, f.message = schema.Overloaded, "The gateway is busy. Try again later."
	case ps.KindUnavailable, ps.KindStopped:
		f.code, f.message = schema.Unavailable, "No PowerShell session can be started, or no server that could answer be reached. Try again later. GET /readyz tells which; "+askWhy
		if errors.Is(e, ps.ErrClosing) {
			f.message = "The gateway is shutting down. Try again later."
		}
		if errors.Is(e, ps.ErrStarting) {
			f.message = "The first PowerShell session is starting. Try again later. GET /readyz tells when it is ready."
		}
	case ps.KindDied:
		f.code, f.message = schema.Backend, "The PowerShell session ended before it answered."
		if op.Effect.Writes() {
			f.code = schema.Timeout // a died write is reported like a timed-out one
		}
	case ps.KindCancelled:
		f.code, f.message = schema.Timeout, "The request was given up before it was answered."
	default:
		f.code, f.message = ourFault.code, ourFault.sentence
	}
	if (e.Kind == ps.KindTimeout || e.Kind == ps.KindDied) && f.outcome == "" {
		f.outcome = ps.OutcomeUnknown
	}
	if f.retryAfter <= 0 && f.code.Status() == 503 {
		f.retryAfter = 5 * time.Second
	}
	for _, left := range e.Remains {
		f.details = append(f.details, remaining(left))
	}
	if f.outcome == ps.OutcomeUnknown {
		for _, step := range e.Steps {
			f.details = append(f.details, detail{Field: "", Message: fmt.Sprintf("This was done before: %s '%s'", step.Label, cmp.Or(step.DN, step.GUID))})
		}
	}
	for _, note := range e.Notes {
		f.details = append(f.details, detail{Field: "", Message: note})
	}
	f.forOperation(op)
	if f.code == schema.Timeout {
		f.message += leftBehind[f.outcome]
	}
	if f.outcome == ps.OutcomeDone && f.code.Status() < 500 {
		f.code = schema.Backend
		f.message = "The change was made, but could not be read back: " + f.message
	}
	return f
}

// remaining names an object that a change which was not completed has left.
func remaining(left ps.Object) detail {
	return detail{Field: "", Message: "This remains: " + cmp.Or(left.DN, left.GUID)}
}

// leftBehind completes the sentence about a write that was cut off.
var leftBehind = map[ps.Outcome]string{
	ps.OutcomeNone:    " Nothing was changed.",
	ps.OutcomePartial: " Part of it was done; see details.",
	ps.OutcomeUnknown: " Whether it was done could not be found out.",
}

func (f *failure) scriptError(op *ops.Operation, b *ops.Bound, e *ps.Error) {
	field := op.FieldOf(e.Arg)
	if e.Gateway != "" {
		f.code, f.message = schema.Code(e.Gateway), e.Message
		if !scriptCodes[e.Gateway] || e.Message == "" {
			f.code, f.message = ourFault.code, ourFault.sentence
		}
	} else {
		var found meaning
		found, f.directoryCode = meaningOf(e)
		// The numbers do not say which object is missing: it is the target, unless the
		// failed step was about an object that a parameter refers to (facts D9).
		if p := op.Param(field); found == badReference && p != nil && op.IsAbout(p) {
			found = missing
		}
		f.code, f.message = found.code, found.sentence
		if found == tookLong && op.Param(ops.FilterName) != nil {
			f.code, f.message = schema.Unprocessable, "The domain controller gave up the search because it took too long. Narrow it: with a Text, an OUPath, or a Filter on a field that has an index."
		}
		if found == shutZone && !op.Effect.Writes() {
			f.code = schema.Unavailable // it will be readable again
		}
		if found == missing && op.Reply.Mark != ops.List {
			f.message = "The " + op.SubjectOf(b) + " was not found."
		}
	}
	if status := f.code.Status(); field != "" && status >= 400 && status < 500 {
		f.details = append(f.details, detail{Field: field, Message: f.message})
	}
	for _, more := range e.Details {
		f.details = append(f.details, detail{Field: "", Message: more})
	}
}

package call

import (
	"context"
	"errors"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Calls of rows for other protocols pass the same stages as all calls. This file contains the differences.

// readDocument reads the document of a row of a protocol. The document is not needed afterwards.
func readDocument(a *Accepted) error {
	p := a.Op.Protocol
	if p == nil || p.Read == nil {
		return nil
	}
	defer a.Parse()()
	wrong := p.Read(a.Bound, a.Given.Document)
	a.Given.Document = nil
	if wrong != nil {
		return problem.Invalid([]schema.FieldError{*wrong})
	}
	return nil
}

// complete derives the arguments of the script for a row of a protocol.
func complete(a Accepted, policy *Policy) error {
	p := a.Op.Protocol
	if p == nil || p.Complete == nil {
		return nil
	}
	if wrong := p.Complete(a.Bound, ops.Context{Caller: a.Principal, Settings: policy.Protocols}); wrong != nil {
		return problem.Invalid([]schema.FieldError{*wrong})
	}
	return nil
}

// wasCut reports whether the run of a change was interrupted and has certainly not changed anything.
func wasCut(err error) bool {
	e := ps.AsError(err)
	return e.Outcome == ps.OutcomeNone && (e.Kind == ps.KindTimeout || e.Kind == ps.KindDied)
}

// limitRead limits the duration of a protocol's read as a whole, including the wait for a session,
// because its client soon gives up.
func limitRead(ctx context.Context, op *ops.Operation) (context.Context, context.CancelFunc) {
	if op.Protocol == nil || op.Timeout <= 0 || op.Effect.Writes() {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, op.Timeout, errTookLong)
}

var errTookLong = errors.New("the time limit of the row has passed")

package call

import (
	"context"
	"errors"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Rows that speak a protocol of others pass the same stages as all; this file has what they do in
// their own way.

// readDocument reads the document of a row of a protocol, which is not needed after that.
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

// complete derives what the script of a row of a protocol is called with.
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

// wasCut reports whether the run of a change was cut off and is known not to have made it.
func wasCut(err error) bool {
	e := ps.AsError(err)
	return e.Outcome == ps.OutcomeNone && (e.Kind == ps.KindTimeout || e.Kind == ps.KindDied)
}

// limitRead bounds a read of a protocol as a whole, the wait for a session included: its
// client gives up soon after, and for good.
func limitRead(ctx context.Context, op *ops.Operation) (context.Context, context.CancelFunc) {
	if op.Protocol == nil || op.Timeout <= 0 || op.Effect.Writes() {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, op.Timeout, errTookLong)
}

var errTookLong = errors.New("the time limit of the row has passed")

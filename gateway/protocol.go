package gateway

import (
	"adgateway/gateway/call"
	"context"
	"encoding/json"
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Rows that speak a protocol of others pass the same stages as all; this file has what
// they do in their own way.

// read reads the document of a row of a protocol.
func (s *Server) read(r *request) error {
	p := r.op.Protocol
	if p == nil || p.Read == nil {
		return nil
	}
	defer r.parsing()()
	wrong := p.Read(r.bound, r.given.Document)
	r.given.Document = nil
	if wrong != nil {
		return problem.Invalid([]schema.FieldError{*wrong})
	}
	return nil
}

// complete derives what the script of a row of a protocol is called with.
func (s *Server) complete(r *request) error {
	p := r.op.Protocol
	if p == nil || p.Complete == nil {
		return nil
	}
	if wrong := p.Complete(r.bound, s.protocolContext(r)); wrong != nil {
		return problem.Invalid([]schema.FieldError{*wrong})
	}
	return nil
}

func (s *Server) protocolContext(r *request) ops.Context {
	return ops.Context{Caller: r.principal, Settings: r.policy.Protocols}
}

// exchange runs the script of a row of a protocol, if it has one, and answers.
func (s *Server) exchange(r *request, e *envelope) (call.Answer, error) {
	r.result = &ps.Result{Effect: ps.EffectNone}
	if r.op.Script != "" && !r.bound.Idle() {
		r.result, r.runErr = s.run(r, e)
		if r.runErr != nil && r.op.Protocol.Repeats && wasCut(r.runErr) {
			r.result, r.runErr = s.run(r, e)
		}
	}
	if r.wasMade(e, r.runErr) {
		s.unread(r, e, r.runErr)
	}
	switch {
	case r.runErr != nil:
		return call.Answer{}, s.explainRun(r, e, r.runErr)
	case len(r.result.Failures) > 0:
		return call.Answer{}, e.partial(r.result)
	case r.op.Protocol.Whole && len(r.result.Warnings) > 0:
		first := r.result.Warnings[0]
		failed := problem.New(schema.Backend, "Not everything could be read, and a part of it would be taken for all: %s: %s", first.Target, first.Message)
		failed.Server = r.result.Server
		return call.Answer{}, failed
	}
	for _, note := range r.bound.Notes() {
		s.Log.WithFields(logrus.Fields{"request": r.id, "operation": r.op.ID}).Warn(note)
	}
	r.server = r.result.Server
	answer := call.Answer{Server: r.result.Server, Effect: r.result.Effect}
	if p := r.op.Protocol; p.Answer != nil {
		body, err := p.Answer(r.bound, s.protocolContext(r), e.batches)
		if err != nil {
			return call.Answer{}, problem.Internal(err)
		}
		answer.Foreign = body
	}
	return answer, nil
}

// wasCut reports whether a change was cut off and is known not to have been made.
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

// takeRaw keeps the records of a row of a protocol as they came.
func (e *envelope) takeRaw(batch json.RawMessage) error {
	if !json.Valid(batch) || len(batch) == 0 || batch[0] != '[' {
		return ps.ErrInvalidRecords
	}
	e.batches = append(e.batches, batch)
	return nil
}

package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

func (s *Server) audited(op *ops.Operation) bool {
	return s.Audit != nil && op != nil && (op.Effect.Writes() || s.Audit.Reads())
}

// recordIntent records that an operation is about to run. Without a record it
// must not run. The entry is nil if the operation is not audited.
func (s *Server) recordIntent(r *request) (*audit.Entry, *failure) {
	if !s.audited(r.op) {
		return nil, nil
	}
	entry, err := s.Audit.Intent(r.auditCall(func(p *ops.Param) (string, bool) {
		return r.bound.Text(p.Name), r.bound.Has(p.Name)
	}))
	if err != nil {
		failed := fail(schema.Unavailable, "The audit log cannot be written, and nothing is changed without it. Try again later. GET /readyz tells when it can; "+askWhy)
		failed.retryAfter, failed.cause = auditRetry, err
		return nil, failed
	}
	return entry, nil
}

// recordOutcome records what became of an operation, or that it was refused.
func (s *Server) recordOutcome(r *request) {
	if !s.audited(r.op) {
		return
	}
	var err error
	switch {
	case r.intent != nil:
		err = r.intent.Outcome(r.auditResult())
	case r.failure != nil && r.failure.code.Status() < http.StatusInternalServerError:
		err = s.Audit.Refuse(r.auditCall(r.unchecked), r.auditResult())
	}
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Error("audit line not written")
	}
}

// unchecked returns the value of a parameter as the request has it, valid or
// not. Of a request that was refused before it was read only the path is known.
func (r *request) unchecked(p *ops.Param) (string, bool) {
	if r.given == nil {
		value, has := routeOf(r.c.Request).values[p.Path]
		return value, has && p.Path != ""
	}
	value, has := r.given[p.Name]
	return fmt.Sprint(value), has
}

// auditCall returns a call as the audit shows it, with those of its parameters
// that identify what it is about.
func (r *request) auditCall(value func(p *ops.Param) (string, bool)) audit.Call {
	call := audit.Call{RequestID: r.id, From: auth.Client(r.c.Request).String(), Operation: r.op.ID, Parameters: map[string]string{}}
	if r.principal != nil {
		call.Who = &audit.Who{Name: r.principal.Name, Kind: r.principal.Kind}
	}
	for i := range r.op.Params {
		p := &r.op.Params[i]
		text, has := value(p)
		switch {
		case !has:
		case p.Kind.Secret():
			call.Parameters[p.Name] = masked
		case p.Identifies():
			call.Parameters[p.Name] = shortened(text)
		}
	}
	return call
}

const masked = "***"

// shortened limits what a refused request can write to the audit. No accepted
// name is longer, but a distinguished name can be.
func shortened(text string) string {
	const limit = 4096
	if len(text) <= limit {
		return text
	}
	end := limit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// auditResult returns what became of a call as the audit shows it.
func (r *request) auditResult() audit.Result {
	record := audit.Result{Outcome: string(ps.OutcomeDone), Status: r.c.Writer.Status(), Server: r.server}
	if result := r.result; result != nil {
		record.Changes, record.Steps = result.Changes, result.Steps
		for _, failed := range result.Failures {
			record.Failed = append(record.Failed, ps.Object{GUID: failed.GUID, DN: failed.DN})
		}
		if result.Effect == ps.EffectNone {
			record.Outcome = string(ps.OutcomeNone)
		}
	}
	if r.runErr != nil {
		err := ps.AsError(r.runErr)
		record.Steps, record.Remains = err.Steps, err.Remains
	}
	if f := r.failure; f != nil {
		record.Code, record.Server = string(f.code), cmp.Or(f.server, record.Server)
		record.Outcome = cmp.Or(string(f.outcome), string(ps.OutcomeNone))
	}
	return record
}

// auditRetry is the Retry-After of a call that could not be recorded.
const auditRetry = 5 * time.Second

func auditCheck(log *audit.Log) Check {
	if err := log.Check(); err != nil {
		return Check{Name: "audit", Reason: fmt.Sprintf("the audit log cannot be written: %v", err)}
	}
	return Check{Name: "audit", OK: true}
}

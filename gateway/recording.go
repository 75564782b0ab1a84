package gateway

import (
	"fmt"
	"net/http"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
	"adgateway/ps"
)

// holds compares what is announced with what the call depends on: its guards, and the plan to be
// applied.
func holds(r *request, i *ps.Intent) error {
	if err := call.Announced(r.checked.Guards, i); err != nil {
		return err
	}
	return r.applying.Announced(i)
}

// recordOutcome records the outcome of an operation, or that it was refused, before
// the first byte of its answer is sent. Only a streamed answer, which is never that of
// a change, is recorded when it is complete.
func (s *Server) recordOutcome(r *request, raced bool) {
	if r.recorded {
		return
	}
	r.recorded = true
	var err error
	switch {
	case !s.calls.Audited(r.op):
	case r.run.HasLines():
		whole := r.auditResult(raced)
		err = r.run.WriteOutcomes(func(line audit.Call) audit.Result { return r.lineResult(line, whole) })
	default:
		err = s.writeOutcome(r)
	}
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Error("audit line not written")
		return
	}
	r.run.Audited()
}

// writeOutcome writes the line about the outcome of an operation, if it has one.
func (s *Server) writeOutcome(r *request) (err error) {
	result := r.auditResult(false)
	switch {
	case r.failure != nil && call.IsUnrecorded(r.failure):
	case r.replayed, r.resumed: // the change has its own line
		result.Outcome = string(ps.OutcomeNone)
		err = s.Audit.Done(r.auditCall(r.checked.AuditCall()), result, false)
	case r.started && !call.Waited(r.op, r.runErr):
		err = s.Audit.Done(r.auditCall(r.checked.AuditCall()), result, !r.op.Effect.Writes())
	case r.started, r.failure != nil && r.failure.Code.Status() < http.StatusInternalServerError:
		err = s.Audit.Refuse(r.auditCall(r.checked.AuditRefused()), result)
	}
	return err
}

// auditCall completes a call as the audit shows it.
func (r *request) auditCall(shown audit.Call) audit.Call {
	shown.Change, shown.PlanCaller = r.run.ID(), r.applying.Maker()
	return shown
}

// auditResult returns the outcome of a call as the audit shows it.
func (r *request) auditResult(raced bool) audit.Result {
	record := call.AuditRun(r.result, r.runErr)
	record.Status, record.Server, record.PinEpoch = r.status, r.server, r.run.PinEpoch()
	record.Duration = time.Since(r.startedAt)
	if r.dryRun() {
		record.Outcome = string(ps.OutcomeNone)
	}
	switch {
	case raced:
		record.Code = call.Raced
	case r.notReadBack:
		record.Code = call.NotReadBack
	}
	if r.failure != nil {
		call.AuditFailure(&record, r.failure)
	}
	return record
}

func auditCheck(log *audit.Log) Check {
	if err := log.Check(); err != nil {
		return Check{Name: "audit", Reason: fmt.Sprintf("the audit log cannot be written: %v", err)}
	}
	warning := log.Warning()
	return Check{Name: "audit", OK: true, Degraded: warning != "", Reason: warning}
}

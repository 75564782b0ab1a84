package gateway

import (
	"fmt"
	"net/http"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
	"adgateway/ps"
)

// announced returns what records that a change is about to be made, which is not made
// without the record. So calls that are refused or find nothing to do have no intent.
func (s *Server) announced(r *request) func(ps.Intent) error {
	return func(i ps.Intent) error {
		if !i.Changes() {
			if err := holds(r, &i); err != nil {
				return err
			}
			return r.applying.Use()
		}
		if err := r.hold.claim(locksOf(r.op, r.checked.Zone(&i), &i)); err != nil {
			return err
		}
		err := holds(r, &i)
		if err == nil {
			err = s.keepIntent(r, i)
		}
		r.hold.made = r.hold.made || err == nil
		return err
	}
}

// holds compares what is announced with what the call depends on: its guards, and the plan to be
// applied.
func holds(r *request, i *ps.Intent) error {
	if err := call.Announced(r.checked.Guards, i); err != nil {
		return err
	}
	return r.applying.Announced(i)
}

// keepIntent keeps what is about to be changed where it outlives the request: in the store
// and in the audit. Afterwards the change may begin, if that is at once.
func (s *Server) keepIntent(r *request, i ps.Intent) error {
	if err := s.allow(r, &i); err != nil {
		return err
	}
	r.pinEpoch = i.PinEpoch
	var err error
	if p := r.op.Protocol; p != nil && p.PerSet {
		err = s.recordSets(r, i)
	} else {
		err = s.recordIntent(r, &i)
	}
	if err != nil {
		return err
	}
	return s.inTime(r)
}

// recordIntent records that a change is about to be made. It does so once, also if the request
// runs again on another server.
func (s *Server) recordIntent(r *request, i *ps.Intent) error {
	if r.intent != nil || !s.calls.Audited(r.op) {
		return nil
	}
	about := r.auditCall(r.checked.AuditCall())
	about.Server, about.PinEpoch = i.Server, i.PinEpoch
	intent, err := s.Audit.Intent(about)
	if err != nil {
		return call.Unrecorded(err)
	}
	r.intent = intent
	return nil
}

// recordOutcome records what became of an operation, or that it was refused, before
// the first byte of its answer is sent. Only a streamed answer, which is never that of
// a change, is recorded when it is complete.
func (s *Server) recordOutcome(r *request) {
	if r.recorded {
		return
	}
	r.recorded = true
	var err error
	switch {
	case !s.calls.Audited(r.op):
	case len(r.sets) > 0:
		err = s.recordSetOutcomes(r)
	default:
		err = s.writeOutcome(r)
	}
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Error("audit line not written")
		return
	}
	if r.due != "" && !r.inDoubt && !r.unkept {
		s.paid.add(r.due)
	}
}

// writeOutcome writes the line about the outcome of an operation, if it has one.
func (s *Server) writeOutcome(r *request) (err error) {
	result := r.auditResult()
	switch {
	case r.intent != nil:
		err = r.intent.Outcome(result)
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
	if r.change != nil {
		shown.Change = r.change.ID
	}
	shown.PlanCaller = r.applying.Maker()
	return shown
}

// auditResult returns what became of a call as the audit shows it.
func (r *request) auditResult() audit.Result {
	record := call.AuditRun(r.result, r.runErr)
	record.Status, record.Server, record.PinEpoch = r.status, r.server, r.pinEpoch
	record.Duration = time.Since(r.startedAt)
	if r.dryRun() {
		record.Outcome = string(ps.OutcomeNone)
	}
	switch {
	case r.raced:
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

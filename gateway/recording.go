package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

func (s *Server) audited(op *ops.Operation) bool {
	return s.Audit != nil && op != nil && (op.Effect.Writes() || s.Audit.Reads())
}

// recordable returns the error of a request that could not be recorded, so that it
// is not run. It is nil if the operation is not audited.
func (s *Server) recordable(r *request) error {
	if err := s.Kept.Writable(); err != nil && r.op != nil && r.op.Effect.Writes() && !r.dryRun() {
		failed := problem.New(schema.Unavailable, "The key of the store is another one, and nothing is changed without the store. An administrator must restore the key file; GET /readyz tells which one.")
		failed.RetryAfter, failed.Cause = call.StoreRetry, err
		return failed
	}
	if !s.audited(r.op) {
		return nil
	}
	if err := s.Audit.Check(); err != nil {
		return unrecorded(err)
	}
	return nil
}

// unwritten is why a call is refused that the audit cannot record, not even as refused.
type unwritten struct{ error }

func (u *unwritten) Unwrap() error { return u.error }

// isUnwritten reports whether a call was refused because the audit cannot record it.
func isUnwritten(e *problem.Error) bool {
	if e == nil {
		return false
	}
	why := (*unwritten)(nil)
	return errors.As(e, &why)
}

// unrecorded returns the error of a request that cannot be recorded.
func unrecorded(err error) error {
	failed := problem.New(schema.Unavailable, "The audit log cannot be written, and nothing is changed without it. Try again later. GET /readyz tells when it can; "+call.AskWhy)
	if errors.Is(err, audit.ErrSpent) {
		failed.Message = "The audit log has used the space that it may use, and nothing is changed without it. An administrator must raise audit.maxTotal, or files must become older than audit.keepFor; GET /readyz tells when changes are accepted again."
	}
	failed.RetryAfter, failed.Cause = call.StoreRetry, &unwritten{err}
	return failed
}

// announced returns what records that a change is about to be made, which is not made
// without the record. So calls that are refused or find nothing to do have no intent.
func (s *Server) announced(r *request) func(ps.Intent) error {
	switch {
	case r.dryRun():
		return func(i ps.Intent) error {
			r.announced = &i
			return cmp.Or(r.guard.compare(r, &i), r.guards(&i), errDryRun)
		}
	case !r.op.Effect.Writes():
		return nil
	}
	return func(i ps.Intent) error {
		if !i.Changes() {
			if err := holds(r, &i); err != nil {
				return err
			}
			return r.applying.Use()
		}
		if err := r.hold.claim(locksOf(r.op, zoneOf(r, &i), &i)); err != nil {
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

// holds compares what is announced with what the call depends on: the state of the object,
// its guards, the plan to be applied.
func holds(r *request, i *ps.Intent) error {
	if err := r.guard.compare(r, i); err != nil {
		return err
	}
	if err := r.guards(i); err != nil {
		return err
	}
	return r.applying.Announced(i)
}

// guards asks the guards of a call about what is announced.
func (r *request) guards(i *ps.Intent) error {
	for _, g := range r.call.Guards {
		if err := g.Announced(i); err != nil {
			return err
		}
	}
	return nil
}

// unannounced asks the guards of a call whose script had nothing to change.
func (r *request) unannounced() error {
	if r.runErr != nil || r.result.Effect != ps.EffectNone || len(r.result.Failures) > 0 {
		return nil
	}
	for _, g := range r.call.Guards {
		if err := g.Unannounced(r.result); err != nil {
			return err
		}
	}
	return nil
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

// recordIntent records that a change is about to be made, or that an answer that is
// streamed is about to begin, which announces nothing. It does so once, also if the request
// runs again on another server.
func (s *Server) recordIntent(r *request, i *ps.Intent) error {
	if r.intent != nil || !s.audited(r.op) {
		return nil
	}
	call := r.auditCall(r.acceptedText)
	if i != nil {
		call.Server, call.PinEpoch = i.Server, i.PinEpoch
	}
	intent, err := s.Audit.Intent(call)
	if err != nil {
		return unrecorded(err)
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
	case !s.audited(r.op):
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
	case isUnwritten(r.failure):
	case r.replayed, r.resumed: // the change has its own line
		result.Outcome = string(ps.OutcomeNone)
		err = s.Audit.Done(r.auditCall(r.acceptedText), result, false)
	case r.started && !r.waited():
		err = s.Audit.Done(r.auditCall(r.acceptedText), result, !r.op.Effect.Writes())
	case r.started, r.failure != nil && r.failure.Code.Status() < http.StatusInternalServerError:
		err = s.Audit.Refuse(r.auditCall(r.unchecked), result)
	}
	return err
}

// waited reports whether the operation got no session, so that nothing ran.
func (r *request) waited() bool {
	if r.runErr == nil {
		return false
	}
	switch e := ps.AsError(r.runErr); e.Kind {
	case ps.KindOverloaded, ps.KindUnavailable:
		return cmp.Or(e.Outcome, ps.OutcomeNone) == ps.OutcomeNone
	case ps.KindCancelled:
		return r.op.Effect.Writes() // a read may have started
	default:
		return false
	}
}

// accepted returns the value of a parameter that was accepted.
func (r *request) acceptedText(p *ops.Param) (string, bool) {
	return r.bound.Text(p.Name), r.bound.Has(p.Name)
}

// unchecked returns the value of a parameter as the request has it, valid or
// not. Of a request that was refused before it was read only the path is known.
func (r *request) unchecked(p *ops.Param) (string, bool) {
	if r.given.Values == nil {
		value, has := r.call.Path[p.Path]
		return value, has && p.Path != ""
	}
	value, has := r.given.Values[p.Name]
	return fmt.Sprint(value), has
}

// auditCall returns a call as the audit shows it, with those of its parameters
// that identify what it is about.
func (r *request) auditCall(value func(p *ops.Param) (string, bool)) audit.Call {
	call := audit.Call{RequestID: r.id, From: r.call.From.String(), Operation: r.op.ID, Parameters: map[string]string{}}
	if r.change != nil {
		call.Change = r.change.ID
	}
	if r.principal != nil {
		call.Who = &audit.Who{Name: r.principal.Name, Kind: r.principal.Kind}
	}
	call.PlanCaller = r.applying.Maker()
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

// shortened limits what a request can write to the audit. No accepted name is longer,
// but a distinguished name can be. Package audit limits refused requests further.
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
	record := audit.Result{Outcome: string(ps.OutcomeDone), Status: r.status, Server: r.server, PinEpoch: r.pinEpoch, Duration: time.Since(r.startedAt)}
	if result := r.result; result != nil {
		record.Changes, record.Steps = result.Changes, result.Steps
		for _, failed := range result.Failures {
			record.Failed = append(record.Failed, ps.Object{GUID: failed.GUID, DN: failed.DN})
		}
		if result.Effect == ps.EffectNone {
			record.Outcome = string(ps.OutcomeNone)
		}
		if result.Outside {
			record.Code = string(schema.Limit)
		}
	}
	if r.dryRun() {
		record.Outcome = string(ps.OutcomeNone)
	}
	switch {
	case r.raced:
		record.Code = call.Raced
	case r.notReadBack:
		record.Code = call.NotReadBack
	}
	if r.runErr != nil {
		err := ps.AsError(r.runErr)
		record.Steps, record.Remains = err.Steps, err.Remains
	}
	if f := r.failure; f != nil {
		record.Code, record.Server = string(f.AuditCode()), cmp.Or(f.Server, record.Server)
		record.Outcome = cmp.Or(string(f.Outcome), string(ps.OutcomeNone))
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

package call

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"adgateway/gateway/audit"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Audited reports whether the audit has lines about calls of a row.
func (s *Service) Audited(op *ops.Operation) bool {
	return s.Audit != nil && op != nil && (op.Effect.Writes() || s.Audit.Reads())
}

// recordable returns the error of a call that could not be recorded, so that it is not run. It is
// nil if the row is not audited.
func (s *Service) recordable(a Accepted) error {
	if err := s.Kept.Writable(); err != nil && a.Op.Effect.Writes() && !a.DryRun() {
		failed := problem.New(schema.Unavailable, "The key of the store is another one, and nothing is changed "+
			"without the store. An administrator must restore the key file; GET /readyz tells which one.")
		failed.RetryAfter, failed.Cause = StoreRetry, err
		return failed
	}
	if !s.Audited(a.Op) {
		return nil
	}
	if err := s.Audit.Check(); err != nil {
		return Unrecorded(err)
	}
	return nil
}

// unwritten is why a call is refused that the audit cannot record, not even as refused.
type unwritten struct{ error }

func (u *unwritten) Unwrap() error { return u.error }

// IsUnrecorded reports whether err is that of [Unrecorded].
func IsUnrecorded(err error) bool {
	why := (*unwritten)(nil)
	return errors.As(err, &why)
}

// Unrecorded returns the error of a call that cannot be recorded.
func Unrecorded(err error) error {
	failed := problem.New(schema.Unavailable, "The audit log cannot be written, and nothing is changed "+
		"without it. Try again later. GET /readyz tells when it can; "+AskWhy)
	if errors.Is(err, audit.ErrSpent) {
		failed.Message = "The audit log has used the space that it may use, and nothing is changed without it. " +
			"An administrator must raise audit.maxTotal, or files must become older than audit.keepFor; " +
			"GET /readyz tells when changes are accepted again."
	}
	failed.RetryAfter, failed.Cause = StoreRetry, &unwritten{err}
	return failed
}

// AuditCall returns the call as the audit shows it, with those of its parameters that identify what
// it is about, as they were accepted.
func (a Accepted) AuditCall() audit.Call {
	return a.auditCall(func(p *ops.Param) (string, bool) { return a.Bound.Text(p.Name), a.Bound.Has(p.Name) })
}

// AuditRefused returns a call that was refused as the audit shows it, with its parameters as they
// were given, valid or not. Of one that was refused before they were read only the path is known.
func (a Accepted) AuditRefused() audit.Call {
	return a.auditCall(func(p *ops.Param) (string, bool) {
		if a.Given.Values == nil {
			value, has := a.Path[p.Path]
			return value, has && p.Path != ""
		}
		value, has := a.Given.Values[p.Name]
		return fmt.Sprint(value), has
	})
}

func (a Accepted) auditCall(value func(p *ops.Param) (string, bool)) audit.Call {
	shown := audit.Call{
		RequestID: a.ID, From: a.From.String(), Operation: a.Op.ID, Parameters: map[string]string{},
	}
	if a.Principal != nil {
		shown.Who = &audit.Who{Name: a.Principal.Name, Kind: a.Principal.Kind}
	}
	for i := range a.Op.Params {
		p := &a.Op.Params[i]
		text, has := value(p)
		switch {
		case !has:
		case p.Kind.Secret():
			shown.Parameters[p.Name] = masked
		case p.Identifies():
			shown.Parameters[p.Name] = shortened(text)
		}
	}
	return shown
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

// AuditRun returns the outcome of a run that has ended with result or err as the audit shows it; both
// are nil if there was none.
func AuditRun(result *ps.Result, err error) audit.Result {
	shown := audit.Result{Outcome: string(ps.OutcomeDone)}
	if result != nil {
		shown.Changes, shown.Steps = result.Changes, result.Steps
		for _, failed := range result.Failures {
			shown.Failed = append(shown.Failed, ps.Object{GUID: failed.GUID, DN: failed.DN})
		}
		if result.Effect == ps.EffectNone {
			shown.Outcome = string(ps.OutcomeNone)
		}
		if result.Outside {
			shown.Code = string(schema.Limit)
		}
	}
	if err != nil {
		e := ps.AsError(err)
		shown.Steps, shown.Remains = e.Steps, e.Remains
	}
	return shown
}

// AuditFailure adds the error of a call to its outcome.
func AuditFailure(shown *audit.Result, f *problem.Error) {
	shown.Code, shown.Server = string(f.AuditCode()), cmp.Or(f.Server, shown.Server)
	shown.Outcome = cmp.Or(string(f.Outcome), string(ps.OutcomeNone))
}

// Waited reports whether a run of a row that ended with err got no session, so that nothing ran.
func Waited(op *ops.Operation, err error) bool {
	if err == nil {
		return false
	}
	switch e := ps.AsError(err); e.Kind {
	case ps.KindOverloaded, ps.KindUnavailable:
		return cmp.Or(e.Outcome, ps.OutcomeNone) == ps.OutcomeNone
	case ps.KindCancelled:
		return op.Effect.Writes() // a read may have started
	default:
		return false
	}
}

// readEnd is how a read has ended, for the audit.
type readEnd struct {
	started bool         // the script was run, or waited for a session
	intent  *audit.Entry // that records were about to be sent; nil: none were before the end
	result  *ps.Result   // nil: there is none
	runErr  error        // of the run
	status  int
	server  string
	err     error // of the call
	begun   time.Time
}

// recordRead records that a read was made, or that it was refused.
func (s *Service) recordRead(a Accepted, end readEnd) {
	if !s.Audited(a.Op) {
		return
	}
	shown := AuditRun(end.result, end.runErr)
	shown.Status, shown.Server, shown.Duration = end.status, end.server, time.Since(end.begun)
	failure := problem.Of(end.err)
	if failure != nil {
		AuditFailure(&shown, failure)
	}
	var err error
	switch {
	case end.intent != nil:
		err = end.intent.Outcome(shown)
	case IsUnrecorded(end.err):
	case end.started && !Waited(a.Op, end.runErr):
		err = s.Audit.Done(a.AuditCall(), shown, true)
	case end.started, failure != nil && failure.Code.Status() < http.StatusInternalServerError:
		err = s.Audit.Refuse(a.AuditRefused(), shown)
	}
	if err != nil {
		s.Log.WithError(err).WithField("request_id", a.ID).Error("audit line not written")
	}
}

package call

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"adgateway/gateway/audit"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// unwritten is the cause of an error for a call that the audit cannot record, not even as refused.
type unwritten struct{ error }

func (u *unwritten) Unwrap() error { return u.error }

// isUnrecorded reports whether err was made by [unrecorded].
func isUnrecorded(err error) bool {
	why := (*unwritten)(nil)
	return errors.As(err, &why)
}

// unrecorded returns the error of a call that cannot be recorded.
func unrecorded(err error) error {
	failed := problem.New(schema.Unavailable, "The audit log cannot be written, and nothing is changed "+
		"without it. Try again later. GET /readyz shows when it can; "+problem.AskWhy)
	if errors.Is(err, audit.ErrSpent) {
		failed.Message = "The audit log has used up its space, and nothing is changed without it. An " +
			"administrator must raise audit.maxTotal, or files must become older than audit.keepFor; GET " +
			"/readyz shows when changes are accepted again."
	}
	failed.RetryAfter, failed.Cause = problem.StoreRetry, &unwritten{err}
	return failed
}

// AuditCall returns the call for the audit, with the accepted parameters that identify its object.
func (a Accepted) AuditCall() audit.Call {
	return a.auditCall(func(p *ops.Param) (string, bool) { return a.Bound.Text(p.Name), a.Bound.Has(p.Name) })
}

// AuditRefused returns a refused call for the audit, with its parameters as received, valid or not. If the
// call was refused before its parameters were read, only the path is known.
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
		who := a.Principal.Who()
		shown.Who = &who
	}
	for i := range a.Op.Params {
		p := &a.Op.Params[i]
		secret := p.Kind.Secret()
		if !secret && !p.Identifies() {
			continue
		}
		switch text, has := value(p); {
		case !has:
		case secret:
			shown.Parameters[p.Name] = masked
		default:
			shown.Parameters[p.Name] = shortened(text)
		}
	}
	return shown
}

const masked = "***"

// shortened limits the length of a text that a request writes to the audit. No accepted name exceeds the
// limit, but a distinguished name can. Package audit limits refused requests further.
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

// auditRun returns the outcome of a run for the audit. result and err are both nil if nothing ran.
func auditRun(result *ps.Result, err error) audit.Result {
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

// auditFailure adds the error of a call to its outcome.
func auditFailure(shown *audit.Result, f *problem.Error) {
	shown.Code, shown.Server = string(f.AuditCode()), cmp.Or(f.Server, shown.Server)
	shown.Outcome = cmp.Or(string(f.Outcome), string(ps.OutcomeNone))
}

// waited reports whether a run that ended with err got no session, in which case nothing ran.
func waited(op *ops.Operation, err error) bool {
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

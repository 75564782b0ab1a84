package gateway

import (
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// evidence is what a request's handlers leave for its lines in the audit.
type evidence struct {
	who   *audit.Who   // nil: the caller is not known
	given ops.Given    // as it came in; nil: it was refused before
	entry *audit.Entry // the intent; nil: there is none

	result *ps.Result // of the run; nil: there was none, or it failed
	err    *ps.Error
}

func (e *evidence) ran(result *ps.Result, err error) {
	e.result = result
	if err != nil {
		e.err = ps.AsError(err)
	}
}

func (s *Server) audited(op *ops.Operation) bool {
	return s.Audit != nil && op != nil && (op.Effect.Writes() || s.Audit.Reads())
}

// recordIntent writes that an operation is about to run. The failure says that
// it must not.
func (s *Server) recordIntent(c *gin.Context, op *ops.Operation, bound *ops.Bound) *failure {
	if !s.audited(op) {
		return nil
	}
	entry, err := s.Audit.Intent(s.auditCall(c, op, func(p *ops.Param) (string, bool) {
		return bound.Text(p.Name), bound.Has(p.Name)
	}))
	if err != nil {
		failed := fail(schema.Unavailable, "The audit log cannot be written, and nothing is changed without it. Try again later. GET /readyz tells when it can; "+askWhy)
		failed.retryAfter, failed.cause = auditRetry, err
		return failed
	}
	note(c).evidence.entry = entry
	return nil
}

// recordOutcome is the middleware that writes what became of an operation, or
// that it was refused, once the answer is made; a panic passes through.
func (s *Server) recordOutcome(c *gin.Context) {
	defer func() {
		n := note(c)
		if !s.audited(n.op) {
			return
		}
		result := n.auditResult(c.Writer)
		var err error
		switch {
		case n.evidence.entry != nil:
			err = n.evidence.entry.Outcome(result)
		case n.failure != nil && n.failure.code.Status() < http.StatusInternalServerError:
			err = s.Audit.Refuse(s.auditCall(c, n.op, n.given(c)), result)
		}
		if err != nil {
			s.Log.WithError(err).WithField("request_id", n.id).Error("audit line not written")
		}
	}()
	c.Next()
}

// given looks parameters up as the request has them, whether good or not. Of a
// request that was refused before it was read, only the path is known.
func (n *notes) given(c *gin.Context) func(p *ops.Param) (string, bool) {
	return func(p *ops.Param) (string, bool) {
		if n.evidence.given == nil {
			value, has := routeOf(c.Request).values[p.Path]
			return value, has && p.Path != ""
		}
		value, has := n.evidence.given[p.Name]
		return fmt.Sprint(value), has
	}
}

// auditCall is a call as the audit shows it: of its parameters those that say
// what it is about.
func (s *Server) auditCall(c *gin.Context, op *ops.Operation, value func(p *ops.Param) (string, bool)) audit.Call {
	n := note(c)
	call := audit.Call{RequestID: n.id, Who: n.evidence.who, From: auth.Client(c.Request).String(), Operation: op.ID, Parameters: map[string]string{}}
	for i := range op.Params {
		p := &op.Params[i]
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

// shortened bounds what somebody may write into the audit by a request that is
// refused; no name that is accepted is longer, but a distinguished name can be.
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

// auditResult is what became of a call, as the audit shows it.
func (n *notes) auditResult(w gin.ResponseWriter) audit.Result {
	r := audit.Result{Outcome: string(ps.OutcomeDone), Status: w.Status(), Server: n.server}
	if result := n.evidence.result; result != nil {
		r.Changes, r.Steps = result.Changes, result.Steps
		for _, failed := range result.Failures {
			r.Failed = append(r.Failed, ps.Object{GUID: failed.GUID, DN: failed.DN})
		}
		if result.Effect == ps.EffectNone {
			r.Outcome = string(ps.OutcomeNone)
		}
	}
	if err := n.evidence.err; err != nil {
		r.Steps, r.Remains = err.Steps, err.Remains
	}
	if f := n.failure; f != nil {
		r.Code, r.Server = string(f.code), firstOf(f.server, r.Server)
		r.Outcome = firstOf(string(f.outcome), string(ps.OutcomeNone))
	}
	return r
}

// auditRetry is when a call that could not be recorded may be tried again.
const auditRetry = 5 * time.Second

func auditCheck(log *audit.Log) Check {
	if err := log.Check(); err != nil {
		return Check{Name: "audit", Reason: fmt.Sprintf("the audit log cannot be written: %v", err)}
	}
	return Check{Name: "audit", OK: true}
}

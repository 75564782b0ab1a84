package gateway

import (
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

var (
	errManyRecords = errors.New("the script emitted several records where one is declared")
	errNoRecord    = errors.New("the script emitted no record where one is declared")
	errNotRun      = errors.New("the run ended without a result")
)

// serve is the handler of every operation: bind, run, reply.
func (s *Server) serve(op *ops.Operation) gin.HandlerFunc {
	return func(c *gin.Context) {
		note(c).op = op
		principal, failed := s.admit(c)
		if failed != nil {
			s.writeFailure(c, failed.forOperation(op))
			return
		}
		defer principal.Leave()
		a, failed := s.prepare(c, op, principal)
		if failed != nil {
			s.writeFailure(c, failed.forOperation(op))
			return
		}
		result, err := s.run(c, a)
		note(c).evidence.ran(result, err)
		if err == nil {
			err = a.complete(op)
		}
		if err == nil && len(result.Failures) > 0 {
			note(c).server = result.Server
			s.writeFailure(c, a.partial(result))
			return
		}
		if err == nil {
			note(c).server = result.Server
			a.finish(result)
			err = a.broken
		}
		switch {
		case err == nil:
			note(c).records = a.records
		case a.streamed:
			// Nothing can be said any more: an unfinished body must not look like one.
			note(c).failure = &failure{code: schema.Internal, cause: err}
			panic(http.ErrAbortHandler)
		default:
			s.writeFailure(c, a.failure(err))
		}
	}
}

// prepare authorises, takes the request apart, readies its answer and records
// that it is about to run.
func (s *Server) prepare(c *gin.Context, op *ops.Operation, principal *auth.Principal) (*answer, *failure) {
	bound, failed := s.bind(c, op, principal)
	if failed != nil {
		return nil, failed
	}
	spending, failed := spend(principal, bound, note(c).policy.BulkLimit)
	if failed != nil {
		return nil, failed
	}
	a := &answer{
		server: s, c: c, op: op, bound: bound, principal: principal, spending: spending,
		classic: isClassic(principal, note(c).policy.Dialect),
	}
	if failed := s.recordIntent(c, op, bound); failed != nil {
		a.spent(nil, &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone})
		return nil, failed
	}
	return a, nil
}

// run runs the script, settles what was cut off and counts what it destroyed.
func (s *Server) run(c *gin.Context, a *answer) (result *ps.Result, err error) {
	err = errNotRun
	defer func() { a.spent(result, err) }()
	req, began := s.request(c, a), time.Now()
	if result, err = s.Runner.Run(c.Request.Context(), req); err != nil {
		result, err = s.settled(c, a, req, began, err)
	}
	return result, err
}

// bind authorises and takes the request apart.
func (s *Server) bind(c *gin.Context, op *ops.Operation, principal *auth.Principal) (*ops.Bound, *failure) {
	if failed := lacks(principal, op.Scope); failed != nil {
		return nil, failed
	}
	given, problems, failed := s.collect(c, op)
	if failed != nil {
		return nil, failed
	}
	note(c).evidence.given = given
	bound, problems := op.Bind(given, problems...)
	if len(problems) > 0 {
		return nil, refusal(problems)
	}
	for _, scope := range bound.Scopes {
		if failed := lacks(principal, scope); failed != nil {
			return nil, failed
		}
	}
	return bound, nil
}

// admit finds the caller and takes the request against its quota. Unless it
// fails, the principal's Leave must follow.
func (s *Server) admit(c *gin.Context) (*auth.Principal, *failure) {
	principal, failed := s.authenticate(c)
	if failed != nil {
		return nil, failed
	}
	if refused := principal.Enter(); refused != nil {
		return nil, refusedBy(refused)
	}
	return principal, nil
}

// authenticate finds the caller, or says how to become known.
func (s *Server) authenticate(c *gin.Context) (*auth.Principal, *failure) {
	principal, err := s.caller(c.Request)
	if err == nil {
		note(c).principal = principal.Name
		note(c).evidence.who = &audit.Who{Name: principal.Name, Kind: principal.Kind}
		return principal, nil
	}
	var refused *auth.Refusal
	if !errors.As(err, &refused) {
		failed := fail(ourFault.code, "%s", ourFault.sentence)
		failed.cause = err
		return nil, failed
	}
	return nil, refusedBy(refused)
}

// refusedBy makes the answer to a refusal of the authentication.
func refusedBy(refused *auth.Refusal) *failure {
	failed := fail(schema.Unauthenticated, "%s", refused.Message)
	failed.refused = refusedUnknown
	if refused.Reason != "" {
		failed.cause = errors.New(refused.Reason)
	}
	switch refused.Status {
	case http.StatusBadRequest:
		failed.code, failed.refused = schema.InvalidRequest, refusedMalformed
	case http.StatusTooManyRequests:
		failed.code, failed.retryAfter = schema.RateLimited, max(refused.RetryAfter, time.Second)
		failed.refused = refusedRate
	case http.StatusServiceUnavailable:
		failed.code, failed.retryAfter = schema.Overloaded, max(refused.RetryAfter, time.Second)
		failed.refused = refusedBusy
		if refused.Unavailable {
			failed.code, failed.refused = schema.Unavailable, refusedStore
		}
	default:
		failed.challenge = auth.Challenge
	}
	return failed
}

func lacks(p *auth.Principal, scope auth.Scope) *failure {
	if p.Has(scope) {
		return nil
	}
	failed := fail(schema.Forbidden, "This needs the scope '%s', which the credential does not have.", scope)
	failed.refused = refusedScope
	return failed
}

// request is what the runner is asked for.
func (s *Server) request(c *gin.Context, a *answer) ps.Request {
	op, bound, policy := a.op, a.bound, note(c).policy
	req := ps.Request{
		ID: note(c).id, Script: op.Script, Lane: op.Lane, Args: bound.Args,
		Write: op.Effect.Writes(), List: op.Reply.Mark == ops.List, Limit: op.Timeout,
		Records: a.take,
	}
	for name, value := range contextArgs(a, policy) {
		if _, declared := s.scripts[op.Script].Param(name); declared {
			req.Args[name] = value
		}
	}
	switch {
	case req.Limit > 0:
	case req.Write:
		req.Limit = policy.WriteLimit
	case req.List:
		req.Limit = policy.ListLimit
	default:
		req.Limit = policy.ReadLimit
	}
	return req
}

// contextArgs are what scripts learn about the caller, where they ask for it.
func contextArgs(a *answer, policy *Policy) ps.Args {
	p, most := a.principal, policy.BulkLimit
	if _, many, _ := a.bound.Impact(); many {
		most = min(most, a.spending.Held())
	}
	return ps.Args{
		"AllowedOU":    limit(p.Limits.OUs),
		"AllowedZone":  limit(p.Limits.Zones),
		"AllowedGroup": limit(p.Limits.Groups),
		"Privileged":   ps.Bool(p.Has(auth.Privileged)),
		"BulkLimit":    ps.Int(int64(most)),
	}
}

func limit(allowed []string) ps.Value {
	if len(allowed) == 0 {
		return ps.Null()
	}
	return ps.List(allowed)
}

// complete tells whether a run that ended well answered what the row declares.
func (a *answer) complete(op *ops.Operation) error {
	if a.broken == nil && a.records == 0 && op.Reply.Mark != ops.List {
		return errNoRecord
	}
	return a.broken
}

// failure makes the answer to an error: one of our own about the records, or
// one of the run.
func (a *answer) failure(err error) *failure {
	ours := a.broken != nil || errors.Is(err, errNoRecord)
	if !ours {
		return a.explain(failureOf(a.op, a.bound, err))
	}
	f := &failure{code: ourFault.code, message: ourFault.sentence, cause: err}
	if a.broken != nil {
		f.cause = a.broken
	}
	if a.op.Effect.Writes() {
		f.outcome = ps.OutcomeDone
	}
	return f.forOperation(a.op)
}

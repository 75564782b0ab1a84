package gateway

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/auth"
	"adgateway/gateway/filter"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// serve returns the handler of an operation.
func (s *Server) serve(op *ops.Operation) func(*request) {
	return func(r *request) {
		r.op = op
		defer r.release()
		if failed := s.operate(r); failed != nil {
			forOperation(op, problem.Of(failed))
			r.fail(failed)
		}
	}
}

// operate takes a request for an operation through its stages, from top to bottom.
// Each stage returns what it adds to the request, or the failure that ends it.
func (s *Server) operate(r *request) (failed error) {
	if failed = unled(r); failed != nil {
		return failed
	}
	adoptCredential(r)
	if r.principal, failed = s.authenticate(r.c.Request); failed != nil {
		return failed
	}
	if failed = r.ownsHeaders(); failed != nil {
		return failed
	}
	if failed = admit(r.principal, s.gateways()); failed != nil {
		return failed
	}
	r.leave = sync.OnceFunc(r.principal.Leave)
	defer r.leave()
	if failed = authoriseRow(r.principal, r.op); failed != nil {
		return failed
	}
	defer s.freeBody(r)
	var problems []schema.FieldError
	if r.given, problems, failed = s.collect(r); failed != nil {
		return failed
	}
	if r.bound, failed = bind(r.op, r.given, problems); failed != nil {
		return failed
	}
	if failed = s.read(r); failed != nil {
		return failed
	}
	if isClassic(r.principal, r.policy.Dialect) {
		r.bound.Classic()
	}
	if failed = authorise(r.principal, r.bound.Scopes...); failed != nil {
		return failed
	}
	if failed = checkTypes(r); failed != nil {
		return failed
	}
	if failed = checkCursor(r); failed != nil {
		return failed
	}
	if failed = readGuard(r); failed != nil {
		return failed
	}
	if failed = s.complete(r); failed != nil {
		return failed
	}
	if failed = s.checkLimits(r); failed != nil {
		return failed
	}
	if failed = s.recordable(r); failed != nil {
		return failed
	}
	if failed = requireGuard(r); failed != nil {
		return failed
	}
	if done, failed := s.claim(r); done || failed != nil {
		return failed
	}
	if r.op.Local {
		return s.answerLocally(r)
	}
	return s.perform(r)
}

// perform runs the script of a request that nothing stands against, unless an earlier call
// with its key has, and answers.
func (s *Server) perform(r *request) (failed error) {
	e := newEnvelope(r, s.spooler, s.streamAbove)
	defer e.close()
	// What an earlier call with the key has done is answered whatever has become of its plan,
	// and of what the caller may still spend.
	if answered, failed := s.resume(r, e); answered {
		return failed
	}
	if failed = s.findPlan(r); failed != nil {
		return failed
	}
	if failed = s.reserve(r); failed != nil {
		return failed
	}
	defer s.giveBack(r)
	r.readAll()
	if r.op.Protocol != nil {
		return s.exchange(r, e)
	}
	r.result, r.runErr = s.run(r, e)
	return s.answer(r, e)
}

// authenticate finds the caller.
func (s *Server) authenticate(req *http.Request) (*auth.Principal, error) {
	principal, err := s.caller(req)
	if err == nil {
		s.proved(auth.Peer(req))
		return principal, nil
	}
	var refused *auth.Refusal
	if !errors.As(err, &refused) {
		return nil, problem.Internal(err)
	}
	return nil, refusedBy(refused)
}

// admit counts the request against the caller's quota, which some gateways share. On
// success [auth.Principal.Leave] must follow.
func admit(p *auth.Principal, gateways int) error {
	if refused := p.Enter(gateways); refused != nil {
		return refusedBy(refused)
	}
	return nil
}

// authorise requires all the scopes; any credential has the empty one.
func authorise(p *auth.Principal, scopes ...auth.Scope) error {
	for _, scope := range scopes {
		if scope != "" && !p.Has(scope) {
			failed := problem.New(schema.Forbidden, "This needs the scope '%s', which the credential does not have.", scope)
			failed.Reason = problem.ReasonScope
			return failed
		}
	}
	return nil
}

// bind checks the values of a request, after the problems met while reading it.
func bind(op *ops.Operation, given ops.Given, problems []schema.FieldError) (*ops.Bound, error) {
	bound, problems := op.Bind(given, problems...)
	if len(problems) > 0 {
		return nil, problem.Invalid(problems)
	}
	return bound, nil
}

var errNotRun = errors.New("the run ended without a result")

// run runs the script, settles a change that was cut off, and counts what was
// destroyed. The records go to e.
func (s *Server) run(r *request, e *envelope) (result *ps.Result, err error) {
	err = errNotRun // unless the runner returns
	defer func() {
		s.spend(r, func(kind auth.Impact) int { return affected(kind, r.op, result, err) })
	}()
	req, startedAt := s.runRequest(r, e), time.Now()
	r.started = true
	ctx, cancel := limitRead(r.c.Request.Context(), r.op)
	defer cancel()
	if req.Write {
		r.hold, r.limit = s.locks.begin(), req.Limit
		defer func() { s.release(r, err) }()
	}
	result, err = s.runLocked(ctx, r, req)
	if cut := settle.Open(req, err); cut != nil {
		return s.settle(r, e, settle.Change{Operation: r.op, Bound: r.bound, Request: req, StartedAt: startedAt, Cut: cut})
	}
	return result, err
}

// runRequest returns the request to the runner.
func (s *Server) runRequest(r *request, e *envelope) ps.Request {
	req := ps.Request{
		ID: r.id, Script: r.op.Script, Lane: r.op.Lane, Args: r.bound.Args,
		Write: r.op.Effect.Writes() && !r.dryRun(), List: r.op.Reply.Mark == ops.List, Limit: r.op.Timeout,
		Records: e.take, Announced: s.announced(r),
	}
	for name, value := range contextArgs {
		if _, declared := s.scripts[req.Script].Param(name); declared {
			req.Args[name] = value(r)
		}
	}
	req.State = s.stateOf(r, req.Args)
	if req.Write && s.Member != nil {
		req.WriteLimit = writeLimitOf
	}
	switch {
	case req.Limit > 0:
	case req.Write:
		req.Limit = r.policy.WriteLimit
	case req.List:
		req.Limit = r.policy.ListLimit
	default:
		req.Limit = r.policy.ReadLimit
	}
	return req
}

// contextArgs are the arguments that describe the caller, for the scripts that declare
// them.
var contextArgs = map[string]func(r *request) ps.Value{
	"AllowedOU":    func(r *request) ps.Value { return limit(r.principal.Limits.OUs) },
	"AllowedZone":  func(r *request) ps.Value { return limit(r.principal.Limits.Zones) },
	"AllowedGroup": func(r *request) ps.Value { return limit(r.principal.Limits.Groups) },
	"Privileged":   func(r *request) ps.Value { return ps.Bool(r.principal.Has(auth.Privileged)) },
	"GuardedGroup": func(r *request) ps.Value { return limit(r.gateway.guardedGroups(r)) },
	"BulkLimit": func(r *request) ps.Value {
		if r.spending.many {
			return ps.Int(int64(min(r.policy.BulkLimit, r.spending.held())))
		}
		return ps.Int(int64(r.policy.BulkLimit))
	},
	"ImpactLimit": func(r *request) ps.Value { return ps.Int(int64(r.spending.held())) },
	"StaleSince": func(r *request) ps.Value {
		return ps.List(filter.Moment(time.Now().AddDate(0, 0, -r.policy.StaleDays)))
	},
	"Readable":        func(r *request) ps.Value { return ps.List(r.readable) },
	"RemovedTogether": func(r *request) ps.Value { return ps.List(r.removedTogether()) },
	"CreatableType":   func(r *request) ps.Value { return ps.List(creatable(r.principal)) },
}

// guardedGroups returns what gives rights, as the scripts take it: each group after what it
// gives, which is a key of their list of guards.
func (s *Server) guardedGroups(r *request) (all []string) {
	add := func(guard string, groups []string) {
		for _, group := range groups {
			all = append(all, guard+":"+group)
		}
	}
	add("rights", r.policy.GuardedGroups)
	if s.Grants == nil {
		return all
	}
	grants := s.Grants()
	add("role", grants.Roles)
	if len(r.principal.Limits.Groups) == 0 { // else it reaches only groups that its own limits name
		add("limit", grants.Limits)
	}
	return all
}

func limit(allowed []string) ps.Value {
	if len(allowed) == 0 {
		return ps.Null()
	}
	return ps.List(allowed)
}

// settler returns what settles changes under a policy.
func (s *Server) settler(p *Policy) *settle.Settler {
	return &settle.Settler{Runner: s.Runner, Scripts: s.scripts, Limit: p.SettleLimit, Pause: p.SettlePause}
}

// settle finds out what became of a change that was cut off, whether or not the
// client is still there.
func (s *Server) settle(r *request, e *envelope, change settle.Change) (*ps.Result, error) {
	found := s.settler(r.policy).Settle(r.c.Request.Context(), change)
	if found.NoCleanUp != nil {
		s.Log.WithFields(logrus.Fields{"request": r.id, "error": found.NoCleanUp.Error()}).Error("what an unfinished create left behind could not be removed")
	}
	fields := logrus.Fields{"request": r.id, "operation": r.op.ID, "cause": change.Cut.Error(), "outcome": found.Outcome}
	if found.Unread != nil {
		fields["error"] = found.Unread.Error()
	}
	s.Log.WithFields(fields).Warn("a write that was cut off was settled")
	if found.Result == nil {
		return nil, found.Err
	}
	e.replace(found.Records)
	return found.Result, nil
}

// answer writes the answer to a run that succeeded; otherwise it returns the failure.
func (s *Server) answer(r *request, e *envelope) error {
	if failed := r.guard.refusal(r, e); failed != nil {
		return failed
	}
	if r.dryRun() {
		return s.answerPlan(r, e)
	}
	if failed := r.applying.applied(r); failed != nil {
		return failed
	}
	err := r.runErr
	if err == nil {
		err = e.check()
	}
	if err == nil {
		err = e.setPage(r.result)
	}
	if r.wasMade(e, err) {
		s.unread(r, e, err)
		err = nil
	}
	switch {
	case err != nil && r.unrecorded != nil && e.stream == nil:
		return r.unrecorded
	case err != nil:
		return s.explainRun(r, e, err)
	}
	r.server = r.result.Server
	if len(r.result.Failures) > 0 {
		return e.partial(r.result)
	}
	if err := e.finish(r.result); err != nil {
		r.abort(&problem.Error{Code: schema.Internal, Cause: err})
	}
	r.records = e.records
	return nil
}

// explainRun returns the answer to a run that failed, or that did not emit what
// the operation declares.
func (s *Server) explainRun(r *request, e *envelope, err error) error {
	switch {
	case e.stream != nil:
		r.abort(&problem.Error{Code: schema.Internal, Cause: err})
		return nil
	case e.err != nil:
		err = e.err
	case !errors.Is(err, errNoRecord):
		failed := problem.Of(failureOf(r.op, r.bound, err))
		s.explain(r, failed)
		return failed
	}
	return problem.Internal(err)
}

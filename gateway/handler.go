package gateway

import (
	"adgateway/gateway/call"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// operate takes a call through its stages, from top to bottom. Each stage returns what it adds to
// the call, or the error that ends it.
func (s *Server) operate(r *request) (call.Answer, error) {
	if r.outer != nil { // it counts with that one, which has the key
		if err := s.accept(r); err != nil {
			return call.Answer{}, err
		}
		return s.perform(r)
	}
	if err := admit(r.principal, s.gateways()); err != nil {
		return call.Answer{}, err
	}
	defer r.principal.Leave()
	if err := s.accept(r); err != nil {
		return call.Answer{}, err
	}
	if earlier, err := s.claim(r); earlier != nil || err != nil {
		return answerOr(earlier), err
	}
	if r.op.Local {
		return s.answerLocally(r)
	}
	return s.perform(r)
}

// answerOr returns an answer; nil: there is none.
func answerOr(answer *call.Answer) call.Answer {
	if answer == nil {
		return call.Answer{}
	}
	return *answer
}

// accept reads the parameters of a call, and refuses what its caller must not do.
func (s *Server) accept(r *request) (err error) {
	if err = r.readInput(); err != nil {
		return err
	}
	if r.bound, err = bind(r.op, r.given.Values, r.given.Problems); err != nil {
		if r.call.Undoes.Change != "" { // the values are those that were recorded
			problem.Of(err).Code = schema.NotUndoable
		}
		return err
	}
	if err = s.read(r); err != nil {
		return err
	}
	if r.call.Classic {
		r.bound.Classic()
	}
	for _, check := range []func(*request) error{
		func(r *request) error { return call.Authorise(r.principal, r.bound.Scopes...) },
		checkTypes, checkCursor, readGuard, s.complete, s.checkLimits, s.recordable, requireGuard,
	} {
		if err = check(r); err != nil {
			return err
		}
	}
	return nil
}

// readInput reads the parameters of a call, whose caller must have the right to its row.
func (r *request) readInput() (err error) {
	if r.outer != nil { // they are at hand, and the audit has them also if the caller lacks the right
		if r.given, err = r.call.Input.Read(r.ctx); err != nil {
			return err
		}
		return call.AuthoriseRow(r.principal, r.op)
	}
	if err = call.AuthoriseRow(r.principal, r.op); err != nil {
		return err
	}
	r.given, err = r.call.Input.Read(r.ctx)
	return err
}

// perform runs the script of a request that nothing stands against, unless an earlier call
// with its key has, and answers.
func (s *Server) perform(r *request) (call.Answer, error) {
	e := newEnvelope(r, s.StreamAbove)
	// What an earlier call with the key has done is answered whatever has become of its plan,
	// and of what the caller may still spend.
	if earlier, err := s.resume(r, e); earlier != nil || err != nil {
		return answerOr(earlier), err
	}
	if err := s.findPlan(r); err != nil {
		return call.Answer{}, err
	}
	var err error
	if r.spending, err = s.ledger.Reserve(r.ctx, r.principal, r.bound, r.policy.BulkLimit); err != nil {
		return call.Answer{}, err
	}
	defer func() { s.uncorrected(r, r.spending.Release(r.runs())) }()
	r.readAll()
	if r.op.Protocol != nil {
		return s.exchange(r, e)
	}
	r.result, r.runErr = s.run(r, e)
	return s.answer(r, e)
}

// admit counts the call against the caller's quota, which some gateways share. On
// success [identity.Principal.Leave] must follow.
func admit(p *identity.Principal, gateways int) error {
	if err := p.Enter(gateways); err != nil {
		return call.Exceeded(err)
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
		s.uncorrected(r, r.spending.Settle(result, err, r.runs()))
	}()
	req, startedAt := s.runRequest(r, e), time.Now()
	r.started = true
	ctx, cancel := limitRead(r.ctx, r.op)
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
	"Privileged":   func(r *request) ps.Value { return ps.Bool(r.principal.Has(identity.Privileged)) },
	"GuardedGroup": func(r *request) ps.Value { return limit(r.gateway.guardedGroups(r)) },
	"BulkLimit": func(r *request) ps.Value {
		if r.spending.Many() {
			return ps.Int(int64(min(r.policy.BulkLimit, r.spending.Most())))
		}
		return ps.Int(int64(r.policy.BulkLimit))
	},
	"ImpactLimit": func(r *request) ps.Value { return ps.Int(int64(r.spending.Most())) },
	"StaleSince": func(r *request) ps.Value {
		return ps.List(filter.Moment(time.Now().AddDate(0, 0, -r.policy.StaleDays)))
	},
	"Readable":        func(r *request) ps.Value { return ps.List(r.readable) },
	"RemovedTogether": func(r *request) ps.Value { return ps.List(append([]string{}, r.call.Undoes.Objects...)) },
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
	pause := min(p.SettlePause, p.SettleLimit/2) // leaves time for the second reading
	return &settle.Settler{Runner: s.Runner, Scripts: s.scripts, Limit: p.SettleLimit, Pause: pause}
}

// settle finds out what became of a change that was cut off, whether or not the
// client is still there.
func (s *Server) settle(r *request, e *envelope, change settle.Change) (*ps.Result, error) {
	found := s.settler(r.policy).Settle(r.ctx, change)
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

// answer returns the answer to a run that succeeded, or the error of the call.
func (s *Server) answer(r *request, e *envelope) (call.Answer, error) {
	if err := r.guard.refusal(r, e); err != nil {
		return call.Answer{}, err
	}
	if !r.dryRun() && r.runErr == nil && r.result.Effect == ps.EffectNone {
		if err := r.applying.Unannounced(r.result); err != nil {
			return call.Answer{}, err
		}
	}
	if err := r.unannounced(); err != nil {
		return call.Answer{}, err
	}
	if r.dryRun() {
		return s.answerPlan(r, e)
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
	if err != nil {
		return call.Answer{}, s.explainRun(r, e, err)
	}
	r.server = r.result.Server
	if len(r.result.Failures) > 0 {
		return call.Answer{}, e.partial(r.result)
	}
	answer, err := e.answer(r.result)
	if err != nil {
		err = problem.Internal(err)
	}
	return answer, err
}

// explainRun returns the error of a call whose run failed, or did not emit what the operation
// declares.
func (s *Server) explainRun(r *request, e *envelope, err error) error {
	switch {
	case e.streaming: // the caller has a part, and is told no more
	case problem.Is(err): // why the change was not allowed
		return r.applying.Refused(problem.Of(err))
	case e.err != nil:
		err = e.err
	case !errors.Is(err, errNoRecord):
		failed := problem.Of(call.Failure(r.op, r.bound, err))
		s.explain(r, failed)
		return failed
	}
	return problem.Internal(err)
}

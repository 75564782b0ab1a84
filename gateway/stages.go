package gateway

import (
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/bounds"
	"adgateway/gateway/call"
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
	if err := call.Meter(r.principal, s.gateways()); err != nil {
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
	r.checked, err = s.calls.Accept(r.ctx, r.call, &r.policy.calls)
	return err
}

// perform runs the script of a change that nothing stands against, unless an earlier call
// with its key has, and answers.
func (s *Server) perform(r *request) (call.Answer, error) {
	c := s.calls.Collector(r.ctx, r.checked, nil, nil)
	// What an earlier call with the key has done is answered whatever has become of its plan,
	// and of what the caller may still spend.
	if earlier, err := s.resume(r, c); earlier != nil || err != nil {
		return answerOr(earlier), err
	}
	if err := s.findPlan(r); err != nil {
		return call.Answer{}, err
	}
	if err := s.mayTake(r); err != nil {
		return call.Answer{}, err
	}
	defer func() { s.Bounds.Room.Take(r.principal.Identity().String(), r.run.Bytes()) }()
	var err error
	if r.spending, err = s.ledger.Reserve(r.ctx, r.principal, r.checked.Bound, r.policy.BulkLimit); err != nil {
		return call.Answer{}, err
	}
	defer func() { s.uncorrected(r, r.spending.Release(r.run.Running())) }()
	if r.dryRun() {
		return s.try(r)
	}
	if r.op.Protocol != nil {
		return s.exchange(r, c)
	}
	r.result, r.runErr = s.run(r, c)
	return s.answer(r, c)
}

var errNotRun = errors.New("the run ended without a result")

// run runs the script of a change, settles it if it was cut off, and counts what was destroyed. The
// records go to c.
func (s *Server) run(r *request, c *call.Collector) (result *ps.Result, err error) {
	err = errNotRun // unless the runner returns
	defer func() {
		s.uncorrected(r, r.spending.Settle(result, err, r.run.Running()))
	}()
	r.started = true
	if r.run == nil {
		r.run = s.writer.Prepare(s.changeOf(r))
	}
	made, err := r.run.Do(r.ctx, s.runRequest(r, c))
	if made.Settled {
		c.Replace(made.Records)
	}
	return made.Result, err
}

// runRequest returns the request to the runner.
func (s *Server) runRequest(r *request, c *call.Collector) ps.Request {
	return s.calls.Request(c, &r.policy.calls, r.spending)
}

// mayTake refuses a change of a caller that has taken its part of what is left on the disk, so that
// the others can go on.
func (s *Server) mayTake(r *request) error {
	err := s.Bounds.Room.Admit(r.principal.Identity().String())
	var full *bounds.Full
	if !errors.As(err, &full) {
		return err
	}
	failed := problem.New(schema.RateLimited, "%s", full.Sentences())
	failed.RetryAfter, failed.Reason = roomRetry, problem.ReasonRate
	return failed
}

// roomRetry is when there may be more room on the disk.
const roomRetry = time.Minute

// settler returns what settles changes under a policy.
func (s *Server) settler(p *policyInForce) *settle.Settler {
	pause := min(p.SettlePause, p.SettleLimit/2) // leaves time for the second reading
	return &settle.Settler{Runner: s.Runner, Scripts: s.calls.Scripts, Limit: p.SettleLimit, Pause: pause}
}

// answer returns the answer to a change whose script has ended, or the error of the call.
func (s *Server) answer(r *request, c *call.Collector) (call.Answer, error) {
	if r.runErr == nil {
		if err := s.unannounced(r, c); err != nil {
			return call.Answer{}, err
		}
	}
	err := r.runErr
	if err == nil {
		err = c.Finish(r.result)
	}
	if c.WasMade(r.result, r.runErr, err) {
		s.unread(r, c, err)
		err = nil
	}
	if err != nil {
		return call.Answer{}, r.applying.Refused(s.calls.Failed(c, &r.policy.calls, r.spending, err))
	}
	r.server = r.result.Server
	return c.Answer(r.result)
}

// unannounced asks the guards of a change, and the plan that it applies, about a script that had
// nothing to change.
func (s *Server) unannounced(r *request, c *call.Collector) error {
	if err := call.Unannounced(r.checked.Guards, r.result, c.Tag()); err != nil {
		return err
	}
	if r.result.Effect != ps.EffectNone {
		return nil
	}
	return r.applying.Unannounced(r.result, c.Tag())
}

// exchange runs the script of a change by a protocol of others, if there is something to do, and
// answers.
func (s *Server) exchange(r *request, c *call.Collector) (call.Answer, error) {
	r.result = &ps.Result{Effect: ps.EffectNone}
	if !r.checked.Bound.Idle() {
		r.result, r.runErr = s.run(r, c)
		if r.runErr != nil && r.op.Protocol.Repeats && call.WasCut(r.runErr) {
			r.result, r.runErr = s.run(r, c)
		}
	}
	if c.WasMade(r.result, r.runErr, r.runErr) {
		s.unread(r, c, r.runErr)
	}
	if r.runErr != nil {
		return call.Answer{}, s.calls.Failed(c, &r.policy.calls, r.spending, r.runErr)
	}
	answer, err := s.calls.Exchanged(c, &r.policy.calls, r.result)
	r.server = answer.Server
	return answer, err
}

// unread lets a call succeed whose change was made, and whose result could not be read back.
func (s *Server) unread(r *request, c *call.Collector, cause error) {
	s.Log.WithError(cause).WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID}).
		Warn("a change was made, but its result could not be read back")
	r.result = c.Unread(r.result, s.announcedBy(r), cause)
	r.runErr, r.notReadBack = nil, true
}

// announcedBy returns what a call has announced before its change; nil: it is not known.
func (s *Server) announcedBy(r *request) *ps.Intent {
	begun := r.claimed().Progress().Intent
	switch {
	case r.run.Intent() != nil:
		return r.run.Intent()
	case begun != nil:
		return begun
	case r.runErr != nil:
		return ps.AsError(r.runErr).Intent
	}
	return nil
}

// uncorrected logs that what a call has spent could not be corrected.
func (s *Server) uncorrected(r *request, err error) {
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).
			Error("what a call has spent of the hourly limits of its credential could not be corrected")
	}
}

package call

import (
	"errors"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// operate takes a call through its stages, from top to bottom. Each stage returns what it adds to
// the call, or the error that ends it.
func (r *request) operate() (Answer, error) {
	if r.outer != nil { // a part counts together with its outer call, which also has the key
		if err := r.accept(); err != nil {
			return Answer{}, err
		}
		return r.perform()
	}
	if err := meter(r.Principal, r.service.Gateways()); err != nil {
		return Answer{}, err
	}
	defer r.Principal.Leave()
	if err := r.accept(); err != nil {
		return Answer{}, err
	}
	if earlier, err := r.claimKey(); earlier != nil || err != nil {
		return answerOr(earlier), err
	}
	if r.Op.Local {
		return r.answerLocally()
	}
	return r.perform()
}

// answerOr returns *answer, or the zero Answer if answer is nil.
func answerOr(answer *Answer) Answer {
	if answer == nil {
		return Answer{}
	}
	return *answer
}

// perform runs the script of a change and answers, unless an earlier call with its key has made the
// change.
func (r *request) perform() (Answer, error) {
	c := r.service.Collector(r.ctx, r.Accepted, nil, nil)
	// An earlier call with the key is answered first, regardless of the state of its plan and of the
	// caller's quota.
	if earlier, err := r.resume(c); earlier != nil || err != nil {
		return answerOr(earlier), err
	}
	if err := findPlan(r.ctx, r); err != nil {
		return Answer{}, err
	}
	if err := r.mayTake(); err != nil {
		return Answer{}, err
	}
	defer func() { r.service.Bounds.Room.Take(r.Principal.Identity().String(), r.run.Bytes()) }()
	var err error
	if r.spending, err = r.service.Ledger.Reserve(r.ctx, r.Principal, r.Bound, r.policy.BulkLimit); err != nil {
		return Answer{}, err
	}
	defer func() { r.uncorrected(r.spending.Release(r.run.Running())) }()
	if r.DryRun() {
		return tryOut(r)
	}
	if r.Op.Protocol != nil {
		return r.exchange(c)
	}
	r.result, r.runErr = r.runScript(c)
	return r.answer(c)
}

// roomRetry is the suggested time until a retry when the disk is full.
const roomRetry = time.Minute

// mayTake refuses a change if the caller has used up its share of the disk, so that there is room for other
// callers.
func (r *request) mayTake() error {
	err := r.service.Bounds.Room.Admit(r.Principal.Identity().String())
	var full *bounds.Full
	if !errors.As(err, &full) {
		return err
	}
	failed := problem.New(schema.RateLimited, "%s", full.Sentences())
	failed.RetryAfter, failed.Reason = roomRetry, problem.ReasonRate
	return failed
}

var errNotRun = errors.New("the run ended without a result")

// runScript runs the script of a change, settles the change if it was interrupted, and counts the destroyed
// objects. c takes the records.
func (r *request) runScript(c *Collector) (result *ps.Result, err error) {
	err = errNotRun // unless the runner returns another one
	defer func() {
		r.uncorrected(r.spending.Settle(result, err, r.run.Running()))
	}()
	r.started = true
	if r.run == nil {
		r.run = r.service.Writer.Prepare(changeOf(r))
	}
	var made write.Made
	for try := 1; ; try++ {
		made, err = r.run.Do(r.ctx, r.service.Request(c, r.policy, r.spending))
		if try == mostPasswords || !r.refusedPassword(err) || !r.Bound.Regenerate() {
			break
		}
	}
	if made.Settled {
		c.Replace(made.Records)
	}
	return made.Result, err
}

// mostPasswords is the number of generated passwords that are tried for one change.
const mostPasswords = 4

// refusedPassword reports whether a run failed because of the password policy and changed nothing.
func (r *request) refusedPassword(err error) bool {
	if err == nil || problem.Is(err) || ps.AsError(err).Outcome != ps.OutcomeNone {
		return false
	}
	return problem.Of(Failure(r.Op, r.Bound, err)).Code == schema.Policy
}

// answer returns the answer to a change whose script has ended, or the error of the call.
func (r *request) answer(c *Collector) (Answer, error) {
	if r.runErr == nil {
		if err := r.idle(c); err != nil {
			return Answer{}, err
		}
	}
	err := r.runErr
	if err == nil {
		err = c.Finish(r.result)
	}
	if c.WasMade(r.result, r.runErr, err) {
		r.unread(c, err)
		err = nil
	}
	if err != nil {
		return Answer{}, r.applying.Refused(r.service.Failed(c, r.policy, r.spending, err))
	}
	r.server = r.result.Server
	return c.Answer(r.result)
}

// idle consults the guards of a change, and the plan that it applies, if the script had nothing to change.
func (r *request) idle(c *Collector) error {
	if err := Unannounced(r.Guards, r.result, c.Tag()); err != nil {
		return err
	}
	if r.result.Effect != ps.EffectNone {
		return nil
	}
	return r.applying.Idle(r.ctx, r.result.Server)
}

// exchange runs the script of a row for another protocol, if there is anything to do, and answers.
func (r *request) exchange(c *Collector) (Answer, error) {
	r.result = &ps.Result{Effect: ps.EffectNone}
	if !r.Bound.Idle() {
		r.result, r.runErr = r.runScript(c)
		if r.runErr != nil && r.Op.Protocol.Repeats && wasCut(r.runErr) {
			r.result, r.runErr = r.runScript(c)
		}
	}
	if c.WasMade(r.result, r.runErr, r.runErr) {
		r.unread(c, r.runErr)
	}
	if r.runErr != nil {
		return Answer{}, r.service.Failed(c, r.policy, r.spending, r.runErr)
	}
	answer, err := r.service.Exchanged(c, r.policy, r.result)
	r.server = answer.Server
	return answer, err
}

// unread turns the failure of a call into a success if its change was made but could not be read
// back.
func (r *request) unread(c *Collector, cause error) {
	r.log().WithError(cause).Warn("a change was made, but its result could not be read back")
	r.result = c.Unread(r.result, r.announcedBy(), cause)
	r.runErr, r.notReadBack = nil, true
}

// announcedBy returns the announcement of a call's change, or nil if it is unknown.
func (r *request) announcedBy() *ps.Intent {
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

// uncorrected logs that the quota of a call could not be corrected.
func (r *request) uncorrected(err error) {
	if err != nil {
		r.service.Log.WithError(err).WithField("request_id", r.ID).
			Error("the amount that a call used of its credential's hourly limits could not be corrected")
	}
}

// answerLocally answers a call of a row without a script.
func (r *request) answerLocally() (Answer, error) {
	r.started = true
	answer, err := r.service.Local.Handlers[r.Op.ID](r.ctx, r.local(nil))
	r.shown, r.server = answer.ChangeID, answer.Server
	if err != nil {
		return Answer{}, err
	}
	answer.Columns = r.Columns()
	return answer, nil
}

// local returns the call for a handler without a script. leave frees the caller's request slot; it
// may be nil.
func (r *request) local(leave func()) Accepted {
	a := r.Accepted
	a.Once, a.As, a.Leave = r.key.Name(), r, leave
	return a
}

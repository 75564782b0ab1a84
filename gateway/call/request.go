package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// request is the state of one call that may make a change. Its fields are in the order in which they become
// known. It is not safe for concurrent use.
type request struct {
	service *Service
	ctx     context.Context // the caller's context, which ends if the caller leaves
	policy  *Policy
	outer   *request // the call that this one is part of; nil if none
	begun   time.Time

	Accepted            // as sent, until it is accepted
	taken               // set before the script runs
	run      *write.Run // the change that the call makes; nil if it makes none
	ending
}

// taken holds everything that a call acquires before its script runs.
type taken struct {
	key         *idempotency.Claim // nil if the call has no key
	applying    *plan.Application  // nil if the call applies no plan
	fingerprint []byte             // fingerprint of the dry run, if its plan is stored
	spending    *quota.Spending    // nil if nothing counts
}

// ending describes the end of a call, as far as it is known.
type ending struct {
	started     bool       // the run was started, or waited for a session
	replayed    bool       // the answer is the stored answer of an earlier call
	resumed     bool       // the answer is derived from the outcome of an earlier call
	notReadBack bool       // the change was made, but could not be read back
	result      *ps.Result // of the run; nil if there was none, or it failed
	runErr      error      // of the run

	server  string         // server that answered; empty unless the run succeeded
	failure *problem.Error // nil on success
	shown   string         // id of the change that the answer names; empty if none
}

// newRequest returns the state of a call that has not begun.
func newRequest(ctx context.Context, s *Service, c Call) *request {
	r := &request{
		service: s, ctx: ctx, policy: s.Policy(), begun: time.Now(), Accepted: Accepted{Call: c},
	}
	if outer, is := c.For.(*request); is {
		r.outer, r.policy = outer, outer.policy
	}
	return r
}

// accept reads the parameters of the call and refuses calls that the caller may not make.
func (r *request) accept() (err error) {
	r.Accepted, err = r.service.Accept(r.ctx, r.Call, r.policy)
	return err
}

// whole returns the outer call of a part, or the request itself.
func (r *request) whole() *request {
	if r.outer != nil {
		return r.outer
	}
	return r
}

// conclude closes everything that a call has begun, records its end and completes its answer.
func (r *request) conclude(answer Answer, err error) (Answer, error) {
	if err != nil {
		err = completed(r.Op, err)
		for _, g := range r.Guards {
			err = g.Refused(err)
		}
	} else if answer.Partly != nil {
		forOperation(r.Op, answer.Partly)
	}
	r.failure = problem.Of(Problem(answer, err))
	end := conclusion{request: r}
	closed := end.close(answer, err)
	if r.key.Unchecked() && !r.Op.Local { // a job may have been submitted
		answer, err = Answer{}, idempotency.Unchecked()
		r.failure = problem.Of(err)
	}
	switch {
	case closed.Lost:
		answer, err = Answer{}, write.NotStored()
		r.failure = problem.Of(err)
	case closed.Raced && err != nil:
		err = Warned(err, racedWarning)
	case closed.Raced:
		answer.Warnings = append(answer.Warnings, racedWarning)
	}
	if closed.Unkept && err == nil {
		answer.Warnings = append(answer.Warnings, notInHistory)
	}
	if r.mayBeRepeated(err) {
		err = fmt.Errorf("%w (%w)", err, ErrAgain)
	}
	answer.ChangeID, answer.Change = r.shown, closed.Record
	if answer.Audited == "" && r.result != nil && r.result.Outside {
		answer.Audited = schema.Limit
	}
	end.record(end.status(answer, err), closed.Raced)
	return answer, err
}

// mayBeRepeated reports whether the call of an item failed with an error after which it should be
// made again.
func (r *request) mayBeRepeated(err error) bool {
	if r.Item == nil || err == nil {
		return false
	}
	return r.key.Again() || errors.Is(err, write.ErrOvertaken)
}

// outcome returns the outcome of the request; it is done if the request succeeded.
func (r *request) outcome() ps.Outcome {
	if r.failure == nil {
		return ps.OutcomeDone
	}
	return cmp.Or(r.failure.Outcome, ps.OutcomeNone)
}

// release ends the claim of a request.
func (r *request) release() {
	if r.key != nil {
		r.service.Writer.Leave(r.key, r.key.Release)
	}
}

// An undo makes other calls as its parts, which share the policy, the key and the plan of the undo.

// Part implements [Outer].
func (r *request) Part(id string, op *ops.Operation, given ops.Given) Call {
	return Call{
		ID: id, Op: op, Principal: r.Principal, From: r.From, Input: Values(given),
		Classic: r.Classic, Match: r.Match, For: r,
	}
}

// Plan implements [Outer].
func (r *request) Plan(ctx context.Context, parts int) error {
	if err := findPlan(ctx, r); err != nil {
		return err
	}
	if parts > 1 {
		r.fingerprint = nil
	}
	return nil
}

// Resumed implements [Outer]. While the outcome is unknown, the key does not change, so the next call with
// this key, at any gateway, continues from the same point.
func (r *request) Resumed(ctx context.Context) (first string, err error) {
	if !r.key.Unsure() {
		return "", nil
	}
	earlier := r.key.Progress()
	_, err = r.service.History.Get(ctx, earlier.Change)
	begun := earlier.Intent != nil && !errors.Is(err, changes.ErrAbsent)
	if begun && earlier.Verdict == nil {
		if err = r.judge(r.key); err != nil {
			r.key.LeaveOpen()
			return "", err
		}
		earlier = r.key.Progress()
	}
	switch v := earlier.Verdict; {
	case v == nil:
		r.key.Anew()
		return earlier.Batch, nil
	case v.Outcome == ps.OutcomeUnknown:
		return earlier.Change, r.key.Unknown()
	}
	return cmp.Or(earlier.Batch, earlier.Change), nil
}

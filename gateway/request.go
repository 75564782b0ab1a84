package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// request is the state of one call. Its stages add to it in the order of the fields, and the audit
// reads it once the call has ended. One goroutine uses it at a time.
type request struct {
	gateway   *Server
	ctx       context.Context // of who makes the call, who may leave
	call      call.Call       // as it was stated
	outer     *request        // that the call is a part of; nil: of none
	id        string
	startedAt time.Time
	policy    *policyInForce

	op        *ops.Operation
	principal *identity.Principal // nil: not authenticated
	leave     func()              // ends what counts against the caller's requests; nil: not of a stream
	checked   call.Accepted       // what is known of it
	spending  *quota.Spending     // nil: nothing that is counted

	started     bool               // the run was started, or waited for a session
	fingerprint []byte             // of a dry run whose plan is kept
	applying    *plan.Application  // nil: the call applies no plan
	run         *write.Run         // its change; nil: it makes none
	key         *idempotency.Claim // nil: without a key
	replayed    bool               // the answer is that of an earlier call
	resumed     bool               // the answer is derived from the outcome of an earlier call
	notReadBack bool               // the change was made, and could not be read back
	recorded    bool               // the audit has the outcome

	result *ps.Result // of the run; nil: none, or it failed
	runErr error      // of the run

	server  string         // that answered; empty unless the run succeeded
	failure *problem.Error // nil: a success
	shown   string         // identity of the change that the answer tells; empty: none
	status  int            // of the answer, for the audit
}

// newRequest returns a call that has not begun.
func (s *Server) newRequest(ctx context.Context, c call.Call) *request {
	r := &request{
		gateway: s, ctx: ctx, call: c, id: c.ID, startedAt: time.Now(), policy: s.current.Load(),
		op: c.Op, principal: c.Principal, checked: call.Accepted{Call: c},
	}
	if outer, is := c.For.(*request); is {
		r.outer, r.policy = outer, outer.policy
	}
	return r
}

// whole returns the call that a request is a part of, or the request itself if it is no part.
func (r *request) whole() *request {
	if r.outer != nil {
		return r.outer
	}
	return r
}

// Do makes a call. Its error is a [problem.Error] at heart. Also with an error the answer names the
// change that the call has made, if there is one. If to has taken records, and there is an error,
// what it was sent is not complete. A nil to takes none.
func (s *Server) Do(ctx context.Context, c call.Call, to call.Sink) (answer call.Answer, err error) {
	if call.Reads(c.Op) {
		return s.calls.Read(ctx, c, &s.current.Load().calls, to)
	}
	r := s.newRequest(ctx, c)
	defer r.release()
	answer, err = call.Guarded(func() (call.Answer, error) { return s.operate(r) })
	return s.conclude(r, answer, err)
}

// Subscribe sends the events of a call to who has asked for them, until they end or the caller
// leaves. An error means that none was sent.
func (s *Server) Subscribe(ctx context.Context, c call.Call, to call.Events) error {
	r := s.newRequest(ctx, c)
	_, err := call.Guarded(func() (call.Answer, error) {
		if err := call.Meter(r.principal, s.gateways()); err != nil {
			return call.Answer{}, err
		}
		r.leave = sync.OnceFunc(r.principal.Leave)
		defer r.leave()
		if err := s.accept(r); err != nil {
			return call.Answer{}, err
		}
		return call.Answer{}, s.follow(r, to)
	})
	_, err = s.conclude(r, call.Answer{}, err)
	return err
}

// Refuse records that a call was refused before it could be made, and returns the error.
func (s *Server) Refuse(c call.Call, err error) error {
	_, err = s.conclude(s.newRequest(context.Background(), c), call.Answer{}, err)
	return err
}

// conclude closes what a call has begun, records how it has ended, and completes its answer.
func (s *Server) conclude(r *request, answer call.Answer, err error) (call.Answer, error) {
	if err != nil {
		err = call.Completed(r.op, err)
		for _, g := range r.checked.Guards {
			err = g.Refused(err)
		}
		r.failure = problem.Of(err)
	}
	closed := s.closeChange(r, answer, err)
	switch {
	case closed.Lost:
		answer, err = call.Answer{}, write.NotStored()
		r.failure = problem.Of(err)
	case closed.Raced && err != nil:
		err = call.Warned(err, racedWarning)
	case closed.Raced:
		answer.Warnings = append(answer.Warnings, racedWarning)
	}
	if closed.Unkept && err == nil {
		answer.Warnings = append(answer.Warnings, notInHistory)
	}
	if r.mayBeRepeated(err) {
		err = fmt.Errorf("%w (%w)", err, call.ErrAgain)
	}
	answer.ChangeID, answer.Change = r.shown, closed.Record
	if answer.Audited == "" && r.result != nil && r.result.Outside {
		answer.Audited = schema.Limit
	}
	if r.outer == nil { // else nobody is answered with it
		r.status = call.Status(r.op, r.call.Classic, answer, err)
	}
	s.recordOutcome(r, closed.Raced)
	return answer, err
}

// mayBeRepeated reports whether a call is that of an item and failed with an error after which it
// is to be made again.
func (r *request) mayBeRepeated(err error) bool {
	if r.call.Item == nil || err == nil {
		return false
	}
	return r.key.Again() || errors.Is(err, write.ErrOvertaken)
}

// streamAbove is the size up to which a result is held back until the script has
// succeeded.
const streamAbove = 8 << 20

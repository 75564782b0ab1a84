package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// request is the state of one call. Its stages add to it in the order of the fields, and the audit
// reads it once the call has ended. One goroutine uses it at a time.
type request struct {
	gateway   *Server
	ctx       context.Context // of who makes the call, who may leave
	call      call.Call       // as it was stated
	to        call.Sink       // of a long list; nil: all is held back
	outer     *request        // that the call is a part of; nil: of none
	id        string
	startedAt time.Time
	policy    *Policy

	op        *ops.Operation
	principal *identity.Principal // nil: not authenticated
	leave     func()              // ends what counts against the caller's requests; nil: not of a stream
	given     call.Given          // Values is nil: not read
	bound     *ops.Bound          // nil: not accepted
	guard     guard               // what it demands of the state of its object
	readable  []string            // types of objects that a search over types may find
	unread    []ps.Warning        // about the others
	spending  *quota.Spending     // nil: nothing that is counted

	started     bool               // the run was started, or waited for a session
	announced   *ps.Intent         // of a dry run; nil: nothing was announced
	fingerprint []byte             // of a dry run whose plan is kept
	applying    *plan.Application  // nil: the call applies no plan
	hold        *hold              // what the change has locked; nil before it runs
	doubted     *hold              // of a change whose run has left it in doubt; nil: of none
	inDoubt     bool               // the change stays open
	key         *idempotency.Claim // nil: without a key
	replayed    bool               // the answer is that of an earlier call
	resumed     bool               // the answer is derived from what became of an earlier call
	change      *changes.Record    // in the history; nil: nothing was announced, or there is none
	kept        bool               // the change is in the store
	limit       time.Duration      // of the run of a change
	run         *cluster.Run       // of the script of a change; nil: none runs, or the gateway is in no cluster of one writer
	term        uint64             // in which it was begun; 0: none was
	lost        bool               // what became of the change could not be stored, and another gateway has to find it out
	notReadBack bool               // the change was made, and could not be read back
	raced       bool               // another gateway has settled the change before it was made
	unkept      bool               // the change is not in the history yet, or not as it ended
	naming      *naming            // what it has of names; nil: nothing
	intent      *audit.Entry       // nil: nothing was announced, or it is not recorded
	sets        []auditedSet       // announced, where each has its own line; then intent is nil
	recorded    bool               // the audit has the outcome
	due         string             // identity of the change whose line is noted as due; empty: none is

	result *ps.Result // of the run; nil: none, or it failed
	runErr error      // of the run

	server   string         // that answered; empty unless the run succeeded
	pinEpoch uint64         // of the announcement that was allowed last
	failure  *problem.Error // nil: a success
	shown    string         // identity of the change that the answer tells; empty: none
	status   int            // of the answer, for the audit
}

// newRequest returns a call that has not begun.
func (s *Server) newRequest(ctx context.Context, c call.Call, to call.Sink) *request {
	r := &request{
		gateway: s, ctx: ctx, call: c, to: to, id: c.ID, startedAt: time.Now(), policy: s.current.Load(),
		op: c.Op, principal: c.Principal,
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
	r := s.newRequest(ctx, c, to)
	defer r.release()
	answer, err = r.guarded(func() (call.Answer, error) { return s.operate(r) })
	return s.conclude(r, answer, err)
}

// Subscribe sends the events of a call to who has asked for them, until they end or the caller
// leaves. An error means that none was sent.
func (s *Server) Subscribe(ctx context.Context, c call.Call, to call.Events) error {
	r := s.newRequest(ctx, c, nil)
	_, err := r.guarded(func() (call.Answer, error) {
		if err := admit(r.principal, s.gateways()); err != nil {
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
	_, err = s.conclude(s.newRequest(context.Background(), c, nil), call.Answer{}, err)
	return err
}

// guarded does what it is given to do. A panic becomes an error that reveals nothing, with the
// stack for the log.
func (r *request) guarded(do func() (call.Answer, error)) (answer call.Answer, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			failed := problem.Internal(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			failed.Outcome = ps.OutcomeUnknown
			answer, err = call.Answer{}, failed
		}
	}()
	return do()
}

// conclude closes what a call has begun, records how it has ended, and completes its answer.
func (s *Server) conclude(r *request, answer call.Answer, err error) (call.Answer, error) {
	if err != nil {
		r.failure = problem.Of(err)
		call.ForOperation(r.op, r.failure)
		for _, g := range r.call.Guards {
			err = g.Refused(err)
			r.failure = problem.Of(err)
		}
		if whole := (*problem.Error)(nil); !errors.As(err, &whole) {
			err = r.failure
		}
	}
	s.closeChange(r, answer, err)
	switch {
	case r.lost:
		answer, err = call.Answer{}, endNotStored()
		r.failure = problem.Of(err)
	case r.raced && err != nil:
		err = call.Warned(err, racedWarning)
	case r.raced:
		answer.Warnings = append(answer.Warnings, racedWarning)
	}
	if r.unkept && err == nil {
		answer.Warnings = append(answer.Warnings, notInHistory)
	}
	if r.mayBeRepeated(err) {
		err = fmt.Errorf("%w (%w)", err, call.ErrAgain)
	}
	answer.ChangeID, answer.Change = r.shown, r.change
	if answer.Audited == "" && r.result != nil && r.result.Outside {
		answer.Audited = schema.Limit
	}
	if r.outer == nil { // else nobody is answered with it
		r.status = call.Status(r.op, r.call.Classic, answer, err)
	}
	s.recordOutcome(r)
	return answer, err
}

// mayBeRepeated reports whether a call is that of an item and failed with an error after which it
// is to be made again.
func (r *request) mayBeRepeated(err error) bool {
	if r.call.Item == nil || err == nil {
		return false
	}
	return r.key.Again() || errors.Is(err, errOvertaken)
}

// parsing waits until the document of a call may be parsed. Whoever waits calls done.
func (r *request) parsing() (done func()) {
	if r.given.Parsing == nil {
		return func() {}
	}
	return r.given.Parsing()
}

// errorBody is why a call failed, as an answer that is kept says it.
type errorBody = call.ErrorBody

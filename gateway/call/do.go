package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/sirupsen/logrus"
)

// Do makes a call. Its error is a [problem.Error] at heart. Also with an error the answer names the
// change that the call has made, if there is one. If to has taken records, and there is an error,
// what it was sent is not complete. A nil to takes none.
func (s *Service) Do(ctx context.Context, c Call, to Sink) (answer Answer, err error) {
	if Reads(c.Op) {
		return s.Read(ctx, c, s.Policy(), to)
	}
	r := newRequest(ctx, s, c)
	defer r.release()
	answer, err = guarded(func() (Answer, error) { return r.operate() })
	return r.conclude(answer, err)
}

// Subscribe sends the events of a call to the caller, until they end or the caller
// leaves. An error means that none was sent.
func (s *Service) Subscribe(ctx context.Context, c Call, to Events) error {
	r := newRequest(ctx, s, c)
	_, err := guarded(func() (Answer, error) {
		if err := meter(r.Principal, s.Gateways()); err != nil {
			return Answer{}, err
		}
		leave := sync.OnceFunc(r.Principal.Leave)
		defer leave()
		if err := r.accept(); err != nil {
			return Answer{}, err
		}
		r.started = true
		return Answer{}, s.Local.Streamers[c.Op.ID](ctx, r.local(leave), to)
	})
	_, err = r.conclude(Answer{}, err)
	return err
}

// Refuse records that a call was refused before it could be made, and returns the error.
func (s *Service) Refuse(c Call, err error) error {
	_, err = newRequest(context.Background(), s, c).conclude(Answer{}, err)
	return err
}

// Reads reports whether the calls of a row only read by a script: [Service.Read] makes them.
func Reads(op *ops.Operation) bool { return !op.Local && !op.Effect.Writes() }

// Read makes a call of a row that [Reads]. Its error is a [problem.Error] at heart. If to has taken
// records, and there is an error, what it was sent is not complete. A nil to takes none.
func (s *Service) Read(ctx context.Context, c Call, p *Policy, to Sink) (Answer, error) {
	r := reading{Service: s, policy: p, to: to, call: Accepted{Call: c}, end: readEnd{begun: time.Now()}}
	answer, err := guarded(func() (Answer, error) { return r.make(ctx) })
	if err != nil {
		err = completed(c.Op, err)
	}
	if r.end.result != nil && r.end.result.Outside {
		answer.Audited = schema.Limit
	}
	r.end.err, r.end.status = err, Status(c.Op, c.Classic, answer, err)
	s.recordRead(r.call, r.end)
	return answer, err
}

// guarded does what it is given to do. A panic becomes an error that reveals nothing, with the
// stack for the log.
func guarded(do func() (Answer, error)) (answer Answer, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			failed := problem.Internal(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			failed.Outcome = ps.OutcomeUnknown
			answer, err = Answer{}, failed
		}
	}()
	return do()
}

// completed returns the error of a call of a row, as its answer has it.
func completed(op *ops.Operation, err error) error {
	failed := problem.Of(err)
	forOperation(op, failed)
	if whole := (*problem.Error)(nil); !errors.As(err, &whole) {
		return failed
	}
	return err
}

// meter counts a call against its caller's quota, which some gateways share. On success
// [identity.Principal.Leave] must follow.
func meter(p *identity.Principal, gateways int) error {
	if err := p.Enter(gateways); err != nil {
		return problem.Exceeded(err)
	}
	return nil
}

// noKey refuses a call that changes nothing, and has an Idempotency-Key. Protocols of others have no
// such header.
func noKey(c *Call) error {
	if len(c.Keys) == 0 || c.Op.Protocol != nil || c.Op.Effect.Writes() {
		return nil
	}
	return problem.New(schema.NotSupported,
		"This call changes nothing, so that it takes no %s: leave it out.", ops.KeyHeader)
}

// reading is a read that is being made.
type reading struct {
	*Service
	policy *Policy
	to     Sink
	call   Accepted
	end    readEnd
}

func (r *reading) make(ctx context.Context) (answer Answer, err error) {
	if principal := r.call.Principal; r.call.For == nil { // else it counts with the outer call
		if err = meter(principal, r.Gateways()); err != nil {
			return answer, err
		}
		defer principal.Leave()
	}
	if r.call, err = r.Accept(ctx, r.call.Call, r.policy); err != nil {
		return answer, err
	}
	if err = noKey(&r.call.Call); err != nil {
		return answer, err
	}
	c := r.Collector(ctx, r.call, r.to, r.begun)
	if r.call.Op.Protocol != nil && (r.call.Op.Script == "" || r.call.Bound.Idle()) {
		r.end.result = &ps.Result{Effect: ps.EffectNone}
	} else {
		r.run(ctx, c)
	}
	switch {
	case r.end.runErr != nil:
		return answer, r.Failed(c, r.policy, unlimited{}, r.end.runErr)
	case r.call.Op.Protocol != nil:
		answer, err = r.Exchanged(c, r.policy, r.end.result)
		r.end.server = answer.Server
		return answer, err
	}
	if err = c.Finish(r.end.result); err != nil {
		return answer, r.Failed(c, r.policy, unlimited{}, err)
	}
	r.end.server = r.end.result.Server
	if answer, err = c.Answer(r.end.result); err == nil {
		err = r.call.asImage(&answer)
	}
	return answer, err
}

// run runs the script.
func (r *reading) run(ctx context.Context, c *Collector) {
	r.end.started = true
	ctx, cancel := limitRead(ctx, r.call.Op)
	defer cancel()
	r.end.result, r.end.runErr = r.Runner.Run(ctx, r.Request(c, r.policy, unlimited{}))
}

// begun records that the records of a long list are about to be sent.
func (r *reading) begun() error {
	if !r.Audited(r.call.Op) {
		return nil
	}
	intent, err := r.Audit.Intent(r.call.AuditCall())
	if err != nil {
		return unrecorded(err)
	}
	r.end.intent = intent
	return nil
}

// Collector returns a collector of the records of a call. To takes the records of a long list,
// after begun has succeeded; nil: all is held back.
func (s *Service) Collector(ctx context.Context, a Accepted, to Sink, begun func() error) *Collector {
	collecting := Collecting{To: to, Above: s.StreamAbove, Begun: begun}
	if s.Amend != nil {
		collecting.Amend = func(batch json.RawMessage) json.RawMessage {
			return s.Amend(ctx, a.Op.Reply.Shape, batch)
		}
	}
	return newCollector(a, collecting)
}

// Exchanged returns the answer to a call of a row of a protocol whose script has succeeded, or had
// nothing to do, and the error if that is a failure for its client.
func (s *Service) Exchanged(c *Collector, policy *Policy, result *ps.Result) (Answer, error) {
	a := c.call
	switch {
	case len(result.Failures) > 0:
		return c.partial(result)
	case a.Op.Protocol.Whole && len(result.Warnings) > 0:
		first := result.Warnings[0]
		failed := problem.New(schema.Backend,
			"Not everything could be read, and a part of it would be taken for all: %s: %s",
			first.Target, first.Message)
		failed.Server = result.Server
		return Answer{}, failed
	}
	for _, note := range a.Bound.Notes() {
		s.Log.WithFields(logrus.Fields{"request": a.ID, "operation": a.Op.ID}).Warn(note)
	}
	answer := Answer{Server: result.Server, Effect: result.Effect}
	if p := a.Op.Protocol; p.Answer != nil {
		body, err := p.Answer(a.Bound, ops.Context{Caller: a.Principal, Settings: policy.Protocols}, c.batches)
		if err != nil {
			return Answer{}, problem.Internal(err)
		}
		answer.Foreign = body
	}
	return answer, nil
}

// readEnd is how a read has ended, for the audit.
type readEnd struct {
	started bool         // the script was run, or waited for a session
	intent  *audit.Entry // that records were about to be sent; nil: none were before the end
	result  *ps.Result   // nil: there is none
	runErr  error        // of the run
	status  int
	server  string
	err     error // of the call
	begun   time.Time
}

// recordRead records that a read was made, or that it was refused.
func (s *Service) recordRead(a Accepted, end readEnd) {
	if !s.Audited(a.Op) {
		return
	}
	shown := auditRun(end.result, end.runErr)
	shown.Status, shown.Server, shown.Duration = end.status, end.server, time.Since(end.begun)
	failure := problem.Of(end.err)
	if failure != nil {
		auditFailure(&shown, failure)
	}
	var err error
	switch {
	case end.intent != nil:
		err = end.intent.Outcome(shown)
	case isUnrecorded(end.err):
	case end.started && !waited(a.Op, end.runErr):
		err = s.Audit.Done(a.AuditCall(), shown, true)
	case end.started, failure != nil && failure.Code.Status() < http.StatusInternalServerError:
		err = s.Audit.Refuse(a.AuditRefused(), shown)
	}
	if err != nil {
		s.Log.WithError(err).WithField("request_id", a.ID).Error("audit line not written")
	}
}

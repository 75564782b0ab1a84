package call

import (
	"cmp"
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
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/sirupsen/logrus"
)

// Do makes a call. Its error wraps a [*problem.Error]. The answer names the change that the call has made,
// even if Do fails. If Do fails after to has taken records, the records are incomplete. to may be nil.
func (s *Service) Do(ctx context.Context, c Call, to Sink) (answer Answer, err error) {
	if Reads(c.Op) {
		return s.Read(ctx, c, s.Policy(), to)
	}
	r := newRequest(ctx, s, c)
	defer r.release()
	answer, err = guarded(func() (Answer, error) { return r.operate() })
	return r.conclude(answer, err)
}

// Subscribe sends the events of a call to the caller until they end or the caller leaves. If it returns an
// error, it has sent no events.
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

// Reads reports whether the calls of a row only read, with a script. [Service.Read] makes such calls.
func Reads(op *ops.Operation) bool { return !op.Local && !op.Effect.Writes() }

// Read makes a call of a row that [Reads]. Its error wraps a [*problem.Error]. If Read fails after to has
// taken records, the records are incomplete. to may be nil.
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

// guarded runs do. It turns a panic into an error whose message reveals nothing and which carries the stack
// for the log.
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

// completed returns the error of a call with the information that the answer needs. op is the row of the
// call.
func completed(op *ops.Operation, err error) error {
	failed := problem.Of(err)
	forOperation(op, failed)
	if whole := (*problem.Error)(nil); !errors.As(err, &whole) {
		return failed
	}
	return err
}

// meter counts a call against its caller's quota, which gateways may share. On success the caller
// of meter must call [identity.Principal.Leave].
func meter(p *identity.Principal, gateways int) error {
	if err := p.Enter(gateways); err != nil {
		return problem.Exceeded(err)
	}
	return nil
}

// noKey refuses an Idempotency-Key on a call that changes nothing. Other protocols have no such
// header.
func noKey(c *Call) error {
	if len(c.Keys) == 0 || c.Op.Protocol != nil || c.Op.Effect.Writes() {
		return nil
	}
	return problem.New(schema.NotSupported,
		"This call changes nothing, so it does not accept %s: leave it out.", ops.KeyHeader)
}

// reading is a running read.
type reading struct {
	*Service
	policy *Policy
	to     Sink
	call   Accepted
	end    readEnd
}

func (r *reading) make(ctx context.Context) (answer Answer, err error) {
	if principal := r.call.Principal; r.call.For == nil { // a part counts with its outer call
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
	} else if err = r.run(ctx, c); err != nil {
		return answer, err
	}
	switch {
	case r.end.runErr != nil:
		return answer, r.Failed(c, r.policy, nil, r.end.runErr)
	case r.call.Op.Protocol != nil:
		answer, err = r.Exchanged(c, r.policy, r.end.result)
		r.end.server = answer.Server
		return answer, err
	}
	if err = c.Finish(r.end.result); err != nil {
		return answer, r.Failed(c, r.policy, nil, err)
	}
	r.end.server = r.end.result.Server
	if answer, err = c.Answer(r.end.result); err == nil {
		err = r.call.asImage(&answer)
	}
	return answer, err
}

// run runs the script. An error means that it was not run.
func (r *reading) run(ctx context.Context, c *Collector) error {
	op, req, h := r.call.Op, r.Request(c, r.policy, nil), &held{}
	if op.Reveals || op.Beside.Row != "" {
		req.Records = h.take
	}
	if op.Reveals {
		spending, err := r.mayReveal(ctx)
		if err != nil {
			return err
		}
		defer r.revealed(spending)
	}
	r.end.started = true
	if r.call.Started != nil {
		r.call.Started()
	}
	ctx, cancel := limitRead(ctx, op)
	defer cancel()
	r.end.result, r.end.runErr = r.Runner.Run(ctx, req)
	if r.end.runErr == nil {
		r.complete(ctx, c, h)
	}
	return nil
}

// begun records that the records of a long list are about to be sent.
func (r *reading) begun() error {
	if !r.Audited(r.call.Op) || r.end.intent != nil {
		return nil
	}
	intent, err := r.Audit.Intent(r.call.AuditCall())
	if err != nil {
		return unrecorded(err)
	}
	r.end.intent = intent
	return nil
}

// Collector returns a collector for the records of a call. to gets the records of a long list after begun has
// succeeded. If to is nil, all records are held in memory.
func (s *Service) Collector(ctx context.Context, a Accepted, to Sink, begun func() error) *Collector {
	collecting := Collecting{To: to, Above: s.StreamAbove, Begun: begun}
	if amend := s.Amend[a.Op.Reply.Shape]; amend != nil {
		collecting.Amend = func(batch json.RawMessage) json.RawMessage { return amend(ctx, batch) }
	}
	return newCollector(a, collecting)
}

// Exchanged returns the answer of a row for another protocol whose script succeeded or had nothing
// to do. It fails if the client must see the result as a failure.
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

// readEnd describes the end of a read, for the audit.
type readEnd struct {
	started bool         // the script was run, or waited for a session
	intent  *audit.Entry // audit line written before the first records were sent; nil if no line was written
	result  *ps.Result   // nil if there is none
	runErr  error        // of the run
	status  int
	server  string
	err     error // of the call
	begun   time.Time
}

// recordRead records a read, or its refusal.
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

// A row that reveals secrets is read like other rows, with three more steps. Before the script runs, the
// reveal is counted against the caller's hourly limit, and the audit gets the intent. At the end the secrets,
// which the script sends separately, are put into the records. They appear nowhere but in the answer.

// ManyReveals is the name of the event that a caller has used half or all of its hourly reveals.
const ManyReveals = "many_reveals"

// mayReveal counts a reveal against the caller's hourly limit, and records that it is about to
// happen.
func (r *reading) mayReveal(ctx context.Context) (*quota.Spending, error) {
	if r.Audit == nil && !r.Reveals.Unaudited {
		failed := problem.New(schema.Unavailable, "Passwords and recovery keys are shown only if the audit log "+
			"records who sees them, and it is off. An administrator must set audit.file.")
		failed.RetryAfter = problem.StoreRetry
		return nil, failed
	}
	spending, err := r.Ledger.Reserve(ctx, r.call.Principal, r.call.Bound, 1)
	if err != nil {
		return nil, err
	}
	if err = spending.Keep(ctx); err == nil {
		err = r.begun()
	}
	if err != nil {
		r.unspent(spending.Release(false))
		return nil, err
	}
	return spending, nil
}

// revealed corrects the count of reveals after the run. A secret that may have been shown counts as revealed.
func (r *reading) revealed(spending *quota.Spending) {
	r.unspent(spending.Settle(r.end.result, r.end.runErr, false))
	outcome := "shown"
	if r.end.runErr != nil {
		outcome = "failed"
	}
	many := false
	if used, limit := spending.Used(identity.Reveal); r.end.runErr == nil && limit > 0 {
		many = used == (limit+1)/2 || used == limit
	}
	if r.Reveals.Ended != nil {
		r.Reveals.Ended(outcome, many)
	}
	if many {
		used, limit := spending.Used(identity.Reveal)
		who := r.call.Principal.Who()
		r.Log.WithFields(logrus.Fields{
			"event": ManyReveals, "request_id": r.call.ID, "operation": r.call.Op.ID,
			"caller": who.Name, "kind": who.Kind, "id": who.ID, "revealed": used, "limit": limit,
		}).Warn("one caller has seen many secrets of computers within an hour")
	}
}

// unspent logs that the quota could not be corrected.
func (r *reading) unspent(err error) {
	if err != nil {
		r.Log.WithError(err).WithField("request_id", r.call.ID).
			Error("the amount that a call used of its credential's hourly limits could not be corrected")
	}
}

// held collects the records of a run until the run has ended and they can be completed.
type held struct{ batches []json.RawMessage }

func (h *held) take(batch json.RawMessage) error {
	h.batches = append(h.batches, batch)
	return nil
}

// complete passes the records of a successful run to the collector, together with the secrets or
// the additional records.
func (r *reading) complete(ctx context.Context, c *Collector, h *held) {
	for _, batch := range h.batches {
		var err error
		switch {
		case r.call.Op.Reveals:
			batch, err = schema.Reveal(r.call.Op.Reply.Shape, batch, r.end.result.Secrets)
		case r.call.Op.Beside.Row != "":
			batch, err = r.beside(ctx, batch)
		}
		if err == nil {
			err = c.Take(batch)
		}
		if err != nil && c.err == nil {
			c.err = err
		}
	}
}

// beside completes records that have a member supplied by another row. It runs that row and puts the result
// into the member. If that run fails, it adds a warning.
func (r *reading) beside(ctx context.Context, batch json.RawMessage) (json.RawMessage, error) {
	of := r.call.Op.Beside
	var records []map[string]json.RawMessage
	if json.Unmarshal(batch, &records) != nil {
		return nil, ps.ErrInvalidRecords
	}
	for _, record := range records {
		if string(record[of.Member]) != "null" {
			continue
		}
		found, warnings := r.runBeside(ctx, ops.Find(r.Rows, of.Row))
		r.end.result.Warnings = append(r.end.result.Warnings, warnings...)
		if found != nil {
			record[of.Member] = schema.JSON(found)
		}
	}
	return schema.JSON(records), nil
}

// runBeside runs the script of another row for the target of this call. The records are nil if it
// could not be run.
func (r *reading) runBeside(ctx context.Context, op *ops.Operation) ([]json.RawMessage, []ps.Warning) {
	of := r.call.Op.Beside
	unasked := func(code, why string) []ps.Warning {
		return []ps.Warning{{Code: code, Target: of.Member, Message: of.Unasked + why}}
	}
	if !r.call.Principal.Has(op.Scope) {
		return nil, unasked("scope_missing", ": that needs the scope '"+string(op.Scope)+"'.")
	}
	bound, problems := op.Bind(of.Given(r.call.Bound))
	if len(problems) > 0 {
		return nil, unasked(of.Code, ".")
	}
	other := r.call
	other.Op, other.Bound, other.Fields = op, bound, bound.Fields
	req := r.Request(newCollector(other, Collecting{}), r.policy, nil)
	var records []json.RawMessage
	req.Records = ps.Collect(&records)
	result, err := r.Runner.Run(ctx, req)
	if err != nil {
		failed := problem.Of(Failure(op, bound, err))
		r.Log.WithError(err).WithFields(logrus.Fields{"request_id": r.call.ID, "operation": op.ID}).
			Warn("what belongs to an answer could not be read")
		return nil, unasked(of.Code, ": "+cmp.Or(failed.Message, string(failed.Code)))
	}
	if records == nil {
		records = []json.RawMessage{}
	}
	return records, result.Warnings
}

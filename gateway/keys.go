package gateway

import (
	"context"
	"errors"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// What became of a change that was cut off is judged once. The verdict is kept in its key, in
// the batch that closes its record, and a repetition of the call is answered from it: what the
// directory holds by then may be the work of others.

// claimed returns the key that the change of a request is made under, which is that of the whole
// call; nil: there is none.
func (r *request) claimed() *idempotency.Claim { return r.whole().key }

// claim takes the key of a request for it. earlier is the answer of an earlier call with the key;
// nil: there is none.
func (s *Server) claim(r *request) (earlier *call.Answer, err error) {
	key, err := s.keyOf(r)
	if key == nil || err != nil {
		return nil, err
	}
	fingerprint := s.keys.Fingerprint(r.op.ID, r.checked.Bound.Canonical(), r.checked.Conditions.String(),
		r.checked.Given.Document)
	take := func() { r.key, earlier, err = s.keys.Take(r.ctx, *key, r.id, fingerprint) }
	take()
	if errors.Is(err, idempotency.ErrRunning) && s.writer.StoreLate(r.ctx) == nil {
		take()
	}
	if earlier != nil {
		r.replayed, r.shown = true, earlier.ChangeID
	}
	return earlier, err
}

// keyOf returns the key of a request; nil: it has none.
func (s *Server) keyOf(r *request) (*idempotency.Key, error) {
	if item := r.call.Item; item != nil {
		if r.dryRun() {
			return nil, nil
		}
		key := s.keys.OfItem(item)
		return &key, nil
	}
	given := r.call.Keys
	if scope := r.checked.Demands(r.policy.RequireKey); scope != "" && len(given) == 0 {
		return nil, idempotency.Invalid("is required for changes with the scope '%s'", scope)
	}
	if len(given) == 0 || r.op.Protocol != nil { // protocols of others have no such header
		return nil, nil
	}
	if err := call.NoKey(&r.call); err != nil {
		return nil, err
	}
	if s.keys == nil {
		return nil, problem.New(schema.NotSupported,
			"This gateway keeps no keys (store.file is off), so that it cannot promise to run a call once.")
	}
	text, err := idempotency.Parse(given)
	if err != nil {
		return nil, err
	}
	key := s.keys.Of(r.principal, r.op.ID, text)
	return &key, nil
}

// judge closes the change of an earlier call with a key that was cut off, unless that was done
// before. It fails while the outcome cannot be found out.
func (s *Server) judge(r *request, c *idempotency.Claim) error {
	if begun := c.Progress(); begun.Verdict != nil || begun.Intent == nil {
		return nil
	}
	ctx := r.ctx
	past, recorded, err := s.pastOfKey(ctx, r, c)
	switch {
	case err != nil:
		return call.HistoryUnavailable(err)
	case past.Running && s.writer.Awaits(past.ID):
		return c.Undecided()
	case past.Running:
		settled, err := s.writer.Settle(ctx, recorded, past, r.id)
		if err == nil && !settled {
			return c.Undecided()
		}
		if err == nil {
			err = c.Refresh(ctx)
		}
		if err != nil {
			return idempotency.Unavailable(err)
		}
		if begun := c.Progress(); begun.Verdict == nil && begun.Intent != nil { // another one goes on from it
			return c.Undecided()
		}
	default: // an earlier version has closed the record without the key
		c.Judge(write.Verdict{Outcome: past.Outcome, Failed: past.Failed})
	}
	return nil
}

// pastOfKey returns the record of the change of an earlier call with a key, or one that is
// made from the key, if the history has none.
func (s *Server) pastOfKey(
	ctx context.Context, r *request, c *idempotency.Claim,
) (past *changes.Record, recorded bool, err error) {
	if change := c.Progress().Change; s.History != nil && change != "" {
		past, err = s.History.Get(ctx, change)
		if !errors.Is(err, changes.ErrAbsent) {
			return past, true, err
		}
	}
	parameters, _ := r.checked.Texts()
	return c.Record(r.op.ID, r.principal.Who(), parameters), false, nil
}

// resume answers a call whose change an earlier one with the key has begun. It returns nothing if
// that changed nothing: then the call runs.
func (s *Server) resume(r *request, records *call.Collector) (earlier *call.Answer, failed error) {
	c := r.key
	if !c.Unsure() {
		return nil, nil
	}
	if failed = s.judge(r, c); failed != nil {
		c.LeaveOpen()
		return nil, failed
	}
	if earlier = c.Answer(); earlier != nil { // by another gateway
		r.replayed, r.shown = true, earlier.ChangeID
		return earlier, nil
	}
	begun := c.Progress()
	v := begun.Verdict
	if v == nil {
		c.Anew()
		return nil, nil
	}
	r.resumed, r.started = true, true
	r.shown = begun.Change
	switch {
	case v.Outcome == ps.OutcomePartial && (len(v.Failed) == 0 || begun.Intent == nil):
		return nil, c.Partly()
	case v.Outcome == ps.OutcomeUnknown, begun.Intent == nil:
		return nil, c.Unknown()
	}
	answer, failed := s.report(r, records, begun)
	return &answer, failed
}

// report answers with what the script of an earlier call would have reported of its change, which
// was made, or in part, and with the objects as they are now.
func (s *Server) report(
	r *request, records *call.Collector, begun idempotency.Progress,
) (call.Answer, error) {
	cut := &ps.Error{
		Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: begun.Intent, Server: begun.Server,
	}
	found, unread := s.settler(r.policy).Report(r.ctx, settle.Change{
		Operation: r.op, Bound: r.checked.Bound, Request: s.runRequest(r, records),
		StartedAt: begun.StartedAt, Cut: cut,
	}, settle.Outcome{
		Outcome: begun.Verdict.Outcome, Idle: begun.Verdict.Idle, Failed: begun.Verdict.Failed,
	})
	r.result, r.runErr = found.Result, nil
	records.Replace(found.Records)
	if secret := r.checked.Bound.Generated; secret != nil { // another one was set then
		r.result.Warnings = append(r.result.Warnings, idempotency.SecretNotReplayed(secret.Member))
		r.checked.Bound.Generated = nil
	}
	if unread != nil {
		s.unread(r, records, unread)
	}
	return s.answer(r, records)
}

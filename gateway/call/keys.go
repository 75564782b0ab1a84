package call

import (
	"context"
	"errors"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// The outcome of an interrupted change is determined only once. The verdict is stored in the call's
// idempotency key, in the same batch that closes the record of the change. A repetition of the call is
// answered from the key, because others may have changed the directory since.

// claimed returns the key of the whole call, which covers the change of this request, or nil if the call has
// no key.
func (r *request) claimed() *idempotency.Claim { return r.whole().key }

// claimKey claims the key of a request. earlier is the answer of an earlier call with the same key,
// or nil if there is none.
func (r *request) claimKey() (earlier *Answer, err error) {
	key, err := r.keyOf()
	if key == nil || err != nil {
		return nil, err
	}
	fingerprint := r.service.Keys.Fingerprint(r.Op.ID, r.Bound.Canonical(), r.Conditions.String(),
		r.Given.Document)
	var earlierAnswer *idempotency.Answer
	take := func() { r.key, earlierAnswer, err = r.service.Keys.Take(r.ctx, *key, r.ID, fingerprint) }
	take()
	if errors.Is(err, idempotency.ErrRunning) && r.service.Writer.StoreLate(r.ctx) == nil {
		take()
	}
	if err != nil {
		return nil, err
	}
	return r.replay(earlierAnswer)
}

// replay answers with the stored answer of an earlier call, reduced to what the caller may see now, or
// returns nil if there is none. The answer of an item is not reduced, because it goes to the job, which shows
// it according to the reader's rights.
func (r *request) replay(earlier *idempotency.Answer) (answer *Answer, err error) {
	if earlier == nil {
		return nil, nil
	}
	if r.Item == nil {
		made := func(ctx context.Context, id string) (change.Made, bool) {
			return Made(ctx, r.service.History, r.service.Rows, id)
		}
		if earlier, err = earlier.Shown(r.ctx, r.Op, change.SightOf(r.Principal), made); err != nil {
			return nil, err
		}
	}
	r.replayed, r.shown = true, earlier.Change
	return &Answer{
		Replayed: earlier.RequestID, Server: earlier.Server, Tag: earlier.Tag, ChangeID: earlier.Change,
		Warnings: earlier.Warnings, Kept: &Kept{Status: earlier.Status, Body: earlier.Body},
	}, nil
}

// keyOf returns the key of a request, or nil if it has none.
func (r *request) keyOf() (*idempotency.Key, error) {
	if item := r.Item; item != nil {
		if r.DryRun() {
			return nil, nil
		}
		key := r.service.Keys.OfItem(item.Key, item.Expires, item.Resumed)
		return &key, nil
	}
	given := r.Keys
	if scope := r.Demands(r.policy.RequireKey); scope != "" && len(given) == 0 {
		return nil, idempotency.Invalid("is required for changes with the scope '%s'", scope)
	}
	if len(given) == 0 || r.Op.Protocol != nil { // other protocols have no such header
		return nil, nil
	}
	if err := noKey(&r.Call); err != nil {
		return nil, err
	}
	if r.service.Keys == nil {
		return nil, problem.New(schema.NotSupported,
			"This gateway keeps no keys (store.file is off), so it cannot promise to run a call once.")
	}
	text, err := idempotency.Parse(given)
	if err != nil {
		return nil, err
	}
	key := r.service.Keys.Of(r.Principal, r.Op.ID, text)
	return &key, nil
}

// judge closes the interrupted change of an earlier call with a key, unless it is closed already.
// It fails while the outcome cannot be determined.
func (r *request) judge(c *idempotency.Claim) error {
	if begun := c.Progress(); begun.Verdict != nil || begun.Intent == nil {
		return nil
	}
	ctx := r.ctx
	past, recorded, err := r.pastOfKey(ctx, c)
	switch {
	case err != nil:
		return problem.HistoryUnavailable(err)
	case past.Running && r.service.Writer.Awaits(past.ID):
		return c.Undecided()
	case past.Running:
		settled, err := r.service.Writer.Settle(ctx, recorded, past, r.ID)
		if err == nil && !settled {
			return c.Undecided()
		}
		if err == nil {
			err = c.Refresh(ctx)
		}
		if err != nil {
			return idempotency.Unavailable(err)
		}
		if begun := c.Progress(); begun.Verdict == nil && begun.Intent != nil { // another call continues it
			return c.Undecided()
		}
	default: // an earlier version has closed the record without storing the verdict in the key
		c.Judge(write.Verdict{Outcome: past.Outcome, Failed: past.Failed})
	}
	return nil
}

// pastOfKey returns the record of the change of an earlier call with a key. If the history lacks the record,
// pastOfKey builds it from the key.
func (r *request) pastOfKey(ctx context.Context, c *idempotency.Claim,
) (past *changes.Record, recorded bool, err error) {
	if change := c.Progress().Change; r.service.History != nil && change != "" {
		past, err = r.service.History.Get(ctx, change)
		if !errors.Is(err, changes.ErrAbsent) {
			return past, true, err
		}
	}
	parameters, _ := r.Texts()
	return c.Record(r.Op.ID, r.Principal.Who(), parameters), false, nil
}

// resume answers a call if an earlier one with the same key has begun the change. It returns nil, nil if the
// earlier call changed nothing; this call must then run.
func (r *request) resume(records *Collector) (earlier *Answer, failed error) {
	c := r.key
	if !c.Unsure() {
		return nil, nil
	}
	if failed = r.judge(c); failed != nil {
		c.LeaveOpen()
		return nil, failed
	}
	if kept := c.Answer(); kept != nil { // stored by another gateway
		return r.replay(kept)
	}
	begun := c.Progress()
	v := begun.Verdict
	if v == nil {
		c.Anew()
		return nil, nil
	}
	if begun.Intent != nil && r.Item == nil {
		of := change.MadeBy(r.service.Rows, ops.Done{Op: r.Op, Intent: begun.Intent}, r.Zone(begun.Intent))
		if !change.BoundsOf(r.Principal.Limits).Include(of) {
			c.LeaveOpen() // a later repetition will be answered once the history is readable again
			return nil, idempotency.Hidden(r.Op)
		}
	}
	r.resumed, r.started = true, true
	r.shown = begun.Change
	switch {
	case v.Outcome == ps.OutcomePartial && (len(v.Failed) == 0 || begun.Intent == nil):
		return nil, c.Partly()
	case v.Outcome == ps.OutcomeUnknown, begun.Intent == nil:
		return nil, c.Unknown()
	}
	answer, failed := r.report(records, begun)
	return &answer, failed
}

// report answers in place of an earlier call's script, whose change was made as a whole or in part. The
// records show the objects as they are now.
func (r *request) report(records *Collector, begun idempotency.Progress,
) (Answer, error) {
	cut := &ps.Error{
		Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: begun.Intent, Server: begun.Server,
	}
	found, unread := r.service.Settler(r.policy).Report(r.ctx, settle.Change{
		Operation: r.Op, Bound: r.Bound, Request: r.service.Request(records, r.policy, r.spending),
		StartedAt: begun.StartedAt, Cut: cut,
	}, settle.Outcome{
		Outcome: begun.Verdict.Outcome, Idle: begun.Verdict.Idle, Failed: begun.Verdict.Failed,
	})
	r.result, r.runErr = found.Result, nil
	records.Replace(found.Records)
	if secret := r.Bound.Generated; secret != nil { // the earlier call set a different secret
		r.result.Warnings = append(r.result.Warnings, idempotency.SecretNotReplayed(secret.Member))
		r.Bound.Generated = nil
	}
	if unread != nil {
		r.unread(records, unread)
	}
	return r.answer(records)
}

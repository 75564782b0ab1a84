package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/write"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// What became of a change that was cut off is judged once. The verdict is kept in its key, in
// the batch that closes its record, and a repetition of the call is answered from it: what the
// directory holds by then may be the work of others.

// reopen replaces an answer that an earlier version has kept although it asks to come again by
// what it says of the change.
func (s *Server) reopen(tx *store.Tx, call *keptCall) error {
	if call.Status < http.StatusInternalServerError {
		return nil
	}
	var answer struct{ Error errorBody }
	if err := json.Unmarshal(call.Body, &answer); err != nil || answer.Error.Outcome == "" {
		answer.Error.Outcome = ps.OutcomeUnknown
	}
	call.Status, call.Body, call.Verdict = 0, nil, &write.Verdict{Outcome: answer.Error.Outcome, Notes: messages(answer.Error.Details)}
	if s.History == nil || call.Change == "" {
		return nil
	}
	past, err := s.History.Find(tx, call.Change)
	if err == nil {
		call.Intent, call.Verdict.Failed = &past.Intent, past.Failed
	}
	if errors.Is(err, changes.ErrAbsent) {
		return nil
	}
	return err
}

// messages returns what details say.
func messages(details []problem.Detail) (all []string) {
	for _, d := range details {
		all = append(all, d.Message)
	}
	return all
}

// judge closes the change of an earlier call with a key that was cut off, unless that was done
// before. It fails while the outcome cannot be found out.
func (s *Server) judge(r *request, c *claim) error {
	if c.call.Verdict != nil || c.call.Intent == nil {
		return nil
	}
	ctx := r.ctx
	past, recorded, err := s.pastOfKey(ctx, r, c)
	switch {
	case err != nil:
		return call.HistoryUnavailable(err)
	case past.Running && s.doubts.awaits(past.ID):
		return openOutcome(c)
	case past.Running:
		settled, err := s.settlePast(ctx, recorded, past, r.id)
		if err == nil && !settled {
			return openOutcome(c)
		}
		if err == nil {
			err = c.latest(ctx)
		}
		if err != nil {
			return keysUnavailable(err)
		}
		if c.call.Verdict == nil && c.call.Intent != nil { // another one goes on from it
			return openOutcome(c)
		}
	default: // an earlier version has closed the record without the key
		c.call.Verdict = &write.Verdict{Outcome: past.Outcome, Failed: past.Failed}
	}
	return nil
}

// pastOfKey returns the record of the change of an earlier call with a key, or one that is
// made from the key, if the history has none.
func (s *Server) pastOfKey(ctx context.Context, r *request, c *claim) (past *changes.Record, recorded bool, err error) {
	if s.History != nil && c.call.Change != "" {
		past, err = s.History.Get(ctx, c.call.Change)
		if !errors.Is(err, changes.ErrAbsent) {
			return past, true, err
		}
	}
	past = &changes.Record{
		ID: c.call.Change, RequestID: c.call.RequestID, Time: c.call.StartedAt, Operation: r.op.ID, Caller: r.principal.Name,
		Intent: *c.call.Intent, Server: c.call.Server, Key: c.name, Running: true,
	}
	past.Parameters, _ = r.parameters()
	return past, false, nil
}

// openOutcome returns the answer while it is not known what became of an earlier call.
func openOutcome(c *claim) error {
	failed := problem.New(schema.InProgress, "It is being found out what became of an earlier call with this %s. Repeat it later to get its answer.", keyHeader)
	failed.RetryAfter, failed.Outcome, failed.Server = call.StoreRetry, ps.OutcomeUnknown, c.call.Server
	return failed
}

// unknownOutcome returns the answer if it will stay unknown what became of an earlier call.
func unknownOutcome(call *keptCall) error {
	failed := problem.New(schema.OutcomeUnknown, "It could not be found out what became of the change '%s', which an earlier call has begun. Compare the object with what you asked for, and use a new %s.", call.Change, keyHeader)
	if call.Change == "" {
		failed.Message = "It could not be found out what became of the change that an earlier call has begun. Compare the object with what you asked for, and use a new " + keyHeader + "."
	}
	failed.Outcome, failed.Server = ps.OutcomeUnknown, call.Server
	return failed
}

// resume answers a call whose change an earlier one with the key has begun. It reports false
// if that changed nothing: then the call runs.
func (s *Server) resume(r *request, e *envelope) (earlier *call.Answer, failed error) {
	c := r.key
	if c == nil || !c.unsure {
		return nil, nil
	}
	if failed = s.judge(r, c); failed != nil {
		c.open = true
		return nil, failed
	}
	kept, v := &c.call, c.call.Verdict
	if kept.Status != 0 { // by another gateway
		return s.replay(r, kept), nil
	}
	if v == nil {
		kept.Intent, kept.Change, kept.StartedAt = nil, "", time.Now()
		return nil, nil
	}
	r.resumed, r.started = true, true
	r.shown = kept.Change
	switch {
	case v.Outcome == ps.OutcomePartial && (len(v.Failed) == 0 || kept.Intent == nil):
		return nil, partly(kept, v)
	case v.Outcome == ps.OutcomeUnknown, kept.Intent == nil:
		return nil, unknownOutcome(kept)
	}
	answer, failed := s.report(r, e, settle.Outcome{Outcome: v.Outcome, Idle: v.Idle, Failed: v.Failed})
	return &answer, failed
}

// partly returns the answer to a call whose change was made in part.
func partly(kept *keptCall, v *write.Verdict) error {
	failed := problem.New(schema.Partial, "The change was cut off, and made in part; see details.")
	failed.Outcome, failed.Server = ps.OutcomePartial, kept.Server
	for _, left := range v.Remains {
		failed.Details = append(failed.Details, call.Remaining(left))
	}
	for _, note := range v.Notes {
		failed.Details = append(failed.Details, problem.Detail{Field: "", Message: note})
	}
	return failed
}

// report answers with what the script would have reported of a change that was made, or in
// part, and with its objects as they are now.
func (s *Server) report(r *request, e *envelope, outcome settle.Outcome) (call.Answer, error) {
	kept := &r.key.call
	cut := &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: kept.Intent, Server: kept.Server}
	found, unread := s.settler(r.policy).Report(r.ctx, settle.Change{Operation: r.op, Bound: r.bound, Request: s.runRequest(r, e), StartedAt: kept.StartedAt, Cut: cut}, outcome)
	r.result, r.runErr = found.Result, nil
	e.replace(found.Records)
	if secret := r.bound.Generated; secret != nil {
		r.result.Warnings = append(r.result.Warnings, notReplayed(secret.Member)) // another one was set then
		r.bound.Generated = nil
	}
	if unread != nil {
		s.unread(r, e, unread)
	}
	return s.answer(r, e)
}

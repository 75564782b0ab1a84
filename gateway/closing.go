package gateway

import (
	"bytes"
	"cmp"
	"net/http"

	"adgateway/gateway/call"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// closeChange ends the change of a call that has ended, and keeps the answer.
func (s *Server) closeChange(r *request, answer call.Answer, failed error) write.Closed {
	verdict := verdictOf(r)
	how := write.CallEnd{
		Verdict: verdict, Failed: r.failure != nil, Result: r.result,
		// The key of an outer call is that of the whole request, and takes note of each of its changes.
		Answered: r.outer == nil,
		Begun:    r.key != nil && r.key.call.Intent != nil,
		Log:      s.logOf(r),
	}
	if r.run.Running() {
		how.Spent = r.spending.Done() // if the change stays open, all stays spent
	} else {
		s.uncorrected(r, r.spending.Correct())
	}
	r.shown = cmp.Or(r.run.Shown(verdict.Outcome), r.shown)
	key := r.claimed()
	if key != nil {
		how.Key = key
	}
	if r.outer != nil && key != nil {
		how.Stored = key.latest
	}
	var parts []write.EndPart
	for _, one := range []*write.EndPart{s.endOfPlan(r), s.endOfKey(r, answer, failed)} {
		if one != nil {
			parts = append(parts, *one)
		}
	}
	if r.run == nil && len(parts) == 0 {
		return write.Closed{}
	}
	closed := s.writer.Close(r.run, how, parts...)
	if closed.Open && r.outer != nil && key != nil {
		key.open = true
	}
	return closed
}

// Warnings in the answer to a call whose change was made.
var (
	racedWarning = ps.Warning{
		Code: call.Raced,
		Message: "The host of the gateway stood still for so long that another gateway has taken the call over, " +
			"which may have made the change once more. Compare the object with what you asked for.",
	}
	notInHistory = ps.Warning{
		Code: call.NotInHistory,
		Message: "The change was made, but the history cannot be written at the moment, so that it is not there, " +
			"or not as it ended.",
	}
)

// verdictOf returns how the change of a call has ended, as the call would report it.
func verdictOf(r *request) write.Verdict {
	v := write.Verdict{Outcome: outcomeOfChange(r)}
	if r.result != nil {
		v.Idle = r.result.Effect == ps.EffectNone
		for i := range r.result.Failures {
			v.Failed = append(v.Failed, r.result.Failures[i].GUID)
		}
	}
	if r.failure != nil {
		v.Notes = messages(r.failure.Details)
	}
	if r.runErr != nil {
		v.Remains = ps.AsError(r.runErr).Remains
	}
	return v
}

// outcomeOfChange returns what the script of a call has left behind.
func outcomeOfChange(r *request) ps.Outcome {
	if r.failure == nil && (r.result == nil || r.result.Effect == ps.EffectNone) {
		return ps.OutcomeNone
	}
	return r.outcome()
}

// endOfPlan returns what becomes of the plan that a request applies, unless its change says so:
// one whose application changed nothing can be applied again.
func (s *Server) endOfPlan(r *request) *write.EndPart {
	a := r.applying
	if a == nil || a.closed {
		return nil
	}
	a.closed = true
	switch {
	case a.drift != nil:
		s.meters.plans.WithLabelValues(planDrifted).Inc()
		return &write.EndPart{Put: func(tx *store.Tx) error { return s.plans.Drift(tx, a.plan, r.id) }}
	case a.used && r.outcome() == ps.OutcomeNone:
		a.used = false
		return &write.EndPart{Put: func(tx *store.Tx) error { return s.plans.End(tx, a.plan.ID, r.id, "") }}
	}
	return nil
}

// endOfKey returns what is kept of a call with a key: its answer, or that it may be tried
// again. If it cannot be kept, a repetition finds out what became of the change.
func (s *Server) endOfKey(r *request, answer call.Answer, failed error) *write.EndPart {
	c := r.key
	if c == nil || c.call.Status != 0 || c.lost {
		return nil
	}
	outcome := r.outcome()
	open := c.open || outcome == ps.OutcomeUnknown && r.failure.Code != schema.OutcomeUnknown // which is the verdict
	next := c.call
	switch {
	case !open && outcome == ps.OutcomeNone && c.counts(r): // as an attempt
		c.again = true
		next = keptCall{Fingerprint: next.Fingerprint, RequestID: next.RequestID, StartedAt: next.StartedAt, Attempts: next.Attempts}
	case r.dryRun(), !open && outcome == ps.OutcomeNone && r.failure != nil: // it has changed nothing, and may be tried again
		return &write.EndPart{Put: func(tx *store.Tx) error { return c.end(tx, nil) }, Stored: c.forgotten}
	case open: // whoever is asked next finds it out
		return nil
	default:
		status, body := call.Encode(r.op, r.call.Classic, answer, failed, r.id)
		if status < http.StatusInternalServerError {
			next.answered(r, answer.Tag, status, body)
			break
		}
		next.Verdict, next.Token = &write.Verdict{Outcome: outcome}, "" // the answer asks to come again
		if r.failure != nil {
			next.Verdict.Notes = messages(r.failure.Details)
		}
	}
	return &write.EndPart{Put: func(tx *store.Tx) error { return c.end(tx, &next) }, Stored: func() { c.kept(next) }}
}

// answered makes an answer that of a call.
func (k *keptCall) answered(r *request, tag string, status int, body []byte) {
	k.Status, k.Body, k.Intent, k.Verdict, k.Token = status, body, nil, nil, ""
	k.Change, k.Tag = r.shown, tag
	if r.failure != nil {
		k.Tag = r.failure.Tag
	}
	if secret := r.bound.Generated; secret != nil {
		name := string(encode(secret.Member)) + ":"
		k.Body, k.Secret = bytes.Replace(body, []byte(name+string(encode(secret.Reveal()))), []byte(name+"null"), 1), secret.Member
	}
	if len(k.Body) > maxKeptBody {
		k.Body, k.Cut = call.WithoutRecords(k.Body), true
	}
}

package call

import (
	"cmp"
	"errors"

	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/problem"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// closeChange closes the change of a finished call, and stores the answer. If patient is set, it may wait a
// little for the beginning of another change.
func closeChange(r *request, answer Answer, failed error, patient bool) write.Closed {
	verdict := verdictOf(r)
	how := write.CallEnd{
		Verdict: verdict, Failed: r.failure != nil, Result: r.result,
		// The key of an outer call covers the whole request and records each of its changes.
		Answered: r.outer == nil,
		Patient:  patient,
		Begun:    r.key.Progress().Intent != nil,
		Log:      r.log,
	}
	if r.run.Running() {
		how.Spent = r.spending.Done() // while the change stays open, the whole amount stays spent
	} else {
		r.uncorrected(r.spending.Correct())
	}
	r.shown = cmp.Or(r.run.Shown(verdict.Outcome), r.shown)
	key := r.claimed()
	if key != nil {
		how.Key = key
	}
	if r.outer != nil && key != nil {
		how.Stored = key.Refresh
	}
	var parts []write.EndPart
	for _, one := range []*write.EndPart{r.applying.End(r.outcome()), endOfKey(r, answer, failed)} {
		if one != nil {
			parts = append(parts, *one)
		}
	}
	if r.run == nil && len(parts) == 0 {
		return write.Closed{}
	}
	closed := r.service.Writer.Close(r.run, how, parts...)
	if closed.Open && r.outer != nil && key != nil {
		key.LeaveOpen()
	}
	return closed
}

// Warnings in the answer to a call whose change was made.
var (
	racedWarning = ps.Warning{
		Code: Raced,
		Message: "The host of the gateway was suspended for so long that another gateway took over the call, " +
			"and it may have made the change again. Compare the object with your request.",
	}
	notInHistory = ps.Warning{
		Code:    NotInHistory,
		Message: "The change was made, but the history cannot be written now. It lacks the change, or its outcome.",
	}
)

// verdictOf returns the outcome that a call reports for its change.
func verdictOf(r *request) write.Verdict {
	outcome := r.outcome()
	if r.failure == nil && (r.result == nil || r.result.Effect == ps.EffectNone) {
		outcome = ps.OutcomeNone
	}
	v := write.VerdictOn(outcome, r.result)
	if r.failure != nil {
		v.Notes = problem.Messages(r.failure.Details)
	}
	if r.runErr != nil {
		v.Remains = ps.AsError(r.runErr).Remains
	}
	return v
}

// endOfKey returns the end to store for the idempotency key of a call, or nil if there is none.
func endOfKey(r *request, answer Answer, failed error) *write.EndPart {
	if r.key == nil {
		return nil
	}
	e := idempotency.Ended{
		Outcome: r.outcome(), Failure: r.failure, DryRun: r.DryRun(),
		Overtaken: r.failure != nil && errors.Is(r.failure, write.ErrOvertaken),
		Tag:       answer.Tag, Change: r.shown, Secret: r.Bound.Generated,
	}
	e.Status, e.Body = Encode(r.Op, r.Classic, answer, failed, r.ID)
	return r.key.End(e)
}

// Codes of warnings about a change that was made. The audit contains the first two as well.
const (
	// Raced marks a change that was made after another gateway had taken over its call.
	Raced = changes.RacedCode
	// NotReadBack marks a change whose object could not be read back.
	NotReadBack = "not_read_back"
	// NotInHistory marks a change that is missing from the history, or whose end is missing.
	NotInHistory = "history_unavailable"
)

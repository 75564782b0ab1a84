package gateway

import (
	"cmp"
	"context"
	"errors"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// The call of an undo makes others as its parts, which have its policy, its key and its plan.

// Part implements [call.Outer].
func (r *request) Part(id string, op *ops.Operation, given ops.Given) call.Call {
	return call.Call{
		ID: id, Op: op, Principal: r.principal, From: r.call.From, Input: call.Values(given),
		Classic: r.call.Classic, Match: r.call.Match, For: r,
	}
}

// Plan implements [call.Outer].
func (r *request) Plan(_ context.Context, parts int) error {
	if err := r.gateway.findPlan(r); err != nil {
		return err
	}
	if parts > 1 {
		r.fingerprint = nil
	}
	return nil
}

// Resumed implements [call.Outer]. The key stays as it is while the outcome is not known: whoever
// is asked next, here or at another gateway, goes on from there.
func (r *request) Resumed(ctx context.Context) (first string, err error) {
	if !r.key.Unsure() {
		return "", nil
	}
	begun := r.key.Progress()
	_, err = r.gateway.History.Get(ctx, begun.Change)
	if begun.Intent != nil && begun.Verdict == nil && !errors.Is(err, changes.ErrAbsent) { // else it was not made
		if err = r.gateway.judge(r, r.key); err != nil {
			r.key.LeaveOpen()
			return "", err
		}
		begun = r.key.Progress()
	}
	switch v := begun.Verdict; {
	case v == nil:
		r.key.Anew()
		return begun.Batch, nil
	case v.Outcome == ps.OutcomeUnknown:
		return begun.Change, r.key.Unknown()
	}
	return cmp.Or(begun.Batch, begun.Change), nil
}

package call

import (
	"cmp"
	"context"
	"errors"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// The call of an undo makes others as its parts, which have its policy, its key and its plan.

// Part implements [Outer].
func (r *request) Part(id string, op *ops.Operation, given ops.Given) Call {
	return Call{
		ID: id, Op: op, Principal: r.Principal, From: r.From, Input: Values(given),
		Classic: r.Classic, Match: r.Match, For: r,
	}
}

// Plan implements [Outer].
func (r *request) Plan(ctx context.Context, parts int) error {
	if err := findPlan(ctx, r); err != nil {
		return err
	}
	if parts > 1 {
		r.fingerprint = nil
	}
	return nil
}

// Resumed implements [Outer]. The key stays as it is while the outcome is not known: whoever
// is asked next, here or at another gateway, goes on from there.
func (r *request) Resumed(ctx context.Context) (first string, err error) {
	if !r.key.Unsure() {
		return "", nil
	}
	earlier := r.key.Progress()
	_, err = r.service.History.Get(ctx, earlier.Change)
	begun := earlier.Intent != nil && !errors.Is(err, changes.ErrAbsent)
	if begun && earlier.Verdict == nil {
		if err = r.judge(r.key); err != nil {
			r.key.LeaveOpen()
			return "", err
		}
		earlier = r.key.Progress()
	}
	switch v := earlier.Verdict; {
	case v == nil:
		r.key.Anew()
		return earlier.Batch, nil
	case v.Outcome == ps.OutcomeUnknown:
		return earlier.Change, r.key.Unknown()
	}
	return cmp.Or(earlier.Batch, earlier.Change), nil
}

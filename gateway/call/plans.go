package call

import (
	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"context"
	"slices"
)

// keepPlan stores the plan of a dry run and sets the plan's id.
func keepPlan(r *request, shown *change.Plan, i *ps.Intent) error {
	of := r.whole() // only the whole call can be applied later
	dryRun := plan.DryRun{Caller: of.Principal, Fingerprint: of.fingerprint, Operation: of.Op.ID}
	dryRun.Parameters, _ = of.Texts()
	shown.Reason = schema.OrNull(dryRun.Parameters[ops.ReasonName])
	if i != nil && i.Changes() {
		dryRun.Row, dryRun.Announced, dryRun.Zone = r.Op.ID, r.Announcement(i), r.Zone(i)
	}
	return r.service.Plans.Keep(r.ctx, dryRun, r.policy.PlanLife, shown)
}

// findPlan finds the plan that a request applies, if it names one, or prepares the plan of a dry
// run.
func findPlan(ctx context.Context, r *request) (err error) {
	announcing := plan.Announcing{Shape: r.Op.Reply.Shape, Secret: r.SetsSecret()}
	if r.outer != nil {
		r.applying, r.outer.applying = r.outer.applying.In(announcing), nil
		return nil
	}
	if r.DryRun() {
		r.fingerprint = r.service.Plans.Fingerprint(r.Bound)
	}
	if !r.Bound.Has(ops.PlanID) {
		return nil
	}
	a := plan.Applying{
		Wanted: plan.Wanted{
			ID: r.Bound.Text(ops.PlanID), Caller: r.Principal, OfOthers: r.policy.PlansOfOthers,
		},
		RequestID: r.ID, Bound: r.Bound, Announcing: announcing,
	}
	if r.Item != nil && len(r.Item.Done) > 0 {
		a.Left = func() []change.Object { return leftBy(ctx, r.service, r.Item.Done) }
	}
	if r.key.Unsure() {
		a.Earlier = r.key.Progress().RequestID
	}
	a.Parameters, _ = r.Texts()
	r.applying, err = r.service.Plans.Apply(ctx, a)
	return err
}

// leftBy returns the objects that changes have changed, as each change has left them, in the order of
// the ids. It omits changes that are not in the history, so their effects count as changes by others.
func leftBy(ctx context.Context, s *Service, ids []string) (left []change.Object) {
	if s.History == nil {
		return nil
	}
	for _, id := range ids {
		made, err := s.History.Get(ctx, id)
		if err != nil || made.Outcome == ps.OutcomeNone {
			continue
		}
		if op := ops.Find(s.Table.Rows, made.Operation); op != nil {
			was := change.Announcement{Intent: &made.Intent, Shape: op.Reply.Shape, Secret: made.Secret}
			left = append(left, change.Left(was, made.Failed)...)
		}
	}
	return left
}

// tryOut makes a dry run, stores its plan, and answers with it.
func tryOut(r *request) (Answer, error) {
	var also []identity.Scope
	if r.outer != nil {
		also = append(also, r.outer.Op.Scope)
	}
	r.started = true
	trial, err := r.service.DryRun(r.ctx, r.Accepted, r.policy, r.spending, also...)
	r.result, r.runErr = trial.Result, trial.RunErr
	r.uncorrected(r.spending.Settle(r.result, r.runErr, r.run.Running()))
	if err != nil {
		return Answer{}, err
	}
	r.runErr = nil // the dry run was stopped, as intended
	p, warnings := trial.Plan, trial.Warnings
	if r.outer == nil { // the audit line of a part does not name the plan
		r.server = p.Server
	}
	if r.whole().fingerprint != nil {
		if err := keepPlan(r, &p, trial.Announced); err != nil {
			if r.outer != nil {
				return Answer{}, plan.Unavailable(err)
			}
			r.service.Log.WithError(err).WithField("request_id", r.ID).Error("a plan could not be kept")
			warnings = append(slices.Clip(warnings), ps.Warning{
				Code: "plan_not_kept", Message: "The plan could not be stored, so it cannot be applied by its id.",
			})
		}
	}
	if p.Hide(change.BoundsOf(r.Principal.Limits)); !r.Reads() {
		p.Withhold()
		warnings = append(slices.Clip(warnings), change.Unreadable(r.Op))
	}
	return Answer{Output: trial.Sentence(), Warnings: warnings, Server: p.Server, Plan: schema.JSON(p)}, nil
}

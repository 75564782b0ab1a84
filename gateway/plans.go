package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"context"
)

// keepPlan keeps the plan of a dry run and gives it its id.
func (s *Server) keepPlan(r *request, shown *change.Plan, i *ps.Intent) error {
	of := r.whole() // which is applied
	made := plan.DryRun{Caller: of.principal, Fingerprint: of.fingerprint, Operation: of.op.ID}
	made.Parameters, _ = of.checked.Texts()
	if i != nil && i.Changes() {
		made.Row, made.Announced, made.Zone = r.op.ID, r.checked.Announcement(i), r.checked.Zone(i)
	}
	return s.plans.Keep(r.ctx, made, r.policy.PlanLife, shown)
}

// findPlan finds the plan that a request applies, if it names one, and prepares one that it makes.
func (s *Server) findPlan(ctx context.Context, r *request) (err error) {
	announcing := plan.Announcing{Shape: r.op.Reply.Shape, Secret: r.checked.SetsSecret()}
	if r.outer != nil {
		r.applying, r.outer.applying = r.outer.applying.In(announcing), nil
		return nil
	}
	if r.dryRun() {
		r.fingerprint = s.plans.Fingerprint(r.checked.Bound)
	}
	if !r.checked.Bound.Has(ops.PlanID) {
		return nil
	}
	a := plan.Applying{
		Wanted: plan.Wanted{
			ID: r.checked.Bound.Text(ops.PlanID), Caller: r.principal, OfOthers: r.policy.PlansOfOthers,
		},
		RequestID: r.id, Bound: r.checked.Bound, Announcing: announcing,
	}
	if r.key.Unsure() {
		a.Earlier = r.key.Progress().RequestID
	}
	a.Parameters, _ = r.checked.Texts()
	r.applying, err = s.plans.Apply(ctx, a)
	return err
}

// showPlan answers with a plan.
func (s *Server) showPlan(ctx context.Context, a call.Accepted) (call.Answer, error) {
	found, err := s.plans.Known(ctx, plan.Wanted{
		ID: a.Bound.Text(ops.PlanID), Caller: a.Principal, OfOthers: s.current.Load().PlansOfOthers,
	})
	if err != nil {
		return call.Answer{}, err
	}
	shown, err := s.plans.Shown(found)
	if err != nil {
		return call.Answer{}, problem.Internal(err)
	}
	shown.Hide(change.BoundsOf(a.Principal.Limits))
	return a.Answer(a.Op.Sentence("The {subject} was found.", a.Bound, 1, &ps.Result{}), struct {
		change.Plan
		Change *string `json:"change"`
	}{shown, schema.OrNull(found.ChangeID())}), nil
}

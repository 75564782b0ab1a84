package gateway

import (
	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
)

// keepPlan keeps the plan of a dry run and gives it its id.
func (s *Server) keepPlan(r *request, shown *change.Plan) error {
	of := r.whole() // which is applied
	made := plan.DryRun{Caller: of.principal, Fingerprint: of.fingerprint, Operation: of.op.ID}
	made.Parameters, _ = of.parameters()
	if i := r.announced; i != nil && i.Changes() {
		made.Row, made.Announced, made.Zone = r.op.ID, r.announcement(i), zoneOf(r, i)
	}
	return s.plans.Keep(r.ctx, made, r.policy.PlanLife, shown)
}

// findPlan finds the plan that a request applies, if it names one, and prepares one that it makes.
func (s *Server) findPlan(r *request) (err error) {
	announcing := plan.Announcing{Shape: r.op.Reply.Shape, Secret: r.setsSecret()}
	if r.outer != nil {
		r.applying, r.outer.applying = r.outer.applying.In(announcing), nil
		return nil
	}
	if r.dryRun() {
		r.fingerprint = s.plans.Fingerprint(r.bound)
	}
	if !r.bound.Has(ops.PlanID) {
		return nil
	}
	a := plan.Applying{
		Wanted: plan.Wanted{
			ID: r.bound.Text(ops.PlanID), Caller: r.principal, OfOthers: r.policy.PlansOfOthers,
		},
		RequestID: r.id, Bound: r.bound, Announcing: announcing,
	}
	if r.key.Unsure() {
		a.Earlier = r.key.Progress().RequestID
	}
	a.Parameters, _ = r.parameters()
	r.applying, err = s.plans.Apply(r.ctx, a)
	return err
}

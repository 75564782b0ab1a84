package gateway

import (
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/plan"
	"adgateway/ps"
)

// dryRun reports whether a call is to change nothing.
func (r *request) dryRun() bool { return r.checked.DryRun() }

// try makes a dry run, keeps its plan, and answers with it.
func (s *Server) try(r *request) (call.Answer, error) {
	var also []identity.Scope
	if r.outer != nil {
		also = append(also, r.outer.op.Scope)
	}
	r.started = true
	trial, err := s.calls.DryRun(r.ctx, r.checked, &r.policy.calls, r.spending, also...)
	r.result, r.runErr = trial.Result, trial.RunErr
	s.uncorrected(r, r.spending.Settle(r.result, r.runErr, r.run.Running()))
	if err != nil {
		return call.Answer{}, err
	}
	r.runErr = nil // it was stopped, as it should be
	p, warnings := trial.Plan, trial.Warnings
	if r.outer == nil { // the line of a part does not tell it
		r.server = p.Server
	}
	if r.whole().fingerprint != nil {
		if err := s.keepPlan(r, &p, trial.Announced); err != nil {
			if r.outer != nil {
				return call.Answer{}, plan.Unavailable(err)
			}
			s.Log.WithError(err).WithField("request_id", r.id).Error("a plan could not be kept")
			warnings = append(slices.Clip(warnings), ps.Warning{
				Code: "plan_not_kept", Message: "The plan could not be kept, so that it cannot be applied by its id.",
			})
		}
	}
	sight := change.SightOf(r.principal)
	if p.Hide(sight.Bounds); !sight.Reads(r.op) {
		p.Withhold()
		warnings = append(slices.Clip(warnings), call.Unreadable(r.op))
	}
	return call.Answer{Output: trial.Sentence(), Warnings: warnings, Server: p.Server, Plan: encode(p)}, nil
}

package gateway

import (
	"adgateway/gateway/call"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/plans"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// dryRun reports whether a call is to change nothing.
func (r *request) dryRun() bool { return r.checked.DryRun() }

// plan is the answer to a dry run.
type plan struct {
	ID        *string          `json:"id"`
	Operation string           `json:"operation"`
	Effect    ps.Effect        `json:"effect"`
	Server    string           `json:"server"`
	Made      time.Time        `json:"made"`
	Expires   *time.Time       `json:"expires"`
	State     plans.State      `json:"state"`
	Undo      schema.Undoable  `json:"undo"`
	Objects   []shownObject    `json:"objects"`
	Checks    []call.Check     `json:"checks"`
	Requires  []identity.Scope `json:"requires"`
}

// newPlan returns the plan of a change that would change nothing.
func newPlan(r *request) plan {
	requires := append([]identity.Scope{r.op.Scope}, r.bound.Scopes...)
	if r.outer != nil {
		requires = append(requires, r.outer.op.Scope)
	}
	return plan{
		Operation: r.op.ID, State: plans.StateOpen, Effect: ps.EffectNone, Made: time.Now().UTC().Truncate(time.Second),
		Undo: schema.UndoNone, Objects: []shownObject{}, Checks: []call.Check{}, Requires: requires,
	}
}

// try makes a dry run, and answers with its plan.
func (s *Server) try(r *request) (call.Answer, error) {
	r.started = true
	trial, err := s.calls.DryRun(r.ctx, r.checked, &r.policy.calls, r.spending)
	r.result, r.runErr = trial.Result, trial.RunErr
	s.spend(r, func(kind identity.Impact) int { return affected(kind, r.op, r.result, r.runErr) })
	if err != nil {
		return call.Answer{}, err
	}
	r.runErr = nil // it was stopped, as it should be
	p, warnings := newPlan(r), trial.Warnings
	p.Server = trial.Server
	if trial.Changes() {
		s.fill(r, &p, &trial)
	}
	slices.Sort(p.Requires)
	p.Requires = slices.Compact(p.Requires)
	if r.outer == nil { // the line of a part does not tell it
		r.server = p.Server
	}
	if r.whole().fingerprint != nil {
		if err := s.keepPlan(r, &p, trial.Announced); err != nil {
			if r.outer != nil {
				return call.Answer{}, plansUnavailable(err)
			}
			s.Log.WithError(err).WithField("request_id", r.id).Error("a plan could not be kept")
			warnings = append(slices.Clip(warnings), ps.Warning{
				Code: "plan_not_kept", Message: "The plan could not be kept, so that it cannot be applied by its id.",
			})
		}
	}
	p.hide(r.principal)
	return call.Answer{
		Output: p.sentence(r, trial.Announced), Warnings: warnings, Server: p.Server, Plan: encode(p),
	}, nil
}

// fill adds what was announced.
func (s *Server) fill(r *request, p *plan, trial *call.Trial) {
	p.Effect = trial.Announced.Effect
	texts, secret := r.parameters()
	past, _ := s.pastOf(&changes.Record{ // the row exists
		Operation: r.op.ID, Parameters: texts, Intent: *trial.Announced, Secret: secret, Outcome: ps.OutcomeDone,
	})
	p.Objects, p.Undo = past.objects(bounds{}, false), s.undoable(r.ctx, past)
	p.Checks = s.calls.Checks(r.ctx, &r.policy.calls, trial)
}

// hide hides names of objects outside the limits of a caller.
func (p *plan) hide(from *identity.Principal) {
	bounds := boundsOf(from)
	for i := range p.Objects {
		for n := range p.Objects[i].Changes {
			bounds.hide(&p.Objects[i].Changes[n].Change)
		}
	}
}

// failedCheck returns the first check that failed, or nil.
func (p *plan) failedCheck() *call.Check {
	failed := func(c call.Check) bool { return c.State == schema.CheckFailed }
	if i := slices.IndexFunc(p.Checks, failed); i >= 0 {
		return &p.Checks[i]
	}
	return nil
}

// sentence says what would happen.
func (p *plan) sentence(r *request, announced *ps.Intent) string {
	if p.Effect == ps.EffectNone {
		return "Would change nothing about the " + r.op.SubjectOf(r.bound) + "."
	}
	verb := map[ps.Effect]string{ps.EffectCreated: "create", ps.EffectChanged: "change", ps.EffectRemoved: "remove"}[p.Effect]
	text := "Would " + verb + " the " + r.op.SubjectOf(r.bound)
	fields := change.Fields(change.Of(r.checked.Announcement(announced)))
	const most = 10
	switch {
	case p.Effect == ps.EffectChanged && len(fields) > most:
		text += ": " + strings.Join(fields[:most], ", ") + ", ..."
	case p.Effect == ps.EffectChanged:
		text += ": " + strings.Join(fields, ", ")
	case len(announced.Counts) > 0:
		text += ": " + r.op.Sentence("{counts}", r.bound, 0, &ps.Result{Counts: announced.Counts})
	}
	if failed := p.failedCheck(); failed != nil {
		return text + ", but a check failed: " + failed.Message
	}
	return text + "."
}

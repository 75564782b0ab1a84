package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/plan"
	"errors"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A dry run is the change itself up to its announcement: the script resolves and
// checks on the real server, with the caller's scopes and limits, announces what it
// would do, and is not allowed to do it.

// errDryRun is why a dry run is not allowed to change anything.
var errDryRun = errors.New("this is a dry run")

// dryRun reports whether the caller asked for one.
func (r *request) dryRun() bool { return r.bound != nil && r.bound.Text(ops.DryRun) == "true" }

// newPlan returns the plan of a change that would change nothing.
func newPlan(r *request) change.Plan {
	requires := append([]identity.Scope{r.op.Scope}, r.bound.Scopes...)
	if r.outer != nil {
		requires = append(requires, r.outer.op.Scope)
	}
	return change.Plan{
		Operation: r.op.ID, State: string(plan.StateOpen), Effect: ps.EffectNone,
		Made: time.Now().UTC().Truncate(time.Second), Undo: schema.UndoNone, Objects: []change.ShownObject{}, Checks: []change.Check{}, Requires: requires,
	}
}

// answerPlan answers a dry run whose script was stopped at its announcement, or had
// nothing to announce.
func (s *Server) answerPlan(r *request, e *envelope) (call.Answer, error) {
	switch {
	case r.runErr != nil && !errors.Is(r.runErr, errDryRun):
		return call.Answer{}, s.explainRun(r, e, r.runErr)
	case r.runErr == nil && r.result.Effect != ps.EffectNone:
		failed := problem.Internal(errors.New("the script changed something that it had not announced"))
		failed.Outcome = ps.OutcomeDone
		return call.Answer{}, failed
	}
	p := newPlan(r)
	var warnings []ps.Warning
	if r.announced == nil {
		p.Server, warnings = r.result.Server, r.result.Warnings
	} else {
		p.Server, warnings = ps.AsError(r.runErr).Server, r.announced.Warnings
		s.fill(r, &p)
	}
	slices.Sort(p.Requires)
	p.Requires = slices.Compact(p.Requires)
	r.runErr = nil
	if r.outer == nil { // the line of a part does not tell it
		r.server = p.Server
	}
	if r.whole().fingerprint != nil {
		if err := s.keepPlan(r, &p); err != nil {
			if r.outer != nil {
				return call.Answer{}, plan.Unavailable(err)
			}
			s.Log.WithError(err).WithField("request_id", r.id).Error("a plan could not be kept")
			warnings = append(slices.Clip(warnings), ps.Warning{Code: "plan_not_kept", Message: "The plan could not be kept, so that it cannot be applied by its id."})
		}
	}
	p.Hide(change.BoundsOf(r.principal.Limits))
	return call.Answer{Output: r.wouldDo(&p), Warnings: warnings, Server: p.Server, Plan: encode(p)}, nil
}

// fill adds what was announced.
func (s *Server) fill(r *request, p *change.Plan) {
	if !r.announced.Changes() {
		return
	}
	p.Effect = r.announced.Effect
	texts, secret := r.parameters()
	done := ops.Done{Op: r.op, Texts: texts, Secret: secret, Intent: r.announced}
	made := change.MadeBy(s.Operations, done, zoneOf(r, r.announced))
	p.Objects, p.Undo, p.Checks = made.Objects(change.Bounds{}, false), made.Undoable(nil), s.checksOf(r)
}

// changesOf returns what an announcement amounts to.
func (r *request) changesOf(i *ps.Intent) []change.Object {
	return change.Of(r.announcement(i))
}

// announcement returns what the script of a request announces in the form that plans are
// made from.
func (r *request) announcement(i *ps.Intent) change.Announcement {
	return change.Announcement{Intent: i, Shape: r.op.Reply.Shape, Secret: r.setsSecret()}
}

// setsSecret reports whether the request sets a password.
func (r *request) setsSecret() bool {
	_, has := r.bound.Secret(r.op)
	return has
}

// wouldDo says what would happen.
func (r *request) wouldDo(p *change.Plan) string {
	if p.Effect == ps.EffectNone {
		return "Would change nothing about the " + r.op.SubjectOf(r.bound) + "."
	}
	verb := map[ps.Effect]string{ps.EffectCreated: "create", ps.EffectChanged: "change", ps.EffectRemoved: "remove"}[p.Effect]
	text := "Would " + verb + " the " + r.op.SubjectOf(r.bound)
	fields := change.Fields(r.changesOf(r.announced))
	const most = 10
	switch {
	case p.Effect == ps.EffectChanged && len(fields) > most:
		text += ": " + strings.Join(fields[:most], ", ") + ", ..."
	case p.Effect == ps.EffectChanged:
		text += ": " + strings.Join(fields, ", ")
	case len(r.announced.Counts) > 0:
		text += ": " + r.op.Sentence("{counts}", r.bound, 0, &ps.Result{Counts: r.announced.Counts})
	}
	if failed := p.Failed(); failed != nil {
		return text + ", but a check failed: " + failed.Message
	}
	return text + "."
}

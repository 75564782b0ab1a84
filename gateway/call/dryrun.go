package call

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A dry run is the change itself up to its announcement. The script resolves and checks everything on the
// real server, with the caller's scopes and limits, and announces the changes that it would make. The gateway
// then stops it.

// errDryRun stops the script of a dry run.
var errDryRun = errors.New("this is a dry run")

// A Trial is the result of a dry run.
type Trial struct {
	call      Accepted
	Announced *ps.Intent // nil if the script had nothing to announce
	Warnings  []ps.Warning
	Plan      change.Plan // not yet stored

	Result *ps.Result // result of the run; nil if it was stopped or failed
	RunErr error      // error of the run; nil if it was not stopped
}

// DryRun runs the script of a change up to its announcement. If it fails, the trial holds only the end of the
// run. also lists the additional scopes that applying the plan requires.
func (s *Service) DryRun(
	ctx context.Context, a Accepted, p *Policy, left *quota.Spending, also ...identity.Scope,
) (t Trial, err error) {
	t.call = a
	c := s.Collector(ctx, a, nil, nil)
	req := s.Request(c, p, left)
	req.Announced = func(i ps.Intent) error {
		t.Announced = &i
		if err := Announced(a.Guards, &i); err != nil {
			return err
		}
		return errDryRun
	}
	t.Result, t.RunErr = s.Runner.Run(ctx, req)
	if t.RunErr == nil {
		if err = Unannounced(a.Guards, t.Result, c.Tag()); err != nil {
			return t, err
		}
	}
	switch {
	case t.RunErr != nil && !errors.Is(t.RunErr, errDryRun):
		return t, s.Failed(c, p, left, t.RunErr)
	case t.RunErr == nil && t.Result.Effect != ps.EffectNone:
		failed := problem.Internal(errors.New("the script changed something that it had not announced"))
		failed.Outcome = ps.OutcomeDone
		return t, failed
	}
	requires := slices.Concat([]identity.Scope{a.Op.Scope}, a.Bound.Scopes, also)
	slices.Sort(requires)
	t.Plan = change.Plan{
		Operation: a.Op.ID, State: change.PlanOpen, Effect: ps.EffectNone,
		Made: time.Now().UTC().Truncate(time.Second), Undo: schema.UndoNone,
		Objects: []change.ShownObject{}, Checks: []change.Check{}, Requires: slices.Compact(requires),
	}
	if t.Announced == nil {
		t.Plan.Server, t.Warnings = t.Result.Server, t.Result.Warnings
		return t, nil
	}
	t.Plan.Server, t.Warnings = ps.AsError(t.RunErr).Server, t.Announced.Warnings
	if t.Announced.Changes() {
		texts, secret := a.Texts()
		done := ops.Done{Op: a.Op, Texts: texts, Secret: secret, Intent: t.Announced}
		made := change.MadeBy(s.Rows, done, a.Zone(t.Announced))
		t.Plan.Effect = t.Announced.Effect
		t.Plan.Objects, t.Plan.Undo = made.Objects(change.Bounds{}, false), made.Undoable(nil)
		t.Plan.Checks = t.checks(ctx, s, p)
	}
	return t, nil
}

// Sentence describes the effect of the change.
func (t *Trial) Sentence() string {
	op, b, p := t.call.Op, t.call.Bound, &t.Plan
	if p.Effect == ps.EffectNone {
		return "Would change nothing about the " + op.SubjectOf(b) + "."
	}
	text := "Would " + verbs[p.Effect] + " the " + op.SubjectOf(b)
	fields := change.Fields(change.Of(t.call.Announcement(t.Announced)))
	const most = 10
	switch {
	case p.Effect == ps.EffectChanged && len(fields) > most:
		text += ": " + strings.Join(fields[:most], ", ") + ", ..."
	case p.Effect == ps.EffectChanged:
		text += ": " + strings.Join(fields, ", ")
	case len(t.Announced.Counts) > 0:
		text += ": " + op.Sentence("{counts}", b, 0, &ps.Result{Counts: t.Announced.Counts})
	}
	if failed := p.Failed(); failed != nil {
		return text + ", but a check failed: " + failed.Message
	}
	return text + "."
}

// verbs contains the words for the effect of a change.
var verbs = map[ps.Effect]string{
	ps.EffectCreated: "create", ps.EffectChanged: "change", ps.EffectRemoved: "remove",
}

// Announced passes an announcement to guards until one of them refuses the call.
func Announced(guards []Guard, i *ps.Intent) error {
	for _, g := range guards {
		if err := g.Announced(i); err != nil {
			return err
		}
	}
	return nil
}

// Unannounced passes the result of a script, and the tag of its record, to guards, unless the
// script has changed or tried to change something.
func Unannounced(guards []Guard, result *ps.Result, tag string) error {
	if result.Effect != ps.EffectNone || len(result.Failures) > 0 {
		return nil
	}
	for _, g := range guards {
		if err := g.Unannounced(result, tag); err != nil {
			return err
		}
	}
	return nil
}

package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// Application is the application of a plan by a call. It is nil if the call applies no plan. It implements
// [write.Participant], and checks announcements like a guard. It is not safe for concurrent use.
type Application struct {
	plans      *Plans
	plan       *Plan
	requestID  string
	sight      change.Sight           // the caller's sight
	left       func() []change.Object // see [Applying]; may be nil
	announcing Announcing

	drift  []change.Difference // differences from the plan
	used   bool                // this call has used up the plan
	closed bool                // the end of the application is stored
}

// Announcing describes how to interpret announcements.
type Announcing struct {
	Shape  *schema.Shape // shape of the operation's records
	Secret bool          // the call sets a password
}

var _ write.Participant = (*Application)(nil)

// In returns the application for a part of the call that names the plan.
func (a *Application) In(part Announcing) *Application {
	if a == nil {
		return nil
	}
	in := *a
	in.announcing = part
	return &in
}

// ID returns the id of the plan, or "" if none is applied.
func (a *Application) ID() string {
	if a == nil {
		return ""
	}
	return a.plan.ID
}

// Maker returns the name of the credential that made the plan, or "" if none is applied.
func (a *Application) Maker() string {
	if a == nil {
		return ""
	}
	return a.plan.Caller.Name
}

// Announced compares an announcement with the plan.
func (a *Application) Announced(i *ps.Intent) error {
	if a == nil {
		return nil
	}
	now := change.Announcement{Intent: i, Shape: a.announcing.Shape, Secret: a.announcing.Secret}
	planned := now.Named(a.plan.Objects, &a.plan.Intent)
	a.drift = change.Drift(planned, now.Against(planned))
	if a.drift != nil && a.left != nil {
		planned = change.Rebased(planned, change.Of(now), a.left())
		a.drift = change.Drift(planned, now.Against(planned))
	}
	if was := &a.plan.Intent; was.Effect == ps.EffectRemoved { // the removal differs from the one in the plan
		for _, name := range slices.Sorted(maps.Keys(was.Counts)) {
			if was.Counts[name] != i.Counts[name] {
				a.drift = append(a.drift, change.Difference{
					Object: was.Objects[0].DN, Field: name,
					Expected: schema.JSON(was.Counts[name]), Found: schema.JSON(i.Counts[name]),
				})
			}
		}
	}
	if a.drift == nil {
		return nil
	}
	return a.drifted(i.Server)
}

// Idle compares the plan with a script that had nothing to change at a server. If the plan shows no change
// either, Idle uses the plan up.
func (a *Application) Idle(ctx context.Context, server string) error {
	if a == nil {
		return nil
	}
	a.drift = idleDrift(a.plan.Objects)
	if a.drift != nil && a.left != nil {
		a.drift = idleDrift(change.Rebased(a.plan.Objects, nil, a.left()))
	}
	if a.drift == nil {
		return a.use(ctx)
	}
	return a.Refused(a.drifted(server))
}

// idleDrift returns the differences from a plan if there is nothing to change.
func idleDrift(planned []change.Object) []change.Difference {
	present := slices.Clone(planned)
	for i := range present {
		present[i].Changes = nil
	}
	return change.Drift(planned, present)
}

// Refused returns the error of a call that was refused with err. If another call has applied the plan
// meanwhile, it returns an error about that instead.
func (a *Application) Refused(err error) error {
	if a == nil || a.drift == nil {
		return err
	}
	now, unread := a.plans.Get(context.Background(), a.plan.ID)
	if unread != nil || now.Used == nil || now.Used.RequestID == a.requestID {
		return err
	}
	a.drift, a.used = nil, false
	failed := problem.Of(usedBy(now))
	failed.Outcome, failed.Server = ps.OutcomeNone, problem.Of(err).Server
	return failed
}

// drifted returns the refusal of a call whose plan has drifted, according to a server.
func (a *Application) drifted(server string) error {
	failed := problem.New(schema.Drifted, "The plan '%s' does not hold any more, and nothing was changed: %s "+
		"differs from what it shows. See details, and make a new plan with %s.",
		a.plan.ID, a.fields(), ops.DryRun)
	failed.Outcome, failed.Server = ps.OutcomeNone, server
	for _, d := range a.drift {
		failed.Details = append(failed.Details, a.told(d))
	}
	return failed
}

// told returns a difference for the caller. It omits values that the caller may not read.
func (a *Application) told(d change.Difference) problem.Detail {
	if row := a.plans.operation(a.plan.Row); row == nil || !a.sight.Reads(row) {
		return problem.Detail{Field: d.Field,
			Message: fmt.Sprintf("of '%s' differs from what the plan shows", d.Object)}
	}
	if change.NamesObject(d.Field) {
		d.Expected, d.Found = a.sight.Hidden(d.Expected), a.sight.Hidden(d.Found)
	}
	message := fmt.Sprintf("of '%s' was expected to be %s, and is %s", d.Object, d.Expected, d.Found)
	return problem.Detail{Field: d.Field, Message: message, Expected: d.Expected, Found: d.Found}
}

// fields returns the fields in which the plan has drifted.
func (a *Application) fields() string {
	var fields []string
	for _, d := range a.drift {
		if !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return strings.Join(fields, ", ")
}

// Begin implements [write.Participant]. It uses up the plan, unless the call has already done so.
func (a *Application) Begin(tx *store.Tx, _ *write.Attempt) error {
	if a.used {
		return nil
	}
	latest, err := a.plans.use(tx, a.plan, Use{RequestID: a.requestID})
	if errors.Is(err, errUsed) {
		return usedBy(latest)
	}
	return err
}

// Begun implements [write.Participant].
func (a *Application) Begun() {
	if !a.used {
		a.used = true
		a.plans.stats.applied.Add(1)
	}
}

// use uses up a plan with nothing to change.
func (a *Application) use(ctx context.Context) error {
	if a.used {
		return nil
	}
	// The call continues even if the caller leaves.
	err := a.plans.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return a.Begin(tx, nil) })
	switch {
	case problem.Is(err):
		return err
	case err != nil:
		return Unavailable(err)
	}
	a.Begun()
	return nil
}

// End returns the part of an update that stores the end of the application, given the outcome. It
// returns nil if the change stores the end. A plan whose application changed nothing can be applied
// again.
func (a *Application) End(outcome ps.Outcome) *write.EndPart {
	if a == nil || a.closed {
		return nil
	}
	a.closed = true
	switch {
	case a.drift != nil:
		a.plans.stats.drifted.Add(1)
		return &write.EndPart{
			Put: func(tx *store.Tx) error { return a.plans.drift(tx, a.plan, a.requestID) },
		}
	case a.used && outcome == ps.OutcomeNone:
		a.used = false
		return &write.EndPart{
			Put: func(tx *store.Tx) error { return a.plans.note(tx, a.plan.ID, a.requestID, "") },
		}
	}
	return nil
}

// Package plan stores the plans of dry runs. A call with the id of a plan and the arguments of its dry run
// makes exactly the change that the dry run has shown, or none. The script resolves and checks everything
// again, and announces the change that it would make now. It may begin only if that change equals the plan. A
// plan is used up before the change begins.
//
// A dry run stores its plan with [Plans.Keep]. [Plans.Apply] finds the plan that a call applies,
// and returns an [Application], which checks announcements and takes part in the beginning of the
// change.
package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Fingerprint identifies the operation and the arguments of a call that has not run yet, without
// the arguments that describe the caller. It is nil for nil Plans.
func (p *Plans) Fingerprint(bound *ops.Bound) []byte {
	if p == nil {
		return nil
	}
	return p.store.Sum([]byte("plan"), []byte(bound.Planned()))
}

// DryRun is a dry run whose plan is to be stored.
type DryRun struct {
	Caller      *identity.Principal
	Fingerprint []byte            // fingerprint of the call that may apply the plan
	Operation   string            // operation of that call
	Parameters  map[string]string // as accepted, except secrets

	// The announcement. Row is the operation that makes the change, or empty if nothing would be
	// changed.
	Row       string
	Announced change.Announcement
	Zone      string // zone of the DNS records
}

// Keep stores the plan of a dry run for the duration life, and sets the plan's id. If it fails, the plan has
// no id.
func (p *Plans) Keep(ctx context.Context, of DryRun, life time.Duration, shown *change.Plan) error {
	id, expires := newID(), p.store.Now().Add(life).UTC().Truncate(time.Second)
	shown.ID, shown.Expires, shown.State = &id, &expires, string(StateOpen)
	stored := &Plan{
		ID: id, Caller: makerOf(of.Caller), Fingerprint: of.Fingerprint, Operation: of.Operation,
		Parameters: of.Parameters, Expires: expires, Shown: schema.JSON(shown),
	}
	if of.Row != "" {
		stored.Row, stored.Intent = of.Row, change.WithoutImages(*of.Announced.Intent)
		stored.Objects, stored.Zone = change.Of(of.Announced), of.Zone
	}
	if err := p.add(ctx, stored); err != nil {
		shown.ID, shown.Expires = nil, nil
		return err
	}
	p.stats.made.Add(1)
	return nil
}

// Wanted identifies a plan that a caller requests.
type Wanted struct {
	ID       string
	Caller   *identity.Principal
	OfOthers bool // a credential may apply plans made by others
}

// Known returns a plan, provided that its caller may see it.
func (p *Plans) Known(ctx context.Context, w Wanted) (*Plan, error) {
	if p == nil {
		return nil, problem.New(schema.NotSupported, "This gateway keeps no plans (store.file is off).")
	}
	found, err := p.Get(ctx, w.ID)
	switch {
	case errors.Is(err, ErrAbsent):
	case err != nil:
		return nil, Unavailable(err)
	case found.madeBy(w.Caller):
		if p.mayRun(w.Caller, found) && (found.Row == "" || p.includes(w.Caller, found)) {
			return found, nil
		}
	case w.OfOthers && p.mayRun(w.Caller, found), w.Caller.Has(identity.ChangeRead) && p.reads(w.Caller, found):
		if p.includes(w.Caller, found) {
			return found, nil
		}
	}
	return nil, absent(w.ID)
}

func absent(id string) error {
	return problem.New(schema.NotFound,
		"There is no plan '%s': it was never made, is no longer kept, or belongs to another credential.", id)
}

// mayRun reports whether a caller has the scope of a plan's operation.
func (p *Plans) mayRun(caller *identity.Principal, of *Plan) bool {
	op := p.operation(of.Operation)
	return op != nil && caller.Has(op.Scope)
}

// reads reports whether a caller may read the objects of a plan, regardless of where they are.
func (p *Plans) reads(caller *identity.Principal, of *Plan) bool {
	op := p.operation(cmp.Or(of.Row, of.Operation))
	return op != nil && change.SightOf(caller).Reads(op)
}

// includes reports whether the objects of a plan lie within a caller's limits. For a plan without changes,
// whose objects are unknown, it reports whether the caller has no limits.
func (p *Plans) includes(caller *identity.Principal, of *Plan) bool {
	bounds, op := change.BoundsOf(caller.Limits), p.operation(of.Row)
	planned := ops.Done{Op: op, Intent: &of.Intent}
	return bounds.None() || op != nil && bounds.Include(change.MadeBy(p.table, planned, of.Zone))
}

// operation returns the operation with the given id, or nil if there is none.
func (p *Plans) operation(id string) *ops.Operation {
	i := slices.IndexFunc(p.table, func(op *ops.Operation) bool { return op.ID == id })
	if i < 0 {
		return nil
	}
	return p.table[i]
}

// Shown returns a plan in its current state, reduced to the values that a caller may see. If the caller
// neither made the plan nor may read its objects, Shown fails as if there were no such plan.
func (p *Plans) Shown(of *Plan, to *identity.Principal) (shown change.Plan, err error) {
	reads := p.reads(to, of)
	if !reads && !of.madeBy(to) {
		return shown, absent(of.ID)
	}
	if err = json.Unmarshal(of.Shown, &shown); err != nil {
		return shown, problem.Internal(err)
	}
	shown.State = string(of.StateAt(p.store.Now()))
	if shown.Hide(change.BoundsOf(to.Limits)); !reads {
		shown.Withhold()
	}
	return shown, nil
}

// Applying is a call that applies a plan.
type Applying struct {
	Wanted
	RequestID string
	Earlier   string // request id of an earlier, interrupted call with the same key; empty if there is none
	Bound     *ops.Bound
	// Parameters are the accepted parameters of the call, except secrets.
	Parameters map[string]string
	// Left returns the objects of those changes since the plan that do not count as drift, in the state in which
	// these changes left them, the latest change first. It is called only if something differs from the plan.
	// Nil means that there are no such changes.
	Left func() []change.Object
	Announcing
}

// Apply finds the plan that a call applies. It refuses a plan that belongs to another call, or that
// can no longer be applied.
func (p *Plans) Apply(ctx context.Context, a Applying) (*Application, error) {
	found, err := p.Known(ctx, a.Wanted)
	switch {
	case err != nil:
		return nil, err
	case !found.madeBy(a.Caller) && !a.OfOthers:
		return nil, problem.New(schema.Forbidden, "Another credential has made the plan '%s', and this gateway "+
			"lets a plan be applied by the one that made it only (plans.otherCaller).", found.ID)
	case !bytes.Equal(found.Fingerprint, p.Fingerprint(a.Bound)):
		return nil, mismatch(found, a)
	}
	switch found.StateAt(p.store.Now()) {
	case StateUsed:
		if a.Earlier == "" || found.Used.RequestID != a.Earlier {
			return nil, usedBy(found)
		}
		found.Used = nil // the earlier call with the same key has used the plan, and may have changed nothing
	case StateExpired:
		return nil, problem.New(schema.Expired,
			"The plan '%s' could be applied until %s. Make a new one with %s.", found.ID,
			found.Expires.Format(time.RFC3339), ops.DryRun)
	}
	return &Application{
		plans: p, plan: found, requestID: a.RequestID, sight: change.SightOf(a.Caller),
		left: a.Left, announcing: a.Announcing,
	}, nil
}

// usedBy returns the refusal of a plan that was applied before.
func usedBy(p *Plan) error {
	by := "another request"
	switch {
	case p.Used == nil:
	case p.Used.ChangeID != "":
		by = "the change " + p.Used.ChangeID
	default:
		by = "the request " + p.Used.RequestID
	}
	failed := problem.New(schema.PlanUsed, "The plan '%s' was applied already, by %s. A plan is applied once: "+
		"make a new one with %s.", p.ID, by, ops.DryRun)
	failed.Details = []problem.Detail{{Field: ops.PlanID, Message: "was applied by " + by}}
	return failed
}

// mismatch returns the refusal of a plan that belongs to another call. The refusal names the differences.
func mismatch(p *Plan, a Applying) error {
	failed := problem.New(schema.PlanMismatch,
		"The plan belongs to another call: of another operation, or with "+
			"other parameters. Send the parameters of the dry run again, secrets included.")
	op := a.Bound.Op
	if p.Operation != op.ID {
		failed.Details = []problem.Detail{{Field: ops.PlanID, Message: "is for the operation " + p.Operation}}
		return failed
	}
	for i := range op.Params {
		param := &op.Params[i]
		was, had := p.Parameters[param.Name]
		if now, has := a.Parameters[param.Name]; param.Plans() && (had != has || was != now) {
			failed.Details = append(failed.Details, problem.Detail{
				Field: param.Name, Message: "differs from the dry run",
			})
		}
	}
	if len(failed.Details) == 0 {
		for _, name := range op.Secrets() {
			failed.Details = append(failed.Details, problem.Detail{
				Field: name, Message: "differs from the dry run, or only one of the calls had it",
			})
		}
	}
	return failed
}

// Unavailable returns the refusal of a call whose plan cannot be read or stored.
func Unavailable(err error) error {
	return problem.StoreFault(err,
		"Plans cannot be read or stored now. Try again later; GET /readyz shows when they can.")
}

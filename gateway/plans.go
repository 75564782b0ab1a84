package gateway

import (
	"adgateway/gateway/call"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/plans"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// A plan is applied by a call with its id and the arguments of the dry run. The script
// resolves and checks again, and announces what it would do now; it may begin only if
// that is what the plan shows. A plan is used up before the change begins.

// errPlanDrifted is why a plan is not applied.
var errPlanDrifted = errors.New("the plan does not hold any more")

// application is a plan that a request applies.
type application struct {
	plan  *plans.Plan
	drift []change.Difference // from what it shows
	used  bool                // by this request

	closed bool // what became of it is kept
}

// fingerprint identifies the operation and the arguments of a request that has not run
// yet: arguments that describe the caller are added then.
func (s *Server) fingerprint(r *request) []byte {
	return s.Kept.Sum([]byte("plan"), []byte(r.bound.Planned()))
}

func callerOfPlan(p *identity.Principal) plans.Caller {
	return plans.Caller{Kind: p.Kind, Name: p.Name}
}

// keepPlan keeps the plan of a dry run and gives it its id.
func (s *Server) keepPlan(r *request, p *change.Plan) error {
	expires := s.Kept.Now().Add(r.policy.PlanLife).UTC().Truncate(time.Second)
	id, of := plans.NewID(), r.whole() // which is applied
	p.ID, p.Expires, p.State = &id, &expires, string(plans.StateOpen)
	kept := &plans.Plan{
		ID: id, Caller: callerOfPlan(of.principal), Fingerprint: of.fingerprint, Operation: of.op.ID,
		Expires: expires, Shown: encode(p),
	}
	kept.Parameters, _ = of.parameters()
	if i := r.announced; i != nil && i.Changes() {
		kept.Row, kept.Intent = r.op.ID, withoutImages(*i)
		kept.Objects, kept.Zone = r.changesOf(i), zoneOf(r, i)
	}
	err := s.plans.Add(r.ctx, kept)
	if err != nil {
		p.ID, p.Expires = nil, nil
	} else {
		s.meters.plans.WithLabelValues(planMade).Inc()
	}
	return err
}

// withoutImages returns an announcement without what is known of the objects that it removes.
func withoutImages(i ps.Intent) ps.Intent {
	i.Objects = slices.Clone(i.Objects)
	for n := range i.Objects {
		i.Objects[n].Record, i.Objects[n].Image = nil, nil
	}
	return i
}

// findPlan finds the plan that a request applies, if it names one, and prepares one that
// it makes.
func (s *Server) findPlan(r *request) error {
	if r.outer != nil {
		r.applying, r.outer.applying = r.outer.applying, nil
		return nil
	}
	if r.dryRun() && s.plans != nil {
		r.fingerprint = s.fingerprint(r)
	}
	if !r.bound.Has(ops.PlanID) {
		return nil
	}
	p, failed := s.planOf(r)
	if failed != nil {
		return failed
	}
	switch {
	case p.Caller != callerOfPlan(r.principal) && !r.policy.PlansOfOthers:
		return problem.New(schema.Forbidden, "Another credential has made the plan '%s', and this gateway lets a plan be applied by the one that made it only (plans.otherCaller).", p.ID)
	case !bytes.Equal(p.Fingerprint, s.fingerprint(r)):
		return r.mismatch(p)
	}
	switch p.StateAt(s.Kept.Now()) {
	case plans.StateUsed:
		if r.key == nil || !r.key.unsure || p.Used.RequestID != r.key.call.RequestID {
			return usedPlan(p)
		}
		p.Used = nil // by the call that is repeated, which may have changed nothing
	case plans.StateExpired:
		return problem.New(schema.Expired, "The plan '%s' could be applied until %s. Make a new one with %s.", p.ID, p.Expires.Format(time.RFC3339), ops.DryRun)
	}
	r.applying = &application{plan: p}
	return nil
}

func usedPlan(p *plans.Plan) error {
	by := "another request"
	switch {
	case p.Used == nil:
	case p.Used.ChangeID != "":
		by = "the change " + p.Used.ChangeID
	default:
		by = "the request " + p.Used.RequestID
	}
	failed := problem.New(schema.PlanUsed, "The plan '%s' was applied already, by %s. A plan is applied once: make a new one with %s.", p.ID, by, ops.DryRun)
	failed.Details = []problem.Detail{{Field: ops.PlanID, Message: "was applied by " + by}}
	return failed
}

// mismatch returns the refusal of a plan that is for another call, and names what differs.
func (r *request) mismatch(p *plans.Plan) error {
	failed := problem.New(schema.PlanMismatch, "The plan belongs to another call: of another operation, or with other parameters. Send those of the dry run again, secrets included.")
	if p.Operation != r.op.ID {
		failed.Details = []problem.Detail{{Field: ops.PlanID, Message: "is for the operation " + p.Operation}}
		return failed
	}
	given, _ := r.parameters()
	for i := range r.op.Params {
		param := &r.op.Params[i]
		was, had := p.Parameters[param.Name]
		if now, has := given[param.Name]; param.Plans() && (had != has || was != now) {
			failed.Details = append(failed.Details, problem.Detail{Field: param.Name, Message: "is not that of the dry run"})
		}
	}
	if len(failed.Details) == 0 {
		for _, name := range r.op.Secrets() {
			failed.Details = append(failed.Details, problem.Detail{Field: name, Message: "is not that of the dry run, or only one of the calls had it"})
		}
	}
	return failed
}

// planOf returns the plan that a request names, if its caller may know of it.
func (s *Server) planOf(r *request) (*plans.Plan, error) {
	if s.plans == nil {
		return nil, problem.New(schema.NotSupported, "This gateway keeps no plans (store.file is off).")
	}
	id := r.bound.Text(ops.PlanID)
	p, err := s.plans.Get(r.ctx, id)
	switch {
	case errors.Is(err, plans.ErrAbsent):
	case err != nil:
		return nil, plansUnavailable(err)
	case p.Caller == callerOfPlan(r.principal):
		if s.mayRun(r, p) {
			return p, nil
		}
	case r.policy.PlansOfOthers && s.mayRun(r, p), r.principal.Has(identity.ChangeRead):
		if s.mayKnow(r, p) {
			return p, nil
		}
	}
	return nil, problem.New(schema.NotFound, "There is no plan '%s': it was never made, is no longer kept, or belongs to another credential.", id)
}

// mayRun reports whether the caller has the scope of a plan's operation.
func (s *Server) mayRun(r *request, p *plans.Plan) bool {
	return slices.ContainsFunc(s.Operations, func(op *ops.Operation) bool { return op.ID == p.Operation && r.principal.Has(op.Scope) })
}

// mayKnow reports whether what another caller has planned lies within the limits of this one.
func (s *Server) mayKnow(r *request, p *plans.Plan) bool {
	bounds, op := change.BoundsOf(r.principal.Limits), s.operationOf(p.Row)
	planned := ops.Done{Op: op, Intent: &p.Intent}
	return bounds.None() || op != nil && bounds.See(change.MadeBy(s.Operations, planned, p.Zone))
}

func plansUnavailable(err error) error {
	return call.StoreFault(err, "Plans cannot be read or kept at the moment. Try again later; GET /readyz tells when they can.")
}

// check compares what is announced with the plan. It is called again if the request runs again on another server.
func (a *application) check(r *request, i *ps.Intent) error {
	if a == nil {
		return nil
	}
	a.drift = change.Drift(a.plan.Objects, r.announcement(i).Against(a.plan.Objects))
	if a.plan.Intent.Effect == ps.EffectRemoved { // of more than was shown, or of less
		for _, name := range slices.Sorted(maps.Keys(a.plan.Intent.Counts)) {
			if was, now := a.plan.Intent.Counts[name], i.Counts[name]; was != now {
				a.drift = append(a.drift, change.Difference{Object: a.plan.Intent.Objects[0].DN, Field: name, Expected: encode(was), Found: encode(now)})
			}
		}
	}
	if a.drift != nil {
		return errPlanDrifted
	}
	return nil
}

// use uses up a plan whose application has nothing to change.
func (a *application) use(r *request) error {
	if a == nil || a.used {
		return nil
	}
	s := r.gateway
	// The caller may leave, the change goes on.
	err := s.Kept.Update(context.Background(), func(tx *store.Tx) error { return s.usePlan(tx, a, r.id) })
	switch {
	case problem.Is(err):
		return err
	case err != nil:
		return plansUnavailable(err)
	}
	s.usedUp(a)
	return nil
}

// usePlan uses up the plan that a call applies, as a part of an update.
func (s *Server) usePlan(tx *store.Tx, a *application, requestID string) error {
	latest, err := s.plans.Use(tx, a.plan, plans.Use{RequestID: requestID})
	if errors.Is(err, plans.ErrUsed) {
		return usedPlan(latest)
	}
	return err
}

// usedUp notes that it is stored that a call has used up its plan.
func (s *Server) usedUp(a *application) {
	a.used = true
	s.meters.plans.WithLabelValues(planApplied).Inc()
}

// applied returns the error of a call whose plan did not hold. A script that had nothing
// to do has announced nothing.
func (a *application) applied(r *request) error {
	if a == nil {
		return nil
	}
	if r.runErr == nil && r.result.Effect == ps.EffectNone {
		present := slices.Clone(a.plan.Objects)
		for i := range present {
			present[i].Changes = nil
		}
		if a.drift = change.Drift(a.plan.Objects, present); a.drift == nil {
			return a.use(r)
		}
		r.runErr = &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Server: r.result.Server, Cause: errPlanDrifted}
	}
	if a.drift == nil {
		return nil
	}
	if now, err := r.gateway.plans.Get(context.Background(), a.plan.ID); err == nil && now.Used != nil && now.Used.RequestID != r.id {
		a.drift, a.used = nil, false
		failed := problem.Of(usedPlan(now)) // which is why it does not hold any more
		failed.Outcome, failed.Server = ps.OutcomeNone, ps.AsError(r.runErr).Server
		return failed
	}
	a.hide(r.principal)
	failed := problem.New(schema.Drifted, "The plan '%s' does not hold any more, and nothing was changed: %s differs from what it shows. See details, and make a new plan with %s.",
		a.plan.ID, a.fields(), ops.DryRun)
	failed.Outcome, failed.Server = ps.OutcomeNone, ps.AsError(r.runErr).Server
	for _, d := range a.drift {
		failed.Details = append(failed.Details, problem.Detail{Field: d.Field, Message: fmt.Sprintf("of '%s' was expected to be %s, and is %s", d.Object, d.Expected, d.Found),
			Expected: d.Expected, Found: d.Found})
	}
	return failed
}

// hide hides names of objects outside the limits of a caller in what has drifted.
func (a *application) hide(from *identity.Principal) {
	bounds := change.BoundsOf(from.Limits)
	for i := range a.drift {
		if d := &a.drift[i]; slices.Contains([]string{"manager", "managedBy", "ouPath", "path"}, d.Field) {
			d.Expected, d.Found = bounds.Hidden(d.Expected), bounds.Hidden(d.Found)
		}
	}
}

// fields returns the fields in which a plan has drifted.
func (a *application) fields() string {
	var fields []string
	for _, d := range a.drift {
		if !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return strings.Join(fields, ", ")
}

// showPlan answers with a plan.
func (s *Server) showPlan(r *request) (call.Answer, error) {
	p, failed := s.planOf(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	var shown change.Plan
	if err := json.Unmarshal(p.Shown, &shown); err != nil {
		return call.Answer{}, problem.Internal(err)
	}
	shown.State = string(p.StateAt(s.Kept.Now()))
	shown.Hide(change.BoundsOf(r.principal.Limits))
	return r.accepted().Answer(r.op.Sentence("The {subject} was found.", r.bound, 1, &ps.Result{}), struct {
		change.Plan
		Change *string `json:"change"`
	}{shown, call.OrNull(p.ChangeID())}), nil
}

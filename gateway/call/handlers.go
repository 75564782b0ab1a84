package call

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A Handler answers the calls of a row without a script. It is safe for concurrent use. If it fails, the
// answer still has ChangeID if a change was made, and Server if a server was asked.
type Handler func(ctx context.Context, a Accepted) (Answer, error)

// A Streamer sends the events of a row without a script. If it returns an error, it has sent no events. It is
// safe for concurrent use.
type Streamer func(ctx context.Context, a Accepted, to Events) error

// Local holds the handlers and streamers of the rows without a script, by the ids of the rows.
type Local struct {
	Handlers  map[string]Handler
	Streamers map[string]Streamer
}

// Add adds rows without a script.
func (l Local) Add(more Local) {
	maps.Copy(l.Handlers, more.Handlers)
	maps.Copy(l.Streamers, more.Streamers)
}

// Check returns a fault for each row without a script that has neither a handler nor a streamer.
func (l Local) Check(table []*ops.Operation) (faults []error) {
	for _, op := range table {
		if op.Local && l.Handlers[op.ID] == nil && l.Streamers[op.ID] == nil {
			faults = append(faults, fmt.Errorf("row %s has no script, and nothing answers it", op.ID))
		}
	}
	return faults
}

// shownCaller is the information that a credential may get about itself.
type shownCaller struct {
	Name    string           `json:"name"`
	Kind    string           `json:"kind"`
	ID      *string          `json:"id"`
	Scopes  []identity.Scope `json:"scopes"`
	Limits  callerLimits     `json:"limits"`
	Expires *string          `json:"expires"`
}

// callerLimits are the limits of a credential. An empty list means no limit.
type callerLimits struct {
	OUs    []string `json:"ous"`
	Groups []string `json:"groups"`
	Zones  []string `json:"zones"`
	Names  []string `json:"names"`
}

// whoAmI answers with the caller's name, scopes and limits.
func whoAmI(_ context.Context, a Accepted) (Answer, error) {
	p := a.Principal
	list := func(items []string) []string { return append([]string{}, items...) }
	shown := shownCaller{
		Name: p.Name, Kind: cmp.Or(p.Kind, identity.KindToken), ID: schema.OrNull(p.ID),
		Scopes: slices.Clone(p.Scopes),
		Limits: callerLimits{list(p.Limits.OUs), list(p.Limits.Groups), list(p.Limits.Zones), list(p.Limits.Names)},
	}
	slices.Sort(shown.Scopes)
	if !p.Expires.IsZero() {
		text := p.Expires.UTC().Format(time.RFC3339)
		shown.Expires = &text
	}
	return a.Answer("The credential is the "+p.String()+".", shown), nil
}

// showPlan returns the handler that shows a plan.
func showPlan(s *Service) Handler {
	return func(ctx context.Context, a Accepted) (Answer, error) { return answerPlan(ctx, s, a) }
}

func answerPlan(ctx context.Context, s *Service, a Accepted) (Answer, error) {
	found, err := s.Plans.Known(ctx, plan.Wanted{
		ID: a.Bound.Text(ops.PlanID), Caller: a.Principal, OfOthers: s.Policy().PlansOfOthers,
	})
	if err != nil {
		return Answer{}, err
	}
	shown, err := s.Plans.Shown(found, a.Principal)
	if err != nil {
		return Answer{}, err
	}
	return a.Answer(a.Op.Sentence("The {subject} was found.", a.Bound, 1, &ps.Result{}), struct {
		change.Plan
		Change *string `json:"change"`
	}{shown, schema.OrNull(found.ChangeID())}), nil
}

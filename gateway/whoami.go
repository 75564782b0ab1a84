package gateway

import (
	"adgateway/gateway/call"
	"cmp"
	"context"
	"slices"
	"time"

	"adgateway/gateway/identity"
)

// shownCaller is what a credential may know of itself.
type shownCaller struct {
	Name    string           `json:"name"`
	Kind    string           `json:"kind"`
	ID      *string          `json:"id"`
	Scopes  []identity.Scope `json:"scopes"`
	Limits  callerLimits     `json:"limits"`
	Expires *string          `json:"expires"`
}

// callerLimits are the limits of a credential; an empty list stands for none.
type callerLimits struct {
	OUs    []string `json:"ous"`
	Groups []string `json:"groups"`
	Zones  []string `json:"zones"`
	Names  []string `json:"names"`
}

// whoAmI answers with the caller's own name, scopes and limits.
func whoAmI(_ context.Context, a call.Accepted) (call.Answer, error) {
	p := a.Principal
	list := func(items []string) []string { return append([]string{}, items...) }
	shown := shownCaller{
		Name: p.Name, Kind: cmp.Or(p.Kind, identity.KindToken), ID: call.OrNull(p.ID), Scopes: slices.Clone(p.Scopes),
		Limits: callerLimits{list(p.Limits.OUs), list(p.Limits.Groups), list(p.Limits.Zones), list(p.Limits.Names)},
	}
	slices.Sort(shown.Scopes)
	if !p.Expires.IsZero() {
		text := p.Expires.UTC().Format(time.RFC3339)
		shown.Expires = &text
	}
	return a.Answer("The credential is the "+p.String()+".", shown), nil
}

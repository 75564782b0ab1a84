package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"adgateway/gateway/auth"
)

// shownCaller is what a credential may know of itself.
type shownCaller struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Scopes  []auth.Scope `json:"scopes"`
	Limits  callerLimits `json:"limits"`
	Expires *string      `json:"expires"`
}

// callerLimits are the limits of a credential; an empty list stands for none.
type callerLimits struct {
	OUs    []string `json:"ous"`
	Groups []string `json:"groups"`
	Zones  []string `json:"zones"`
	Names  []string `json:"names"`
}

// whoAmI answers with the caller's own name, scopes and limits.
func (s *Server) whoAmI(r *request) error {
	p := r.principal
	list := func(items []string) []string { return append([]string{}, items...) }
	shown := shownCaller{
		Name: p.Name, Kind: cmp.Or(p.Kind, auth.KindToken), Scopes: slices.Clone(p.Scopes),
		Limits: callerLimits{list(p.Limits.OUs), list(p.Limits.Groups), list(p.Limits.Zones), list(p.Limits.Names)},
	}
	slices.Sort(shown.Scopes)
	if !p.Expires.IsZero() {
		text := p.Expires.UTC().Format(time.RFC3339)
		shown.Expires = &text
	}
	r.records = 1
	s.sendLocal(r, http.StatusOK, "The credential is the "+p.String()+".", []any{shown}, nil)
	return nil
}

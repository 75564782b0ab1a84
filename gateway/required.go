package gateway

import (
	"errors"
	"fmt"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/required"
	"adgateway/ps"
)

// Options that come from settings have no default here, because the setting has one (see package config). The
// error for a missing option names the option.

// complete sets the defaults of the other options, and returns an error if the options cannot be
// used.
func (o *Options) complete() error {
	missing := []error{
		required.Given(map[string]bool{"Runner": o.Runner == nil, "Auth": o.Auth == nil, "Log": o.Log == nil}),
		o.limits(), o.Lists.Check(), o.Jobs.Check(), o.Web.Complete(),
	}
	if o.Operations == nil {
		o.Operations = ops.Table()
	}
	if o.Quotas == nil {
		o.Quotas = identity.NewMeters(identity.Quota{}, nil)
	}
	if o.StreamAbove <= 0 {
		o.StreamAbove = streamAbove
	}
	if o.Kept != nil && o.History != nil && o.History.Store() != o.Kept {
		missing = append(missing, errors.New(
			"gateway: the history must be in the store of the keys, so that both are decided at once"))
	}
	if o.Member != nil && (o.Kept == nil || o.History == nil || o.Hop == nil) {
		missing = append(missing, errors.New("gateway: a member of a cluster needs a store, a history and the hop"))
	}
	if o.Relay == nil {
		o.Relay = o.Kept
	}
	return errors.Join(missing...)
}

// limits returns an error that names the missing limits.
func (o *Options) limits() error {
	return required.Positive("", map[string]int64{
		"Streams": int64(o.Streams), "MaxWait": int64(o.MaxWait), "KeyLife": int64(o.KeyLife), "NameHold": int64(o.NameHold),
		"Bounds.Plans": o.Bounds.Plans, "Bounds.Keys": o.Bounds.Keys,
		"Sessions[directory]": int64(o.Sessions[ps.Directory]), "Sessions[dns]": int64(o.Sessions[ps.DNS]),
	})
}

// check returns an error if the policy cannot be used.
func (p *Policy) check() error {
	faults := []error{p.Policy.Check()}
	for name, scopes := range map[string][]identity.Scope{"http.requireGuard": p.RequireGuard,
		"http.requireKey": p.RequireKey} {
		for _, scope := range scopes {
			if _, err := authn.ParseScopes([]string{string(scope)}); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// streamAbove is the size in bytes up to which a result is held back until the script has
// succeeded.
const streamAbove = 8 << 20

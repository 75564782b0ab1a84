package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// Options that come from settings have no default here, because the setting has one (see package
// config). The error for a missing option names it.

// complete sets the defaults of the other options, and returns an error if the options cannot be
// used.
func (o *Options) complete() error {
	var missing []error
	for name, absent := range map[string]bool{"Runner": o.Runner == nil, "Auth": o.Auth == nil, "Log": o.Log == nil} {
		if absent {
			missing = append(missing, fmt.Errorf("gateway: option %s is missing", name))
		}
	}
	missing = append(missing, o.limits(), o.JobLimits.check(), positive("option Connections.", o.Connections.Limits()))
	if o.Operations == nil {
		o.Operations = ops.Table()
	}
	if o.Quotas == nil {
		o.Quotas = identity.NewMeters(identity.Quota{}, nil)
	}
	if o.Engine == "" {
		o.Engine = "powershell"
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.BodyLimit <= 0 {
		o.BodyLimit = 1 << 20
	}
	if o.StreamAbove <= 0 {
		o.StreamAbove = streamAbove
	}
	if o.Kept != nil && o.History != nil && o.History.Store() != o.Kept {
		missing = append(missing, errors.New("gateway: the history must be in the store of the keys, so that both are decided at once"))
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
	return positive("option ", map[string]int64{
		"BodyMemory": o.BodyMemory, "Streams": int64(o.Streams), "MaxWait": int64(o.MaxWait), "KeyLife": int64(o.KeyLife), "NameHold": int64(o.NameHold),
		"Bounds.Plans": o.Bounds.Plans, "Bounds.Keys": o.Bounds.Keys,
		"Sessions[directory]": int64(o.Sessions[ps.Directory]), "Sessions[dns]": int64(o.Sessions[ps.DNS]),
	})
}

// positive returns an error for each value that is not positive. It consists of the prefix and the
// key.
func positive(prefix string, values map[string]int64) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] <= 0 {
			faults = append(faults, fmt.Errorf("gateway: %s%s must be positive, not %d", prefix, name, values[name]))
		}
	}
	return errors.Join(faults...)
}

// check returns an error if the policy cannot be used.
func (p *Policy) check() error {
	faults := []error{positive("option Policy.", map[string]int64{
		"ReadLimit": int64(p.ReadLimit), "ListLimit": int64(p.ListLimit), "WriteLimit": int64(p.WriteLimit),
		"SettleLimit": int64(p.SettleLimit), "SettlePause": int64(p.SettlePause), "Grace": int64(p.Grace),
		"BulkLimit": int64(p.BulkLimit), "StaleDays": int64(p.StaleDays), "PlanLife": int64(p.PlanLife),
		"Protocols.ChallengeTTL": int64(p.Protocols.ChallengeTTL), "Protocols.Budget": int64(p.Protocols.Budget),
	})}
	if p.Dialect != identity.Standard && p.Dialect != identity.Classic {
		faults = append(faults, fmt.Errorf("gateway: option Policy.Dialect: %q is no dialect", p.Dialect))
	}
	for name, scopes := range map[string][]identity.Scope{"http.requireGuard": p.RequireGuard, "http.requireKey": p.RequireKey} {
		for _, scope := range scopes {
			if _, err := authn.ParseScopes([]string{string(scope)}); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	for _, pattern := range p.RequireReason {
		if !ops.MatchesAny(pattern) {
			const unknown = "reason.required: no operation that takes a reason is called %q"
			faults = append(faults, fmt.Errorf(unknown, pattern))
		}
	}
	return errors.Join(faults...)
}

// streamAbove is the size in bytes up to which a result is held back until the script has
// succeeded.
const streamAbove = 8 << 20

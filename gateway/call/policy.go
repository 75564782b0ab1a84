package call

import (
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/privileged"
	"adgateway/gateway/required"
)

// Policy is the part of the settings that applies to calls. It may change while the gateway runs,
// but each call uses the same policy throughout.
type Policy struct {
	RequireGuard []identity.Scope // scopes whose changes must have a guard
	RequireKey   []identity.Scope // scopes whose changes must have an Idempotency-Key
	// RequireReason lists operations whose calls must have a reason, by id or by a pattern such as user.*.
	RequireReason []string

	ReadLimit  time.Duration // for one run of a read
	ListLimit  time.Duration // for one run of a list
	WriteLimit time.Duration // for one run of a change
	// SettleLimit is the time limit for finding the outcome of a change.
	SettleLimit time.Duration
	SettlePause time.Duration // between the two readings that must agree
	BulkLimit   int           // most objects that one bulk removal may remove
	StaleDays   int           // days without a logon after which a computer is stale

	Guarded privileged.Set // protected objects that the settings name

	PlanLife      time.Duration // how long a plan can be applied
	PlansOfOthers bool          // a credential may apply plans made by others

	Protocols ops.ProtocolSettings // settings of rows for protocols of other programs
}

// Check returns an error if calls cannot be made under the policy. Limits and durations are required.
func (p *Policy) Check() error {
	faults := []error{required.Positive("Policy.", map[string]int64{
		"ReadLimit": int64(p.ReadLimit), "ListLimit": int64(p.ListLimit), "WriteLimit": int64(p.WriteLimit),
		"SettleLimit": int64(p.SettleLimit), "SettlePause": int64(p.SettlePause),
		"BulkLimit": int64(p.BulkLimit), "StaleDays": int64(p.StaleDays), "PlanLife": int64(p.PlanLife),
		"Protocols.ChallengeTTL": int64(p.Protocols.ChallengeTTL), "Protocols.Budget": int64(p.Protocols.Budget),
	})}
	for setting, scopes := range map[string][]identity.Scope{
		"http.requireGuard": p.RequireGuard, "http.requireKey": p.RequireKey,
	} {
		for _, scope := range scopes {
			if _, err := identity.ParseScopes([]string{string(scope)}); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", setting, err))
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

// Longest returns the maximum run time of a call until its answer begins, including the time for
// finding its outcome. op is nil for a page, which may make any call.
func (p *Policy) Longest(op *ops.Operation) time.Duration {
	longest := max(p.ReadLimit, p.WriteLimit) // a dry run of a change is a read
	if op != nil {
		if op.Reply.Mark == ops.List {
			longest = max(longest, p.ListLimit)
		}
		longest = max(longest, op.Timeout)
	}
	return longest + p.SettleLimit
}

// Package readiness contains the checks that decide whether a gateway is ready to serve. /readyz and the
// status page show them.
package readiness

import (
	"adgateway/gateway/identity"
	"adgateway/ps"
)

// Check is one line of /readyz. Only callers with ops:read see the reason, see [Shown].
type Check struct {
	Name     string
	OK       bool   // requests are served, as far as this check is concerned
	Reason   string // why it is not OK, or why it is degraded
	Degraded bool   // the check is OK, but something needs attention

	Lane      ps.Lane // the check only affects calls of this lane; empty if it affects all
	NoChanges bool    // only reads are served
}

// Shown returns the checks as a caller may see them, and reports whether all of them are OK. caller
// is nil if unknown.
func Shown(checks []Check, caller *identity.Principal) (shown []Check, ready bool) {
	ready = true
	for _, check := range checks {
		check.Degraded = check.Degraded && check.OK
		if caller == nil || !caller.Has(identity.OpsRead) {
			check.Reason = ""
		}
		shown, ready = append(shown, check), ready && check.OK
	}
	return shown, ready
}

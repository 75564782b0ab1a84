package settle

import (
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// Recorded returns a change from the history in the form for settling or comparing it, or false if
// that is impossible. op is nil if the row no longer exists.
func Recorded(op *ops.Operation, c *changes.Record) (Change, bool) {
	if op == nil || op.Protocol != nil || len(c.Intent.Objects) == 0 {
		return Change{}, false
	}
	given := ops.Given{}
	for name, text := range c.Parameters {
		given[name] = text
	}
	bound, _ := op.Bind(given) // secrets are missing, but no settling script needs them
	intent := c.Intent
	intent.Server = c.Server
	return Change{
		Operation: op, Bound: bound, Request: ps.Request{ID: c.RequestID, Args: bound.Args}, StartedAt: c.Time,
		Cut: &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: c.Server},
	}, true
}

package call

import (
	"context"
	"encoding/json"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/bounds"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/names"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/privileged"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// A Table holds the rows and the scripts of the gateway. It is immutable.
type Table struct {
	Rows    []*ops.Operation
	Scripts map[string]ps.Script // by name
}

// NewTable returns a table of rows and scripts.
func NewTable(rows []*ops.Operation, scripts []ps.Script) Table {
	t := Table{Rows: rows, Scripts: map[string]ps.Script{}}
	for _, script := range scripts {
		t.Scripts[script.Name] = script
	}
	return t
}

// takes reports whether a script declares a parameter.
func (t Table) takes(script, name string) bool {
	_, declared := t.Scripts[script].Param(name)
	return declared
}

// Reveals configures calls that reveal secrets.
type Reveals struct {
	Unaudited bool // reveals may run without an audit log, because the secrets are not real
	// Ended is called when a reveal has ended. outcome is "shown" or "failed", and many reports whether the
	// caller has now seen many secrets. It may be nil.
	Ended func(outcome string, many bool)
}

// A Service makes calls. It is safe for concurrent use, and must not be changed after its first
// use.
type Service struct {
	Table
	Runner      ps.Runner
	Log         *logrus.Logger
	Audit       *audit.Log // nil if nothing is recorded
	Reveals     Reveals
	Kept        *store.Sealed         // store of the changes; nil if nothing is stored
	Guarded     func() privileged.Set // objects protected in addition to the policy's; may be nil
	StreamAbove int                   // size in bytes from which a Sink takes a list while its script runs
	Policy      func() *Policy        // returns the current policy
	Local       Local                 // the rows without a script
	Writer      *write.Writer
	History     *changes.History  // nil if there is no history
	Keys        *idempotency.Keys // nil if none are kept
	Plans       *plan.Plans       // nil if none are kept
	Ledger      *quota.Ledger     // nil if quotas are only in memory
	Names       *names.Names      // nil if the gateway is alone
	Room        *bounds.Room      // room left on the disk; if nil, no call is refused for lack of space
	Clustered   bool              // only the leader makes changes
	// Gateways returns the number of gateways that share the callers' quotas.
	Gateways func() int
	// Amend adds information that only the gateway has to a batch of records of a shape. It may be
	// nil.
	Amend func(ctx context.Context, shape *schema.Shape, batch json.RawMessage) json.RawMessage
}

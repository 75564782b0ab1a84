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

// A Table has the rows and the scripts of the gateway. It is immutable.
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
	Unaudited bool // they may run without an audit log, because the secrets are made up
	// Ended is called when a reveal has ended, with "shown" or "failed", and with whether its
	// caller has now seen many. It may be nil.
	Ended func(outcome string, many bool)
}

// A Service makes calls. It is safe for concurrent use, and must not be changed after its first
// use.
type Service struct {
	Table
	Runner      ps.Runner
	Log         *logrus.Logger
	Audit       *audit.Log // nil: nothing is recorded
	Reveals     Reveals
	Kept        *store.Sealed         // store of the changes; nil: nothing is stored
	Guarded     func() privileged.Set // what gives rights now, besides what the policy names; nil: nothing does
	StreamAbove int                   // size of a list in bytes from which a Sink takes it while its script runs
	Policy      func() *Policy        // returns the present policy
	Local       Local                 // the rows without a script
	Writer      *write.Writer
	History     *changes.History  // nil: there is no history
	Keys        *idempotency.Keys // nil: none are kept
	Plans       *plan.Plans       // nil: none are kept
	Ledger      *quota.Ledger     // nil: quotas are in memory only
	Names       *names.Names      // nil: the gateway is alone
	Room        *bounds.Room      // what is left on the disk; nil: nothing is refused for that
	Clustered   bool              // only the leader makes changes
	// Gateways returns how many gateways share the quotas of callers.
	Gateways func() int
	// Amend adds what only the gateway knows to a batch of records of a shape. It may be nil.
	Amend func(ctx context.Context, shape *schema.Shape, batch json.RawMessage) json.RawMessage
}

package call

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/bounds"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/identity"
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

// Policy is the part of the settings that applies to calls. It may change while the gateway runs,
// but each call uses the same policy throughout.
type Policy struct {
	RequireGuard []identity.Scope // scopes whose changes must have a guard
	RequireKey   []identity.Scope // scopes whose changes must have an Idempotency-Key
	// RequireReason lists operations, or patterns such as user.*, whose calls must have a reason.
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

	Protocols ops.ProtocolSettings // settings of rows for third-party protocols
}

// Reveals configures calls that reveal secrets.
type Reveals struct {
	Unaudited bool // reveals may run without an audit log, because the secrets are made up
	// Ended is called when a reveal has ended. outcome is "shown" or "failed", and many reports
	// whether its caller has now seen many. It may be nil.
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
	Room        *bounds.Room      // room left on the disk; nil if nothing is refused for lack of it
	Clustered   bool              // only the leader makes changes
	// Gateways returns the number of gateways that share the callers' quotas.
	Gateways func() int
	// Amend adds to a batch of records of a shape what only the gateway knows. It may be nil.
	Amend func(ctx context.Context, shape *schema.Shape, batch json.RawMessage) json.RawMessage
}

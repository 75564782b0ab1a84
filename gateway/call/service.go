package call

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/bounds"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/names"
	"adgateway/gateway/plan"
	"adgateway/gateway/privileged"
	"adgateway/gateway/quota"
	"adgateway/gateway/required"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// Options configure a service. Runner, Log, Policy and Gateways are required, and so are the sizes
// and durations of Storage.
type Options struct {
	Table
	Runner  ps.Runner
	Log     *logrus.Logger
	Audit   *audit.Log // nil if nothing is recorded
	Reveals Reveals
	Storage
	Cluster     write.Cluster
	Guarded     func() privileged.Set // objects protected in addition to the policy's; may be nil
	StreamAbove int                   // bytes from which a Sink takes a list during its run; zero means 8 MiB
	Policy      func() *Policy        // returns the current policy
	Gateways    func() int            // returns the number of gateways that share the callers' quotas
	Unrecorded  func()                // see [write.Options]
}

// Storage configures what is stored with changes and for callers.
type Storage struct {
	Kept    *store.Sealed    // stores plans and calls with an Idempotency-Key; if nil, these are refused
	KeyLife time.Duration    // how long calls are kept
	History *changes.History // history of changes, in Kept if both are given; nil if none is kept
	Bounds  Bounds           // limits for the stored data
	// NameHold is how long a name that was assigned at one controller is not assigned at another. Only
	// clusters need it.
	NameHold time.Duration
}

// Bounds limit the stored data of callers. The sizes are required.
type Bounds struct {
	Plans int64        // bytes of all plans; one caller gets a quarter
	Keys  int64        // bytes of all calls with keys; one caller gets a quarter
	Room  *bounds.Room // room left on the disk; nil if nothing is refused for lack of it
}

// clustered reports whether only the leader makes changes.
func (o *Options) clustered() bool { return o.Cluster.Member != nil }

// Check returns an error that names the missing limits, or says that History is not in Kept.
func (s *Storage) Check() error {
	faults := required.Positive("", map[string]int64{
		"KeyLife": int64(s.KeyLife), "NameHold": int64(s.NameHold),
		"Bounds.Plans": s.Bounds.Plans, "Bounds.Keys": s.Bounds.Keys,
	})
	if s.Kept != nil && s.History != nil && s.History.Store() != s.Kept {
		faults = errors.Join(faults, errors.New(
			"gateway: the history must be in the store of the keys, so that both are decided at once"))
	}
	return faults
}

// Store returns the store of the changes, or nil if nothing is stored.
func (s *Storage) Store() *store.Sealed {
	if s.Kept == nil && s.History != nil {
		return s.History.Store()
	}
	return s.Kept
}

// Features lists the features of a gateway with this storage that older gateways would ignore. jobs reports
// whether it runs jobs.
func (s *Storage) Features(jobs bool) []string {
	features := []string{"dryRun", "etag", "bin"}
	if s.Kept != nil {
		features = append(features, "plan", "key")
	}
	if s.History != nil {
		features = append(features, "changes", "feed")
	}
	if jobs {
		features = append(features, "jobs")
	}
	return features
}

// Reveals configures calls that reveal secrets.
type Reveals struct {
	Unaudited bool // reveals may run without an audit log, because the secrets are made up
	// Ended is called when a reveal has ended. outcome is "shown" or "failed", and many reports
	// whether its caller has now seen many. It may be nil.
	Ended func(outcome string, many bool)
}

// A Service makes calls. It is safe for concurrent use. Local and Amend must not be changed after
// its first use.
type Service struct {
	Options
	Local Local // the rows without a script
	// Amend holds, by shape, the functions that add to a batch of records what only the gateway knows.
	Amend  map[*schema.Shape]func(ctx context.Context, batch json.RawMessage) json.RawMessage
	Writer *write.Writer
	Keys   *idempotency.Keys // nil if none are kept
	Plans  *plan.Plans       // nil if none are kept
	Ledger *quota.Ledger     // nil if quotas are only in memory
	Names  *names.Names      // nil if the gateway is alone
}

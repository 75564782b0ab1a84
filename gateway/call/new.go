package call

import (
	"cmp"
	"context"
	"fmt"

	"adgateway/gateway/idempotency"
	"adgateway/gateway/names"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/quota"
	"adgateway/gateway/settle"
	"adgateway/gateway/write"
)

// streamAbove is the size in bytes up to which a result is held back until the script has
// succeeded.
const streamAbove = 8 << 20

// New returns a service with what the store keeps for callers. It answers the rows that show a
// caller and a plan; the owners of other rows without a script add theirs to Local.
func New(o Options) (*Service, error) {
	o.StreamAbove = cmp.Or(max(o.StreamAbove, 0), streamAbove)
	s := &Service{Options: o}
	s.Local = Local{
		Handlers:  map[string]Handler{"caller.show": whoAmI, "plan.get": showPlan(s)},
		Streamers: map[string]Streamer{},
	}
	kinds, err := openKept(s)
	if err != nil {
		return nil, err
	}
	if s.clustered() {
		s.Names = names.New(names.Options{
			Store: s.Store(), History: s.History, Hold: s.NameHold, Log: s.Log,
			Operation: func(id string) *ops.Operation { return ops.Find(o.Rows, id) },
		})
		kinds = append(kinds, s.Names)
	}
	s.Writer, err = write.New(write.Options{
		Runner: s.Runner, Operations: s.Rows, Log: s.Log,
		Settler: func() *settle.Settler { return s.Settler(s.Policy()) },
		Store:   s.Store(), History: s.History, Audit: s.Audit, Kinds: kinds,
		Spent: quota.SpentOf, Unrecorded: o.Unrecorded, Cluster: o.Cluster,
	})
	return s, err
}

// openKept opens the data stored for callers, if there is a store. It returns the kinds of values
// that end with a change.
func openKept(s *Service) (kinds []write.Kind, err error) {
	if s.Kept == nil {
		return nil, nil
	}
	plans := plan.Limits{Bytes: s.Bounds.Plans, Room: s.Bounds.Room}
	if s.Plans, err = plan.Open(context.Background(), s.Kept, s.Rows, plans); err != nil {
		return nil, fmt.Errorf("plans that were kept: %w", err)
	}
	keys := idempotency.Limits{Bytes: s.Bounds.Keys, Room: s.Bounds.Room}
	s.Keys = idempotency.New(s.Kept, s.KeyLife, s.History, keys)
	s.Ledger = quota.NewLedger(s.Kept, s.clustered())
	return []write.Kind{s.Plans, s.Ledger, s.Keys}, nil
}

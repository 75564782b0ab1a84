package gateway

import (
	"context"

	"adgateway/gateway/cluster"
	"adgateway/gateway/quota"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
)

// ownKinds returns what ends with a change of this gateway.
func (s *Server) ownKinds() (all []write.Kind) {
	if s.plans != nil {
		all = append(all, s.plans)
	}
	if s.ledger != nil {
		all = append(all, s.ledger)
	}
	if s.keys != nil {
		all = append(all, s.keys)
	}
	if s.names != nil {
		all = append(all, s.names)
	}
	return all
}

// openWriter opens what begins, ends and recovers changes.
func (s *Server) openWriter() (err error) {
	s.writer, err = write.New(write.Options{
		Runner: s.Runner, Operations: s.Operations, Log: s.Log,
		Settler: func() *settle.Settler { return s.settler(s.current.Load()) },
		Store:   s.store(), History: s.History, Audit: s.Audit, Kinds: s.ownKinds(),
		Spent: quota.SpentOf, Unrecorded: s.meters.unremembered.Inc,
		Member: s.Member, Relay: s.Relay, Load: s.load, Stopping: s.stopping,
	})
	return err
}

// store returns the store of what the server keeps; nil if there is none.
func (s *Server) store() *store.Sealed {
	if s.Kept == nil && s.History != nil {
		return s.History.Store()
	}
	return s.Kept
}

// SettleHistory finds the outcome of the changes that were running when the gateway
// was ended. Those that cannot be read yet are left, and it is called again.
func (s *Server) SettleHistory(ctx context.Context) (left int, err error) {
	return s.writer.SettleHistory(ctx)
}

// RunClosing closes the changes that could not be closed when their calls were answered, until
// ctx is done: the store did not take them, or nobody could find out what became of them.
func (s *Server) RunClosing(ctx context.Context) { s.writer.RunClosing(ctx) }

// Attempts returns the open changes of the store, which the member of a cluster judges.
func (s *Server) Attempts() cluster.Attempts { return s.writer.Attempts() }

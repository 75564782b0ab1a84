package gateway

import (
	"context"

	"adgateway/gateway/cluster"
	"adgateway/gateway/quota"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
)

// ownKinds returns the kinds of stored values that end with a change of this gateway.
func (s *Server) ownKinds() (all []write.Kind) {
	if c := s.calls; s.Kept != nil {
		all = append(all, c.Plans, c.Ledger, c.Keys)
	}
	if s.calls.Names != nil {
		all = append(all, s.calls.Names)
	}
	return all
}

// openWriter opens the writer, which begins, ends and recovers changes.
func (s *Server) openWriter() (err error) {
	s.calls.Writer, err = write.New(write.Options{
		Runner: s.Runner, Operations: s.Operations, Log: s.Log,
		Settler: func() *settle.Settler { return s.calls.Settler(s.calls.Policy()) },
		Store:   s.store(), History: s.History, Audit: s.Audit, Kinds: s.ownKinds(),
		Spent: quota.SpentOf, Unrecorded: s.meters.Unrecorded,
		Member: s.Member, Relay: s.Relay, Load: s.load, Stopping: s.stopping,
	})
	return err
}

// store returns the server's store, or nil if there is none.
func (s *Server) store() *store.Sealed {
	if s.Kept == nil && s.History != nil {
		return s.History.Store()
	}
	return s.Kept
}

// SettleHistory determines the outcome of changes that were running when the gateway last ended. It
// leaves changes that cannot be read yet to the next call, and returns their number.
func (s *Server) SettleHistory(ctx context.Context) (left int, err error) {
	return s.calls.Writer.SettleHistory(ctx)
}

// RunClosing closes the changes that could not be closed when their calls were answered, because
// the store did not accept them or their outcome could not be determined. It returns when ctx is
// done.
func (s *Server) RunClosing(ctx context.Context) { s.calls.Writer.RunClosing(ctx) }

// Attempts returns the store's open changes, which the cluster member judges.
func (s *Server) Attempts() cluster.Attempts { return s.calls.Writer.Attempts() }

package gateway

import (
	"context"

	"adgateway/gateway/ops"
)

// SettleHistory finds out what became of the changes that were running when the gateway
// was ended. Those that cannot be read yet are left, and it is called again.
func (s *Server) SettleHistory(ctx context.Context) (left int, err error) {
	return s.writer.SettleHistory(ctx)
}

// RunClosing closes the changes that could not be closed when their calls were answered, until
// ctx is done: the store did not take them, or nobody could find out what became of them.
func (s *Server) RunClosing(ctx context.Context) { s.writer.RunClosing(ctx) }

func (s *Server) operationOf(id string) *ops.Operation { return ops.Find(s.Operations, id) }

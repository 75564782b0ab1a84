package gateway

import (
	"context"

	"adgateway/gateway/ops"
)

// parameters returns the accepted parameters but the secrets, and whether there are any
// of those.
func (r *request) parameters() (texts map[string]string, secret bool) {
	texts = map[string]string{}
	for i := range r.op.Params {
		p := &r.op.Params[i]
		switch {
		case p.Kind.Secret():
			secret = secret || r.bound.Has(p.Name) || r.bound.Generated != nil
		case r.bound.Has(p.Name):
			texts[p.Name] = r.bound.Text(p.Name)
		}
	}
	return texts, secret
}

// SettleHistory finds out what became of the changes that were running when the gateway
// was ended. Those that cannot be read yet are left, and it is called again.
func (s *Server) SettleHistory(ctx context.Context) (left int, err error) {
	return s.writer.SettleHistory(ctx)
}

// RunClosing closes the changes that could not be closed when their calls were answered, until
// ctx is done: the store did not take them, or nobody could find out what became of them.
func (s *Server) RunClosing(ctx context.Context) { s.writer.RunClosing(ctx) }

func (s *Server) operationOf(id string) *ops.Operation { return ops.Find(s.Operations, id) }

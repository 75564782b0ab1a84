package gateway

import (
	"context"
	"fmt"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
)

// Call makes a call of an operation for a part of the gateway itself: for a page, an item of a job,
// or sign-in. It is authorised, metered, audited, logged and counted as that of a client, and is
// answered as [Server.Do] does. Op and Classic of c are set here, and so is its ID if it has none that
// is well formed. Its Input must be [call.Values].
//
// The answer has no Kept: what was kept is decoded. With an error it has the Records and Warnings of
// what was done all the same. It is safe for concurrent use.
func (s *Server) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	op := s.operationOf(operation)
	if op == nil {
		return call.Answer{}, problem.New(schema.NotSupported, "This gateway does not have the operation '%s'.", operation)
	}
	c.Op, c.Path, c.Principal = op, pathOf(op, c.Input), s.Quotas.Of(c.Principal)
	c.Classic = transport.IsClassic(c.Principal, s.current.Load().Dialect)
	c.ID = transport.WellFormedID(c.ID)
	return call.Settled(s.web.Inside(ctx, c))
}

// pathOf returns those of the values of a call that stand in the path of its row.
func pathOf(op *ops.Operation, input call.Input) map[string]string {
	values, _ := input.(call.Values)
	path := map[string]string{}
	for i := range op.Params {
		p := &op.Params[i]
		if value, has := values[p.Name]; has && p.Path != "" {
			path[p.Path] = fmt.Sprint(value)
		}
	}
	return path
}

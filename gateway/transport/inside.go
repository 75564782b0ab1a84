package transport

import (
	"context"
	"fmt"
	"time"

	"adgateway/gateway/accesslog"
	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Call makes a call of an operation on behalf of a part of the gateway: a page, a job or sign-in. The call is
// authorized, metered, audited, logged and counted like a client's call, and answered as by
// [call.Service.Do]. Call sets c.Op and c.Classic, and c.ID if that is missing or malformed. c.Input must be
// [call.Values].
//
// The answer has no Kept, because a stored answer is decoded. Call is safe for concurrent use.
func (s *Server) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	op := ops.Find(s.Operations, operation)
	if op == nil {
		return call.Answer{}, problem.New(schema.NotSupported,
			"This gateway does not have the operation '%s'.", operation)
	}
	c.Op, c.Path, c.Principal = op, pathOf(op, c.Input), s.Quotas.Of(c.Principal)
	c.Classic = IsClassic(c.Principal, s.current.Load().policy.Dialect)
	c.ID = WellFormedID(c.ID)
	startedAt := time.Now()
	s.meters.running.Inc()
	defer s.meters.running.Dec()
	answer, err := s.Calls.Do(ctx, c, nil)
	s.noteInside(ctx, c, answer, err, startedAt)
	return call.Settled(c, answer, err)
}

// pathOf returns the values of a call that belong in the path of its row.
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

// noteInside writes the log line of a call that was made inside the gateway, and counts it.
func (s *Server) noteInside(
	ctx context.Context, c call.Call, answer call.Answer, err error, startedAt time.Time,
) {
	status := call.Status(c.Op, c.Classic, answer, err)
	err = call.Problem(answer, err)
	f, left, counted := problem.Of(err), err != nil && ctx.Err() != nil, status
	if f != nil {
		counted = f.Code.Status()
	}
	took := time.Since(startedAt)
	s.Answered(c.Op, counted, err)
	s.meters.count(c.Op.ID, ownProtocol, counted, f, left, took)
	if !s.Log.IsLevelEnabled(levelOf(f, left)) {
		return
	}
	line := accesslog.New()
	line.Text("request_id", c.ID)
	line.Text("method", c.Op.Method)
	line.Whole("status", status)
	line.Text("client", c.From.String())
	line.Text("principal", c.Principal.Name)
	line.Text("route", c.Op.Path)
	line.Text("operation", c.Op.ID)
	line.Whole("records", answer.Count)
	s.writeAccess(line, answer, f, left, took)
}

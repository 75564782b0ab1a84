package transport

import (
	"context"
	"strconv"
	"time"

	"adgateway/gateway/accesslog"
	"adgateway/gateway/call"
	"adgateway/gateway/problem"
)

// Inside makes a call for another part of the gateway. It is logged and counted like a client's
// request.
func (s *Server) Inside(ctx context.Context, c call.Call) (call.Answer, error) {
	startedAt := time.Now()
	s.meters.running.Inc()
	defer s.meters.running.Dec()
	answer, err := s.Calls.Do(ctx, c, nil)
	s.noteInside(ctx, c, answer, err, startedAt)
	return answer, err
}

// noteInside writes the log line of a call that was made inside the gateway, and counts it.
func (s *Server) noteInside(ctx context.Context, c call.Call, answer call.Answer, err error, startedAt time.Time) {
	status := call.Status(c.Op, c.Classic, answer, err)
	err = call.Problem(answer, err)
	f, left, counted := problem.Of(err), err != nil && ctx.Err() != nil, status
	if f != nil {
		counted = f.Code.Status()
	}
	took := time.Since(startedAt)
	s.Answered(c.Op, counted, err)
	s.meters.count(f)
	s.meters.requests.WithLabelValues(c.Op.ID, ownProtocol, strconv.Itoa(counted/100)+"xx", codeOf(f, left)).Inc()
	s.meters.duration.WithLabelValues(c.Op.ID).Observe(took.Seconds())
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

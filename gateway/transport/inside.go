package transport

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/problem"
)

// Inside makes a call for a part of the gateway itself. It is logged and counted as the request of
// a client.
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
	f, left := problem.Of(err), err != nil && ctx.Err() != nil
	level, counted := logrus.InfoLevel, status
	if f != nil {
		counted = f.Code.Status()
		if !left && counted >= http.StatusInternalServerError {
			level = logrus.ErrorLevel
		}
	}
	took := time.Since(startedAt)
	s.Answered(c.Op, counted, err)
	s.meters.count(f)
	s.meters.requests.WithLabelValues(c.Op.ID, ownProtocol, strconv.Itoa(counted/100)+"xx", codeOf(f, left)).Inc()
	s.meters.duration.WithLabelValues(c.Op.ID).Observe(took.Seconds())
	if !s.Log.IsLevelEnabled(level) {
		return
	}
	fields := make(logrus.Fields, maxAccessFields)
	fields["request_id"], fields["method"], fields["status"] = c.ID, c.Op.Method, status
	fields["duration_ms"] = float64(took.Microseconds()) / 1000
	fields["client"], fields["principal"] = c.From.String(), c.Principal.Name
	fields["route"], fields["operation"], fields["records"] = c.Op.Path, c.Op.ID, answer.Count
	server := answer.Server
	if f != nil {
		server = f.Server
		logProblem(f, fields)
	}
	if server != "" {
		fields["server"] = server
	}
	if answer.Audited != "" {
		fields["code"] = answer.Audited
	}
	if s.Hop != nil {
		fields["answered_by"] = s.Hop.Gateway
	}
	if left {
		fields["client_left"] = true
	}
	(&logrus.Entry{Logger: s.Log, Data: fields}).Log(level, "request")
}

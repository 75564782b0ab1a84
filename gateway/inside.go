package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Call makes a call of an operation for a part of the gateway itself: for a page, an item of a job,
// or sign-in. It is authorised, metered, audited, logged and counted as that of a client, and is
// answered as [Server.Do] does. Op and Classic of c are set here, and so is its ID if it has none that
// is well formed. Its Input is [call.Values].
//
// The answer has no Kept: what was kept is decoded. With an error it has the Records and Warnings of
// what was done all the same. It is safe for concurrent use.
func (s *Server) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	op := s.operationOf(operation)
	if op == nil {
		return call.Answer{}, problem.New(schema.NotSupported, "This gateway does not have the operation '%s'.", operation)
	}
	startedAt := time.Now()
	s.meters.running.Inc()
	defer s.meters.running.Dec()
	c.Op, c.Path, c.Principal = op, pathOf(op, c.Input), s.Quotas.Of(c.Principal)
	c.Classic = isClassic(c.Principal, s.current.Load().policy.Dialect)
	if !requestID.MatchString(c.ID) {
		c.ID = call.NewID()
	}
	answer, err := s.Do(ctx, c, nil)
	s.noteCall(ctx, c, answer, err, startedAt)
	return settled(answer, err)
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

// noteCall writes the log line of a call that was made inside the gateway, and counts it.
func (s *Server) noteCall(ctx context.Context, c call.Call, answer call.Answer, err error, startedAt time.Time) {
	status := statusOfAnswer(c.Op, c.Classic, answer)
	if err != nil {
		status = statusOfRefusal(c.Op, err)
	}
	f, left := problem.Of(err), err != nil && ctx.Err() != nil
	level, counted := logrus.InfoLevel, status
	if f != nil {
		counted = f.Code.Status()
		if !left && counted >= http.StatusInternalServerError {
			level = logrus.ErrorLevel
		}
	}
	took := time.Since(startedAt)
	s.hour.add(time.Now(), counted)
	s.meters.count(c.Op, f)
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
	if s.Member != nil {
		fields["answered_by"] = s.Hop.Gateway
	}
	if left {
		fields["client_left"] = true
	}
	(&logrus.Entry{Logger: s.Log, Data: fields}).Log(level, "request")
}

// settled returns an answer without Kept, and with what was done although there is an error.
func settled(answer call.Answer, err error) (call.Answer, error) {
	if part := partOf(err); part != nil {
		answer.Records, answer.Warnings = withoutBrackets(part.result), part.warnings
		if part.asSuccess {
			answer.Output, err = problem.Of(err).Message, nil
		}
		return answer, err
	}
	if answer.Kept == nil {
		return answer, err
	}
	var kept errorEnvelope
	if err := json.Unmarshal(answer.Kept.Body, &kept); err != nil {
		return answer, &problem.Error{Code: schema.Internal, Outcome: ps.OutcomeUnknown, Cause: err,
			Message: "The answer to the first call could not be read."}
	}
	answer.Kept, answer.Output, answer.Records = nil, kept.Output, withoutBrackets(kept.Result)
	answer.Warnings = append(kept.Warnings, answer.Warnings...)
	if e := kept.Error; e != nil {
		return answer, &problem.Error{Code: e.Code, Message: e.Message, Outcome: e.Outcome, DirectoryCode: e.DirectoryCode, Details: e.Details}
	}
	return answer, nil
}

// withoutBrackets returns the records of a list in JSON, separated by commas.
func withoutBrackets(list []byte) []byte {
	list = bytes.TrimSpace(list)
	if inner, isList := bytes.CutPrefix(list, []byte("[")); isList {
		return bytes.TrimSuffix(inner, []byte("]"))
	}
	return list
}

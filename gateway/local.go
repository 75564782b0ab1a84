package gateway

import (
	"bytes"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// answerLocally answers a call of a row that has no script.
func (s *Server) answerLocally(r *request) (call.Answer, error) {
	r.started = true
	switch {
	case r.op.ID == "plan.get":
		return s.showPlan(r)
	case r.op.ID == "caller.show":
		return s.whoAmI(r)
	case r.op.ID == "cluster.show":
		return s.showCluster(r)
	case strings.HasPrefix(r.op.ID, "job."):
		return s.answerJobs(r)
	case s.History == nil:
		return call.Answer{}, noHistory()
	case r.op.ID == "change.list":
		return s.listChanges(r)
	case r.op.ID == "change.get":
		return s.showChange(r)
	default:
		return s.undo(r)
	}
}

func noHistory() error {
	return problem.New(schema.NotSupported, "This gateway keeps no history (store.file is off).")
}

// follow sends the events of a call of a row that has no script.
func (s *Server) follow(r *request, to call.Events) error {
	r.started = true
	switch {
	case r.op.ID == "job.stream":
		return s.streamJob(r, to)
	case s.History == nil:
		return noHistory()
	default:
		return s.streamChanges(r, to)
	}
}

// localAnswer returns an answer with records that no script emitted.
func localAnswer(r *request, output string, records ...any) call.Answer {
	answer := call.Answer{Output: output, Records: joinedRecords(records), Count: len(records)}
	if r.call.Behind {
		answer.Warnings = []ps.Warning{behindWarning}
	}
	return answer
}

// joinedRecords returns records as JSON, with commas between them.
func joinedRecords(records []any) []byte {
	encoded := make([][]byte, len(records))
	for i, record := range records {
		encoded[i] = encode(record)
	}
	return bytes.Join(encoded, []byte(","))
}

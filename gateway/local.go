package gateway

import (
	"maps"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// answerLocally answers a call of a row that has no script.
func (s *Server) answerLocally(r *request) error {
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
		return problem.New(schema.NotSupported, "This gateway keeps no history (store.file is off).")
	case r.op.ID == "change.list":
		return s.listChanges(r)
	case r.op.ID == "change.stream":
		return s.streamChanges(r)
	case r.op.ID == "change.get":
		return s.showChange(r)
	default:
		return s.undo(r)
	}
}

// sendLocal answers with records that no script emitted.
func (s *Server) sendLocal(r *request, status int, output string, records []any, more map[string]any) {
	body := map[string]any{"output": output, "result": records}
	if isClassic(r.principal, r.policy.Dialect) && r.op.Reply.Mark == ops.Single {
		body["result"] = records[0]
	}
	maps.Copy(body, more)
	if r.behind {
		body["warnings"] = []ps.Warning{behindWarning}
	}
	r.send(status, encode(body))
}

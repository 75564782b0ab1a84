package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// answerLocally answers a call of a row that has no script.
func (s *Server) answerLocally(r *request) (call.Answer, error) {
	r.started = true
	if handle := s.local.Handlers[r.op.ID]; handle != nil {
		return handle(r.ctx, r.accepted())
	}
	switch {
	case r.op.ID == "plan.get":
		return s.showPlan(r)
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

// accepted returns the call for those that answer it without a script.
func (r *request) accepted() call.Accepted {
	a := r.checked
	a.As, a.Leave = r, r.leave
	if r.key != nil {
		a.Once = r.key.name
	}
	return a
}

func noHistory() error {
	return problem.New(schema.NotSupported, "This gateway keeps no history (store.file is off).")
}

// follow sends the events of a call of a row that has no script.
func (s *Server) follow(r *request, to call.Events) error {
	r.started = true
	if stream := s.local.Streamers[r.op.ID]; stream != nil {
		return stream(r.ctx, r.accepted(), to)
	}
	if s.History == nil {
		return noHistory()
	}
	return s.streamChanges(r, to)
}

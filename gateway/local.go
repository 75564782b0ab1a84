package gateway

import (
	"adgateway/gateway/call"
)

// answerLocally answers a call of a row that has no script.
func (s *Server) answerLocally(r *request) (call.Answer, error) {
	r.started = true
	handle := s.local.Handlers[r.op.ID]
	switch {
	case handle != nil:
	case r.op.ID == "plan.get":
		return s.showPlan(r)
	default:
		return s.answerJobs(r)
	}
	answer, err := handle(r.ctx, r.accepted())
	r.shown, r.server = answer.ChangeID, answer.Server
	if err != nil {
		answer = call.Answer{}
	}
	return answer, err
}

// accepted returns the call for those that answer it without a script.
func (r *request) accepted() call.Accepted {
	a := call.Accepted{
		Call: r.call, Bound: r.bound, Given: r.given, As: r, Leave: r.leave,
		Limits: call.Limits{Read: r.policy.ReadLimit, Settle: r.policy.SettleLimit},
	}
	if r.key != nil {
		a.Once = r.key.name
	}
	return a
}

// follow sends the events of a call of a row that has no script.
func (s *Server) follow(r *request, to call.Events) error {
	r.started = true
	if stream := s.local.Streamers[r.op.ID]; stream != nil {
		return stream(r.ctx, r.accepted(), to)
	}
	return s.streamJob(r, to)
}

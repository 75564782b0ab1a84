package gateway

import (
	"maps"

	"adgateway/gateway/call"
)

// register adds rows without a script.
func (s *Server) register(local call.Local) {
	maps.Copy(s.local.Handlers, local.Handlers)
	maps.Copy(s.local.Streamers, local.Streamers)
}

// answerLocally answers a call of a row that has no script.
func (s *Server) answerLocally(r *request) (call.Answer, error) {
	r.started = true
	answer, err := s.local.Handlers[r.op.ID](r.ctx, r.accepted())
	r.shown, r.server = answer.ChangeID, answer.Server
	if err != nil {
		answer = call.Answer{}
	}
	return answer, err
}

// accepted returns the call for those that answer it without a script.
func (r *request) accepted() call.Accepted {
	return call.Accepted{
		Call: r.call, Bound: r.bound, Given: r.given, Once: r.key.Name(), As: r, Leave: r.leave,
		Limits: call.Limits{Read: r.policy.ReadLimit, Settle: r.policy.SettleLimit},
	}
}

// follow sends the events of a call of a row that has no script.
func (s *Server) follow(r *request, to call.Events) error {
	r.started = true
	return s.local.Streamers[r.op.ID](r.ctx, r.accepted(), to)
}

package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// What a gateway of a cluster answers itself while no other one leads, and what it says of how it
// stands to the others.

// hasCopy reports whether this gateway can answer a read of what the gateways keep from its own
// copy. How far a job has come is in the memory of the leader.
func hasCopy(op *ops.Operation) bool {
	return !op.Effect.Writes() && !strings.HasPrefix(op.ID, "job.")
}

// unanswered returns the request of a call that the leader has not answered. A read of what the
// gateways keep is answered from the copy here, unless the leader may have begun it.
func unanswered(r *http.Request, lost *hop.Failure) *http.Request {
	if op := transport.OperationOf(r); op != nil && lost.Outcome == hop.NotLeader && hasCopy(op) {
		return transport.Unled(r, nil)
	}
	return transport.Unled(r, unledFailure(lost))
}

// unledFailure returns the answer to a call that the leader has not answered.
func unledFailure(lost *hop.Failure) error {
	failed := problem.New(schema.NotLeader, "No gateway of the cluster leads at the moment, so that nothing was begun. "+
		"That lasts some seconds when the one that leads is lost: repeat the call. GET /api/Cluster shows the gateways.")
	if lost.Outcome == hop.Unknown {
		failed = problem.New(schema.Timeout, "The gateway that leads took the call and did not answer it, so that nobody knows "+
			"whether it was done. Look in the history for the request id. A call with an %s can be repeated safely.", ops.KeyHeader)
		failed.Outcome = ps.OutcomeUnknown
	}
	failed.Cause, failed.RetryAfter = lost.Err, lost.RetryAfter
	return failed
}

// gateways returns how many gateways serve the same clients.
func (s *Server) gateways() int {
	n := 1
	if s.Member == nil {
		return n
	}
	for _, other := range s.Member.Status().Gateways {
		if other.Alive {
			n++
		}
	}
	return n
}

// leads reports whether this gateway makes the changes; one that is in no cluster does.
func (s *Server) leads() bool {
	if s.Member == nil {
		return true
	}
	_, leads := s.Member.Leads()
	return leads
}

// clusterCheck is the readiness check of the gateway's place in its cluster.
func (s *Server) clusterCheck() Check {
	status := s.Member.Status()
	return Check{
		Name: "cluster", OK: true, NoChanges: status.Leaderless >= standing.LeaderlessFor,
		Degraded: len(standing.Wrong(status)) > 0, Reason: standing.Reason(status),
	}
}

// standing returns the state of the cluster as this gateway knows it.
func (s *Server) standing() standing.State {
	version, _ := s.Kept.Seals()
	return standing.Of(s.Member.Status(), standing.Self{
		Cluster: s.ClusterName, Gateway: s.Hop.Gateway, KeyVersion: version, Format: s.Member.Format(),
		Reads: s.Kept.Newest(), Lanes: s.usableLanes(),
	})
}

// usableLanes returns the lanes whose servers this gateway can use.
func (s *Server) usableLanes() []string {
	lanes := []string{}
	for lane := range s.Sessions {
		if s.LaneReady == nil || s.LaneReady(lane) {
			lanes = append(lanes, string(lane))
		}
	}
	slices.Sort(lanes)
	return lanes
}

// showCluster answers with the state of the cluster as this gateway knows it.
func (s *Server) showCluster(_ context.Context, a call.Accepted) (call.Answer, error) {
	if s.Member == nil {
		return call.Answer{}, problem.New(schema.NotSupported, "This gateway is alone: it has not joined a cluster (adgateway cluster init, or join).")
	}
	state := s.standing()
	return a.Answer(state.Sentence(), state), nil
}

// ClusterHandler answers with the state of the cluster as this gateway knows it, without
// authentication: it is for the listener of the hop.
func (s *Server) ClusterHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.Member == nil {
			http.Error(w, "the log of the cluster has not begun", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.standing()) // the client may have left
	})
}

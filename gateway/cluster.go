package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/forward"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// What a gateway says of how it stands to the others of its cluster.

// newForwarder returns what sends calls to the leader.
func (s *Server) newForwarder() *forward.Forwarder {
	o := forward.Options{
		Member: s.Member, Hop: *s.Hop, Count: s.meters.Forwarded, Log: s.Log,
		Limit: s.mostOf, SendTimeout: s.Connections.SendTimeout, Pages: s.pages != nil,
	}
	if s.pages != nil && s.pages.Tickets() != nil {
		o.EndPoint = s.EndPoint
	}
	return forward.New(o)
}

// mostOf returns how long a call may take until its answer begins. op is nil for a page.
func (s *Server) mostOf(op *ops.Operation) time.Duration {
	policy := s.current.Load()
	most := max(policy.ReadLimit, policy.WriteLimit) // dry runs of changes are reads
	if op != nil {
		if op.Reply.Mark == ops.List {
			most = max(most, policy.ListLimit)
		}
		most = max(most, op.Timeout)
	}
	return most + policy.SettleLimit + s.MaxWait
}

// HopHandler returns the server as a handler of the calls that other gateways forward, for
// [hop.Receiver].
func (s *Server) HopHandler() http.Handler { return s.web.Forwarded() }

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
		return call.Answer{}, problem.New(schema.NotSupported,
			"This gateway is alone: it has not joined a cluster (adgateway cluster init, or join).")
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

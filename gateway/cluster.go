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

// This file reports the gateway's state within its cluster.

// newForwarder returns a forwarder that sends calls to the leader.
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

// mostOf returns the maximum time from a call until its answer begins. op is nil for a page.
func (s *Server) mostOf(op *ops.Operation) time.Duration {
	policy := s.current.Load()
	most := max(policy.ReadLimit, policy.WriteLimit) // a dry run of a change is a read
	if op != nil {
		if op.Reply.Mark == ops.List {
			most = max(most, policy.ListLimit)
		}
		most = max(most, op.Timeout)
	}
	return most + policy.SettleLimit + s.MaxWait
}

// HopHandler returns the handler of calls that other gateways forward, for [hop.Receiver].
func (s *Server) HopHandler() http.Handler { return s.web.Forwarded() }

// gateways returns the number of gateways that serve the same clients.
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

// leads reports whether this gateway makes changes. A gateway outside of a cluster always does.
func (s *Server) leads() bool {
	if s.Member == nil {
		return true
	}
	_, leads := s.Member.Leads()
	return leads
}

// clusterCheck is the readiness check of the gateway's state within its cluster.
func (s *Server) clusterCheck() Check {
	status := s.Member.Status()
	return Check{
		Name: "cluster", OK: true, NoChanges: status.Leaderless >= standing.LeaderlessFor,
		Degraded: len(standing.Wrong(status)) > 0, Reason: standing.Reason(status),
	}
}

// standing returns the state of the cluster as this gateway sees it.
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

// showCluster answers with the state of the cluster as this gateway sees it.
func (s *Server) showCluster(_ context.Context, a call.Accepted) (call.Answer, error) {
	if s.Member == nil {
		return call.Answer{}, problem.New(schema.NotSupported,
			"This gateway is alone: it has not joined a cluster (adgateway cluster init, or join).")
	}
	state := s.standing()
	return a.Answer(state.Sentence(), state), nil
}

// ClusterHandler returns a handler that answers with the state of the cluster as this gateway sees
// it. It does not authenticate callers, so it may only serve the hop listener.
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

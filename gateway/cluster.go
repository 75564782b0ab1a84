package gateway

import (
	"net/http"
	"slices"
	"time"

	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/forward"
	"adgateway/gateway/ops"
)

// This file reports the gateway's state within its cluster.

// newForwarder returns a forwarder that sends calls to the leader.
func (s *Server) newForwarder() *forward.Forwarder {
	o := forward.Options{
		Member: s.Member, Hop: *s.Hop, Count: s.meters.Forwarded, Log: s.Log,
		Limit:       func(op *ops.Operation) time.Duration { return s.current.Load().Longest(op) + s.MaxWait },
		SendTimeout: s.Connections.SendTimeout, Pages: s.pages != nil,
	}
	if s.pages != nil && s.pages.Tickets() != nil {
		o.EndPoint = s.EndPoint
	}
	return forward.New(o)
}

// HopHandler returns the handler for calls that other gateways forward. It is meant for [hop.Receiver].
func (s *Server) HopHandler() http.Handler { return s.web.Forwarded() }

// clusterCheck is the readiness check of the gateway's state within its cluster.
func (s *Server) clusterCheck() Check {
	status := s.Member.Status()
	return Check{
		Name: "cluster", OK: true, NoChanges: status.Leaderless >= standing.LeaderlessFor,
		Degraded: len(standing.Wrong(status)) > 0, Reason: standing.Reason(status),
	}
}

// ClusterHandler returns a handler that answers with the state of the cluster, see
// [here.Gateway.ServeHTTP].
func (s *Server) ClusterHandler() http.Handler { return s.here }

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

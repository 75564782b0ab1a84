package gateway

import (
	"adgateway/gateway/call"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/cluster"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// ClusterState is what a gateway knows of its cluster: the record of GET /api/Cluster.
type ClusterState struct {
	Name         string           `json:"name"`
	Gateway      string           `json:"gateway"` // this one
	Degraded     bool             `json:"degraded"`
	Reason       *string          `json:"reason"` // nil: all is well
	KeyVersion   int              `json:"keyVersion"`
	Format       int              `json:"format"` // in which values are written
	Role         *cluster.Role    `json:"role"`   // of this gateway
	Term         uint64           `json:"term"`
	Leader       *string          `json:"leader"`     // nil: none is known
	Leaderless   int              `json:"leaderless"` // seconds
	Position     *ClusterPosition `json:"position"`
	OpenAttempts int              `json:"openAttempts"`
	Gateways     []ClusterGateway `json:"gateways"`
	Strangers    []string         `json:"strangers"`
	Fault        *string          `json:"fault"` // nil: the log can be used
}

// ClusterPosition is a place in the log of a cluster.
type ClusterPosition struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

// ClusterGateway is a gateway of a cluster.
type ClusterGateway struct {
	Name       string           `json:"name"`
	State      string           `json:"state"` // lives or silent
	Role       *cluster.Role    `json:"role"`  // nil: it is not known
	Position   *ClusterPosition `json:"position"`
	ClockAhead float64          `json:"clockAhead"` // seconds
	Format     int              `json:"format"`     // the newest that it reads
	KeyVersion uint32           `json:"keyVersion"`
	Lanes      []string         `json:"lanes"` // whose servers it can use
}

// memberState returns what this gateway knows of the cluster that it is a member of.
func (s *Server) memberState() ClusterState {
	status := s.Member.Status()
	version, _ := s.Kept.Seals()
	state := ClusterState{
		Name: s.ClusterName, Gateway: s.Hop.Gateway,
		KeyVersion: int(version), Format: s.Member.Format(),
		Role: &status.Role, Term: status.Term, Leader: schema.OrNull(status.Leader),
		Leaderless: int(status.Leaderless.Seconds()), Position: positionIn(status.Position),
		OpenAttempts: status.Open, Strangers: append([]string{}, status.Strangers...),
	}
	if wrong := wrongIn(status); len(wrong) > 0 {
		state.Degraded, state.Reason = true, schema.OrNull(strings.Join(wrong, "; "))
	}
	if status.Fault != nil {
		state.Fault = schema.OrNull(status.Fault.Error())
	}
	state.Gateways = append(state.Gateways, ClusterGateway{
		Name: s.Hop.Gateway, State: "lives", Role: &status.Role, Position: state.Position,
		Format: s.Kept.Newest(), KeyVersion: version, Lanes: s.usableLanes(),
	})
	for _, other := range status.Gateways {
		state.Gateways = append(state.Gateways, shownGateway(other, status.Leader))
	}
	slices.SortFunc(state.Gateways, func(a, b ClusterGateway) int { return strings.Compare(a.Name, b.Name) })
	return state
}

// shownGateway returns what is known of another gateway.
func shownGateway(g cluster.Gateway, leader string) ClusterGateway {
	shown := ClusterGateway{
		Name: g.Name, State: "silent", Position: positionIn(g.Beat.Position),
		ClockAhead: math.Round(g.Ahead.Seconds()*1000) / 1000,
		Format:     g.Beat.Reads, KeyVersion: g.Beat.Key, Lanes: append([]string{}, g.Beat.Lanes...),
	}
	if g.Alive {
		role := cluster.Follower
		if g.Name == leader {
			role = cluster.Leader
		}
		shown.State, shown.Role = "lives", &role
	}
	return shown
}

// positionIn returns a place in the log; nil: nothing was applied.
func positionIn(at store.Point) *ClusterPosition {
	if at.Sequence == 0 {
		return nil
	}
	return &ClusterPosition{at.Sequence, at.Hash.String()}
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

// showCluster answers with what this gateway knows of its cluster.
func (s *Server) showCluster(_ context.Context, a call.Accepted) (call.Answer, error) {
	if s.Member == nil {
		return call.Answer{}, problem.New(schema.NotSupported, "This gateway is alone: it has not joined a cluster (adgateway cluster init, or join).")
	}
	state := s.memberState()
	output := "All gateways of the cluster '" + state.Name + "' can make changes."
	if state.Degraded {
		output = "Something of the cluster '" + state.Name + "' needs attention."
	}
	return a.Answer(output, state), nil
}

// ClusterHandler answers with what this gateway knows of its cluster, without asking who wants
// to know: it is for the listener of the hop.
func (s *Server) ClusterHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.Member == nil {
			http.Error(w, "the log of the cluster has not begun", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.memberState()) // who asked may have left
	})
}

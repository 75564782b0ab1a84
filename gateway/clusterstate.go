package gateway

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/keep"
	"adgateway/gateway/schema"
)

// ClusterState is what a gateway knows of the others that share its store: the record of
// GET /api/Cluster.
type ClusterState struct {
	Name       string          `json:"name"`
	Gateway    string          `json:"gateway"` // this one
	Degraded   bool            `json:"degraded"`
	Reason     *string         `json:"reason"` // nil: all is well
	Members    []ClusterMember `json:"members"`
	Pins       []ClusterPin    `json:"pins"`
	Nodes      []ClusterNode   `json:"nodes"`
	Stream     *ClusterStream  `json:"stream"` // nil: the engine has not answered yet
	KeyVersion int             `json:"keyVersion"`
	Format     int             `json:"format"` // in which values are written

	// What a member of a cluster with a leader knows.
	Role         *cluster.Role    `json:"role"` // of this gateway; nil: there are no leaders
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

// ClusterGateway is a gateway of a cluster with a leader.
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

// ClusterNode is a node of the engine.
type ClusterNode struct {
	Name  string `json:"name"`
	Leads bool   `json:"leads"`
	State string `json:"state"` // current, behind or away
	Lag   uint64 `json:"lag"`   // messages that it lacks
}

// ClusterStream is what the engine keeps.
type ClusterStream struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	MaxBytes *int64 `json:"maxBytes"` // nil: unbounded
}

// ClusterMember is a gateway of the last seven days.
type ClusterMember struct {
	Name      string    `json:"name"`
	Site      string    `json:"site"`
	State     string    `json:"state"` // lives, silent or stopped
	Version   string    `json:"version"`
	Started   time.Time `json:"started"`
	Heartbeat time.Time `json:"heartbeat"` // by its own clock
	Unreached []string  `json:"unreached"` // lanes of which it cannot use the server
}

// ClusterPin is a server that the gateways of a site use together.
type ClusterPin struct {
	Site   string    `json:"site"`
	Lane   string    `json:"lane"`
	Server string    `json:"server"`
	Since  time.Time `json:"since"`
	Epoch  uint64    `json:"epoch"`
	Reason *string   `json:"reason"`
}

// memberState returns what this gateway knows of the cluster that it is a member of.
func (s *Server) memberState() ClusterState {
	status := s.Member.Status()
	version, _ := s.Kept.Seals()
	state := ClusterState{
		Name: s.ClusterName, Gateway: s.Hop.Gateway,
		Members: []ClusterMember{}, Pins: []ClusterPin{}, Nodes: []ClusterNode{},
		KeyVersion: int(version), Format: s.Member.Format(),
		Role: &status.Role, Term: status.Term, Leader: optionalText(status.Leader),
		Leaderless: int(status.Leaderless.Seconds()), Position: positionIn(status.Position),
		OpenAttempts: status.Open, Strangers: append([]string{}, status.Strangers...),
	}
	if wrong := wrongIn(status); len(wrong) > 0 {
		state.Degraded, state.Reason = true, optionalText(strings.Join(wrong, "; "))
	}
	if status.Fault != nil {
		state.Fault = optionalText(status.Fault.Error())
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
func positionIn(at keep.Point) *ClusterPosition {
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

// showCluster answers with the gateways that share the store.
func (s *Server) showCluster(r *request) *failure {
	if s.Member != nil {
		s.sendCluster(r, s.memberState())
		return nil
	}
	if s.Cluster == nil {
		return fail(schema.NotSupported, "This gateway is alone: its settings name no cluster (cluster.name).")
	}
	state, err := s.Cluster(r.c.Request.Context())
	if err != nil {
		failed := fail(storeCode(err), "What the gateways share cannot be read at the moment. GET /readyz tells when it can.")
		failed.cause, failed.retryAfter = err, auditRetry
		return failed
	}
	state.Gateways, state.Strangers = []ClusterGateway{}, []string{}
	s.sendCluster(r, state)
	return nil
}

func (s *Server) sendCluster(r *request, state ClusterState) {
	output := "All gateways of the cluster '" + state.Name + "' can make changes."
	if state.Degraded {
		output = "Something of the cluster '" + state.Name + "' needs attention."
	}
	r.records = 1
	s.sendLocal(r, http.StatusOK, output, []any{state}, nil)
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

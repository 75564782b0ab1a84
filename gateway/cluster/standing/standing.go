// Package standing describes the state of a gateway in its cluster for people and programs: the other
// gateways as known to its member, the faults, and the remedies.
package standing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// State is a gateway's view of its cluster. It is the record of GET /api/Cluster.
type State struct {
	Name         string        `json:"name"`
	Gateway      string        `json:"gateway"` // name of this gateway
	Degraded     bool          `json:"degraded"`
	Reason       *string       `json:"reason"` // nil if there are no faults
	KeyVersion   int           `json:"keyVersion"`
	Format       int           `json:"format"` // format in which values are written
	Role         *cluster.Role `json:"role"`   // role of this gateway
	Term         uint64        `json:"term"`
	Leader       *string       `json:"leader"`     // nil if none is known
	Leaderless   int           `json:"leaderless"` // in seconds
	Position     *Position     `json:"position"`
	OpenAttempts int           `json:"openAttempts"`
	Gateways     []Gateway     `json:"gateways"`
	Strangers    []string      `json:"strangers"`
	Fault        *string       `json:"fault"` // nil if the log can be used
}

// Position is a position in a cluster's log.
type Position struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

// Gateway is a gateway of a cluster.
type Gateway struct {
	Name       string        `json:"name"`
	State      string        `json:"state"` // lives or silent
	Role       *cluster.Role `json:"role"`  // nil if unknown
	Position   *Position     `json:"position"`
	ClockAhead float64       `json:"clockAhead"` // in seconds
	Format     int           `json:"format"`     // newest format that it reads
	KeyVersion uint32        `json:"keyVersion"`
	Lanes      []string      `json:"lanes"` // lanes whose servers it can use
}

// Self holds the facts about a gateway that [State] shows in addition to its [cluster.Status].
type Self struct {
	Cluster, Gateway string
	KeyVersion       uint32
	Format           int      // format in which values are written
	Reads            int      // newest format that the gateway reads
	Lanes            []string // lanes whose servers it can use
}

// Of returns a gateway's knowledge of its cluster.
func Of(status cluster.Status, self Self) State {
	state := State{
		Name: self.Cluster, Gateway: self.Gateway,
		KeyVersion: int(self.KeyVersion), Format: self.Format,
		Role: &status.Role, Term: status.Term, Leader: schema.OrNull(status.Leader),
		Leaderless: int(status.Leaderless.Seconds()), Position: positionIn(status.Position),
		OpenAttempts: status.Open, Strangers: append([]string{}, status.Strangers...),
	}
	if wrong := Wrong(status); len(wrong) > 0 {
		state.Degraded, state.Reason = true, schema.OrNull(strings.Join(wrong, "; "))
	}
	if status.Fault != nil {
		state.Fault = schema.OrNull(status.Fault.Error())
	}
	state.Gateways = append(state.Gateways, Gateway{
		Name: self.Gateway, State: "lives", Role: &status.Role, Position: state.Position,
		Format: self.Reads, KeyVersion: self.KeyVersion, Lanes: self.Lanes,
	})
	for _, other := range status.Gateways {
		state.Gateways = append(state.Gateways, shownGateway(other, status.Leader))
	}
	slices.SortFunc(state.Gateways, func(a, b Gateway) int { return strings.Compare(a.Name, b.Name) })
	return state
}

// Sentence describes in a sentence whether the cluster is healthy.
func (s *State) Sentence() string {
	if s.Degraded {
		return "Something of the cluster '" + s.Name + "' needs attention."
	}
	return "All gateways of the cluster '" + s.Name + "' can make changes."
}

// shownGateway returns the record of another gateway.
func shownGateway(g cluster.Gateway, leader string) Gateway {
	shown := Gateway{
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

// positionIn returns a position in the log, or nil if nothing has been applied.
func positionIn(at store.Point) *Position {
	if at.Sequence == 0 {
		return nil
	}
	return &Position{at.Sequence, at.Hash.String()}
}

// LeaderlessFor is how long a gateway that knows no leader still accepts changes. Before that, no gateway
// knows a leader, so a load balancer would have nowhere else to send calls.
const LeaderlessFor = 30 * time.Second

// Reason describes the role of a gateway and its faults in one line.
func Reason(status cluster.Status) string {
	led := "no gateway leads"
	if status.Leader != "" {
		led = status.Leader + " leads"
	}
	stands := fmt.Sprintf("%s, %s in term %d", status.Role, led, status.Term)
	return strings.Join(append([]string{stands}, Wrong(status)...), "; ")
}

// Wrong returns the faults of a cluster, as far as its member knows them.
func Wrong(s cluster.Status) (reasons []string) {
	if s.Leader == "" {
		seconds := int(s.Leaderless.Seconds())
		reasons = append(reasons, fmt.Sprintf("nothing was heard of a leader for %d s", seconds))
	}
	if s.Unlisted {
		reasons = append(reasons, "this gateway was taken off the list of the cluster; "+
			"if it should be one of its gateways: run 'adgateway cluster invite' on another host, "+
			"move the folder cluster away here, and run the printed "+
			"'adgateway cluster join' (gateway/manual/cluster-operate.md)")
	}
	if s.Fault != nil {
		reasons = append(reasons, "the log cannot be used: "+s.Fault.Error()+remedyOf(s.Fault))
	}
	if s.ClockUnset && s.Leader != "" {
		reasons = append(reasons, "the leader cannot tell how long all gateways were down, so nothing expires")
	}
	if len(s.Strangers) > 0 {
		names := strings.Join(s.Strangers, ", ")
		reasons = append(reasons, "gateways that do not belong to the cluster send messages: "+names)
	}
	if behind := behindOf(s); behind > 0 {
		reasons = append(reasons, fmt.Sprintf("the copy lacks the last %d entries of the log", behind))
	}
	for _, other := range s.Gateways {
		if !other.Alive {
			reasons = append(reasons, other.Name+" is silent")
		}
	}
	return reasons
}

// remedyOf returns what an administrator can do about a log that cannot be used, as an addition to
// the error. It returns "" if the fault may be temporary.
func remedyOf(fault error) string {
	const page = " (gateway/manual/cluster-restore.md)"
	switch {
	case errors.Is(fault, journal.ErrReplaced):
		return "; the cluster goes on with a log that this gateway does not follow: stop all gateways, " +
			"run 'adgateway cluster recover' here, and start them" + page
	case errors.Is(fault, journal.ErrRewound), errors.Is(fault, store.ErrRewound):
		return "; stop all gateways, and run 'adgateway cluster recover' on each host" + page
	case errors.Is(fault, journal.ErrBehind):
		return "; start a gateway that follows the log, whose store this one copies; " +
			"if there is none, stop all gateways, and run 'adgateway cluster recover' on each host" + page
	case errors.Is(fault, journal.ErrNewer):
		return "; install the version of the other gateways (gateway/manual/upgrade.md)"
	}
	return ""
}

// farBehind is the number of entries that a copy may lack without being reported. A few entries always seem
// to be missing, because positions in beats are outdated.
const farBehind = 1000

// behindOf returns the number of log entries that a copy lacks, or 0 if there are few.
func behindOf(s cluster.Status) uint64 {
	for _, other := range s.Gateways {
		there := other.Beat.Position
		same := other.Name == s.Leader && there.Journal == s.Position.Journal
		if same && there.Sequence > s.Position.Sequence+farBehind {
			return there.Sequence - s.Position.Sequence
		}
	}
	return 0
}

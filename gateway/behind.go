package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/journal"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
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

// leaderlessFor is how long changes may be sent to a gateway that knows of no leader. All of
// them know of none then, so that a balancer would have nowhere to send them.
const leaderlessFor = 30 * time.Second

// clusterCheck says how the gateway stands in its cluster.
func (s *Server) clusterCheck() Check {
	status := s.Member.Status()
	check := Check{Name: "cluster", OK: true, NoChanges: status.Leaderless >= leaderlessFor}
	reasons := wrongIn(status)
	check.Degraded = len(reasons) > 0
	led := "no gateway leads"
	if status.Leader != "" {
		led = status.Leader + " leads"
	}
	stands := fmt.Sprintf("%s, %s in term %d", status.Role, led, status.Term)
	check.Reason = strings.Join(append([]string{stands}, reasons...), "; ")
	return check
}

// wrongIn returns what is wrong with a cluster, as far as its member knows.
func wrongIn(s cluster.Status) (reasons []string) {
	if s.Leader == "" {
		seconds := int(s.Leaderless.Seconds())
		reasons = append(reasons, fmt.Sprintf("nothing was heard of a leader for %d s", seconds))
	}
	if s.Unlisted {
		reasons = append(reasons, "this gateway was taken off the list of the cluster; "+
			"if it should be one of its gateways: run 'adgateway cluster invite' on another host, move the folder cluster away here, and run the printed "+
			"'adgateway cluster join' (gateway/manual/cluster-operate.md)")
	}
	if s.Fault != nil {
		reasons = append(reasons, "the log cannot be used: "+s.Fault.Error()+remedyOf(s.Fault))
	}
	if s.ClockUnset && s.Leader != "" {
		reasons = append(reasons, "the leader cannot tell how long all gateways were down, so that nothing expires")
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

// remedyOf returns what an administrator does about a log that cannot be used, to be added to the
// error; empty: it may pass by itself.
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

// farBehind is how many entries a copy may lack without a word: beats are older than entries.
const farBehind = 1000

// behindOf returns how many entries of the log a copy lacks, if these are many; else 0.
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

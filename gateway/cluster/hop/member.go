package hop

import "adgateway/gateway/cluster"

// Of returns the leader according to a member of the cluster. This gateway leads for as long as it accepts
// changes. While a leader begins, leaves, or cannot prove that it leads, no gateway leads and calls wait.
func Of(member *cluster.Member, gateway string) Leader { return memberLeader{member, gateway} }

type memberLeader struct {
	*cluster.Member
	gateway string
}

// Leader implements [Leader].
func (l memberLeader) Leader() (name, address string, term uint64, ok bool) {
	status := l.Status()
	if status.Leader == l.gateway {
		own, leads := l.Leads()
		return status.Leader, "", own, leads && status.Role == cluster.Leader
	}
	return status.Leader, status.Hop, status.Term, status.Leader != "" && status.Hop != ""
}

package app

import (
	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
)

// memberState is the state of a gateway in a cluster, for the metrics.
type memberState struct {
	cluster.Status
	log     journal.Status
	refused uint64
}

func (s *kept) memberState() *memberState {
	j := s.cluster()
	m := j.Member()
	if m == nil {
		return nil
	}
	return &memberState{m.Status(), j.Log(), j.Refused()}
}

// perMember emits one value of a gateway in a cluster, and nothing for a gateway that is alone.
func perMember(read func(*memberState) value) func(*state, emit) {
	return func(s *state, put emit) {
		if s.member != nil {
			put(read(s.member))
		}
	}
}

// perGateway emits one value for each other gateway of the cluster.
func perGateway(read func(*cluster.Gateway) value) func(*state, emit) {
	return func(s *state, put emit) {
		if s.member == nil {
			return
		}
		for i := range s.member.Gateways {
			put(read(&s.member.Gateways[i]), s.member.Gateways[i].Name)
		}
	}
}

var gatewayLabel = []string{"gateway"}

// clusterMetrics are the rows of the table of metrics about the cluster.
var clusterMetrics = []metric{
	{"adgateway_cluster_leads", "1 while this gateway leads its cluster, else 0. Alone there is none, nor of the following ones.", gauge, nil,
		perMember(func(s *memberState) value { return boolean(s.Role == cluster.Leader) })},
	{"adgateway_cluster_term", "Number of the term: it grows when another gateway, or this one again, becomes the leader.", gauge, nil,
		perMember(func(s *memberState) value { return number(s.Term) })},
	{"adgateway_cluster_position", "Sequence of the last entry of the log that this gateway has applied.", gauge, nil,
		perMember(func(s *memberState) value { return number(s.Position.Sequence) })},
	{"adgateway_cluster_leaderless_seconds", "Time since something was heard of a leader; 0 while there is one.", gauge, nil,
		perMember(func(s *memberState) value { return value{number: s.Leaderless.Seconds()} })},
	{"adgateway_cluster_open_changes", "Changes of earlier leaders that this one has not judged yet; they keep their objects locked.", gauge, nil,
		perMember(func(s *memberState) value { return number(s.Open) })},
	{"adgateway_cluster_unreported_changes", "Changes that this gateway has ended after its term, and that no leader has acknowledged.", gauge, nil,
		perMember(func(s *memberState) value { return number(s.Reports) })},
	{"adgateway_cluster_log_ok", "1 while the log of the cluster can be used, else 0.", gauge, nil,
		perMember(func(s *memberState) value { return boolean(s.Fault == nil) })},
	{"adgateway_cluster_log_sent_total", "Messages that were sent to the log.", counter, nil,
		perMember(func(s *memberState) value { return number(s.log.Sent) })},
	{"adgateway_cluster_log_sent_again_total", "How many of them were sent before, as it was not known whether they are in the log.", counter, nil,
		perMember(func(s *memberState) value { return number(s.log.Again) })},
	{"adgateway_cluster_log_strangers_total", "Messages in the log that no gateway of the cluster has made. They are skipped.", counter, nil,
		perMember(func(s *memberState) value { return number(s.log.Strangers) })},
	{"adgateway_cluster_messages_refused_total", "Messages between gateways that count for nothing: of somebody without the key, old ones, or the first ones of a gateway.", counter, nil,
		perMember(func(s *memberState) value { return number(s.refused) })},
	{"adgateway_cluster_gateway_alive", "1 while another gateway of the cluster is heard, else 0.", gauge, gatewayLabel,
		perGateway(func(g *cluster.Gateway) value { return boolean(g.Alive) })},
	{"adgateway_cluster_gateway_position", "Sequence of the last entry of the log that another gateway says it has applied.", gauge, gatewayLabel,
		perGateway(func(g *cluster.Gateway) value { return number(g.Beat.Position.Sequence) })},
	{"adgateway_cluster_gateway_clock_ahead_seconds", "How far the wall clock of another gateway is ahead of this one's.", gauge, gatewayLabel,
		perGateway(func(g *cluster.Gateway) value { return value{number: g.Ahead.Seconds()} })},
}

package cluster

import (
	"slices"
	"time"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// Role is the role of a member in the cluster.
type Role string

// The roles.
const (
	Follower Role = "follower" // applies the entries that another gateway writes
	Claiming Role = "claiming" // tries to become the leader
	Leader   Role = "leader"
	Leaving  Role = "leaving" // leads, but begins no new changes
	Deposed  Role = "deposed" // follows, but changes of its former term still run or are not yet reported
)

// Status is a snapshot of a member.
type Status struct {
	Role   Role
	Term   uint64 // highest term seen; 0 if none has begun
	Leader string // name of the leading gateway; empty if unknown
	// address of the leader for forwarded calls; empty if it is unknown or this gateway leads
	Hop        string
	Leaderless time.Duration // time since a leader was last heard; 0 if the leader is known
	Position   store.Point   // of the last applied entry
	Gateways   []Gateway     // the other gateways, by name
	Strangers  []string      // senders that do not belong to the cluster, or that use this gateway's name
	Open       int           // number of attempts of earlier terms that this leader has not judged yet
	Reports    int           // number of results that no leader has acknowledged
	Unlisted   bool          // this gateway was removed from the cluster's list
	ClockUnset bool          // the leader does not know how long all gateways were down
	Fault      error         // reason why the log cannot be used; nil if it can
}

// Gateway is a member's knowledge of another gateway.
type Gateway struct {
	Name  string
	Alive bool          // heard within the last few seconds
	Ahead time.Duration // how far its wall clock is ahead of this gateway's
	Beat  Beat          // its last beat; zero if there was none
}

// Self returns this process.
func (m *Member) Self() journal.Process { return m.o.Self }

// Status returns a snapshot of the member.
func (m *Member) Status() Status {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{
		Role: m.role(), Term: m.term, Position: m.point, Strangers: slices.Clone(m.strangers),
		Reports: len(m.reports), Unlisted: !m.listed(), ClockUnset: !m.clockSet, Fault: m.fault,
	}
	for _, c := range m.cases {
		if !c.closed {
			s.Open++
		}
	}
	for _, name := range m.names {
		if name == m.o.Self.Gateway {
			continue
		}
		other := Gateway{Name: name}
		if g := m.gateways[name]; g != nil {
			other.Alive, other.Ahead, other.Beat = g.alive(now), g.ahead, g.beat
		}
		s.Gateways = append(s.Gateways, other)
	}
	s.Leader, s.Hop = m.known(now)
	if s.Leader == "" {
		s.Leaderless = now.Sub(m.heard)
	}
	return s
}

// known returns the name of the leading gateway and its address for forwarded calls. Each is "" if it is
// unknown. The caller holds the mutex.
func (m *Member) known(now time.Time) (name, hop string) {
	switch {
	case m.own != 0:
		return m.o.Self.Gateway, ""
	case m.leader.Gateway == "" || now.Sub(m.heard) >= silence:
		return "", ""
	}
	if g := m.gateways[m.leader.Gateway]; g != nil && g.process == m.leader {
		hop = g.beat.Hop
	}
	return m.leader.Gateway, hop
}

// learn calls hear, and wakes waiters if the known leader or its address has changed. The caller
// holds the mutex.
func (m *Member) learn(now time.Time, hear func()) {
	name, hop := m.known(now)
	hear()
	if nextName, nextHop := m.known(now); nextName != name || nextHop != hop {
		m.notify()
	}
}

// role returns the role of the member. The caller holds the mutex.
func (m *Member) role() Role {
	switch {
	case m.own != 0 && m.draining:
		return Leaving
	case m.own != 0:
		return Leader
	case len(m.runs) > 0 || len(m.reports) > 0:
		return Deposed
	case m.phase == claiming:
		return Claiming
	}
	return Follower
}

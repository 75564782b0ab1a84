package cluster

import (
	"context"
	"slices"
	"time"

	"adgateway/gateway/journal"
)

// strangersKept is the number of names of gateways outside the cluster that are remembered.
const strangersKept = 16

// gateway is a member's knowledge of another gateway.
type gateway struct {
	process journal.Process
	former  map[string]bool // starts of its earlier processes
	since   time.Time       // when the process was first heard
	heard   time.Time       // when the process was last heard
	number  uint64          // number of its last message
	beat    Beat
	ahead   time.Duration // how far its wall clock is ahead of this gateway's
	better  time.Time     // since when it has reached more lanes than this gateway; zero if it does not
}

// alive reports whether the gateway is believed to be running.
func (g *gateway) alive(now time.Time) bool { return now.Sub(g.heard) < silence }

// SetGateways sets the names of all gateways of the cluster, including this one. Messages from gateways with
// other names are ignored.
func (m *Member) SetGateways(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names = slices.Sorted(slices.Values(names))
	for name := range m.gateways {
		if !slices.Contains(m.names, name) {
			delete(m.gateways, name)
		}
	}
}

// receive receives the messages of the other gateways until ctx ends.
func (m *Member) receive(ctx context.Context) {
	for {
		message, ok := m.o.Peers.Receive(ctx)
		if !ok {
			return
		}
		m.hear(message, m.o.Now(), m.o.Wall())
	}
}

// hear processes a message.
func (m *Member) hear(message Message, now, wall time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if message.From == m.o.Self || message.To != "" && message.To != m.o.Self.Gateway {
		return
	}
	g := m.sender(message, now)
	if g == nil {
		return
	}
	if b := message.Beat; b != nil {
		m.learn(now, func() {
			g.beat, g.ahead = *b, b.Wall.Sub(wall)
			m.hearBeat(message.From, b, now)
		})
	}
	if message.Report != nil {
		m.hearReport(message.From, message.Report)
	}
	delete(m.reports, message.Stored)
}

// sender returns the gateway that sent a message. It returns nil if the message must be ignored,
// because its gateway does not belong to the cluster, its process has ended, or a newer message has
// already arrived. The caller holds the mutex.
func (m *Member) sender(message Message, now time.Time) *gateway {
	from := message.From
	if from.Gateway == m.o.Self.Gateway || !slices.Contains(m.names, from.Gateway) {
		if !slices.Contains(m.strangers, from.Gateway) && len(m.strangers) < strangersKept {
			m.strangers = append(m.strangers, from.Gateway)
		}
		return nil
	}
	g := m.gateways[from.Gateway]
	if g == nil {
		g = &gateway{former: map[string]bool{}}
		m.gateways[from.Gateway] = g
	}
	if g.process != from {
		if g.former[from.Start] {
			return nil
		}
		g.former[g.process.Start] = true
		g.process, g.since, g.number, g.better = from, now, 0, time.Time{}
	}
	if message.Number <= g.number {
		return nil
	}
	g.number, g.heard = message.Number, now
	return g
}

// hearBeat processes a beat of another gateway. The caller holds the mutex.
func (m *Member) hearBeat(from journal.Process, b *Beat, now time.Time) {
	if there, here := b.Position.Journal, m.point.Journal; there != "" && here != "" && there != here {
		return // its terms belong to another log
	}
	m.see(b.Term)
	if b.Term != m.term {
		return
	}
	switch {
	case b.Leads:
		m.leader, m.heard, m.writes, m.clockSet = from, now, b.Writes, !b.ClockUnset
		if m.phase == claiming {
			m.interrupt()
		}
	case b.Resigned == m.term && m.leader == from:
		m.leader, m.heard = journal.Process{}, now
		switch b.Successor {
		case "":
			m.heard = now.Add(-silence) // after that only the rank counts
		case m.o.Self.Gateway:
			m.successor = b.Resigned
		}
		m.notify()
	}
}

// givenUp returns the term that a process has given up, or 0. The caller holds the mutex.
func (m *Member) givenUp(p journal.Process) uint64 {
	if g := m.gateways[p.Gateway]; g != nil && g.process == p {
		return g.beat.Resigned
	}
	return 0
}

// rank returns the number of live gateways that rank before this one. The caller holds the mutex.
func (m *Member) rank(now time.Time) (n int) {
	for name, g := range m.gateways {
		if name < m.o.Self.Gateway && g.alive(now) {
			n++
		}
	}
	return n
}

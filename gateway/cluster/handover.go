package cluster

import (
	"context"
	"slices"
	"time"
)

const (
	lanesAfter = 10 * time.Second // how long another gateway must reach more lanes to take over
	lanesEvery = time.Minute      // minimum length of a term that is ended for more lanes
	drains     = 5 * time.Second  // how long a hand-over for more lanes waits for running changes
)

// HandOver lets another gateway lead if this one leads. It begins no further changes, waits until the running
// ones have ended or ctx is done, names a successor, and returns when the successor leads. If there is no
// successor, it fails with [ErrNoSuccessor], and this gateway continues to lead.
func (m *Member) HandOver(ctx context.Context) error { return m.leave(ctx, ctx) }

// leaveForLanes hands over to a gateway that reaches more lanes.
func (m *Member) leaveForLanes(ctx context.Context) {
	drained, cancel := context.WithTimeout(ctx, drains)
	defer cancel()
	if err := m.leave(ctx, drained); err != nil && ctx.Err() == nil {
		m.o.Note("the gateway that reaches more controllers does not take over", err)
	}
}

// leave does the work of HandOver, with a separate context for waiting for the running changes.
func (m *Member) leave(ctx, drain context.Context) error {
	m.mu.Lock()
	term := m.own
	m.draining = term != 0
	m.mu.Unlock()
	if term == 0 {
		return nil
	}
	_ = m.await(drain, func() bool { return m.own != term || len(m.runs) == 0 }) // whichever comes first
	now, lanes, writes := m.o.Now(), m.o.Lanes(), m.Format()
	m.mu.Lock()
	if m.own != term {
		m.mu.Unlock()
		return nil
	}
	next := m.bestSuccessor(now, writes)
	if next == "" {
		m.draining = false
		m.mu.Unlock()
		return ErrNoSuccessor
	}
	m.resign(next)
	m.mu.Unlock()
	m.send(lanes)
	return m.await(ctx, func() bool { return m.term > term || m.own != 0 })
}

// bestSuccessor returns the live gateway that should lead next. That is a gateway that has reached more lanes
// for a while or, if there is none, the gateway that has read most of the log. It returns "" if there is
// none. The caller holds the mutex.
func (m *Member) bestSuccessor(now time.Time, writes int) (name string) {
	var best *gateway
	for _, n := range m.names {
		g := m.gateways[n]
		if g == nil || now.Sub(g.heard) > 3*beatEvery || g.beat.Reads < writes {
			continue
		}
		switch {
		case best == nil, g.reachesMore(now) && !best.reachesMore(now),
			g.reachesMore(now) == best.reachesMore(now) && g.beat.Position.Sequence > best.beat.Position.Sequence:
			name, best = n, g
		}
	}
	return name
}

// reachesMore reports whether the gateway has reached more lanes than this one for long enough to
// lead.
func (g *gateway) reachesMore(now time.Time) bool {
	return !g.better.IsZero() && now.Sub(g.better) >= lanesAfter
}

// compareLanes records which gateways reach all lanes that this one reaches, and at least one more.
// It reports whether one of them should lead now. The caller holds the mutex.
func (m *Member) compareLanes(now time.Time, lanes []string) (leave bool) {
	for _, g := range m.gateways {
		there := g.beat.Lanes
		missing := slices.ContainsFunc(lanes, func(lane string) bool { return !slices.Contains(there, lane) })
		switch {
		case missing || len(there) <= len(lanes) || !g.alive(now):
			g.better = time.Time{}
		case g.better.IsZero():
			g.better = now
		}
		leave = leave || g.reachesMore(now)
	}
	return leave && !m.draining && m.accepts && now.Sub(m.acked) >= lanesEvery
}

package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"adgateway/gateway/journal"
)

// wait follows the log until this gateway should claim the lead.
func (m *Member) wait(ctx context.Context) {
	ctx, cancel := m.enter(ctx, following)
	defer cancel()
	m.follow(ctx, m.o.Repair)
}

// mayClaim reports whether this gateway should claim the lead. The caller holds the mutex.
func (m *Member) mayClaim(now time.Time) bool {
	switch {
	case m.runHangs(now), m.writes > m.o.Reads, !m.listed():
		return false
	case m.successor != 0 && m.successor == m.term:
		return true
	case now.Before(m.notBefore):
		return false
	}
	return now.Sub(m.heard) >= silence+time.Duration(m.rank(now))*silenceRank
}

// listed reports whether this gateway belongs to the cluster. The caller holds the mutex.
func (m *Member) listed() bool { return slices.Contains(m.names, m.o.Self.Gateway) }

// claim begins a term, unless it finds that another process leads, and reports whether it did. Nothing else
// reads the log meanwhile, so every entry that claim finds was written after the silence.
func (m *Member) claim(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	ctx, cancel := m.enter(ctx, claiming)
	defer cancel()
	now := m.o.Now()
	m.mu.Lock()
	may, before, named := m.mayClaim(now), m.heard, m.successor
	if may {
		m.notBefore = now.Add(retries)
	}
	m.mu.Unlock()
	if !may {
		return false
	}
	log := m.journal()
	err := log.CatchUp(ctx)
	m.mu.Lock()
	m.successor = 0
	leads := m.heard != before && (named == 0 || m.term != named)
	m.mu.Unlock()
	if err == nil && leads {
		return false // an entry was found
	}
	var term uint64
	if err == nil {
		term, err = log.Claim(ctx, m.o.Self, m.o.Clock.Now())
	}
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, journal.ErrDeposed) {
			m.failed("this gateway could not become the leader", err)
		}
		return false
	}
	now = m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if term < m.term {
		return false
	}
	m.term, m.own, m.leader, m.acked = term, term, m.o.Self, now
	m.sent, m.touched, m.beaten = time.Time{}, time.Time{}, time.Time{}
	m.resigned, m.next, m.fault, m.accepts, m.draining = 0, "", nil, false, false
	return true
}

// see records that a term has begun. It ends an earlier term of this process. The caller holds the
// mutex.
func (m *Member) see(term uint64) {
	if term <= m.term {
		return
	}
	m.term, m.leader = term, journal.Process{}
	m.stepDown()
	m.notify()
}

// stepDown ends the term of this gateway, if it has one. The others are informed at once, and this process
// does not claim the lead again before each of them has had a chance to do so. The caller holds the mutex.
func (m *Member) stepDown() {
	if m.own == 0 {
		return
	}
	if m.leader == m.o.Self {
		m.leader = journal.Process{}
	}
	m.own, m.accepts, m.draining = 0, false, false
	m.cases = map[string]*openCase{}
	m.heard, m.beaten = m.o.Now(), time.Time{}
	m.interrupt()
	m.notify()
}

// resign gives up the term of this gateway. Then the gateway next leads or, if next is empty, the first
// gateway that can. The caller holds the mutex.
func (m *Member) resign(next string) {
	m.resigned, m.next = m.own, next
	m.stepDown()
}

// GiveUp ends a term of this process because its store can no longer be written. The first gateway that can
// lead takes over.
func (m *Member) GiveUp(term uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if term != 0 && m.own == term {
		m.resign("")
	}
}

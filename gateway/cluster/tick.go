package cluster

import (
	"context"
	"maps"
	"slices"
	"time"
)

// writerHangs limits the age of the last acknowledged entry. If the entry is older, this gateway no
// longer announces itself as the leader.
const writerHangs = 2 * goAfterSending

// tickUntil calls tick regularly until ctx ends.
func (m *Member) tickUntil(ctx context.Context) {
	ticker := time.NewTicker(ticking)
	defer ticker.Stop()
	for {
		m.tick(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// tick ends the phase if its time has come, and sends the messages that are due.
func (m *Member) tick(ctx context.Context) {
	now, lanes := m.o.Now(), m.o.Lanes()
	m.mu.Lock()
	switch {
	case m.own != 0:
		if m.compareLanes(now, lanes) {
			m.draining = true
			m.ended.Go(func() { m.leaveForLanes(ctx) })
		}
		if m.hangs(now) || !m.listed() {
			m.resign("")
		}
	case m.phase == leading, m.phase == following && m.mayClaim(now):
		m.interrupt()
	}
	due := now.Sub(m.beaten) >= beatEvery
	m.mu.Unlock()
	if due {
		m.send(lanes)
	}
}

// send sends the state of this gateway to the others, and the results of runs to the leader.
func (m *Member) send(lanes []string) {
	now, wall, key, writes := m.o.Now(), m.o.Wall(), m.o.KeyVersion(), m.Format()
	m.mu.Lock()
	m.beaten = now
	beat := &Beat{
		Term: m.term, Position: m.point, Reads: m.o.Reads, Key: key, Hop: m.o.Hop, Lanes: lanes, Wall: wall,
	}
	switch {
	case m.own != 0:
		beat.Leads, beat.Writes, beat.ClockUnset = true, writes, !m.clockSet
	case m.resigned == m.term:
		beat.Resigned, beat.Successor = m.resigned, m.next
	}
	messages := []Message{m.message(Message{Beat: beat})}
	for _, id := range slices.Sorted(maps.Keys(m.reports)) {
		report := m.reports[id]
		switch {
		case m.own != 0:
			m.hearReport(m.o.Self, &report)
		case m.leader.Gateway != "":
			messages = append(messages, m.message(Message{To: m.leader.Gateway, Report: &report}))
		}
	}
	m.mu.Unlock()
	for _, message := range messages {
		m.o.Peers.Send(message)
	}
}

// message completes a message of this process. The caller holds the mutex.
func (m *Member) message(message Message) Message {
	m.number++
	message.From, message.Number = m.o.Self, m.number
	return message
}

// hangs reports whether this leader has stopped writing, or a script of one of its changes does not end. The
// caller holds the mutex.
func (m *Member) hangs(now time.Time) bool {
	return now.Sub(m.confirmed()) > writerHangs || m.runHangs(now)
}

// confirmed returns the last time at which the log was known to accept entries of this gateway's
// term. The caller holds the mutex.
func (m *Member) confirmed() time.Time {
	if m.sent.After(m.acked) {
		return m.sent
	}
	return m.acked
}

// runHangs reports whether a script has not ended long after its limit. The caller holds the mutex.
func (m *Member) runHangs(now time.Time) bool {
	for r := range m.runs {
		if !r.gone.IsZero() && now.Sub(r.gone) > 2*r.limit {
			return true
		}
	}
	return false
}

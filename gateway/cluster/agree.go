package cluster

import (
	"context"
	"time"
)

const (
	clocksAgree = 10 * time.Second // maximum difference between two wall clocks that agree
	oneClock    = time.Hour        // maximum time by which a single wall clock may advance log time

	formatsOf = 7 * 24 * time.Hour // how long the formats of a gateway count after it was last seen
	seenEvery = time.Hour          // interval at which a sighting is stored
)

// Agree reports whether most wall clocks of the cluster, including this gateway's, are close to
// this gateway's.
func (m *Member) Agree() bool {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	return 2*m.agreeing(now) > len(m.names)
}

// agreeing returns the number of wall clocks that are close to this gateway's, which is included.
// The caller holds the mutex.
func (m *Member) agreeing(now time.Time) int {
	n := 1
	for _, g := range m.gateways {
		if g.alive(now) && g.ahead.Abs() <= clocksAgree {
			n++
		}
	}
	return n
}

// setClock advances log time to the wall clock after all gateways were down, because no monotonic clock has
// measured that time. If the difference is more than an hour, two wall clocks must agree.
func (m *Member) setClock() {
	m.mu.Lock()
	set := m.clockSet
	m.mu.Unlock()
	if set {
		return
	}
	now, wall := m.o.Now(), m.o.Wall().Round(0)
	gap := wall.Sub(m.o.Clock.Now())
	m.mu.Lock()
	m.clockSet = gap <= oneClock || len(m.names) == 1 || m.agreeing(now) > 1
	set = m.clockSet
	m.notify()
	m.mu.Unlock()
	if set {
		m.o.Clock.Raise(wall)
	}
}

// Formats stores the formats that each gateway reads. It is safe for concurrent use.
type Formats interface {
	// Seen returns the stored sightings by gateway. It does not block.
	Seen() map[string]Seen

	// See stores a sighting of a gateway.
	See(ctx context.Context, gateway string, s Seen) error
}

// Seen is the last sighting of a gateway.
type Seen struct {
	Reads int       `json:"reads"` // newest format that it reads
	Time  time.Time `json:"time"`  // in log time
}

// Format returns the newest format that is read by all gateways seen in the last seven days of log
// time. A leader writes no newer format.
func (m *Member) Format() int {
	seen, at, now := m.o.Formats.Seen(), m.o.Clock.Now(), m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	format := m.o.Reads
	for _, name := range m.names {
		if g := m.gateways[name]; g != nil && g.alive(now) {
			format = min(format, g.beat.Reads)
		} else if s, ok := seen[name]; ok && name != m.o.Self.Gateway && at.Sub(s.Time) <= formatsOf {
			format = min(format, s.Reads)
		}
	}
	return format
}

// keepFormats stores the formats that the live gateways read.
func (m *Member) keepFormats(ctx context.Context) {
	seen, at, now := m.o.Formats.Seen(), m.o.Clock.Now(), m.o.Now()
	reads := map[string]int{m.o.Self.Gateway: m.o.Reads}
	m.mu.Lock()
	for name, g := range m.gateways {
		if g.alive(now) {
			reads[name] = g.beat.Reads
		}
	}
	m.mu.Unlock()
	for name, r := range reads {
		if s := seen[name]; s.Reads == r && at.Sub(s.Time) < seenEvery {
			continue
		}
		if err := m.o.Formats.See(ctx, name, Seen{Reads: r, Time: at}); err != nil && ctx.Err() == nil {
			m.o.Note("it cannot be kept which formats a gateway reads", err)
		}
	}
}

package identity

import (
	"sync"
	"time"
)

// Meters count the actions of callers, each against its own quota or the default, regardless of the
// kind of credential. They are safe for concurrent use.
type Meters struct {
	defaults Quota
	now      func() time.Time

	mu    sync.Mutex // guards the fields below
	byID  map[ID]*counted
	sweep int // number of callers above which idle ones are dropped
}

// counted is a caller whose actions are counted.
type counted struct {
	meter   *meter
	as      *Principal // caller most recently passed to [Meters.Of]
	metered *Principal // the same caller with its meter
	last    time.Time  // time of the last request for it
}

// sweepFrom is the number of callers that are remembered before any is dropped.
const sweepFrom = 1000

// NewMeters returns meters without counts. Callers without a quota of their own have the default.
// If now is nil, it is time.Now.
func NewMeters(defaults Quota, now func() time.Time) *Meters {
	if now == nil {
		now = time.Now
	}
	return &Meters{defaults: defaults, now: now, byID: map[ID]*counted{}, sweep: sweepFrom}
}

// Of returns the caller with its meter. Counters are kept by the caller's ID, so reloading credentials does
// not reset them, and the sessions and roles of a person share them. The limits belong to the principal, so
// each role has separate limits.
func (m *Meters) Of(p *Principal) *Principal {
	if p.Uncounted || p.gauge != nil {
		return p
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	c := m.byID[p.Identity()]
	if c == nil {
		m.forget(now)
		c = &counted{meter: newMeter(m.now)}
		m.byID[p.Identity()] = c
	}
	if c.last = now; c.as != p {
		metered := *p
		metered.gauge = c.meter.with(p.Quota.over(m.defaults))
		c.as, c.metered = p, &metered
	}
	return c.metered
}

// forget drops idle callers once there are many callers. A caller is idle if it runs nothing and its counts
// have expired, so that a new entry would equal the dropped one.
func (m *Meters) forget(now time.Time) {
	if len(m.byID) < m.sweep {
		return
	}
	for id, c := range m.byID {
		if c.meter.running.Load() == 0 && now.Sub(c.last) >= 2*hour {
			delete(m.byID, id)
		}
	}
	m.sweep = max(sweepFrom, 2*len(m.byID))
}

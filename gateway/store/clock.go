package store

import (
	"sync"
	"time"
)

// drawn limits how fast a clock is drawn towards the wall clock. It moves by at most 1/60 of the time that
// has passed, which is 1 s a minute.
const drawn = 60

// Clock provides log time, by which all values that outlive a process expire. It runs with the monotonic
// clock, so setting the wall clock while a process runs does not make values expire. It never goes back.
// While the wall clock can be trusted, log time is drawn towards it by up to 1 s a minute.
//
// It stands still while the machine is suspended if the monotonic clock does. It is safe for concurrent use.
type Clock struct {
	sources ClockSources

	mu  sync.Mutex // guards the fields below
	log time.Time  // log time when the monotonic clock read at
	at  time.Duration
}

// ClockSources holds the sources of a clock.
type ClockSources struct {
	Monotonic func() time.Duration // time since a fixed moment; nil means since NewClock
	Wall      func() time.Time     // nil means time.Now
	Agree     func() bool          // reports whether the wall clock can be trusted; nil means always
}

// NewClock returns a clock that begins at the given time, or at the wall clock if that is zero.
func NewClock(begin time.Time, from ClockSources) *Clock {
	if from.Monotonic == nil {
		start := time.Now()
		from.Monotonic = func() time.Duration { return time.Since(start) }
	}
	if from.Wall == nil {
		from.Wall = time.Now
	}
	if from.Agree == nil {
		from.Agree = func() bool { return true }
	}
	if begin.IsZero() {
		begin = from.Wall()
	}
	return &Clock{sources: from, log: begin.Round(0), at: from.Monotonic()}
}

// Now returns the log time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Apart returns how far the wall clock is ahead of log time. It is negative if the wall clock is
// behind.
func (c *Clock) Apart() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	return c.sources.Wall().Round(0).Sub(now)
}

// Raise sets the clock to a later time, such as the time of another writer's entry. An earlier time
// changes nothing.
func (c *Clock) Raise(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Before(to) {
		c.log = to.Round(0)
	}
}

// now returns the log time. c.mu is held.
func (c *Clock) now() time.Time {
	at := c.sources.Monotonic()
	passed := max(0, at-c.at)
	c.at, c.log = at, c.log.Add(passed)
	if most := passed / drawn; most > 0 && c.sources.Agree() {
		c.log = c.log.Add(min(most, max(-most, c.sources.Wall().Round(0).Sub(c.log))))
	}
	return c.log
}

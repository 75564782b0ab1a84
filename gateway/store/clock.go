package store

import (
	"sync"
	"time"
)

// drawn is how much of the time that has passed a clock may be drawn towards the wall clock:
// 1 s of each minute.
const drawn = 60

// Clock tells log time, by which what outlives a process expires. It goes on with the
// monotonic clock, so that nothing expires because the wall clock of a running process was
// set. It never goes back. While the wall clock may be followed it is drawn towards it, by
// 1 s a minute.
//
// It stands still while the machine is suspended, if the monotonic clock does. It is safe
// for concurrent use.
type Clock struct {
	sources ClockSources

	mu  sync.Mutex // guards the fields below
	log time.Time  // log time at that moment of the monotonic clock
	at  time.Duration
}

// ClockSources are what a clock goes by.
type ClockSources struct {
	Monotonic func() time.Duration // time since some moment; nil: since the start of the process
	Wall      func() time.Time     // nil: time.Now
	Agree     func() bool          // reports whether the wall clock may be followed; nil: it may
}

// NewClock returns a clock that begins at a time. If that is the zero time, it begins at the
// wall clock.
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

// Apart returns how far the wall clock is ahead of the log time; it is negative while it is
// behind.
func (c *Clock) Apart() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	return c.sources.Wall().Round(0).Sub(now)
}

// Raise sets the clock to a later time, such as the time of an entry of another writer. An earlier
// one changes nothing.
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

package pool

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"adgateway/ps"
)

// A circuit keeps a lane from starting processes as fast as they fail. A start
// may fail by a chance: that is tried again at once, a time or two, one attempt
// at a time. After any other failure the circuit is open for a while, twice as long
// after each further one; then one attempt is let through. The first that
// succeeds closes it.
type circuit struct {
	min, max time.Duration

	mu       sync.Mutex
	ended    int       // attempts
	failures int       // in a row
	pauses   int       // after these
	until    time.Time // no attempt before
	probing  bool      // the one attempt is under way
	reason   *ps.Error // of the last failure
}

// tolerated is how many starts may fail by a chance, in a row, before there is a pause.
const tolerated = 2

// allow tells whether a start may be tried now, and how many have ended before
// it. Who is told yes calls succeeded, failed or abandoned.
func (c *circuit) allow() (before int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == 0 {
		return c.ended, true
	}
	if c.probing || time.Now().Before(c.until) {
		return 0, false
	}
	c.probing = true
	return c.ended, true
}

// open tells whether there is no point in waiting for a start.
func (c *circuit) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pauses > 0
}

func (c *circuit) succeeded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended++
	c.failures, c.pauses, c.probing, c.reason = 0, 0, false, nil
}

// failed counts a failure and returns the pause until the next attempt. When
// another one has ended since it began, that one tells more of the next: what
// was under way together and fails together is one failure.
func (c *circuit) failed(before int, chance bool, reason *ps.Error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before != c.ended {
		return max(time.Until(c.until), 0)
	}
	c.ended++
	c.probing, c.reason = false, reason
	c.failures++
	if c.pauses == 0 && c.failures <= tolerated && chance {
		return 0
	}
	delay := c.min
	for range c.pauses {
		if delay *= 2; delay >= c.max {
			delay = c.max
			break
		}
	}
	c.pauses++
	delay -= time.Duration(rand.Int64N(int64(delay)/10 + 1))
	c.until = time.Now().Add(delay)
	return delay
}

// died tells whether a start failed because its process went away. One that ran
// out of time, or found its machine wrong, does so again.
func died(e *ps.Error) bool {
	for e.Kind != ps.KindDied {
		cause := e.Cause
		if e = nil; !errors.As(cause, &e) {
			return false
		}
	}
	return true
}

// abandoned is called instead of failed by an attempt that says nothing of the
// next one, because the pool is being closed.
func (c *circuit) abandoned() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing = false
}

// state returns why starts fail and when the next may be tried; nil: they do not.
func (c *circuit) state() (reason *ps.Error, next time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == 0 {
		return nil, time.Time{}
	}
	return c.reason, c.until
}

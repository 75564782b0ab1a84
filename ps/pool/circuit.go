package pool

import (
	"math/rand/v2"
	"sync"
	"time"

	"adgateway/ps"
)

// A circuit keeps a lane from starting processes as fast as they fail: after a
// failure it is open for a while, twice as long after each further one; then one
// attempt is let through, and the first that succeeds closes it.
type circuit struct {
	min, max time.Duration

	mu       sync.Mutex
	failures int
	until    time.Time // no attempt before
	probing  bool      // the one attempt is under way
	reason   *ps.Error // of the last failure
}

// allow tells whether a start may be tried now. Who is told yes calls succeeded
// or failed.
func (c *circuit) allow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == 0 {
		return true
	}
	if c.probing || time.Now().Before(c.until) {
		return false
	}
	c.probing = true
	return true
}

func (c *circuit) succeeded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures, c.probing, c.reason = 0, false, nil
}

// failed opens the circuit and returns for how long.
func (c *circuit) failed(reason *ps.Error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing = false
	c.reason = reason
	if wait := time.Until(c.until); c.failures > 0 && wait > 0 {
		return wait // one of several that were under way together
	}
	delay := c.min
	for range c.failures {
		if delay *= 2; delay >= c.max {
			delay = c.max
			break
		}
	}
	c.failures++
	delay -= time.Duration(rand.Int64N(int64(delay)/10 + 1))
	c.until = time.Now().Add(delay)
	return delay
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

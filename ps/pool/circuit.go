package pool

import (
	"errors"
	"math/rand/v2"
	"time"

	"adgateway/ps"
)

// A circuit limits how fast a lane starts processes while starts fail. A transient failure is retried at
// once, at most [tolerated] times in a row, one attempt at a time. Any other failure opens the circuit for a
// pause that doubles with each further failure, up to max; after the pause one attempt is allowed, and a
// further one whenever the last has not ended within max. The first success closes the circuit. The mutex of
// its lane guards it.
type circuit struct {
	min, max time.Duration

	ended    int       // finished attempts
	failures int       // consecutive failures
	pauses   int       // pauses since the last success
	until    time.Time // earliest next attempt
	probing  time.Time // start of the single attempt; zero if none is in progress
	reason   *ps.Error // last failure
}

// tolerated is the number of consecutive transient failures without a pause.
const tolerated = 2

// allow reports whether a start may be attempted now. before is the number of finished attempts, to be passed
// to failed. If ok, the caller must call succeeded, failed or abandoned.
func (c *circuit) allow() (before int, ok bool) {
	if c.failures == 0 {
		return c.ended, true
	}
	now := time.Now()
	if now.Before(c.until) || (!c.probing.IsZero() && now.Before(c.probing.Add(c.max))) {
		return 0, false
	}
	c.probing = now
	return c.ended, true
}

// open reports whether the circuit is open. If so, waiting for a start is futile unless one is in progress.
func (c *circuit) open() bool { return c.pauses > 0 }

func (c *circuit) succeeded() {
	c.ended++
	c.failures, c.pauses, c.probing, c.reason = 0, 0, time.Time{}, nil
}

// failed records a failure and returns the pause until the next attempt. before is the
// result of allow: if another attempt has finished since, this failure is not counted, so
// that concurrent failures count once. A transient failure may be retried immediately.
func (c *circuit) failed(before int, transient bool, reason *ps.Error) time.Duration {
	if before != c.ended {
		return max(time.Until(c.until), 0)
	}
	c.ended++
	c.probing, c.reason = time.Time{}, reason
	c.failures++
	if c.pauses == 0 && c.failures <= tolerated && transient {
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

// abandoned is called instead of failed if the attempt ended because the pool was
// closed.
func (c *circuit) abandoned() { c.probing = time.Time{} }

// died reports whether a start failed because its process ended. Such a failure is transient; others, such as
// a timeout or an invalid configuration, would recur.
func died(e *ps.Error) bool {
	for e.Kind != ps.KindDied {
		cause := e.Cause
		if e = nil; !errors.As(cause, &e) {
			return false
		}
	}
	return true
}

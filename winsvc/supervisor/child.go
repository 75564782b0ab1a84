package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/winsvc/events"
)

// child keeps one process running. Its goroutine has the fields below ended to itself.
type child struct {
	Child
	name     string
	required bool // an end before the first start is final
	options  Options
	log      logrus.FieldLogger
	restarts chan chan answer
	hangup   chan os.Signal
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the child has been stopped for good
	err      error         // of the stop; valid after ended is closed

	asked    chan<- answer // waits for the start; nil: nobody does
	failures int           // consecutive ends that nobody asked for
}

// begin starts the child. The channel gets the answer to the first start. Only end stops
// the child, in its turn.
func (c *child) begin(ctx context.Context) <-chan answer {
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan answer, 1)
	c.asked = first
	go c.keep(ctx)
	return first
}

// end stops the child and returns what it said about its end.
func (c *child) end() error {
	c.cancel()
	<-c.ended
	return c.err
}

// keep runs the child until ctx ends.
func (c *child) keep(ctx context.Context) {
	defer close(c.ended)
	defer c.answer(answer{err: errStopped})
	for ctx.Err() == nil {
		p, err := launch(c.Command, c.options)
		if err == nil {
			err = c.watch(ctx, p)
		} else {
			c.failures++
		}
		if err == nil {
			continue // it was stopped: for good, or to start again
		}
		err = fmt.Errorf("%s: %w", c.name, err)
		c.answer(answer{err: err})
		if c.required {
			return
		}
		if ctx.Err() != nil { // it was about to be stopped
			c.err = err
			return
		}
		c.pause(ctx, err)
	}
}

// watch returns nil when the process was stopped as asked, or else why it has ended.
func (c *child) watch(ctx context.Context, p *process) error {
	starting, restarts := p.started, c.restarts
	if c.asked != nil {
		restarts = nil // one after the other
	}
	var hangup chan os.Signal // would end a process that has not started yet
	var begun time.Time
	for {
		select {
		case text := <-starting:
			starting, restarts, hangup, begun = nil, c.restarts, c.hangup, time.Now()
			c.started(p, text)
		case s := <-hangup:
			_ = p.command.Process.Signal(s) // it may have ended
		case <-p.ended:
			c.failures = endsInARow(c.failures, begun, time.Now())
			return cmp.Or(p.err, errUnasked)
		case c.asked = <-restarts:
			c.log.Info("stopping the process, to start it again")
			c.failures = 0
			if err := p.stop(c.StopWait); err != nil {
				c.log.WithError(err).Warn("the process did not stop well")
			}
			return nil
		case <-ctx.Done():
			if c.err = p.stop(c.StopWait); c.err != nil {
				c.err = fmt.Errorf("%s: %w", c.name, c.err)
			}
			return nil
		}
	}
}

// endsInARow returns how many ends in a row nobody asked for, with one more now of a process
// that has run since begun; zero: it never started.
func endsInARow(before int, begun, now time.Time) int {
	if !begun.IsZero() && now.Sub(begun) >= steady {
		before = 0
	}
	return before + 1
}

// started tells that the process has started.
func (c *child) started(p *process, text string) {
	c.required = false
	c.log.WithField("pid", p.command.Process.Pid).Info(text)
	if c.failures > 0 {
		c.event(events.ProcessStarted, fmt.Sprintf("The process of the %s has started again: %s", c.name, text))
	}
	c.answer(answer{started: text})
}

// pause tells why the process has ended, and waits until it is to start again.
func (c *child) pause(ctx context.Context, err error) {
	delay := c.options.Delays[min(c.failures, len(c.options.Delays))-1]
	text := fmt.Sprintf("A process has ended by itself, and starts again in %s: %v", delay, err)
	c.log.Error(text)
	c.event(events.ProcessEnded, text)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case c.asked = <-c.restarts:
		c.failures = 0
	}
}

// answer tells who waits for the start, if anybody does.
func (c *child) answer(a answer) {
	if c.asked != nil {
		c.asked <- a // has room for it
		c.asked = nil
	}
}

// event writes an entry to the system's event log, if there is one.
func (c *child) event(e events.Event, text string) {
	if c.options.Event != nil {
		c.options.Event(e, text)
	}
}

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

// child keeps one process running. Only its goroutine uses the fields below ended.
type child struct {
	Child
	name     string
	required bool // if the process ends before it has started for the first time, it is not started again
	options  Options
	log      logrus.FieldLogger
	hangup   chan os.Signal
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the child has been stopped permanently
	err      error         // of the stop; valid after ended is closed

	asked    chan<- answer // receives the outcome of the first start; nil afterwards
	failures int           // consecutive unrequested ends
}

// begin starts the child. The returned channel receives the outcome of the first start. Only end stops the
// child, because the children must stop in a certain order.
func (c *child) begin(ctx context.Context) <-chan answer {
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan answer, 1)
	c.asked = first
	go c.keep(ctx)
	return first
}

// end stops the child and returns the error that the child reported when it ended.
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
			return // stopped on request
		}
		err = fmt.Errorf("%s: %w", c.name, err)
		c.answer(answer{err: err})
		if c.required {
			return
		}
		if ctx.Err() != nil { // a stop had been requested
			c.err = err
			return
		}
		c.pause(ctx, err)
	}
}

// watch waits for the end of the process. It returns nil if the process stopped on request,
// otherwise the reason why it ended.
func (c *child) watch(ctx context.Context, p *process) error {
	starting := p.started
	// nil until the start is complete, because the signal would end a process that is still starting
	var hangup chan os.Signal
	var begun time.Time
	for {
		select {
		case text := <-starting:
			starting, hangup, begun = nil, c.hangup, time.Now()
			c.started(p, text)
		case s := <-hangup:
			_ = p.command.Process.Signal(s) // the process may have ended
		case <-p.ended:
			c.failures = endsInARow(c.failures, begun, time.Now())
			return cmp.Or(p.err, errUnasked)
		case <-ctx.Done():
			if c.err = p.stop(c.StopWait); c.err != nil {
				c.err = fmt.Errorf("%s: %w", c.name, c.err)
			}
			return nil
		}
	}
}

// endsInARow returns the number of consecutive unrequested ends, including the end at now of a process that
// started at begun. A zero begun means that the process never started.
func endsInARow(before int, begun, now time.Time) int {
	if !begun.IsZero() && now.Sub(begun) >= steady {
		before = 0
	}
	return before + 1
}

// started announces that the process has started.
func (c *child) started(p *process, text string) {
	c.required = false
	c.log.WithField("pid", p.command.Process.Pid).Info(text)
	if c.failures > 0 {
		c.event(events.ProcessStarted, fmt.Sprintf("The process of the %s has started again: %s", c.name, text))
	}
	c.answer(answer{started: text})
}

// pause logs the reason why the process has ended, and waits until it is time to start the process again.
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
	}
}

// answer sends the outcome of the first start to the caller. It does nothing for later starts.
func (c *child) answer(a answer) {
	if c.asked != nil {
		c.asked <- a // the channel is buffered
		c.asked = nil
	}
}

// event writes an entry to the system's event log, if there is one.
func (c *child) event(e events.Event, text string) {
	if c.options.Event != nil {
		c.options.Event(e, text)
	}
}

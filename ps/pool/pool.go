package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/ps"
)

// Pool runs requests on sessions. It is a [ps.Runner].
type Pool struct {
	cfg   Config
	lanes map[ps.Lane]*lane

	starting context.Context // ends when sessions need not be started any more
	stop     context.CancelCauseFunc
	waiting  context.Context // ends, before that, when nobody may wait for one any more
	drain    context.CancelCauseFunc
	once     sync.Once
	closed   chan struct{} // closed when everything has ended
}

// New makes a pool and begins to start the sessions that are kept warm.
func New(cfg Config) (*Pool, error) {
	cfg = cfg.withDefaults()
	if len(cfg.Lanes) == 0 {
		return nil, errors.New("a pool needs a lane")
	}
	for name, lc := range cfg.Lanes {
		if lc.Start == nil {
			return nil, fmt.Errorf("lane %s cannot start sessions", name)
		}
	}
	p := &Pool{cfg: cfg, lanes: map[ps.Lane]*lane{}, closed: make(chan struct{})}
	p.starting, p.stop = context.WithCancelCause(context.Background())
	p.waiting, p.drain = context.WithCancelCause(p.starting)
	for name, lc := range cfg.Lanes {
		l, err := newLane(p, name, lc)
		if err != nil {
			return nil, err
		}
		p.lanes[name] = l
	}
	for _, l := range p.lanes {
		go l.keep()
	}
	return p, nil
}

func (c Config) withDefaults() Config {
	c.MaxWait = or(c.MaxWait, 10*time.Second)
	c.Grace = or(c.Grace, 2*time.Second)
	c.MinDelay = or(c.MinDelay, time.Second)
	c.MaxDelay = max(or(c.MaxDelay, time.Minute), c.MinDelay)
	c.Sweep = or(c.Sweep, time.Second)
	c.Probe = or(c.Probe, 30*time.Second)
	c.Queue = or(c.Queue, 64)
	if c.Log == nil {
		c.Log = func(string, map[string]any) {}
	}
	if c.Debug == nil {
		c.Debug = func(string, func() map[string]any) {}
	}
	lanes := make(map[ps.Lane]Lane, len(c.Lanes))
	for name, l := range c.Lanes {
		size := 2
		if name == ps.Directory {
			size = 4
		}
		l.Size = or(l.Size, size)
		l.Warm = min(or(l.Warm, 1), l.Size)
		l.MaxRequests = or(l.MaxRequests, 500)
		l.MaxAge = or(l.MaxAge, 30*time.Minute)
		l.Limit = or(l.Limit, time.Minute)
		lanes[name] = l
	}
	c.Lanes = lanes
	return c
}

// or returns v, or the default when v is zero.
func or[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// Run runs a request on a session of its lane. When none becomes free in time,
// or too many wait already, the error is of kind overloaded; when none can be
// started, unavailable; both say when to come back. A read whose session died
// before it answered anything is run once more on another one; a write never is.
func (p *Pool) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	l := p.lanes[req.Lane]
	if l == nil {
		return nil, &ps.Error{Kind: ps.KindInternal, Outcome: ps.OutcomeNone, Message: fmt.Sprintf("no lane %q", req.Lane)}
	}
	if req.Limit <= 0 {
		req.Limit = l.cfg.Limit
	}
	began := time.Now()
	result, answered, err := l.once(ctx, req)
	if err == nil {
		return result, nil
	}
	e := ps.AsError(err)
	rest := req.Limit - time.Since(began)
	if req.Write || e.Kind != ps.KindDied || answered || len(e.Steps) > 0 || rest <= 0 || ctx.Err() != nil {
		return nil, e
	}
	p.cfg.Log("a read is run once more", map[string]any{"request": req.ID, "script": req.Script, "reason": e.Error()})
	l.retries.Add(1)
	req.Limit = rest
	result, _, err = l.once(ctx, req)
	if err != nil {
		return nil, ps.AsError(err)
	}
	return result, nil
}

// Drain is called when the gateway begins to stop: requests that wait for a
// session, and those that would have to from now on, are refused at once, for
// they have done nothing. What runs goes on, and what settles it may still wait.
func (p *Pool) Drain() { p.drain(ps.ErrClosing) }

// Close refuses new requests and those that wait, lets running ones end and
// ends the sessions. When ctx is done before, what runs is cut off. Close
// returns when nothing of the pool is left; the error is ctx's when something
// had to be cut off. It may be called more than once.
func (p *Pool) Close(ctx context.Context) error {
	p.once.Do(func() {
		p.stop(ps.ErrClosing)
		go func() {
			defer close(p.closed)
			var lanes sync.WaitGroup
			for _, l := range p.lanes {
				lanes.Go(l.close)
			}
			lanes.Wait()
		}()
	})
	select {
	case <-p.closed:
		return nil
	case <-ctx.Done():
	}
	for _, l := range p.lanes {
		l.killAll()
	}
	<-p.closed
	return context.Cause(ctx)
}

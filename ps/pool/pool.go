package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"adgateway/ps"
)

// Pool runs requests on sessions. It is a [ps.Runner] and safe for concurrent use.
type Pool struct {
	cfg   Config
	lanes map[ps.Lane]*lane

	starting context.Context // ends when no more sessions are started
	stop     context.CancelFunc
	kept     sync.WaitGroup // goroutines that run lane.keep
	once     sync.Once
	closed   chan struct{} // closed when everything has ended
}

// New returns a pool and starts the warm sessions in the background. Close ends it.
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
	p.starting, p.stop = context.WithCancel(context.Background())
	for name, lc := range cfg.Lanes {
		l := newLane(p, name, lc)
		p.lanes[name] = l
		p.kept.Go(l.keep)
	}
	return p, nil
}

func (c Config) withDefaults() Config {
	c.MaxWait = or(c.MaxWait, 10*time.Second)
	c.Grace = or(c.Grace, 2*time.Second)
	c.MinDelay = or(c.MinDelay, time.Second)
	c.MaxDelay = max(or(c.MaxDelay, 10*time.Second), c.MinDelay)
	c.Sweep = or(c.Sweep, time.Second)
	c.Probe = or(c.Probe, 30*time.Second)
	c.Queue = or(c.Queue, 64)
	if c.Started == nil {
		c.Started = func(ps.Lane) {}
	}
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
		l.Starts = or(l.Starts, max(runtime.GOMAXPROCS(0)/2, 1))
		l.Warm = min(or(l.Warm, 1), l.Size)
		l.MaxRequests = or(l.MaxRequests, 50_000)
		l.MaxAge = or(l.MaxAge, 30*time.Minute)
		l.Limit = or(l.Limit, time.Minute)
		lanes[name] = l
	}
	c.Lanes = lanes
	return c
}

// or returns v, or byDefault if v is zero.
func or[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// Run runs a request on a session of its lane. The error has kind overloaded if no session becomes free in
// time or the queue is full, and kind unavailable if none can be started. In both cases RetryAfter is set. A
// read whose session died before it returned anything is retried once on another session; a write never is.
func (p *Pool) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	l := p.lanes[req.Lane]
	if l == nil {
		return nil, &ps.Error{Kind: ps.KindInternal, Outcome: ps.OutcomeNone,
			Message: fmt.Sprintf("no lane %q", req.Lane)}
	}
	if req.Limit <= 0 {
		req.Limit = l.cfg.Limit
	}
	arrived := time.Now()
	result, answered, err := l.once(ctx, req)
	if err == nil {
		return result, nil
	}
	e := ps.AsError(err)
	rest := req.Limit - time.Since(arrived)
	if req.Write || e.Kind != ps.KindDied || answered || len(e.Steps) > 0 || rest <= 0 || ctx.Err() != nil {
		return nil, e
	}
	p.cfg.Log("a read is retried", map[string]any{"request": req.ID, "script": req.Script, "reason": e.Error()})
	l.mu.Lock()
	l.retries++
	l.mu.Unlock()
	req.Limit = rest
	result, _, err = l.once(ctx, req)
	if err != nil {
		return nil, ps.AsError(err)
	}
	return result, nil
}

// Drain rejects all requests that wait for a session now or would have to wait later, except those that
// settle other requests. Running requests continue. It is called when the gateway begins to shut down.
func (p *Pool) Drain() {
	for _, l := range p.lanes {
		l.drain()
	}
}

// Starting returns the reason why a lane has never had a session: [ps.ErrStarting] while the first one
// starts, or the reason why starts fail. It returns nil once the lane has had a session.
func (p *Pool) Starting(name ps.Lane) error {
	if l := p.lanes[name]; l != nil {
		return l.startingNow()
	}
	return nil
}

// Close rejects new and waiting requests, lets running ones finish and ends the sessions. If ctx ends first,
// it kills the sessions, and returns ctx's cause if that interrupted requests. Close returns when all
// sessions and goroutines have ended. It may be called more than once.
func (p *Pool) Close(ctx context.Context) error {
	p.once.Do(func() {
		for _, l := range p.lanes {
			l.close()
		}
		p.stop()
		go func() {
			defer close(p.closed)
			p.kept.Wait()
			for _, l := range p.lanes {
				<-l.gone
			}
		}()
	})
	select {
	case <-p.closed:
		return nil
	case <-ctx.Done():
	}
	cut := false
	for _, l := range p.lanes {
		cut = l.killAll() || cut
	}
	<-p.closed
	if cut {
		return context.Cause(ctx)
	}
	return nil
}

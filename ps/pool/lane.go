package pool

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"
	"time"

	"adgateway/ps"
)

// A lane holds the sessions of one module and the requests that wait for them.
type lane struct {
	pool *Pool
	name ps.Lane
	cfg  Lane
	gone chan struct{} // closed when the lane is closing and all its sessions have ended

	turns turns // limits concurrent starts

	mu       sync.Mutex
	live     map[*held]struct{}    // every session that has not ended
	idle     []*held               // the last one is the most recently used
	ending   int                   // live sessions that are being ended
	starts   map[*attempt]struct{} // starts in progress
	circuit  circuit
	retiring bool // a session is being ended because it was due
	replaced bool // whether a replacement has arrived and no session has ended for it yet

	queue        list.List // of *waiter, in order of arrival
	waitingLists int       // lists in the queue
	running      int       // requests that are using a session
	lists        int       // lists among them
	draining     bool      // only requests that settle others may wait
	closing      bool

	counters
}

func newLane(p *Pool, name ps.Lane, cfg Lane) *lane {
	return &lane{
		pool: p, name: name, cfg: cfg,
		gone:    make(chan struct{}),
		turns:   make(turns, cfg.Starts),
		live:    map[*held]struct{}{},
		starts:  map[*attempt]struct{}{},
		circuit: circuit{min: p.cfg.MinDelay, max: p.cfg.MaxDelay},
	}
}

// once runs a request on one session. answered reports whether the caller may have
// received records.
func (l *lane) once(ctx context.Context, req ps.Request) (result *ps.Result, answered bool, err error) {
	arrived := time.Now()
	h, err := l.acquire(ctx, req)
	if err != nil {
		return nil, false, err
	}
	waited := time.Since(arrived)
	if req.Write {
		defer l.release(h, req.List)
		result, err = l.run(context.WithoutCancel(ctx), h.session, req, waited)
		return result, true, err
	}
	return l.read(ctx, req, func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		defer l.release(h, req.List)
		return l.run(ctx, h.session, req, waited)
	})
}

// run runs a request on a session that the caller holds. waited is only logged.
func (l *lane) run(ctx context.Context, s Session, req ps.Request, waited time.Duration) (*ps.Result, error) {
	startedAt := time.Now()
	if records := req.Records; records != nil {
		req.Records = func(batch json.RawMessage) error { l.answered(); return records(batch) }
	}
	result, err := s.Run(ctx, req)
	took, ended := time.Since(startedAt), ranWell
	if err != nil {
		ended = string(ps.AsError(err).Kind)
	}
	l.runs.add(took)
	l.results.add(ended)
	l.pool.cfg.Debug("a script was run", func() map[string]any {
		return map[string]any{"request": req.ID, "script": req.Script, "lane": string(l.name),
			"waited_ms": milliseconds(waited), "took_ms": milliseconds(took), "result": ended}
	})
	if err == nil || ps.AsError(err).Kind == ps.KindScript {
		l.answered()
	}
	return result, err
}

// settle updates the lane after any change: it gives free sessions to waiting requests, retires sessions
// that are due, starts missing ones and refuses requests that would wait in vain. The caller holds mu.
func (l *lane) settle() {
	if l.closing {
		for _, h := range l.idle {
			l.end(h, endClosed)
		}
		l.idle = nil
		if len(l.live) == 0 && len(l.starts) == 0 {
			select {
			case <-l.gone:
			default:
				close(l.gone)
			}
		}
		return
	}
	l.dispatch()
	l.retireIdle()
	l.startMissing()
	if l.circuit.open() && len(l.live) == 0 && len(l.starts) == 0 {
		l.refuseAll(func(*waiter) error { return l.unavailable() })
	}
}

// keep settles the lane and probes it if it is silent, until the pool closes.
func (l *lane) keep() {
	ticker := time.NewTicker(l.pool.cfg.Sweep)
	defer ticker.Stop()
	for {
		l.mu.Lock()
		l.settle()
		l.probe()
		l.mu.Unlock()
		select {
		case <-l.pool.starting.Done():
			return
		case <-ticker.C:
		}
	}
}

// drain refuses the waiting requests, except those that settle others.
func (l *lane) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draining = true
	l.refuseAll(func(w *waiter) error {
		if w.settles {
			return nil
		}
		return l.closed()
	})
}

// close refuses all requests and ends the sessions as they become free. gone is closed when all have ended.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	l.refuseAll(func(*waiter) error { return l.closed() })
	l.settle()
}

// killAll kills all sessions, including those that are already ending, and reports whether
// that interrupted requests.
func (l *lane) killAll() (cut bool) {
	l.mu.Lock()
	cut = l.running > 0
	var all []*held
	for h := range l.live {
		all = append(all, h)
	}
	l.mu.Unlock()
	var kills sync.WaitGroup
	for _, h := range all {
		kills.Go(h.session.Kill)
	}
	kills.Wait()
	return cut
}

func (l *lane) log(message string, fields map[string]any) {
	fields["lane"] = string(l.name)
	l.pool.cfg.Log(message, fields)
}

// milliseconds returns a time for a log entry, whose field name contains the unit.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

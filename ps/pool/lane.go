package pool

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"adgateway/ps"

	"github.com/jackc/puddle/v2"
	"golang.org/x/sync/semaphore"
)

// A lane holds the sessions of one module.
type lane struct {
	pool     *Pool
	name     ps.Lane
	cfg      Lane
	sessions *puddle.Pool[*held]
	lists    *semaphore.Weighted // sessions that lists may occupy
	circuit  circuit
	kept     chan struct{} // closed when keep has returned
	wake     chan struct{} // triggers keep

	mu      sync.Mutex
	live    map[*held]struct{}
	changed chan struct{} // closed and replaced when a session becomes free or ends

	counters
}

// held is a session with the lane's bookkeeping.
type held struct {
	session   Session
	startedAt time.Time
	retireAt  time.Time // zero: never
	requests  int       // used only by the holder of the session
	why       string    // reason of its end; set before it is destroyed
}

const closeWait = 10 * time.Second // for a session to end cleanly

func newLane(p *Pool, name ps.Lane, cfg Lane) (*lane, error) {
	l := &lane{
		pool: p, name: name, cfg: cfg,
		lists:   semaphore.NewWeighted(int64(max(cfg.Size-1, 1))),
		circuit: circuit{min: p.cfg.MinDelay, max: p.cfg.MaxDelay},
		kept:    make(chan struct{}),
		wake:    make(chan struct{}, 1),
		live:    map[*held]struct{}{},
		changed: make(chan struct{}),
	}
	var err error
	l.sessions, err = puddle.NewPool(&puddle.Config[*held]{
		Constructor: func(ctx context.Context) (*held, error) {
			if a, ok := ctx.Value(attemptKey{}).(*attempt); ok && !a.start() {
				return nil, errNobody
			}
			return l.start()
		},
		Destructor: l.end,
		MaxSize:    int32(cfg.Size),
	})
	return l, err
}

// once runs a request on one session. answered reports whether the caller may have
// received records.
func (l *lane) once(ctx context.Context, req ps.Request) (result *ps.Result, answered bool, err error) {
	if !l.enter(req.List) {
		return nil, false, l.overload("too many requests wait for a session")
	}
	arrived := time.Now()
	res, err := l.acquire(ctx, req)
	waited := time.Since(arrived)
	l.waits.add(waited)
	if err != nil {
		l.leave(req.List)
		return nil, false, err
	}
	l.running.Add(1)
	done := func() {
		l.release(res)
		if req.List {
			l.lists.Release(1)
		}
		l.running.Add(-1)
		l.leave(req.List)
	}
	if req.Write {
		defer done()
		result, err = l.run(context.WithoutCancel(ctx), res.Value().session, req, waited)
		return result, true, err
	}
	return l.read(ctx, req, func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		defer done()
		return l.run(ctx, res.Value().session, req, waited)
	})
}

// enter admits a request unless the queue is full. Lists, which wait for each other,
// may use only half of the queue, so that they do not keep others out.
func (l *lane) enter(list bool) bool {
	room := l.pool.cfg.Queue
	fits := l.inside.Add(1) <= int64(l.cfg.Size+room)
	if list && l.listing.Add(1) > int64(max(l.cfg.Size-1, 1)+(room+1)/2) {
		fits = false
	}
	if !fits {
		l.leave(list)
	}
	return fits
}

func (l *lane) leave(list bool) {
	l.inside.Add(-1)
	if list {
		l.listing.Add(-1)
	}
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
		return map[string]any{"request": req.ID, "script": req.Script, "lane": string(l.name), "waited": waited.String(), "took": took.String(), "result": ended}
	})
	if err == nil || ps.AsError(err).Kind == ps.KindScript {
		l.answered()
	}
	return result, err
}

// fit reports whether a session that the caller holds can run a request, and
// records the reason if not.
func (l *lane) fit(h *held) bool {
	why := l.unfit(h)
	if why != "" {
		h.why = why
	}
	return why == ""
}

// unfit returns why a session must not be used again, or "" if it may.
func (l *lane) unfit(h *held) string {
	select {
	case <-h.session.Dead():
		return endDied
	default:
	}
	if !h.retireAt.IsZero() && time.Now().After(h.retireAt) {
		return endAge
	}
	return ""
}

// release returns a session to the pool, or ends it if it is dead or due to retire.
func (l *lane) release(res *puddle.Resource[*held]) {
	h := res.Value()
	h.requests++
	switch {
	case !l.fit(h):
		l.destroy(res)
	case l.cfg.MaxRequests > 0 && h.requests >= l.cfg.MaxRequests:
		h.why = endRequests
		l.destroy(res)
	case l.tooLarge(h):
		h.why = endMemory
		l.destroy(res)
	default:
		res.Release()
		l.notify()
	}
}

func (l *lane) tooLarge(h *held) bool {
	measured, ok := h.session.(interface{ Memory() (int64, error) })
	if l.cfg.MaxMemory <= 0 || !ok {
		return false
	}
	bytes, err := measured.Memory()
	return err == nil && bytes > l.cfg.MaxMemory
}

func (l *lane) destroy(res *puddle.Resource[*held]) {
	res.Destroy()
	l.look()
}

// start is puddle's constructor.
func (l *lane) start() (*held, error) {
	ctx := l.pool.starting
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	before, allowed := l.circuit.allow()
	if !allowed {
		return nil, errOpen
	}
	startedAt := time.Now()
	session, err := l.cfg.Start(ctx)
	if err != nil {
		if ctx.Err() != nil {
			l.circuit.abandoned()
			return nil, err
		}
		l.failed.Add(1)
		reason := ps.AsError(err)
		pause := l.circuit.failed(before, died(reason) || !l.none(), reason)
		l.log("a session could not be started", map[string]any{"error": err.Error(), "pause": pause.String()})
		l.notify()
		return nil, err
	}
	l.circuit.succeeded()
	l.started.Add(1)
	l.answered()
	h := &held{session: session, startedAt: time.Now()}
	if l.cfg.MaxAge > 0 {
		h.retireAt = time.Now().Add(l.cfg.MaxAge - time.Duration(rand.Int64N(int64(l.cfg.MaxAge)/10+1)))
	}
	l.mu.Lock()
	l.live[h] = struct{}{}
	l.mu.Unlock()
	l.notify() // the circuit is closed: others may start sessions
	l.log("a session was started", map[string]any{"took": time.Since(startedAt).String()})
	// Wakes keep if the session dies while idle. It ends because Dead is always
	// closed in the end.
	go func() {
		<-session.Dead()
		l.look()
	}()
	return h, nil
}

var (
	errOpen   = errors.New("sessions cannot be started at the moment")
	errNobody = errors.New("no request waits for a session")
)

// end is puddle's destructor; the session's slot is free when it returns.
func (l *lane) end(h *held) {
	if h.why == "" {
		h.why = endClosed
	}
	if h.why == endDied {
		h.session.Kill()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), closeWait)
		defer cancel()
		if err := h.session.Close(ctx); err != nil {
			l.log("a session had to be killed", map[string]any{"error": err.Error()})
		}
	}
	l.mu.Lock()
	delete(l.live, h)
	l.mu.Unlock()
	l.ended.add(h.why)
	l.log("a session was ended", map[string]any{"reason": h.why, "requests": h.requests, "age": time.Since(h.startedAt).String()})
	l.notify()
}

// change returns a channel that is closed at the next notify.
func (l *lane) change() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *lane) notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

// look triggers keep.
func (l *lane) look() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// close ends the lane after the running requests have ended.
func (l *lane) close() {
	<-l.kept
	l.sessions.Close()
}

// killAll kills all sessions, including those being closed.
func (l *lane) killAll() {
	l.mu.Lock()
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
}

func (l *lane) log(message string, fields map[string]any) {
	fields["lane"] = string(l.name)
	l.pool.cfg.Log(message, fields)
}

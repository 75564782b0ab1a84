package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps"

	"github.com/jackc/puddle/v2"
	"golang.org/x/sync/semaphore"
)

// A lane is the sessions of one module.
type lane struct {
	pool     *Pool
	name     ps.Lane
	cfg      Lane
	sessions *puddle.Pool[*held]
	lists    *semaphore.Weighted // what lists may hold together
	circuit  circuit
	kept     chan struct{} // closed when keep has ended
	wake     chan struct{} // asks keep to look at once

	mu      sync.Mutex
	live    map[*held]struct{}
	ended   map[string]int64
	changed chan struct{} // closed, and replaced, when a session became free or was lost

	inside     atomic.Int64 // requests that wait or run
	running    atomic.Int64
	requests   atomic.Int64
	waited     atomic.Int64
	overloaded atomic.Int64
	retries    atomic.Int64
	started    atomic.Int64
	failed     atomic.Int64
}

// held is a session with what the lane knows of it.
type held struct {
	session  Session
	retireAt time.Time // zero: never
	requests int       // only touched by who holds the session
	why      string    // why it was ended; set before it is destroyed
}

const closeWait = 10 * time.Second // for a session to end in good order

func newLane(p *Pool, name ps.Lane, cfg Lane) (*lane, error) {
	l := &lane{
		pool: p, name: name, cfg: cfg,
		lists:   semaphore.NewWeighted(int64(max(cfg.Size-1, 1))),
		circuit: circuit{min: p.cfg.MinDelay, max: p.cfg.MaxDelay},
		kept:    make(chan struct{}),
		wake:    make(chan struct{}, 1),
		live:    map[*held]struct{}{},
		ended:   map[string]int64{},
		changed: make(chan struct{}),
	}
	var err error
	l.sessions, err = puddle.NewPool(&puddle.Config[*held]{
		Constructor: func(ctx context.Context) (*held, error) {
			if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
				go l.watch(a)
			}
			return l.start()
		},
		Destructor: l.end,
		MaxSize:    int32(cfg.Size),
	})
	return l, err
}

// once runs a request on one session. answered tells that records have reached
// the caller.
func (l *lane) once(ctx context.Context, req ps.Request) (result *ps.Result, answered bool, err error) {
	if l.inside.Add(1) > int64(l.cfg.Size+l.pool.cfg.Queue) {
		l.inside.Add(-1)
		return nil, false, l.overload("too many requests wait for a session")
	}
	res, err := l.acquire(ctx, req.List)
	if err != nil {
		l.inside.Add(-1)
		return nil, false, err
	}
	l.requests.Add(1)
	l.running.Add(1)
	done := func() {
		l.release(res)
		if req.List {
			l.lists.Release(1)
		}
		l.running.Add(-1)
		l.inside.Add(-1)
	}
	if req.Write {
		defer done()
		result, err = res.Value().session.Run(context.WithoutCancel(ctx), req)
		return result, true, err
	}
	return l.read(ctx, req, res.Value().session, done)
}

// acquire takes a session, and for a list a place among the lists before.
func (l *lane) acquire(ctx context.Context, list bool) (*puddle.Resource[*held], error) {
	began := time.Now()
	defer func() { l.waited.Add(int64(time.Since(began))) }()
	waiting, cancel := context.WithTimeoutCause(ctx, l.pool.cfg.MaxWait, errWaited)
	defer cancel()
	// A pool that is closing does not let anyone wait.
	waiting, stop := context.WithCancelCause(waiting)
	defer stop(nil)
	defer context.AfterFunc(l.pool.starting, func() { stop(errClosing) })()

	if list {
		if err := l.lists.Acquire(waiting, 1); err != nil {
			return nil, l.refused(ctx, waiting)
		}
	}
	res, err := l.take(waiting)
	if err == nil {
		return res, nil
	}
	if list {
		l.lists.Release(1)
	}
	if waiting.Err() != nil || errors.Is(err, puddle.ErrClosedPool) {
		return nil, l.refused(ctx, waiting)
	}
	return nil, err
}

var errWaited = errors.New("no session became free in time")

// take returns a session that is alive. While no new one can be started, it
// waits for those there are; without any it gives up at once.
func (l *lane) take(ctx context.Context) (*puddle.Resource[*held], error) {
	for {
		changed := l.change()
		res, err := l.idleOrNew(ctx)
		switch {
		case err == nil && l.fit(res.Value()):
			return res, nil
		case err == nil:
			l.destroy(res)
			continue
		case ctx.Err() != nil || errors.Is(err, puddle.ErrClosedPool):
			return nil, err
		}
		l.mu.Lock()
		none := len(l.live) == 0
		l.mu.Unlock()
		if none {
			return nil, l.unavailable(err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// idleOrNew takes an idle session, or one that is started for it; but when
// another one becomes idle before that has started, it takes that one. puddle
// goes on with the start, and keeps its outcome for the next.
func (l *lane) idleOrNew(ctx context.Context) (*puddle.Resource[*held], error) {
	for {
		a := &attempt{}
		var acquiring context.Context
		acquiring, a.cancel = context.WithCancelCause(context.WithValue(ctx, attemptKey{}, a))
		a.ended = acquiring.Done()
		res, err := l.sessions.Acquire(acquiring)
		better := errors.Is(context.Cause(acquiring), errIdle)
		a.cancel(nil)
		if err != nil && better && ctx.Err() == nil {
			continue
		}
		return res, err
	}
}

// An attempt is a request that waits for a session to be started.
type attempt struct {
	cancel context.CancelCauseFunc
	ended  <-chan struct{}
}

type attemptKey struct{}

var errIdle = errors.New("a session became idle")

// watch ends an attempt when a session has become idle.
func (l *lane) watch(a *attempt) {
	for {
		changed := l.change()
		if l.sessions.Stat().IdleResources() > 0 {
			a.cancel(errIdle)
			return
		}
		select {
		case <-changed:
		case <-a.ended:
			return
		}
	}
}

// fit tells whether a session that the caller holds can take a request, and
// notes why not.
func (l *lane) fit(h *held) bool {
	why := l.unfit(h)
	if why != "" {
		h.why = why
	}
	return why == ""
}

// unfit tells why a session must not be used again; empty: it may.
func (l *lane) unfit(h *held) string {
	select {
	case <-h.session.Dead():
		return "died"
	default:
	}
	if !h.retireAt.IsZero() && time.Now().After(h.retireAt) {
		return "age"
	}
	return ""
}

// release gives a session back, or ends it when it is dead or has had its time.
func (l *lane) release(res *puddle.Resource[*held]) {
	h := res.Value()
	h.requests++
	switch {
	case !l.fit(h):
		l.destroy(res)
	case l.cfg.MaxRequests > 0 && h.requests >= l.cfg.MaxRequests:
		h.why = "requests"
		l.destroy(res)
	case l.tooLarge(h):
		h.why = "memory"
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

// start is what puddle makes a session with.
func (l *lane) start() (*held, error) {
	ctx := l.pool.starting
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !l.circuit.allow() {
		return nil, errOpen
	}
	began := time.Now()
	session, err := l.cfg.Start(ctx)
	if err != nil {
		if ctx.Err() != nil {
			l.circuit.abandoned()
			return nil, err
		}
		l.failed.Add(1)
		pause := l.circuit.failed(ps.AsError(err))
		l.log("a session could not be started", map[string]any{"error": err.Error(), "pause": pause.String()})
		l.notify()
		return nil, err
	}
	l.circuit.succeeded()
	l.started.Add(1)
	h := &held{session: session}
	if l.cfg.MaxAge > 0 {
		h.retireAt = time.Now().Add(l.cfg.MaxAge - time.Duration(rand.Int64N(int64(l.cfg.MaxAge)/10+1)))
	}
	l.mu.Lock()
	l.live[h] = struct{}{}
	l.mu.Unlock()
	l.log("a session was started", map[string]any{"took": time.Since(began).String()})
	// Wakes keep when the session dies idle; Dead is closed in any case.
	go func() {
		<-session.Dead()
		l.look()
	}()
	return h, nil
}

var errOpen = errors.New("starting sessions fails")

// end is what puddle ends a session with; the place is free when it returns.
func (l *lane) end(h *held) {
	if h.why == "" {
		h.why = "closed"
	}
	if h.why == "died" {
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
	l.ended[h.why]++
	l.mu.Unlock()
	l.log("a session was ended", map[string]any{"reason": h.why, "requests": h.requests})
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

// look asks keep to look at the sessions now.
func (l *lane) look() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// keep throws idle sessions away that are dead or too old, and starts missing
// ones, until the pool closes.
func (l *lane) keep() {
	defer close(l.kept)
	ticker := time.NewTicker(l.pool.cfg.Sweep)
	defer ticker.Stop()
	for {
		l.sweep()
		l.fill()
		select {
		case <-l.pool.starting.Done():
			return
		case <-ticker.C:
		case <-l.wake:
		}
	}
}

func (l *lane) sweep() {
	defer l.notify()
	// Idle sessions are taken out for the look, and who asks meanwhile starts
	// another one: not without need.
	if !l.anyUnfit() {
		return
	}
	for _, res := range l.sessions.AcquireAllIdle() {
		if l.fit(res.Value()) {
			res.ReleaseUnused()
			continue
		}
		res.Destroy()
	}
}

func (l *lane) anyUnfit() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.live {
		if l.unfit(h) != "" {
			return true
		}
	}
	return false
}

// fill starts sessions until as many are there as are kept warm.
func (l *lane) fill() {
	for int(l.sessions.Stat().TotalResources()) < l.cfg.Warm {
		if l.sessions.CreateResource(l.pool.starting) != nil {
			return
		}
		l.notify()
	}
}

// close ends the lane; requests that run are let end.
func (l *lane) close() {
	<-l.kept
	l.sessions.Close()
}

// killAll ends every session there is, those that are being closed too.
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

func (l *lane) stats() Stats {
	stat := l.sessions.Stat()
	s := Stats{
		Size:     l.cfg.Size,
		Starting: int(stat.ConstructingResources()),
		Idle:     int(stat.IdleResources()),
		Busy:     int(stat.AcquiredResources()),
		Waiting:  int(max(l.inside.Load()-l.running.Load(), 0)),

		Requests:   l.requests.Load(),
		Waited:     time.Duration(l.waited.Load()),
		Overloaded: l.overloaded.Load(),
		Retries:    l.retries.Load(),
		Started:    l.started.Load(),
		Failed:     l.failed.Load(),
		Ended:      map[string]int64{},
	}
	l.mu.Lock()
	for why, n := range l.ended {
		s.Ended[why] = n
	}
	l.mu.Unlock()
	if reason, next := l.circuit.state(); reason != nil {
		s.Reason, s.Next = reason.Error(), next
	}
	return s
}

func (l *lane) log(message string, fields map[string]any) {
	fields["lane"] = string(l.name)
	l.pool.cfg.Log(message, fields)
}

// The errors of a request that got no session. Nothing has been changed.

func (l *lane) overload(message string) error {
	l.overloaded.Add(1)
	return &ps.Error{Kind: ps.KindOverloaded, Outcome: ps.OutcomeNone, Message: message, RetryAfter: l.pool.cfg.MaxWait}
}

// refused is the error of a request whose wait has ended.
func (l *lane) refused(ctx, waiting context.Context) error {
	switch {
	case ctx.Err() != nil:
		return left(ctx)
	case l.pool.starting.Err() != nil:
		return &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, Message: errClosing.Error(), RetryAfter: l.pool.cfg.MaxWait}
	}
	return l.overload(fmt.Sprintf("%v: waited %s", context.Cause(waiting), l.pool.cfg.MaxWait))
}

// unavailable is the error when there is no session and none can be started.
func (l *lane) unavailable(err error) error {
	e := ps.Error{Kind: ps.KindUnavailable, Message: err.Error()}
	reason, next := l.circuit.state()
	if reason != nil {
		e = *reason
	}
	e.Kind, e.Outcome, e.Steps = ps.KindUnavailable, ps.OutcomeNone, nil
	e.RetryAfter = max(time.Until(next), time.Second)
	return &e
}

func left(ctx context.Context) error {
	return &ps.Error{Kind: ps.KindCancelled, Outcome: ps.OutcomeNone, Message: "the caller left", Cause: context.Cause(ctx)}
}

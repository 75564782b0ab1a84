package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/ps"

	"github.com/jackc/puddle/v2"
)

// acquire waits for a session; a list first waits for its share of the sessions.
func (l *lane) acquire(ctx context.Context, req ps.Request) (*puddle.Resource[*held], error) {
	waiting, cancel := context.WithTimeoutCause(ctx, l.pool.cfg.MaxWait, errWaited)
	defer cancel()
	// During a drain only requests that settle others may wait.
	allowed := l.pool.waiting
	if req.Settles {
		allowed = l.pool.starting
	}
	waiting, stop := context.WithCancelCause(waiting)
	defer stop(nil)
	defer context.AfterFunc(allowed, func() { stop(ps.ErrClosing) })()

	if req.List {
		if err := l.lists.Acquire(waiting, 1); err != nil {
			return nil, l.refused(ctx, waiting)
		}
	}
	res, err := l.take(waiting)
	if err == nil {
		return res, nil
	}
	if req.List {
		l.lists.Release(1)
	}
	if waiting.Err() != nil || errors.Is(err, puddle.ErrClosedPool) {
		return nil, l.refused(ctx, waiting)
	}
	return nil, err
}

var errWaited = errors.New("no session became free in time")

// take returns a live session. While starts fail it waits for the existing
// sessions; if there are none, it returns an error once the circuit is open.
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
		if l.none() && l.circuit.open() {
			return nil, l.unavailable(err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// none reports whether the lane has no live session.
func (l *lane) none() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.live) == 0
}

// idleOrNew takes an idle session, or else queues at puddle for the next free or a
// new one. While a session is being started for it, it takes any other that becomes
// idle first.
func (l *lane) idleOrNew(ctx context.Context) (*puddle.Resource[*held], error) {
	if res := l.idle(); res != nil {
		return res, nil
	}
	a := &attempt{got: make(chan outcome), left: make(chan struct{}), starting: make(chan struct{})}
	acquiring, cancel := context.WithCancel(context.WithValue(context.Background(), attemptKey{}, a))
	a.cancel = cancel
	go l.try(acquiring, a)
	defer a.leave()
	// Until a start begins, puddle hands out idle sessions in order of arrival.
	starting := a.starting
	var changed <-chan struct{}
	for {
		select {
		case o := <-a.got:
			return o.res, o.err
		case <-starting:
			starting = nil
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		changed = l.change()
		if res := l.idle(); res != nil {
			return res, nil
		}
	}
}

// idle takes an idle session; nil if there is none, or others queue for it.
func (l *lane) idle() *puddle.Resource[*held] {
	if l.sessions.Stat().IdleResources() == 0 {
		return nil // otherwise TryAcquire would construct a session
	}
	res, err := l.sessions.TryAcquire(context.WithValue(context.Background(), attemptKey{}, idleOnly))
	if err != nil {
		return nil
	}
	return res
}

// try waits for puddle to hand out a session, or to start one if the pool is not
// full. A start continues if the caller is gone: the next one gets the session.
func (l *lane) try(ctx context.Context, a *attempt) {
	defer a.cancel()
	res, err := l.sessions.Acquire(ctx)
	select {
	case a.got <- outcome{res, err}:
	case <-a.left:
		if err == nil {
			res.ReleaseUnused()
			l.notify()
		}
	}
}

// An attempt is a request that queues at puddle.
type attempt struct {
	got      chan outcome
	left     chan struct{} // closed when the request no longer waits
	starting chan struct{} // closed when a session is being started for it
	cancel   context.CancelFunc

	mu        sync.Mutex
	started   bool // a start has begun
	abandoned bool // the request no longer waits
}

type outcome struct {
	res *puddle.Resource[*held]
	err error
}

type attemptKey struct{}

// idleOnly is an attempt for which no session is started.
var idleOnly = &attempt{abandoned: true}

// start marks that a session is being started for the attempt. It returns false if
// the request no longer waits.
func (a *attempt) start() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.abandoned {
		return false
	}
	a.started = true
	close(a.starting)
	return true
}

// leave ends the wait in the queue. It does not cancel a start.
func (a *attempt) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.abandoned = true
	close(a.left)
	if !a.started {
		a.cancel()
	}
}

// Errors of requests that got no session, and so have changed nothing.

func (l *lane) overload(message string) error {
	l.overloaded.Add(1)
	return &ps.Error{Kind: ps.KindOverloaded, Outcome: ps.OutcomeNone, Message: message, RetryAfter: l.pool.cfg.MaxWait}
}

// refused returns the error of a request whose wait has ended.
func (l *lane) refused(ctx, waiting context.Context) error {
	switch {
	case ctx.Err() != nil:
		return left(ctx)
	case l.pool.waiting.Err() != nil:
		return &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, RetryAfter: l.pool.cfg.MaxWait, Cause: ps.ErrClosing}
	}
	if reason, _ := l.circuit.state(); reason != nil && l.none() {
		return l.unavailable(reason)
	}
	return l.overload(fmt.Sprintf("%v: waited %s", context.Cause(waiting), l.pool.cfg.MaxWait))
}

// unavailable returns the error for a lane without sessions whose starts fail.
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

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

// acquire takes a session, and for a list a place among the lists before.
func (l *lane) acquire(ctx context.Context, req ps.Request) (*puddle.Resource[*held], error) {
	waiting, cancel := context.WithTimeoutCause(ctx, l.pool.cfg.MaxWait, errWaited)
	defer cancel()
	// A pool that is being drained does not let anyone wait.
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

// take returns a session that is alive. While no new one can be started, it
// waits for those there are; without any it gives up when the circuit is open.
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

// none tells whether no session lives.
func (l *lane) none() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.live) == 0
}

// idleOrNew takes an idle session, or waits its turn for the next one, or for
// one that is started for it; but when another one becomes idle before that has
// started, it takes that one.
func (l *lane) idleOrNew(ctx context.Context) (*puddle.Resource[*held], error) {
	if res := l.idle(); res != nil {
		return res, nil
	}
	a := &attempt{got: make(chan outcome), left: make(chan struct{}), starting: make(chan struct{})}
	acquiring, cancel := context.WithCancel(context.WithValue(context.Background(), attemptKey{}, a))
	a.cancel = cancel
	go l.try(acquiring, a)
	defer a.leave()
	// Until a start begins, puddle gives it the next idle one in turn.
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

// idle takes an idle session; nil: there is none, or others were before.
func (l *lane) idle() *puddle.Resource[*held] {
	if l.sessions.Stat().IdleResources() == 0 {
		return nil // without the look, puddle would make one
	}
	res, err := l.sessions.TryAcquire(context.WithValue(context.Background(), attemptKey{}, idleOnly))
	if err != nil {
		return nil
	}
	return res
}

// try is one wait at puddle, which starts a session when there is room for one.
// A start goes on when whoever asked has left: its session is for the next.
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

// An attempt is a request that waits at puddle.
type attempt struct {
	got      chan outcome
	left     chan struct{} // closed when the request does not wait any more
	starting chan struct{} // closed when a session is started for it
	cancel   context.CancelFunc

	mu     sync.Mutex
	begun  bool
	nobody bool
}

type outcome struct {
	res *puddle.Resource[*held]
	err error
}

type attemptKey struct{}

// idleOnly is an attempt for which nothing is started.
var idleOnly = &attempt{nobody: true}

// start notes that a session is started for the attempt; false: nobody waits for it.
func (a *attempt) start() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nobody {
		return false
	}
	a.begun = true
	close(a.starting)
	return true
}

// leave ends the wait for one's turn, but no start.
func (a *attempt) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.nobody = true
	close(a.left)
	if !a.begun {
		a.cancel()
	}
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
	case l.pool.waiting.Err() != nil:
		return &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, RetryAfter: l.pool.cfg.MaxWait, Cause: ps.ErrClosing}
	}
	if reason, _ := l.circuit.state(); reason != nil && l.none() {
		return l.unavailable(reason)
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

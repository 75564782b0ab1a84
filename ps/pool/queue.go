package pool

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/ps"
)

// A waiter is a request in the queue.
type waiter struct {
	list    bool
	settles bool
	place   *list.Element
	got     chan outcome // receives one outcome; the request has then left the queue
}

// outcome is a session that the request now holds, or an error.
type outcome struct {
	session *held
	err     error
}

// acquire returns a session, which the caller then holds, or waits for one.
func (l *lane) acquire(ctx context.Context, req ps.Request) (*held, error) {
	if ctx.Err() != nil {
		return nil, left(ctx)
	}
	l.mu.Lock()
	if h := l.free(req.List); h != nil && !l.closing {
		l.take(h, req.List)
		l.waits.add(0)
		l.mu.Unlock()
		return h, nil
	}
	w, err := l.enter(req)
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	limit := req.Wait
	if limit <= 0 {
		limit = l.pool.cfg.MaxWait
	}
	return l.wait(ctx, w, limit)
}

// free returns the idle session that a request may take at once, or nil. No other request waits for that
// session, because settle leaves no session idle that a waiting request may have. It ends idle sessions that
// have died before [lane.died] was called: when several die together, the retry of a read must not get
// another dead one. The caller holds mu.
func (l *lane) free(list bool) *held {
	if list && l.listPlaces() == 0 {
		return nil
	}
	for len(l.idle) > 0 {
		h := l.idle[len(l.idle)-1]
		if !isDead(h) {
			return h
		}
		l.remove(h)
		l.end(h, endDied)
	}
	return nil
}

// listPlaces returns how many more sessions lists may hold. The caller holds mu.
func (l *lane) listPlaces() int { return max(l.cfg.Size-1, 1) - l.lists }

// take removes an idle session for a request. The caller holds mu.
func (l *lane) take(h *held, list bool) {
	l.remove(h)
	l.running++
	if list {
		l.lists++
	}
}

// enter adds a request to the queue unless it is full. Lists may use only half of the queue, so
// that they do not keep other requests out while they wait for each other. The caller holds mu.
func (l *lane) enter(req ps.Request) (*waiter, error) {
	room := l.pool.cfg.Queue
	switch {
	case l.closing, l.draining && !req.Settles:
		return nil, l.closed()
	case l.running+l.queue.Len() >= l.cfg.Size+room,
		req.List && l.lists+l.waitingLists >= max(l.cfg.Size-1, 1)+(room+1)/2:
		l.waits.add(0)
		return nil, l.overload("too many requests wait for a session")
	}
	w := &waiter{list: req.List, settles: req.Settles, got: make(chan outcome, 1)}
	w.place = l.queue.PushBack(w)
	if w.list {
		l.waitingLists++
	}
	l.settle()
	return w, nil
}

// wait waits until the request gets a session or an error, ctx ends, or the limit
// expires.
func (l *lane) wait(ctx context.Context, w *waiter, limit time.Duration) (*held, error) {
	arrived := time.Now()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var o outcome
	select {
	case o = <-w.got:
	case <-ctx.Done():
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits.add(time.Since(arrived))
	if o == (outcome{}) {
		select {
		case o = <-w.got: // arrived at the same moment
		default:
			l.leave(w)
			if ctx.Err() == nil {
				return nil, l.tooLong(limit)
			}
		}
	}
	if ctx.Err() == nil {
		return o.session, o.err
	}
	if o.session != nil {
		l.putBack(o.session, w.list)
	}
	return nil, left(ctx)
}

// leave removes a request from the queue. The caller holds mu.
func (l *lane) leave(w *waiter) {
	l.queue.Remove(w.place)
	if w.list {
		l.waitingLists--
	}
}

// dispatch gives idle sessions to the requests that have waited longest. The caller
// holds mu.
func (l *lane) dispatch() {
	for at := l.queue.Front(); at != nil && len(l.idle) > 0; {
		w := at.Value.(*waiter)
		at = at.Next()
		if h := l.free(w.list); h != nil {
			l.leave(w)
			l.take(h, w.list)
			w.got <- outcome{session: h}
		}
	}
}

// refuseAll removes the requests for which why returns an error from the queue. The caller holds mu.
func (l *lane) refuseAll(why func(*waiter) error) {
	for at := l.queue.Front(); at != nil; {
		w := at.Value.(*waiter)
		at = at.Next()
		if err := why(w); err != nil {
			l.leave(w)
			w.got <- outcome{err: err}
		}
	}
}

// wanted returns how many more sessions the waiting requests could use now. The caller holds mu.
func (l *lane) wanted() int {
	return l.queue.Len() - l.waitingLists + min(l.waitingLists, l.listPlaces())
}

// The following functions return errors of requests that got no session and so have changed
// nothing. Except for left, the caller holds mu.

func (l *lane) overload(message string) error {
	l.overloaded++
	return &ps.Error{Kind: ps.KindOverloaded, Outcome: ps.OutcomeNone, Message: message,
		RetryAfter: l.pool.cfg.MaxWait}
}

func (l *lane) closed() error {
	return &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, RetryAfter: l.pool.cfg.MaxWait,
		Cause: ps.ErrClosing}
}

// tooLong returns the error of a request that has waited for its limit.
func (l *lane) tooLong(limit time.Duration) error {
	switch {
	case len(l.live) == 0 && l.circuit.reason != nil:
		return l.unavailable()
	case l.started == 0:
		return &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, RetryAfter: l.pool.cfg.MaxWait,
			Message: fmt.Sprintf("waited %s", limit), Cause: ps.ErrStarting}
	}
	return l.overload(fmt.Sprintf("no session became free in time: waited %s", limit))
}

// unavailable returns the error for a lane without sessions in which starts fail.
func (l *lane) unavailable() error {
	e := ps.Error{}
	if l.circuit.reason != nil {
		e = *l.circuit.reason
	}
	e.Kind, e.Outcome, e.Steps = ps.KindUnavailable, ps.OutcomeNone, nil
	e.RetryAfter = max(time.Until(l.circuit.until), time.Second)
	return &e
}

func left(ctx context.Context) error {
	return &ps.Error{Kind: ps.KindCancelled, Outcome: ps.OutcomeNone, Message: "the caller left",
		Cause: context.Cause(ctx)}
}

// startingNow returns the reason why the lane has never had a session; see [Pool.Starting].
func (l *lane) startingNow() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.started > 0:
		return nil
	case l.circuit.reason != nil:
		return errors.New(l.circuit.reason.Error())
	}
	return ps.ErrStarting
}

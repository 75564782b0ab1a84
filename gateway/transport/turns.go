package transport

import (
	"context"
	"sync"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// turns lets each caller have only one list at a time received, read and checked, because that
// takes many times the memory of its body. It is safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	callers map[identity.ID]*turn
}

// turn is the turn for the lists of one caller.
type turn struct {
	free  chan struct{} // holds an element while nobody has the turn
	asked int           // number of requests that have the turn or wait for it
}

func newTurns() *turns { return &turns{callers: map[identity.ID]*turn{}} }

// take waits for a caller's turn until ctx is done. has reports whether it got the turn.
func (t *turns) take(ctx context.Context, by identity.ID) (end func(), has bool) {
	t.mu.Lock()
	own := t.callers[by]
	if own == nil {
		own = &turn{free: make(chan struct{}, 1)}
		own.free <- struct{}{}
		t.callers[by] = own
	}
	own.asked++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.asked--; own.asked == 0 {
			delete(t.callers, by)
		}
	}
	select {
	case <-own.free:
		return func() { own.free <- struct{}{}; leave() }, true
	case <-ctx.Done():
		leave()
		return nil, false
	}
}

// mostTurn is the longest wait of a list for earlier lists of the same caller.
const mostTurn = 30 * time.Second

// awaitTurn waits for the turn of a list. The turn ends with the request.
func (s *Server) awaitTurn(x *exchange) error {
	ctx, cancel := context.WithTimeout(x.c.Request.Context(), mostTurn)
	defer cancel()
	end, has := s.turns.take(ctx, x.principal.Identity())
	if !has {
		failed := problem.New(schema.RateLimited, "Other lists of this credential are being read, one at a time. "+
			"Send this one when they have been answered.")
		failed.RetryAfter, failed.Reason = bodyRetry, problem.ReasonRate
		return failed
	}
	x.turn = end
	// The time for reading the body starts now, after the wait. Writers without deadlines, as in
	// tests, need none.
	_ = x.control.SetReadDeadline(time.Now().Add(s.Connections.BodyTimeout))
	return nil
}

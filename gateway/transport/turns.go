package transport

import (
	"context"
	"net/http"
	"sync"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// turns lets each caller have one list at a time received, read and checked, because that takes
// many times the memory of its body. It is safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	callers map[identity.ID]*turn
}

// turn is for the lists of one caller.
type turn struct {
	free  chan struct{} // has an element while nobody has the turn
	asked int           // number of requests that have it or wait for it
}

func newTurns() *turns { return &turns{callers: map[identity.ID]*turn{}} }

// take waits for the turn of a caller until ctx is done, and reports whether it has it.
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

// mostTurn is how long a list waits for earlier lists of the same caller.
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
	// The time to read the body starts now, after the wait. Writers without deadlines, as in tests,
	// need none.
	_ = http.NewResponseController(x.c.Writer).SetReadDeadline(time.Now().Add(s.Connections.BodyTimeout))
	return nil
}

// endTurn lets the next list of the caller be read.
func (x *exchange) endTurn() {
	if x.turn != nil {
		x.turn()
		x.turn = nil
	}
}

package gateway

import (
	"errors"
	"time"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
)

// takeStream gives the request one of the places for streams of events, until it is freed.
func (s *Server) takeStream(r *request) (free func(), err error) {
	by, share := r.principal.Identity(), max(s.streams.Most()/4, 1)
	err = s.streams.Take(by, 1, share)
	refuse := func(format string, args ...any) error {
		refusal := problem.New(schema.RateLimited, format, args...)
		refusal.RetryAfter, refusal.Reason = streamRetry, problem.ReasonRate
		return refusal
	}
	switch {
	case errors.Is(err, transport.ErrShareSpent):
		return nil, refuse("The %s has %d streams of events open, which is its share of the %d that the gateway serves at once (events.sse). Close one of them.", r.principal, share, s.streams.Most())
	case err != nil:
		return nil, refuse("%d streams of events are open, which is as many as the gateway serves at once (events.sse). Try again later, or poll.", s.streams.Most())
	}
	s.meters.streams.Inc()
	return func() {
		s.meters.streams.Dec()
		s.streams.Free(by, 1)
	}, nil
}

// streamRetry is when a place for a stream may be free.
const streamRetry = 15 * time.Second

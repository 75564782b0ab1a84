package call

import (
	"errors"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Streams are the places for streams of events. They are safe for concurrent use.
type Streams struct {
	places *identity.Budget
}

// NewStreams returns as many places, of which one caller gets a quarter.
func NewStreams(most int) *Streams { return &Streams{identity.NewBudget(int64(most))} }

// Open returns how many streams are open.
func (s *Streams) Open() int { return int(s.places.Held()) }

// Take gives a caller one of the places, until it is freed.
func (s *Streams) Take(p *identity.Principal) (free func(), err error) {
	by, share := p.Identity(), max(s.places.Most()/4, 1)
	refuse := func(format string, args ...any) error {
		refusal := problem.New(schema.RateLimited, format, args...)
		refusal.RetryAfter, refusal.Reason = streamRetry, problem.ReasonRate
		return refusal
	}
	err = s.places.Take(by, 1, share)
	switch {
	case errors.Is(err, identity.ErrShareSpent):
		return nil, refuse("The %s has %d streams of events open, which is its share of the %d that the gateway "+
			"serves at once (events.sse). Close one of them.", p, share, s.places.Most())
	case err != nil:
		return nil, refuse("%d streams of events are open, which is as many as the gateway serves at once "+
			"(events.sse). Try again later, or poll.", s.places.Most())
	}
	return func() { s.places.Free(by, 1) }, nil
}

// streamRetry is when a place for a stream may be free.
const streamRetry = 15 * time.Second

package call

import (
	"errors"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Streams limits the number of open event streams. It is safe for concurrent use.
type Streams struct {
	places *identity.Budget
}

// NewStreams returns a Streams with the limit most. One caller gets at most a quarter of it.
func NewStreams(most int) *Streams { return &Streams{identity.NewBudget(int64(most))} }

// Open returns the number of open streams.
func (s *Streams) Open() int { return int(s.places.Held()) }

// take reserves a place for a caller. The caller of take must call free to release it.
func (s *Streams) take(p *identity.Principal) (free func(), err error) {
	by, share := p.Identity(), max(s.places.Most()/4, 1)
	refuse := func(format string, args ...any) error {
		refusal := problem.New(schema.RateLimited, format, args...)
		refusal.RetryAfter, refusal.Reason = streamRetry, problem.ReasonRate
		return refusal
	}
	err = s.places.Take(by, 1, share)
	switch {
	case errors.Is(err, identity.ErrShareSpent):
		return nil, refuse("The %s has %d event streams open, which is its share of the %d that the gateway "+
			"serves at the same time (events.sse). Close one of them.", p, share, s.places.Most())
	case err != nil:
		return nil, refuse("%d event streams are open, which is the maximum of the gateway (events.sse). Try "+
			"again later, or poll.", s.places.Most())
	}
	return func() { s.places.Free(by, 1) }, nil
}

// Run runs send as the stream of a call, from the beginning of the answer to its end. If it returns an error,
// it has sent nothing.
func (s *Streams) Run(a Accepted, to Events, send func() error) error {
	free, err := s.take(a.Principal)
	if err != nil {
		return err
	}
	defer free()
	a.Leave() // otherwise the stream would block a caller with a low concurrency limit
	if err = to.Begin(); err == nil {
		err = send()
	}
	to.End(err)
	return nil
}

// streamRetry is the suggested time until a retry when all places for streams are taken.
const streamRetry = 15 * time.Second

// Event is one event of a stream. Neither ID nor Name may contain line breaks.
type Event struct {
	ID   string // the client repeats it as Last-Event-ID; empty to keep the previous one
	Name string
	Data []byte // lines of UTF-8
}

// Events sends the events of a stream to the caller. Only one goroutine at a time uses it.
type Events interface {
	// Begin starts the answer. After that no other answer is possible. It fails if the client's connection
	// fails.
	Begin() error
	// Principal returns the caller with its rights as of the last check. After Check, Send and Wait,
	// that check is at most a second old.
	Principal() *identity.Principal
	// Check returns the reason why the stream must end, or nil if it continues.
	Check() error
	// Send sends an event, or keeps it until the next call of Comment, Wait or End. If the stream must end, it
	// returns the reason instead.
	Send(e Event) error
	// Mark records that the client has everything up to an id, although no event carries that id. Until the next
	// event with an id, each comment carries the result of another call of id, so comments do not reveal whether
	// the mark has moved.
	Mark(id func() string)
	// Comment sends a line that clients ignore.
	Comment(text string) error
	// Wait waits until changed receives or is closed, and keeps the connection alive meanwhile. If the
	// stream must end, it returns the reason instead.
	Wait(changed <-chan struct{}) error
	// End ends the answer. A nil error means that it is complete. The client sees the text of an [EndOfEvents].
	// Of any other error the client learns only that one occurred.
	End(why error)
}

// An EndOfEvents is the reason for ending a stream of events, in words that its client may read.
type EndOfEvents string

func (e EndOfEvents) Error() string { return string(e) }

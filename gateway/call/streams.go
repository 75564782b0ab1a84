package call

import (
	"errors"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Streams limits the open streams of events. It is safe for concurrent use.
type Streams struct {
	places *identity.Budget
}

// NewStreams returns most places, of which one caller gets at most a quarter.
func NewStreams(most int) *Streams { return &Streams{identity.NewBudget(int64(most))} }

// Open returns how many streams are open.
func (s *Streams) Open() int { return int(s.places.Held()) }

// Take gives a caller a place, until free is called.
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

// Event is one event of a stream. Neither ID nor Name may contain line breaks.
type Event struct {
	ID   string // repeated by the client as Last-Event-ID; empty: it keeps the former one
	Name string
	Data []byte // lines of UTF-8
}

// Events sends the events of a stream to the caller. Only one goroutine at a time uses it.
type Events interface {
	// Begin begins the answer. After that no other answer is possible. It fails if the client does.
	Begin() error
	// Principal returns the caller with the rights of the last check, which is at most a second old
	// after Check, Send and Wait.
	Principal() *identity.Principal
	// Check returns why the stream must end; nil: it continues.
	Check() error
	// Send sends an event, unless the stream must end; the error then says why.
	Send(e Event) error
	// Mark notes that the client has everything up to an id, although no event has it. Comments
	// then carry an id, a different one each time, until an event with an id comes. So comments do
	// not reveal whether the mark has moved.
	Mark(id func() string)
	// Comment sends a line that clients ignore.
	Comment(text string) error
	// Wait waits until changed receives or is closed, and keeps the connection alive meanwhile. The
	// error says why the stream must end instead.
	Wait(changed <-chan struct{}) error
	// End ends the answer; nil: it is complete. The client sees the text of an [EndOfEvents]. Of
	// other errors it learns only that there was one, unless it has left.
	End(why error)
}

// An EndOfEvents is why a stream of events ends, in words that its client may read.
type EndOfEvents string

func (e EndOfEvents) Error() string { return string(e) }

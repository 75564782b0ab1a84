package call

import "adgateway/gateway/identity"

// Event is one event of a stream. Neither ID nor Name may contain line breaks.
type Event struct {
	ID   string // what the client repeats as Last-Event-ID; empty: it keeps the one before
	Name string
	Data []byte // lines of UTF-8
}

// Events take the events of a stream to who has asked for it. One goroutine uses them at a time.
type Events interface {
	// Begin begins the answer, after which no other one can be given any more. Its error is that of
	// the client.
	Begin() error
	// Principal returns the caller with the rights that it had when it was last looked at, which is
	// at most a second ago after Check, Send and Wait.
	Principal() *identity.Principal
	// Check returns why the stream must end; nil: it goes on.
	Check() error
	// Send sends an event, unless the stream must end; then the error says why.
	Send(e Event) error
	// Mark notes that the client has everything up to an id, although there was no event with it. It
	// is told so within a while.
	Mark(id string)
	// Comment sends a line that clients ignore.
	Comment(text string) error
	// Wait waits until there is something to read from changed, or it is closed, and keeps the
	// connection alive meanwhile. The error says why the stream must end instead.
	Wait(changed <-chan struct{}) error
	// End ends the answer; nil: it is complete. The client is told an [EndOfEvents], and of other
	// errors only that there is one, unless it has left itself.
	End(why error)
}

// An EndOfEvents is why a stream of events ends, in words that its client may read.
type EndOfEvents string

func (e EndOfEvents) Error() string { return string(e) }

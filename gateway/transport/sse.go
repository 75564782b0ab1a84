package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Some answers are streams of server-sent events (WHATWG HTML, section 9.2): changes as they are made, and
// the progress of a job. Each stream runs in the goroutine of its request and reads its events at its own
// pace. So a client that does not read does not delay others, and is cut off after [Connections.SendTimeout].

// eventStream is such a stream. It implements [call.Events].
type eventStream struct {
	x *exchange
	// returns an id to send to the client before the next event; nil if the client has it
	reached   func() string
	sentAt    time.Time
	checkedAt time.Time    // when the credential was last known to be valid
	text      []byte       // events that are to be sent together
	tick      *time.Ticker // nil until the stream waits
}

const (
	// keepAlive is the silence after which a comment is sent, because proxies often close silent
	// connections after 30 s.
	keepAlive = 15 * time.Second
	// recheckEvents is the interval between checks of a stream's credential.
	recheckEvents = time.Second
	// reconnectAfter is how long clients are told to wait after a stream has ended.
	reconnectAfter = 5 * time.Second
)

// Reasons for ending a stream before its client leaves.
const (
	errStopping = call.EndOfEvents("the gateway stops")
	errNotValid = call.EndOfEvents("the credential is no longer valid")
	errNotKnown = call.EndOfEvents("it cannot be determined now whether the credential is still valid")
	errNoRight  = call.EndOfEvents("the credential no longer has the right to this")
)

var errSlowEvent = errors.New("the client does not read")

// Begin implements [call.Events]. Errors must be sent before it, because the status is fixed
// afterwards.
func (e *eventStream) Begin() error {
	header := e.x.c.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // otherwise nginx buffers answers
	e.x.c.Status(http.StatusOK)
	e.x.answeredAt = time.Now()
	e.text = fmt.Appendf(e.text, "retry: %d\n\n", reconnectAfter.Milliseconds())
	return e.flush()
}

// Principal implements [call.Events].
func (e *eventStream) Principal() *identity.Principal { return e.x.principal }

// Send implements [call.Events].
func (e *eventStream) Send(event call.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	text := e.text
	if event.ID != "" {
		text = append(append(append(text, "id: "...), event.ID...), '\n')
		e.reached = nil
	}
	text = append(append(append(text, "event: "...), event.Name...), '\n')
	data := event.Data
	if bytes.IndexByte(data, '\r') >= 0 { // clients would interpret a CR as the end of a line
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		text = append(append(append(text, "data: "...), line...), '\n')
	}
	e.text = append(text, '\n')
	e.x.answer.Count++
	if len(e.text) < call.Piece {
		return nil
	}
	return e.flush()
}

// Mark implements [call.Events]. Without it, a client that gets no event for a long time would
// reconnect with an id that is too old.
func (e *eventStream) Mark(id func() string) { e.reached = id }

// Comment implements [call.Events].
func (e *eventStream) Comment(text string) error {
	e.text = append(append(append(e.text, ": "...), text...), '\n')
	if e.reached != nil {
		e.text = append(append(append(e.text, "id: "...), e.reached()...), '\n')
	}
	e.text = append(e.text, '\n')
	return e.flush()
}

// flush sends what is not yet sent. Events that are sent together share one system call and one time
// limit.
func (e *eventStream) flush() error {
	if len(e.text) == 0 {
		return nil
	}
	defer e.x.unlimitSend()
	err := e.x.write(e.text)
	if err == nil {
		err = e.x.control.Flush()
	}
	if err != nil {
		return errors.Join(errSlowEvent, err)
	}
	if e.text = e.text[:0]; cap(e.text) > call.Piece {
		e.text = nil // long events are rare
	}
	e.sentAt = time.Now()
	return nil
}

// Wait implements [call.Events].
func (e *eventStream) Wait(changed <-chan struct{}) error {
	x := e.x
	if err := e.flush(); err != nil {
		return err
	}
	if e.tick == nil {
		e.tick = time.NewTicker(min(recheckEvents, x.server.KeepAlive))
	}
	for {
		select {
		case <-changed:
			return nil
		case <-x.c.Request.Context().Done():
			return context.Cause(x.c.Request.Context())
		case <-x.server.stopping.Done():
			return errStopping
		case <-e.tick.C:
		}
		err := e.Check()
		if err == nil && time.Since(e.sentAt) >= x.server.KeepAlive {
			err = e.Comment("nothing new")
		}
		if err != nil {
			return err
		}
	}
}

// Check implements [call.Events]. It uses the credential's current rights.
func (e *eventStream) Check() error {
	x := e.x
	switch {
	case x.c.Request.Context().Err() != nil:
		return context.Cause(x.c.Request.Context())
	case x.server.stopping.Err() != nil:
		return errStopping
	case time.Since(e.checkedAt) < recheckEvents:
		return nil
	}
	principal, failed := x.again()
	if failed != nil {
		if code := problem.Of(failed).Code; code == schema.Unauthenticated || code == schema.RateLimited {
			return errNotValid
		}
		return errNotKnown
	}
	if failed = call.AuthorizeRow(principal, x.op); failed != nil {
		return errNoRight
	}
	x.principal, e.checkedAt = principal, time.Now()
	return nil
}

// End implements [call.Events]. It sends the reason as a comment, which helps people who read the
// stream.
func (e *eventStream) End(why error) {
	if e.tick != nil {
		e.tick.Stop()
	}
	text := "the gateway cannot go on; its log says why"
	var told call.EndOfEvents
	switch {
	case why == nil:
		_ = e.flush() // the stream ends either way
		return
	case errors.Is(why, errSlowEvent) || e.x.c.Request.Context().Err() != nil:
		return
	case errors.As(why, &told):
		text = told.Error()
	default:
		e.x.server.Log.WithError(why).WithField("request_id", e.x.id).Error("a stream of events ended")
	}
	_ = e.Comment(text)
}

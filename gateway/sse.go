package gateway

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
)

// Answers that are streams of server-sent events (WHATWG HTML, section 9.2): of the
// changes as they are made, and of the progress of a job. Each has the goroutine of its
// request, which reads at its own pace, so that a client that does not read holds up
// nobody else, and is cut off after [Connections.SendTimeout].

// serverEvent is one event of such an answer. Neither id nor name may contain line breaks.
type serverEvent struct {
	id   string // what the client repeats as Last-Event-ID; empty: it keeps the one before
	name string
	data []byte // lines of UTF-8
}

// eventStream is such an answer. One goroutine uses it.
type eventStream struct {
	r         *request
	reached   string // the id that the client has, or should have by the next event
	told      string // the id that the client has
	sentAt    time.Time
	checkedAt time.Time // when the credential was last known to be valid
}

const (
	// keepAlive is how long nothing is sent before a comment is: proxies close
	// connections on which nothing moves, often after 30 s.
	keepAlive = 15 * time.Second
	// recheckEvents is how often the credential of a stream is looked at again.
	recheckEvents = time.Second
	// reconnectAfter is what clients are told to wait with when a stream has ended.
	reconnectAfter = 5 * time.Second
)

// Why a stream ends before its client leaves.
var (
	errStopping  = errors.New("the gateway stops")
	errNotValid  = errors.New("the credential is no longer valid")
	errNoRight   = errors.New("the credential no longer has the right to this")
	errSlowEvent = errors.New("the client does not read")
)

// takeStream gives the request one of the places for streams of events, until it is freed.
func (s *Server) takeStream(r *request) (free func(), err error) {
	by, share := callerOf(r.principal), max(s.streams.Most()/4, 1)
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

// startEvents begins the answer. It does not count as a request that runs any more: a
// credential with few of these would have none left for its other calls. Errors are refused before: after it there is no other
// status. The error is that of the client.
func (r *request) startEvents() (*eventStream, error) {
	header := r.c.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx holds answers back unless told
	r.c.Status(http.StatusOK)
	r.answeredAt = time.Now()
	r.leave()
	e := &eventStream{r: r, checkedAt: r.startedAt}
	return e, e.write([]byte("retry: " + strconv.FormatInt(reconnectAfter.Milliseconds(), 10) + "\n\n"))
}

// send sends an event, unless the stream must end; then the error says why.
func (e *eventStream) send(event serverEvent) error {
	if err := e.proceed(); err != nil {
		return err
	}
	var b bytes.Buffer
	if event.id != "" {
		b.WriteString("id: " + event.id + "\n")
		e.reached, e.told = event.id, event.id
	}
	b.WriteString("event: " + event.name + "\n")
	for line := range strings.SplitSeq(newLines.Replace(string(event.data)), "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteByte('\n')
	return e.write(b.Bytes())
}

var newLines = strings.NewReplacer("\r\n", "\n", "\r", "\n") // clients take all of them for ends of lines

// mark notes that the client has everything up to an id, although there was no event with
// it. It is told so within a while: else a client of which nothing is wanted for long would
// come back with an id that is too old.
func (e *eventStream) mark(id string) { e.reached = id }

// comment sends a line that clients ignore.
func (e *eventStream) comment(text string) error {
	text = ": " + text + "\n"
	if e.reached != e.told {
		text += "id: " + e.reached + "\n"
		e.told = e.reached
	}
	return e.write([]byte(text + "\n"))
}

// write sends what is whole by itself, at once.
func (e *eventStream) write(text []byte) error {
	defer e.r.unlimitSend()
	err := e.r.write(text)
	if err == nil {
		e.r.limitSend()
		err = http.NewResponseController(e.r.c.Writer).Flush()
	}
	if err != nil {
		return errors.Join(errSlowEvent, err)
	}
	e.sentAt = time.Now()
	return nil
}

// wait waits until there is something to read from changed, or it is closed, and keeps the
// connection alive meanwhile. The error says why the stream must end instead.
func (e *eventStream) wait(changed <-chan struct{}) error {
	r := e.r
	tick := time.NewTicker(min(recheckEvents, r.gateway.keepAlive))
	defer tick.Stop()
	for {
		select {
		case <-changed:
			return nil
		case <-r.c.Request.Context().Done():
			return context.Cause(r.c.Request.Context())
		case <-r.gateway.stopping.Done():
			return errStopping
		case <-tick.C:
		}
		err := e.proceed()
		if err == nil && time.Since(e.sentAt) >= r.gateway.keepAlive {
			err = e.comment("nothing new")
		}
		if err != nil {
			return err
		}
	}
}

// proceed reports why the stream must end, if it must. It takes up what the credential
// may do by now.
func (e *eventStream) proceed() error {
	r := e.r
	switch {
	case r.c.Request.Context().Err() != nil:
		return context.Cause(r.c.Request.Context())
	case r.gateway.stopping.Err() != nil:
		return errStopping
	case time.Since(e.checkedAt) < recheckEvents:
		return nil
	}
	principal, failed := r.gateway.authenticate(r.c.Request)
	if failed != nil {
		return errNotValid
	}
	if failed = authoriseRow(principal, r.op); failed != nil {
		return errNoRight
	}
	r.principal, e.checkedAt = principal, time.Now()
	return nil
}

// end ends the answer, with a comment that says why, for people who look at it.
func (e *eventStream) end(why error) {
	text := "the gateway cannot go on; its log says why"
	switch {
	case why == nil || errors.Is(why, errSlowEvent) || e.r.c.Request.Context().Err() != nil:
		return
	case errors.Is(why, errStopping), errors.Is(why, errRunsElsewhere), errors.Is(why, errNotValid), errors.Is(why, errNoRight):
		text = why.Error()
	default:
		e.r.gateway.Log.WithError(why).WithField("request_id", e.r.id).Error("a stream of events ended")
	}
	_ = e.comment(text) // it ends either way
}

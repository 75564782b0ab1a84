package frame

import (
	"bytes"
	"net/http"
	"strings"
	"time"
)

const eventStream = "text/event-stream"

// Events sends parts of a page to the open page as server-sent events. It is not safe for concurrent use.
type Events struct {
	c    *Visit
	last string
}

// NewEvents starts an event stream. A browser reconnects one second after the stream has ended.
func NewEvents(c *Visit) *Events {
	c.W.Header().Set("Content-Type", eventStream)
	c.W.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers the events
	e := &Events{c: c}
	c.W.WriteHeader(http.StatusOK)
	e.write("retry: 1000\n\n")
	return e
}

// Send renders a part of a page and sends it as an event, unless nothing has changed since the last one. It
// reports whether the browser may still be connected.
func (e *Events) Send(name, page, part string, body any) bool {
	var html bytes.Buffer
	if err := e.c.LookOf(e.c.R).template(page).ExecuteTemplate(&html, part, body); err != nil {
		panic(err) // the server recovers, logs it and ends the response
	}
	said := "event: " + name + "\ndata: " + strings.ReplaceAll(html.String(), "\n", "\ndata: ") + "\n\n"
	if said == e.last {
		said = ": nothing new\n\n" // a comment, because only writing shows whether the browser has disconnected
	} else {
		e.last = said
	}
	return e.write(said)
}

// eventWait is the time that a browser has to read an event.
const eventWait = 10 * time.Second

// Alive reports whether the browser may still be connected.
func (e *Events) Alive() bool { return e.write(": nothing new\n\n") }

func (e *Events) write(text string) bool {
	out := http.NewResponseController(e.c.W)
	_ = out.SetWriteDeadline(time.Now().Add(eventWait)) // fails if the connection has no deadlines
	if _, err := e.c.W.Write([]byte(text)); err != nil {
		return false
	}
	return out.Flush() == nil
}

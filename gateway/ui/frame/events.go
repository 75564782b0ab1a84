package frame

import (
	"bytes"
	"net/http"
	"strings"
	"time"
)

const eventStream = "text/event-stream"

// Events send parts of a page to the page that is open, as server-sent events. They are for one goroutine.
type Events struct {
	c    *Visit
	last string
}

// NewEvents begins such an answer. A browser whose answer has ended asks again after a second.
func NewEvents(c *Visit) *Events {
	c.W.Header().Set("Content-Type", eventStream)
	c.W.Header().Set("X-Accel-Buffering", "no") // nginx holds answers back unless told
	e := &Events{c: c}
	c.W.WriteHeader(http.StatusOK)
	e.write("retry: 1000\n\n")
	return e
}

// Send sends a template of a page as an event, unless it is as it was sent last. It reports whether the
// browser may still be there.
func (e *Events) Send(name, page, part string, body any) bool {
	var html bytes.Buffer
	if err := e.c.LookOf(e.c.R).template(page).ExecuteTemplate(&html, part, body); err != nil {
		panic(err) // the server recovers, logs it and ends the answer
	}
	said := "event: " + name + "\ndata: " + strings.ReplaceAll(html.String(), "\n", "\ndata: ") + "\n\n"
	if said == e.last {
		said = ": nothing new\n\n" // by which a browser that has left is noticed
	} else {
		e.last = said
	}
	return e.write(said)
}

// eventWait is how long a browser may take to read an event.
const eventWait = 10 * time.Second

// Alive reports whether the browser may still be there.
func (e *Events) Alive() bool { return e.write(": nothing new\n\n") }

func (e *Events) write(text string) bool {
	out := http.NewResponseController(e.c.W)
	_ = out.SetWriteDeadline(time.Now().Add(eventWait)) // if the connection has deadlines
	if _, err := e.c.W.Write([]byte(text)); err != nil {
		return false
	}
	return out.Flush() == nil
}

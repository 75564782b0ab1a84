package hop

import (
	"errors"
	"net/http"
	"time"
)

// Do sends a request of this gateway to the gateway that leads, by the rules of a forwarded call,
// and returns its answer, whose body must be closed. The host of its URL does not count. If it has
// a body, it also has GetBody, with which it is sent again when nothing has begun. The leader may
// take the limit until its answer begins; then there is none. Do fails with [ErrHere] if this
// gateway leads, and with [ErrNoLeader] if nothing was begun. After any other error the outcome of
// the request is not known.
func (f *Forwarder) Do(r *http.Request, limit time.Duration) (*http.Response, error) {
	out := r.WithContext(r.Context())
	out.GetBody = nil // the transport must not send anything twice
	p := &passage{forwarder: f, request: r, limit: limit, again: r.GetBody}
	res, err := p.RoundTrip(out)
	switch {
	case err == nil:
		f.options.Observe(r, Forwarded, p.asked.name)
	case errors.Is(err, ErrNoLeader):
		f.options.Observe(r, NotLeader, p.asked.name)
	case !errors.Is(err, ErrHere):
		f.options.Observe(r, Unknown, p.asked.name)
	}
	return res, err
}

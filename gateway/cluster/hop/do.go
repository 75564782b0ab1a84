package hop

import (
	"errors"
	"net/http"
	"time"
)

// Do sends a request of this gateway to the leading gateway, by the rules for forwarded calls, and
// returns the answer. The caller must close its body. The host of the request's URL is ignored. A
// request with a body must also have GetBody, which is used to send it again if nothing has begun.
// limit is the time that the leader may take until its answer begins; after that there is no limit.
// Do fails with [ErrHere] if this gateway leads, and with [ErrNoLeader] if nothing was begun. After
// any other error the outcome of the request is unknown.
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

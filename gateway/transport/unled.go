package transport

import (
	"context"
	"net/http"
	"strconv"

	"adgateway/gateway/problem"
	"adgateway/ps"
)

type unledKey struct{}

// unled is what becomes here of a call that the gateway that leads has not answered.
type unled struct{ refusal error }

// Unled returns the request of a call that runs at the gateway that leads, and that this one has
// not answered. The refusal is the answer; nil: the call is answered from what is known here, which
// may lack the last changes.
func Unled(r *http.Request, refusal error) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), unledKey{}, unled{refusal}))
}

// unledOf returns the refusal of a call of [Unled], or reports that it is answered although what is
// known here may lack the last changes.
func unledOf(r *http.Request) (behind bool, refusal error) {
	lost, is := r.Context().Value(unledKey{}).(unled)
	return is && lost.refusal == nil, lost.refusal
}

// refusePage tells a browser that there is no page without a leader. It asks for a page again,
// and never sends a form again.
func (x *exchange) refusePage(err error) {
	x.err = err
	f := problem.Of(err)
	wait := strconv.Itoa(int(f.RetryAfter.Seconds()))
	text := "No gateway of the cluster leads at the moment, and nothing was changed. " +
		"Try again in some seconds.\n"
	if f.Outcome == ps.OutcomeUnknown {
		text = "The gateway that leads did not answer. " +
			"Look whether what you asked for was done before you repeat it.\n"
	} else if x.c.Request.Method == http.MethodGet {
		x.c.Header("Refresh", wait)
	}
	if f.RetryAfter > 0 {
		x.c.Header("Retry-After", wait)
	}
	x.c.Header("Content-Type", "text/plain; charset=utf-8")
	x.c.String(f.Code.Status(), "%s", text)
}

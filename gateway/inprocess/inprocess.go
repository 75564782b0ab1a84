// Package inprocess sends requests of the gateway to itself: those of the pages for people,
// and those of the items of jobs. They pass the same stages as all others.
package inprocess

import (
	"bytes"
	"context"
	"net/http"

	"adgateway/gateway/identity"
)

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

type callerKey struct{}

// As returns a request that a caller makes, whatever credential it carries.
func As(r *http.Request, caller *identity.Principal) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
}

// Caller returns the caller of a request that [As] returned; nil if it is another request.
func Caller(r *http.Request) *identity.Principal {
	p, _ := r.Context().Value(callerKey{}).(*identity.Principal)
	return p
}

// Send sends a request to a handler and returns the whole answer. It does not return before
// the handler does.
func Send(api http.Handler, r *http.Request) Answer {
	taken := &recorder{header: http.Header{}, status: http.StatusOK}
	api.ServeHTTP(taken, r)
	return Answer{taken.status, taken.header, taken.body.Bytes()}
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (t *recorder) Header() http.Header         { return t.header }
func (t *recorder) WriteHeader(status int)      { t.status = status }
func (t *recorder) Write(b []byte) (int, error) { return t.body.Write(b) }
func (t *recorder) Flush()                      {} // for gin

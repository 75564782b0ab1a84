package transport

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/ps"
)

// This file contains the server's part of forwarding calls to another gateway. The handler that
// forwards them is in package forward.

// OperationOf returns the operation of a request, or nil if the request is not for an operation.
func OperationOf(r *http.Request) *ops.Operation {
	if a := arrivalOf(r); a != nil {
		return a.route.op
	}
	return nil
}

// RequestIDHeader is the header with a request's id, which also appears in the log and in the
// audit.
const RequestIDHeader = "X-Request-Id"

// RequestID returns the id that the client gave its request, or a new id if that one is missing or malformed.
func (s *Server) RequestID(r *http.Request) string {
	if s.Hop != nil {
		if _, id, came := s.Hop.From(r.Context()); came && requestID.MatchString(id) {
			return id
		}
	}
	return WellFormedID(r.Header.Get(RequestIDHeader))
}

// WellFormedID returns a request's id, or a new one if it is malformed.
func WellFormedID(id string) string {
	if requestID.MatchString(id) {
		return id
	}
	return uuid.Must(uuid.NewV7()).String()
}

// LimitSends returns a writer that gives the client a fixed time for each piece of an answer, as
// the server itself does. There is no limit between the events of a stream.
func LimitSends(w http.ResponseWriter, each time.Duration) http.ResponseWriter {
	return &limitedWriter{w, each}
}

// limitedWriter is the writer of [LimitSends].
type limitedWriter struct {
	http.ResponseWriter
	most time.Duration
}

func (u *limitedWriter) Write(piece []byte) (int, error) {
	u.limit(time.Now().Add(u.most))
	return u.ResponseWriter.Write(piece)
}

// FlushError is called by [http.ResponseController].
func (u *limitedWriter) FlushError() error {
	u.limit(time.Now().Add(u.most))
	defer u.limit(time.Time{})
	return http.NewResponseController(u.ResponseWriter).Flush()
}

// Unwrap is called by [http.ResponseController].
func (u *limitedWriter) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (u *limitedWriter) limit(deadline time.Time) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(deadline) // may not be supported
}

type unledKey struct{}

// unled marks a call that the leading gateway has not answered.
type unled struct{ refusal error }

// Unled marks a request that the leading gateway should have answered but did not. The call is answered with
// refusal. If refusal is nil, the call is answered from this gateway's own data, which may lack the latest
// changes.
func Unled(r *http.Request, refusal error) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), unledKey{}, unled{refusal}))
}

// unledOf returns the refusal of a request from [Unled]. behind reports whether the answer may lack the
// latest changes.
func unledOf(r *http.Request) (behind bool, refusal error) {
	lost, is := r.Context().Value(unledKey{}).(unled)
	return is && lost.refusal == nil, lost.refusal
}

// refusePage tells a browser that the page needs a leader. The page reloads itself, but never resubmits
// a form.
func (x *exchange) refusePage(err error) {
	x.err = err
	f := problem.Of(err)
	wait := strconv.Itoa(int(f.RetryAfter.Seconds()))
	text := "No gateway of the cluster leads now, and nothing was changed. " +
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

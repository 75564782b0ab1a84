package transport

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/ops"
)

// What a handler between client and server needs that forwards calls to another gateway.

// OperationOf returns the operation that a request is for; nil: for none.
func OperationOf(r *http.Request) *ops.Operation { return routeOf(r).op }

// RequestIDHeader is the header with the id of a request, in the log and the audit, too.
const RequestIDHeader = "X-Request-Id"

// RequestID returns the id that a client has given its request, or another one if that is not well
// formed.
func (s *Server) RequestID(r *http.Request) string {
	if s.Hop != nil {
		if _, id, came := s.Hop.From(r.Context()); came && requestID.MatchString(id) {
			return id
		}
	}
	return WellFormedID(r.Header.Get(RequestIDHeader))
}

// WellFormedID returns an id of a request, or another one if that is not well formed.
func WellFormedID(id string) string {
	if requestID.MatchString(id) {
		return id
	}
	return uuid.Must(uuid.NewV7()).String()
}

// LimitSends returns a writer that gives the client a time for each piece of an answer, as the
// server does itself. Between the events of a stream there is no limit.
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

// FlushError is for [http.ResponseController].
func (u *limitedWriter) FlushError() error {
	u.limit(time.Now().Add(u.most))
	defer u.limit(time.Time{})
	return http.NewResponseController(u.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (u *limitedWriter) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (u *limitedWriter) limit(deadline time.Time) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(deadline) // without one there is no limit
}

package transport

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

const (
	// bodyPiece is the size up to which a body needs no share of the memory, so that
	// ordinary requests are served however much of it others use.
	bodyPiece = 16 << 10
	// bodyRetry is the Retry-After of a request whose body does not fit into the memory.
	bodyRetry = 2 * time.Second
)

// bodies limits the memory of the bodies of all running requests. It is counted as
// the bytes arrive, so that a client that sends slowly holds only what it has sent.
// One caller gets at most a quarter.
type bodies struct {
	*identity.Budget
	parsing chan struct{} // one element per large body that is being parsed
}

// atOnce is how many large bodies are parsed at a time, which takes several times
// their size, but only some milliseconds.
const atOnce = 4

func newBodies(most int64) *bodies {
	return &bodies{Budget: identity.NewBudget(most), parsing: make(chan struct{}, atOnce)}
}

// parse waits until a body that holds so much memory may be parsed. The caller calls
// done.
func (b *bodies) parse(held int64) (done func()) {
	if held == 0 {
		return func() {}
	}
	b.parsing <- struct{}{}
	return func() { <-b.parsing }
}

// reserve takes memory for a body.
func (b *bodies) reserve(by identity.ID, n, share int64) error {
	var failed *problem.Error
	switch b.Take(by, n, share) {
	case nil:
		return nil
	case identity.ErrShareSpent:
		failed = problem.New(schema.RateLimited, "The bodies of this credential's running requests take all the memory that one credential may use. Try again when one of them has ended, or send smaller bodies.")
		failed.Reason = problem.ReasonRate
	default:
		failed = problem.New(schema.Overloaded, "The bodies of running requests take all the memory there is for them. Try again later, or send a body of at most %d bytes.", bodyPiece)
		failed.Reason = problem.ReasonBusy
	}
	failed.RetryAfter = bodyRetry
	return failed
}

// readBody reads the body of a request. Its memory counts until freeBody.
func (s *Server) readBody(x *exchange) ([]byte, error) {
	req := x.c.Request
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	limit := s.bodyLimit(x.op)
	body := http.MaxBytesReader(x.c.Writer, req.Body, limit)
	content := make([]byte, 0, 512)
	for {
		if len(content) == cap(content) {
			size := min(2*int64(cap(content)), limit+1) // one more byte shows that the body is too large
			if size > bodyPiece {
				if failed := s.bodies.reserve(x.principal.Identity(), size-x.body, s.share(x.op)); failed != nil {
					return nil, failed
				}
				x.body = size
			}
			content = append(make([]byte, 0, size), content...)
		}
		n, err := body.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		var tooLarge *http.MaxBytesError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return content, nil
		case errors.As(err, &tooLarge):
			return nil, problem.New(schema.TooLarge, "The body is larger than %d bytes.", limit)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, problem.New(schema.InvalidRequest, "The body did not arrive in time.")
		default:
			return nil, problem.New(schema.InvalidRequest, "The body could not be read to its end.")
		}
	}
}

// freeBody gives back the memory of the request's body.
func (s *Server) freeBody(x *exchange) {
	if x.body > 0 {
		s.bodies.Free(x.principal.Identity(), x.body)
		x.body = 0
	}
}

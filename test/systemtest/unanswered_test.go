package systemtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stuck is a server that answers no request until the test ends.
type stuck struct {
	arrived func() // called by each request
	over    chan struct{}
}

func (s *stuck) ServeHTTP(http.ResponseWriter, *http.Request) {
	s.arrived()
	<-s.over
}

// TestARequestWithoutAnAnswerShowsTheGoroutines: the log of a test contains the goroutines of its process
// once if its requests get no answer in time. A request that is canceled shows nothing.
func TestARequestWithoutAnAnswerShowsTheGoroutines(t *testing.T) {
	goroutinesLogged = &sync.Once{}
	handler := &stuck{over: make(chan struct{})}
	server := httptest.NewServer(handler)
	defer server.Close()
	defer close(handler.over)
	logged := func(end error) string {
		r := &recorder{TB: t}
		limit := newLimit(t.Context())
		handler.arrived = func() { limit.pass(end) }
		request, err := http.NewRequestWithContext(limit, http.MethodGet, server.URL+"/lost", nil)
		require.NoError(t, err)
		var sent sync.WaitGroup
		sent.Go(func() { (&System{T: r}).Send(request) })
		sent.Wait()
		assert.True(t, r.failed)
		return strings.Join(r.logged, "\n")
	}
	assert.NotContains(t, logged(context.Canceled), "goroutine ")
	first := logged(context.DeadlineExceeded)
	assert.Contains(t, first, "no answer to GET /lost")
	assert.Contains(t, first, "systemtest.(*stuck).ServeHTTP", "what the request waits for")
	assert.NotContains(t, logged(context.DeadlineExceeded), "goroutine ")
}

// limit is a context that ends with an error on request, such as that of a time limit.
type limit struct {
	context.Context
	end context.CancelFunc
	mu  sync.Mutex
	err error
}

func newLimit(ctx context.Context) *limit {
	l := &limit{}
	l.Context, l.end = context.WithCancel(ctx)
	return l
}

func (l *limit) pass(err error) {
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	l.end()
}

func (l *limit) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

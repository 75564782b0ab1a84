package processes

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/ps"
	"adgateway/test/systemtest"
)

// TestStoppingWhileARequestRuns: when stopped, the gateway completes the running requests that
// end in time, cuts off the others, rejects the waiting ones and leaves no process behind.
func TestStoppingWhileARequestRuns(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("cases", func(t *testing.T) { // each waits for its time limit
		t.Run("a read that ends", func(t *testing.T) {
			t.Parallel()
			stopWhile(t, "late", systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/slowly/Details"},
				http.StatusNotFound)
		})
		t.Run("a write that hangs", func(t *testing.T) {
			t.Parallel()
			stopWhile(t, "Wait-GatewayForever", systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/slowly"},
				0)
		})
	})
	systemtest.NoGoroutinesLeft(t, before)
}

// stopWhile stops a gateway while c runs on its only session, which has the fault. It expects status as the
// answer to c, or a closed connection if status is 0.
func stopWhile(t *testing.T, fault string, c systemtest.Call, status int) {
	p := &systemtest.Processes{Faults: func() string { return fault + "@slowly" }}
	grace := time.Second
	if status != 0 { // the request ends by itself, even on a slow machine
		grace = 15 * time.Second
	}
	s := p.NewSystem(t, "http.shutdownTimeout="+grace.String(), "pool.directorySessions=1")
	require.Equal(t, http.StatusOK, s.Get("/api/ADUser/aschmidt/Details").Status)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Stack.Gateway.Run(ctx, listener) }()
	answered := make(chan int, 1)
	go func() { answered <- statusOf(c, "http://"+listener.Addr().String()) }()
	require.Eventually(t, func() bool { return s.Stack.Pool.Stats()[ps.Directory].Busy > 0 },
		systemtest.Patience, time.Millisecond)
	refused := make(chan int, 1)
	if status == 0 { // the request never releases the only session
		go func() {
			refused <- statusOf(systemtest.Call{Method: http.MethodGet, Path: "/api/OU/All"},
				"http://"+listener.Addr().String())
		}()
		require.Eventually(t, func() bool { return s.Stack.Pool.Stats()[ps.Directory].Waiting > 0 },
			systemtest.Patience, time.Millisecond)
	}

	stop()
	err = <-ended
	if status == 0 {
		assert.ErrorContains(t, err, "were cut off")
	} else {
		require.NoError(t, err)
	}
	assert.Equal(t, status, <-answered)
	if status == 0 {
		assert.Equal(t, http.StatusServiceUnavailable, <-refused)
	}
	closing, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err = s.Stack.Close(closing)
	assert.Equal(t, status == 0, err != nil, "%v: a session had to be cut off", err)
	assert.Empty(t, p.Running())
}

// statusOf sends a request over its own connection and returns the status, or 0 if no answer came.
func statusOf(c systemtest.Call, url string) int {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequest(c.Method, url+c.Path, nil)
	if err != nil {
		return -1
	}
	request.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	response, err := (&http.Client{Transport: transport, Timeout: systemtest.Patience}).Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

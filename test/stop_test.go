package test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Told to stop, the gateway answers what runs, as far as that ends in time;
// what does not is cut off, what waits is refused, and no process is left.
func TestStoppingWhileARequestRuns(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for name, c := range map[string]struct {
		fault  string
		call   call
		status int // 0: the connection is closed
	}{
		"that ends":          {"late", call{method: http.MethodGet, path: "/api/ADUser/slowly/Details"}, http.StatusNotFound},
		"a write that hangs": {"Wait-GatewayForever", call{method: http.MethodDelete, path: "/api/ADUser/slowly"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &processes{faults: func() string { return c.fault + "@slowly" }}
			s := p.system(t, "http.shutdownTimeout=1s", "pool.directorySessions=1")
			require.Equal(t, http.StatusOK, s.get("/api/ADUser/aschmidt/Details").status)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			ended := make(chan error, 1)
			go func() { ended <- s.stack.Gateway.Run(ctx, listener) }()
			answered := make(chan int, 1)
			go func() { answered <- statusOf(c.call, "http://"+listener.Addr().String()) }()
			require.Eventually(t, func() bool { return s.stack.Pool.Stats()[ps.Directory].Busy > 0 }, patience, time.Millisecond)
			refused := make(chan int, 1)
			if c.status == 0 { // it keeps the only session for as long as it takes
				go func() {
					refused <- statusOf(call{method: http.MethodGet, path: "/api/OU/All"}, "http://"+listener.Addr().String())
				}()
				require.Eventually(t, func() bool { return s.stack.Pool.Stats()[ps.Directory].Waiting > 0 }, patience, time.Millisecond)
			}

			start := time.Now()
			stop()
			err = <-ended
			if c.status == 0 {
				assert.ErrorContains(t, err, "were cut off")
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, c.status, <-answered)
			if c.status == 0 {
				assert.Equal(t, http.StatusServiceUnavailable, <-refused)
			}
			closing, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			err = s.stack.Close(closing)
			assert.Equal(t, c.status == 0, err != nil, "%v: a session had to be cut off", err)
			assert.Less(t, time.Since(start), time.Second+time.Second+faultLimit)
			assert.Empty(t, p.running())
		})
	}
	noGoroutineIsLeft(t, before)
}

// statusOf sends a request over a connection of its own; 0: there was no answer.
func statusOf(c call, url string) int {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequest(c.method, url+c.path, nil)
	if err != nil {
		return -1
	}
	request.Header.Set("Auth-Token", "Bearer "+allToken)
	response, err := (&http.Client{Transport: transport, Timeout: patience}).Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"
	"adgateway/test/systemtest"
)

// longLists returns a system whose sessions generate lists of *users users, 1.5 KB each. No part of the
// system other than the gateway could hold these lists in memory.
func longLists(t testing.TB, users *int) *systemtest.System {
	t.Helper()
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	one := `{"username":"u","description":"` + strings.Repeat("x", 1500) + `"}`
	batch := "[" + strings.Repeat(one+",", 99) + one + "]"
	process := &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
		"Get-GatewayUserList": func(c *sessiontest.Call) {
			for range *users / 100 {
				c.Frame("records", batch)
			}
			c.End()
		},
	}}
	return systemtest.NewWithSessions(t, w, session.Config{Starter: process},
		"servers.controllers=dc1.corp.example", "log.level=error", "http.maxSpool=0")
}

// readSlowly reads the list of users with pauses, and returns the number of bytes and the peak of the live
// heap. The gateway has no temporary files, so it produces neither data nor garbage during a pause.
func readSlowly(s *systemtest.System) (size int64, peak uint64) {
	s.T.Helper()
	const pauses = 4 << 20
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.URL+"/api/ADUser/ListUsers/All?ShowFields=username,description", nil)
	require.NoError(s.T, err)
	request.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.T, err)
	defer response.Body.Close()
	require.Equal(s.T, http.StatusOK, response.StatusCode)
	for {
		n, err := io.CopyN(io.Discard, response.Body, pauses)
		size += n
		if err == io.EOF {
			return size, peak
		}
		require.NoError(s.T, err)
		// The pipeline waits for this reader once the buffers of the connection are full. Before that it produces
		// garbage, which the first collections remove.
		peak = max(peak, min(systemtest.HeapBytes(), systemtest.HeapBytes(), systemtest.HeapBytes()))
	}
}

// TestALongListIsNotHeldInMemory: regardless of the length of a list, the gateway keeps only its beginning in
// memory until the script has succeeded.
func TestALongListIsNotHeldInMemory(t *testing.T) {
	users := 24_000
	s := longLists(t, &users)
	s.Get("/readyz")
	before := systemtest.HeapBytes()
	size, peak := readSlowly(s)
	assert.Greater(t, size, int64(users)*1500)
	assert.Less(t, peak, before+24<<20, "of %d bytes", size)
}

// BenchmarkLongList reads lists of 1,000 to 100,000 users through HTTP, pool, session and frames. peak-MiB is
// the maximum growth of the live heap during the read.
func BenchmarkLongList(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("users=%d", n), func(b *testing.B) {
			users := n
			s := longLists(b, &users)
			before := systemtest.HeapBytes()
			var peak uint64
			for b.Loop() {
				size, most := readSlowly(s)
				peak = max(peak, most)
				b.SetBytes(size)
			}
			b.ReportMetric(float64(max(peak, before)-before)/(1<<20), "peak-MiB")
		})
	}
}

// TestAClientLeavesDuringALongList: when the client disconnects, the session becomes free again, and no
// goroutine waits for the client.
func TestAClientLeavesDuringALongList(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { systemtest.NoGoroutinesLeft(t, before) }) // runs after the system has stopped
	users := 8_000
	s := longLists(t, &users)
	const path = "/api/ADUser/ListUsers/All?ShowFields=username,description"
	for range 5 { // more than the limit of concurrent lists
		ctx, leave := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_, err = io.CopyN(io.Discard, response.Body, 1<<20)
		require.NoError(t, err)
		leave()
		response.Body.Close()
	}
	require.Eventually(t, func() bool { return s.Stack.Pool.Stats()[ps.Directory].Busy == 0 },
		systemtest.Patience, 10*time.Millisecond)
	users = 500
	require.Equal(t, http.StatusOK, s.Get(path).Status)
}

package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"
	"adgateway/test/systemtest"
)

// BenchmarkShare measures the gateway's own share of a read, which is the time for HTTP, pool, session and
// frames with a process that answers at once. It uses several values of GOGC. The allocations include those
// of the client.
func BenchmarkShare(b *testing.B) {
	world, err := sandbox.NewWorld(b.Context(), sandbox.Options{Seed: 1})
	require.NoError(b, err)
	record := asSent(b, systemtest.New(b, sandbox.Options{Seed: 1},
		"log.level=error").Get("/api/ADUser/aschmidt/Details").Envelope.Result[0])
	batch := "[" + string(record) + "]"
	process := &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
		"Get-GatewayUser": func(c *sessiontest.Call) {
			c.Frame("records", batch)
			c.End()
		},
	}}
	s := systemtest.NewWithSessions(b, world, session.Config{Starter: process},
		"servers.controllers=dc1.corp.example", "log.level=info")
	require.Equal(b, http.StatusOK, s.Get("/api/ADUser/aschmidt/Details").Status)
	for _, percent := range []int{100, 200, 400, 800} {
		for _, connections := range []int{1, 16} {
			b.Run(fmt.Sprintf("GOGC=%d/connections=%d", percent, connections), func(b *testing.B) {
				defer debug.SetGCPercent(debug.SetGCPercent(percent))
				b.ReportAllocs()
				load(b, s.URL, connections, []string{"aschmidt"})
			})
		}
	}
}

// asSent converts a record of an answer to the form in which the script sends it.
func asSent(b *testing.B, record map[string]any) json.RawMessage {
	b.Helper()
	members := []byte{'{'}
	for _, name := range schema.User.All().Shown() {
		if strings.HasPrefix(name, "rds") {
			continue
		}
		value, err := json.Marshal(record[name])
		require.NoError(b, err)
		if record[name] == nil {
			value = []byte(`""`)
		}
		members = fmt.Appendf(members, "%q:%s,", name, value)
	}
	return append(members, `"userParameters":""}`...)
}

// BenchmarkListShare lists 10,000 users alternately from sessions of the sandbox and from sessions that send
// the same records at once. percent is the time of the latter as a percentage of the former, and so the share
// of the gateway and the client.
func BenchmarkListShare(b *testing.B) {
	const path = "/api/ADUser/ListUsers/All"
	world, err := sandbox.NewWorld(b.Context(), sandbox.Options{Seed: 1})
	require.NoError(b, err)
	whole := systemtest.New(b, sandbox.Options{Seed: 1, Users: 10_000}, "log.level=error")
	records := whole.Get(path).Envelope.Result
	var batches []string
	for some := range slices.Chunk(records, 500) {
		var batch []string
		for _, record := range some {
			batch = append(batch, string(asSent(b, record)))
		}
		batches = append(batches, "["+strings.Join(batch, ",")+"]")
	}
	process := &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
		"Get-GatewayUserList": func(c *sessiontest.Call) {
			for _, batch := range batches {
				c.Frame("records", batch)
			}
			c.End()
		},
	}}
	own := systemtest.NewWithSessions(b, world, session.Config{Starter: process},
		"servers.controllers=dc1.corp.example", "log.level=error")
	took := func(s *systemtest.System) float64 {
		start := time.Now()
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+path, nil)
		require.NoError(b, err)
		request.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
		response, err := http.DefaultClient.Do(request)
		require.NoError(b, err)
		defer response.Body.Close()
		size, err := io.Copy(io.Discard, response.Body)
		require.NoError(b, err)
		require.Greater(b, size, int64(10_000*1000), "%d", response.StatusCode)
		return time.Since(start).Seconds()
	}
	took(own)
	var all, ours float64
	for b.Loop() {
		all += took(whole)
		ours += took(own)
	}
	b.ReportMetric(100*ours/all, "percent")
	b.ReportMetric(1000*ours/float64(b.N), "own-ms")
}

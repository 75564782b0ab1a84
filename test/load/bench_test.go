// Package load measures the whole gateway, and checks that it does not hold long lists in memory.
package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// BenchmarkHTTP reads the details of some of 10,000 users over HTTP, with 1 and 16 connections. It compares
// the gateway with a bare gin handler whose answers have the same size. p50 and p99 are latencies at the
// client in microseconds.
func BenchmarkHTTP(b *testing.B) {
	const users = 10_000
	s := systemtest.New(b, sandbox.Options{Seed: 1, Users: users}, "log.level=error")
	var names []string
	for _, user := range s.Get("/api/ADUser/ListUsers?OUPath=OU=Generated,DC=corp,DC=example&ShowFields=username").Envelope.Result {
		names = append(names, systemtest.Text(user["username"]))
	}
	require.Len(b, names, users)
	first := s.Get("/api/ADUser/" + names[0] + "/Details")
	require.Equal(b, http.StatusOK, first.Status, "%s", first.Body)

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/api/ADUser/:name/Details",
		func(c *gin.Context) { c.Data(http.StatusOK, "application/json", first.Body) })
	bare := httptest.NewServer(engine)
	defer bare.Close()

	for _, connections := range []int{1, 16} {
		for _, server := range []struct{ name, url string }{{"gin", bare.URL}, {"details", s.URL}} {
			b.Run(fmt.Sprintf("%s/connections=%d", server.name, connections), func(b *testing.B) {
				load(b, server.url, connections, names)
			})
		}
	}
}

// load sends b.N requests over the given number of connections and reports their
// latencies.
func load(b *testing.B, url string, connections int, names []string) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections,
		MaxConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	latencies := make([]time.Duration, b.N)
	var next atomic.Int64
	var wait sync.WaitGroup
	b.ResetTimer()
	for range connections {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					return
				}
				start := time.Now()
				if err := details(client, url, names[i*7919%len(names)]); err != nil {
					b.Error(err)
					return
				}
				latencies[i] = time.Since(start)
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[b.N/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(latencies[b.N*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

func details(client *http.Client, url, name string) error {
	request, err := http.NewRequest(http.MethodGet, url+"/api/ADUser/"+name+"/Details", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d for %s", response.StatusCode, name)
	}
	return nil
}

// BenchmarkList lists 1,000 and 10,000 users with all fields.
func BenchmarkList(b *testing.B) {
	for _, users := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("users=%d", users), func(b *testing.B) {
			s := systemtest.New(b, sandbox.Options{Seed: 1, Users: users}, "log.level=error")
			for b.Loop() {
				a := s.Get("/api/ADUser/ListUsers/All")
				require.Equal(b, http.StatusOK, a.Status)
				b.SetBytes(int64(len(a.Body)))
			}
		})
	}
}

package load

import (
	"fmt"
	"net/http"
	"testing"

	"adgateway/test/systemtest"
)

// BenchmarkProcesses reads the details of a user through pool, session and
// stand-in processes, with 1, 4 and 16 connections, and compares with one
// process per request.
func BenchmarkProcesses(b *testing.B) {
	for _, connections := range []int{1, 4, 16} {
		for _, c := range []struct {
			name     string
			settings []string
		}{{"sessions", nil}, {"process per request", []string{"pool.maxRequests=1"}}} {
			b.Run(fmt.Sprintf("%s/connections=%d", c.name, connections), func(b *testing.B) {
				s := (&systemtest.Processes{}).NewSystem(b, append(c.settings, "log.level=error")...)
				defer http.DefaultClient.CloseIdleConnections()
				load(b, s.URL, connections, []string{"aschmidt"})
			})
		}
	}
}

package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/require"
)

// BenchmarkShare is the gateway's own share of a read: HTTP, pool, session and
// frames around a session that answers at once, with several values of GOGC. The
// allocations are those of client and gateway.
func BenchmarkShare(b *testing.B) {
	world, err := sandbox.NewWorld(b.Context(), sandbox.Options{Seed: 1})
	require.NoError(b, err)
	record := systemtest.New(b, sandbox.Options{Seed: 1}, "log.level=error").Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]
	for name, value := range record { // as the script sends it
		if strings.HasPrefix(name, "rds") {
			delete(record, name)
		} else if value == nil {
			record[name] = ""
		}
	}
	record["userParameters"] = ""
	batch, err := json.Marshal([]any{record})
	require.NoError(b, err)
	process := &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
		"Get-GatewayUser": func(c *sessiontest.Call) {
			c.Frame("records", string(batch))
			c.End()
		},
	}}
	s := systemtest.NewWithSessions(b, world, session.Config{Starter: process}, "servers.controllers=dc1.corp.example", "log.level=info")
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

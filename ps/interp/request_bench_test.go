package interp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/sim"
	"adgateway/scripts"
)

// benchUsers is how many users the domain of a benchmark has beside the built-in ones.
const benchUsers = 10_000

// directorySession is a session of the directory lane as the gateway starts it,
// on a sandbox with 10,000 users, the name of its domain controller and the
// account names of the users.
func directorySession(b *testing.B) (s *session.Session, server string, users []string) {
	world, err := sim.NewWorld(b.Context(), sim.Options{Seed: 1, Users: benchUsers})
	require.NoError(b, err)
	dc, err := world.Directory.DC("")
	require.NoError(b, err)
	s, err = session.Start(b.Context(), session.Config{
		Starter: world.Starter(), StartTimeout: time.Minute,
		Boot: session.Boot{
			Prelude: scripts.Prelude(ps.Directory), Scripts: scripts.Sources(ps.Directory), Module: scripts.Modules[ps.Directory],
		},
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close(context.Background())) })
	_, err = s.Run(b.Context(), ps.Request{
		Script: "Get-GatewayUserList", Limit: time.Minute,
		Args: ps.Args{"OUPath": ps.Text("OU=Generated,DC=corp,DC=example"), "Field": ps.List([]string{"username"}), "Recursive": ps.Bool(true), "Server": ps.Text(dc.HostName())},
		Records: func(batch json.RawMessage) error {
			var records []struct{ Username string }
			err := json.Unmarshal(batch, &records)
			for _, r := range records {
				users = append(users, r.Username)
			}
			return err
		},
	})
	require.NoError(b, err)
	require.Len(b, users, benchUsers)
	return s, dc.HostName(), users
}

// BenchmarkRequest is the engine's part of a whole request, from the data line
// to the last frame: the session, the prelude, the script, the cmdlets on the
// directory. Get-GatewayUser shows all fields of one of 10,000 users;
// Set-GatewayUser, the largest script, changes two.
func BenchmarkRequest(b *testing.B) {
	s, server, users := directorySession(b)
	fields := ps.List(schema.User.All().Names())
	for name, args := range map[string]func(i int) ps.Args{
		"Get-GatewayUser": func(int) ps.Args { return ps.Args{} },
		largestScript(): func(i int) ps.Args {
			return ps.Args{"JobTitle": ps.Text(fmt.Sprint("Title ", i)), "Office": ps.Text(fmt.Sprint("Room ", i))}
		},
	} {
		b.Run(name, func(b *testing.B) {
			var latencies []time.Duration
			records := 0
			count := func(json.RawMessage) error { records++; return nil }
			b.ReportAllocs()
			for b.Loop() {
				i := len(latencies)
				request := args(i)
				request["UserName"] = ps.Text(users[i*7919%len(users)])
				request["Field"], request["Server"] = fields, ps.Text(server)
				began := time.Now()
				_, err := s.Run(b.Context(), ps.Request{Script: name, Args: request, Records: count})
				latencies = append(latencies, time.Since(began))
				require.NoError(b, err)
			}
			require.Equal(b, len(latencies), records)
			slices.Sort(latencies)
			b.ReportMetric(float64(latencies[0].Nanoseconds())/1e3, "min-µs")
			b.ReportMetric(float64(latencies[len(latencies)/2].Nanoseconds())/1e3, "p50-µs")
		})
	}
}

// largestScript is the name of the largest script of the directory.
func largestScript() string {
	return slices.MaxFunc(scripts.Sources(ps.Directory), func(a, b ps.Source) int { return len(a.Text) - len(b.Text) }).Name
}

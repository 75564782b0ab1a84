package interp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/interp"
	"adgateway/ps/session"
	"adgateway/ps/sim"
	"adgateway/scripts"
)

// benchUsers is how many users the domain of a benchmark has beside the built-in ones.
const benchUsers = 10_000

// directorySession is a session of the directory lane as the gateway starts it,
// on a sandbox with 10,000 users, the name of its domain controller and the
// account names of the users.
func directorySession(b *testing.B) (s *session.Session, busy *busyTime, server string, users []string) {
	world, err := sim.NewWorld(b.Context(), sim.Options{Seed: 1, Users: benchUsers})
	require.NoError(b, err)
	dc, err := world.Directory.DC("")
	require.NoError(b, err)
	busy = &busyTime{}
	starter := world.Starter().WithConsole(func(_ context.Context, c interp.Console, _ func()) interp.Console {
		busy.Reader, c.Stdin = c.Stdin, busy
		return c
	})
	s, err = session.Start(b.Context(), session.Config{
		Starter: starter, StartTimeout: time.Minute,
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
	return s, busy, dc.HostName(), users
}

// busyTime is the input of an engine that takes the time between a read that
// gave something and the next one, when the engine waits again.
type busyTime struct {
	io.Reader
	began time.Time
	took  []time.Duration
}

func (t *busyTime) Read(p []byte) (int, error) {
	if !t.began.IsZero() {
		t.took = append(t.took, time.Since(t.began))
	}
	n, err := t.Reader.Read(p)
	t.began = time.Now()
	return n, err
}

// BenchmarkRequest is a whole request through a session: Get-GatewayUser shows
// all fields of one of 10,000 users; Set-GatewayUser, the largest script,
// changes two. engine is the engine's own time, from the data line to the next
// look for one: the prelude, the script, the cmdlets on the directory, the
// frames. The rest of the whole is the session's and that of the two goroutines
// that wait for each other.
func BenchmarkRequest(b *testing.B) {
	s, busy, server, users := directorySession(b)
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
			busy.took = nil
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
			b.ReportMetric(median(latencies), "p50-µs")
			b.ReportMetric(median(busy.took), "engine-p50-µs")
		})
	}
}

// median is the middle one of some times, in microseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1e3
}

// largestScript is the name of the largest script of the directory.
func largestScript() string {
	return slices.MaxFunc(scripts.Sources(ps.Directory), func(a, b ps.Source) int { return len(a.Text) - len(b.Text) }).Name
}

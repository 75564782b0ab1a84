package load

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/test/systemtest"
)

// BenchmarkProcesses reads the details of a user over HTTP with 1, 4 and 16 connections. The sessions are
// long-lived processes that imitate PowerShell. The benchmark compares this with a process per request that
// is started, queried and ended without HTTP.
func BenchmarkProcesses(b *testing.B) {
	for _, connections := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("sessions/connections=%d", connections), func(b *testing.B) {
			s := (&systemtest.Processes{}).NewSystem(b, "log.level=error")
			defer http.DefaultClient.CloseIdleConnections()
			load(b, s.URL, connections, []string{"aschmidt"})
		})
		b.Run(fmt.Sprintf("process per request/connections=%d", connections), func(b *testing.B) {
			perProcess(b, connections)
		})
	}
}

// perProcess reads the details of a user b.N times, each time in a new process.
func perProcess(b *testing.B, connections int) {
	world, err := sandbox.NewWorld(b.Context(), sandbox.Options{Seed: 1})
	require.NoError(b, err)
	server, err := remote.NewServer(world)
	require.NoError(b, err)
	defer func() { require.NoError(b, server.Close()) }()
	config := session.Config{
		Starter: &remote.Starter{Server: server,
			Env: func() []string { return []string{systemtest.EngineVariable + "=1"} }},
		Boot: session.Boot{Prelude: scripts.Prelude(ps.Directory), Scripts: scripts.Sources(ps.Directory),
			Module: scripts.Modules[ps.Directory]},
	}
	request := ps.Request{Script: "Get-GatewayUser", Args: ps.Args{
		"UserName": ps.Text("aschmidt"), "Field": schema.User.All().ReadingAll().Read(),
		"Server": ps.Text("dc1.corp.example"),
	}}
	read := func(ctx context.Context) error {
		s, err := session.Start(ctx, config)
		if err != nil {
			return err
		}
		if _, err = s.Run(ctx, request); err != nil {
			return err
		}
		return s.Close(ctx)
	}
	took := make([]time.Duration, b.N)
	var wait sync.WaitGroup
	b.ResetTimer()
	for first := range connections {
		wait.Go(func() {
			for i := first; i < b.N; i += connections {
				startedAt := time.Now()
				if err := read(b.Context()); err != nil {
					b.Error(err)
				}
				took[i] = time.Since(startedAt)
			}
		})
	}
	wait.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[b.N/2].Microseconds()), "p50-µs")
}

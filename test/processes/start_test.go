package processes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/test/remotetest"
	"adgateway/test/systemtest"
)

// TestEveryFaultOfAStart: a process that fails during its start is reported in time and
// leaves nothing behind, and the next process starts. Reading input early is not an error,
// because nothing is written before the process is ready.
func TestEveryFaultOfAStart(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("faults", func(t *testing.T) {
		for _, fault := range remotetest.StartFaults() {
			t.Run(fault, func(t *testing.T) {
				t.Parallel() // most of them wait for a time limit
				failingStart(t, fault)
			})
		}
	})
	systemtest.NoGoroutinesLeft(t, before)
}

func failingStart(t *testing.T, fault string) {
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	server, err := remote.NewServer(world)
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	start := func(fault string, limit time.Duration) error {
		s, err := session.Start(t.Context(), session.Config{
			Starter: &remote.Starter{Server: server, Env: func() []string {
				return []string{systemtest.EngineVariable + "=1", "GORACE=atexit_sleep_ms=0",
					remotetest.FaultVariable + "=" + fault}
			}},
			StartTimeout: limit,
			Boot: session.Boot{Prelude: scripts.Prelude(ps.DNS), Scripts: scripts.Sources(ps.DNS),
				Module: scripts.Modules[ps.DNS]},
		})
		if err == nil {
			err = s.Close(t.Context())
		}
		return err
	}
	if fault == "read-ahead" {
		require.NoError(t, start(fault, systemtest.Patience))
	} else {
		err = start(fault, 2*time.Second)
		require.Error(t, err)
		assert.Equal(t, ps.KindUnavailable, ps.AsError(err).Kind, "%v", err)
	}
	assert.Eventually(t, func() bool { return server.Connections() == 0 }, systemtest.Patience, time.Millisecond)
	require.NoError(t, start("", systemtest.Patience))
}

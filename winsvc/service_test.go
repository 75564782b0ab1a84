package winsvc

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Texts about the node name the node's program, never the gateway's.
func TestTheNodeIsAServiceOfItsOwn(t *testing.T) {
	f, m := newFake(t)
	m.of = Engine
	assert.ErrorContains(t, m.Start(t.Context()), "run 'adgateway-engine service install'")
	done, err := m.Install(Registration{Executable: exe})
	require.NoError(t, err)
	assert.Equal(t, `NT SERVICE\adgateway-engine`, f.found.Account)
	assert.Contains(t, done[0], "service adgateway-engine was installed")
	_, err = m.Install(Registration{Executable: exe, Account: Gateway.Account()})
	assert.ErrorContains(t, err, "another service")
	f.states = []State{Stopped, Starting, Stopped}
	assert.ErrorContains(t, m.Start(t.Context()), "source adgateway-engine")
	assert.ErrorContains(t, Engine.notWindows(), "adgateway-engine run --config /etc/adgateway-engine/adgateway.yaml")
	for code := range advice {
		for _, service := range []Service{Gateway, Engine} {
			assert.NotContains(t, service.explain(fmt.Errorf("deep inside: %w", code)).Error(), "{", "%d", code)
		}
	}
}

// A node may start for minutes; whoever starts it waits for that, and no longer.
func TestEachServiceHasItsOwnTimeToStart(t *testing.T) {
	for wait, says := range map[time.Duration]string{time.Minute: "", 20 * time.Millisecond: "still starting"} {
		f, m := newFake(t)
		m.of.StartWait = wait
		f.installed, f.found = true, registered{CommandLine: exe, State: Stopped}
		f.states = []State{Stopped}
		for range 100 {
			f.states = append(f.states, Starting)
		}
		if says == "" {
			f.states = append(f.states, Running)
			require.NoError(t, m.Start(t.Context()))
			continue
		}
		assert.ErrorContains(t, m.Start(t.Context()), says)
	}
}

package winsvc

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextsNameTheService(t *testing.T) {
	for code := range advice {
		assert.NotContains(t, Gateway.explain(fmt.Errorf("deep inside: %w", code)).Error(), "{", "%d", code)
	}
}

// A caller waits for the start of a service exactly as long as the start may take.
func TestAServiceHasItsTimeToStart(t *testing.T) {
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

package session_test

import (
	"context"
	"testing"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A meter counts the output of all sessions that share it, and the reasons why they were killed. A session
// that was closed cleanly does not count as killed.
func TestMeter(t *testing.T) {
	meter := &session.Meter{}
	for script, cause := range map[string]session.Cause{
		"":                        "",
		"Wait-GatewayForever":     session.CauseTimeout,
		"Stop-GatewayBefore":      session.CauseDied,
		"Send-GatewayWrongId":     session.CauseProtocol,
		"Wait-GatewayInsideFrame": session.CauseTimeout,
	} {
		t.Run("one "+script, func(t *testing.T) {
			if _, known := sessiontest.Faults[script]; !known && script != "" {
				t.Fatalf("sessiontest has no %s", script)
			}
			before := meter.Stats()
			cfg := config(&sessiontest.Process{Scripts: sessiontest.Faults})
			cfg.Meter = meter
			s := start(t, cfg)
			require.NoError(t, s.Probe(t.Context()))
			if script != "" {
				limit := patience
				if cause == session.CauseTimeout {
					limit = 100 * time.Millisecond
				}
				_, err := s.Run(t.Context(), ps.Request{Script: script, Limit: limit})
				require.Error(t, err)
			}
			_ = s.Close(t.Context())
			after := meter.Stats()
			assert.GreaterOrEqual(t, after.Frames, before.Frames+4, "ready, and an answer to each echo")
			assert.Greater(t, after.Bytes, before.Bytes)
			if cause != "" {
				before.Killed[cause]++
			}
			assert.Equal(t, before.Killed, after.Killed)
		})
	}
}

func TestAProbeThatHasNotStartedDoesNotEndTheSession(t *testing.T) {
	s := start(t, config(&sessiontest.Process{Scripts: sessiontest.Faults}))
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	require.Error(t, s.Probe(ctx))
	require.NoError(t, s.Probe(t.Context()))
}

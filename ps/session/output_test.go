package session_test

import (
	"encoding/json"
	"testing"

	"adgateway/ps"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A list is passed on frame by frame, so it may be much larger than a frame or an answer that is kept in
// memory.
func TestAListMayBeLargerThanOtherAnswers(t *testing.T) {
	const batches = 64
	cases := []struct {
		name            string
		list            bool
		frame           int
		output, maxList int64
		whole           bool
	}{
		{"a list", true, 1 << 10, 8 << 10, 1 << 20, true},
		{"a list by default", true, 1 << 10, 8 << 10, 0, true},
		{"a list without end", true, 1 << 10, 8 << 10, 32 << 10, false},
		{"a list of frames that are too large", true, 9 << 10, 8 << 10, 1 << 20, false},
		{"no list", false, 1 << 10, 8 << 10, 1 << 20, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(&sessiontest.Process{Scripts: sessiontest.Faults})
			cfg.MaxOutput, cfg.MaxList = c.output, c.maxList
			s := start(t, cfg)
			got := 0
			_, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayMany", List: c.list, Limit: patience,
				Args:    ps.Args{"Batches": ps.Int(batches), "Size": ps.Int(int64(c.frame))},
				Records: func(json.RawMessage) error { got++; return nil }})
			if c.whole {
				require.NoError(t, err)
				assert.Equal(t, batches, got)
				return
			}
			require.Equal(t, ps.KindDied, ps.AsError(err).Kind)
			assert.ErrorContains(t, err, "output limit exceeded")
			assert.Less(t, got, batches)
		})
	}
}

// The limit for noise does not grow with the limit for lists.
func TestNoiseDuringAListIsBounded(t *testing.T) {
	cfg := config(&sessiontest.Process{Scripts: sessiontest.Faults})
	cfg.MaxOutput = 1 << 20
	s := start(t, cfg)
	_, err := s.Run(t.Context(), ps.Request{Script: "Send-GatewayNoiseFlood", List: true, Limit: patience})
	require.Equal(t, ps.KindDied, ps.AsError(err).Kind, "%v", err)
	assert.ErrorContains(t, err, "output limit exceeded")
}

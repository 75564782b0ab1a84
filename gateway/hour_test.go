package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui"
)

func TestLastHour(t *testing.T) {
	var h hour
	now := time.Date(2026, 3, 1, 12, 30, 20, 0, time.UTC)
	h.add(now.Add(-61*time.Minute), 500) // its place is taken by a later minute
	h.add(now.Add(-59*time.Minute), 200)
	h.add(now, 200)
	h.add(now, 503)
	h.add(now, 404)
	all := h.last(now)
	require.Len(t, all, 60)
	assert.Equal(t, 1, all[0].Calls)
	assert.Equal(t, ui.Minute{Start: now.Truncate(time.Minute), Calls: 3, Errors: 1}, all[59])
	sum := ui.Figures{Minutes: all}.Sum()
	assert.Equal(t, []int{4, 1}, []int{sum.Calls, sum.Errors})
	later := h.last(now.Add(2 * time.Hour))
	require.Len(t, later, 60)
	assert.Zero(t, ui.Figures{Minutes: later}.Sum().Calls)
}

// What operations answer is counted, and what is no operation is not.
func TestCallsAreCountedByMinute(t *testing.T) {
	s := newTestServer(t, answering(okResult, "[]"), nil)
	call(s, "GET", "/healthz", "")
	call(s, "GET", "/api/ADUser/jdoe/Exists", "")
	assert.Equal(t, 1, ui.Figures{Minutes: s.LastHour()}.Sum().Calls)
}

package gateway

import (
	"net/http"
	"sync"
	"time"

	"adgateway/gateway/ui"
)

// hour counts the calls of the API by minute, for an hour. It is safe for concurrent use.
type hour struct {
	mu      sync.Mutex
	minutes [60]ui.Minute // by minute of the day, modulo 60
}

// add counts an answered request.
func (h *hour) add(now time.Time, status int) {
	start := now.Truncate(time.Minute)
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &h.minutes[start.Unix()/60%60]
	if !m.Start.Equal(start) {
		*m = ui.Minute{Start: start}
	}
	m.Calls++
	if status >= http.StatusInternalServerError {
		m.Errors++
	}
}

// last returns the minutes of the last hour, the oldest first.
func (h *hour) last(now time.Time) []ui.Minute {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []ui.Minute
	for start := now.Truncate(time.Minute).Add(-59 * time.Minute); !start.After(now); start = start.Add(time.Minute) {
		m := h.minutes[start.Unix()/60%60]
		if !m.Start.Equal(start) {
			m = ui.Minute{Start: start}
		}
		all = append(all, m)
	}
	return all
}

// LastHour returns how many calls of operations were answered in each minute of the last hour.
func (s *Server) LastHour() []ui.Minute { return s.hour.last(time.Now()) }

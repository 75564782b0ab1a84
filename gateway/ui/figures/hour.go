package figures

import (
	"net/http"
	"sync"
	"time"
)

// Hour counts the API calls per minute, for one hour. It is safe for concurrent use.
type Hour struct {
	mu      sync.Mutex
	minutes [60]Minute // by minute of the day, modulo 60
}

// Add counts an answered request.
func (h *Hour) Add(now time.Time, status int) {
	start := now.Truncate(time.Minute)
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &h.minutes[start.Unix()/60%60]
	if !m.Start.Equal(start) {
		*m = Minute{Start: start}
	}
	m.Calls++
	if status >= http.StatusInternalServerError {
		m.Errors++
	}
}

// Last returns the minutes of the last hour, oldest first.
func (h *Hour) Last(now time.Time) []Minute {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []Minute
	first := now.Truncate(time.Minute).Add(-59 * time.Minute)
	for start := first; !start.After(now); start = start.Add(time.Minute) {
		m := h.minutes[start.Unix()/60%60]
		if !m.Start.Equal(start) {
			m = Minute{Start: start}
		}
		all = append(all, m)
	}
	return all
}

package cluster

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// step is the effect of a batch on an attempt in these tests.
type step struct {
	Attempt string          `json:"attempt"`
	Do      string          `json:"do"` // open, close or raced
	Object  string          `json:"object,omitempty"`
	Process journal.Process `json:"process"`
	Limit   time.Duration   `json:"limit,omitempty"`
	How     string          `json:"how,omitempty"`
}

// disk is the store of a gateway.
type disk struct {
	w  *world
	mu sync.Mutex

	point    store.Point
	time     time.Time
	attempts map[string]*kept
	seen     map[string]Seen
}

type kept struct {
	step
	verdict string // empty if it is open
	raced   []string
}

func newDisk(w *world) *disk {
	return &disk{w: w, attempts: map[string]*kept{}, seen: map[string]Seen{}}
}

func (d *disk) Point() (store.Point, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.point, nil
}

func (d *disk) Apply(_ context.Context, e *journal.Entry, at store.Point) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.point, d.time = at, e.Time
	if len(e.Batch) == 0 {
		return nil
	}
	var s step
	if err := json.Unmarshal(e.Batch, &s); err != nil {
		return err
	}
	a := d.attempts[s.Attempt]
	switch s.Do {
	case "open":
		d.attempts[s.Attempt] = &kept{step: s}
	case "close":
		if assert.NotNil(d.w.t, a) {
			assert.Empty(d.w.t, a.verdict, "attempt %s is closed twice", s.Attempt)
			a.verdict = s.How
		}
	case "raced":
		a.raced = append(a.raced, s.How)
	}
	d.w.applied(s)
	return nil
}

// applied records the first time that any gateway applies an entry.
func (w *world) applied(s step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.opened[s.Attempt]
	switch {
	case s.Do == "open" && known == nil:
		w.opened[s.Attempt] = &truth{object: s.Object}
		assert.Empty(w.t, w.open[s.Object], "two open attempts on %s", s.Object)
		w.open[s.Object] = s.Attempt
	case s.Do == "close" && known.closed == 0:
		known.closed++
		delete(w.open, known.object)
	}
}

func (d *disk) attempt(id string) *kept {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.attempts[id]; a != nil {
		c := *a
		return &c
	}
	return nil
}

// logTime is a minimal clock that advances with the monotonic one.
type logTime struct {
	disk *disk
	now  func() time.Time
	mu   sync.Mutex
	last time.Time
	at   time.Time
}

func (l *logTime) Now() time.Time {
	now := l.now()
	l.disk.mu.Lock()
	stored := l.disk.time
	l.disk.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = l.last.Add(now.Sub(l.at)); l.last.Before(stored) {
		l.last = stored
	}
	l.at = now
	return l.last
}

func (l *logTime) Raise(to time.Time) {
	l.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if to.After(l.last) {
		l.last = to
	}
}

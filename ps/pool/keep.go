package pool

import (
	"context"
	"time"
)

const probeLimit = 5 * time.Second // for an idle session to answer a probe

// keep discards idle sessions that are dead or too old, starts missing ones and
// probes a silent lane, until the pool closes.
func (l *lane) keep() {
	defer close(l.kept)
	ticker := time.NewTicker(l.pool.cfg.Sweep)
	defer ticker.Stop()
	for {
		l.sweep()
		l.fill()
		l.probe()
		select {
		case <-l.pool.starting.Done():
			return
		case <-ticker.C:
		case <-l.wake:
		}
	}
}

func (l *lane) sweep() {
	defer l.notify()
	// Inspecting takes the idle sessions out of the pool, so that a concurrent
	// acquire would start another one: skip it unless a session is unfit.
	if !l.anyUnfit() {
		return
	}
	for _, res := range l.sessions.AcquireAllIdle() {
		if l.fit(res.Value()) {
			res.ReleaseUnused()
			continue
		}
		res.Destroy()
	}
}

func (l *lane) anyUnfit() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.live {
		if l.unfit(h) != "" {
			return true
		}
	}
	return false
}

// fill starts sessions until the lane has as many as are kept warm.
func (l *lane) fill() {
	for int(l.sessions.Stat().TotalResources()) < l.cfg.Warm {
		failed := l.failed.Load()
		err := l.sessions.CreateResource(l.pool.starting)
		if err != nil && (l.failed.Load() == failed || l.circuit.open()) {
			return // not attempted, or failing repeatedly
		}
		l.notify()
	}
}

// probe probes an idle session if no session of the lane has answered for a while.
// A session that does not answer ends.
func (l *lane) probe() {
	if time.Since(l.lastAnswer()) < l.pool.cfg.Probe || !l.probing.CompareAndSwap(false, true) {
		return
	}
	res := l.idle()
	if res == nil {
		l.probing.Store(false)
		return
	}
	go func() { // ends before the lane closes, which waits for the session
		defer l.probing.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
		defer cancel()
		if err := res.Value().session.Probe(ctx); err != nil {
			l.log("an idle session did not answer", map[string]any{"error": err.Error()})
		} else {
			l.answered()
		}
		if !l.fit(res.Value()) {
			l.destroy(res)
			return
		}
		res.ReleaseUnused()
		l.notify()
	}()
}

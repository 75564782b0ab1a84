package pool

import (
	"context"
	"time"
)

const probeLimit = 5 * time.Second // for the answer of an idle session

// keep throws idle sessions away that are dead or too old, starts missing ones,
// and asks a lane that was silent for a sign of life, until the pool closes.
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
	// Idle sessions are taken out for the look, and who asks meanwhile starts
	// another one: not without need.
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

// fill starts sessions until as many are there as are kept warm.
func (l *lane) fill() {
	for int(l.sessions.Stat().TotalResources()) < l.cfg.Warm {
		failed := l.failed.Load()
		err := l.sessions.CreateResource(l.pool.starting)
		if err != nil && (l.failed.Load() == failed || l.circuit.open()) {
			return // it was not even tried, or too often
		}
		l.notify()
	}
}

// probe asks one idle session whether it answers, when none of the lane has for
// a while. One that does not is gone afterwards.
func (l *lane) probe() {
	if time.Since(l.lastAnswer()) < l.pool.cfg.Probe || !l.probing.CompareAndSwap(false, true) {
		return
	}
	res := l.idle()
	if res == nil {
		l.probing.Store(false)
		return
	}
	go func() { // closing the lane waits for the session
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

package pool

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"adgateway/ps"
)

// held is a session with the lane's bookkeeping. The lane's mutex guards it.
type held struct {
	session   Session
	startedAt time.Time
	retireAt  time.Time // zero means never
	retireOn  int       // number of requests; zero means never
	requests  int
	why       string // reason why it ends; empty until it is told to end
	retired   bool   // the session ends because it was due
}

// An attempt is a start in progress.
type attempt struct {
	at          time.Time
	before      int  // result of circuit.allow
	replacement bool // to replace a session that is due
}

const (
	closeWait  = 10 * time.Second // time limit for a session to end cleanly
	probeLimit = 5 * time.Second  // time limit for an idle session to answer a probe
)

// startMissing starts sessions for the waiting requests and, one after another, those that
// are to be kept warm. The caller holds mu.
func (l *lane) startMissing() {
	// A slow start does not count, because the requests may not be able to wait until it ends.
	promised := 0
	for a := range l.starts {
		if time.Since(a.at) < l.pool.cfg.MaxWait/2 {
			promised++
		}
	}
	for ; promised < l.wanted(); promised++ {
		if !l.begin(false) {
			return
		}
	}
	if len(l.starts) == 0 && len(l.live)-l.ending < l.cfg.Warm {
		l.begin(false)
	}
}

// begin starts a session in the background, unless the lane is full or must not start any
// now. The caller holds mu.
func (l *lane) begin(replacement bool) bool {
	if len(l.live)+len(l.starts) >= l.cfg.Size {
		return false
	}
	before, allowed := l.circuit.allow()
	if !allowed {
		return false
	}
	a := &attempt{at: time.Now(), before: before, replacement: replacement}
	l.starts[a] = struct{}{}
	go l.start(a)
	return true
}

// start makes an attempt. It returns when the session has been started, the start has
// failed, or the pool is closed.
func (l *lane) start(a *attempt) {
	leave := l.turns.take(l.pool.starting, l.pool.cfg.MaxWait)
	startedAt := time.Now()
	session, err := l.cfg.Start(l.pool.starting)
	leave()
	if err == nil {
		l.log("a session was started", map[string]any{"took_ms": milliseconds(time.Since(startedAt))})
		l.add(a, session)
		l.pool.cfg.Started(l.name)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.starts, a)
	if l.pool.starting.Err() != nil {
		l.circuit.abandoned()
	} else {
		l.failed++
		reason := ps.AsError(err)
		pause := l.circuit.failed(a.before, died(reason) || len(l.live) > l.ending, reason)
		l.log("a session could not be started",
			map[string]any{"event": "session_trouble", "error": err.Error(), "pause_ms": milliseconds(pause)})
	}
	l.settle()
}

// turns limits the number of concurrent starts in a lane. Sessions then become ready one after another,
// instead of all at the same late time.
type turns chan struct{}

// take waits for a turn until starting ends. A start that takes longer than most gives up
// its turn, so that the next one can begin. The caller must call leave.
func (t turns) take(starting context.Context, most time.Duration) (leave func()) {
	select {
	case t <- struct{}{}:
	case <-starting.Done():
		return func() {}
	}
	free := sync.OnceFunc(func() { <-t })
	late := time.AfterFunc(most, free)
	return func() {
		late.Stop()
		free()
	}
}

// add adds a started session to the lane.
func (l *lane) add(a *attempt, session Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.starts, a)
	l.circuit.succeeded()
	l.started++
	l.answered()
	h := &held{session: session, startedAt: time.Now()}
	if l.cfg.MaxAge > 0 {
		h.retireAt = h.startedAt.Add(shortened(l.cfg.MaxAge))
	}
	if l.cfg.MaxRequests > 0 {
		h.retireOn = shortened(l.cfg.MaxRequests)
	}
	l.live[h] = struct{}{}
	l.idle = append(l.idle, h)
	l.replaced = l.replaced || a.replacement
	dead := session.Dead()
	go func() { // ends because Dead is always closed in the end
		<-dead
		l.died(h)
	}()
	l.settle()
}

// shortened returns limit, reduced by a random amount of up to a tenth.
func shortened[T ~int | ~int64](limit T) T { return limit - T(rand.Int64N(int64(limit)/10+1)) }

// died ends a session that has died while idle. Other sessions are ended when they are released.
func (l *lane) died(h *held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remove(h) {
		l.end(h, endDied)
		l.settle()
	}
}

// remove removes a session from the idle ones, and reports whether it was idle. The caller holds mu.
func (l *lane) remove(h *held) bool {
	at := slices.Index(l.idle, h)
	if at >= 0 {
		l.idle = slices.Delete(l.idle, at, at+1)
	}
	return at >= 0
}

// release returns a session after a request has run on it.
func (l *lane) release(h *held, list bool) {
	tooLarge := l.tooLarge(h)
	l.mu.Lock()
	defer l.mu.Unlock()
	h.requests++
	if tooLarge && !isDead(h) {
		l.give(list)
		l.end(h, endMemory)
		l.settle()
		return
	}
	l.putBack(h, list)
}

// putBack makes a session idle after a request, or ends it. The caller holds mu.
func (l *lane) putBack(h *held, list bool) {
	l.give(list)
	l.rest(h)
}

// give records that a request no longer holds a session. The caller holds mu.
func (l *lane) give(list bool) {
	l.running--
	if list {
		l.lists--
	}
}

// rest makes a session without a holder idle, or ends it. The caller holds mu.
func (l *lane) rest(h *held) {
	switch {
	case isDead(h):
		l.end(h, endDied)
	case !l.retire(h):
		l.idle = append(l.idle, h)
	}
	l.settle()
}

func isDead(h *held) bool {
	select {
	case <-h.session.Dead():
		return true
	default:
		return false
	}
}

func (l *lane) tooLarge(h *held) bool {
	measured, ok := h.session.(interface{ Memory() (int64, error) })
	if l.cfg.MaxMemory <= 0 || !ok {
		return false
	}
	bytes, err := measured.Memory()
	return err == nil && bytes > l.cfg.MaxMemory
}

// due returns the reason why a session must retire, or "".
func (h *held) due() string {
	switch {
	case h.retireOn > 0 && h.requests >= h.retireOn:
		return endRequests
	case !h.retireAt.IsZero() && time.Now().After(h.retireAt):
		return endAge
	}
	return ""
}

// retireIdle retires idle sessions that are due. The caller holds mu.
func (l *lane) retireIdle() {
	for _, h := range slices.Clone(l.idle) {
		if h.due() != "" && l.remove(h) && !l.retire(h) {
			// at the end of the order of use, so that it is idle when its turn comes
			l.idle = slices.Insert(l.idle, 0, h)
		}
	}
}

// retire ends a session that is due and idle, if it is its turn. If the session is needed,
// its replacement starts first, which is possible below Size. At Size the session ends
// first, unless lists hold all others. The caller holds mu.
func (l *lane) retire(h *held) bool {
	why := h.due()
	if why == "" || l.retiring || l.closing {
		return false
	}
	if !l.replaced && len(l.starts) > 0 {
		return false
	}
	if others := len(l.live) - l.ending - 1; !l.replaced && l.needed(others) {
		if len(l.live) < l.cfg.Size {
			l.begin(true)
			return false
		}
		if l.lists > 0 && l.lists >= others {
			return false
		}
	}
	l.replaced, l.retiring, h.retired = false, true, true
	l.end(h, why)
	return true
}

// needed reports whether the lane would have no free session left with only the given number
// of others: fewer than must be kept warm, or all of them in use. The caller holds mu.
func (l *lane) needed(others int) bool {
	return others < l.cfg.Warm || l.queue.Len() > 0 || (others > 0 && len(l.idle) == 0)
}

// end ends an idle session in the background. Its place is free when the session has ended.
// The caller holds mu.
func (l *lane) end(h *held, why string) {
	h.why = why
	l.ending++
	go func() {
		if why == endDied {
			h.session.Kill()
		} else {
			ctx, cancel := context.WithTimeout(context.Background(), closeWait)
			defer cancel()
			if err := h.session.Close(ctx); err != nil {
				l.log("a session had to be killed", map[string]any{"error": err.Error()})
			}
		}
		l.ended(h)
	}()
}

func (l *lane) ended(h *held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.live, h)
	l.ending--
	if h.retired {
		l.retiring = false
	}
	l.ends.add(h.why)
	l.log("a session was ended", map[string]any{"reason": h.why, "requests": h.requests,
		"age_ms": milliseconds(time.Since(h.startedAt))})
	l.settle()
}

// probe probes an idle session if no session of the lane has answered for a while.
// A session that does not answer ends. The caller holds mu.
func (l *lane) probe() {
	h := l.free(false)
	if h == nil || l.probing || time.Since(l.lastAnswer()) < l.pool.cfg.Probe {
		return
	}
	l.probing = true
	l.remove(h)
	go func() { // this goroutine ends before the lane is gone, because the session is still live
		ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
		defer cancel()
		err := h.session.Probe(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.probing = false
		if err != nil {
			l.log("an idle session did not answer", map[string]any{"error": err.Error()})
		} else {
			l.answered()
		}
		l.rest(h)
	}()
}

package pool

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps"
)

// Stats describes the state of a lane. Counters start with the pool.
type Stats struct {
	Size     int // maximum number of sessions
	Starting int // sessions being started
	Idle     int
	Busy     int // sessions that are running a request or ending
	Waiting  int // requests waiting for a session

	Waits      Times // times of waiting for a session, with or without success
	Runs       Times // times of runs on a session
	Overloaded int64 // requests rejected because no session became free
	Retries    int64 // reads that were retried
	Started    int64 // sessions started
	Failed     int64 // failed starts

	Results map[string]int64 // runs by result: "ok" or the kind of the error
	Ended   map[string]int64 // ended sessions by reason; see [Ends]

	Reason   string    // reason why starts fail; empty if they do not
	Next     time.Time // earliest next start; zero means now
	Answered time.Time // last answer of any session; zero if none yet
	Silent   bool      // Answered is too long ago
}

// Ends returns the reasons why sessions end, which are the keys of Stats.Ended.
func Ends() []string { return []string{endRequests, endAge, endMemory, endDied, endClosed} }

const (
	endRequests = "requests" // MaxRequests reached
	endAge      = "age"
	endMemory   = "memory"
	endDied     = "died"   // ended by itself, or was killed
	endClosed   = "closed" // closed with the pool
)

// Times is a histogram of durations.
type Times struct {
	Count  int64
	Sum    time.Duration
	Within map[time.Duration]int64 // cumulative, by upper bound
}

// Ready reports whether a request would get a session that answers, possibly after waiting.
// If not ready, why is the reason; if ready, why may describe a degradation.
func (s Stats) Ready() (ok bool, why string) {
	switch {
	case s.Reason != "":
		return s.Idle+s.Busy > 0 && !s.Silent, s.Reason
	case s.Answered.IsZero() && s.Starting > 0:
		return false, ps.ErrStarting.Error()
	case s.Answered.IsZero():
		return false, "no session has answered yet"
	case s.Silent:
		return false, "no session has answered since " + s.Answered.UTC().Format(time.RFC3339)
	}
	return true, ""
}

// Stats returns a snapshot of every lane.
func (p *Pool) Stats() map[ps.Lane]Stats {
	all := make(map[ps.Lane]Stats, len(p.lanes))
	for name, l := range p.lanes {
		all[name] = l.stats()
	}
	return all
}

func (l *lane) stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{
		Size:     l.cfg.Size,
		Starting: len(l.starts),
		Idle:     len(l.idle),
		Busy:     len(l.live) - len(l.idle),
		Waiting:  l.queue.Len(),

		Waits:      l.waits.times(),
		Runs:       l.runs.times(),
		Overloaded: l.overloaded,
		Retries:    l.retries,
		Started:    l.started,
		Failed:     l.failed,
		Results:    l.results.counts(),
		Ended:      l.ends.counts(),
		Answered:   l.lastAnswer(),
	}
	if l.circuit.reason != nil {
		s.Reason, s.Next = l.circuit.reason.Error(), l.circuit.until
	}
	// A lane without warm sessions may be silent only because it has no session.
	asked := l.cfg.Warm > 0 || s.Idle+s.Busy > 0
	s.Silent = asked && time.Since(s.Answered) > silentProbes*l.pool.cfg.Probe
	return s
}

const silentProbes = 3 // number of probe intervals without an answer after which a lane is silent

// counters are the counters of a lane. The lane's mutex guards the non-atomic ones.
type counters struct {
	overloaded int64
	retries    int64
	started    int64
	failed     int64
	probing    bool
	last       atomic.Int64 // time of the last answer, Unix nanoseconds; 0 if none yet

	waits, runs   histogram
	results, ends tally
}

// ranWell is the name of the result of a run without an error.
const ranWell = "ok"

func (c *counters) answered() { c.last.Store(time.Now().UnixNano()) }

func (c *counters) lastAnswer() time.Time {
	if at := c.last.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// A tally counts events by name. The zero value is ready to use.
type tally struct {
	mu sync.Mutex
	by map[string]int64
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]int64{}
	}
	t.by[name]++
}

func (t *tally) counts() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		return map[string]int64{}
	}
	return maps.Clone(t.by)
}

// bounds are the upper bounds of a histogram, chosen for anything from a cached look-up to a long list.
var bounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute,
}

// A histogram counts durations. The zero value is ready to use.
type histogram struct {
	count, sum atomic.Int64
	within     [len(bounds)]atomic.Int64 // counts of times above the previous bound
}

func (h *histogram) add(d time.Duration) {
	for i, bound := range bounds {
		if d <= bound {
			h.within[i].Add(1)
			break
		}
	}
	h.sum.Add(int64(d))
	h.count.Add(1)
}

// times returns a snapshot. A concurrent add may already be in the bounds but not yet in the count.
func (h *histogram) times() Times {
	t := Times{Within: make(map[time.Duration]int64, len(bounds)), Count: h.count.Load(),
		Sum: time.Duration(h.sum.Load())}
	var below int64
	for i, bound := range bounds {
		below += h.within[i].Load()
		t.Within[bound] = below
	}
	t.Count = max(t.Count, below)
	return t
}

package pool

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps"
)

// Stats says how a lane does. Counts are since the start of the pool.
type Stats struct {
	Size     int // sessions at most
	Starting int // being started
	Idle     int
	Busy     int // running a request, or being ended
	Waiting  int // requests without a session

	Waits      Times // for a session, by requests that got one and by those that did not
	Runs       Times // of requests on their sessions
	Overloaded int64 // requests that were refused because no session became free
	Retries    int64 // reads that were run once more
	Started    int64 // sessions
	Failed     int64 // starts

	Results map[string]int64 // runs by how they ended: ok, or the kind of the error
	Ended   map[string]int64 // sessions by why; see [Ends]

	Reason   string    // why sessions cannot be started; empty: they can
	Next     time.Time // when the next start may be tried; zero: at any time
	Answered time.Time // when a session last answered anything; zero: none has
	Silent   bool      // that is too long ago
}

// Ends lists why sessions end, as Stats.Ended counts them.
func Ends() []string { return []string{endRequests, endAge, endMemory, endDied, endClosed} }

const (
	endRequests = "requests" // it had its number
	endAge      = "age"
	endMemory   = "memory"
	endDied     = "died"   // by itself, or it was killed
	endClosed   = "closed" // with the pool
)

// Times is how long something took, each time.
type Times struct {
	Count  int64
	Sum    time.Duration
	Within map[time.Duration]int64 // how many took at most so long
}

// Ready tells whether a request would find a session that answers, now or after
// waiting. Of a lane that is not, why tells the reason; of one that is, what is
// wrong all the same, if anything.
func (s Stats) Ready() (ok bool, why string) {
	switch {
	case s.Reason != "":
		return s.Idle+s.Busy > 0 && !s.Silent, s.Reason
	case s.Answered.IsZero():
		return false, "no session has answered yet"
	case s.Silent:
		return false, "no session has answered since " + s.Answered.UTC().Format(time.RFC3339)
	}
	return true, ""
}

// Stats is a snapshot of every lane, for metrics and /readyz.
func (p *Pool) Stats() map[ps.Lane]Stats {
	all := make(map[ps.Lane]Stats, len(p.lanes))
	for name, l := range p.lanes {
		all[name] = l.stats()
	}
	return all
}

func (l *lane) stats() Stats {
	stat := l.sessions.Stat()
	s := Stats{
		Size:     l.cfg.Size,
		Starting: int(stat.ConstructingResources()),
		Idle:     int(stat.IdleResources()),
		Busy:     int(stat.AcquiredResources()),
		Waiting:  int(max(l.inside.Load()-l.running.Load(), 0)),

		Waits:      l.waits.times(),
		Runs:       l.runs.times(),
		Overloaded: l.overloaded.Load(),
		Retries:    l.retries.Load(),
		Started:    l.started.Load(),
		Failed:     l.failed.Load(),
		Results:    l.results.counts(),
		Ended:      l.ended.counts(),
		Answered:   l.lastAnswer(),
	}
	if reason, next := l.circuit.state(); reason != nil {
		s.Reason, s.Next = reason.Error(), next
	}
	// A lane that keeps no session warm may be silent because it has none.
	asked := l.cfg.Warm > 0 || s.Idle+s.Busy > 0
	s.Silent = asked && time.Since(s.Answered) > silentProbes*l.pool.cfg.Probe
	return s
}

const silentProbes = 3 // so often may a probe be due without an answer

// counters are what a lane counts.
type counters struct {
	inside     atomic.Int64 // requests that wait or run
	listing    atomic.Int64 // lists among them
	running    atomic.Int64
	overloaded atomic.Int64
	retries    atomic.Int64
	started    atomic.Int64
	failed     atomic.Int64
	last       atomic.Int64 // answer, in nanoseconds since 1970; 0: none yet
	probing    atomic.Bool

	waits, runs    histogram
	results, ended tally
}

// ranWell is the result of a run that ended without an error.
const ranWell = "ok"

func (c *counters) answered() { c.last.Store(time.Now().UnixNano()) }

func (c *counters) lastAnswer() time.Time {
	if at := c.last.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// A tally counts by name.
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

// bounds are those of a histogram: from a look-up in a warm cache to a long list.
var bounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute,
}

// A histogram counts times by size. The zero value is ready.
type histogram struct {
	count, sum atomic.Int64
	within     [len(bounds)]atomic.Int64 // each only what is above the bound before
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

// times is a snapshot. A time that is added meanwhile may be in the bounds and
// not yet in the count.
func (h *histogram) times() Times {
	t := Times{Within: make(map[time.Duration]int64, len(bounds)), Count: h.count.Load(), Sum: time.Duration(h.sum.Load())}
	var below int64
	for i, bound := range bounds {
		below += h.within[i].Load()
		t.Within[bound] = below
	}
	t.Count = max(t.Count, below)
	return t
}

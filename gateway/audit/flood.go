package audit

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits of the lines about calls without effect that are written in full per window. Further lines are only
// counted, and one line per caller contains the count, so nobody can fill the disk with wrong passwords or
// with changes of objects that do not exist. Known callers have separate limits, so strangers cannot suppress
// their lines.
const (
	floodWindow  = time.Minute
	floodCaller  = 20   // of one caller with one error code; of one address with any code
	floodAll     = 600  // of all strangers together
	floodKnown   = 6000 // of all known callers together
	floodCallers = 1000 // known callers, or strangers, that are counted separately
)

// elsewhere stands for all callers beyond floodCallers.
const elsewhere = "others"

// flood limits the lines for calls without effect.
type flood struct {
	write func(...*Line) error
	now   func() time.Time
	spent func() bool // reports whether the log's space is used up; if it is, no line is written in full

	mu        sync.Mutex
	startedAt time.Time
	known     floodClass
	strangers floodClass
	timer     *time.Timer // timer that writes the counts at the end of the window; nil if nothing was counted
	stopped   bool
}

// floodClass holds the counts of the known callers or of the strangers.
type floodClass struct {
	all int // lines written in full
	by  map[floodKey]*tally
}

// floodKey identifies calls that are counted together.
type floodKey struct {
	who     Who    // zero for strangers
	from    string // empty for known callers
	outcome string
}

type tally struct {
	written map[string]int // lines written in full, by code for known callers
	since   time.Time      // time of the first counted call
	counted uint64
	codes   map[string]uint64
}

// unchanged stands for the code of a call that succeeded without effect.
const unchanged = "unchanged"

// admit reports whether a line may be written in full. If not, it counts the line.
func (f *flood) admit(line *Line) bool {
	full := f.spent()
	now, code := f.now(), cmp.Or(line.Code, unchanged)
	f.mu.Lock()
	defer f.mu.Unlock()
	if elapsed := now.Sub(f.startedAt); elapsed >= floodWindow || elapsed < 0 {
		defer f.writeCounts(f.end())
		f.startedAt, f.known, f.strangers = now, floodClass{}, floodClass{}
	}
	class, most, kind := &f.strangers, floodAll, ""
	key := floodKey{from: network(line.From), outcome: line.Outcome}
	if line.Who != nil {
		class, most, kind = &f.known, floodKnown, code
		key = floodKey{who: *line.Who, outcome: line.Outcome}
	}
	t := class.tally(key, full)
	if t.written[kind] < floodCaller && class.all < most && !full {
		t.written[kind]++
		class.all++
		return true
	}
	if t.counted == 0 {
		t.since = now
	}
	t.counted++
	t.codes[code]++
	if f.timer == nil && !f.stopped {
		f.timer = time.AfterFunc(floodWindow-now.Sub(f.startedAt), f.elapsed)
	}
	return false
}

// tally returns the tally of a caller. If others is set, callers without a tally share one.
func (c *floodClass) tally(key floodKey, others bool) *tally {
	if c.by == nil {
		c.by = map[floodKey]*tally{}
	}
	if t := c.by[key]; t != nil {
		return t
	}
	if others || len(c.by) >= floodCallers {
		key = floodKey{from: elsewhere, outcome: key.outcome}
		if t := c.by[key]; t != nil {
			return t
		}
	}
	t := &tally{written: map[string]int{}, codes: map[string]uint64{}}
	c.by[key] = t
	return t
}

// lines returns the counts as lines.
func (c *floodClass) lines() []*Line {
	var lines []*Line
	for key, t := range c.by {
		if t.counted == 0 {
			continue
		}
		line := &Line{Event: EventCounted, From: key.from, Since: stamp(t.since), Count: t.counted, Codes: t.codes,
			Outcome: key.outcome, Reason: "calls without effect that were counted, not written one by one"}
		if key.who != (Who{}) {
			line.Who = &key.who
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b *Line) int { return cmp.Compare(a.caller(), b.caller()) })
	return lines
}

// end returns the counts of the window as lines and resets them.
func (f *flood) end() []*Line {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	lines := slices.Concat(f.known.lines(), f.strangers.lines())
	f.known, f.strangers = floodClass{}, floodClass{}
	return lines
}

// elapsed writes the counts of a window that has ended.
func (f *flood) elapsed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writeCounts(f.end())
}

// writeCounts writes the counts. If that fails, the lines are owed. The caller holds f.mu, so that
// stop waits for it.
func (f *flood) writeCounts(lines []*Line) {
	if len(lines) > 0 {
		_ = f.write(lines...)
	}
}

// stop writes the counts and stops the timer.
func (f *flood) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	f.writeCounts(f.end())
}

// caller returns a sort key for the caller of a line.
func (l *Line) caller() string {
	if l.Who != nil {
		return l.Who.Kind + " " + l.Who.Name + " " + l.Outcome
	}
	return l.From + " " + l.Outcome
}

// network returns the network of an address whose calls are counted together: the /64 network for
// IPv6, otherwise the address.
func network(from string) string {
	address, err := netip.ParseAddr(from)
	if err != nil {
		return from
	}
	if address = address.Unmap(); address.Is6() {
		return netip.PrefixFrom(address.WithZone(""), 64).Masked().String()
	}
	return address.String()
}

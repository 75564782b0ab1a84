package audit

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits of the refusals that are written in full within a window. Beyond them
// refusals are counted, and one line per address sums them up, so that nobody can
// fill the disk with wrong passwords.
const (
	floodWindow    = time.Minute
	floodAddress   = 20
	floodAll       = 600
	floodAddresses = 1000 // that are counted separately
)

// elsewhere stands for all addresses beyond floodAddresses.
const elsewhere = "others"

// flood limits the lines for rejected calls.
type flood struct {
	write func(...*Line) error
	now   func() time.Time

	mu        sync.Mutex
	startedAt time.Time
	all       int
	by        map[string]*refusals
	timer     *time.Timer // writes the counts at the end of the window; nil if nothing was counted
	stopped   bool
}

type refusals struct {
	written int
	since   time.Time // time of the first counted refusal
	counted uint64
	codes   map[string]uint64
}

// admit reports whether a refusal is to be written; otherwise it counts it.
func (f *flood) admit(from, code string) bool {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil || now.Sub(f.startedAt) >= floodWindow {
		defer f.writeCounts(f.end())
		f.startedAt, f.all, f.by = now, 0, map[string]*refusals{}
	}
	key := network(from)
	r := f.by[key]
	if r == nil && len(f.by) >= floodAddresses {
		key = elsewhere
		r = f.by[key]
	}
	if r == nil {
		r = &refusals{codes: map[string]uint64{}}
		f.by[key] = r
	}
	if r.written < floodAddress && f.all < floodAll {
		r.written++
		f.all++
		return true
	}
	if r.counted == 0 {
		r.since = now
	}
	r.counted++
	r.codes[code]++
	if f.timer == nil && !f.stopped {
		f.timer = time.AfterFunc(floodWindow-now.Sub(f.startedAt), f.elapsed)
	}
	return false
}

// end returns the counts of the window as lines and resets them.
func (f *flood) end() []*Line {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	var lines []*Line
	for _, from := range slices.Sorted(maps.Keys(f.by)) {
		if r := f.by[from]; r.counted > 0 {
			lines = append(lines, &Line{Event: EventCounted, From: from, Since: stamp(r.since), Count: r.counted, Codes: r.codes,
				Outcome: outcomeRefused, Reason: "refused calls that were counted, not written one by one"})
		}
	}
	f.by = nil
	return lines
}

// elapsed writes the counts of a window that has ended.
func (f *flood) elapsed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writeCounts(f.end())
}

// writeCounts writes the counts; on failure they are owed. It holds the lock, so
// that stop waits for it.
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

// network returns what counts as one address: for IPv6 the /64 network.
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

package app

import (
	"os"
	"runtime"
	"runtime/debug"
	gometrics "runtime/metrics"
	"sync"

	"adgateway/gateway/config"
)

// useMemory sets how often this process collects garbage, unless the
// environment variables of the Go runtime do. The caller calls stop at the end.
func useMemory(c config.Memory) (stop func()) {
	if os.Getenv("GOMEMLIMIT") == "" && c.Limit > 0 {
		debug.SetMemoryLimit(int64(c.Limit) << 20)
	}
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	p := &pace{most: c.GCPercent}
	p.collected()
	return p.stop
}

// Up to littleHeap of live heap, garbage may grow by the percentage of the settings. From largeHeap on, the
// percentage is at most the Go runtime's default.
const (
	littleHeap  = 64 << 20
	largeHeap   = 200 << 20
	leastGrowth = 100
)

// percentFor returns the percentage of the live heap by which garbage may grow. For a small heap a high
// percentage costs little memory and saves processor time; for a large heap it would cost gigabytes.
func percentFor(live uint64, most int) int {
	switch {
	case live <= littleHeap || most <= leastGrowth:
		return most
	case live >= largeHeap:
		return leastGrowth
	}
	return most - int(uint64(most-leastGrowth)*(live-littleHeap)/(largeHeap-littleHeap))
}

// pace sets the percentage again after each collection.
type pace struct {
	most int

	mu      sync.Mutex
	set     int // the percentage in effect; 0 before the first collection
	stopped bool
}

// marker is an object that nothing references, so each collection finalizes it.
type marker struct{ _ [4]uintptr }

// await makes the next collection call collected.
func (p *pace) await() { runtime.AddCleanup(&marker{}, (*pace).collected, p) }

// collected sets the percentage for the heap that the last collection left.
func (p *pace) collected() {
	if p.adjust(liveHeap()) {
		p.await()
	}
}

// liveHeap returns the size of the heap that the last collection left, in bytes.
func liveHeap() uint64 {
	live := []gometrics.Sample{{Name: "/gc/heap/live:bytes"}}
	gometrics.Read(live)
	return live[0].Value.Uint64()
}

// adjust sets the percentage for a live heap and returns false after stop.
// Setting it stops the program for a moment, so small differences are ignored.
func (p *pace) adjust(live uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	const small = 10
	next := percentFor(live, p.most)
	if far := max(next-p.set, p.set-next) > small; far || next == p.most && next != p.set {
		p.set = next
		debug.SetGCPercent(next)
	}
	return true
}

// stop ends the adjustments. The percentage stays as it is.
func (p *pace) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

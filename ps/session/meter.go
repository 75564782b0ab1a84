package session

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A Meter counts what the sessions that share it have answered, and why they
// were killed. The zero value is ready; it is safe for concurrent use.
type Meter struct {
	frames, bytes, noise atomic.Int64

	mu     sync.Mutex
	killed map[Cause]int64
}

// Cause says why a session was killed.
type Cause string

// The causes.
const (
	CauseTimeout   Cause = "timeout"   // a request did not end within its limit
	CauseCancelled Cause = "cancelled" // the caller of a read left
	CauseDied      Cause = "died"      // the process ended by itself, or closed its streams
	CauseProtocol  Cause = "protocol"  // it broke the protocol
	CauseOutput    Cause = "output"    // it wrote more than is allowed
	CauseStart     Cause = "start"     // it did not get ready
	CauseClosing   Cause = "closing"   // it did not leave when it was asked to, or not soon enough
)

// Causes lists all causes.
func Causes() []Cause {
	return []Cause{CauseTimeout, CauseCancelled, CauseDied, CauseProtocol, CauseOutput, CauseStart, CauseClosing}
}

// Measured is what a [Meter] has counted.
type Measured struct {
	Frames int64
	Bytes  int64           // of the frames' payloads
	Noise  int64           // bytes on standard output that belong to no frame
	Killed map[Cause]int64 // sessions
}

// Stats is a snapshot.
func (m *Meter) Stats() Measured {
	m.mu.Lock()
	defer m.mu.Unlock()
	killed := maps.Clone(m.killed)
	if killed == nil {
		killed = map[Cause]int64{}
	}
	return Measured{Frames: m.frames.Load(), Bytes: m.bytes.Load(), Noise: m.noise.Load(), Killed: killed}
}

func (m *Meter) kill(cause Cause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed == nil {
		m.killed = map[Cause]int64{}
	}
	m.killed[cause]++
}

package session

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A Meter counts the output of the sessions that share it, and the reasons why they were
// killed. The zero value is ready to use. It is safe for concurrent use.
type Meter struct {
	frames, bytes, noise atomic.Int64

	mu     sync.Mutex
	killed map[Cause]int64
}

// Cause is the reason a session was killed.
type Cause string

// The causes.
const (
	CauseTimeout   Cause = "timeout"   // a request exceeded its limit
	CauseCancelled Cause = "cancelled" // the caller of a read disconnected
	CauseDied      Cause = "died"      // the process exited or closed its streams
	CauseProtocol  Cause = "protocol"  // the process violated the protocol
	CauseOutput    Cause = "output"    // the process wrote more than allowed
	CauseStart     Cause = "start"     // the process did not become ready
	CauseClosing   Cause = "closing"   // the process did not exit in time when asked to
)

// Causes returns all causes.
func Causes() []Cause {
	return []Cause{CauseTimeout, CauseCancelled, CauseDied, CauseProtocol, CauseOutput, CauseStart, CauseClosing}
}

// Measured contains the counters of a [Meter].
type Measured struct {
	Frames int64
	Bytes  int64           // in payloads of frames
	Noise  int64           // bytes on standard output outside of frames
	Killed map[Cause]int64 // sessions by cause
}

// Stats returns the current counters.
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

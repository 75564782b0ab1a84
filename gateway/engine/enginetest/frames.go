package enginetest

import (
	"bytes"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Mischief is the damage that a wire between a client and a node does to messages, in both directions:
// published messages, requests, answers and deliveries.
type Mischief struct {
	Double float64       // fraction of the messages that are delivered twice
	Late   float64       // fraction of the messages that later ones overtake
	By     time.Duration // maximum delay of overtaken messages
}

// NewClientWire returns a wire from clients to a node, without TLS, that recognizes the boundaries of
// messages. See [NewWire] and [Wire.Mischief].
func NewClientWire(target string) (*Wire, error) {
	w, err := NewWire("")
	if err != nil {
		return nil, err
	}
	w.set(func() { w.framed, w.target = true, target })
	return w, nil
}

// Mischief sets what happens to messages from now on. The zero value disables it.
func (w *Wire) Mischief(m Mischief) { w.set(func() { w.mischief = m }) }

// Mangled returns the numbers of messages that were delivered twice, and late.
func (w *Wire) Mangled() (twice, late int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.twice, w.tardy
}

// mangler passes on whole frames of the protocol between clients and nodes.
type mangler struct {
	wire *Wire
	rest []byte // frame whose end has not arrived yet
	late sync.WaitGroup
	over chan struct{} // closed by close

	mu sync.Mutex // held while a frame is written
	to net.Conn
}

func newMangler(wire *Wire, to net.Conn) *mangler {
	return &mangler{wire: wire, to: to, over: make(chan struct{})}
}

// close drops delayed messages.
func (m *mangler) close() {
	close(m.over)
	m.late.Wait()
}

// Write passes on the frames that end within piece.
func (m *mangler) Write(piece []byte) (int, error) {
	m.rest = append(m.rest, piece...)
	var now []byte
	for {
		length, isMessage := frame(m.rest)
		if length == 0 {
			break
		}
		var one []byte
		one, m.rest = m.rest[:length], m.rest[length:]
		times, late := 1, time.Duration(0)
		if isMessage {
			times, late = m.wire.fate()
		}
		for range times {
			if late > 0 {
				m.later(slices.Clone(one), late)
				continue
			}
			now = append(now, one...)
		}
	}
	m.rest = slices.Clone(m.rest)
	if err := m.write(now); err != nil {
		return 0, err
	}
	return len(piece), nil
}

func (m *mangler) write(frames []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.to.Write(frames)
	return err
}

func (m *mangler) later(frame []byte, late time.Duration) {
	m.late.Go(func() {
		select {
		case <-time.After(late):
			_ = m.write(frame) // the connection may have ended
		case <-m.over:
		}
	})
}

// fate returns how many times a message is delivered, and with what delay.
func (w *Wire) fate() (times int, late time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	times = 1
	if rand.Float64() < w.mischief.Double {
		times = 2
		w.twice++
	}
	if w.mischief.By > 0 && rand.Float64() < w.mischief.Late {
		late = rand.N(w.mischief.By)
		w.tardy++
	}
	return times, late
}

// frame returns the length of the first frame, or 0 if it is incomplete, and whether it is a
// message.
func frame(text []byte) (length int, isMessage bool) {
	line, _, whole := bytes.Cut(text, []byte("\r\n"))
	if !whole {
		return 0, false
	}
	length = len(line) + len("\r\n")
	words := bytes.Fields(line)
	if len(words) < 3 {
		return length, false
	}
	switch string(bytes.ToUpper(words[0])) {
	case "PUB", "HPUB", "MSG", "HMSG":
		size, err := strconv.Atoi(string(words[len(words)-1]))
		if err != nil {
			return length, false
		}
		if length += size + len("\r\n"); length > len(text) {
			return 0, false
		}
		return length, true
	}
	return length, false
}

package enginetest

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Wire is a proxy between two processes. It can delay bytes, show them to a listener, and hold them back
// while the connections stay open, which is the difficult kind of partition (facts J8). It is safe for
// concurrent use.
type Wire struct {
	listener net.Listener
	work     sync.WaitGroup
	done     chan struct{} // closed by Close

	mu     sync.Mutex
	change *sync.Cond    // signals changes of the fields below
	target string        // empty while unknown
	holds  int           // number of times that it is held
	deaf   bool          // messages from the other end are held
	mute   bool          // messages to the other end are held
	late   time.Duration // maximum delay of a piece
	tap    func([]byte)
	framed bool // the wire connects a client and a node
	closed bool

	open map[net.Conn]bool

	mischief     Mischief
	twice, tardy int // numbers of repeated and delayed messages
}

// NewWire returns a wire that leads to an address. If target is empty, [Wire.To] must set it. The caller must
// call [Wire.Close].
func NewWire(target string) (*Wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &Wire{listener: listener, target: target, open: map[net.Conn]bool{}, done: make(chan struct{})}
	w.change = sync.NewCond(&w.mu)
	w.work.Go(w.accept)
	return w, nil
}

// Address returns the address at which the wire accepts connections.
func (w *Wire) Address() string { return w.listener.Addr().String() }

// To sets the address that new connections lead to.
func (w *Wire) To(target string) { w.set(func() { w.target = target }) }

// Hold holds everything back, or releases it. Each hold must be released once.
func (w *Wire) Hold(on bool) {
	w.set(func() {
		if on {
			w.holds++
		} else {
			w.holds = max(0, w.holds-1)
		}
	})
}

// HoldAnswers holds messages from the other end, or releases them. Messages to the other end still
// arrive, but nobody learns that.
func (w *Wire) HoldAnswers(on bool) { w.set(func() { w.deaf = on }) }

// HoldCalls holds messages to the other end, or releases them. Messages from the other end still
// arrive.
func (w *Wire) HoldCalls(on bool) { w.set(func() { w.mute = on }) }

// Delay delays each piece by a random time up to most.
func (w *Wire) Delay(most time.Duration) { w.set(func() { w.late = most }) }

// Tap calls listen with each piece that passes, in either direction. listen may be called
// concurrently, and must not keep the bytes.
func (w *Wire) Tap(listen func([]byte)) { w.set(func() { w.tap = listen }) }

// Close ends the wire and its connections.
func (w *Wire) Close() {
	_ = w.listener.Close()
	w.set(func() {
		if !w.closed {
			close(w.done)
		}
		w.closed = true
		for conn := range w.open {
			_ = conn.Close()
		}
	})
	w.work.Wait()
}

func (w *Wire) set(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	w.change.Broadcast()
}

// pass waits until bytes may pass in a direction, and returns false if the wire is closed.
func (w *Wire) pass(bytes []byte, back bool) bool {
	w.mu.Lock()
	late, tap := w.late, w.tap
	w.mu.Unlock()
	if late > 0 && len(bytes) > 0 {
		select {
		case <-time.After(rand.N(late)):
		case <-w.done:
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && (w.holds > 0 || back && w.deaf || !back && w.mute || w.target == "") {
		w.change.Wait()
	}
	if tap != nil && !w.closed && len(bytes) > 0 {
		tap(bytes)
	}
	return !w.closed
}

// hold registers conn to be closed with the wire, and returns false if the wire is already closed.
func (w *Wire) hold(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = conn.Close()
		return false
	}
	w.open[conn] = true
	return true
}

func (w *Wire) drop(conn net.Conn) {
	_ = conn.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, conn)
}

func (w *Wire) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil { // the listener was closed
			return
		}
		if w.hold(conn) {
			w.work.Go(func() { w.serve(conn) })
		}
	}
}

func (w *Wire) serve(near net.Conn) {
	defer w.drop(near)
	if !w.pass(nil, false) {
		return
	}
	w.mu.Lock()
	target := w.target
	w.mu.Unlock()
	far, err := net.Dial("tcp", target)
	if err != nil || !w.hold(far) {
		return
	}
	defer w.drop(far)
	var back sync.WaitGroup
	back.Go(func() { w.copy(near, far, true) })
	w.copy(far, near, false)
	back.Wait()
}

// copy passes bytes on, and closes both ends when either one ends.
func (w *Wire) copy(to, from net.Conn, back bool) {
	out := io.Writer(to)
	if w.framed {
		m := newMangler(w, to)
		defer m.close()
		out = m
	}
	defer func() {
		_ = to.Close()
		_ = from.Close()
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !w.pass(buffer[:n], back) {
				return
			}
			if _, err := out.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

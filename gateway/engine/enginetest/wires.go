package enginetest

import (
	"fmt"
	"net"
	"strings"
	"sync"
)

// wires are the ways between the nodes, one for each pair and direction.
type wires struct {
	nodes int
	all   []*wire
}

// wire is a proxy through which one node connects to another.
type wire struct {
	from, to int
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	change *sync.Cond // of what follows
	port   int        // of the node it leads to; 0 until it is known
	cuts   int        // how many of its ends are cut off
	closed bool
	open   map[net.Conn]bool
}

func newWires(nodes int) *wires { return &wires{nodes: nodes} }

func (w *wires) open() error {
	for from := range w.nodes {
		for to := range w.nodes {
			if from == to {
				continue
			}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			one := &wire{from: from, to: to, listener: listener, open: map[net.Conn]bool{}}
			one.change = sync.NewCond(&one.mu)
			one.work.Go(one.accept)
			w.all = append(w.all, one)
		}
	}
	return nil
}

// peers are the addresses under which a node knows the others.
func (w *wires) peers(node int) []string {
	var addresses []string
	for _, one := range w.all {
		if one.from == node {
			addresses = append(addresses, one.listener.Addr().String())
		}
	}
	return addresses
}

// target says where a node listens now.
func (w *wires) target(node, port int) {
	for _, one := range w.all {
		if one.to == node {
			one.set(func() { one.port = port })
		}
	}
}

func (w *wires) cut(node int, off bool) {
	for _, one := range w.all {
		if one.from == node || one.to == node {
			one.set(func() {
				if off {
					one.cuts++
				} else {
					one.cuts = max(0, one.cuts-1)
				}
			})
		}
	}
}

func (w *wires) close() {
	for _, one := range w.all {
		_ = one.listener.Close()
		one.set(func() {
			one.closed = true
			for conn := range one.open {
				_ = conn.Close()
			}
		})
	}
	for _, one := range w.all {
		one.work.Wait()
	}
}

func (w *wire) set(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	w.change.Broadcast()
}

// pass waits until bytes may pass, and reports false when the wire is closed.
func (w *wire) pass() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && (w.cuts > 0 || w.port == 0) {
		w.change.Wait()
	}
	return !w.closed
}

// hold keeps conn for closing, and reports false when the wire is closed already.
func (w *wire) hold(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = conn.Close()
		return false
	}
	w.open[conn] = true
	return true
}

func (w *wire) drop(conn net.Conn) {
	_ = conn.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, conn)
}

func (w *wire) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil { // it was closed
			return
		}
		if w.hold(conn) {
			w.work.Go(func() { w.serve(conn) })
		}
	}
}

func (w *wire) serve(near net.Conn) {
	defer w.drop(near)
	if !w.pass() {
		return
	}
	w.mu.Lock()
	port := w.port
	w.mu.Unlock()
	far, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil || !w.hold(far) {
		return
	}
	defer w.drop(far)
	var back sync.WaitGroup
	back.Go(func() { w.copy(near, far) })
	w.copy(far, near)
	back.Wait()
}

// copy passes bytes on, and closes both ends when one of them ends.
func (w *wire) copy(to, from net.Conn) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !w.pass() {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func join(urls []string) string { return strings.Join(urls, ",") }

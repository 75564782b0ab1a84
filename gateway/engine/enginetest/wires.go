package enginetest

import (
	"fmt"
	"strings"
)

// Wires are the ways between the nodes of a cluster, one for each pair and direction. The
// nodes must know each other by [Wires.Peers] only.
type Wires struct{ all []between }

// between is the way from a node to another one.
type between struct {
	from, to int
	wire     *Wire
}

// NewWires returns the ways between some nodes. [Wires.Close] must follow, also after an
// error.
func NewWires(nodes int) (*Wires, error) {
	w := &Wires{}
	for from := range nodes {
		for to := range nodes {
			if from == to {
				continue
			}
			wire, err := NewWire("")
			if err != nil {
				return w, err
			}
			w.all = append(w.all, between{from, to, wire})
		}
	}
	return w, nil
}

// Peers are the addresses under which a node knows the others.
func (w *Wires) Peers(node int) []string {
	var addresses []string
	for _, one := range w.all {
		if one.from == node {
			addresses = append(addresses, one.wire.Address())
		}
	}
	return addresses
}

// To says where a node listens now.
func (w *Wires) To(node int, address string) {
	for _, one := range w.all {
		if one.to == node {
			one.wire.To(address)
		}
	}
}

// Cut holds back everything between a node and the others, or lets it pass again.
func (w *Wires) Cut(node int, off bool) {
	for _, one := range w.all {
		if one.from == node || one.to == node {
			one.wire.Hold(off)
		}
	}
}

// From calls do with those by which a node reaches the others.
func (w *Wires) From(node int, do func(*Wire)) {
	for _, one := range w.all {
		if one.from == node {
			do(one.wire)
		}
	}
}

// Each calls do with all of the wires.
func (w *Wires) Each(do func(*Wire)) {
	for _, one := range w.all {
		do(one.wire)
	}
}

// Close ends all of them.
func (w *Wires) Close() { w.Each((*Wire).Close) }

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func join(urls []string) string { return strings.Join(urls, ",") }

package enginetest

import (
	"fmt"
	"strings"
)

// Wires are the wires between the nodes of a cluster, one per pair and direction. The nodes must know each
// other only by the addresses of [Wires.Peers].
type Wires struct{ all []between }

// between is the wire from one node to another.
type between struct {
	from, to int
	wire     *Wire
}

// NewWires returns the wires between some nodes. The caller must call [Wires.Close], even after an
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

// Peers returns the addresses under which a node knows the others.
func (w *Wires) Peers(node int) []string {
	var addresses []string
	for _, one := range w.all {
		if one.from == node {
			addresses = append(addresses, one.wire.Address())
		}
	}
	return addresses
}

// To sets the address at which a node listens.
func (w *Wires) To(node int, address string) {
	for _, one := range w.all {
		if one.to == node {
			one.wire.To(address)
		}
	}
}

// Cut holds back all traffic between a node and the others, or releases it.
func (w *Wires) Cut(node int, off bool) {
	for _, one := range w.all {
		if one.from == node || one.to == node {
			one.wire.Hold(off)
		}
	}
}

// From calls do with the wires by which a node reaches the others.
func (w *Wires) From(node int, do func(*Wire)) {
	for _, one := range w.all {
		if one.from == node {
			do(one.wire)
		}
	}
}

// Each calls do with all wires.
func (w *Wires) Each(do func(*Wire)) {
	for _, one := range w.all {
		do(one.wire)
	}
}

// Close closes all wires.
func (w *Wires) Close() { w.Each((*Wire).Close) }

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func join(urls []string) string { return strings.Join(urls, ",") }

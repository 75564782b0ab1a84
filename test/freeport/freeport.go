// Package freeport finds TCP ports for tests whose servers must have the same address again
// after a restart, or know each other's address before they start.
//
// The ports lie below those that Linux, Windows and macOS give to outgoing connections, so
// that no connection of another test has one of them when its server starts.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

const lowest, highest = 10_000, 32_767

var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// Ports returns n ports on which nobody listens. A process gets each once.
func Ports(t testing.TB, n int) []int {
	t.Helper()
	given.Lock()
	defer given.Unlock()
	var ports []int
	for range 1000 {
		if len(ports) == n {
			return ports
		}
		port := lowest + rand.IntN(highest-lowest+1)
		if given.ports[port] {
			continue
		}
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}
		_ = l.Close()
		given.ports[port] = true
		ports = append(ports, port)
	}
	t.Fatalf("no %d free ports between %d and %d", n, lowest, highest)
	return nil
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// Addresses returns n such ports as addresses.
func Addresses(t testing.TB, n int) []string {
	t.Helper()
	var all []string
	for _, port := range Ports(t, n) {
		all = append(all, address(port))
	}
	return all
}

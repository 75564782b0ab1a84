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

// held has the UDP socket of each port that was returned. It stays open until the process ends,
// and so keeps other test processes from taking the TCP port between two uses.
var held = struct {
	sync.Mutex
	sockets map[int]net.PacketConn
}{sockets: map[int]net.PacketConn{}}

// Ports returns n ports on which nobody listens. No other call returns one of them, in this
// process or another, until this process ends.
func Ports(t testing.TB, n int) []int {
	t.Helper()
	held.Lock()
	defer held.Unlock()
	var ports []int
	for range 1000 {
		if len(ports) == n {
			return ports
		}
		port := lowest + rand.IntN(highest-lowest+1)
		if socket, ok := take(port); ok {
			held.sockets[port] = socket
			ports = append(ports, port)
		}
	}
	t.Fatalf("no %d free ports between %d and %d", n, lowest, highest)
	return nil
}

// take returns the socket that holds the port, and false if somebody has the port.
func take(port int) (socket net.PacketConn, ok bool) {
	socket, err := net.ListenPacket("udp", address(port))
	if err != nil {
		return nil, false
	}
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		_ = socket.Close()
		return nil, false
	}
	_ = l.Close()
	return socket, true
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

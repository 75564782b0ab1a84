// Package freeport finds TCP ports for tests whose servers need the same address again after
// a restart, or know each other's address before they start.
//
// The ports lie below the range that Linux, Windows and macOS use for outgoing connections,
// so no connection of another test occupies one of them when its server starts.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

const lowest, highest = 10_000, 32_767

// held holds the UDP socket of each returned port. A socket stays open until the process ends,
// which keeps other test processes from taking the TCP port between two uses.
var held = struct {
	sync.Mutex
	sockets map[int]net.PacketConn
}{sockets: map[int]net.PacketConn{}}

// Ports returns n free ports. Until this process ends, no other call of Ports returns one of them, in this
// process or in another.
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

// take returns the socket that reserves the port. ok is false if the port is in use.
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

// Addresses is [Ports], but returns addresses.
func Addresses(t testing.TB, n int) []string {
	t.Helper()
	var all []string
	for _, port := range Ports(t, n) {
		all = append(all, address(port))
	}
	return all
}

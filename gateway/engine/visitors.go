package engine

import (
	"crypto/tls"
	"net"
	"sync"
	"syscall"
)

// visitors are the connections that others have made to the node with a certificate. The server only checks a
// connection when it is made. Reloading its configuration ends connections of gateways, but not connections
// of other nodes.
type visitors struct {
	mu     sync.Mutex
	verify func(tls.ConnectionState) error
	all    map[net.Conn]tls.ConnectionState
}

// watch returns a listener's settings that register its connections as visitors.
func (v *visitors) watch(c *tls.Config) *tls.Config {
	if c.VerifyConnection == nil {
		return c.Clone()
	}
	v.verify, v.all = c.VerifyConnection, map[net.Conn]tls.ConnectionState{}
	watched := c.Clone()
	watched.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		config := c.Clone()
		config.VerifyConnection = func(s tls.ConnectionState) error { return v.enter(hello.Conn, s) }
		return config, nil
	}
	return watched
}

// enter checks a connection and registers it. The list cannot change between the check and the registration.
func (v *visitors) enter(conn net.Conn, s tls.ConnectionState) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.verify(s); err != nil {
		return err
	}
	for before := range v.all {
		if isClosed(before) {
			delete(v.all, before)
		}
	}
	v.all[conn] = s
	return nil
}

// review closes the connections of clients that may no longer connect.
func (v *visitors) review() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for conn, s := range v.all {
		if v.verify(s) != nil {
			_ = conn.Close() // the server notices the closed connection
			delete(v.all, conn)
		}
	}
}

// isClosed reports whether this side has closed a connection.
func isClosed(conn net.Conn) bool {
	of, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := of.SyscallConn()
	return err != nil || raw.Control(func(uintptr) {}) != nil
}

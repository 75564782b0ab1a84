// Package transport is what the gateway knows of HTTP: connections, addresses of clients,
// routes, credentials, parameters, envelopes, answers that wait for slow clients, health and
// metrics. It makes calls of requests, and knows no rule of the domain.
//
// A request passes these stages. The routes find the operation by method and path, before gin,
// which can neither match literals in any case nor take a network with a slash as one value.
// Calls that another gateway of a cluster must answer are forwarded. The first middleware,
// receive, creates the state of the request, and writes log and metrics when the answer is
// complete; two others recover panics and set headers. Then the caller is found, the [Calls] make
// the call, and the answer is sent.
package transport

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"adgateway/gateway/authn"
)

// Why connections are refused.
const (
	manyOfHost = "the address has as many as http.maxConnectionsPerAddress allows"
	manyInAll  = "the rest of http.maxConnections is kept for callers that had a valid credential lately"
)

// thisMachine stands for all loopback addresses.
var thisMachine = netip.PrefixFrom(netip.IPv6Loopback(), 128)

// HostOf returns what counts as one host: an address, or the /64 of an IPv6 address. The addresses
// of this machine are one host, too.
func HostOf(address netip.Addr) netip.Prefix {
	if address.IsLoopback() {
		return thisMachine
	}
	return authn.Host(address)
}

// Limits of a [Listener].
type Limits struct {
	Total   int // open connections; further ones wait. A tenth of the places is kept for known addresses
	PerHost int // open connections of one host; further ones are closed

	Exempt func(netip.Addr) bool // reports whether PerHost does not apply
	Known  func(netip.Addr) bool // reports whether an address may use the places that are kept

	// Refused is called at most once a minute, with the reason and the number since the last call.
	Refused func(address netip.Addr, reason string, count int)
}

// Listener limits the open connections, in all and per host.
type Listener struct {
	net.Listener
	limits Limits
	slots  chan struct{} // one element per open connection
	closed chan struct{}
	common int       // places for everybody; the rest of slots is for known addresses
	once   sync.Once // closes closed

	mu         sync.Mutex // guards the fields below
	open       map[netip.Prefix]int
	taken      int // common places
	refused    int // since reportedAt
	reportedAt time.Time
}

// Limit returns a listener that keeps the limits.
func Limit(listener net.Listener, limits Limits) *Listener {
	return &Listener{
		Listener: listener, limits: limits, common: limits.Total - limits.Total/10,
		slots: make(chan struct{}, limits.Total), closed: make(chan struct{}), open: map[netip.Prefix]int{},
	}
}

// Close closes the listener. Connections that are open stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Accept waits for a connection within the limits and closes others.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		connection, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		if leave := l.enter(addressOf(connection)); leave != nil {
			return &limitedConn{Conn: connection, leave: sync.OnceFunc(leave)}, nil
		}
		_ = connection.Close() // nothing was sent
	}
}

func addressOf(connection net.Conn) netip.Addr {
	peer, _ := netip.ParseAddrPort(connection.RemoteAddr().String())
	return peer.Addr().Unmap().WithZone("")
}

// enter gives a connection its place, and returns what frees that and the slot; nil:
// there is no place.
func (l *Listener) enter(address netip.Addr) (leave func()) {
	host := HostOf(address)
	l.mu.Lock()
	defer l.mu.Unlock()
	common := l.taken < l.common
	switch {
	case l.open[host] >= l.limits.PerHost && !l.limits.Exempt(address):
		l.refuse(address, manyOfHost)
		return nil
	case !common && !l.limits.Known(address):
		l.refuse(address, manyInAll)
		return nil
	}
	l.open[host]++
	if common {
		l.taken++
	}
	return func() {
		l.mu.Lock()
		if l.open[host]--; l.open[host] == 0 {
			delete(l.open, host)
		}
		if common {
			l.taken--
		}
		l.mu.Unlock()
		<-l.slots
	}
}

// refuse counts a refused connection. l.mu is held.
func (l *Listener) refuse(address netip.Addr, reason string) {
	l.refused++
	if now := time.Now(); now.Sub(l.reportedAt) >= time.Minute {
		l.limits.Refused(address, reason, l.refused)
		l.refused, l.reportedAt = 0, now
	}
}

// limitedConn frees its slot when it is closed.
type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

// CloseWrite lets net/http end a connection so that the client can still read the
// last answer, such as a 431.
func (c *limitedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Package transport is the HTTP side of the gateway: connections, client addresses, routes,
// credentials, parameters, envelopes, answers that wait for slow clients, health and metrics. It
// turns requests into calls, and knows no rules of the domain.
//
// A request passes these stages. The routes find the operation by method and path. This happens
// before gin, which can neither match literals in any case nor accept a network with a slash as one
// value. Calls that another gateway of a cluster must answer are forwarded. The first middleware,
// receive, creates the state of the request, and writes log and metrics when the answer is
// complete. Two more recover panics and set headers. Then the caller is found, the [Calls] make the
// call, and the answer is sent.
package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/authn"
)

// Reasons for refusing connections.
const (
	manyOfHost = "the address has as many as http.maxConnectionsPerAddress allows"
	manyInAll  = "the rest of http.maxConnections is kept for callers that had a valid credential lately"
)

// thisMachine stands for all loopback addresses.
var thisMachine = netip.PrefixFrom(netip.IPv6Loopback(), 128)

// HostOf returns the host to which an address belongs. That is the address itself, or the /64 of an IPv6
// address. All addresses of this machine belong to one host.
func HostOf(address netip.Addr) netip.Prefix {
	if address.IsLoopback() {
		return thisMachine
	}
	return authn.Host(address)
}

// Limits of a [Listener].
type Limits struct {
	Total   int // open connections, beyond which further ones wait; a tenth is reserved for known addresses
	PerHost int // open connections per host; further ones are closed

	Exempt func(netip.Addr) bool // reports whether PerHost does not apply
	Known  func(netip.Addr) bool // reports whether an address may use the reserved places

	// Refused is called at most once a minute, with the reason and the number since the last call.
	Refused func(address netip.Addr, reason string, count int)
}

// Listener limits the open connections, in total and per host.
type Listener struct {
	net.Listener
	limits Limits
	slots  chan struct{} // one element per open connection
	closed chan struct{}
	common int       // places for everyone; the rest of slots is for known addresses
	once   sync.Once // closes closed

	mu         sync.Mutex // guards the fields below
	open       map[netip.Prefix]int
	taken      int // number of common places in use
	refused    int // since reportedAt
	reportedAt time.Time
}

// Limit returns a listener that enforces the limits.
func Limit(listener net.Listener, limits Limits) *Listener {
	return &Listener{
		Listener: listener, limits: limits, common: limits.Total - limits.Total/10,
		slots: make(chan struct{}, limits.Total), closed: make(chan struct{}), open: map[netip.Prefix]int{},
	}
}

// Close closes the listener. Open connections stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Accept waits for a connection within the limits, and closes connections beyond them.
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

// enter gives a connection a place, and returns a function that frees the place and the slot. It returns nil
// if there is no place.
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
	leave  func()
	closed atomic.Bool
}

func (c *limitedConn) Close() error {
	c.closed.Store(true)
	err := c.Conn.Close()
	c.leave()
	return err
}

// Closed reports whether Close was called.
func (c *limitedConn) Closed() bool { return c.closed.Load() }

// CloseWrite lets net/http end a connection so that the client can still read the last answer, such as a
// 431.
func (c *limitedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Connections configures how the server accepts connections. All fields but TLS are
// required.
type Connections struct {
	TLS *tls.Config // nil for plain HTTP

	HeaderTimeout time.Duration // time for the TLS handshake and the header of a request
	BodyTimeout   time.Duration // time for a whole request
	SendTimeout   time.Duration // time for the client to receive one piece of an answer
	IdleTimeout   time.Duration // idle time between two requests of a connection

	// Total is the maximum number of open connections; further ones wait. A tenth of the places is
	// reserved for known hosts, see [Server.known]. When the others are taken, connections from
	// unknown hosts are closed.
	Total int
	// PerAddress is the maximum number of open connections from one host that is not a trusted proxy;
	// further ones are closed. The addresses of an IPv6 /64 count as one host, and so do the addresses
	// of this machine.
	PerAddress int
}

// Limits returns the options that must be positive, by name.
func (c *Connections) Limits() map[string]int64 {
	return map[string]int64{
		"HeaderTimeout": int64(c.HeaderTimeout), "BodyTimeout": int64(c.BodyTimeout),
		"SendTimeout": int64(c.SendTimeout), "IdleTimeout": int64(c.IdleTimeout),
		"Total": int64(c.Total), "PerAddress": int64(c.PerAddress),
	}
}

// headerLimit is the size limit of the request line and header. If it is exceeded, net/http answers 431, just
// as it answers 400 to malformed HTTP, such as the path /%zz. Over HTTP/2 it ends the stream, or the
// connection if the header is far too long. No request exists at that point, so these answers are not
// envelopes.
const headerLimit = 128 << 10 // half of it may be a Kerberos ticket

// httpServer returns a server that limits every wait for a client.
func (s *Server) httpServer() *http.Server {
	c := s.Connections
	return &http.Server{
		Handler:           s.Handler(),
		TLSConfig:         c.TLS,
		ReadHeaderTimeout: c.HeaderTimeout,
		ReadTimeout:       c.BodyTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxHeaderBytes:    headerLimit,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 100, WriteByteTimeout: c.SendTimeout},
		ErrorLog:          log.New(serverLog{s.Log, s.meters.handshakes}, "", 0),

		DisableGeneralOptionsHandler: true, // handle "OPTIONS *" like any other request
	}
}

// listen applies the limits to a listener.
func (s *Server) listen(listener net.Listener) *Listener {
	return Limit(listener, Limits{
		Total: s.Connections.Total, PerHost: s.Connections.PerAddress,
		Exempt: func(address netip.Addr) bool { return s.current.Load().proxies.Trust(address) }, Known: s.known,
		Refused: func(address netip.Addr, reason string, count int) {
			s.Log.WithFields(logrus.Fields{"client": address.String(), "refused": count}).Warn(
				"connections refused: " + reason)
		},
	})
}

// known reports whether connections from an address may use the reserved places. Connections from this
// machine, from trusted proxies, and from hosts that recently sent a valid credential may. So strangers can
// take all other places without locking out active clients.
func (s *Server) known(address netip.Addr) bool {
	if address.IsLoopback() || s.current.Load().proxies.Trust(address) {
		return true
	}
	at, ok := s.proven.Get(HostOf(address))
	return ok && time.Since(at) < provenFor
}

const (
	provenHosts = 20000     // number of hosts that are remembered
	provenFor   = time.Hour // time that a host is remembered after its last valid credential
)

// Proved remembers that a valid credential arrived on the connection of a request.
func (s *Server) Proved(r *http.Request) { s.proved(Peer(r)) }

// proved remembers that a valid credential arrived on a connection from an address.
func (s *Server) proved(peer netip.Addr) { s.proven.Add(HostOf(peer), time.Now()) }

// serverLog receives the messages of net/http. A failed TLS handshake concerns one client, which
// also sees the failure, so it is only counted and logged at debug level. Connections that are
// closed before the handshake are probes by load balancers and port scanners.
type serverLog struct {
	log        *logrus.Logger
	handshakes prometheus.Counter // failed handshakes
}

func (l serverLog) Write(line []byte) (int, error) {
	text, level := string(bytes.TrimSpace(line)), logrus.WarnLevel
	if strings.HasPrefix(text, "http: TLS handshake error") {
		level = logrus.DebugLevel
		if !strings.HasSuffix(text, ": EOF") {
			l.handshakes.Inc()
		}
	}
	l.log.Log(level, text)
	return len(line), nil
}

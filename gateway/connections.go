package gateway

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

// Connections configures how the server accepts connections. The zero value of
// every field selects a default.
type Connections struct {
	TLS *tls.Config // nil: plain HTTP

	HeaderTimeout time.Duration // for the TLS handshake and the header of a request; zero: 10 s
	BodyTimeout   time.Duration // for a whole request; zero: 1 min
	SendTimeout   time.Duration // for the client to receive one piece of an answer; zero: 1 min
	IdleTimeout   time.Duration // between requests; zero: 2 min

	Total      int // open at a time, further ones wait; zero: 2000
	PerAddress int // open from one address that is not a trusted proxy, further ones are closed; zero: 250
}

func (c *Connections) complete() {
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, time.Minute)
	c.SendTimeout = cmp.Or(c.SendTimeout, time.Minute)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.Total = cmp.Or(c.Total, 2000)
	c.PerAddress = cmp.Or(c.PerAddress, 250)
}

// headerLimit is the limit on the request line and header. Beyond it net/http
// answers 431, and a plain 400 to malformed HTTP, such as the path /%zz; over HTTP/2
// it ends the stream, or the connection if the header is far too long. There is no
// request yet, so these answers are not envelopes.
const headerLimit = 64 << 10

// httpServer returns a server with a limit on everything that clients can make it
// wait for.
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

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is handled like any other request
	}
}

// listen applies the limits to a listener.
func (s *Server) listen(listener net.Listener) *limitedListener {
	return &limitedListener{
		Listener: listener, perAddress: s.Connections.PerAddress,
		slots: make(chan struct{}, s.Connections.Total), closed: make(chan struct{}),
		open: map[netip.Addr]int{}, exempt: func(address netip.Addr) bool { return s.current.Load().proxies.trust(address) },
		onRefused: func(address netip.Addr, count int) {
			s.Log.WithFields(logrus.Fields{"client": address.String(), "refused": count}).
				Warn("connections refused: the address has as many as http.maxConnectionsPerAddress allows")
		},
	}
}

// limitedListener limits the open connections, in all and per address.
type limitedListener struct {
	net.Listener
	slots      chan struct{} // one element per open connection
	closed     chan struct{}
	perAddress int
	exempt     func(netip.Addr) bool // reports whether perAddress does not apply
	onRefused  func(netip.Addr, int) // called at most once a minute, with the number since the last call
	once       sync.Once             // closes closed

	mu         sync.Mutex // guards the fields below
	open       map[netip.Addr]int
	refused    int // since reportedAt
	reportedAt time.Time
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Accept waits for a connection within the limits and closes others.
func (l *limitedListener) Accept() (net.Conn, error) {
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
		address := addressOf(connection)
		if l.enter(address) {
			return &limitedConn{Conn: connection, leave: sync.OnceFunc(func() { l.leave(address) })}, nil
		}
		_ = connection.Close() // nothing was sent
	}
}

func addressOf(connection net.Conn) netip.Addr {
	peer, _ := netip.ParseAddrPort(connection.RemoteAddr().String())
	return peer.Addr().Unmap().WithZone("")
}

func (l *limitedListener) enter(address netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[address] < l.perAddress || l.exempt(address) {
		l.open[address]++
		return true
	}
	l.refused++
	if now := time.Now(); now.Sub(l.reportedAt) >= time.Minute {
		l.onRefused(address, l.refused)
		l.refused, l.reportedAt = 0, now
	}
	return false
}

func (l *limitedListener) leave(address netip.Addr) {
	l.mu.Lock()
	if l.open[address]--; l.open[address] == 0 {
		delete(l.open, address)
	}
	l.mu.Unlock()
	<-l.slots
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

// serverLog receives the messages of net/http. A failed TLS handshake concerns one
// client, which sees it, too; it is counted and logged at debug. Connections closed
// before the handshake are probes of load balancers and port scanners.
type serverLog struct {
	log        *logrus.Logger
	handshakes prometheus.Counter // failed ones
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

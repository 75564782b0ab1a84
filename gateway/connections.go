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

// Connections says how the server takes connections. Of everything in it the
// zero value is a sensible choice.
type Connections struct {
	TLS *tls.Config // nil: nothing is encrypted

	HeaderTimeout time.Duration // for a request's header and the TLS handshake; zero: 10 s
	BodyTimeout   time.Duration // for a whole request; zero: 1 min
	SendTimeout   time.Duration // for a client to take one piece of an answer; zero: 1 min
	IdleTimeout   time.Duration // between requests; zero: 2 min

	Total      int // at a time, more wait; zero: 2000
	PerAddress int // of one address that is no trusted proxy, more are closed; zero: 250
}

func (c *Connections) complete() {
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, time.Minute)
	c.SendTimeout = cmp.Or(c.SendTimeout, time.Minute)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.Total = cmp.Or(c.Total, 2000)
	c.PerAddress = cmp.Or(c.PerAddress, 250)
}

// headerLimit bounds a request's line and header. net/http answers 431 to more,
// and a plain 400 to what is no HTTP, such as a malformed path (/%zz); over
// HTTP/2 it ends the stream, or the connection when the header is far too long.
// It does so before there is a request, so these answers are not envelopes.
const headerLimit = 64 << 10

// httpServer is the server of net/http with every limit on what clients may
// make it wait for.
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

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is answered like the rest
	}
}

// listen puts the limits on a listener.
func (s *Server) listen(listener net.Listener) *limitedListener {
	return &limitedListener{
		Listener: listener, perAddress: s.Connections.PerAddress,
		free: make(chan struct{}, s.Connections.Total), closed: make(chan struct{}),
		open: map[netip.Addr]int{}, exempt: func(address netip.Addr) bool { return s.now.Load().proxies.trust(address) },
		refuse: func(address netip.Addr, count int) {
			s.Log.WithFields(logrus.Fields{"client": address.String(), "refused": count}).
				Warn("connections were refused: the address has as many as http.maxConnectionsPerAddress allows")
		},
	}
}

// limitedListener takes so many connections at a time, and so many of them from
// one address.
type limitedListener struct {
	net.Listener
	free       chan struct{} // holds one for every open connection
	closed     chan struct{}
	perAddress int
	exempt     func(netip.Addr) bool // from the limit of an address
	refuse     func(netip.Addr, int) // told at most once a minute, with how many there were
	once       sync.Once             // of closed
	mu         sync.Mutex            // of what follows
	open       map[netip.Addr]int    // by address
	refused    int                   // since refuse was told
	told       time.Time             // when that was
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Accept waits for a connection that is within the limits; others are closed.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		connection, err := l.Listener.Accept()
		if err != nil {
			<-l.free
			return nil, err
		}
		address := addressOf(connection)
		if l.enter(address) {
			return &limitedConn{Conn: connection, leave: sync.OnceFunc(func() { l.leave(address) })}, nil
		}
		_ = connection.Close() // nothing was promised
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
	if now := time.Now(); now.Sub(l.told) >= time.Minute {
		l.refuse(address, l.refused)
		l.refused, l.told = 0, now
	}
	return false
}

func (l *limitedListener) leave(address netip.Addr) {
	l.mu.Lock()
	if l.open[address]--; l.open[address] == 0 {
		delete(l.open, address)
	}
	l.mu.Unlock()
	<-l.free
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

// CloseWrite lets net/http end a connection so that the client still reads its
// last answer, such as a 431.
func (c *limitedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// serverLog takes what net/http has to say. A TLS handshake that fails is the
// matter of one client, which learns of it; they are counted. A connection that
// is closed before one is how load balancers and port scanners look in.
type serverLog struct {
	log        *logrus.Logger
	handshakes prometheus.Counter // that failed
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

package transport

import (
	"bytes"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

// Connections configures how the server accepts connections. All fields but TLS are
// required.
type Connections struct {
	TLS *tls.Config // nil: plain HTTP

	HeaderTimeout time.Duration // for the TLS handshake and the header of a request
	BodyTimeout   time.Duration // for a whole request
	SendTimeout   time.Duration // for the client to receive one piece of an answer
	IdleTimeout   time.Duration // between requests

	// Total is how many may be open at a time, further ones wait. A tenth of
	// the places is kept for known hosts, see [Server.known]; when the others are taken,
	// connections from anywhere else are closed.
	Total int
	// PerAddress is how many may be open from one host that is not a trusted proxy,
	// further ones are closed. The addresses of an IPv6 /64 are one host, and
	// so are those of this machine.
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
func (s *Server) listen(listener net.Listener) *Listener {
	return Limit(listener, Limits{
		Total: s.Connections.Total, PerHost: s.Connections.PerAddress,
		Exempt: func(address netip.Addr) bool { return s.current.Load().proxies.Trust(address) }, Known: s.known,
		Refused: func(address netip.Addr, reason string, count int) {
			s.Log.WithFields(logrus.Fields{"client": address.String(), "refused": count}).Warn("connections refused: " + reason)
		},
	})
}

// known reports whether connections from an address may use the places that are
// kept: those of this machine, of trusted proxies, and of hosts from which a valid
// credential came lately. So strangers can take all other places without keeping out
// who is already using the API.
func (s *Server) known(address netip.Addr) bool {
	if address.IsLoopback() || s.current.Load().proxies.Trust(address) {
		return true
	}
	at, ok := s.proven.Get(HostOf(address))
	return ok && time.Since(at) < provenFor
}

const (
	provenHosts = 20000     // that are remembered
	provenFor   = time.Hour // after the last valid credential
)

// Proved remembers that a valid credential came over the connection of a request.
func (s *Server) Proved(r *http.Request) { s.proved(Peer(r)) }

// proved remembers that a valid credential came over a connection from an address.
func (s *Server) proved(peer netip.Addr) { s.proven.Add(HostOf(peer), time.Now()) }

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

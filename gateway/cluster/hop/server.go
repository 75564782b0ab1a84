package hop

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of the listener. There is no limit for a body, because the forwarding gateway limits its client.
// The forwarding gateway has a shorter limit for idle connections, and therefore closes them first.
const (
	headerTimeout = 10 * time.Second
	headerLimit   = 256 << 10 // the client's header and its certificate chains
	serverIdle    = 4 * clientIdle
)

// Server serves the hop listener. Call its ServeTLS without files.
type Server struct {
	*http.Server

	leaving atomic.Bool
	mutex   sync.Mutex
	open    map[net.Conn]struct{}
	none    chan struct{} // closed when the last connection is closed; nil if nobody waits for that
}

// NewServer returns a server for the hop listener. The settings must present this gateway's certificate, and
// require and verify the certificates of the others, because the receiver only reads the names in them.
func NewServer(receiver *Receiver, settings *tls.Config) (*Server, error) {
	if settings.ClientAuth != tls.RequireAndVerifyClientCert && settings.VerifyConnection == nil {
		return nil, errors.New("hop: nothing verifies the certificates of others")
	}
	s := &Server{open: map[net.Conn]struct{}{}}
	s.Server = &http.Server{
		TLSConfig: settings, Protocols: onlyHTTP1(),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: serverIdle, MaxHeaderBytes: headerLimit,
		DisableGeneralOptionsHandler: true, ConnState: s.count,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.leaving.Load() {
				w.Header().Set("Connection", "close")
			}
			receiver.ServeHTTP(w, r)
		}),
	}
	return s, nil
}

// count maintains the set of open connections.
func (s *Server) count(conn net.Conn, state http.ConnState) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch state {
	case http.StateNew:
		s.open[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(s.open, conn)
		if len(s.open) == 0 && s.none != nil {
			close(s.none)
			s.none = nil
		}
	}
}

// Drain lets the other gateways close their connections, until there are none or ctx ends. It is meant for a
// gateway that has stopped leading and shuts down, because a call sent on a connection that this side is
// closing ends as [Unknown]. Meanwhile calls are still answered, and each answer asks the client to close the
// connection. Drain may only be called once.
func (s *Server) Drain(ctx context.Context) {
	s.leaving.Store(true)
	s.mutex.Lock()
	none := make(chan struct{})
	if len(s.open) == 0 {
		close(none)
	} else {
		s.none = none
	}
	s.mutex.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
	}
}

package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Environment variables that tell a process how to reach the server.
const (
	AddressVariable = "ADGATEWAY_ENGINE_ADDRESS"
	KeyVariable     = "ADGATEWAY_ENGINE_KEY"
)

const (
	helloWait  = 10 * time.Second // for a new connection to send its key
	keyLife    = 10 * time.Minute // of an unused key
	helloBytes = 4 << 10
)

// Options configure a [Server].
type Options struct {
	// Modules contain the commands that run here. Commands with an End are
	// rejected, because they cannot be forwarded.
	Modules []*engine.Module
	// Declared are the same modules as known to clients. Objects of types that only
	// Modules have stay at the server; clients access them over the connection.
	Declared []*engine.Module
	Culture  string // culture of the clients' engines
}

// Server runs the calls of other processes. It is safe for concurrent use.
type Server struct {
	listener net.Listener
	welcome  frame
	commands map[string]*engine.Command // by lower-case name
	types    map[string]*dotnet.Type    // by lower-case name
	remote   map[*dotnet.Type]bool      // types whose objects stay here

	ctx    context.Context // ends with the server
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	keys map[string]time.Time // expiry of unused keys
	live int                  // number of connections
}

// NewServer listens on a loopback port and serves in the background until Close.
func NewServer(o Options) (*Server, error) {
	s := &Server{
		commands: map[string]*engine.Command{}, types: map[string]*dotnet.Type{}, remote: map[*dotnet.Type]bool{},
		keys: map[string]time.Time{}, welcome: frame{F: "welcome", Culture: o.Culture},
	}
	known := map[string]bool{}
	for _, m := range o.Declared {
		for _, t := range m.Types {
			known[t.Name] = true
		}
	}
	for _, m := range o.Modules {
		info := moduleInfo{Name: m.Name, Version: m.Version}
		for _, c := range m.Commands {
			s.commands[strings.ToLower(c.Decl.Name)] = c
		}
		for _, t := range m.Types {
			s.types[strings.ToLower(t.Name)] = t
			if !known[t.Name] {
				s.remote[t] = true
				info.Types = append(info.Types, t.Name)
			}
		}
		s.welcome.Modules = append(s.welcome.Modules, info)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.listener = listener
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.work.Go(s.accept)
	return s, nil
}

// Issue creates a key and returns the environment variables for a process, which
// may connect with it once.
func (s *Server) Issue() []string {
	key := rand.Text()
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, until := range s.keys {
		if now.After(until) {
			delete(s.keys, old)
		}
	}
	s.keys[key] = now.Add(keyLife)
	return []string{AddressVariable + "=" + s.listener.Addr().String(), KeyVariable + "=" + key}
}

// Connections returns the number of connected processes.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Close closes all connections and waits for running calls. It may be called more
// than once.
func (s *Server) Close() error {
	s.cancel()
	err := s.listener.Close()
	s.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // most likely out of file descriptors
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		s.work.Go(func() { s.serve(conn) })
	}
}

const acceptPause = 100 * time.Millisecond

// use invalidates a key, counts the connection, and reports whether the key was
// valid.
func (s *Server) use(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.keys[key]
	delete(s.keys, key)
	if ok = ok && time.Now().Before(until); ok {
		s.live++
	}
	return ok
}

// serve serves one connection until it closes.
func (s *Server) serve(conn net.Conn) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	detach := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer detach()
	defer conn.Close()
	w := newWire(conn)
	if err := conn.SetDeadline(time.Now().Add(helloWait)); err != nil {
		return
	}
	hello, err := w.read(helloBytes)
	if err != nil || hello.F != "hello" || !s.use(hello.Key) {
		return
	}
	defer func() {
		s.mu.Lock()
		s.live--
		s.mu.Unlock()
	}()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return
	}
	welcome := s.welcome
	if err := w.send(&welcome); err != nil {
		return
	}
	c := &connection{server: s, ctx: ctx, wire: w, marked: hello.Marked, kept: map[uint64]any{}, calls: make(chan *frame), answers: make(chan *frame, 1)}
	s.work.Go(func() {
		defer cancel() // writing failed: close the connection
		c.work()
	})
	c.read()
}

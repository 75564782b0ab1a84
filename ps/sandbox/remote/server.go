package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Variables of a process's environment that say where its modules are.
const (
	AddressVariable = "ADGATEWAY_ENGINE_ADDRESS"
	KeyVariable     = "ADGATEWAY_ENGINE_KEY"
)

const (
	helloWait  = 10 * time.Second // for a new connection to show its key
	keyLife    = 10 * time.Minute // of a key that nobody used
	helloBytes = 4 << 10
)

// Options say what a [Server] serves.
type Options struct {
	// Modules are those whose commands run here. A command with an End cannot
	// be forwarded.
	Modules []*engine.Module
	// Declared are the same modules as clients know them. A type that only
	// Modules have lives here: clients see its objects through the connection.
	Declared []*engine.Module
	Culture  string           // of the engines at the other end
	Now      func() time.Time // their clock; nil: that of their machine
}

// Server runs the calls of other processes. It is safe for concurrent use.
type Server struct {
	listener net.Listener
	welcome  frame
	now      func() time.Time
	commands map[string]*engine.Command // by name in lower case
	types    map[string]*dotnet.Type    // by name in lower case
	remote   map[*dotnet.Type]bool      // live here

	ctx    context.Context // of all connections
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	keys map[string]time.Time // not used yet: until when they are good
	live int                  // connections
}

// NewServer listens on a loopback port and serves until Close.
func NewServer(o Options) (*Server, error) {
	s := &Server{
		commands: map[string]*engine.Command{}, types: map[string]*dotnet.Type{}, remote: map[*dotnet.Type]bool{},
		keys: map[string]time.Time{}, now: o.Now, welcome: frame{F: "welcome", Culture: o.Culture},
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
			if c.End != nil {
				return nil, fmt.Errorf("%s runs at the end of its input and cannot be forwarded", c.Decl.Name)
			}
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

// Issue makes a key and gives the environment of a process that may connect
// with it, once.
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

// Connections tells how many processes are connected.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Close ends all connections and waits for the calls under way. It may be
// called again.
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
		if err != nil { // out of descriptors, most likely
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

// use takes a key away and tells whether it was good.
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

// serve is the life of a connection.
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
	if s.now != nil {
		welcome.Now = s.now()
	}
	if err := w.send(&welcome); err != nil {
		return
	}
	c := &connection{server: s, ctx: ctx, wire: w, marked: hello.Marked, kept: map[uint64]any{}, calls: make(chan *frame), answers: make(chan *frame, 1)}
	s.work.Go(func() {
		defer cancel() // a connection that cannot be written to is over
		c.work()
	})
	c.read()
}

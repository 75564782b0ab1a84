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

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Environment variables that tell a process how to reach the server.
const (
	AddressVariable = "ADGATEWAY_ENGINE_ADDRESS"
	KeyVariable     = "ADGATEWAY_ENGINE_KEY"
)

const (
	helloWait = 10 * time.Second // time limit for a new connection to send its key
	keyLife   = 10 * time.Minute // lifetime of an unused key
)

// moduleSet are the modules of a connection.
type moduleSet struct {
	all      []*engine.Module
	culture  string                     // of messages
	commands map[string]*engine.Command // by lower-case name
	types    map[string]*dotnet.Type    // by lower-case name
	remote   map[*dotnet.Type]bool      // types that need a directory, so that their objects stay here
}

func newModuleSet(modules []*engine.Module, culture string) *moduleSet {
	s := &moduleSet{all: modules, culture: culture,
		commands: map[string]*engine.Command{}, types: map[string]*dotnet.Type{}, remote: map[*dotnet.Type]bool{}}
	declared := map[string]bool{}
	for _, m := range sandbox.Declarations() {
		for _, t := range m.Types {
			declared[t.Name] = true
		}
	}
	for _, m := range modules {
		for _, c := range m.Commands {
			s.commands[strings.ToLower(c.Decl.Name)] = c
		}
		for _, t := range m.Types {
			s.types[strings.ToLower(t.Name)] = t
			s.remote[t] = !declared[t.Name]
		}
	}
	return s
}

// Server runs the sessions of other processes, and the calls of a real PowerShell. It is safe for concurrent
// use.
type Server struct {
	listener net.Listener
	modules  *moduleSet // for the keys of Issue; nil in a Domain
	// first serves a connection that starts with a frame other than hello and session. If it is nil, such a
	// connection is closed.
	first func(ctx context.Context, end context.CancelFunc, w *wire, f *frame)

	ctx    context.Context // ends with the server
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	keys   map[string]grant // unused keys
	live   map[*grant]bool  // grants of the connections
	number int              // number of the last connection
}

// grant is the permission that a key gives.
type grant struct {
	until   time.Time // expiry of the unused key
	modules *moduleSet
	guest   *guest // may be nil
	caller  string // see sandbox.WithCaller
	end     context.CancelFunc
}

// NewServer serves a world on a loopback port in the background until Close.
func NewServer(world *sandbox.World) (*Server, error) {
	s := &Server{modules: newModuleSet(world.Modules())}
	if err := s.open("127.0.0.1:0"); err != nil {
		return nil, err
	}
	return s, nil
}

// open listens and serves in the background.
func (s *Server) open(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s.listener, s.keys, s.live = listener, map[string]grant{}, map[*grant]bool{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.work.Go(s.accept)
	return nil
}

// Issuer gives each started process the means to reach a server.
type Issuer interface {
	// IssueKey returns environment variables with a key for one connection.
	IssueKey() ([]string, error)
}

var _ Issuer = (*Server)(nil)

// IssueKey implements [Issuer]. It never fails.
func (s *Server) IssueKey() ([]string, error) { return s.Issue(), nil }

// Issue creates a key and returns the environment variables with which a process may connect once.
func (s *Server) Issue() []string {
	return variables(s.listener.Addr().String(), s.grant(grant{modules: s.modules}))
}

func variables(address, key string) []string {
	return []string{AddressVariable + "=" + address, KeyVariable + "=" + key}
}

// grant creates a key.
func (s *Server) grant(g grant) string {
	key := rand.Text()
	now := time.Now()
	g.until = now.Add(keyLife)
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, unused := range s.keys {
		if now.After(unused.until) {
			delete(s.keys, old)
		}
	}
	s.keys[key] = g
	return key
}

// Connections returns the number of connected processes.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

// Close closes all connections and waits for running calls. It may be called more than once.
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
		if err != nil { // most probably out of file descriptors
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

// use invalidates a key and returns its grant, or nil if the key is unknown. It counts the
// connection until end closes it.
func (s *Server) use(key string, end context.CancelFunc) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.keys[key]
	delete(s.keys, key)
	if !ok || time.Now().After(g.until) {
		return nil
	}
	s.number++
	g.end = end
	if g.guest != nil {
		g.caller = fmt.Sprintf("%s#%d", g.guest.ticket.Gateway, s.number)
	}
	s.live[&g] = true
	return &g
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
	first, err := w.read(questionBytes)
	if err != nil {
		return
	}
	if first.F != "hello" && first.F != "session" {
		if err := conn.SetDeadline(time.Time{}); err == nil && s.first != nil {
			s.first(ctx, cancel, w, first)
		}
		return
	}
	g := s.use(first.Key, cancel)
	if g == nil {
		return
	}
	defer func() {
		s.mu.Lock()
		delete(s.live, g)
		s.mu.Unlock()
	}()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return
	}
	if err := w.send(&frame{F: "welcome"}); err != nil {
		return
	}
	if g.caller != "" {
		ctx = sandbox.WithCaller(ctx, g.caller)
	}
	if first.F == "session" {
		s.runSession(ctx, cancel, w, g, first)
		return
	}
	c := &connection{modules: g.modules, ctx: ctx, wire: w, kept: map[uint64]any{},
		calls: make(chan *frame), answers: make(chan *frame, 1)}
	s.work.Go(func() {
		defer cancel() // closes the connection after a failed write
		c.work()
	})
	c.read()
}

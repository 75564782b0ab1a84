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
	helloWait  = 10 * time.Second // time limit for a new connection to send its key
	keyLife    = 10 * time.Minute // lifetime of an unused key
	helloBytes = 4 << 10
)

// Options configure a [Server].
type Options struct {
	// Modules contain the commands that run on this server. Commands with an End are rejected, because they
	// cannot be forwarded.
	Modules []*engine.Module
	// Declared are the same modules in the form known to clients. Objects of types that only
	// Modules contain stay on the server, and clients access them over the connection.
	Declared []*engine.Module
	Culture  string // culture of the clients' engines
}

// moduleSet are the modules that a connection may call.
type moduleSet struct {
	welcome  frame
	commands map[string]*engine.Command // by lower-case name
	types    map[string]*dotnet.Type    // by lower-case name
	remote   map[*dotnet.Type]bool      // types whose objects stay here
}

func newModuleSet(o Options) *moduleSet {
	s := &moduleSet{
		commands: map[string]*engine.Command{}, types: map[string]*dotnet.Type{}, remote: map[*dotnet.Type]bool{},
		welcome: frame{F: "welcome", Culture: o.Culture},
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
	return s
}

// Server runs calls from other processes. It is safe for concurrent use.
type Server struct {
	listener net.Listener
	modules  *moduleSet // for the keys of Issue; nil in a Domain
	// first serves a connection that does not start with a hello. If it is nil, such a connection is closed.
	first func(ctx context.Context, w *wire, f *frame)

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

// NewServer listens on a loopback port and serves in the background until Close.
func NewServer(o Options) (*Server, error) {
	s := &Server{modules: newModuleSet(o)}
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
	hello, err := w.read(helloBytes)
	if err != nil {
		return
	}
	if hello.F != "hello" {
		if err := conn.SetDeadline(time.Time{}); err == nil && s.first != nil {
			s.first(ctx, w, hello)
		}
		return
	}
	g := s.use(hello.Key, cancel)
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
	welcome := g.modules.welcome
	if err := w.send(&welcome); err != nil {
		return
	}
	if g.caller != "" {
		ctx = sandbox.WithCaller(ctx, g.caller)
	}
	c := &connection{modules: g.modules, ctx: ctx, wire: w, marked: hello.Marked, kept: map[uint64]any{},
		calls: make(chan *frame), answers: make(chan *frame, 1)}
	s.work.Go(func() {
		defer cancel() // closes the connection after a failed write
		c.work()
	})
	c.read()
}

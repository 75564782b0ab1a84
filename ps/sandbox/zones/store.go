package zones

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Store is what all DNS servers of the domain know: the zones of the directory,
// which the domain controllers share, and each server's files. It is safe for
// concurrent use.
type Store struct {
	now     func() time.Time
	domain  string
	forest  string
	custom  []string
	servers []*server

	refuse atomic.Pointer[func(Attempt) int]

	mu      sync.RWMutex
	zones   map[zoneKey]*zone
	files   map[zoneKey]*zone // contents that removed file-backed zones have left, by file name
	journal journal
}

// zoneKey names a zone: in the directory server is empty.
type zoneKey struct{ server, name string }

type server struct {
	ServerConfig
	names map[string]bool
	down  bool // guarded by Store.mu
}

// New makes a store whose servers have only the zones every server makes by
// itself: the three automatic ones and, on domain controllers, [TrustAnchors].
func New(c Config) *Store {
	st := &Store{now: c.Now, domain: fold(c.Domain), custom: c.Custom, zones: map[zoneKey]*zone{}, files: map[zoneKey]*zone{}}
	if st.now == nil {
		st.now = time.Now
	}
	if st.domain == "" {
		st.domain = "corp.example"
	}
	if st.forest = fold(c.Forest); st.forest == "" {
		st.forest = st.domain
	}
	if len(c.Servers) == 0 {
		c.Servers = []ServerConfig{{Name: "dc1." + st.domain, DomainController: true}}
	}
	for _, sc := range c.Servers {
		st.addServer(sc)
	}
	st.journal.entries = nil
	return st
}

func (st *Store) addServer(sc ServerConfig) {
	sv := &server{ServerConfig: sc, names: map[string]bool{}}
	sv.Name = strings.TrimSuffix(sc.Name, ".")
	short, _, _ := strings.Cut(sv.Name, ".")
	for _, name := range append([]string{sv.Name, short, sc.Address}, sc.Aliases...) {
		if name != "" {
			sv.names[fold(name)] = true
		}
	}
	st.servers = append(st.servers, sv)
	st.addAutomatic(sv)
}

// Server returns the server of that name: fully qualified, its first label, an
// alias or its address. The empty name, "." and "localhost" mean the first
// server. A server that is absent or switched off is CodeServerUnavailable.
func (st *Store) Server(name string) (*Server, error) {
	sv := st.find(name)
	if sv == nil {
		return nil, &Error{Code: CodeServerUnavailable, Op: OpConnect, Server: name}
	}
	s := &Server{store: st, server: sv}
	st.mu.RLock()
	defer st.mu.RUnlock()
	return s, s.reach(OpConnect)
}

func (st *Store) find(name string) *server {
	switch n := fold(name); n {
	case "", "localhost", "127.0.0.1", "::1":
		return st.servers[0]
	default:
		for _, sv := range st.servers {
			if sv.names[n] {
				return sv
			}
		}
		return nil
	}
}

// Switch turns a server off or on; one that is off answers every call with
// CodeServerUnavailable. An unknown name is that error as well.
func (st *Store) Switch(name string, on bool) error {
	sv := st.find(name)
	if sv == nil {
		return &Error{Code: CodeServerUnavailable, Op: OpConnect, Server: name}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	sv.down = !on
	return nil
}

// Attempt is a call that has reached a server.
type Attempt struct {
	Op     Op
	Server string // fully qualified
	Zone   string // as the caller wrote it; empty when all zones are asked for
}

// Refuse lets f decide about each call before anything else is looked at: it
// gives the code to refuse it with, or 0. It produces what the store has no
// cause for itself: CodeAccessDenied, CodeServerFailure, CodeRefused and the
// like. f must not call the store. Nil ends it.
func (st *Store) Refuse(f func(Attempt) int) {
	if f == nil {
		st.refuse.Store(nil)
		return
	}
	st.refuse.Store(&f)
}

// Servers tells the servers, in the order configured.
func (st *Store) Servers() []ServerConfig {
	all := make([]ServerConfig, len(st.servers))
	for i, sv := range st.servers {
		all[i] = sv.ServerConfig
	}
	return all
}

// Domain is the DNS name of the domain the servers belong to.
func (st *Store) Domain() string { return st.domain }

// Server is one DNS server as a caller sees it. It is safe for concurrent use.
type Server struct {
	store  *Store
	server *server
}

// Config tells what the server is.
func (s *Server) Config() ServerConfig { return s.server.ServerConfig }

// Name is the server's name, fully qualified.
func (s *Server) Name() string { return s.server.Name }

// reach refuses when the server is off. Store.mu is held.
func (s *Server) reach(op Op) error {
	if s.server.down {
		return s.fail(op, CodeServerUnavailable, "", "")
	}
	return nil
}

// ask is reach for a call that [Store.Refuse] may refuse. Store.mu is held.
func (s *Server) ask(op Op, zone string) error {
	if err := s.reach(op); err != nil {
		return err
	}
	if f := s.store.refuse.Load(); f != nil {
		if code := (*f)(Attempt{Op: op, Server: s.server.Name, Zone: zone}); code != 0 {
			return s.fail(op, code, zone, "")
		}
	}
	return nil
}

// lookup finds a zone the server knows, or nil. Store.mu is held.
func (s *Server) lookup(name string) *zone {
	key := zoneKey{name: fold(name)}
	if s.server.DomainController {
		if z := s.store.zones[key]; z != nil {
			return z
		}
	}
	key.server = fold(s.server.Name)
	return s.store.zones[key]
}

// Zones tells all zones of the server, ordered by name.
func (s *Server) Zones() ([]Zone, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	if err := s.ask(OpListZones, ""); err != nil {
		return nil, err
	}
	var all []Zone
	own := fold(s.server.Name)
	for key, z := range st.zones {
		if key.server == own || key.server == "" && s.server.DomainController {
			all = append(all, s.view(z))
		}
	}
	sort.Slice(all, func(i, j int) bool { return fold(all[i].Name) < fold(all[j].Name) })
	return all, nil
}

// Zone tells one zone. Case and a trailing dot do not matter. An absent zone
// is CodeZoneDoesNotExist.
func (s *Server) Zone(name string) (Zone, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	z, err := s.open(OpGetZone, name)
	if err != nil {
		return Zone{}, err
	}
	return s.view(z), nil
}

// open finds a zone or says why not. Store.mu is held.
func (s *Server) open(op Op, name string) (*zone, error) {
	if err := s.ask(op, name); err != nil {
		return nil, err
	}
	z := s.lookup(name)
	if z == nil {
		return nil, s.fail(op, CodeZoneDoesNotExist, name, "")
	}
	return z, nil
}

// view is the zone as this server shows it.
func (s *Server) view(z *zone) Zone {
	v := z.copy()
	v.ReadOnly = v.Type == Secondary || v.DsIntegrated && s.server.ReadOnly
	return v
}

func (s *Server) fail(op Op, code int, zone, name string) error {
	return &Error{Code: code, Op: op, Server: s.server.Name, Zone: zone, Name: name}
}

// fold makes names comparable: one trailing dot off, lower case.
func fold(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

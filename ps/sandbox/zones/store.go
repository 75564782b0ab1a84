package zones

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Store contains the zones of all DNS servers of a domain: the zones in the directory, which the
// domain controllers share, and the file-backed zones of each server. It is safe for concurrent use.
type Store struct {
	now     func() time.Time
	domain  string
	forest  string
	servers []*server

	onChange func(Change) // may be nil
	keepPtr  bool
	reads    func(Op) Reading // nil means always Strips

	mu    sync.RWMutex
	zones map[zoneKey]*zone
	// partitions are the application partitions, by folded name.
	partitions map[string]bool
	calls      int // number of calls that have changed something
}

// zoneKey identifies a zone; server is empty for directory-integrated zones.
type zoneKey struct{ server, name string }

type server struct {
	ServerConfig
	names map[string]bool
}

// New returns a store whose servers have only the zones that exist on every server: the
// three automatic ones and, on domain controllers, [TrustAnchors].
func New(c Config) *Store {
	st := &Store{now: c.Now, domain: fold(c.Domain), onChange: c.OnChange, keepPtr: c.SetKeepsPTR,
		reads: c.Reads, zones: map[zoneKey]*zone{}}
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

// Server returns a server by its fully qualified name, its first label, an alias
// or its address. An empty name, ".", "localhost" and loopback addresses select
// the first server. The error is CodeServerUnavailable if there is no such server
// or it is switched off.
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

// Server is a DNS server of a store. It is safe for concurrent use.
type Server struct {
	store  *Store
	server *server
	writer string
}

// As returns the same server with another writer. The name of the writer is recorded with each change.
func (s *Server) As(writer string) *Server {
	return &Server{store: s.store, server: s.server, writer: writer}
}

// Config returns the configuration of the server.
func (s *Server) Config() (ServerConfig, error) {
	s.store.mu.RLock()
	defer s.store.mu.RUnlock()
	return s.server.ServerConfig, s.reach(OpConnect)
}

// Name returns the server's fully qualified name.
func (s *Server) Name() string { return s.server.Name }

// reach fails if the server is off. Store.mu is held.
func (s *Server) reach(op Op) error {
	if alive := s.server.Alive; alive != nil && !alive() {
		return s.fail(op, CodeServerUnavailable, "", "")
	}
	return nil
}

// lookup returns a zone of the server, or nil. Store.mu is held.
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

// Zones returns all zones of the server, ordered by name.
func (s *Server) Zones() ([]Zone, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	if err := s.reach(OpListZones); err != nil {
		return nil, err
	}
	var all []Zone
	serverName := fold(s.server.Name)
	for key, z := range st.zones {
		if key.server == serverName || key.server == "" && s.server.DomainController {
			all = append(all, s.view(z))
		}
	}
	slices.SortFunc(all, func(a, b Zone) int { return strings.Compare(fold(a.Name), fold(b.Name)) })
	return all, nil
}

// Zone returns a zone by name. Case and a trailing dot are ignored. The error is
// CodeZoneDoesNotExist if the server has no such zone.
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

// open returns a zone, or an error of the operation op. Store.mu is held.
func (s *Server) open(op Op, name string) (*zone, error) {
	if err := s.reach(op); err != nil {
		return nil, err
	}
	z := s.lookup(name)
	if z == nil {
		return nil, s.fail(op, CodeZoneDoesNotExist, name, "")
	}
	return z, nil
}

// view returns the properties of a zone as seen by this server.
func (s *Server) view(z *zone) Zone {
	v := z.copy()
	v.ReadOnly = v.Type == Secondary || v.DsIntegrated && s.server.ReadOnly
	return v
}

func (s *Server) fail(op Op, code int, zone, name string) error {
	return &Error{Code: code, Op: op, Server: s.server.Name, Zone: zone, Name: name}
}

// fold normalizes a name for comparison: lower case without a trailing dot.
func fold(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

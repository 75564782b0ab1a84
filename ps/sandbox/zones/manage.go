package zones

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// CreateZone makes a primary zone with its SOA and NS records (facts E67). A
// zone in the directory needs a domain controller: CodeDsUnavailable.
func (s *Server) CreateZone(n NewZone) (Zone, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	name := strings.TrimSuffix(n.Name, ".")
	fail := func(code int) (Zone, error) { return Zone{}, s.fail(OpCreateZone, code, name, "") }
	if err := s.ask(OpCreateZone, name); err != nil {
		return Zone{}, err
	}
	if n.Scope == "" {
		n.Scope = ScopeNone
	}
	if code := s.acceptZone(name, &n); code != 0 {
		return fail(code)
	}
	if old := s.lookup(name); old != nil {
		if old.AutoCreated {
			return fail(CodeAutozoneExists)
		}
		return fail(CodeZoneAlreadyExists)
	}
	z := newZone(s.properties(name, n))
	file := zoneKey{server: fold(s.server.Name), name: strings.ToLower(n.File)}
	if left := st.files[file]; left != nil && n.LoadExisting && n.Scope == ScopeNone && left.origin == z.origin {
		z.takeOver(left)
	} else if n.LoadExisting && n.Scope == ScopeNone {
		return fail(CodeDatafileOpen)
	} else {
		s.furnish(z, n.Responsible)
	}
	delete(st.files, file)
	st.zones[z.key()] = z
	st.note(s, "create zone", z, nil, nil)
	return s.view(z), nil
}

// acceptZone checks the properties and completes them; it returns a code or 0.
func (s *Server) acceptZone(name string, n *NewZone) int {
	if code := checkName(name); code != 0 {
		return code
	}
	if strings.Contains(name, "*") {
		return CodeInvalidNameChar
	}
	if n.Scope == ScopeNone {
		if n.Update == "" {
			n.Update = UpdateNone
		}
		switch {
		case n.File == "":
			return CodeNeedsDatafile
		case strings.ContainsAny(n.File, `/\:*?"<>|`) || len(n.File) > maxName:
			return CodeInvalidDatafile
		case n.Update == UpdateSecure:
			return CodeInvalidZoneOperation
		}
		return 0
	}
	if n.Update == "" {
		n.Update = UpdateSecure
	}
	switch {
	case !s.server.DomainController:
		return CodeDsUnavailable
	case s.server.ReadOnly:
		return CodeNotOnRODC
	}
	return s.acceptPartition(n)
}

func (s *Server) acceptPartition(n *NewZone) int {
	st := s.store
	if n.Scope != ScopeCustom {
		partition, _ := st.partition(n.Scope)
		if n.Partition != "" && fold(n.Partition) != fold(partition) {
			return CodeInvalidParameter
		}
		n.Partition = partition
		return 0
	}
	if n.Partition == "" {
		return CodeInvalidParameter
	}
	if !slices.ContainsFunc(st.custom, func(p string) bool { return fold(p) == fold(n.Partition) }) {
		return CodePartitionMissing
	}
	return 0
}

// partition is the DNS name of a scope's directory partition and the name of
// the container of zones in it (facts E65).
func (st *Store) partition(scope Scope) (name, container string) {
	switch scope {
	case ScopeDomain:
		name = "DomainDnsZones." + st.domain
	case ScopeForest:
		name = "ForestDnsZones." + st.forest
	case ScopeLegacy:
		return st.domain, "cn=MicrosoftDNS,cn=System," + dcs(st.domain)
	default:
		return "", ""
	}
	return name, "cn=MicrosoftDNS," + dcs(name)
}

// dcs turns a DNS name into a distinguished name.
func dcs(name string) string { return "DC=" + strings.ReplaceAll(name, ".", ",DC=") }

// properties are a new primary zone's.
func (s *Server) properties(name string, n NewZone) Zone {
	z := Zone{Name: name, Type: Primary, Scope: n.Scope, DynamicUpdate: n.Update, SecureSecondaries: "NoTransfer", Notify: "NotifyServers"}
	s.store.place(&z, s.server.Name, n.Partition, n.File)
	if !z.DsIntegrated {
		z.SecureSecondaries, z.Notify = "TransferToZoneNameServer", "Notify"
	}
	return z
}

// place sets where a zone is kept, by its Scope.
func (st *Store) place(z *Zone, server, partition, file string) {
	if z.Scope == ScopeNone || z.Scope == "" {
		z.Scope, z.File, z.Server = ScopeNone, file, server
		return
	}
	z.DsIntegrated = true
	name, container := st.partition(z.Scope)
	if z.Scope == ScopeCustom {
		name, container = partition, "cn=MicrosoftDNS,"+dcs(fold(partition))
	}
	z.Partition = name
	z.DN = "DC=" + escapeDN(z.Name) + "," + container
}

// furnish gives a zone its SOA and NS records.
func (s *Server) furnish(z *zone, responsible string) {
	if responsible == "" {
		responsible = "hostmaster." + s.store.domain
	}
	primary := strings.ToLower(s.server.Name) + "."
	soa := &dns.SOA{Ns: primary, Mbox: strings.TrimSuffix(responsible, ".") + ".", Serial: 1, Refresh: 900, Retry: 600, Expire: 86400, Minttl: 3600}
	soa.Hdr = dns.RR_Header{Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 3600}
	z.put(Record{Name: "@", RR: soa})
	for _, sv := range s.store.servers {
		if sv == s.server || z.DsIntegrated && sv.DomainController {
			z.put(Record{Name: "@", RR: &dns.NS{Hdr: dns.RR_Header{Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 3600}, Ns: strings.ToLower(sv.Name) + "."}})
		}
	}
}

// takeOver fills z with the records a removed zone has left in its file.
func (z *zone) takeOver(left *zone) {
	for _, n := range left.order {
		for _, r := range n.records {
			z.put(Record{Name: r.Name, Stamp: r.Stamp, RR: dns.Copy(r.RR)})
		}
	}
}

// RemoveZone removes a zone of any type, from the directory too, with all its
// records (facts E69), and tells its properties. The automatic zones stay:
// CodeInvalidZoneOperation. The file of a zone kept in one is left behind.
func (s *Server) RemoveZone(name string) (Zone, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.open(OpRemoveZone, name)
	switch {
	case err != nil:
		return Zone{}, err
	case z.AutoCreated:
		return Zone{}, s.fail(OpRemoveZone, CodeInvalidZoneOperation, z.Name, "")
	case z.DsIntegrated && s.server.ReadOnly:
		return Zone{}, s.fail(OpRemoveZone, CodeNotOnRODC, z.Name, "")
	}
	delete(st.zones, z.key())
	if z.File != "" {
		st.files[zoneKey{server: fold(z.Server), name: strings.ToLower(z.File)}] = z
	}
	st.note(s, "remove zone", z, nil, nil)
	return s.view(z), nil
}

// addAutomatic makes the zones a server has without being told (facts E66).
func (st *Store) addAutomatic(sv *server) {
	s := &Server{store: st, server: sv}
	for _, name := range []string{"0.in-addr.arpa", "127.in-addr.arpa", "255.in-addr.arpa"} {
		z := newZone(Zone{Name: name, Type: Primary, Scope: ScopeNone, AutoCreated: true, Server: sv.Name, DynamicUpdate: UpdateNone, SecureSecondaries: "NoTransfer", Notify: "NoNotify"})
		s.furnish(z, "")
		if name == "127.in-addr.arpa" {
			z.put(Record{Name: "1.0.0", RR: &dns.PTR{Hdr: dns.RR_Header{Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: 3600}, Ptr: "localhost."}})
		}
		st.zones[z.key()] = z
	}
	if _, there := st.zones[zoneKey{name: fold(TrustAnchors)}]; there || !sv.DomainController {
		return
	}
	z := newZone(s.properties(TrustAnchors, NewZone{Scope: ScopeForest, Update: UpdateNone}))
	s.furnish(z, "")
	st.zones[z.key()] = z
}

// Partition is a directory partition for zones.
type Partition struct {
	Name   string
	Custom bool
	Zones  int
}

// Partitions tells the directory partitions the server is enlisted in; a server
// without a directory has none.
func (s *Server) Partitions() ([]Partition, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	if err := s.ask(OpConnect, ""); err != nil || !s.server.DomainController {
		return nil, err
	}
	var all []Partition
	for _, scope := range []Scope{ScopeLegacy, ScopeDomain, ScopeForest} {
		name, _ := st.partition(scope)
		all = append(all, Partition{Name: name})
	}
	for _, name := range st.custom {
		all = append(all, Partition{Name: name, Custom: true})
	}
	for i := range all {
		for _, z := range st.zones {
			if fold(z.Partition) == fold(all[i].Name) {
				all[i].Zones++
			}
		}
	}
	return all, nil
}

// PauseZone stops or resumes a zone; stopping a stopped one is no fault. A
// forwarder and the automatic zones cannot be: CodeInvalidZoneType,
// CodeInvalidZoneOperation.
func (s *Server) PauseZone(name string, paused bool) (Zone, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.open(OpUpdateZone, name)
	switch {
	case err != nil:
		return Zone{}, err
	case z.AutoCreated:
		return Zone{}, s.fail(OpUpdateZone, CodeInvalidZoneOperation, z.Name, "")
	case z.Type == Forwarder:
		return Zone{}, s.fail(OpUpdateZone, CodeInvalidZoneType, z.Name, "")
	}
	if z.Paused != paused {
		z.Paused = paused
		st.note(s, map[bool]string{true: "pause zone", false: "resume zone"}[paused], z, nil, nil)
	}
	return s.view(z), nil
}

package zones

import (
	"strings"

	"github.com/miekg/dns"
)

// CreateZone creates a primary zone with its SOA and NS records (facts E67). A
// directory-integrated zone needs a domain controller, otherwise the error is
// CodeDsUnavailable.
func (s *Server) CreateZone(n NewZone) (Zone, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	name := strings.TrimSuffix(n.Name, ".")
	fail := func(code int) (Zone, error) { return Zone{}, s.fail(OpCreateZone, code, name, "") }
	if err := s.reach(OpCreateZone); err != nil {
		return Zone{}, err
	}
	if n.Scope == "" {
		n.Scope = ScopeNone
	}
	if code := s.acceptZone(name, &n); code != 0 {
		return fail(code)
	}
	if old := s.lookup(name); old != nil {
		return fail(taken(old))
	}
	z := newZone(s.properties(name, n))
	s.addApexRecords(z)
	st.zones[z.key()] = z
	st.note(s, "create zone", z, nil, nil)
	return s.view(z), nil
}

// taken returns the error code for a name that is already the name of a zone.
func taken(old *zone) int {
	switch {
	case old.AutoCreated:
		return CodeAutozoneExists
	case old.Type == Forwarder:
		return CodeForwarderExists
	default:
		return CodeZoneAlreadyExists
	}
}

// acceptZone checks and completes the properties. It returns a code, or 0.
func (s *Server) acceptZone(name string, n *NewZone) int {
	if code := checkZoneName(name); code != 0 {
		return code
	}
	if n.Scope == ScopeNone {
		if n.Update == "" {
			n.Update = UpdateNone
		}
		switch {
		case n.File == "":
			return CodeNeedsDatafile
		case !isDatafile(n.File):
			return CodeInvalidDatafile
		case n.Update == UpdateSecure:
			return CodeInvalidZoneOperation
		}
		return 0
	}
	if n.Update == "" {
		n.Update = UpdateSecure
	}
	return s.acceptScope(n.Scope, n.Partition)
}

// acceptScope returns the error code for a scope in which the server cannot store zones, or 0.
func (s *Server) acceptScope(scope Scope, partition string) int {
	switch {
	case !s.server.DomainController:
		return CodeDsUnavailable
	case s.server.ReadOnly:
		return CodeNotOnRODC
	case (scope == ScopeCustom) != (partition != ""):
		return CodeInvalidParameter
	case scope == ScopeCustom && !s.store.partitions[fold(partition)]:
		return CodeNoPartition
	}
	return 0
}

// HasPartition reports whether a custom directory partition exists. The partitions that
// contain loaded zones exist.
func (s *Server) HasPartition(name string) (bool, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	if err := s.reach(OpListZones); err != nil {
		return false, err
	}
	return st.partitions[fold(name)], nil
}

// checkZoneName is checkName for a zone, whose name must not contain a wildcard.
func checkZoneName(name string) int {
	if code := checkName(name); code != 0 {
		return code
	}
	if strings.Contains(name, "*") {
		return CodeInvalidNameChar
	}
	return 0
}

// isDatafile reports whether name is a valid name for a zone file.
func isDatafile(name string) bool {
	return !strings.ContainsAny(name, `/\:*?"<>|`) && len(name) <= maxName
}

// partition returns the DNS name of the directory partition for a scope, and the DN of the
// container for its zones (facts E65).
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

// dcs returns the distinguished name of a DNS name.
func dcs(name string) string { return "DC=" + strings.ReplaceAll(name, ".", ",DC=") }

// properties returns the properties of a new primary zone.
func (s *Server) properties(name string, n NewZone) Zone {
	z := Zone{Name: name, Type: Primary, Scope: n.Scope, DynamicUpdate: n.Update,
		SecureSecondaries: "NoTransfer", Notify: "NotifyServers"}
	s.store.place(&z, s.server.Name, n.Partition, n.File)
	if !z.DsIntegrated {
		z.SecureSecondaries, z.Notify = "TransferToZoneNameServer", "Notify"
	}
	return z
}

// place sets the properties of a zone that depend on its Scope. partition is used only for
// ScopeCustom, server and file only for ScopeNone.
func (st *Store) place(z *Zone, server, partition, file string) {
	if z.Scope == ScopeNone || z.Scope == "" {
		z.Scope, z.File, z.Server = ScopeNone, file, server
		return
	}
	z.DsIntegrated = true
	name, container := st.partition(z.Scope)
	if z.Scope == ScopeCustom {
		name, container = partition, "cn=MicrosoftDNS,"+dcs(fold(partition))
		if st.partitions == nil {
			st.partitions = map[string]bool{}
		}
		st.partitions[fold(partition)] = true
	}
	z.Partition = name
	z.DN = "DC=" + escapeDN(z.Name) + "," + container
}

// addApexRecords adds the SOA and NS records of a new zone.
func (s *Server) addApexRecords(z *zone) {
	primary := strings.ToLower(s.server.Name) + "."
	soa := &dns.SOA{Ns: primary, Mbox: "hostmaster." + s.store.domain + ".", Serial: 1, Refresh: 900, Retry: 600,
		Expire: 86400, Minttl: 3600}
	soa.Hdr = dns.RR_Header{Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 3600}
	z.put(Record{Name: "@", RR: soa})
	for _, sv := range s.store.servers {
		if sv == s.server || z.DsIntegrated && sv.DomainController {
			z.put(Record{Name: "@", RR: &dns.NS{Hdr: dns.RR_Header{Rrtype: dns.TypeNS, Class: dns.ClassINET,
				Ttl: 3600}, Ns: strings.ToLower(sv.Name) + "."}})
		}
	}
}

// RemoveZone removes a zone of any type with all its records (facts E69) and
// returns its properties. Automatic zones cannot be removed:
// CodeInvalidZoneOperation.
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
	st.note(s, "remove zone", z, nil, nil)
	return s.view(z), nil
}

// addAutomatic creates the zones that exist on every server (facts E66).
func (st *Store) addAutomatic(sv *server) {
	s := &Server{store: st, server: sv}
	for _, name := range []string{"0.in-addr.arpa", "127.in-addr.arpa", "255.in-addr.arpa"} {
		z := newZone(Zone{Name: name, Type: Primary, Scope: ScopeNone, AutoCreated: true, Server: sv.Name,
			DynamicUpdate: UpdateNone, SecureSecondaries: "NoTransfer", Notify: "NoNotify"})
		s.addApexRecords(z)
		if name == "127.in-addr.arpa" {
			z.put(Record{Name: "1.0.0",
				RR: &dns.PTR{Hdr: dns.RR_Header{Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: 3600},
					Ptr: "localhost."}})
		}
		st.zones[z.key()] = z
	}
	if _, there := st.zones[zoneKey{name: fold(TrustAnchors)}]; there || !sv.DomainController {
		return
	}
	z := newZone(s.properties(TrustAnchors, NewZone{Scope: ScopeForest, Update: UpdateNone}))
	s.addApexRecords(z)
	st.zones[z.key()] = z
}

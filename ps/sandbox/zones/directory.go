package zones

import (
	"encoding/binary"
	"sort"
	"strings"

	"github.com/go-ldap/ldap/v3"
	"github.com/miekg/dns"
)

// Entry is an entry of the directory that belongs to DNS: a zone (object class
// dnsZone) or a node of one (dnsNode), as an LDIF file brings it.
type Entry struct {
	DN         string
	Node       bool     // dnsNode; else dnsZone
	Records    [][]byte // dnsRecord
	Properties [][]byte // dNSProperty, of zones
	Tombstoned bool     // dNSTombstoned

	File string // for faults
	Line int
}

// Numbers of the properties of a zone that matter here (MS-DNSP 2.3.2.1.1).
const (
	propertyType   = 0x01
	propertyUpdate = 0x02
	propertyAging  = 0x40
)

// LoadDirectory takes zones from directory entries, in any order, all or none.
// A zone that is there already is replaced. Where a zone is kept follows from
// its DN. The error is a [*LoadError] with all faults. Entries of the cache, the
// root hints and deleted zones are left out.
func (st *Store) LoadDirectory(entries []Entry) error {
	l := directoryLoader{st: st, zones: map[string]*zone{}, skipped: map[string]bool{}, from: map[*zone]Entry{}, lines: map[dns.RR]int{}}
	for _, e := range entries {
		if !e.Node {
			l.zone(e)
		}
	}
	for _, e := range entries {
		if e.Node && !e.Tombstoned {
			l.node(e)
		}
	}
	for _, z := range l.zones {
		if z.Type == Primary && z.soa() == nil {
			e := l.from[z]
			l.fault(e, "the zone %s has no SOA record", z.Name)
		}
	}
	if len(l.faults) > 0 {
		sort.SliceStable(l.faults, func(i, j int) bool {
			a, b := l.faults[i], l.faults[j]
			return a.File < b.File || a.File == b.File && a.Line < b.Line
		})
		return &LoadError{Faults: l.faults}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, z := range l.zones {
		st.clear(z)
		st.zones[z.key()] = z
	}
	return nil
}

type directoryLoader struct {
	st      *Store
	zones   map[string]*zone // by folded DN
	skipped map[string]bool  // DNs of special zones
	from    map[*zone]Entry
	lines   map[dns.RR]int
	faults  []Fault
}

func (l *directoryLoader) fault(e Entry, format string, args ...any) {
	r := reader{src: Source{Name: e.File}}
	r.fault(e.Line, format, args...)
	l.faults = append(l.faults, r.faults...)
}

// foldDN makes DNs comparable; the text of a malformed one stands for itself.
func foldDN(text string) (string, *ldap.DN) {
	dn, err := ldap.ParseDN(text)
	if err != nil {
		return strings.ToLower(text), nil
	}
	parts := make([]string, len(dn.RDNs))
	for i, rdn := range dn.RDNs {
		parts[i] = strings.ToLower(rdn.Attributes[0].Type + "=" + escapeDN(rdn.Attributes[0].Value))
	}
	return strings.Join(parts, ","), dn
}

// special are zones that are not served: the hints and what is being deleted.
func special(name string) bool {
	return strings.EqualFold(name, "RootDNSServers") || strings.HasPrefix(name, "..Deleted-") || strings.EqualFold(name, "..Cache")
}

func (l *directoryLoader) zone(e Entry) {
	key, dn := foldDN(e.DN)
	if dn == nil || len(dn.RDNs) < 3 {
		l.fault(e, "%q is no DN of a zone", e.DN)
		return
	}
	name := strings.TrimPrefix(dn.RDNs[0].Attributes[0].Value, "..")
	if special(dn.RDNs[0].Attributes[0].Value) {
		l.skipped[key] = true
		return
	}
	if checkName(name) != 0 || strings.Contains(name, "*") {
		l.fault(e, "%q is no name of a zone", name)
		return
	}
	if l.zones[key] != nil {
		l.fault(e, "the zone %s is there already", name)
		return
	}
	props := Zone{Name: name, Type: Primary, DynamicUpdate: UpdateSecure, SecureSecondaries: "NoTransfer", Notify: "NotifyServers"}
	scope, partition := scopeOf(dn)
	props.Scope = scope
	l.st.place(&props, "", partition, "")
	if props.Scope == ScopeCustom {
		props.Partition = partition
	}
	props.DN = e.DN
	for _, value := range e.Properties {
		if !applyProperty(&props, value) {
			l.fault(e, "a value of dNSProperty is malformed")
		}
	}
	l.zones[key] = newZone(props)
	l.from[l.zones[key]] = e
}

// scopeOf finds where a zone is kept by the container it is in.
func scopeOf(dn *ldap.DN) (Scope, string) {
	var domain []string
	for _, rdn := range dn.RDNs[1:] {
		a := rdn.Attributes[0]
		switch {
		case strings.EqualFold(a.Type, "DC"):
			domain = append(domain, a.Value)
		case strings.EqualFold(a.Value, "System"):
			return ScopeLegacy, ""
		}
	}
	partition := strings.Join(domain, ".")
	switch {
	case len(domain) > 0 && strings.EqualFold(domain[0], "DomainDnsZones"):
		return ScopeDomain, partition
	case len(domain) > 0 && strings.EqualFold(domain[0], "ForestDnsZones"):
		return ScopeForest, partition
	}
	return ScopeCustom, partition
}

// applyProperty reads a value of dNSProperty: length, name length, flag,
// version, number, then data and one octet of name.
func applyProperty(z *Zone, value []byte) bool {
	if len(value) < 20 {
		return false
	}
	size, id := int(binary.LittleEndian.Uint32(value)), binary.LittleEndian.Uint32(value[16:])
	data := value[20:]
	if size < 0 || size > len(data) {
		return false
	}
	data = data[:size]
	if len(data) == 0 {
		return true
	}
	switch id {
	case propertyType:
		kinds := map[byte]ZoneType{1: Primary, 2: Secondary, 3: Stub, 4: Forwarder}
		if kind, known := kinds[data[0]]; known {
			z.Type = kind
		}
	case propertyUpdate:
		z.DynamicUpdate = [...]Update{UpdateNone, UpdateAll, UpdateSecure, UpdateNone}[data[0]&3]
	case propertyAging:
		z.Aging = data[0] != 0
	}
	return true
}

func (l *directoryLoader) node(e Entry) {
	_, dn := foldDN(e.DN)
	if dn == nil || len(dn.RDNs) < 2 {
		l.fault(e, "%q is no DN of a node", e.DN)
		return
	}
	parent, _ := foldDN((&ldap.DN{RDNs: dn.RDNs[1:]}).String())
	z := l.zones[parent]
	if l.skipped[parent] {
		return
	}
	if z == nil {
		l.fault(e, "the zone of %s is not there", e.DN)
		return
	}
	if z.Type == Forwarder {
		return
	}
	rel := dn.RDNs[0].Attributes[0].Value
	for i, value := range e.Records {
		rr, stamp, err := DecodeRecord(value)
		switch {
		case err != nil:
			l.fault(e, "value %d of dnsRecord: %v", i+1, err)
			continue
		case rr == nil:
			continue
		}
		rr.Header().Name = z.absolute(rel)
		r := reader{src: Source{Name: e.File}}
		rr = prepare(rr)
		if r.accept(z, rel, rr, e.Line, l.lines) {
			l.lines[z.put(Record{Name: rel, Stamp: stamp, RR: rr}).RR] = e.Line
		}
		l.faults = append(l.faults, r.faults...)
	}
}

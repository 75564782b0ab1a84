package zones

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"
	"github.com/miekg/dns"
)

// Entry is a DNS entry of the directory in an LDIF file: a zone (object class dnsZone) or a
// node of a zone (dnsNode).
type Entry struct {
	DN         string
	Node       bool     // a dnsNode, otherwise a dnsZone
	Records    [][]byte // dnsRecord values of a node
	Properties [][]byte // dNSProperty values of a zone
	Tombstoned bool     // dNSTombstoned

	File string // for error messages
	Line int
}

// Numbers of the zone properties that are read (MS-DNSP 2.3.2.1.1).
const (
	propertyType      = 0x01
	propertyUpdate    = 0x02
	propertyNoRefresh = 0x10 // hours
	propertyRefresh   = 0x20 // hours
	propertyAging     = 0x40
	propertyMasters4  = 0x81 // IPv4 only
	propertyMasters   = 0x91
)

// LoadDirectory reads zones from directory entries, which may be in any order. It loads either all zones or
// none, and replaces existing zones. The scope of a zone follows from its DN. The cache, the root hints and
// deleted zones are skipped. The error is a [*LoadError] with all errors.
func (st *Store) LoadDirectory(entries []Entry) error {
	l := directoryLoader{st: st, zones: map[string]*zone{}, skipped: map[string]bool{}, from: map[*zone]Entry{},
		lines: map[dns.RR]int{}}
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
		slices.SortStableFunc(l.faults, func(a, b Fault) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
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
	skipped map[string]bool  // folded DNs of special zones
	from    map[*zone]Entry
	lines   map[dns.RR]int
	faults  []Fault
}

func (l *directoryLoader) fault(e Entry, format string, args ...any) {
	r := reader{src: Source{Name: e.File}}
	r.fault(e.Line, format, args...)
	l.faults = append(l.faults, r.faults...)
}

// foldDN normalizes a DN for comparison. A malformed DN is only lower-cased.
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

// special reports whether a zone is not served: the cache, the root hints and
// zones being deleted.
func special(name string) bool {
	return strings.EqualFold(name, "RootDNSServers") || strings.HasPrefix(name, "..Deleted-") ||
		strings.EqualFold(name, "..Cache")
}

func (l *directoryLoader) zone(e Entry) {
	key, dn := foldDN(e.DN)
	if dn == nil || len(dn.RDNs) < 3 {
		l.fault(e, "%q is not the DN of a zone", e.DN)
		return
	}
	name := strings.TrimPrefix(dn.RDNs[0].Attributes[0].Value, "..")
	if special(dn.RDNs[0].Attributes[0].Value) {
		l.skipped[key] = true
		return
	}
	if checkName(name) != 0 || strings.Contains(name, "*") {
		l.fault(e, "%q is not a zone name", name)
		return
	}
	if l.zones[key] != nil {
		l.fault(e, "the zone %s is defined twice", name)
		return
	}
	props := Zone{Name: name, Type: Primary, DynamicUpdate: UpdateSecure, SecureSecondaries: "NoTransfer",
		Notify: "NotifyServers", Refresh: defaultInterval, NoRefresh: defaultInterval}
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
	if props.Type != Primary {
		props.DynamicUpdate, props.Refresh, props.NoRefresh, props.Notify = UpdateNone, 0, 0, "NoNotify"
	}
	l.zones[key] = newZone(props)
	l.from[l.zones[key]] = e
}

// scopeOf returns the scope and the partition of a zone, determined from its DN.
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

// applyProperty applies a dNSProperty value: length, name length, flag, version
// and number, then the data and a one-octet name. It reports whether the value is
// well-formed.
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
	case propertyNoRefresh:
		return hours(data, &z.NoRefresh)
	case propertyRefresh:
		return hours(data, &z.Refresh)
	case propertyMasters4:
		return masters4(data, z)
	case propertyMasters:
		return masters(data, z)
	}
	return true
}

// hours reads an interval. 0 means the default.
func hours(data []byte, interval *time.Duration) bool {
	if len(data) < 4 {
		return false
	}
	n := binary.LittleEndian.Uint32(data)
	if n > uint32(maxInterval/time.Hour) {
		return false
	}
	if *interval = time.Duration(n) * time.Hour; n == 0 {
		*interval = defaultInterval
	}
	return true
}

// masters4 reads an IP4_ARRAY: a count, then the addresses.
func masters4(data []byte, z *Zone) bool {
	if len(data) < 4 || len(data)-4 != 4*int(binary.LittleEndian.Uint32(data)) {
		return false
	}
	for data = data[4:]; len(data) > 0; data = data[4:] {
		z.Masters = addMaster(z.Masters, data[:4])
	}
	return true
}

// masters reads a DNS_ADDR_ARRAY: 32 octets with the count in the second word, then
// entries of 64 octets that begin with a socket address.
func masters(data []byte, z *Zone) bool {
	const header, entry, family4, family6 = 32, 64, 2, 23
	if len(data) < header || len(data)-header < entry*int(binary.LittleEndian.Uint32(data[4:])) {
		return false
	}
	count := int(binary.LittleEndian.Uint32(data[4:]))
	for data = data[header:]; count > 0; count-- {
		switch binary.LittleEndian.Uint16(data) {
		case family4:
			z.Masters = addMaster(z.Masters, data[4:8])
		case family6:
			z.Masters = addMaster(z.Masters, data[8:24])
		default:
			return false
		}
		data = data[entry:]
	}
	return true
}

// addMaster adds an address unless it is already in the list, because a zone may have both properties.
func addMaster(list []netip.Addr, octets []byte) []netip.Addr {
	if a, ok := netip.AddrFromSlice(octets); ok && !slices.Contains(list, a) {
		list = append(list, a)
	}
	return list
}

func (l *directoryLoader) node(e Entry) {
	_, dn := foldDN(e.DN)
	if dn == nil || len(dn.RDNs) < 2 {
		l.fault(e, "%q is not the DN of a node", e.DN)
		return
	}
	parent, _ := foldDN((&ldap.DN{RDNs: dn.RDNs[1:]}).String())
	z := l.zones[parent]
	if l.skipped[parent] {
		return
	}
	if z == nil {
		l.fault(e, "the zone of %s is missing", e.DN)
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

package zones

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// zone is a zone of the store, guarded by Store.mu.
type zone struct {
	Zone          // without Serial and Records, see copy
	origin string // absolute, lower case: "corp.example."
	nodes  map[string]*node
	order  []*node // by node.sort, so a node is directly followed by its descendants
	count  int     // number of records

	// odd contains the folded names that have or had records although the rules do not allow creating a record
	// there. The node of such a name stays in the directory and is used again when a record is added.
	odd map[string]bool
}

// node is an owner name with at least one record.
type node struct {
	key     string // relative, folded; "@" for the apex
	sort    string // labels from the apex down, each terminated by NUL
	name    string // relative to the zone, in the letter case of its first record
	records []Record
}

// The defaults of new zones.
const (
	defaultInterval = 7 * 24 * time.Hour // of aging (facts NC7)
	defaultTimeout  = 5                  // of a forwarder, in seconds
)

func newZone(props Zone) *zone {
	z := &zone{Zone: props, nodes: map[string]*node{}, odd: map[string]bool{}}
	z.Name = strings.TrimSuffix(z.Name, ".")
	z.origin = fold(z.Name) + "."
	z.Reverse = isReverse(z.Name)
	switch {
	case z.Type == Primary && z.Refresh == 0 && z.NoRefresh == 0:
		z.Refresh, z.NoRefresh = defaultInterval, defaultInterval
	case z.Type == Forwarder:
		z.ForwarderTimeout = defaultTimeout
	}
	return z
}

func isReverse(name string) bool {
	name = "." + fold(name)
	return strings.HasSuffix(name, ".in-addr.arpa") || strings.HasSuffix(name, ".ip6.arpa")
}

func (z *zone) key() zoneKey { return zoneKey{server: fold(z.Server), name: fold(z.Name)} }

// copy returns the zone's public properties.
func (z *zone) copy() Zone {
	v := z.Zone
	v.Masters = slices.Clone(z.Masters)
	v.ScavengeServers = slices.Clone(z.ScavengeServers)
	v.Records = z.count
	if soa := z.soa(); soa != nil {
		v.Serial = soa.Serial
	}
	return v
}

// soa returns the start of authority record, or nil.
func (z *zone) soa() *dns.SOA {
	if apex := z.nodes["@"]; apex != nil {
		for _, r := range apex.records {
			if soa, ok := r.RR.(*dns.SOA); ok {
				return soa
			}
		}
	}
	return nil
}

// bump increments the serial number after a write.
func (z *zone) bump() {
	old := z.soa()
	if old == nil {
		return
	}
	next := dns.Copy(old).(*dns.SOA)
	next.Serial++
	if next.Serial == 0 { // skipped, because some secondaries treat 0 specially (RFC 1982)
		next.Serial = 1
	}
	apex := z.nodes["@"]
	apex.records = slices.Clone(apex.records)
	for i := range apex.records {
		if apex.records[i].RR == dns.RR(old) {
			apex.records[i].RR = next
		}
	}
}

// sortName returns the sort key of a relative folded name.
func sortName(key string) string {
	if key == "@" {
		return ""
	}
	labels := dns.SplitDomainName(key)
	slices.Reverse(labels)
	return strings.Join(labels, "\x00") + "\x00"
}

// put adds a record without any check and returns it with its owner set.
func (z *zone) put(r Record) Record {
	key := fold(r.Name)
	n := z.nodes[key]
	if n == nil {
		n = &node{key: key, sort: sortName(key), name: r.Name}
		z.nodes[key] = n
		if checkName(key) != 0 {
			z.odd[key] = true
		}
		at := sort.Search(len(z.order), func(i int) bool { return z.order[i].sort >= n.sort })
		z.order = slices.Insert(z.order, at, n)
	}
	r.Zone, r.Name, r.DN = z.Name, n.name, z.nodeDN(n.name)
	r.RR.Header().Name = z.absolute(n.name)
	n.records = append(n.records, r)
	z.count++
	return r
}

// drop removes the record at index i of n. It also removes n if no record is left.
func (z *zone) drop(n *node, i int) {
	n.records = slices.Delete(slices.Clone(n.records), i, i+1)
	z.count--
	if len(n.records) > 0 {
		return
	}
	delete(z.nodes, n.key)
	at := sort.Search(len(z.order), func(i int) bool { return z.order[i].sort >= n.sort })
	z.order = slices.Delete(z.order, at, at+1)
}

// below returns the nodes at and below a folded name.
func (z *zone) below(key string) []*node {
	prefix := sortName(key)
	from := sort.Search(len(z.order), func(i int) bool { return z.order[i].sort >= prefix })
	to := from
	for to < len(z.order) && strings.HasPrefix(z.order[to].sort, prefix) {
		to++
	}
	return z.order[from:to]
}

// delegation returns the delegation point at or above the folded name, or nil.
func (z *zone) delegation(key string) *node {
	for key != "@" {
		if n := z.nodes[key]; n != nil && n.has(dns.TypeNS) {
			return n
		}
		_, rest, found := strings.Cut(key, ".")
		if !found {
			return nil
		}
		key = rest
	}
	return nil
}

func (n *node) has(rrtype uint16) bool {
	return slices.ContainsFunc(n.records, func(r Record) bool { return r.Type() == rrtype })
}

// absolute returns the absolute form of a relative name.
func (z *zone) absolute(rel string) string {
	if rel == "@" {
		return z.Name + "."
	}
	return rel + "." + z.Name + "."
}

// nodeDN returns the DN of a node, or "" if the zone is file-backed.
func (z *zone) nodeDN(rel string) string {
	if z.DN == "" {
		return ""
	}
	return "DC=" + escapeDN(rel) + "," + z.DN
}

// escapeDN escapes an attribute value of a distinguished name (RFC 4514).
func escapeDN(s string) string {
	if !strings.ContainsAny(s, `,+"\<>;=#`) && strings.TrimSpace(s) == s {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		edge := c == ' ' && (i == 0 || i == len(s)-1)
		if edge || c == '#' && i == 0 || strings.IndexByte(`,+"\<>;=`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

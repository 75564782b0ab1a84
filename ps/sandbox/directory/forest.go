package directory

import (
	"slices"
	"sort"
	"strings"

	"adgateway/ps/sandbox/internal/ldif"
)

// A domain can have child domains: entries of class domainDNS below its root that have an
// objectSid (other naming contexts, such as application partitions, have none). The
// controllers of the domain hold them as a global catalog does: readable by searches of
// the catalog only, without the attributes that the catalog lacks and the members of
// groups that are not universal (facts G14, G15). They are never written.

// Child is a child domain.
type Child struct {
	DN, DNSName, NetBIOS string
	SID                  SID
}

// Children returns the child domains in the order of their names.
func (d *Domain) Children() []Child { return slices.Clone(d.children) }

// abroad reports whether a node belongs to another domain of the forest.
func (r *replica) abroad(n *node) bool {
	if !r.forest {
		return false
	}
	p := n.partition()
	return p != r.root && p.class.Name == "domainDNS" && !p.sid.IsZero()
}

// sees reports whether a view returns objects of the node's naming context: those of other
// domains in the catalog only.
func (v *view) sees(n *node) bool { return v.catalog || !v.rep.abroad(n) }

// resolve returns the live node of a reference, for this view.
func (v *view) resolve(ref string) (*node, *Error) {
	if v.catalog {
		return v.rep.resolveForest(ref)
	}
	return v.rep.resolveFor(ref, v.deleted)
}

// resolve returns the live node of a reference in the domain. Errors: 8242 malformed, 8235
// another domain, 8240 no such DN, 8333 no such GUID or SID.
func (r *replica) resolve(ref string) (*node, *Error) {
	n, err := r.resolveForest(ref)
	switch {
	case err != nil || !r.abroad(n):
		return n, err
	case strings.HasPrefix(ref, "<"):
		return nil, fail(CodeNotFound, KindNotFound, ref, "no such object")
	}
	return nil, fail(CodeReferral, KindReferral, ref, "the name is in another domain")
}

// own returns those of some nodes that belong to the domain.
func (r *replica) own(nodes []*node) []*node {
	if !r.forest {
		return nodes
	}
	var out []*node
	for _, n := range nodes {
		if !r.abroad(n) {
			out = append(out, n)
		}
	}
	return out
}

// crossesDomain checks the rules for members from other domains (facts E.2). Only universal
// and domain local groups have any, and domain local groups are members in their own
// domain only.
func (r *replica) crossesDomain(scope int64, member *node) (code int, why string) {
	switch {
	case !r.abroad(member):
		return 0, ""
	case scope == groupGlobal:
		return CodeGlobalNoCrossDomain, "a member of another domain in a global group"
	case scope == groupLocal && member.isGroup() && r.groupType(member)&groupLocal != 0:
		return CodeLocalNoCrossLocal, "a domain local group of another domain in a domain local group"
	}
	return 0, ""
}

// forest prepares the child domains: their SIDs and the entries that name all domains of
// the forest.
func (l *loader) forest(root *entry) {
	var roots []*entry
	for _, e := range l.entries {
		if e != root && e.is("domainDNS") && e.dn.Under(l.d.rootDN) && len(e.get("objectSid")) > 0 {
			roots = append(roots, e)
		}
	}
	if len(roots) == 0 {
		return
	}
	sort.Slice(roots, func(i, j int) bool { return roots[i].dn.Key() < roots[j].dn.Key() })
	for _, e := range roots {
		labels := make([]string, len(e.dn.rdns))
		for i, r := range e.dn.rdns {
			labels[i] = r.Value
		}
		c := Child{DN: e.dn.String(), DNSName: strings.ToLower(strings.Join(labels, ".")), NetBIOS: strings.ToUpper(labels[0])}
		if name := e.get("nETBIOSName"); len(name) > 0 {
			c.NetBIOS = strings.ToUpper(name[0])
		}
		if raw, ok := l.d.schema.must("objectsid").octetsFromText(e.get("objectSid")[0]); ok {
			c.SID = SID{raw}
		}
		l.d.children = append(l.d.children, c)
	}
	l.crossRef(root, l.d.rootText, l.d.dnsName, l.d.netBIOS)
	for i, c := range l.d.children {
		l.crossRef(roots[i], c.DN, c.DNSName, c.NetBIOS)
	}
}

// crossRef adds the entry that names a domain of the forest, with what it lies in, unless
// the files have it.
func (l *loader) crossRef(by *entry, dn, dnsName, netBIOS string) {
	for _, e := range l.entries {
		nc := e.get("nCName")
		if len(nc) == 0 {
			continue
		}
		if d, err := ParseDN(nc[0]); err == nil && strings.EqualFold(d.String(), dn) {
			return
		}
	}
	configuration := l.d.rootDN.Child("CN", "Configuration")
	partitions := configuration.Child("CN", "Partitions")
	l.addClass(configuration, "configuration", by)
	l.addClass(partitions, "crossRefContainer", by)
	l.addClass(partitions.Child("CN", netBIOS), "crossRef", by,
		ldif.Attribute{Name: "nCName", Values: []string{dn}},
		ldif.Attribute{Name: "dnsRoot", Values: []string{dnsName}},
		ldif.Attribute{Name: "nETBIOSName", Values: []string{netBIOS}})
}

// addClass adds an entry that no file has.
func (l *loader) addClass(dn DN, class string, by *entry, attributes ...ldif.Attribute) {
	if l.byDN[dn.Key()] != nil {
		return
	}
	rec := &ldif.Record{File: by.rec.File, Line: by.rec.Line, DN: dn.String(),
		Attributes: append([]ldif.Attribute{{Name: "objectClass", Values: []string{"top", class}}}, attributes...)}
	e := &entry{rec: rec, layers: []*ldif.Record{rec}, layer: by.layer, dn: dn}
	l.byDN[dn.Key()] = e
	l.entries = append(l.entries, e)
}

// domainOf returns the key of the domain that an entry belongs to: account names are unique in
// it.
func (l *loader) domainOf(e *entry) string {
	best := ""
	for _, c := range l.d.children {
		if d, err := ParseDN(c.DN); err == nil && (e.dn.Equal(d) || e.dn.Under(d)) && len(c.DN) > len(best) {
			best = c.DN
		}
	}
	return best
}

// catalogLacks reports whether a link of a loaded file is not in the catalog: the members of
// global and domain local groups of other domains (facts G15).
func (l *loader) catalogLacks(group *node, def *Attribute) bool {
	r := l.t.rep
	return def == r.sch.member && r.abroad(group) && r.groupType(group)&groupUniversal == 0
}

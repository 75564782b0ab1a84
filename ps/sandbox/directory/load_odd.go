package directory

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"adgateway/ps/sandbox/internal/ldif"
)

// keptValues are the values of an attribute that are kept as written.
type keptValues struct {
	count int
	first ldif.Fault
}

// skipAt skips an entry because of a line. Only the first reason counts.
func (l *loader) skipAt(e *entry, line int, format string, args ...any) {
	if e.bad != "" {
		return
	}
	e.bad = fmt.Sprintf(format, args...)
	l.d.loaded.Skipped++
	l.warnings = append(l.warnings, faultAt(e, line, "skipped: "+e.bad))
}

// skipValue skips an entry because of a value.
func (l *loader) skipValue(e *entry, a *ldif.Attribute, i int) {
	l.skipAt(e, lineOf(e, a, i), "the value %q of %s does not match the attribute's syntax", short(a.Values[i]),
		a.Name)
}

// keep counts a value that is kept as written.
func (l *loader) keep(e *entry, def *Attribute, a *ldif.Attribute, i int) {
	if l.kept == nil {
		l.kept = map[string]*keptValues{}
	}
	k := l.kept[def.Name]
	if k == nil {
		k = &keptValues{first: ldif.Fault{File: e.rec.File, Line: lineOf(e, a, i),
			Message: fmt.Sprintf("%q", short(a.Values[i]))}}
		l.kept[def.Name] = k
	}
	k.count++
	l.d.loaded.Kept++
}

func lineOf(e *entry, a *ldif.Attribute, i int) int {
	if i < len(a.Lines) && a.Lines[i] > 0 {
		return a.Lines[i]
	}
	return e.rec.Line
}

func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// uses reports whether the simulation itself uses an attribute, so that a malformed value would falsify its
// behavior.
func (k *known) uses(def *Attribute) bool {
	fields := reflect.ValueOf(k).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Pointer() == reflect.ValueOf(def).Pointer() {
			return true
		}
	}
	return false
}

// loadMarks are the lengths of the lists collected for later phases.
type loadMarks struct{ refs, locals, protect, passwords int }

func (l *loader) mark() loadMarks {
	return loadMarks{len(l.refs), len(l.locals), len(l.protect), len(l.passwords)}
}

// forget drops the list elements that were collected for a skipped entry.
func (l *loader) forget(m loadMarks) {
	l.refs, l.locals, l.protect, l.passwords = l.refs[:m.refs], l.locals[:m.locals], l.protect[:m.protect], l.passwords[:m.passwords]
}

// name completes the account name of a principal. It skips an entry if another has the same name.
func (l *loader) name(e *entry) {
	n, k := e.node, l.t.rep.sch
	if !n.isPrincipal() || e.bad != "" {
		return
	}
	if n.first(k.sam) == "" {
		name := n.rdn
		if n.is("computer") && !strings.HasSuffix(name, "$") {
			name += "$"
		}
		n.put(k.sam, []string{name})
	}
	if other := l.sams[samKey(l, e, n.first(k.sam))]; other != nil {
		l.skip(e, "the same sAMAccountName %q as %s", n.first(k.sam), other.rec.DN)
	}
}

// domainOfNames returns an entry for the domain of the names. It is called if the files contain no such entry
// because they export a part of the tree. It returns nil if no name contains a domain.
func (l *loader) domainOfNames() *entry {
	for _, e := range l.entries {
		dn := e.dn
		for !dn.IsZero() && dn.RDN().Type != "DC" {
			dn = dn.Parent()
		}
		if !dn.IsZero() {
			return l.addEntry(dn, e)
		}
	}
	return nil
}

// addParents adds entries for parents that the files lack. The real directory contains them,
// but exports with a filter, or of a part of the tree, do not.
func (l *loader) addParents() {
	for _, e := range slices.Clone(l.entries) {
		for dn := e.dn.Parent(); dn.Under(l.d.rootDN) && l.byDN[dn.Key()] == nil; dn = dn.Parent() {
			l.addEntry(dn, e)
		}
	}
}

// addEntry adds an entry that the files lack, as the parent of e.
func (l *loader) addEntry(dn DN, e *entry) *entry {
	class := "container"
	switch dn.RDN().Type {
	case "OU":
		class = "organizationalUnit"
	case "DC":
		class = "domainDNS"
	}
	l.d.loaded.Added++
	return l.addClass(dn, class, e)
}

// addClass adds an entry of a class that is in no file. Faults in it are reported at the entry by.
func (l *loader) addClass(dn DN, class string, by *entry, attributes ...ldif.Attribute) *entry {
	rec := &ldif.Record{File: by.rec.File, Line: by.rec.Line, DN: dn.String(),
		Attributes: append([]ldif.Attribute{{Name: "objectClass", Values: []string{"top", class}}}, attributes...)}
	added := &entry{rec: rec, layers: []*ldif.Record{rec}, layer: by.layer, dn: dn}
	l.byDN[dn.Key()] = added
	l.entries = append(l.entries, added)
	return added
}

// foreign reports an error for each file without entries in the domain, because such a file is an export of
// another domain.
func (l *loader) foreign() {
	type outside struct {
		count, all int
		first      *entry
	}
	files := map[string]*outside{}
	var order []string
	for _, e := range l.entries {
		for _, rec := range e.layers {
			f := files[rec.File]
			if f == nil {
				f = &outside{}
				files[rec.File] = f
				order = append(order, rec.File)
			}
			f.all++
			if e.node == nil && !e.dn.Equal(l.d.rootDN) && !e.dn.Under(l.d.rootDN) {
				f.count++
				if f.first == nil {
					f.first = e
				}
			}
		}
	}
	for _, name := range order {
		if f := files[name]; f.count == f.all {
			message := "no entry of the file is in the domain " + l.d.rootText + ": it is an export of another domain"
			if l.d.opts.OtherDomain != "" {
				message += "; " + l.d.opts.OtherDomain
			}
			l.fault(f.first, "%s", message)
		}
	}
}

// summarize adds the warnings that contain counts.
func (l *loader) summarize() {
	if n := l.d.loaded.Added; n > 0 {
		l.d.loaded.Entries -= n
		l.warnings = append(l.warnings,
			ldif.Fault{File: l.firstFile(), Line: 1,
				Message: fmt.Sprintf("%d entries that lie above others are missing and were added", n)})
	}
	if len(l.kept) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(l.kept))
	parts := make([]string, len(names))
	for i, name := range names {
		k := l.kept[name]
		parts[i] = fmt.Sprintf("%s (%d, first %s on line %d)", name, k.count, k.first.Message, k.first.Line)
	}
	first := l.kept[names[0]].first
	first.Message = fmt.Sprintf("%d values do not match the syntax of their attribute and are kept as "+
		"written: %s", l.d.loaded.Kept, strings.Join(parts, ", "))
	l.warnings = append(l.warnings, first)
}

// extend adds the values of a record to the entry's latest record.
func (e *entry) extend(r *ldif.Record) {
	whole := *e.rec
	whole.Attributes = slices.Clone(whole.Attributes)
	for _, a := range r.Attributes {
		i := slices.IndexFunc(whole.Attributes,
			func(b ldif.Attribute) bool { return strings.EqualFold(a.Name, b.Name) && a.DC == b.DC })
		if i < 0 {
			whole.Attributes = append(whole.Attributes, a)
			continue
		}
		b := &whole.Attributes[i]
		b.Values, b.Lines = slices.Concat(b.Values, a.Values), slices.Concat(b.Lines, a.Lines)
	}
	e.rec = &whole
	e.layers[0] = e.rec
}

// addForest prepares the child domains: their SIDs and the entries that name all domains of
// the forest.
func addForest(l *loader, root *entry) {
	r := l.t.rep
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
		c := Child{DN: e.dn.String(), DNSName: e.dn.dnsName(), NetBIOS: strings.ToUpper(e.dn.RDN().Value)}
		if name := e.get("nETBIOSName"); len(name) > 0 {
			c.NetBIOS = strings.ToUpper(name[0])
		}
		if raw, ok := l.d.schema.must("objectsid").octetsFromText(e.get("objectSid")[0]); ok {
			c.SID = SID{raw}
		}
		r.children = append(r.children, c)
	}
	addCrossRef(l, root, l.d.rootText, l.d.dnsName, l.d.netBIOS)
	for i, c := range l.t.rep.children {
		addCrossRef(l, roots[i], c.DN, c.DNSName, c.NetBIOS)
	}
}

// addCrossRef adds the entry that names a domain of the forest, and its parents, unless the
// files contain them.
func addCrossRef(l *loader, by *entry, dn, dnsName, netBIOS string) {
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
	add := func(dn DN, class string, attributes ...ldif.Attribute) {
		if l.byDN[dn.Key()] == nil {
			l.addClass(dn, class, by, attributes...)
		}
	}
	add(configuration, "configuration")
	add(partitions, "crossRefContainer")
	add(partitions.Child("CN", netBIOS), "crossRef",
		ldif.Attribute{Name: "nCName", Values: []string{dn}},
		ldif.Attribute{Name: "dnsRoot", Values: []string{dnsName}},
		ldif.Attribute{Name: "nETBIOSName", Values: []string{netBIOS}})
}

// domainOf returns the key of the domain that an entry belongs to. Account names are unique within a domain.
func domainOf(l *loader, e *entry) string {
	best := ""
	for _, c := range l.t.rep.children {
		if d, err := ParseDN(c.DN); err == nil && (e.dn.Equal(d) || e.dn.Under(d)) && len(c.DN) > len(best) {
			best = c.DN
		}
	}
	return best
}

// catalogLacks reports whether a link in a loaded file is not in the catalog, which lacks
// the members of global and domain local groups of other domains (facts G15).
func catalogLacks(r *replica, group *node, def *Attribute) bool {
	return def == r.sch.member && abroad(r, group) && r.groupType(group)&groupUniversal == 0
}

// samKey returns the key in sams for an account name.
func samKey(l *loader, e *entry, sam string) string { return domainOf(l, e) + "/" + fold(sam) }

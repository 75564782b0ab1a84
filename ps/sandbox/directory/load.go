package directory

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"adgateway/ps/sandbox/internal/ldif"
)

// Open creates a domain from LDIF records. The domain is the topmost domainDNS entry. Entries may be
// in any order. A later layer may repeat entries of an earlier one, whose attributes it replaces.
//
// There are two extensions. adgatewayProtected: TRUE protects an entry from accidental deletion; it is needed
// because access lists are not read. The option ";x-dc2" of an attribute that is not replicated marks the
// value of dc2.
//
// GUIDs and SIDs may be octets or text, and are generated if they are missing. memberOf,
// directReports and managedObjects may be used instead of member, manager and managedBy. Unknown
// attributes and classes are kept. Missing standard containers are added. The DCs are the computers
// with the account type of a domain controller, by default dc1 and dc2.
//
// Exports of real directories can be loaded. An entry that cannot be held is skipped, and parents that the
// files lack are added. A value that does not match the syntax of its attribute is kept as written if the
// simulation does not use the attribute itself. References to missing objects are also kept. Warnings lists
// these irregularities, and Loaded counts them. The error is an ldif.Faults with all faults that would
// falsify answers.
func Open(opts Options, layers ...[]ldif.Record) (*Domain, error) {
	d := newDomain(opts, newSchema())
	l := &loader{d: d, now: d.tick(), byDN: map[string]*entry{}, byText: map[string]*entry{},
		guids: map[GUID]*entry{}, sids: map[SID]*entry{}, sams: map[string]*entry{}, upns: map[string]*entry{}}
	for i, records := range layers {
		l.read(i, records)
	}
	if err := l.build(); err != nil {
		return nil, err
	}
	l.summarize()
	d.warnings = l.warnings
	d.split()
	return d, nil
}

// Loaded contains counts about a load.
type Loaded struct {
	Entries int // in the domain, without those added as missing in the files
	Skipped int // entries that the directory cannot contain
	Kept    int // values kept as written
	Added   int // parents missing in the files
}

// Loaded returns the counts of the load.
func (d *Domain) Loaded() Loaded { return d.loaded }

// Warnings returns the irregularities that Open accepted: skipped entries, values kept as written, added
// parents, references to missing objects, skipped deleted objects, and duplicate user principal names.
func (d *Domain) Warnings() []ldif.Fault { return append([]ldif.Fault(nil), d.warnings...) }

// entry is an entry being loaded.
type entry struct {
	rec    *ldif.Record
	layers []*ldif.Record // all records of the DN, latest first
	layer  int
	dn     DN
	node   *node
	bad    string // reason why the entry is skipped
}

func (e *entry) get(name string) []string {
	for _, r := range e.layers {
		if v := r.Get(name); v != nil {
			return v
		}
	}
	return nil
}

func (e *entry) is(class string) bool { return hasName(e.get("objectClass"), class) }

type loader struct {
	d        *Domain
	t        *tx
	now      time.Time
	entries  []*entry
	byDN     map[string]*entry
	byText   map[string]*entry // by the DN as written
	guids    map[GUID]*entry
	sids     map[SID]*entry
	faults   ldif.Faults
	warnings []ldif.Fault
	kept     map[string]*keptValues // by attribute

	refs       []pendingRef
	locals     []pendingLocal
	protect    []*node
	passwords  []pendingPassword
	sams, upns map[string]*entry
	raw        []string // the values of the current attribute
}

type pendingRef struct {
	e    *entry
	def  *Attribute
	text string
	back bool // e is the target, text the source of the forward link def
}

func (l *loader) fault(e *entry, format string, args ...any) {
	l.faults = append(l.faults, faultAt(e, e.rec.Line, fmt.Sprintf(format, args...)))
}

func (l *loader) warn(e *entry, format string, args ...any) {
	l.warnings = append(l.warnings, faultAt(e, e.rec.Line, fmt.Sprintf(format, args...)))
}

func faultAt(e *entry, line int, message string) ldif.Fault {
	return ldif.Fault{File: e.rec.File, Line: line, DN: e.rec.DN, Message: message}
}

// skip skips an entry.
func (l *loader) skip(e *entry, format string, args ...any) {
	l.skipAt(e, e.rec.Line, format, args...)
}

func (l *loader) read(layer int, records []ldif.Record) {
	for i := range records {
		r := &records[i]
		e := &entry{rec: r, layers: []*ldif.Record{r}, layer: layer}
		for _, note := range r.Notes {
			l.warn(e, "%s", note)
		}
		dn, err := ParseDN(r.DN)
		if err != nil || dn.IsZero() {
			l.skip(e, "the DN is malformed")
			continue
		}
		e.dn = dn
		key := dn.Key()
		old, ok := l.byDN[key]
		switch {
		case r.Adds && ok && old.layer == layer:
			old.extend(r)
		case r.Adds:
			l.skip(e, "values are added to an entry that no line before has")
		case !ok:
			l.byDN[key] = e
			l.byText[r.DN] = e
			l.entries = append(l.entries, e)
		case old.layer == layer:
			l.skip(e, "the same DN as on line %d of %s", old.rec.Line, old.rec.File)
		default:
			old.layers = append([]*ldif.Record{r}, old.layers...)
			old.rec, old.layer = r, layer
		}
	}
}

// build builds the tree in phases. Each phase processes all entries, so that all
// errors are reported.
func (l *loader) build() error {
	root := l.findRoot()
	if root == nil {
		return l.failed()
	}
	l.domain(root)
	r := newReplica(l.d)
	l.d.all = []*replica{r}
	l.t = &tx{rep: r, op: "load", now: l.now, quiet: true}
	addForest(l, root)
	l.addParents()
	sort.SliceStable(l.entries, func(i, j int) bool { return l.entries[i].dn.Len() < l.entries[j].dn.Len() })
	l.unknownBinaries()
	for _, e := range l.entries {
		l.plant(e)
		if e == root && r.root == nil { // without a root there is no place for any entry
			l.fault(root, "%s", cmp.Or(root.bad, "the domain is a deleted object"))
			return l.failed()
		}
	}
	l.foreign()
	if len(l.faults) > 0 {
		return l.failed()
	}
	l.standard()
	l.identities()
	l.accounts()
	l.resolveRefs()
	l.controllers()
	for _, n := range l.protect {
		if err := l.t.protect(n, true); err != nil {
			l.faults = append(l.faults, ldif.Fault{DN: n.dn(), Message: err.Detail})
		}
	}
	return l.failed()
}

func (l *loader) failed() error {
	sort.SliceStable(l.faults, func(i, j int) bool {
		a, b := l.faults[i], l.faults[j]
		return a.File < b.File || a.File == b.File && a.Line < b.Line
	})
	return l.faults.Err()
}

// findRoot returns the topmost domainDNS entry.
func (l *loader) findRoot() *entry {
	var root *entry
	for _, e := range l.entries {
		if e.is("domainDNS") && (root == nil || e.dn.Len() < root.dn.Len()) {
			root = e
		}
	}
	if root == nil {
		root = l.domainOfNames()
	}
	if root == nil {
		l.faults = append(l.faults, ldif.Fault{File: l.firstFile(), Line: 1,
			Message: "no domainDNS entry, nor a name below DC=...: the files do not contain a domain; " +
				`it begins with the lines "dn: DC=corp,DC=example", "objectClass: domainDNS", "dc: corp"`})
		return nil
	}
	for _, r := range root.dn.rdns {
		if r.Type != "DC" {
			l.fault(root, "the DN of the domain does not consist of DC names only")
			return nil
		}
	}
	return root
}

func (l *loader) firstFile() string {
	if len(l.entries) > 0 {
		return l.entries[0].rec.File
	}
	return "LDIF"
}

// domain determines the names and the SID of the domain.
func (l *loader) domain(root *entry) {
	d := l.d
	d.rootDN, d.rootText = root.dn, root.dn.String()
	d.dnsName = root.dn.dnsName()
	d.configNC = "CN=Configuration," + d.rootText
	d.schemaKey = "," + d.rootDN.Child("CN", "Configuration").Child("CN", "Schema").Key()
	d.netBIOS = l.netBIOS()
	if d.netBIOS == "" {
		d.netBIOS = strings.ToUpper(root.dn.RDN().Value)
		if len(d.netBIOS) > 15 {
			d.netBIOS = d.netBIOS[:15]
		}
	}
	def := d.schema.must("objectsid")
	for _, v := range root.get("objectSid") {
		if v == "{SID}" {
			continue
		}
		if raw, ok := def.octetsFromText(v); ok {
			d.sid = SID{raw}
		} else {
			l.fault(root, "objectSid is malformed")
		}
	}
	for _, e := range l.entries {
		if !d.sid.IsZero() {
			break
		}
		if e.is("user") || e.is("group") && !e.is("builtinDomain") {
			for _, v := range e.get("objectSid") {
				if raw, ok := def.octetsFromText(v); ok && raw[1] == 5 {
					d.sid = SID{raw}.Domain()
				}
			}
		}
	}
	if d.sid.IsZero() {
		g := d.freshGUID()
		sub := func(i int) uint32 { return le32(string(g[i : i+4])) }
		d.sid = mustSID(fmt.Sprintf("S-1-5-21-%d-%d-%d", sub(0), sub(4), sub(8)))
	}
}

// netBIOS returns the NetBIOS name in the crossRef of the configuration or on the
// root itself, or "".
func (l *loader) netBIOS() string {
	for _, e := range l.entries {
		name := e.get("nETBIOSName")
		if len(name) == 0 {
			continue
		}
		if e.dn.Equal(l.d.rootDN) {
			return strings.ToUpper(name[0])
		}
		if nc := e.get("nCName"); len(nc) > 0 {
			if d, err := ParseDN(nc[0]); err == nil && d.Equal(l.d.rootDN) {
				return strings.ToUpper(name[0])
			}
		}
	}
	return ""
}

// unknownBinaries gives octet syntax to each unknown attribute that has a value that is not
// valid UTF-8 in any entry.
func (l *loader) unknownBinaries() {
	for _, e := range l.entries {
		for _, rec := range e.layers {
			for _, a := range rec.Attributes {
				for _, v := range a.Values {
					if !utf8.ValidString(v) {
						l.d.schema.learnAttribute(a.Name, SyntaxOctets)
					}
				}
			}
		}
	}
}

// binName is the name of the container of deleted objects.
const binName = "Deleted Objects"

// deleted reports whether an entry is a deleted object, because it is marked as one or is in
// a container of deleted objects.
func (l *loader) deleted(e *entry) bool {
	if strings.EqualFold(e.dn.RDN().Value, binName) {
		return false
	}
	v := e.get("isDeleted")
	return len(v) > 0 && v[0] == "TRUE" || e.dn.Under(l.d.rootDN.Child("CN", binName))
}

// plant adds the node of an entry to the tree, with its plain values.
func (l *loader) plant(e *entry) {
	if l.deleted(e) {
		l.warn(e, "a deleted object is skipped")
		return
	}
	n := &node{created: l.now.Unix(), changed: l.now.Unix()}
	n.setName(e.dn.RDN())
	if n.class = l.class(e); n.class == nil {
		return
	}
	parent := l.parent(e)
	if e.bad != "" {
		return
	}
	marks := l.mark()
	l.guid(e, n)
	l.sid(e, n)
	e.node = n
	l.attributes(e)
	l.name(e)
	if e.bad != "" {
		e.node = nil
		l.forget(marks)
		return
	}
	l.hold(e, parent)
}

// parent returns the parent of an entry, or nil for the root and for a skipped entry.
func (l *loader) parent(e *entry) *node {
	if e.dn.Equal(l.d.rootDN) {
		return nil
	}
	if !e.dn.Under(l.d.rootDN) {
		l.skip(e, "the entry is outside the domain %s", l.d.rootText)
		return nil
	}
	parent, _ := l.t.rep.find(e.dn.Parent())
	if parent == nil {
		l.skip(e, "its parent was skipped")
		return nil
	}
	if other := parent.named(e.dn.RDN().Value); other != nil {
		l.skip(e, "another object in its place has the name: %s", other.dn())
		return nil
	}
	if parent == l.t.rep.root && takesStandardName(e.dn.RDN()) {
		l.skip(e, "its name is that of the container CN=%s,%s", e.dn.RDN().Value, l.d.rootText)
		return nil
	}
	return parent
}

// hold adds the node of an entry to the tree.
func (l *loader) hold(e *entry, parent *node) {
	r, n := l.t.rep, e.node
	r.seq++
	n.seq = r.seq
	if !n.guid.IsZero() {
		l.guids[n.guid] = e
	}
	if !n.sid.IsZero() {
		l.sids[n.sid] = e
		if n.sid.Domain() == l.d.sid && n.sid.RID() >= l.d.nextRID && n.sid.RID() < l.d.maxRID {
			l.d.nextRID = n.sid.RID() + 1
		}
	}
	if sam := n.first(r.sch.sam); sam != "" && !n.deleted {
		l.sams[samKey(l, e, sam)] = e
	}
	if parent == nil {
		n.rdn, n.esc, n.key = e.dn.RDN().Value, l.d.rootText, ""
		n.rdnType = "DC"
		r.root = n
		if n.guid.IsZero() {
			n.guid = l.d.freshGUID()
		}
		l.d.rootGUID = n.guid
	} else {
		parent.attach(n)
		if n.class.is("domainDNS") || n.class.is("configuration") {
			r.partitions = true
		}
	}
	l.d.loaded.Entries++
}

// class returns the class of an entry. Unknown classes are added to the schema.
func (l *loader) class(e *entry) *Class {
	names := e.get("objectClass")
	if len(names) == 0 {
		l.skip(e, "objectClass is missing")
		return nil
	}
	top, _ := l.d.schema.Class("top")
	best := top
	for _, name := range names {
		c, ok := l.d.schema.Class(name)
		switch {
		case !ok:
			c = l.d.schema.learnClass(name, strings.ToLower(e.dn.RDN().Type), best)
			best = c
		case c.Kind != AuxiliaryClass && c.is(best.Name):
			best = c
		}
	}
	if best.Kind != Structural {
		l.skip(e, "objectClass %s is not a structural class", best.Name)
		return nil
	}
	return best
}

func (l *loader) guid(e *entry, n *node) {
	vals := e.get("objectGUID")
	if len(vals) == 0 {
		return
	}
	raw, ok := l.d.schema.must("objectguid").octetsFromText(vals[0])
	if !ok || len(vals) > 1 {
		l.skip(e, "objectGUID %q is malformed", short(vals[0]))
		return
	}
	n.guid = GUID([]byte(raw))
	if other, ok := l.guids[n.guid]; ok {
		l.skip(e, "the same objectGUID as %s", other.rec.DN)
	}
}

func (l *loader) sid(e *entry, n *node) {
	vals := e.get("objectSid")
	if len(vals) == 0 {
		return
	}
	raw, ok := l.d.schema.must("objectsid").octetsFromText(
		strings.Replace(vals[0], "{SID}", l.d.sid.String(), 1)) // as the standard entries contain it
	if !ok || len(vals) > 1 {
		l.skip(e, "objectSid %q is malformed", short(vals[0]))
		return
	}
	n.sid = SID{raw}
	if other, ok := l.sids[n.sid]; ok {
		l.skip(e, "the same objectSid as %s", other.rec.DN)
	}
}

// attributes stores the plain values of an entry and collects its references.
func (l *loader) attributes(e *entry) {
	done := map[string]bool{}
	several := len(e.layers) > 1 // a record contains each attribute only once
	for _, rec := range e.layers {
		for i := range rec.Attributes {
			a := &rec.Attributes[i]
			if len(a.Values) == 0 {
				continue
			}
			if several {
				key := strings.ToLower(a.Name) + ";" + a.DC
				if done[key] {
					continue
				}
				done[key] = true
			}
			l.attribute(e, a)
		}
	}
}

func (l *loader) attribute(e *entry, a *ldif.Attribute) {
	if strings.EqualFold(a.Name, "adgatewayProtected") {
		if strings.EqualFold(a.Values[0], "TRUE") {
			l.protect = append(l.protect, e.node)
		}
		return
	}
	def := l.d.schema.learnAttribute(a.Name, SyntaxUnicode)
	switch {
	case loadTimes[def.key] != nil:
		l.time(e, def, a)
		return
	case def.NotReplicated && !def.SystemOnly:
		l.local(e, def, a)
		return
	case def.key == "objectcategory":
		l.category(e, a.Values[0])
		return
	case def.key == "unicodepwd":
		l.password(e, a.Values[0])
		return
	case def.Constructed || def.hidden() || def.get != nil:
		return // computed
	case def.Syntax == SyntaxDN:
		for _, v := range a.Values {
			ref := pendingRef{e: e, def: def, text: v}
			if def.IsBackLink() {
				if def.other == nil {
					continue
				}
				ref.def, ref.back = def.other, true
			}
			l.refs = append(l.refs, ref)
		}
		return
	}
	raw := l.raw[:0]
	for i, v := range a.Values {
		x, ok := l.value(def, v)
		if !ok {
			if l.t.rep.sch.uses(def) {
				l.skipValue(e, a, i)
				return
			}
			l.keep(e, def, a, i)
			x = v
		}
		raw = append(raw, x)
	}
	if def.SingleValued && len(raw) > 1 {
		l.skip(e, "%s is single-valued but has %d values", def.Name, len(raw))
		return
	}
	e.node.put(def, raw)
	l.raw = raw
}

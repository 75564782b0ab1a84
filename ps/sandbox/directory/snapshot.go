package directory

import (
	"slices"
	"sort"
	"strings"
)

// Snapshot is the state of a domain at one moment. It is immutable.
type Snapshot struct {
	objects map[GUID]*snapObject
}

// replicaSnapshot is a snapshot of a replica, valid until the next write.
type replicaSnapshot struct {
	writes   uint64
	snapshot *Snapshot
}

// snapObject is an object in a snapshot. It is immutable, because snapshots share unchanged objects.
type snapObject struct {
	dn     string
	attrs  map[string][]snapValue
	source snapSource
}

// snapSource is the data from which a snapObject was created, to detect changes.
type snapSource struct {
	class       *Class
	name        string
	sid         SID
	times, usns [2]int64
	attrs       []stored
	links       []snapLinks
	acl         []ACE
}

// snapLinks are the values of a forward link.
type snapLinks struct {
	def  *Attribute
	vals []snapValue
}

// snapValue is a value as text. target is the object of a reference, which may have been renamed since.
type snapValue struct {
	text   string
	target GUID
}

// Difference is an object that differs between two snapshots.
type Difference struct {
	GUID      GUID
	DN, NewDN string // "" if the object does not exist
	Changes   []AttributeChange
}

// Snapshot returns a copy of all live objects on this DC, without passwords and
// attributes that are not replicated.
func (c *DC) Snapshot() (*Snapshot, error) {
	v, release, err := c.view("snapshot")
	if err != nil {
		return nil, err
	}
	defer release()
	if last := v.rep.latest.Load(); last != nil && last.writes == v.rep.writes {
		return last.snapshot, nil
	}
	s := &Snapshot{objects: make(map[GUID]*snapObject, len(v.rep.byGUID))}
	for g, n := range v.rep.byGUID {
		if n.deleted {
			continue
		}
		s.objects[g] = v.snap(n)
	}
	v.rep.latest.Store(&replicaSnapshot{writes: v.rep.writes, snapshot: s})
	return s, nil
}

// snap returns a copy of a node, or the previous copy if nothing has changed. Back links and
// attributes that are not replicated are omitted.
func (v *view) snap(n *node) *snapObject {
	dn := n.dn()
	if last := n.snapped.Load(); last != nil && last.dn == dn && last.source.holds(n) {
		return last
	}
	o := &snapObject{dn: dn, attrs: map[string][]snapValue{}, source: sourceOf(n)}
	for _, a := range v.stored(n) {
		if a.def.NotReplicated || a.def.Syntax == SyntaxDN && a.def.get == nil {
			continue
		}
		if a.def.Syntax == SyntaxDNBinary {
			for _, s := range n.get(a.def) {
				// regardless of the current name of the object
				o.attrs[a.def.Name] = append(o.attrs[a.def.Name], snapValue{text: s.val})
			}
			continue
		}
		for _, t := range texts(a.def, a.vals) {
			o.attrs[a.def.Name] = append(o.attrs[a.def.Name], snapValue{text: t})
		}
	}
	for _, s := range o.source.links {
		o.attrs[s.def.Name] = append(o.attrs[s.def.Name], s.vals...)
	}
	for _, t := range aceTexts(n.acl) {
		o.attrs["nTSecurityDescriptor"] = append(o.attrs["nTSecurityDescriptor"], snapValue{text: t})
	}
	n.snapped.Store(o)
	return o
}

func sourceOf(n *node) snapSource {
	source := snapSource{
		class: n.class, name: n.esc, sid: n.sid,
		times: [2]int64{n.created, n.changed}, usns: [2]int64{n.usnCreated, n.usnChanged},
		attrs: slices.Clone(n.attrs), acl: slices.Clone(n.acl),
	}
	for _, s := range n.links {
		if s.def.IsBackLink() || len(s.list) == 0 {
			continue
		}
		links := snapLinks{def: s.def, vals: make([]snapValue, len(s.list))}
		for i, l := range s.list {
			links.vals[i] = l.snap()
		}
		source.links = append(source.links, links)
	}
	return source
}

// holds reports whether the node has not changed since.
func (s *snapSource) holds(n *node) bool {
	if s.class != n.class || s.name != n.esc || s.sid != n.sid ||
		s.times != [2]int64{n.created, n.changed} || s.usns != [2]int64{n.usnCreated, n.usnChanged} ||
		!slices.Equal(s.attrs, n.attrs) || !slices.Equal(s.acl, n.acl) {
		return false
	}
	left := s.links
	for _, now := range n.links {
		if now.def.IsBackLink() || len(now.list) == 0 {
			continue
		}
		if len(left) == 0 || left[0].def != now.def ||
			!slices.EqualFunc(left[0].vals, now.list, func(v snapValue, l linkVal) bool { return v == l.snap() }) {
			return false
		}
		left = left[1:]
	}
	return len(left) == 0
}

func (l linkVal) snap() snapValue {
	val := snapValue{text: l.dn()}
	if l.n != nil {
		val.target = l.n.guid
	}
	return val
}

// volatile are the attributes that change with every write.
var volatile = map[string]bool{"uSNChanged": true, "uSNCreated": true, "whenChanged": true,
	"distinguishedName": true}

// Compare returns the differences from s to later, ordered by DN. Attributes that change
// with every write (uSNChanged, whenChanged) and back links are omitted. The values of an
// attribute are compared as sets, and references by their target instead of its name.
func (s *Snapshot) Compare(later *Snapshot) []Difference {
	var out []Difference
	for g, a := range s.objects {
		b, ok := later.objects[g]
		if !ok {
			out = append(out, Difference{GUID: g, DN: a.dn, Changes: changes(a.attrs, nil)})
			continue
		}
		if a == b {
			continue
		}
		if c := changes(a.attrs, b.attrs); len(c) > 0 || a.dn != b.dn {
			out = append(out, Difference{GUID: g, DN: a.dn, NewDN: b.dn, Changes: c})
		}
	}
	for g, b := range later.objects {
		if _, ok := s.objects[g]; !ok {
			out = append(out, Difference{GUID: g, NewDN: b.dn, Changes: changes(nil, b.attrs)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].DN+"\x00"+out[i].NewDN < out[j].DN+"\x00"+out[j].NewDN })
	return out
}

// Names returns the names by which an object can be identified: its GUID, SID, distinguished name, RDN value,
// account name and principal name. It omits names that the object does not have. It returns nil if the
// snapshot does not contain the object.
func (s *Snapshot) Names(g GUID) []string {
	o := s.objects[g]
	if o == nil {
		return nil
	}
	names := []string{g.String(), o.dn}
	if dn, err := ParseDN(o.dn); err == nil && len(dn.rdns) > 0 {
		names = append(names, dn.rdns[0].Value)
	}
	if !o.source.sid.IsZero() {
		names = append(names, o.source.sid.String())
	}
	for _, attribute := range []string{"sAMAccountName", "userPrincipalName"} {
		names = append(names, plain(o.attrs[attribute])...)
	}
	return names
}

// Joined returns the objects that are values of a link in only one of this snapshot and a later one.
func (s *Snapshot) Joined(later *Snapshot, g GUID, link string) []GUID {
	count := map[GUID]int{}
	for one, snapshot := range []*Snapshot{s, later} {
		if o := snapshot.objects[g]; o != nil {
			for _, v := range o.attrs[link] {
				count[v.target] += 1 - 2*one
			}
		}
	}
	var joined []GUID
	for target, n := range count {
		if n != 0 {
			joined = append(joined, target)
		}
	}
	return joined
}

func changes(a, b map[string][]snapValue) []AttributeChange {
	var out []AttributeChange
	for name, before := range a {
		if after := b[name]; !volatile[name] && !sameSet(before, after) {
			out = append(out, AttributeChange{name, plain(before), plain(after)})
		}
	}
	for name, after := range b {
		if _, ok := a[name]; !ok && !volatile[name] {
			out = append(out, AttributeChange{Name: name, After: plain(after)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name) })
	return out
}

func plain(vals []snapValue) []string {
	var out []string
	for _, v := range vals {
		out = append(out, v.text)
	}
	return out
}

func sameSet(a, b []snapValue) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.EqualFunc(a, b, func(x, y snapValue) bool { return x.same() == y.same() }) {
		return true
	}
	count := map[snapValue]int{}
	for _, v := range a {
		count[v.same()]++
	}
	for _, v := range b {
		count[v.same()]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// same returns the comparable part of a value.
func (v snapValue) same() snapValue {
	if !v.target.IsZero() {
		v.text = ""
	}
	return v
}

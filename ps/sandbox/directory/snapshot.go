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

// snapObject is an object in a snapshot. It is immutable, because snapshots share unchanged objects.
type snapObject struct {
	dn    string
	sid   SID
	attrs map[string][]snapValue
}

// snapValue is a value: a text, or the object that is the target of a reference, which may have been renamed
// since.
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
	if last := v.rep.latest.Load(); last != nil {
		return last, nil
	}
	s := &Snapshot{objects: make(map[GUID]*snapObject, len(v.rep.byGUID))}
	for g, n := range v.rep.byGUID {
		if n.deleted {
			continue
		}
		s.objects[g] = v.snap(n)
	}
	v.rep.latest.Store(s)
	return s, nil
}

// snap returns a copy of a node, or the previous copy if nothing has changed. Back links and
// attributes that are not replicated are omitted.
func (v *view) snap(n *node) *snapObject {
	dn := n.dn()
	if last := n.snapped.Load(); last != nil && last.dn == dn {
		return last
	}
	o := &snapObject{dn: dn, sid: n.sid, attrs: map[string][]snapValue{}}
	for _, a := range v.stored(n) {
		if a.def.NotReplicated || a.def.IsBackLink() {
			continue
		}
		vals := make([]snapValue, len(a.vals))
		for i, text := range a.vals {
			vals[i].text = a.def.text(text)
		}
		switch {
		case a.def.Syntax == SyntaxDNBinary:
			for i, s := range n.get(a.def) { // regardless of the current name of the object
				vals[i].text = s.val
			}
		case a.def.Syntax == SyntaxDN && a.def.get == nil:
			for i, l := range n.linkVals(a.def) {
				vals[i] = snapValue{l.text, l.n.id()}
			}
		}
		o.attrs[a.def.Name] = vals
	}
	for _, t := range aceTexts(n.acl) {
		o.attrs["nTSecurityDescriptor"] = append(o.attrs["nTSecurityDescriptor"], snapValue{text: t})
	}
	n.snapped.Store(o)
	return o
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
			out = append(out, Difference{GUID: g, DN: a.dn, Changes: s.changes(a, later, nil)})
			continue
		}
		if a == b {
			continue
		}
		if c := s.changes(a, later, b); len(c) > 0 || a.dn != b.dn {
			out = append(out, Difference{GUID: g, DN: a.dn, NewDN: b.dn, Changes: c})
		}
	}
	for g, b := range later.objects {
		if _, ok := s.objects[g]; !ok {
			out = append(out, Difference{GUID: g, NewDN: b.dn, Changes: s.changes(nil, later, b)})
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
	if !o.sid.IsZero() {
		names = append(names, o.sid.String())
	}
	for _, attribute := range []string{"sAMAccountName", "userPrincipalName"} {
		names = append(names, s.plain(o.attrs[attribute])...)
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

// changes returns the differences between an object of this snapshot and one of a later snapshot. Either may
// be nil.
func (s *Snapshot) changes(a *snapObject, later *Snapshot, b *snapObject) []AttributeChange {
	var before, after map[string][]snapValue
	if a != nil {
		before = a.attrs
	}
	if b != nil {
		after = b.attrs
	}
	var out []AttributeChange
	for name, vals := range before {
		if !volatile[name] && !sameSet(vals, after[name]) {
			out = append(out, AttributeChange{name, s.plain(vals), later.plain(after[name])})
		}
	}
	for name, vals := range after {
		if _, ok := before[name]; !ok && !volatile[name] {
			out = append(out, AttributeChange{Name: name, After: later.plain(vals)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name) })
	return out
}

// plain returns values as text.
func (s *Snapshot) plain(vals []snapValue) []string {
	var out []string
	for _, v := range vals {
		if o := s.objects[v.target]; o != nil {
			v.text = o.dn
		}
		out = append(out, v.text)
	}
	return out
}

func sameSet(a, b []snapValue) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
	}
	count := map[snapValue]int{}
	for _, v := range a {
		count[v]++
	}
	for _, v := range b {
		count[v]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

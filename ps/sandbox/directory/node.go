package directory

import (
	"slices"
	"strings"
	"sync/atomic"
)

// node is an object in the tree of a replica, guarded by the replica's lock.
type node struct {
	guid   GUID
	sid    SID
	seq    uint64 // order of creation
	parent *node  // nil for the domain's root
	class  *Class

	rdnType string // CN, OU, DC
	rdn     string // the name, unescaped
	esc     string // CN=name, escaped
	key     string // folded value of rdn, unique among siblings regardless of its type (facts C32)

	kids  nodeSet
	names map[string]*node // kids by key; may be nil

	attrs  []stored  // sorted by attribute, so the values of an attribute are adjacent
	links  []linkSet // both directions
	hidden []linkSet // links of or to a deleted object, both directions
	acl    []ACE
	local  []localState // by DC; nil until one is written
	secret *secret

	created, changed       int64 // Unix seconds
	usnCreated, usnChanged int64
	deleted                bool
	recycled               bool // deleted and stripped, or a tombstone

	snapped atomic.Pointer[snapObject] // copy in the latest snapshot; nil after a change
}

// stored is a raw value.
type stored struct {
	def *Attribute
	val string
}

// localState contains the attributes that are not replicated (facts E17a).
type localState struct {
	lastLogon, badPasswordTime int64 // FILETIME
	badPwdCount, logonCount    int32
}

// linkVal is a reference to an object, or text if the object does not exist here.
type linkVal struct {
	n    *node
	text string
}

// linkSet are the values of one link attribute.
type linkSet struct {
	def *Attribute
	set[linkVal]
}

// find returns the index of a value, or -1.
func (s *linkSet) find(v linkVal) int {
	if v.n != nil {
		return s.index(v.n)
	}
	return slices.IndexFunc(s.list, func(x linkVal) bool { return x.n == nil && fold(x.text) == fold(v.text) })
}

// nodeSet is an unordered set of nodes.
type nodeSet = set[*node]

func (n *node) at() *node   { return n }
func (v linkVal) at() *node { return v.n }

// set is an unordered set of values, most of them with a node.
type set[T interface{ at() *node }] struct {
	list []T
	pos  map[*node]int32 // index in list; nil if the list is short
}

const shortList = 16

func (s *set[T]) add(v T) {
	s.list = append(s.list, v)
	switch {
	case s.pos != nil:
		if v.at() != nil {
			s.pos[v.at()] = int32(len(s.list) - 1)
		}
	case len(s.list) > shortList:
		s.pos = make(map[*node]int32, 2*len(s.list))
		for i, x := range s.list {
			if x.at() != nil {
				s.pos[x.at()] = int32(i)
			}
		}
	}
}

// index returns the index of the value with a node, or -1.
func (s *set[T]) index(n *node) int {
	if s.pos != nil {
		if i, ok := s.pos[n]; ok {
			return int(i)
		}
		return -1
	}
	for i, x := range s.list {
		if x.at() == n {
			return i
		}
	}
	return -1
}

// remove removes the value at an index, if it is not negative.
func (s *set[T]) remove(i int) {
	if i < 0 {
		return
	}
	var none T
	v, last := s.list[i], len(s.list)-1
	s.list[i] = s.list[last]
	if s.pos != nil {
		if n := s.list[i].at(); n != nil {
			s.pos[n] = int32(i)
		}
		delete(s.pos, v.at())
	}
	s.list[last] = none
	s.list = s.list[:last]
}

// id returns the GUID, or the zero GUID for nil.
func (n *node) id() GUID {
	if n == nil {
		return GUID{}
	}
	return n.guid
}

// setName sets the RDN.
func (n *node) setName(r RDN) {
	n.rdnType = r.Type
	n.esc = r.Type + "=" + EscapeRDN(r.Value)
	n.rdn = r.Value
	if tail := n.esc[len(r.Type)+1:]; tail == r.Value {
		n.rdn = tail // share the memory
	}
	n.key = fold(r.Value)
}

// dn returns the distinguished name.
func (n *node) dn() string {
	if n.parent == nil {
		return n.esc
	}
	size := 0
	for m := n; m != nil; m = m.parent {
		size += len(m.esc) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for m := n; m != nil; m = m.parent {
		if m != n {
			b.WriteByte(',')
		}
		b.WriteString(m.esc)
	}
	return b.String()
}

// under reports whether n is a or below a.
func (n *node) under(a *node) bool {
	for m := n; m != nil; m = m.parent {
		if m == a {
			return true
		}
	}
	return false
}

// child returns a child by type and name, or nil.
func (n *node) child(name RDN) *node {
	if kid := n.named(name.Value); kid != nil && strings.EqualFold(kid.rdnType, name.Type) {
		return kid
	}
	return nil
}

// named returns the child that has the name, regardless of its type, or nil.
func (n *node) named(value string) *node {
	var buf [shortName]byte
	return n.names[string(appendFold(buf[:0], value))]
}

func (n *node) attach(kid *node) {
	kid.parent = n
	if n.names == nil {
		n.names = map[string]*node{}
	}
	n.names[kid.key] = kid
	n.kids.add(kid)
}

func (n *node) detach(kid *node) {
	delete(n.names, kid.key)
	n.kids.remove(n.kids.index(kid))
}

// search returns the index of the first value of def, or where to insert it.
func (n *node) search(def *Attribute) int {
	lo, hi := 0, len(n.attrs)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.attrs[mid].def.order < def.order {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// get returns the stored values of an attribute. The slice must not be changed.
func (n *node) get(def *Attribute) []stored {
	i := n.search(def)
	j := i
	for j < len(n.attrs) && n.attrs[j].def == def {
		j++
	}
	return n.attrs[i:j]
}

// first returns the first stored value, "" if there is none.
func (n *node) first(def *Attribute) string {
	if i := n.search(def); i < len(n.attrs) && n.attrs[i].def == def {
		return n.attrs[i].val
	}
	return ""
}

// put replaces the stored values of an attribute.
func (n *node) put(def *Attribute, vals []string) {
	i := n.search(def)
	var few [4]stored
	now := few[:0]
	for _, v := range vals {
		now = append(now, stored{def, v})
	}
	n.attrs = slices.Replace(n.attrs, i, i+len(n.get(def)), now...)
}

// linkSet returns the values of a link attribute, nil if there are none.
func (n *node) linkSet(def *Attribute) *linkSet {
	for i := range n.links {
		if n.links[i].def == def {
			return &n.links[i]
		}
	}
	return nil
}

func (n *node) linkVals(def *Attribute) []linkVal {
	if s := n.linkSet(def); s != nil {
		return s.list
	}
	return nil
}

// hiddenVals returns the hidden values of a link attribute.
func (n *node) hiddenVals(def *Attribute) []linkVal {
	for i := range n.hidden {
		if n.hidden[i].def == def {
			return n.hidden[i].list
		}
	}
	return nil
}

// linkSets returns either the visible or the hidden links.
func (n *node) linkSets(hidden bool) *[]linkSet {
	if hidden {
		return &n.hidden
	}
	return &n.links
}

// setLink adds or removes a link.
func (n *node) setLink(def *Attribute, v linkVal, hidden, on bool) {
	if on {
		n.addLink(def, v, hidden)
	} else {
		n.removeLink(def, v, hidden)
	}
}

func (n *node) addLink(def *Attribute, v linkVal, hidden bool) {
	sets := n.linkSets(hidden)
	for i := range *sets {
		if s := &(*sets)[i]; s.def == def {
			s.add(v)
			return
		}
	}
	*sets = append(*sets, linkSet{def: def})
	(*sets)[len(*sets)-1].add(v)
}

func (n *node) removeLink(def *Attribute, v linkVal, hidden bool) {
	sets := n.linkSets(hidden)
	for i := range *sets {
		s := &(*sets)[i]
		if s.def != def {
			continue
		}
		s.remove(s.find(v))
		if len(s.list) == 0 {
			last := len(*sets) - 1
			*s = (*sets)[last]
			(*sets)[last] = linkSet{}
			*sets = (*sets)[:last]
		}
		return
	}
}

// localOf returns the state of a DC, or nil if none was set.
func (n *node) localOf(dc int) *localState {
	if dc < len(n.local) {
		return &n.local[dc]
	}
	return nil
}

func (n *node) localFor(dc, dcs int) *localState {
	if len(n.local) < dcs {
		grown := make([]localState, dcs)
		copy(grown, n.local)
		n.local = grown
	}
	return &n.local[dc]
}

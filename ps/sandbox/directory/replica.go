package directory

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// replica is a copy of the tree with its indexes. Without a replication lag all DCs share a
// single replica, otherwise each has its own.
type replica struct {
	dom *Domain
	sch *known

	mu      sync.RWMutex
	root    *node
	bin     *node // CN=Deleted Objects
	byGUID  map[GUID]*node
	bySID   map[SID]*node
	byClass map[*Class]*nodeSet
	index   map[*Attribute]map[string]*posting
	// partitions is set if the tree has other naming contexts (configuration,
	// DNS), which searches from outside do not enter.
	partitions bool
	children   []Child // the other domains
	seq        uint64
	usn        int64
	stamps     map[stampKey]stamp // latest writes; nil with a single replica
	mixed      map[*Class]bool    // classes that have objects of another category

	latest atomic.Pointer[Snapshot] // nil after a write
}

// lock locks the replica for writing.
func (r *replica) lock() {
	r.mu.Lock()
	r.latest.Store(nil)
}

// posting contains the nodes with a value, usually only one.
type posting struct {
	one  *node
	more *nodeSet // all nodes, if there are several
}

func (p *posting) nodes() []*node {
	if p == nil {
		return nil
	}
	if p.more != nil {
		return p.more.list
	}
	return []*node{p.one}
}

func newReplica(d *Domain) *replica {
	r := &replica{
		dom: d, sch: d.schema.known,
		byGUID: map[GUID]*node{}, bySID: map[SID]*node{}, byClass: map[*Class]*nodeSet{},
		index: map[*Attribute]map[string]*posting{}, mixed: map[*Class]bool{},
	}
	for _, a := range d.schema.indexed {
		r.index[a] = map[string]*posting{}
	}
	return r
}

// post adds an index entry. Attributes without an index are ignored.
func (r *replica) post(def *Attribute, n *node, val string) {
	m, ok := r.index[def]
	if !ok || n.deleted {
		return
	}
	key := def.matchKey(val)
	p := m[key]
	switch {
	case p == nil:
		m[key] = &posting{one: n}
	case p.more != nil:
		if p.more.index(n) < 0 {
			p.more.add(n)
		}
	case p.one != n:
		set := &nodeSet{}
		set.add(p.one)
		set.add(n)
		p.one, p.more = nil, set
	}
}

// unpost removes an index entry.
func (r *replica) unpost(def *Attribute, n *node, val string) {
	m, ok := r.index[def]
	if !ok {
		return
	}
	key := def.matchKey(val)
	p := m[key]
	switch {
	case p == nil:
	case p.more != nil:
		p.more.remove(p.more.index(n))
		if len(p.more.list) == 0 {
			delete(m, key)
		}
	case p.one == n:
		delete(m, key)
	}
}

// having returns the live nodes of the domain with a raw value of an indexed attribute.
func (r *replica) having(def *Attribute, val string) []*node {
	return own(r, r.index[def][def.matchKey(val)].nodes())
}

// enter adds a node and its stored values to the indexes.
func (r *replica) enter(n *node) {
	r.byGUID[n.guid] = n
	if n.deleted {
		return
	}
	if !n.sid.IsZero() {
		r.bySID[n.sid] = n
	}
	set := r.byClass[n.class]
	if set == nil {
		set = &nodeSet{}
		r.byClass[n.class] = set
	}
	if n.first(r.sch.category) != "" {
		r.mixed[n.class] = true
	}
	set.add(n)
	r.post(r.sch.name, n, n.rdn)
	for _, s := range n.attrs {
		r.post(s.def, n, s.val)
	}
}

// leave removes a node from the indexes.
func (r *replica) leave(n *node) {
	delete(r.byGUID, n.guid)
	if r.bySID[n.sid] == n {
		delete(r.bySID, n.sid)
	}
	if set := r.byClass[n.class]; set != nil {
		set.remove(set.index(n))
	}
	r.unpost(r.sch.name, n, n.rdn)
	for _, s := range n.attrs {
		r.unpost(s.def, n, s.val)
	}
}

// find returns the live node with a DN, or nil. best is its nearest existing ancestor.
func (r *replica) find(d DN) (n, best *node) {
	n = r.root
	rootLen := r.dom.rootDN.Len()
	if d.Len() < rootLen || !d.endsWith(r.dom.rootDN) {
		return nil, nil
	}
	for i := d.Len() - rootLen - 1; i >= 0; i-- {
		kid := n.child(d.rdns[i])
		if kid == nil || kid.deleted {
			return nil, n
		}
		n = kid
	}
	return n, n
}

// resolveForest returns the live node of a reference in any domain of the forest. It has the
// errors of resolve.
func (r *replica) resolveForest(ref string) (*node, *Error) {
	switch {
	case ref == r.dom.rootText: // common base of searches
		return r.root, nil
	case strings.HasPrefix(ref, "<"):
		return r.resolveExtended(ref)
	}
	var room [shortList]RDN
	d, err := parseDN(ref, room[:0])
	if err != nil {
		return nil, err
	}
	if d.IsZero() {
		return nil, fail(CodeNoSuchObject, KindNotFound, ref, "the DN is empty")
	}
	n, best := r.find(d)
	if n != nil {
		return n, nil
	}
	if best == nil {
		if foreign(d) {
			return nil, fail(CodeReferral, KindReferral, ref, "the name is in another domain")
		}
		return nil, fail(CodeNoSuchObject, KindNotFound, ref, "the name is outside the domain")
	}
	e := fail(CodeNoSuchObject, KindNotFound, ref, "no such object")
	e.BestMatch = best.dn()
	return nil, e
}

// foreign reports whether a DN outside the domain belongs to another domain.
func foreign(d DN) bool {
	return strings.EqualFold(d.rdns[len(d.rdns)-1].Type, "DC")
}

func (r *replica) resolveExtended(ref string) (*node, *Error) {
	name, value, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(ref, "<"), ">"), "=")
	if !ok || !strings.HasSuffix(ref, ">") {
		return nil, fail(CodeInvalidDN, KindSyntax, ref, "a malformed reference")
	}
	var n *node
	switch strings.ToUpper(name) {
	case "GUID":
		g, ok := ParseGUID(value)
		if !ok {
			return nil, fail(CodeInvalidDN, KindSyntax, ref, "a malformed GUID")
		}
		n = r.byGUID[g]
	case "SID":
		s, ok := ParseSID(value)
		if !ok {
			return nil, fail(CodeInvalidDN, KindSyntax, ref, "a malformed SID")
		}
		n = r.bySID[s]
	default:
		return nil, fail(CodeInvalidDN, KindSyntax, ref, "an unknown kind of reference")
	}
	if n == nil || n.deleted {
		return nil, fail(CodeNotFound, KindNotFound, ref, "no such object")
	}
	return n, nil
}

// bySAM returns the live principal with a sAMAccountName, or nil.
func (r *replica) bySAM(name string) *node {
	for _, n := range r.having(r.sch.sam, name) {
		return n
	}
	return nil
}

// walk calls f for n and all nodes below, parents first.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, k := range n.kids.list {
		k.walk(f)
	}
}

// freshGUID returns a new GUID, derived from the seed and a counter so that it is
// reproducible.
func (d *Domain) freshGUID() GUID {
	d.guids++
	a := splitmix(uint64(d.opts.Seed)*0x9E3779B97F4A7C15 + d.guids)
	b := splitmix(a ^ 0xD1B54A32D192ED03)
	var g GUID
	for i := 0; i < 8; i++ {
		g[i] = byte(a >> (8 * i))
		g[8+i] = byte(b >> (8 * i))
	}
	g[7] = g[7]&0x0F | 0x40
	g[8] = g[8]&0x3F | 0x80
	return g
}

func splitmix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// freshSID returns a SID with the next RID, or error 8208 if there is none left.
func (d *Domain) freshSID() (SID, *Error) {
	if d.nextRID >= d.maxRID {
		return SID{}, fail(CodeNoRIDs, KindBusy, "", "the RID pool is used up")
	}
	rid := d.nextRID
	d.nextRID++
	return d.sid.WithRID(rid), nil
}

func unixTime(sec int64) time.Time { return time.Unix(sec, 0).UTC() }

// abroad reports whether a node belongs to another domain of the forest.
func abroad(r *replica, n *node) bool {
	if len(r.children) == 0 {
		return false
	}
	p := n.partition()
	return p != r.root && p.class.Name == "domainDNS" && !p.sid.IsZero()
}

// resolve returns the live node of a reference in the domain. Errors: 8242 malformed, 8235
// another domain, 8240 no such DN, 8333 no such GUID or SID.
func (r *replica) resolve(ref string) (*node, *Error) {
	n, err := r.resolveForest(ref)
	switch {
	case err != nil || !abroad(r, n):
		return n, err
	case strings.HasPrefix(ref, "<"):
		return nil, fail(CodeNotFound, KindNotFound, ref, "no such object")
	}
	return nil, fail(CodeReferral, KindReferral, ref, "the name is in another domain")
}

// own returns the nodes that belong to the domain.
func own(r *replica, nodes []*node) []*node {
	if len(r.children) == 0 {
		return nodes
	}
	var out []*node
	for _, n := range nodes {
		if !abroad(r, n) {
			out = append(out, n)
		}
	}
	return out
}

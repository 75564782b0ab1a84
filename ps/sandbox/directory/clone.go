package directory

import (
	"cmp"
	"maps"
	"slices"
)

// clone returns a new domain with the objects of a domain that nobody has written to. Objects that were
// loaded at the time 0 get the current time.
func (d *Domain) clone(opts Options) *Domain {
	out := newDomain(opts, d.schema)
	out.identity, out.guids, out.nextRID, out.loaded = d.identity, d.guids, d.nextRID, d.loaded
	out.warnings = d.warnings
	r := d.all[0].clone(out, out.tick().Unix())
	out.all = []*replica{r}
	for _, c := range d.dcs {
		out.addDC(c.name, c.host, c.account, !c.Writable())
	}
	out.split()
	return out
}

// split creates a replica for every DC if the options require it.
func (d *Domain) split() {
	first := d.all[0]
	if d.opts.ReplicationLag <= 0 && !d.opts.Replicas || len(d.dcs) == 1 {
		return
	}
	first.stamps = map[stampKey]stamp{}
	for _, c := range d.dcs[1:] {
		c.rep = first.clone(d, 0)
		c.rep.stamps = map[stampKey]stamp{}
		d.all = append(d.all, c.rep)
	}
}

// clone returns a copy of a replica, with all nodes, links and indexes, for a domain. It has no deleted
// objects. Nodes that were created or changed at the time 0 get now.
func (r *replica) clone(dom *Domain, now int64) *replica {
	out := newReplica(dom)
	out.seq, out.usn, out.partitions, out.children = r.seq, r.usn, r.partitions, r.children
	nodes := subtree(r.root)
	values := 0
	for _, n := range nodes {
		values += len(n.attrs)
	}
	twins, attrs := make([]node, len(nodes)), make([]stored, 0, values)
	twin := make(map[*node]*node, len(nodes))
	for i, n := range nodes {
		m := &twins[i]
		twin[n] = m
		m.guid, m.sid, m.seq, m.class = n.guid, n.sid, n.seq, n.class
		m.rdnType, m.rdn, m.esc, m.key = n.rdnType, n.rdn, n.esc, n.key
		m.acl, m.secret, m.local, m.deleted = n.acl, n.secret, slices.Clone(n.local), n.deleted
		m.created, m.changed = cmp.Or(n.created, now), cmp.Or(n.changed, now)
		m.usnCreated, m.usnChanged = n.usnCreated, n.usnChanged
		from := len(attrs)
		attrs = append(attrs, n.attrs...)
		m.attrs = attrs[from:len(attrs):len(attrs)]
		out.byGUID[m.guid] = m
		if !m.sid.IsZero() {
			out.bySID[m.sid] = m
		}
	}
	of := func(n *node) *node { return twin[n] }
	for i, n := range nodes {
		m := &twins[i]
		m.parent, m.kids = of(n.parent), n.kids.clone(of)
		if n.names != nil {
			m.names = make(map[string]*node, len(n.names))
		}
		for key, kid := range n.names {
			m.names[key] = twin[kid]
		}
		for _, s := range n.links {
			m.links = append(m.links,
				linkSet{s.def, s.clone(func(v linkVal) linkVal { return linkVal{of(v.n), v.text} })})
		}
	}
	out.root, out.bin, out.mixed = of(r.root), of(r.bin), maps.Clone(r.mixed)
	for class, set := range r.byClass {
		set := set.clone(of)
		out.byClass[class] = &set
	}
	for def, postings := range r.index {
		index := make(map[string]*posting, len(postings))
		for key, p := range postings {
			c := &posting{one: of(p.one)}
			if p.more != nil {
				more := p.more.clone(of)
				c.more = &more
			}
			index[key] = c
		}
		out.index[def] = index
	}
	return out
}

// clone returns the set of the twins.
func (s *set[T]) clone(twin func(T) T) set[T] {
	out := set[T]{list: make([]T, 0, len(s.list))}
	for _, v := range s.list {
		out.add(twin(v))
	}
	return out
}

package directory

// split creates a replica for every DC.
func (d *Domain) split() {
	first := d.all[0]
	first.stamps = map[stampKey]stamp{}
	for i, c := range d.dcs {
		if i == 0 {
			continue
		}
		c.rep = first.clone()
		d.all = append(d.all, c.rep)
	}
}

// clone returns a copy of a replica with all nodes, links and indexes.
func (r *replica) clone() *replica {
	out := newReplica(r.dom)
	out.stamps = map[stampKey]stamp{}
	out.seq, out.usn, out.partitions, out.children = r.seq, r.usn, r.partitions, r.children
	twin := make(map[*node]*node, len(r.byGUID))
	r.root.walk(func(n *node) {
		m := &node{
			guid: n.guid, sid: n.sid, seq: n.seq, class: n.class,
			rdnType: n.rdnType, rdn: n.rdn, esc: n.esc, key: n.key,
			attrs: append([]stored(nil), n.attrs...), acl: n.acl, secret: n.secret,
			local:   append([]localState(nil), n.local...),
			created: n.created, changed: n.changed, usnCreated: n.usnCreated, usnChanged: n.usnChanged,
			deleted: n.deleted, recycled: n.recycled,
		}
		twin[n] = m
		if n.parent != nil {
			twin[n.parent].attach(m)
		}
	})
	out.root, out.bin = twin[r.root], twin[r.bin]
	for n, m := range twin {
		for _, s := range n.links {
			for _, l := range s.list {
				m.addLink(s.def, linkVal{n: twin[l.n], text: l.text}, false)
			}
		}
	}
	out.root.walk(out.enter)
	return out
}

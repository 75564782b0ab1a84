package directory

import (
	"strings"
	"time"
)

// With a replication lag every DC has a replica of its own. A write is sent to
// the others step by step, by GUID, and applied when its time has come and the
// DC is alive. Of two writes to one attribute or name the later one wins; two
// objects of one name end as one with the name and one with a conflict name
// (facts C23, G10).

// stamp says who wrote something last.
type stamp struct {
	at int64
	dc int
}

func (a stamp) after(b stamp) bool { return a.at > b.at || a.at == b.at && a.dc > b.dc }

type stampKey struct {
	guid GUID
	what string // attribute, or "*name", "*acl", "*key"
}

// change is one write on its way to one replica.
type change struct {
	due   time.Time
	to    *replica
	dc    *DC // the DC of that replica
	stamp stamp
	now   time.Time
	steps []message
}

// message is a step in terms that hold on every replica.
type message struct {
	kind    stepKind
	guid    GUID
	def     *Attribute
	vals    []string
	target  GUID   // of a link; zero when it is text
	text    string // of a link
	parent  GUID
	name    RDN
	class   *Class
	sid     SID
	created int64
	acl     []ACE
	key     *secret
}

func (s step) message() message {
	m := message{kind: s.kind, guid: s.n.guid, def: s.def, vals: s.after, name: s.toName, acl: s.toACL, key: s.toKey}
	if s.to != nil {
		m.parent = s.to.guid
	}
	if s.link.n != nil {
		m.target = s.link.n.guid
	}
	m.text = s.link.text
	if s.kind == stepInsert {
		m.class, m.sid, m.created = s.n.class, s.n.sid, s.n.created
		m.name = RDN{s.n.rdnType, s.n.rdn}
	}
	return m
}

func (m message) what() string {
	switch m.kind {
	case stepAttr:
		return m.def.key
	case stepInsert, stepPlace, stepBury:
		return "*name"
	case stepACL:
		return "*acl"
	case stepSecret:
		return "*key"
	}
	return ""
}

// enqueue sends a finished write to the other replicas. d.mu is held.
func (d *Domain) enqueue(t *tx) {
	if len(d.all) == 1 {
		return
	}
	st := stamp{t.now.UnixNano(), t.dc.index}
	steps := make([]message, len(t.steps))
	for i, s := range t.steps {
		steps[i] = s.message()
		if w := steps[i].what(); w != "" {
			t.rep.stamps[stampKey{steps[i].guid, w}] = st
		}
	}
	for i, r := range d.all {
		if r != t.rep {
			d.queue = append(d.queue, change{t.now.Add(d.opts.ReplicationLag), r, d.dcs[i], st, t.now, steps})
		}
	}
	d.pending.Store(int32(len(d.queue)))
}

// deliver applies what is due. d.mu is held, no replica's lock is.
func (d *Domain) deliver(now time.Time) {
	if len(d.queue) == 0 {
		return
	}
	var rest []change
	for _, c := range d.queue {
		if now.Before(c.due) || !c.dc.Alive() {
			rest = append(rest, c)
			continue
		}
		c.to.mu.Lock()
		c.apply()
		c.to.mu.Unlock()
	}
	d.queue = rest
	d.pending.Store(int32(len(rest)))
}

// Replicate brings all DCs that are alive up to date at once, whatever the lag
// is (repadmin /syncall).
func (d *Domain) Replicate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deliver(d.clock().UTC().Add(d.opts.ReplicationLag + time.Hour))
}

func (c *change) apply() {
	t := &tx{rep: c.to, now: c.now, quiet: true}
	written := map[*node]bool{}
	for _, m := range c.steps {
		if n := c.one(t, m); n != nil && !written[n] {
			written[n] = true
			t.touched = append(t.touched, n)
		}
	}
	t.stamp()
}

// one applies a message; nil when a later write has won.
func (c *change) one(t *tx, m message) *node {
	r := c.to
	if w := m.what(); w != "" {
		key := stampKey{m.guid, w}
		if old, ok := r.stamps[key]; ok && old.after(c.stamp) {
			return nil
		}
		r.stamps[key] = c.stamp
	}
	n := r.byGUID[m.guid]
	if m.kind == stepInsert {
		if n != nil {
			return nil
		}
		return c.insert(t, m)
	}
	if n == nil {
		return nil
	}
	switch m.kind {
	case stepAttr:
		if m.def == r.sch.sam && len(m.vals) == 1 {
			return c.account(t, n, m)
		}
		t.set(n, m.def, m.vals...)
	case stepLink, stepUnlink:
		v := linkVal{n: r.byGUID[m.target], text: m.text}
		if v.n == nil && v.text == "" || n.deleted && m.def != r.sch.lastKnownParent {
			return nil
		}
		if m.kind == stepLink {
			t.link(n, m.def, v)
		} else {
			t.unlink(n, m.def, v)
		}
	case stepPlace:
		parent := c.parent(m.parent)
		if parent.under(n) {
			return nil
		}
		c.clear(t, n, parent, m.name)
		t.place(n, parent, c.free(n, parent, m.name))
	case stepBury:
		if !n.deleted && len(n.kids.list) == 0 {
			t.did(step{kind: stepBury, n: n, after: []string{"TRUE"}})
		}
	case stepACL:
		t.setACL(n, m.acl)
	case stepSecret:
		t.setSecret(n, m.key)
	}
	return n
}

// parent finds the parent a message names; objects whose parent is gone end in
// LostAndFound.
func (c *change) parent(g GUID) *node {
	if p := c.to.byGUID[g]; p != nil && (!p.deleted || p == c.to.bin) {
		return p
	}
	if p := c.to.root.child("cn=lostandfound"); p != nil {
		return p
	}
	return c.to.root
}

func (c *change) insert(t *tx, m message) *node {
	parent := c.parent(m.parent)
	n := &node{guid: m.guid, sid: m.sid, class: m.class, created: m.created}
	c.clear(t, n, parent, m.name)
	n.setName(c.free(n, parent, m.name))
	t.insert(n, parent)
	return n
}

// clear gives a conflict name to an older holder of the name.
func (c *change) clear(t *tx, n, parent *node, name RDN) {
	other := parent.child(name.key())
	if other == nil || other == n || !c.wins(other) {
		return
	}
	t.place(other, parent, conflictName(other))
}

// free is the name itself, or n's conflict name when another object keeps it.
func (c *change) free(n, parent *node, name RDN) RDN {
	if other := parent.child(name.key()); other != nil && other != n {
		n.rdnType, n.rdn = name.Type, name.Value
		return conflictName(n)
	}
	return name
}

// wins tells whether the change is later than the other object's name.
func (c *change) wins(other *node) bool {
	return c.stamp.after(c.to.stamps[stampKey{other.guid, "*name"}])
}

func conflictName(n *node) RDN {
	name, _, _ := strings.Cut(n.rdn, "\nCNF:")
	return RDN{n.rdnType, name + "\nCNF:" + n.guid.String()}
}

// account writes a sAMAccountName; of two objects that took the same name on
// two DCs the younger one gets a made-up name.
func (c *change) account(t *tx, n *node, m message) *node {
	t.set(n, m.def, m.vals...)
	for _, other := range c.to.having(m.def, m.vals[0]) {
		if other == n {
			continue
		}
		loser := n
		if other.created > n.created || other.created == n.created && other.guid.String() > n.guid.String() {
			loser = other
		}
		t.set(loser, m.def, "$DUPLICATE-"+strings.ToUpper(itoa(int64(loser.sid.RID()))))
		return n
	}
	return n
}

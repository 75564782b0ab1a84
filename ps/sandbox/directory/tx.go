package directory

import (
	"context"
	"slices"
	"time"
)

// tx is a write transaction. It holds the locks and records each step, so that the
// write can be rolled back, journaled and replicated.
type tx struct {
	rep     *replica
	dc      *DC // nil while loading
	op      string
	now     time.Time
	writer  string // see WithWriter
	steps   []step
	touched []*node
	quiet   bool     // steps are not recorded, while loading
	locked  *Lockout // account that the write has locked out; nil if none
}

type stepKind uint8

const (
	stepInsert stepKind = iota
	stepAttr
	stepLink
	stepUnlink
	stepPlace
	stepBury
	stepACL
	stepSecret
)

// step is a reversible change of a node.
type step struct {
	kind             stepKind
	n                *node
	def              *Attribute
	before, after    []string
	link             linkVal
	from, to         *node
	fromName, toName RDN
	fromACL, toACL   []ACE
	fromKey, toKey   *secret
	fromDN           string
	silent           bool // not a write of n
	hidden           bool // of a link: its other end is a deleted object
}

// begin starts a write on the DC and takes the locks. The caller must call end.
func (c *DC) begin(ctx context.Context, op string) (*tx, *Error) {
	if !c.Alive() {
		return nil, c.down(op)
	}
	if !c.Writable() {
		return nil, &Error{Code: CodeNotOnReadOnlyDC, Kind: KindReferral, Op: op, Detail: c.name + " is read-only"}
	}
	d := c.domain
	d.mu.Lock()
	now := d.tick()
	d.sweep(now)
	d.deliver(now)
	c.rep.lock()
	return &tx{rep: c.rep, dc: c, op: op, now: now, writer: Writer(ctx)}, nil
}

// end rolls a write back if err is not nil, otherwise commits it, and releases the
// locks.
func (t *tx) end(err *Error) error {
	d := t.rep.dom
	defer d.mu.Unlock()
	if err != nil {
		t.rollback()
		t.rep.mu.Unlock()
		if err.Op == "" {
			err.Op = t.op
		}
		return err
	}
	t.stamp()
	t.rep.mu.Unlock()
	if len(t.steps) > 0 {
		d.journal.record(t)
		d.enqueue(t)
	}
	return nil
}

// stamp updates whenChanged and uSNChanged of the changed objects.
func (t *tx) stamp() {
	for _, n := range t.touched {
		t.rep.usn++
		n.changed = t.now.Unix()
		n.usnChanged = t.rep.usn
		if n.usnCreated == 0 {
			n.usnCreated = t.rep.usn
		}
	}
}

func (t *tx) touch(n *node) {
	if k := len(t.touched); k > 0 && t.touched[k-1] == n {
		return
	}
	if len(t.touched) < 64 && slices.Contains(t.touched, n) {
		return
	}
	t.touched = append(t.touched, n)
}

func (t *tx) did(s step) {
	t.rep.do(s)
	if t.quiet {
		return
	}
	t.steps = append(t.steps, s)
	if !s.silent {
		t.touch(s.n)
	}
}

func (t *tx) rollback() {
	for i := len(t.steps) - 1; i >= 0; i-- {
		t.rep.do(t.steps[i].inverse())
	}
	t.steps = nil
}

func (s step) inverse() step {
	s.before, s.after = s.after, s.before
	s.from, s.to = s.to, s.from
	s.fromName, s.toName = s.toName, s.fromName
	s.fromACL, s.toACL = s.toACL, s.fromACL
	s.fromKey, s.toKey = s.toKey, s.fromKey
	switch s.kind {
	case stepLink:
		s.kind = stepUnlink
	case stepUnlink:
		s.kind = stepLink
	}
	return s
}

// do applies a step to the replica.
func (r *replica) do(s step) {
	n := s.n
	switch s.kind {
	case stepInsert:
		if s.to != nil {
			s.to.attach(n)
			r.enter(n)
			return
		}
		r.leave(n)
		s.from.detach(n)
	case stepAttr:
		for _, v := range s.before {
			r.unpost(s.def, n, v)
		}
		n.put(s.def, s.after)
		for _, v := range s.after {
			r.post(s.def, n, v)
		}
	case stepLink:
		n.addLink(s.def, s.link, s.hidden)
		if s.link.n != nil && s.def.other != nil {
			s.link.n.addLink(s.def.other, linkVal{n: n}, s.hidden)
		}
	case stepUnlink:
		n.removeLink(s.def, s.link, s.hidden)
		if s.link.n != nil && s.def.other != nil {
			s.link.n.removeLink(s.def.other, linkVal{n: n}, s.hidden)
		}
	case stepPlace:
		s.from.detach(n)
		r.unpost(r.sch.name, n, s.fromName.Value)
		n.setName(s.toName)
		s.to.attach(n)
		r.post(r.sch.name, n, n.rdn)
	case stepBury:
		// after is set by a deletion, before by a restore and by a rollback
		if s.after != nil {
			r.leave(n)
			n.deleted, n.recycled = true, !r.dom.RecycleBin()
		} else {
			n.deleted, n.recycled = false, false
		}
		r.enter(n)
	case stepACL:
		n.acl = s.toACL
	case stepSecret:
		n.secret = s.toKey
	}
}

// set replaces the stored values of an attribute. Equal values are not a write.
func (t *tx) set(n *node, def *Attribute, vals ...string) {
	old := n.get(def)
	if len(old) == len(vals) {
		same := true
		for i := range vals {
			if old[i].val != vals[i] {
				same = false
			}
		}
		if same {
			return
		}
	}
	before := make([]string, len(old))
	for i := range old {
		before[i] = old[i].val
	}
	t.did(step{kind: stepAttr, n: n, def: def, before: before, after: vals})
}

// link adds a reference. It returns false if it already exists.
func (t *tx) link(n *node, def *Attribute, v linkVal) bool {
	if s := n.linkSet(def); s != nil && s.find(v) >= 0 {
		return false
	}
	t.did(step{kind: stepLink, n: n, def: def, link: v})
	return true
}

// unlink removes a reference. It returns false if it does not exist.
func (t *tx) unlink(n *node, def *Attribute, v linkVal) bool {
	s := n.linkSet(def)
	if s == nil {
		return false
	}
	i := s.find(v)
	if i < 0 {
		return false
	}
	t.did(step{kind: stepUnlink, n: n, def: def, link: s.list[i]})
	return true
}

func (t *tx) place(n, parent *node, name RDN) {
	t.did(step{kind: stepPlace, n: n, from: n.parent, to: parent,
		fromName: RDN{n.rdnType, n.rdn}, toName: name, fromDN: n.dn()})
}

func (t *tx) setACL(n *node, acl []ACE) {
	t.did(step{kind: stepACL, n: n, fromACL: n.acl, toACL: acl})
}

func (t *tx) setSecret(n *node, s *secret) {
	t.did(step{kind: stepSecret, n: n, fromKey: n.secret, toKey: s})
}

// tick returns the time of a write. It never decreases, so that times are in the order of the writes.
func (d *Domain) tick() time.Time {
	now := d.clock().UTC()
	if now.Before(d.last) {
		now = d.last
	}
	d.last = now
	return now
}

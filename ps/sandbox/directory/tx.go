package directory

import (
	"cmp"
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
	stepPlace stepKind = iota // parent and name
	stepAttr
	stepLink
	stepBury
	stepACL
	stepSecret
)

// step is a reversible change of a node.
type step struct {
	kind          stepKind
	n             *node
	before, after state
	def           *Attribute // of stepAttr and stepLink
	link          linkVal    // of stepLink
	fromDN        string     // of stepPlace: the DN before
	silent        bool       // not a write of n
	hidden        bool       // of a link: its other end is a deleted object
}

// state is the part of a node that a step changes.
type state struct {
	on     bool     // of stepLink: the link exists; of stepBury: the object is deleted
	vals   []string // of stepAttr
	parent *node    // of stepPlace: nil means that the object does not exist
	name   RDN
	acl    []ACE
	secret *secret
}

// linkStep returns the step that sets or removes a link.
func linkStep(n *node, def *Attribute, v linkVal, on bool) step {
	return step{kind: stepLink, n: n, def: def, link: v, before: state{on: !on}, after: state{on: on}}
}

// setDeleted deletes an object or restores it. Its place and its links are separate steps.
func (t *tx) setDeleted(n *node, on bool) {
	t.did(step{kind: stepBury, n: n, before: state{on: !on}, after: state{on: on}})
}

// transact runs a write on the DC. If f returns an error, the write is rolled back.
func (c *DC) transact(ctx context.Context, op string, f func(t *tx) *Error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.Alive() {
		return c.down(op)
	}
	if !c.Writable() {
		return &Error{Code: CodeNotOnReadOnlyDC, Kind: KindReferral, Op: op, Detail: c.name + " is read-only"}
	}
	d := c.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.tick()
	d.sweep(now)
	d.deliver(now)
	t := &tx{rep: c.rep, dc: c, op: op, now: now, writer: Writer(ctx)}
	c.rep.lock()
	err := f(t)
	if err != nil {
		t.rollback()
	} else {
		t.stamp()
	}
	c.rep.mu.Unlock()
	if err != nil {
		err.Op = cmp.Or(err.Op, op)
		return err
	}
	if len(t.steps) > 0 {
		d.journal.record(t)
		d.enqueue(t)
	}
	return nil
}

// write runs a write of one object, see transact.
func (c *DC) write(ctx context.Context, op, ref string, f func(t *tx, n *node) *Error) error {
	return c.transact(ctx, op, func(t *tx) *Error {
		n, err := t.rep.resolve(ref)
		if err != nil {
			return err
		}
		return f(t, n)
	})
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
	t.rep.do(&s)
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
		s := &t.steps[i]
		s.before, s.after = s.after, s.before
		t.rep.do(s)
	}
	t.steps = nil
}

// do applies a step to the replica.
func (r *replica) do(s *step) {
	n, before, after := s.n, &s.before, &s.after
	n.snapped.Store(nil)
	switch s.kind {
	case stepPlace:
		switch {
		case before.parent == nil:
			after.parent.attach(n)
			r.enter(n)
		case after.parent == nil:
			r.leave(n)
			before.parent.detach(n)
		default:
			before.parent.detach(n)
			r.unpost(r.sch.name, n, before.name.Value)
			n.setName(after.name)
			after.parent.attach(n)
			r.post(r.sch.name, n, n.rdn)
		}
	case stepAttr:
		for _, v := range before.vals {
			r.unpost(s.def, n, v)
		}
		n.put(s.def, after.vals)
		for _, v := range after.vals {
			r.post(s.def, n, v)
		}
	case stepLink:
		n.setLink(s.def, s.link, s.hidden, after.on)
		if s.link.n != nil && s.def.other != nil {
			s.link.n.setLink(s.def.other, linkVal{n: n}, s.hidden, after.on)
		}
	case stepBury:
		if after.on {
			r.leave(n)
		}
		n.deleted, n.recycled = after.on, after.on && !r.dom.RecycleBin()
		r.enter(n)
	case stepACL:
		n.acl = after.acl
	case stepSecret:
		n.secret = after.secret
	}
}

// set replaces the stored values of an attribute. Equal values are not a write.
func (t *tx) set(n *node, def *Attribute, vals ...string) {
	old := n.get(def)
	if slices.EqualFunc(old, vals, func(s stored, v string) bool { return s.val == v }) {
		return
	}
	before := make([]string, len(old))
	for i := range old {
		before[i] = old[i].val
	}
	t.did(step{kind: stepAttr, n: n, def: def, before: state{vals: before}, after: state{vals: vals}})
}

// link adds a reference. It returns false if it already exists.
func (t *tx) link(n *node, def *Attribute, v linkVal) bool {
	if s := n.linkSet(def); s != nil && s.find(v) >= 0 {
		return false
	}
	t.did(linkStep(n, def, v, true))
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
	t.did(linkStep(n, def, s.list[i], false))
	return true
}

func (t *tx) place(n, parent *node, name RDN) {
	t.did(step{kind: stepPlace, n: n, before: state{parent: n.parent, name: RDN{n.rdnType, n.rdn}},
		after: state{parent: parent, name: name}, fromDN: n.dn()})
}

func (t *tx) setACL(n *node, acl []ACE) {
	t.did(step{kind: stepACL, n: n, before: state{acl: n.acl}, after: state{acl: acl}})
}

func (t *tx) setSecret(n *node, s *secret) {
	t.did(step{kind: stepSecret, n: n, before: state{secret: n.secret}, after: state{secret: s}})
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

package directory

import (
	"context"
	"strings"
	"time"
)

// The lifetime of tombstones in a forest whose configuration does not set it (facts R2).
const defaultTombstoneLifetime = 180 * 24 * time.Hour

// ReanimateRight is the control access right Reanimate-Tombstones, which is granted
// on the domain's root (facts R12).
var ReanimateRight = mustGUID("45ec5156-db7e-47bb-b53f-dbeb2d03c40f")

// RecycleBin reports whether the Recycle Bin is enabled. It cannot be switched
// while the domain is open (facts R1).
func (d *Domain) RecycleBin() bool { return d.opts.RecycleBin }

// TombstoneLifetime returns the time after which a tombstone or recycled object is
// removed.
func (d *Domain) TombstoneLifetime() time.Duration {
	if d.opts.TombstoneLifetime > 0 {
		return d.opts.TombstoneLifetime
	}
	return defaultTombstoneLifetime
}

// DeletedObjectLifetime returns the time after which the Recycle Bin strips a deleted
// object. If it is not set, it equals the tombstone lifetime.
func (d *Domain) DeletedObjectLifetime() time.Duration {
	if d.opts.DeletedObjectLifetime > 0 {
		return d.opts.DeletedObjectLifetime
	}
	return d.TombstoneLifetime()
}

// Service returns CN=Directory Service, the object of the configuration with the lifetimes
// of deleted objects. The rest of the configuration is not simulated.
func (d *Domain) Service(want *Selection) *Object {
	n := &node{guid: serviceGUID, rdnType: "CN", rdn: "Directory Service"}
	n.class, _ = d.schema.Class("nTDSService")
	n.esc = "CN=Directory Service,CN=Windows NT,CN=Services," + d.configNC
	days := func(name string, life time.Duration) {
		if life > 0 {
			n.put(d.schema.must(name), []string{itoa(int64(life / (24 * time.Hour)))})
		}
	}
	days("tombstonelifetime", d.TombstoneLifetime())
	days("msds-deletedobjectlifetime", d.opts.DeletedObjectLifetime)
	v := view{rep: d.all[0], now: d.Now()}
	return v.object(n, want)
}

var serviceGUID = mustGUID("4f2a5c7e-0d13-4c86-9be1-52a7f3d0c918")

// preserved are the attributes that a tombstone and a recycled object keep in addition to
// the computed ones (facts R5).
var preserved = map[string]bool{
	"samaccountname": true, "useraccountcontrol": true, "grouptype": true, "dnshostname": true,
	"sidhistory": true, "systemflags": true, "legacyexchangedn": true, "msds-lastknownrdn": true,
}

// bury deletes a leaf. Without the Recycle Bin it becomes a tombstone, which loses its links in both
// directions (facts H19) and all attributes except those that identify it. With the Recycle Bin, only
// objectCategory is removed, and the links are hidden (facts R3).
func (t *tx) bury(n *node) {
	r := t.rep
	if r.dom.RecycleBin() {
		t.hideAll(n)
		t.set(n, r.sch.category)
		t.set(n, r.sch.lastKnownRDN, n.rdn)
	} else {
		t.unlinkAll(n)
		t.strip(n)
		t.set(n, r.sch.lastKnownRDN)
	}
	last := linkVal{n: n.parent}
	t.setDeleted(n, true)
	t.place(n, r.bin, RDN{n.rdnType, mangled(n)})
	for _, old := range append([]linkVal(nil), n.linkVals(r.sch.lastKnownParent)...) {
		t.unlink(n, r.sch.lastKnownParent, old)
	}
	t.link(n, r.sch.lastKnownParent, last)
	r.dom.expireIn(t.now, r.dom.lifetime(n))
}

// mangled returns the name of a deleted object. A long name is truncated so that the result
// is within the range of a name (facts R10).
func mangled(n *node) string {
	const limit = 255
	tail := "\nDEL:" + n.guid.String()
	name := []rune(strings.TrimSpace(n.rdn))
	for utf16Len(string(name))+len(tail) > limit {
		name = name[:len(name)-1]
	}
	return string(name) + tail
}

// strip removes the values that a tombstone does not keep.
func (t *tx) strip(n *node) {
	for i := len(n.attrs) - 1; i >= 0; {
		def := n.attrs[i].def
		i -= len(n.get(def))
		if !preserved[def.key] {
			t.set(n, def)
		}
	}
	if n.secret != nil {
		t.setSecret(n, nil)
	}
}

// unlinkAll removes all links of n in both directions.
func (t *tx) unlinkAll(n *node) {
	for len(n.links) > 0 {
		s := n.links[len(n.links)-1]
		l := s.list[len(s.list)-1]
		if s.def.IsBackLink() {
			back := linkStep(l.n, s.def.other, linkVal{n: n}, false)
			back.silent = true
			t.did(back)
			continue
		}
		t.did(linkStep(n, s.def, l, false))
	}
}

// hideAll hides all links of n in both directions, except lastKnownParent. Other controllers
// hide them themselves when they bury the object.
func (t *tx) hideAll(n *node) { t.switchLinks(n, false) }

// showAll shows the hidden links of n whose other end is not deleted.
func (t *tx) showAll(n *node) { t.switchLinks(n, true) }

// switchLinks moves links of n from the visible links to the hidden ones, or back.
func (t *tx) switchLinks(n *node, show bool) {
	var moves []step
	for _, s := range *n.linkSets(show) {
		if s.def == t.rep.sch.lastKnownParent {
			continue
		}
		for _, l := range s.list {
			switch {
			case show && l.n != nil && l.n.deleted:
			case s.def.IsBackLink():
				moves = append(moves, linkStep(l.n, s.def.other, linkVal{n: n}, false))
			default:
				moves = append(moves, linkStep(n, s.def, l, false))
			}
		}
	}
	for _, s := range moves {
		s.silent, s.hidden = true, show
		t.did(s)
		if show && s.def.SingleValued && s.n.linkSet(s.def) != nil {
			continue // it has a new value
		}
		s.before, s.after, s.hidden = s.after, s.before, !show
		t.did(s)
	}
}

// lifetime returns how long a deleted object stays in its current state.
func (d *Domain) lifetime(n *node) time.Duration {
	if n.recycled {
		return d.TombstoneLifetime()
	}
	return d.DeletedObjectLifetime()
}

// expireIn records when the next deleted object must be recycled or removed.
func (d *Domain) expireIn(now time.Time, after time.Duration) {
	at := now.Add(after).Unix()
	if next := d.sweepAt.Load(); next == 0 || at < next {
		d.sweepAt.Store(at)
	}
}

// sweep recycles or removes the deleted objects whose time has come, on every controller.
// d.mu is held, but no replica's lock.
func (d *Domain) sweep(now time.Time) {
	if next := d.sweepAt.Load(); next == 0 || now.Unix() < next {
		return
	}
	d.sweepAt.Store(0)
	for _, r := range d.all {
		r.lock()
		r.sweep(now)
		r.mu.Unlock()
	}
}

func (r *replica) sweep(now time.Time) {
	t := &tx{rep: r, now: now, quiet: true}
	gone := map[*node]bool{}
	for _, n := range append([]*node(nil), r.bin.kids.list...) {
		end := unixTime(n.changed).Add(r.dom.lifetime(n))
		switch {
		case now.Before(end):
		case n.recycled:
			gone[n] = true
			continue
		default:
			t.recycle(n)
		}
		r.dom.expireIn(unixTime(n.changed), r.dom.lifetime(n))
	}
	if len(gone) > 0 {
		r.collect(t, gone)
	}
}

// recycle removes from a deleted object the values that a restore would need.
func (t *tx) recycle(n *node) {
	t.strip(n)
	for len(n.hidden) > 0 {
		s := n.hidden[len(n.hidden)-1]
		l := s.list[len(s.list)-1]
		owner, def := n, s.def
		if def.IsBackLink() {
			owner, def, l = l.n, def.other, linkVal{n: n}
		}
		hidden := linkStep(owner, def, l, false)
		hidden.hidden = true
		t.did(hidden)
	}
	n.recycled = true
	t.rep.usn++
	n.changed, n.usnChanged = t.now.Unix(), t.rep.usn
}

// collect permanently removes objects and the references to them.
func (r *replica) collect(t *tx, gone map[*node]bool) {
	r.root.walk(func(n *node) {
		for _, l := range append([]linkVal(nil), n.linkVals(r.sch.lastKnownParent)...) {
			if gone[l.n] {
				t.unlink(n, r.sch.lastKnownParent, l)
			}
		}
	})
	for n := range gone {
		r.leave(n)
		r.bin.detach(n)
	}
}

// shown reports whether a search sees the node. A search sees a deleted node only with the Show Deleted
// control, and never sees a recycled node.
func (r *replica) shown(n *node, deleted bool) bool {
	return !n.deleted || deleted && !(r.dom.RecycleBin() && n.recycled)
}

// resolveFor is resolve, or resolveDeleted if deleted objects are wanted.
func (r *replica) resolveFor(ref string, deleted bool) (*node, *Error) {
	if deleted {
		return r.resolveDeleted(ref)
	}
	return r.resolve(ref)
}

// resolveDeleted is like resolve, and also resolves references to deleted objects.
func (r *replica) resolveDeleted(ref string) (*node, *Error) {
	n, err := r.resolve(ref)
	if err == nil {
		return n, nil
	}
	if guid, ok := strings.CutPrefix(strings.TrimSuffix(ref, ">"), "<GUID="); ok {
		if g, ok := ParseGUID(guid); ok && r.byGUID[g] != nil {
			return r.byGUID[g], nil
		}
		return nil, err
	}
	d, bad := ParseDN(ref)
	if bad != nil {
		return nil, err
	}
	if bin, bad := ParseDN(r.bin.dn()); bad == nil && bin.Equal(d) {
		return r.bin, nil
	}
	for _, n := range r.bin.kids.list {
		if d.Len() > 0 && fold(n.rdn) == fold(d.RDN().Value) && fold(n.dn()) == fold(d.String()) {
			return n, nil
		}
	}
	return nil, err
}

// RestoreOptions determine where a deleted object is restored.
type RestoreOptions struct {
	Parent string // a reference; "" means its last known parent
	Name   string // the RDN value; "" means its last name
}

// Restore restores a deleted object as the undelete operation does (facts R6-R8). With the Recycle Bin it
// restores the object completely, otherwise with the attributes that the tombstone kept. Errors: 8310
// recycled or live object, 8329 missing parent, 8305 name in use, 1316 or 1318 account name in use, 8648 UPN,
// 8647 SPN, 8344 missing right.
func (c *DC) Restore(ctx context.Context, ref string, opts RestoreOptions) error {
	return c.transact(ctx, "restore", func(t *tx) *Error { return t.restore(ref, opts) })
}

func (t *tx) restore(ref string, opts RestoreOptions) *Error {
	r := t.rep
	n, err := r.resolveDeleted(ref)
	if err != nil {
		return err
	}
	if !n.deleted || n == r.bin || n.recycled && r.dom.RecycleBin() {
		return failAttr(CodeNotOnObject, KindConstraint, n.dn(), "isDeleted",
			"the object is not a deleted one that can be restored")
	}
	if hasACE(r.root.acl, ACE{Trustee: Everyone, Rights: RightControlAccess, ObjectType: ReanimateRight}) {
		return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to reanimate tombstones")
	}
	parent, err := t.restoreParent(n, opts.Parent)
	if err != nil {
		return err
	}
	name := RDN{n.rdnType, lastName(r, n)}
	if opts.Name != "" {
		name.Value = opts.Name
	}
	if err := t.mayRestore(n, parent, name); err != nil {
		return err
	}
	t.setDeleted(n, false)
	t.place(n, parent, name)
	if r.dom.RecycleBin() {
		t.showAll(n)
	} else {
		t.reanimate(n)
	}
	return nil
}

// lastName returns the former name of an object. For a tombstone it is the text before the
// line feed (facts R18).
func lastName(r *replica, n *node) string {
	if name := n.first(r.sch.lastKnownRDN); name != "" {
		return name
	}
	name, _, _ := strings.Cut(n.rdn, "\n")
	return name
}

// restoreParent returns the parent to which an object is restored.
func (t *tx) restoreParent(n *node, ref string) (*node, *Error) {
	gone := fail(CodeNoParent, KindNoParent, n.dn(), "the parent does not exist")
	if ref != "" {
		parent, err := t.rep.resolve(ref)
		if err != nil && err.Kind == KindNotFound {
			return nil, gone
		}
		return parent, err
	}
	for _, l := range n.linkVals(t.rep.sch.lastKnownParent) {
		if l.n != nil && !l.n.deleted {
			return l.n, nil
		}
	}
	return nil, gone
}

// mayRestore checks the rights, the place and everything that must be unique.
func (t *tx) mayRestore(n, parent *node, name RDN) *Error {
	r := t.rep
	switch {
	case !n.class.mayLieUnder(parent.class):
		return fail(CodeIllegalSuperior, KindConstraint, n.dn(), "a %s cannot be below a %s", n.class.Name,
			parent.class.Name)
	case parent.denied(RightCreateChild):
		return fail(CodeInsufficientRights, KindDenied, parent.dn(), "no right to create objects in the container")
	case !n.writable():
		return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to write the name")
	}
	if err := t.checkName(n, name); err != nil {
		return err
	}
	m := modifier{tx: t, n: n}
	if sam := n.first(r.sch.sam); sam != "" {
		m.sam = sam // its form was checked when it was first set
		if err := m.checkSAM(sam); err != nil {
			return err
		}
	}
	for _, unique := range []struct {
		def  *Attribute
		code int
	}{{r.sch.upn, CodeUPNExists}, {r.sch.spn, CodeSPNExists}} {
		for _, s := range n.get(unique.def) {
			if _, err := changeUnique(unique.code)(&m, unique.def,
				Change{Op: OpAdd, Name: unique.def.Name, Values: []any{s.val}}); err != nil {
				return err
			}
		}
	}
	if parent.named(name.Value) != nil {
		return fail(CodeNameExists, KindExists, n.dn(), "the name is in use in the container")
	}
	return nil
}

// reanimate sets the attributes that a tombstone did not keep and the class requires. An
// account is restored disabled and without a password (facts R5).
func (t *tx) reanimate(n *node) {
	k := t.rep.sch
	if !n.isAccount() {
		return
	}
	uac := n.int(k.uac, defaultUAC(n)) | uacDisabled
	t.set(n, k.uac, itoa(uac))
	t.set(n, k.primaryGroup, itoa(defaultPrimaryGroup(n, uac)))
	t.set(n, k.pwdLastSet, "0")
	t.set(n, k.accountExpires, itoa(Never))
	t.set(n, k.codePage, "0")
	t.set(n, k.countryCode, "0")
}

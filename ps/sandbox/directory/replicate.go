package directory

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// With a replication lag every DC has its own replica. The steps of a write are queued for the other
// replicas, which have objects with the same GUIDs, and are applied when they are due and the DC is alive. Of
// two writes of an attribute or name the later one wins. Of two objects with the same name, one gets a
// conflict name (facts C23, G10).

// stamp identifies the latest write of an attribute, link or name.
type stamp struct {
	at int64
	dc int
}

func (a stamp) after(b stamp) bool { return a.at > b.at || a.at == b.at && a.dc > b.dc }

type stampKey struct {
	guid GUID
	what string // attribute or link value, or "*name", "*dead", "*acl", "*key"
}

// change is a write that is queued for a replica.
type change struct {
	due   time.Time
	to    *replica
	dc    *DC // the DC of that replica
	stamp stamp
	now   time.Time
	steps []step // of another replica; only what does not change in a node is read, such as the GUID
}

// stampKey identifies what the step writes.
func (s *step) stampKey() stampKey {
	what := "*key"
	switch s.kind {
	case stepAttr:
		what = s.def.key
	case stepLink:
		what = s.def.key
		if !s.def.SingleValued {
			g := s.link.n.id()
			what += ":" + string(g[:]) + s.link.text
		}
	case stepPlace:
		what = "*name"
	case stepBury:
		what = "*dead"
	case stepACL:
		what = "*acl"
	}
	return stampKey{s.n.guid, what}
}

// enqueue queues a completed write for the other replicas. d.mu is held.
func (d *Domain) enqueue(t *tx) {
	if len(d.all) == 1 {
		return
	}
	st := stamp{t.now.UnixNano(), t.dc.index}
	steps := make([]step, 0, len(t.steps))
	for _, s := range t.steps {
		if s.silent {
			continue // a link to a deleted object, removed by its deletion
		}
		steps = append(steps, s)
		t.rep.stamps[s.stampKey()] = st
	}
	for i, r := range d.all {
		if r != t.rep {
			d.queue = append(d.queue, change{t.now.Add(d.opts.ReplicationLag), r, d.dcs[i], st, t.now, steps})
		}
	}
	d.pending.Store(int32(len(d.queue)))
}

// deliver applies the changes that are due, in the order of the writes. d.mu is
// held, but no replica's lock. Resolving a conflict is a new write, which is added
// to the end of the queue.
func (d *Domain) deliver(now time.Time) {
	if len(d.queue) == 0 {
		return
	}
	queue := d.queue
	d.queue = nil
	var rest []change
	for _, c := range queue {
		if now.Before(c.due) || !c.dc.Alive() || d.cut[pair(c.stamp.dc, c.dc.index)] {
			rest = append(rest, c)
			continue
		}
		c.to.lock()
		solved := c.apply(d.tick())
		c.to.mu.Unlock()
		if len(solved.steps) > 0 {
			d.journal.record(solved)
			d.enqueue(solved)
		}
	}
	d.queue = append(rest, d.queue...)
	d.pending.Store(int32(len(d.queue)))
}

// Replicate delivers all pending changes to the live DCs, regardless of the lag, like repadmin /syncall.
func (d *Domain) Replicate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for round := 0; round < 16 && len(d.queue) > 0; round++ {
		d.deliver(d.clock().UTC().Add(d.opts.ReplicationLag + 24*time.Hour))
	}
}

// SetReplicationLag changes the lag of future writes. It has no effect in a domain without
// replicas, see Options.
func (d *Domain) SetReplicationLag(lag time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opts.ReplicationLag = lag
}

// Cut stops the replication between two DCs in both directions, or resumes it and delivers
// the changes made meanwhile. Changes do not take a detour through a third DC.
func (d *Domain) Cut(a, b *DC, cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut == nil {
		d.cut = map[[2]int]bool{}
	}
	d.cut[pair(a.index, b.index)] = cut
}

func pair(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// apply applies the change and returns the write that resolves its conflicts.
func (c *change) apply(now time.Time) (solved *tx) {
	t := &tx{rep: c.to, now: c.now, quiet: true}
	solved = &tx{rep: c.to, dc: c.dc, op: "replicate", now: now}
	written := map[*node]bool{}
	for i := range c.steps {
		if n := c.one(t, solved, &c.steps[i]); n != nil && !written[n] {
			written[n] = true
			t.touched = append(t.touched, n)
		}
	}
	t.stamp()
	solved.stamp()
	return solved
}

// one applies a step of another replica and returns its node, or nil if it has no effect.
func (c *change) one(t, solved *tx, s *step) *node {
	r := c.to
	n := r.byGUID[s.n.guid]
	inserting := s.kind == stepPlace && s.before.parent == nil
	if inserting != (n == nil) {
		return nil
	}
	burying := s.kind == stepPlace && s.after.parent.guid == r.bin.guid
	key := s.stampKey()
	if old, ok := r.stamps[key]; ok && old.after(c.stamp) && !burying && s.kind != stepBury {
		return nil
	}
	r.stamps[key] = c.stamp
	switch s.kind {
	case stepPlace:
		parent := c.parent(s.after.parent.guid)
		if !inserting {
			return c.place(t, solved, n, parent, s.after.name)
		}
		n = &node{guid: s.n.guid, sid: s.n.sid, class: s.n.class, created: s.n.created}
		n.setName(c.free(solved, n, parent, s.after.name))
		t.insert(n, parent)
	case stepAttr:
		t.set(n, s.def, s.after.vals...)
		if s.def == r.sch.sam && len(s.after.vals) == 1 && !n.deleted {
			c.account(solved, n)
		}
	case stepLink:
		return c.link(t, n, s)
	case stepBury:
		if n.deleted == s.after.on {
			return nil
		}
		if !s.after.on { // a separate step then moves the object to its place
			t.setDeleted(n, false)
			t.showAll(n)
			return n
		}
		for _, k := range slices.Clone(n.kids.list) {
			c.rescue(solved, k)
		}
		if r.dom.RecycleBin() {
			t.hideAll(n)
		} else {
			t.unlinkAll(n)
		}
		t.setDeleted(n, true)
	case stepACL:
		t.setACL(n, s.after.acl)
	case stepSecret:
		t.setSecret(n, s.after.secret)
	}
	return n
}

func (c *change) link(t *tx, n *node, s *step) *node {
	r := c.to
	v := linkVal{n: r.byGUID[s.link.n.id()], text: s.link.text}
	if v.n == nil && v.text == "" {
		return nil
	}
	if s.def != r.sch.lastKnownParent && (n.deleted || v.n != nil && v.n.deleted) {
		return c.hiddenLink(t, n, s, v)
	}
	if !s.after.on {
		t.unlink(n, s.def, v)
		return n
	}
	if s.def.SingleValued {
		for _, old := range slices.Clone(n.linkVals(s.def)) {
			t.unlink(n, s.def, old)
		}
	}
	t.link(n, s.def, v)
	return n
}

// hiddenLink applies a change to a link of an object that has been deleted here meanwhile.
func (c *change) hiddenLink(t *tx, n *node, s *step, v linkVal) *node {
	if n.recycled || v.n != nil && v.n.recycled {
		return nil
	}
	if containsLink(n.hiddenVals(s.def), v) != s.after.on {
		link := linkStep(n, s.def, v, s.after.on)
		link.hidden = true
		t.did(link)
	}
	return n
}

// place moves or renames a node. A deleted object can only move to Deleted Objects. If two
// moves would create a cycle, the object of the earlier one ends up in LostAndFound.
func (c *change) place(t, solved *tx, n, parent *node, name RDN) *node {
	if n.deleted != (parent == c.to.bin) {
		return nil
	}
	if parent.under(n) {
		loser := parent
		for loser != n && loser.parent != n {
			loser = loser.parent
		}
		if c.wins(loser) && loser != n {
			c.rescue(solved, loser)
		} else {
			c.rescue(solved, n)
			return n
		}
	}
	t.place(n, parent, c.free(solved, n, parent, name))
	return n
}

// rescue moves an object without a parent to LostAndFound.
func (c *change) rescue(solved *tx, n *node) {
	to := c.lost()
	if to.under(n) || n.parent == to {
		return
	}
	solved.place(n, to, c.free(solved, n, to, RDN{n.rdnType, n.rdn}))
}

func (c *change) lost() *node {
	if p := c.to.root.child(RDN{"CN", "LostAndFound"}); p != nil && !p.deleted {
		return p
	}
	return c.to.root
}

// parent returns the parent in a message, or LostAndFound if it was deleted.
func (c *change) parent(g GUID) *node {
	if p := c.to.byGUID[g]; p != nil && (!p.deleted || p == c.to.bin) {
		return p
	}
	return c.lost()
}

// free returns the name of n below parent. That is the requested name, or a conflict name if a later write
// gave the requested name to another object. If an earlier write did, the other object is renamed.
func (c *change) free(solved *tx, n, parent *node, name RDN) RDN {
	other := parent.named(name.Value)
	if other == nil || other == n {
		return name
	}
	if c.wins(other) {
		solved.place(other, parent, conflictName(other.guid, RDN{other.rdnType, other.rdn}))
		return name
	}
	return conflictName(n.guid, name)
}

// wins reports whether the change is later than the name of the other object.
func (c *change) wins(other *node) bool {
	return c.stamp.after(c.to.stamps[stampKey{other.guid, "*name"}])
}

func conflictName(g GUID, name RDN) RDN {
	base, _, _ := strings.Cut(name.Value, "\nCNF:")
	return RDN{name.Type, base + "\nCNF:" + g.String()}
}

// account resolves a duplicate sAMAccountName. The object that was created later gets a generated name.
func (c *change) account(solved *tx, n *node) {
	sam := c.to.sch.sam
	for _, other := range slices.Clone(c.to.having(sam, n.first(sam))) {
		if other == n {
			continue
		}
		loser := n
		if other.created > n.created || other.created == n.created && other.guid.String() > n.guid.String() {
			loser = other
		}
		solved.set(loser, sam, "$DUPLICATE-"+strings.ToUpper(strconv.FormatInt(int64(loser.sid.RID()), 16)))
		return
	}
}

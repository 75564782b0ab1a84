package directory

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// view reads a replica for one DC, while the replica's lock is held.
type view struct {
	rep     *replica
	dc      int
	now     time.Time
	base    bool // the scope is ScopeBase, so tokenGroups is computed
	deleted bool // deleted objects and hidden links are shown
	catalog bool // the view reads the global catalog
}

// view delivers the changes that are due and then takes the read lock.
func (c *DC) view(op string) (v view, release func(), err error) {
	if !c.Alive() {
		return view{}, nil, c.down(op)
	}
	d := c.domain
	now := d.clock().UTC()
	if next := d.sweepAt.Load(); d.pending.Load() > 0 || next != 0 && now.Unix() >= next {
		d.mu.Lock()
		d.sweep(now)
		d.deliver(now)
		d.mu.Unlock()
	}
	c.rep.mu.RLock()
	return view{rep: c.rep, dc: c.index, now: now}, c.rep.mu.RUnlock, nil
}

// raw appends the attribute's raw values to buf.
func (v *view) raw(n *node, def *Attribute, buf []string) []string {
	if def.Confidential && !n.tellsSecrets() || v.catalog && !def.Catalog {
		return buf
	}
	if def.get != nil {
		return def.get(v, n, buf)
	}
	if def.Syntax == SyntaxDN {
		links := n.linkVals(def)
		buf = slices.Grow(buf, len(links))
		for _, l := range links {
			buf = append(buf, l.dn())
		}
		if v.deleted {
			for _, l := range n.hiddenVals(def) {
				buf = append(buf, l.dn())
			}
		}
		return buf
	}
	for _, s := range n.get(def) {
		if def.Syntax == SyntaxDNBinary {
			buf = append(buf, v.rep.shownRef(s.val))
			continue
		}
		buf = append(buf, s.val)
	}
	return buf
}

// has reports whether the attribute has a value.
func (v *view) has(n *node, def *Attribute) bool {
	switch {
	case def.Confidential && !n.tellsSecrets(), v.catalog && !def.Catalog:
		return false
	case def.get != nil:
		var buf [4]string
		return len(def.get(v, n, buf[:0])) > 0
	case def.Syntax == SyntaxDN:
		return n.linkSet(def) != nil || v.deleted && n.hiddenVals(def) != nil
	}
	return len(n.get(def)) > 0
}

// hidden reports whether the attribute is never returned, such as a password.
func (a *Attribute) hidden() bool {
	switch a.key {
	case "unicodepwd", "userpassword", "dbcspwd", "ntpwdhistory", "lmpwdhistory",
		"supplementalcredentials", "unixuserpassword", "msds-managedpassword":
		return true
	}
	return false
}

// object returns a copy of a node.
func (v *view) object(n *node, want *Selection) *Object {
	o := &Object{
		DN: n.dn(), GUID: n.guid, SID: n.sid, Class: n.class.Name, Classes: n.class.chain,
	}
	if want.all {
		v.copyAll(o, n, want)
		return o
	}
	o.defs, o.ends = want.defs, make([]int32, len(want.defs))
	o.vals = make([]string, 0, len(want.defs))
	for i, def := range want.defs {
		o.vals = v.raw(n, def, o.vals)
		o.ends[i] = int32(len(o.vals))
	}
	return o
}

// copyAll copies all stored attributes and the computed ones in want.
func (v *view) copyAll(o *Object, n *node, want *Selection) {
	attrs := v.stored(n)
	for _, def := range want.defs {
		attrs = append(attrs, objectAttr{def, v.raw(n, def, nil)})
	}
	slices.SortFunc(attrs, func(a, b objectAttr) int { return strings.Compare(a.def.key, b.def.key) })
	o.defs, o.ends = make([]*Attribute, len(attrs)), make([]int32, len(attrs))
	for i, a := range attrs {
		o.vals = append(o.vals, a.vals...)
		o.defs[i], o.ends[i] = a.def, int32(len(o.vals))
	}
}

// stored returns all attributes that are not constructed.
func (v *view) stored(n *node) []objectAttr {
	out := make([]objectAttr, 0, len(n.attrs)+len(n.links)+len(v.rep.dom.schema.always))
	for i := 0; i < len(n.attrs); {
		def := n.attrs[i].def
		vals := n.get(def)
		i += len(vals)
		if def.get != nil || def.hidden() || v.catalog && !def.Catalog || def.Confidential && !n.tellsSecrets() {
			continue
		}
		out = append(out, objectAttr{def, v.raw(n, def, make([]string, 0, len(vals)))})
	}
	for _, s := range n.links {
		if v.catalog && !s.def.Catalog {
			continue
		}
		out = append(out, objectAttr{s.def, v.raw(n, s.def, nil)})
	}
	for _, s := range n.hidden {
		if v.deleted && n.linkSet(s.def) == nil {
			out = append(out, objectAttr{s.def, v.raw(n, s.def, nil)})
		}
	}
	for _, def := range v.rep.dom.schema.always {
		if raw := v.raw(n, def, nil); len(raw) > 0 {
			out = append(out, objectAttr{def, raw})
		}
	}
	return out
}

// int returns a stored number, or otherwise if it is absent or not a number.
func (n *node) int(def *Attribute, otherwise int64) int64 {
	s := n.first(def)
	if s == "" {
		return otherwise
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return otherwise
	}
	return v
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// is reports whether the node has the class or one derived from it.
func (n *node) is(class string) bool { return n.class.is(class) }

// isAccount reports whether the node is a user or has a class derived from user, such
// as a computer.
func (n *node) isAccount() bool { return n.is("user") }
func (n *node) isGroup() bool   { return n.is("group") }

// isPrincipal reports whether the node has a sAMAccountName and a SID of the domain.
func (n *node) isPrincipal() bool { return n.isAccount() || n.isGroup() }

// canonical returns the canonicalName, e.g. corp.example/OU/Name.
func (r *replica) canonical(n *node) string {
	if n.parent == nil {
		return r.dom.dnsName + "/"
	}
	var parts []string
	for m := n; m.parent != nil; m = m.parent {
		parts = append(parts, strings.ReplaceAll(m.rdn, "/", `\/`))
	}
	var b strings.Builder
	b.WriteString(r.dom.dnsName)
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(parts[i])
	}
	return b.String()
}

// sees reports whether a view returns objects of the node's naming context. It returns those
// of other domains only in the catalog.
func (v *view) sees(n *node) bool { return v.catalog || !abroad(v.rep, n) }

// resolve returns the live node of a reference, for this view.
func (v *view) resolve(ref string) (*node, *Error) {
	if v.catalog {
		return v.rep.resolveForest(ref)
	}
	return v.rep.resolveFor(ref, v.deleted)
}

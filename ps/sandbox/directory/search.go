package directory

import (
	"context"
	"slices"
)

// batch is the number of objects that a search copies under one lock.
const batch = 256

// Search returns copies of all matching objects in the order of their creation. A
// malformed filter is KindSyntax with 8254, a missing base KindNotFound with 8333,
// a constructed attribute in the filter 8238.
func (c *DC) Search(ctx context.Context, req SearchRequest) ([]*Object, error) {
	var out []*Object
	err := c.SearchEach(ctx, req, func(o *Object) error {
		out = append(out, o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SearchEach is like Search, for long lists. It calls f for each result without holding a lock. If f returns
// an error, it stops and returns that error. The results are determined at the start, but objects that are
// deleted meanwhile are skipped. If the context ends, it returns the context's error.
func (c *DC) SearchEach(ctx context.Context, req SearchRequest, f func(*Object) error) error {
	return c.SearchPages(ctx, req, func(page []*Object, _ bool) error {
		for _, o := range page {
			if err := f(o); err != nil {
				return err
			}
		}
		return nil
	})
}

// SearchPages is like SearchEach, but returns pages of at most 256 results, as clients of the web service
// read them. more reports whether further results follow the page.
func (c *DC) SearchPages(
	ctx context.Context, req SearchRequest, f func(page []*Object, more bool) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	filter := req.Compiled
	if filter == nil && req.Filter != "" {
		var err error
		if filter, err = CompileFilter(req.Filter); err != nil {
			return err
		}
	}
	want := req.Selected
	if want == nil {
		want = c.domain.schema.Select(req.Attributes...)
	}
	hits, chunk, err := c.findHits(ctx, req, filter, want)
	if err != nil {
		return err
	}
	for {
		if err := f(chunk, len(hits) > 0); err != nil {
			return err
		}
		if len(hits) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(batch, len(hits))
		if chunk, err = c.copies(hits[:n], want, req); err != nil {
			return err
		}
		hits = hits[n:]
	}
}

// findHits runs the search and copies the first results under the same lock, so that
// a short search is consistent.
func (c *DC) findHits(
	ctx context.Context, req SearchRequest, filter *Filter, want *Selection,
) ([]*node, []*Object, error) {
	v, release, err := c.view("search")
	if err != nil {
		return nil, nil, err
	}
	defer release()
	v.base, v.deleted, v.catalog = req.Scope == ScopeBase, req.Deleted, req.Catalog
	base := v.rep.root
	if req.Base != "" {
		n, e := v.resolve(req.Base)
		if e != nil {
			e.Op = "search"
			if e.Kind == KindNotFound {
				e.Code = CodeNotFound
			}
			return nil, nil, e
		}
		base = n
	}
	var m *matcher
	if filter != nil {
		var e *Error
		if m, e = v.bind(filter.root); e != nil {
			e.Op = "search"
			return nil, nil, e
		}
	}
	hits, err := v.collect(ctx, base, req, m)
	if err != nil {
		return nil, nil, err
	}
	n := min(batch, len(hits))
	chunk := make([]*Object, n)
	for i, h := range hits[:n] {
		chunk[i] = v.object(h, want)
	}
	return hits[n:], chunk, nil
}

func (c *DC) copies(hits []*node, want *Selection, req SearchRequest) ([]*Object, error) {
	v, release, err := c.view("search")
	if err != nil {
		return nil, err
	}
	defer release()
	v.base, v.deleted, v.catalog = req.Scope == ScopeBase, req.Deleted, req.Catalog
	out := make([]*Object, 0, len(hits))
	for _, n := range hits {
		if v.rep.shown(n, req.Deleted) {
			out = append(out, v.object(n, want))
		}
	}
	return out, nil
}

// collect returns the matching nodes in order of creation.
func (v *view) collect(ctx context.Context, base *node, req SearchRequest, m *matcher) ([]*node, error) {
	keep := func(n *node) bool {
		return v.rep.shown(n, req.Deleted) && (m == nil || v.match(m, n) == yes) &&
			(!v.rep.partitions || v.catalog || n.partition() == base.partition())
	}
	var out []*node
	switch req.Scope {
	case ScopeBase:
		if keep(base) {
			out = append(out, base)
		}
		return out, nil
	case ScopeOneLevel:
		cand, ok := v.candidates(m)
		if !ok || len(cand) > len(base.kids.list) || req.Deleted {
			cand = base.kids.list
		}
		for _, n := range cand {
			if n.parent == base && keep(n) {
				out = append(out, n)
			}
		}
	default:
		cand, ok := v.candidates(m)
		ok = ok && !req.Deleted
		if !ok || base != v.rep.root && subtreeWithin(base, len(cand)) {
			cand, ok = subtree(base), false
		}
		for i, n := range cand {
			if i&4095 == 4095 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if (!ok || n.under(base)) && keep(n) {
				out = append(out, n)
			}
		}
	}
	slices.SortFunc(out, func(a, b *node) int {
		if a.seq < b.seq {
			return -1
		}
		if a.seq > b.seq {
			return 1
		}
		return 0
	})
	out = slices.Compact(out)
	if req.Limit > 0 && len(out) > req.Limit {
		out = out[:req.Limit]
	}
	return out, nil
}

// partition returns the root of the node's naming context. A search does not leave the naming
// context of its base.
func (n *node) partition() *node {
	for m := n; ; m = m.parent {
		if m.parent == nil || m.class.Name == "domainDNS" || m.class.Name == "configuration" {
			return m
		}
	}
}

// subtreeWithin reports whether the subtree has at most limit nodes.
func subtreeWithin(n *node, limit int) bool {
	left := limit
	var visit func(n *node) bool
	visit = func(n *node) bool {
		if left--; left < 0 {
			return false
		}
		for _, k := range n.kids.list {
			if !visit(k) {
				return false
			}
		}
		return true
	}
	return visit(n)
}

func subtree(n *node) []*node {
	var out []*node
	n.walk(func(m *node) { out = append(out, m) })
	return out
}

// candidates returns a superset of the matching nodes from an index. ok is false if no index
// applies. The slice must not be changed.
func (v *view) candidates(m *matcher) (cand []*node, ok bool) {
	if m == nil {
		return nil, false
	}
	switch m.kind {
	case clauseAnd:
		cand, ok = v.narrowest(m.subs, nil, false)
		if ok && len(cand) <= shortList {
			return cand, true
		}
		return v.narrowestClasses(m.subs, cand, ok)
	case clauseOr:
		for i := range m.subs {
			c, found := v.candidates(&m.subs[i])
			if !found {
				return nil, false
			}
			cand = append(cand[:len(cand):len(cand)], c...)
		}
		return cand, true
	case clauseNot:
		return nil, false
	}
	if m.never {
		return nil, true
	}
	switch m.kind {
	case clauseEqual, clauseApprox:
		return v.equalCandidates(m)
	case clauseRule:
		if m.rule == ruleInChain {
			for n := range m.chain {
				cand = append(cand, n)
			}
			return cand, true
		}
	}
	return nil, false
}

// narrowest returns the shortest candidate list of a conjunction's clauses, except class clauses. cand is the
// shortest list so far. ok is false if there is no list.
func (v *view) narrowest(subs []matcher, cand []*node, ok bool) ([]*node, bool) {
	for i := range subs {
		m := &subs[i]
		switch {
		case m.kind == clauseAnd:
			cand, ok = v.narrowest(m.subs, cand, ok)
		case !m.ofClasses():
			if c, found := v.candidates(m); found && (!ok || len(c) < len(cand)) {
				cand, ok = c, true
			}
		}
	}
	return cand, ok
}

// narrowestClasses is like narrowest, for class clauses. Their lists are long, so they are built only if they
// are shorter than cand.
func (v *view) narrowestClasses(subs []matcher, cand []*node, ok bool) ([]*node, bool) {
	for i := range subs {
		m := &subs[i]
		switch {
		case m.kind == clauseAnd:
			cand, ok = v.narrowestClasses(m.subs, cand, ok)
		case m.ofClasses() && (!ok || v.rep.countOf(m) < len(cand)):
			cand, ok = v.rep.ofClass(m), true
		}
	}
	return cand, ok
}

func (v *view) equalCandidates(m *matcher) ([]*node, bool) {
	r := v.rep
	if m.ofClasses() {
		return r.ofClass(m), true
	}
	switch m.def.key {
	case "objectguid":
		g, ok := GUIDFromBytes([]byte(m.value))
		if n := r.byGUID[g]; ok && n != nil {
			return []*node{n}, true
		}
		return nil, true
	case "objectsid":
		if n := r.bySID[SID{m.value}]; n != nil {
			return []*node{n}, true
		}
		return nil, true
	case "distinguishedname":
		if m.node != nil {
			return []*node{m.node}, true
		}
		return nil, true
	case "cn":
		named, stored := r.index[r.sch.name][m.value].nodes(), r.index[m.def][m.value].nodes()
		return append(named[:len(named):len(named)], stored...), true
	}
	if idx, ok := r.index[m.def]; ok {
		return idx[m.value].nodes(), true
	}
	if m.def.Syntax == SyntaxDN && m.def.other != nil && m.node != nil {
		links := m.node.linkVals(m.def.other)
		out := make([]*node, 0, len(links))
		for _, l := range links {
			if l.n != nil {
				out = append(out, l.n)
			}
		}
		return out, true
	}
	return nil, false
}

// ofClasses reports whether the clause is a class clause: one that compares
// objectClass or objectCategory.
func (m *matcher) ofClasses() bool {
	return (m.kind == clauseEqual || m.kind == clauseApprox) && (m.class != nil || m.cat != "")
}

// passes reports whether objects of the class can match a class clause.
func (r *replica) passes(m *matcher, c *Class) bool {
	if m.class != nil {
		return c.is(m.class.Name)
	}
	return c.category == m.cat || r.mixed[c]
}

// countOf returns the number of nodes that ofClass returns.
func (r *replica) countOf(m *matcher) int {
	count := 0
	for c, set := range r.byClass {
		if r.passes(m, c) {
			count += len(set.list)
		}
	}
	return count
}

// ofClass returns the live nodes of the classes that pass.
func (r *replica) ofClass(m *matcher) []*node {
	var out []*node
	for c, set := range r.byClass {
		if !r.passes(m, c) {
			continue
		}
		if out == nil {
			out = set.list[:len(set.list):len(set.list)]
		} else {
			out = append(out, set.list...)
		}
	}
	return out
}

// categoryOf returns the key of the category of a node.
func (r *replica) categoryOf(n *node) string {
	if s := n.first(r.sch.category); s != "" {
		return r.dom.categoryKey(r.sch.category.matchKey(s))
	}
	return n.class.category
}

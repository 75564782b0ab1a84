package directory

import (
	"strconv"
	"strings"
)

// truth is the three-valued result of a filter. A clause with an unknown attribute or value
// is neither true nor false, and neither is its negation.
type truth uint8

const (
	no truth = iota
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// matcher is a clause bound to a replica, with attributes looked up, values folded
// and references resolved. It is valid while the replica's lock is held.
type matcher struct {
	kind  clauseKind
	subs  []matcher
	def   *Attribute
	value string   // folded for equality, canonical for ordering
	num   int64    // the value as a number
	parts []string // folded
	rule  string
	never bool           // the result is undefined for every object
	node  *node          // the object of a DN value
	chain map[*node]bool // the objects of an in-chain rule
	class *Class         // of objectClass=class
	cat   string         // of objectCategory, see categoryKey
}

// bind binds a clause. Constructed attributes are not allowed: 8238.
func (v *view) bind(c *clause) (*matcher, *Error) {
	m := &matcher{}
	if err := v.bindTo(m, c); err != nil {
		return nil, err
	}
	return m, nil
}

func (v *view) bindTo(m *matcher, c *clause) *Error {
	m.kind, m.rule = c.kind, c.rule
	if c.kind <= clauseNot {
		m.subs = make([]matcher, len(c.subs))
		for i, s := range c.subs {
			if err := v.bindTo(&m.subs[i], s); err != nil {
				return err
			}
		}
		return nil
	}
	if strings.EqualFold(c.attr, "anr") {
		return v.bindANR(m, c)
	}
	name, _, _ := strings.Cut(c.attr, ";")
	def, ok := v.rep.dom.schema.Attribute(name)
	if !ok || def.hidden() || def.key == keyDescriptor {
		m.never = true
		return nil
	}
	if def.Constructed {
		return failAttr(CodeInappropriateMatch, KindSyntax, "", def.Name,
			"a constructed attribute is not allowed in a filter")
	}
	m.def = def
	switch c.kind {
	case clausePresent:
	case clauseSubstring:
		v.bindSubstring(m, c)
	case clauseRule:
		v.bindRule(m, c)
	case clauseGreater, clauseLess:
		v.bindValue(m, c.value)
		m.never = m.never || def.Syntax == SyntaxDN // references have no order
	default:
		v.bindValue(m, c.value)
	}
	return nil
}

func (v *view) bindSubstring(m *matcher, c *clause) {
	switch m.def.Syntax {
	case SyntaxUnicode, SyntaxIA5, SyntaxNumeric, SyntaxOID:
		m.parts = make([]string, len(c.parts))
		for i, p := range c.parts {
			m.parts[i] = fold(p)
		}
	case SyntaxCaseExact, SyntaxOctets, SyntaxSID, SyntaxGUID:
		m.parts = c.parts
	default:
		m.never = true // other syntaxes have no substring matching
	}
}

func (v *view) bindValue(m *matcher, value string) {
	switch m.def.key {
	case "objectcategory":
		m.cat, m.never = v.categoryOf(value)
		return
	case "objectclass":
		cls, ok := v.rep.dom.schema.Class(value)
		m.class, m.never = cls, !ok
		return
	}
	switch m.def.Syntax {
	case SyntaxDN:
		v.bindDN(m, value)
	case SyntaxInteger, SyntaxLarge:
		n, err := strconv.ParseInt(value, 10, 64)
		m.num, m.value, m.never = n, itoa(n), err != nil
		if m.def.Syntax == SyntaxInteger && err == nil {
			m.num = int64(int32(n))
			m.value = itoa(m.num)
		}
	case SyntaxTime:
		t, ok := parseTime(value)
		m.value, m.never = formatTime(t), !ok
	case SyntaxSID:
		if sid, ok := ParseSID(value); ok {
			value = sid.raw
		}
		m.value = value
	case SyntaxBool:
		m.value, m.never = value, value != "TRUE" && value != "FALSE"
	default:
		m.value = m.def.matchKey(value)
	}
}

// categoryOf returns the key of the category that a value means. It is a DN or, as in the real directory, the
// name of a class.
func (v *view) categoryOf(value string) (key string, never bool) {
	if strings.Contains(value, "=") {
		if d, err := ParseDN(value); err == nil {
			return v.rep.dom.categoryKey(d.Key()), false
		}
	}
	c, ok := v.rep.dom.schema.Class(value)
	if !ok {
		return "", true
	}
	return c.category, false
}

func (v *view) bindDN(m *matcher, value string) {
	n, err := v.rep.resolveForest(value)
	if err != nil {
		n, err = v.rep.resolveFor(value, v.deleted)
	}
	if err == nil {
		m.node = n
		m.value = ""
		return
	}
	d, bad := ParseDN(value)
	m.value, m.never = d.Key(), bad != nil
}

func (v *view) bindRule(m *matcher, c *clause) {
	switch c.rule {
	case ruleBitAnd, ruleBitOr:
		n, err := strconv.ParseInt(c.value, 10, 64)
		m.num = n
		m.never = err != nil || m.def.Syntax != SyntaxInteger && m.def.Syntax != SyntaxLarge
		if m.def.Syntax == SyntaxInteger {
			m.num = int64(uint32(n))
		}
	case ruleInChain:
		n, err := v.rep.resolveForest(c.value)
		if err != nil || m.def.other == nil || v.catalog && !m.def.Catalog {
			m.never = true
			return
		}
		m.chain = v.reach(n, m.def.other)
	}
}

// reach is like the function reach, limited to objects that the view sees, because a rule
// stays in its naming context (facts E20).
func (v *view) reach(n *node, back *Attribute) map[*node]bool {
	if len(v.rep.children) == 0 || v.catalog {
		return reach(n, back)
	}
	return reachIf(n, back, v.sees)
}

// reach returns all nodes that refer to n, directly or indirectly, through the attribute
// with the back link back. Cycles are allowed.
func reach(n *node, back *Attribute) map[*node]bool {
	return reachIf(n, back, func(*node) bool { return true })
}

func reachIf(n *node, back *Attribute, enter func(*node) bool) map[*node]bool {
	var seen map[*node]bool // nil for a node without references, the common case
	var few [8]*node
	queue := append(few[:0], n)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, l := range at.linkVals(back) {
			if l.n != nil && !seen[l.n] && !l.n.deleted && enter(l.n) {
				if seen == nil {
					seen = map[*node]bool{}
				}
				seen[l.n] = true
				queue = append(queue, l.n)
			}
		}
	}
	return seen
}

// bindANR expands ambiguous name resolution (facts S1-S5): a prefix of any attribute in the
// set, or the parts before and after the first space as first and last name, in either
// order. All operators have the same meaning.
func (v *view) bindANR(m *matcher, c *clause) *Error {
	text := c.value
	switch c.kind {
	case clausePresent:
		*m = matcher{kind: clauseOr} // false
		return nil
	case clauseSubstring:
		text = c.parts[0] // text after the first asterisk is ignored
	}
	text = strings.TrimLeft(text, " ")
	text, exact := strings.CutPrefix(text, "=")
	if text == "" {
		*m = matcher{kind: clausePresent, never: true}
		return nil
	}
	item := func(attr, s string) *clause {
		if exact || strings.EqualFold(attr, "legacyExchangeDN") {
			return &clause{kind: clauseEqual, attr: attr, value: s}
		}
		return &clause{kind: clauseSubstring, attr: attr, parts: []string{s, ""}}
	}
	or := &clause{kind: clauseOr}
	for _, a := range v.rep.dom.schema.anr {
		or.subs = append(or.subs, item(a.Name, text))
	}
	if before, after, ok := strings.Cut(text, " "); ok && after != "" {
		pairs := [][2]string{{before, after}, {after, before}}
		for i, suppressed := range v.suppressedANR() {
			if !suppressed {
				or.subs = append(or.subs, &clause{kind: clauseAnd,
					subs: []*clause{item("givenName", pairs[i][0]), item("sn", pairs[i][1])}})
			}
		}
	}
	return v.bindTo(m, or)
}

// suppressedANR reports which orders of first and last name the forest has switched off:
// first and last, then last and first.
func (v *view) suppressedANR() (orders [2]bool) {
	service, err := v.rep.resolve("CN=Directory Service,CN=Windows NT,CN=Services," + v.rep.dom.configNC)
	if err != nil {
		return orders
	}
	def, known := v.rep.dom.schema.Attribute("dSHeuristics")
	if !known {
		return orders
	}
	for i, switched := range service.first(def) {
		if i < len(orders) {
			orders[i] = switched != '0'
		}
	}
	return orders
}

// match evaluates a filter for a node.
func (v *view) match(m *matcher, n *node) truth {
	switch m.kind {
	case clauseAnd:
		result := yes
		for i := range m.subs {
			switch v.match(&m.subs[i], n) {
			case no:
				return no
			case unknown:
				result = unknown
			}
		}
		return result
	case clauseOr:
		result := no
		for i := range m.subs {
			switch v.match(&m.subs[i], n) {
			case yes:
				return yes
			case unknown:
				result = unknown
			}
		}
		return result
	case clauseNot:
		switch v.match(&m.subs[0], n) {
		case yes:
			return no
		case no:
			return yes
		}
		return unknown
	}
	if m.never {
		return unknown
	}
	return truthOf(v.matchItem(m, n))
}

func (v *view) matchItem(m *matcher, n *node) bool {
	switch m.kind {
	case clausePresent:
		return v.has(n, m.def)
	case clauseRule:
		if m.rule == ruleInChain {
			return m.chain[n]
		}
	case clauseEqual, clauseApprox:
		switch {
		case m.class != nil:
			return n.class == m.class || n.class.is(m.class.Name)
		case m.cat != "":
			return v.rep.categoryOf(n) == m.cat
		case m.def.Syntax == SyntaxDN:
			return v.matchDN(m, n)
		}
	}
	var buf [4]string
	for _, raw := range v.raw(n, m.def, buf[:0]) {
		if m.matchValue(raw) {
			return true
		}
	}
	return false
}

func (v *view) matchDN(m *matcher, n *node) bool {
	if m.def.key == "distinguishedname" {
		return m.node == n
	}
	if v.catalog && !m.def.Catalog {
		return false
	}
	if m.def.get == nil {
		if s := n.linkSet(m.def); s != nil {
			if m.node != nil {
				return s.find(linkVal{n: m.node}) >= 0
			}
			for _, l := range s.list {
				if l.n == nil && m.def.matchKey(l.text) == m.value {
					return true
				}
			}
		}
		return false
	}
	var buf [2]string
	want := m.value
	if m.node != nil {
		want = m.def.matchKey(m.node.dn())
	}
	for _, raw := range v.raw(n, m.def, buf[:0]) {
		if m.def.matchKey(raw) == want {
			return true
		}
	}
	return false
}

func (m *matcher) matchValue(raw string) bool {
	switch m.kind {
	case clauseEqual, clauseApprox:
		return m.def.hasKey(raw, m.value)
	case clauseSubstring:
		return matchParts(m.def.matchKey(raw), m.parts)
	case clauseGreater, clauseLess:
		c := m.compare(raw)
		return c == 0 || c > 0 == (m.kind == clauseGreater)
	case clauseRule:
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return false
		}
		if m.def.Syntax == SyntaxInteger {
			n = int64(uint32(n))
		}
		if m.rule == ruleBitAnd {
			return n&m.num == m.num
		}
		return n&m.num != 0
	}
	return false
}

// compare compares a raw value with the value of the filter.
func (m *matcher) compare(raw string) int {
	if m.def.Syntax == SyntaxInteger || m.def.Syntax == SyntaxLarge {
		n, _ := strconv.ParseInt(raw, 10, 64)
		switch {
		case n < m.num:
			return -1
		case n > m.num:
			return 1
		}
		return 0
	}
	return strings.Compare(m.def.matchKey(raw), m.value)
}

// matchParts matches folded text with first*middle*last.
func matchParts(s string, parts []string) bool {
	last := len(parts) - 1
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, p := range parts[1:last] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[last])
}

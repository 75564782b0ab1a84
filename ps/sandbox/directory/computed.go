package directory

import (
	"sort"
	"strings"
	"time"
)

// getter reads an attribute that is not stored. It appends the raw values to buf.
type getter func(v *view, n *node, buf []string) []string

// getters are the getters by folded attribute name.
var getters map[string]getter

func init() {
	getters = map[string]getter{
		"distinguishedname":                   ofNode((*node).dn),
		"name":                                func(_ *view, n *node, b []string) []string { return append(b, n.rdn) },
		"cn":                                  namedBy("CN"),
		"ou":                                  namedBy("OU"),
		"dc":                                  namedBy("DC"),
		"objectclass":                         func(_ *view, n *node, b []string) []string { return append(b, n.class.chain...) },
		"objectguid":                          ofNode(func(n *node) string { return string(n.guid[:]) }),
		"objectsid":                           ofNode(func(n *node) string { return n.sid.raw }),
		"objectcategory":                      one(getCategory),
		"whencreated":                         ofNode(func(n *node) string { return formatTime(unixTime(n.created)) }),
		"whenchanged":                         ofNode(func(n *node) string { return formatTime(unixTime(n.changed)) }),
		"createtimestamp":                     ofNode(func(n *node) string { return formatTime(unixTime(n.created)) }),
		"modifytimestamp":                     ofNode(func(n *node) string { return formatTime(unixTime(n.changed)) }),
		"usncreated":                          ofNode(func(n *node) string { return itoa(n.usnCreated) }),
		"usnchanged":                          ofNode(func(n *node) string { return itoa(n.usnChanged) }),
		"instancetype":                        one(getInstanceType),
		"samaccounttype":                      one(getSAMType),
		"isdeleted":                           boolean(func(n *node) bool { return n.deleted }),
		"isrecycled":                          boolean(func(n *node) bool { return n.recycled }),
		keyDescriptor:                         getDescriptor,
		"badpwdcount":                         localNumber(func(s *localState) int64 { return int64(s.badPwdCount) }),
		"badpasswordtime":                     localNumber(func(s *localState) int64 { return s.badPasswordTime }),
		"lastlogon":                           localNumber(func(s *localState) int64 { return s.lastLogon }),
		"logoncount":                          localNumber(func(s *localState) int64 { return int64(s.logonCount) }),
		"lastlogoff":                          localNumber(func(s *localState) int64 { return 0 }),
		"canonicalname":                       one(func(v *view, n *node) string { return v.rep.canonical(n) }),
		"structuralobjectclass":               func(_ *view, n *node, b []string) []string { return append(b, n.class.chain...) },
		"parentguid":                          ofParent(func(p *node) string { return string(p.guid[:]) }),
		"msds-parentdistname":                 ofParent((*node).dn),
		"msds-principalname":                  one(getPrincipalName),
		"subschemasubentry":                   one(func(v *view, _ *node) string { return "CN=Aggregate,CN=Schema," + v.rep.dom.configNC }),
		"fromentry":                           ofNode(func(n *node) string { return "TRUE" }),
		"sdrightseffective":                   descriptorRights,
		"primarygrouptoken":                   one(getToken),
		"msds-approx-immed-subordinates":      ofNode(func(n *node) string { return itoa(int64(len(n.kids.list))) }),
		"msds-user-account-control-computed":  one(getUACComputed),
		"msds-userpasswordexpirytimecomputed": one(getPasswordExpiry),
		"msds-isgc":                           dcOnly("TRUE"),
		"msds-isrodc":                         dcOnly("FALSE"),
		"msds-sitename":                       dcOnly("Default-First-Site-Name"),
		"msds-resultantpso":                   one(getPSO),
		"tokengroups":                         tokenGroups(func(scope int64) bool { return true }),
		"tokengroupsglobalanduniversal":       tokenGroups(func(scope int64) bool { return scope&groupLocal == 0 }),
		"tokengroupsnogcacceptable":           tokenGroups(func(scope int64) bool { return true }),
		"allowedattributes":                   allowedAttributes(false),
		"allowedattributeseffective":          allowedAttributes(true),
		"allowedchildclasses":                 allowedChildren,
		"allowedchildclasseseffective":        creatableChildren,
		"possibleinferiors":                   allowedChildren,
	}
}

// one returns a getter of at most one value; "" means none.
func one(value func(v *view, n *node) string) getter {
	return func(v *view, n *node, b []string) []string {
		if s := value(v, n); s != "" {
			return append(b, s)
		}
		return b
	}
}

// ofNode is [one] for values that only depend on the object.
func ofNode(value func(n *node) string) getter {
	return one(func(_ *view, n *node) string { return value(n) })
}

// ofParent is [one] for values of the parent.
func ofParent(value func(parent *node) string) getter {
	return ofNode(func(n *node) string {
		if n.parent == nil {
			return ""
		}
		return value(n.parent)
	})
}

// boolean returns a getter of TRUE or no value.
func boolean(is func(n *node) bool) getter {
	return ofNode(func(n *node) string {
		if is(n) {
			return "TRUE"
		}
		return ""
	})
}

// descriptorRights returns which parts of its security descriptor the caller may write: 1 is
// the owner, 2 the group, 4 the access list, 8 auditing.
func descriptorRights(_ *view, n *node, b []string) []string {
	if n.denied(RightWriteDacl) {
		return append(b, "11")
	}
	return append(b, "15")
}

// namedBy reads a naming attribute: the RDN and stored values.
func namedBy(typ string) getter {
	key := strings.ToLower(typ)
	return func(v *view, n *node, b []string) []string {
		if n.rdnType == typ {
			b = append(b, n.rdn)
		}
		for _, s := range n.attrs {
			if s.def.key == key {
				b = append(b, s.val)
			}
		}
		return b
	}
}

func getCategory(v *view, n *node) string {
	if n.deleted && n != v.rep.bin {
		return "" // rebuilt by a restore (facts R3)
	}
	if s := n.first(v.rep.sch.category); s != "" {
		return s
	}
	return v.rep.dom.categoryDN(n.class)
}

// categoryDN returns the DN of the default category of a class.
func (d *Domain) categoryDN(c *Class) string {
	return "CN=" + c.Category + ",CN=Schema," + d.configNC
}

// categoryKey shortens the key of the DN of a category. Without the schema's DN it is the same in every
// domain.
func (d *Domain) categoryKey(key string) string { return strings.TrimSuffix(key, d.schemaKey) }

func getInstanceType(_ *view, n *node) string {
	if n.parent == nil {
		return "5"
	}
	return "4"
}

// getSAMType derives sAMAccountType from class, userAccountControl and groupType.
func getSAMType(v *view, n *node) string {
	k := v.rep.sch
	switch {
	case n.deleted: // rebuilt by a restore (facts R3)
	case n.isGroup():
		t := n.int(k.groupType, 0)
		kind := int64(0x10000000)
		if t&groupLocal != 0 {
			kind = 0x20000000
		}
		if t&groupSecurity == 0 {
			kind++
		}
		return itoa(kind)
	case n.isAccount():
		if n.int(k.uac, 0)&(uacWorkstation|uacServer) != 0 {
			return "805306369"
		}
		return "805306368"
	}
	return ""
}

func localNumber(pick func(*localState) int64) getter {
	return func(v *view, n *node, b []string) []string {
		if s := n.localOf(v.dc); s != nil {
			return append(b, itoa(pick(s)))
		}
		if n.isAccount() && !n.deleted {
			return append(b, "0")
		}
		return b
	}
}

func getPrincipalName(v *view, n *node) string {
	sam := n.first(v.rep.sch.sam)
	switch {
	case n.parent == nil:
		return v.rep.dom.netBIOS + `\`
	case n.sid.IsZero():
		return ""
	case sam == "":
		return n.sid.String()
	case n.sid.Domain() != v.rep.dom.sid:
		return `BUILTIN\` + sam
	}
	return v.rep.dom.netBIOS + `\` + sam
}

func getToken(_ *view, n *node) string {
	if !n.isGroup() || n.sid.IsZero() {
		return ""
	}
	return itoa(int64(n.sid.RID()))
}

func dcOnly(value string) getter {
	return func(v *view, n *node, b []string) []string {
		if n.is("computer") && n.int(v.rep.sch.uac, 0)&uacServer != 0 {
			return append(b, value)
		}
		return b
	}
}

// getPSO returns the password settings object of a user: one that applies to it directly, otherwise one that
// applies through its global groups. The lowest precedence value wins, then the lowest GUID.
func getPSO(v *view, n *node) string {
	if p := v.rep.pso(n); p != nil {
		return p.dn()
	}
	return ""
}

func (r *replica) pso(n *node) *node {
	if !n.isAccount() {
		return nil
	}
	best := r.lowestPSO(nil, n)
	if best != nil {
		return best
	}
	for _, g := range r.groupsOf(n) {
		if g.int(r.sch.groupType, 0)&groupGlobal != 0 {
			best = r.lowestPSO(best, g)
		}
	}
	return best
}

func (r *replica) lowestPSO(best, n *node) *node {
	prec := r.sch.psoPrecedence
	for _, l := range n.linkVals(r.sch.psoApplied) {
		p := l.n
		if p == nil {
			continue
		}
		if best == nil || p.int(prec, 0) < best.int(prec, 0) ||
			p.int(prec, 0) == best.int(prec, 0) && p.guid.String() < best.guid.String() {
			best = p
		}
	}
	return best
}

// groupsOf returns all groups of a principal: direct, nested, and the primary group
// with the groups it is nested in (facts E19, E21). Cycles are allowed.
func (r *replica) groupsOf(n *node) []*node {
	links := n.linkVals(r.sch.memberOf)
	groups := nodeSet{list: make([]*node, 0, 1+len(links))}
	if rid := n.int(r.sch.primaryGroup, 0); rid != 0 {
		r.addGroup(&groups, n, r.bySID[r.dom.sid.WithRID(uint32(rid))])
	}
	for _, l := range links {
		r.addGroup(&groups, n, l.n)
	}
	return groups.list
}

// addGroup adds a group of n and the groups that contain it.
func (r *replica) addGroup(groups *nodeSet, n, g *node) {
	if g == nil || g == n || g.deleted || groups.index(g) >= 0 {
		return
	}
	groups.add(g)
	for _, l := range g.linkVals(r.sch.memberOf) {
		r.addGroup(groups, n, l.n)
	}
}

// tokenGroups returns the SIDs of security groups, only in searches of ScopeBase.
func tokenGroups(keep func(scope int64) bool) getter {
	return func(v *view, n *node, b []string) []string {
		if !v.base || n.sid.IsZero() {
			return b
		}
		for _, g := range v.rep.groupsOf(n) {
			t := g.int(v.rep.sch.groupType, 0)
			if t&groupSecurity != 0 && keep(t) && !g.sid.IsZero() {
				b = append(b, g.sid.raw)
			}
		}
		return b
	}
}

func allowedAttributes(effective bool) getter {
	return func(_ *view, n *node, b []string) []string {
		if effective && !n.writable() {
			return b
		}
		for _, a := range n.class.Allowed() {
			if effective && (a.SystemOnly || a.IsBackLink()) {
				continue
			}
			b = append(b, a.Name)
		}
		return b
	}
}

func creatableChildren(v *view, n *node, b []string) []string {
	if n.denied(RightCreateChild) {
		return b
	}
	return allowedChildren(v, n, b)
}

func allowedChildren(v *view, n *node, b []string) []string {
	at := len(b)
	for _, c := range v.rep.dom.schema.classes {
		if c.Kind == Structural && !c.Unknown && c.mayLieUnder(n.class) {
			b = append(b, c.Name)
		}
	}
	sort.Strings(b[at:])
	return b
}

// mayLieUnder reports whether the schema allows objects of class c directly below
// objects of class parent.
func (c *Class) mayLieUnder(parent *Class) bool {
	if c.Unknown || parent.Unknown {
		return true
	}
	for _, s := range c.Superiors {
		if parent.is(s) {
			return true
		}
	}
	return false
}

// getUACComputed returns the bits that are never stored (facts H.1).
func getUACComputed(v *view, n *node) string {
	if !n.isAccount() {
		return ""
	}
	var bits int64
	if v.rep.lockedOut(n, v.now) {
		bits |= uacLockout
	}
	if v.rep.passwordExpired(n, v.now) {
		bits |= uacPasswordExpired
	}
	return itoa(bits)
}

// getPasswordExpiry returns the FILETIME at which the password expires. It is Never if the password does not
// expire, and 0 if it must be changed.
func getPasswordExpiry(v *view, n *node) string {
	if !n.isAccount() {
		return ""
	}
	p := v.rep.policyFor(n)
	set := n.int(v.rep.sch.pwdLastSet, 0)
	switch {
	case n.int(v.rep.sch.uac, 0)&(uacNeverExpires|uacSmartcard|uacWorkstation|uacServer) != 0 || p.maxAge() == 0:
		return itoa(Never)
	case set == 0:
		return "0"
	}
	return itoa(set + int64(p.maxAge()/(100*time.Nanosecond)))
}

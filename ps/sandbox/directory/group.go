package directory

// Bits of groupType (facts E34).
const (
	groupBuiltin   = 0x1
	groupGlobal    = 0x2
	groupLocal     = 0x4
	groupUniversal = 0x8
	groupAppBasic  = 0x10
	groupAppQuery  = 0x20
	groupSecurity  = 0x80000000

	groupScopes = groupGlobal | groupLocal | groupUniversal
)

func (r *replica) groupType(n *node) int64 {
	return int64(uint32(n.int(r.sch.groupType, 0)))
}

// nesting checks a member against the nesting rules for a group that has or gets a scope (facts E.2).
func (r *replica) nesting(scope int64, group, member *node) *Error {
	bad := func(code int, why string) *Error {
		e := failAttr(code, KindNesting, group.dn(), "member", "%s", why)
		e.Value = member.dn()
		return e
	}
	if code, why := crossesDomain(r, scope, member); code != 0 {
		return bad(code, why)
	}
	switch {
	case member.is("foreignSecurityPrincipal"):
		switch scope {
		case groupGlobal:
			return bad(CodeGlobalNoCrossDomain, "a foreign principal in a global group")
		case groupUniversal:
			return bad(CodeFSPInUniversal, "a foreign principal in a universal group")
		}
	case member.isGroup():
		t := r.groupType(member)
		builtin := t&groupBuiltin != 0
		switch {
		case scope == groupGlobal && t&groupLocal != 0:
			return bad(CodeGlobalNoLocal, "a domain local group in a global group")
		case scope == groupGlobal && t&groupUniversal != 0:
			return bad(CodeGlobalNoUniversal, "a universal group in a global group")
		case scope == groupUniversal && t&groupLocal != 0:
			return bad(CodeUniversalNoLocal, "a domain local group in a universal group")
		case scope == groupLocal && builtin:
			return bad(CodeLocalNoCrossLocal, "a built-in group cannot be a member")
		}
	case member.isAccount(), member.is("contact"):
	default:
		e := failAttr(CodeUnwilling, KindNesting, group.dn(), "member", "a %s cannot be a member",
			member.class.Name)
		e.Value = member.dn()
		return e
	}
	return nil
}

// addMember adds a member to a group. If permissive is set, adding an existing member succeeds (facts E25).
func (t *tx) addMember(group *node, v linkVal, permissive bool) *Error {
	k := t.rep.sch
	if v.n == nil {
		e := failAttr(CodeNotFound, KindNotFound, group.dn(), "member", "the member does not exist")
		e.Value = v.text
		return e
	}
	already := func(why string) *Error {
		e := failAttr(CodeAlreadyMember, KindMember, group.dn(), "member", "%s", why)
		e.Value = v.n.dn()
		return e
	}
	if t.inPrimary(group, v.n) {
		return already("it is the member's primary group")
	}
	if s := group.linkSet(k.member); s != nil && s.find(v) >= 0 {
		if permissive {
			return nil
		}
		return already("already a member")
	}
	if err := t.rep.nesting(t.rep.groupType(group)&groupScopes, group, v.n); err != nil {
		return err
	}
	t.link(group, k.member, v)
	t.markAdmin(group, v.n)
	return nil
}

// inPrimary reports whether group is the primary group of member.
func (t *tx) inPrimary(group, member *node) bool {
	rid := member.int(t.rep.sch.primaryGroup, 0)
	return rid != 0 && !group.sid.IsZero() && group.sid == member.sid.Domain().WithRID(uint32(rid))
}

// removeMember removes a member from a group (facts E25, E28).
func (t *tx) removeMember(group *node, v linkVal, permissive bool) *Error {
	if v.n != nil && t.inPrimary(group, v.n) {
		e := failAttr(CodePrimaryGroup, KindMember, group.dn(), "member", "it is the member's primary group")
		e.Value = v.n.dn()
		return e
	}
	if !t.unlink(group, t.rep.sch.member, v) && !permissive {
		e := failAttr(CodeNotMember, KindMember, group.dn(), "member", "not a member")
		e.Value = v.dn()
		return e
	}
	return nil
}

// protectedRIDs are the RIDs of the administrative groups, both domain and built-in groups. Their members get
// adminCount 1 and keep it. (The real directory sets it within an hour.)
var protectedRIDs = map[uint32]bool{512: true, 516: true, 518: true, 519: true, 521: true, 526: true,
	527: true,
	544: true, 548: true, 549: true, 550: true, 551: true, 552: true}

func (r *replica) isProtectedGroup(g *node) bool {
	return g.isGroup() && protectedRIDs[g.sid.RID()] &&
		(g.sid.Domain() == r.dom.sid || g.sid.Domain() == builtinSID)
}

var builtinSID = mustSID("S-1-5-32")

// markAdmin sets adminCount on a new direct or nested member of a protected group,
// and on its own members.
func (t *tx) markAdmin(group, member *node) {
	privileged := t.rep.isProtectedGroup(group)
	for _, g := range t.rep.groupsOf(group) {
		privileged = privileged || t.rep.isProtectedGroup(g)
	}
	if !privileged {
		return
	}
	mark := func(n *node) {
		if n.isPrincipal() && n.int(t.rep.sch.adminCount, 0) != 1 {
			t.set(n, t.rep.sch.adminCount, "1")
		}
	}
	mark(member)
	for n := range reach(member, t.rep.sch.member) {
		mark(n)
	}
}

// setGroupType changes the scope and category of a group (facts E31-E34).
func (t *tx) setGroupType(n *node, want int64) *Error {
	r, k := t.rep, t.rep.sch
	want = int64(uint32(want))
	old := r.groupType(n)
	bad := func(code int, kind Kind, why string) *Error {
		return failAttr(code, kind, n.dn(), "groupType", "%s", why)
	}
	if !n.isGroup() {
		return bad(CodeNotDefinedForClass, KindConstraint, "the class has no such attribute")
	}
	scope := want & groupScopes
	if scope == 0 || scope&(scope-1) != 0 ||
		want&^(groupScopes|groupSecurity|groupBuiltin|groupAppBasic|groupAppQuery) != 0 {
		return bad(CodeInvalidGroupType, KindConstraint, "not exactly one scope")
	}
	if old == want {
		return nil
	}
	if (old|want)&groupBuiltin != 0 || n.first(k.critical) == "TRUE" {
		return bad(CodeUnwilling, KindUnwilling, "the type of a built-in group is fixed")
	}
	if old&groupSecurity != 0 && want&groupSecurity == 0 && r.hasPrimaryMembers(n) {
		return bad(CodePrimaryMembers, KindProtected, "it is someone's primary group")
	}
	if err := t.convert(n, old&groupScopes, scope); err != nil {
		return err
	}
	t.set(n, k.groupType, itoa(int64(int32(uint32(want)))))
	return nil
}

// convert checks a change of scope against the members of the group and the groups
// that contain it.
func (t *tx) convert(n *node, from, to int64) *Error {
	if from == to {
		return nil
	}
	if from|to == groupGlobal|groupLocal {
		return failAttr(CodeUnwilling, KindUnwilling, n.dn(), "groupType",
			"a conversion between global and domain local needs universal in between")
	}
	if t.rep.hasPrimaryMembers(n) && to == groupLocal {
		return failAttr(CodePrimaryMembers, KindProtected, n.dn(), "groupType", "it is someone's primary group")
	}
	k := t.rep.sch
	for _, l := range n.linkVals(k.member) {
		if l.n == nil {
			continue
		}
		if err := t.rep.nesting(to, n, l.n); err != nil {
			err.Attribute = "groupType"
			return err
		}
	}
	for _, l := range n.linkVals(k.memberOf) {
		parent := t.rep.groupType(l.n) & groupScopes
		switch {
		case parent == groupGlobal && to == groupUniversal:
			return failAttr(CodeGlobalNoUniversal, KindNesting, n.dn(), "groupType",
				"it is a member of the global group %s", l.n.dn())
		case parent == groupUniversal && to == groupLocal:
			return failAttr(CodeUniversalNoLocal, KindNesting, n.dn(), "groupType",
				"it is a member of the universal group %s", l.n.dn())
		}
	}
	return nil
}

// hasPrimaryMembers reports whether a group is the primary group of any object.
func (r *replica) hasPrimaryMembers(g *node) bool {
	if g.sid.IsZero() || g.sid.Domain() != r.dom.sid {
		return false
	}
	return len(r.having(r.sch.primaryGroup, itoa(int64(g.sid.RID())))) > 0
}

// CodeMemberNotInGroup is the error of setting a primary group in which the principal is not a member.
const CodeMemberNotInGroup = 1321

// setPrimaryGroup changes primaryGroupID. The principal must be a member of the new group, which must be a
// global or universal security group. The principal is removed from the member attribute of the new group and
// added to the member attribute of the old one.
func (t *tx) setPrimaryGroup(n *node, want int64) *Error {
	r, k := t.rep, t.rep.sch
	old := n.int(k.primaryGroup, 0)
	if old == want {
		return nil
	}
	bad := func(code int, why string) *Error {
		return failAttr(code, KindConstraint, n.dn(), "primaryGroupID", "%s", why)
	}
	g := r.bySID[r.dom.sid.WithRID(uint32(want))]
	if want <= 0 || g == nil || !g.isGroup() {
		return bad(CodeConstraint, "no such group")
	}
	if gt := r.groupType(g); gt&groupSecurity == 0 || gt&(groupGlobal|groupUniversal) == 0 {
		return bad(CodeConstraint, "a primary group is a global or universal security group")
	}
	if s := g.linkSet(k.member); s == nil || s.find(linkVal{n: n}) < 0 {
		return bad(CodeMemberNotInGroup, "not a member of the group")
	}
	t.unlink(g, k.member, linkVal{n: n})
	t.set(n, k.primaryGroup, itoa(want))
	if was := r.bySID[r.dom.sid.WithRID(uint32(old))]; was != nil {
		t.link(was, k.member, linkVal{n: n})
	}
	return nil
}

// crossesDomain checks the rules for members from other domains (facts E.2). Only universal and domain
// local groups can have such members, and domain local groups can be members only in their own domain.
func crossesDomain(r *replica, scope int64, member *node) (code int, why string) {
	switch {
	case !abroad(r, member):
		return 0, ""
	case scope == groupGlobal:
		return CodeGlobalNoCrossDomain, "a member of another domain in a global group"
	case scope == groupLocal && member.isGroup() && r.groupType(member)&groupLocal != 0:
		return CodeLocalNoCrossLocal, "a domain local group of another domain in a domain local group"
	}
	return 0, ""
}

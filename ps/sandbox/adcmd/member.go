package adcmd

import (
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// changeMembers is the body of Add-ADGroupMember and Remove-ADGroupMember. All members are
// resolved first. If one is not found, nothing is changed (facts E26).
func changeMembers(op directory.ChangeOp) func(*call) error {
	return func(c *call) error {
		group, err := c.identity()
		if err != nil {
			return err
		}
		c.target = group.DN
		var members []any
		for _, v := range dotnet.EnumerateAny(c.bound("Members")) {
			o, err := c.member(v)
			if err != nil {
				return err
			}
			members = append(members, o.SID.Ref())
		}
		ok, err := c.ShouldProcess(group.DN)
		if err != nil || !ok {
			return err
		}
		ch := c.newChanges()
		ch.add(op, "member", members...)
		// Adding an existing member and removing an absent member succeed (facts E25).
		options := directory.ModifyOptions{Permissive: !c.Bool("DisablePermissiveModify")}
		if err := ch.write(group, options); err != nil {
			return err
		}
		return c.passThru(group.GUID)
	}
}

// member resolves one of -Members, which must have a SID (facts E26, E27).
func (c *call) member(v any) (*directory.Object, error) {
	const id = "SetADGroupMember.ValidateMembersParameter"
	given := identityText(v)
	o, f, err := c.lookup(c.h.classes["ADPrincipal"], v, given, c.selection())
	if err != nil {
		return nil, c.fail(err)
	}
	if f == nil {
		return o, nil
	}
	if other, missing, err := c.lookup(c.h.classes["ADObject"], v, given, c.selection()); err == nil &&
		missing == nil {
		category := dotnet.ReadError
		f = &failure{typ: "System.ArgumentException", message: c.say("noSID", other.DN), category: &category}
	}
	f.id = id
	return nil, c.throw(*f)
}

// principalGroups is the body of Get-ADPrincipalGroupMembership. It returns the primary
// group and the groups of which the object is a direct member (facts E22).
func principalGroups(c *call) error {
	o, err := c.identity("memberOf", "primaryGroupID")
	if err != nil {
		return err
	}
	groups := c.h.classes["ADGroup"]
	refs := o.Strings("memberOf")
	if rid, ok := o.Int("primaryGroupID"); ok {
		refs = append([]string{o.SID.Domain().WithRID(uint32(rid)).Ref()}, refs...)
	}
	for _, ref := range refs {
		group, err := c.dc.Get(c.ctx(), ref, groups.plan.attrs...)
		if err != nil {
			return c.fail(err)
		}
		if err := c.emit(groups, groups.plan, group); err != nil {
			return err
		}
	}
	return nil
}

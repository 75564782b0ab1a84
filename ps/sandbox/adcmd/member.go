package adcmd

import (
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// changeMembers is the body of Add-ADGroupMember and Remove-ADGroupMember. All
// members are resolved first: one that is not found fails the call and changes
// nothing (facts E26).
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
		// Adding what is there and removing what is not succeeds (facts E25).
		options := directory.ModifyOptions{Permissive: !c.Bool("DisablePermissiveModify")}
		if err := ch.write(group, options); err != nil {
			return err
		}
		return c.passThru(group.GUID)
	}
}

// member finds one of -Members, which must have a SID (facts E26, E27).
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
	if other, missing, err := c.lookup(c.h.classes["ADObject"], v, given, c.selection()); err == nil && missing == nil {
		category := dotnet.ReadError
		f = &failure{typ: "System.ArgumentException", message: c.say("noSID", other.DN), category: &category}
	}
	f.id = id
	return nil, c.throw(*f)
}

// groupMembers is the body of Get-ADGroupMember: direct members with those
// whose primary group it is, or with -Recursive all that are no group (facts
// E23). It fails as a whole where the real one does.
func groupMembers(c *call) error {
	group, err := c.identity("member")
	if err != nil {
		return err
	}
	w := &memberWalk{c: c, recursive: c.Bool("Recursive"), seen: map[directory.GUID]bool{group.GUID: true}}
	if err := w.walk(group); err != nil {
		return err
	}
	p := c.h.classes["ADPrincipal"]
	for _, o := range w.found {
		if err := c.emit(p, p.plan, o); err != nil {
			return err
		}
	}
	return nil
}

// memberWalk collects members; groups may contain each other (facts E29).
type memberWalk struct {
	c         *call
	recursive bool
	seen      map[directory.GUID]bool
	found     []*directory.Object
}

func (w *memberWalk) walk(group *directory.Object) error {
	c := w.c
	attrs := append([]string{"member"}, c.h.classes["ADPrincipal"].plan.attrs...)
	var members []*directory.Object
	for _, dn := range group.Strings("member") {
		o, err := c.dc.Get(c.ctx(), dn, attrs...)
		if err != nil {
			return c.fail(err)
		}
		members = append(members, o)
	}
	primary, err := c.dc.Search(c.ctx(), directory.SearchRequest{
		Filter: "(primaryGroupID=" + itoa(int(group.SID.RID())) + ")", Attributes: attrs,
	})
	if err != nil {
		return c.fail(err)
	}
	for _, o := range append(members, primary...) {
		if w.seen[o.GUID] {
			continue
		}
		w.seen[o.GUID] = true
		// The name of a foreign principal is its SID; well-known ones resolve.
		if o.Is("foreignSecurityPrincipal") && strings.HasPrefix(o.String("name"), "S-1-5-21-") {
			return c.fail(&directory.Error{Op: "search", DN: o.DN})
		}
		if w.recursive && o.Is("group") {
			if err := w.walk(o); err != nil {
				return err
			}
			continue
		}
		if o.SID.IsZero() {
			continue
		}
		if w.found = append(w.found, o); len(w.found) > c.h.Domain.MaxMembers() {
			return c.throw(failure{typ: "ADException", message: c.say("sizeLimit"), fromServer: true})
		}
	}
	return nil
}

// principalGroups is the body of Get-ADPrincipalGroupMembership: direct
// membership and the primary group (facts E22).
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

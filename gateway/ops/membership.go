package ops

import (
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	userInGroup  = "membership of the user '{Username}' in the group '{GroupName}'"
	groupInGroup = "membership of the group '{ChildGroupName}' in the group '{ParentGroupName}'"
)

var membershipRows = []*Operation{
	{
		ID: "membership.get", Summary: "Shows the membership of a user in a group.",
		Path: "/api/ADUser/{Username}/Group/{GroupName}", Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{memberUser, existingGroup, throughGroups},
		Script:  "Get-GatewayMembership",
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userInGroup,
	},
	{
		ID: "membership.exists", Summary: "Reports whether a user is a member of a group.",
		Path: "/api/ADUser/{Username}/Group/{GroupName}/Exists", Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{memberUser, existingGroup, throughGroups},
		Script:  "Test-GatewayMembership",
		Fixed:   userMember,
		Reply:   Reply{schema.Existence, Exists},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userInGroup,
	},
	{
		ID: "membership.list", Summary: "Lists the groups of a user.",
		Path: "/api/ADUser/{Username}/Group/All", Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{memberUser, throughGroups},
		Script:  "Get-GatewayMembershipList",
		Reply:   Reply{schema.Membership, List},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userSubject,
	},
	{
		ID: "membership.add", Summary: "Adds a user to a group.",
		Path: "/api/ADUser/{Username}/Group/{GroupName}", Scope: identity.MemberWrite, Effect: Create,
		Params:    []Param{memberUser, existingGroup},
		Script:    "Add-GatewayMembership",
		Fixed:     userMember,
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Undo:      member("membership.remove", usernameName, "GroupName"),
		Subject:   userInGroup,
		Success:   "The user '{Username}' was added to the group '{GroupName}'.",
		Unchanged: "The user '{Username}' is a member of the group '{GroupName}' already; nothing was changed.",
		Sample:    Given{"Username": "aschmidt", "GroupName": "Help Desk"},
	},
	{
		ID: "membership.remove", Summary: "Removes a user from a group.",
		Path:  "/api/ADUser/{Username}/Group/{GroupName}",
		Scope: identity.MemberWrite, Effect: Delete, Disrupts: true,
		Params:    []Param{memberUser, existingGroup},
		Script:    "Remove-GatewayMembership",
		Fixed:     userMember,
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound, schema.Conflict},
		Undo:      member("membership.add", usernameName, "GroupName"),
		Guard:     Guard{Pair: true},
		Subject:   userInGroup,
		Success:   "The user '{Username}' was removed from the group '{GroupName}'.",
		Unchanged: "The user '{Username}' is no direct member of the group '{GroupName}'; nothing was changed.",
	},
	{
		ID: "membership.addGroup", Summary: "Adds a group to another group.",
		Path:  "/api/ADGroup/{ParentGroupName}/Group/{ChildGroupName}",
		Scope: identity.MemberWrite, Effect: Create,
		Params:    []Param{parentGroup, childGroup},
		Script:    "Add-GatewayMembership",
		Fixed:     groupMember,
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Undo:      member("membership.removeGroup", childGroup.Name, parentGroup.Name),
		Subject:   groupInGroup,
		Success:   "The group '{ChildGroupName}' was added to the group '{ParentGroupName}'.",
		Unchanged: "The group '{ChildGroupName}' is a member of the group '{ParentGroupName}' already; nothing was changed.",
		Sample:    Given{"ParentGroupName": "Project Phoenix", "ChildGroupName": "Help Desk"},
	},
	{
		ID: "membership.removeGroup", Summary: "Removes a group from another group.",
		Path:  "/api/ADGroup/{ParentGroupName}/Group/{ChildGroupName}",
		Scope: identity.MemberWrite, Effect: Delete, Disrupts: true,
		Params:    []Param{parentGroup, childGroup},
		Script:    "Remove-GatewayMembership",
		Fixed:     groupMember,
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound},
		Undo:      member("membership.addGroup", childGroup.Name, parentGroup.Name),
		Guard:     Guard{Pair: true},
		Subject:   groupInGroup,
		Success:   "The group '{ChildGroupName}' was removed from the group '{ParentGroupName}'.",
		Unchanged: "The group '{ChildGroupName}' is no direct member of the group '{ParentGroupName}'; nothing was changed.",
	},
	{
		ID: "membership.groupExists", Summary: "Reports whether a group is a member of another group.",
		Path:  "/api/ADGroup/{ParentGroupName}/Group/{ChildGroupName}/Exists",
		Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{parentGroup, childGroup},
		Script:  "Test-GatewayMembership",
		Fixed:   groupMember,
		Reply:   Reply{schema.Existence, Exists},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: groupInGroup,
	},
}

var (
	userMember  = ps.Args{"MemberClass": ps.Text("user")}
	groupMember = ps.Args{"MemberClass": ps.Text("group")}
)

var memberUser = Param{
	Name: usernameName, Path: "Username", Arg: "MemberName", Kind: schema.Identity, Required: true,
	Doc: "User that the operation applies to.",
}

var throughGroups = Param{
	Name: "Recursive", Kind: schema.Bool, Default: "false",
	Doc: "Whether to include indirect memberships through nested groups.",
}

var parentGroup = Param{
	Name: "ParentGroupName", Path: "ParentGroupName", Arg: "GroupName", Kind: schema.Identity, Required: true,
	Group: true, Example: "All Staff",
	Doc: "Group that contains the member group.",
}

var childGroup = Param{
	Name: "ChildGroupName", Path: "ChildGroupName", Arg: "MemberName", Kind: schema.Identity, Required: true,
	Group: true, Example: "Sales Staff",
	Doc: "Group that is the member.",
}

const membersName = "Members"

// membersRows change several members of a group at once. A call changes all of them or none.
var membersRows = []*Operation{
	{
		ID: "membership.addMembers", Summary: "Adds members of any class to a group.",
		Path: "/api/ADGroups/{GroupName}/Members", Scope: identity.MemberWrite, Effect: Create,
		Params:    []Param{existingGroup, namedMembers(schema.MemberList, "Members to add."+foreign)},
		Script:    "Set-GatewayMembers",
		Fixed:     ps.Args{"Mode": ps.Text("Add")},
		Reply:     Reply{schema.MemberChange, Single},
		Settle:    settleMembers,
		Fails:     membersFail,
		Undo:      Undo{Rows: []string{"membership.removeMembers"}, Calls: undoMembers},
		Guard:     Guard{Never: "it is about several memberships"},
		Subject:   groupSubject,
		Success:   "{count:members} added to the {subject}.",
		Unchanged: "All of them are members of the {subject} already; nothing was changed.",
		Sample:    Given{"GroupName": "Help Desk", membersName: "aschmidt,FS1$"},
	},
	{
		ID: "membership.removeMembers", Summary: "Removes members of any class from a group.",
		Path: "/api/ADGroups/{GroupName}/Members", Scope: identity.MemberWrite, Effect: Delete, Disrupts: true,
		Params:    []Param{existingGroup, namedMembers(schema.MemberList, "Members to remove."+foreign)},
		Script:    "Set-GatewayMembers",
		Fixed:     ps.Args{"Mode": ps.Text("Remove")},
		Reply:     Reply{schema.MemberChange, Single},
		Settle:    settleMembers,
		Fails:     membersFail,
		Undo:      Undo{Rows: []string{"membership.addMembers"}, Calls: undoMembers},
		Guard:     Guard{Never: "it is about several memberships"},
		Subject:   groupSubject,
		Success:   "{count:members} removed from the {subject}.",
		Unchanged: "None of them is a direct member of the {subject}; nothing was changed.",
		Sample:    Given{"GroupName": "VPN Users", membersName: "aschmidt"},
	},
	{
		ID: "membership.setMembers", Summary: "Replaces the members of a group.",
		Path: "/api/ADGroups/{GroupName}/Members", Scope: identity.MemberWrite, Effect: Update, Disrupts: true,
		Params: []Param{smallGroup, namedMembers(schema.WholeMemberList,
			"All members that the group will have. Other members are removed, except those outside the limits of the "+
				"credential."+foreign)},
		Script:    "Set-GatewayMembers",
		Fixed:     ps.Args{"Mode": ps.Text("Set")},
		Reply:     Reply{schema.MemberChange, Single},
		Settle:    settleMembers,
		Fails:     membersFail,
		Undo:      Undo{Rows: []string{"membership.removeMembers", "membership.addMembers"}, Calls: undoMembers},
		Guard:     Guard{Never: "it is about several memberships"},
		Subject:   groupSubject,
		Success:   "The {subject} has these members now: {counts}.",
		Unchanged: "The {subject} has exactly these members already; nothing was changed.",
		Sample:    Given{"GroupName": "Help Desk", membersName: "aschmidt"},
	},
}

// smallGroup has few members in the sandbox, so all of them can be replaced.
var smallGroup = func() Param {
	group := existingGroup
	group.Example = "Help Desk"
	return group
}()

var (
	settleMembers = Settle{Script: "Confirm-GatewayMembers"}
	membersFail   = []schema.Code{schema.NotFound, schema.Conflict, schema.TooMany, schema.Unprocessable}
)

// foreign is the part of a description about members of other domains.
const foreign = " They can belong to other domains of the forest if the scope of the group allows it."

// namedMembers is the parameter that lists members.
func namedMembers(kind schema.Kind, about string) Param {
	return Param{Name: membersName, Kind: kind, Required: true, Group: true, Doc: about}
}

// MemberChange is the prefix in the names of announced changes of a group with several members. The
// member's GUID follows.
const MemberChange = "member:"

// undoMembers undoes a change of several members. It removes the members that were added, and adds those that
// were removed.
func undoMembers(d Done) []Undoing {
	var calls []Undoing
	for _, one := range []struct{ row, after string }{
		{"membership.removeMembers", "True"}, {"membership.addMembers", "False"},
	} {
		group, guids := *d.object(), []string{}
		group.Changes = nil
		undone := []ps.Intended{}
		for _, c := range d.object().Changes {
			guid, is := strings.CutPrefix(c.Name, MemberChange)
			if !is || c.After != one.after {
				continue
			}
			group.Changes = append(group.Changes, c)
			guids = append(guids, guid)
			for _, member := range d.Intent.Objects[1:] {
				if strings.EqualFold(member.GUID, guid) {
					undone = append(undone, member)
				}
			}
		}
		if len(guids) == 0 {
			continue
		}
		calls = append(calls, Undoing{
			Row:    one.row,
			Given:  Given{existingGroup.Name: group.GUID, membersName: string(schema.TextsOf(guids))},
			Undone: append([]ps.Intended{group}, undone...),
		})
	}
	return calls
}

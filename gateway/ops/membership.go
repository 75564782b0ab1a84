package ops

import (
	"net/http"

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
		Method: http.MethodGet, Path: "/api/ADUser/{Username}/Group/{GroupName}",
		Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{memberUser, existingGroup, throughGroups},
		Script:  "Get-GatewayMembership",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Membership, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userInGroup,
		Sample:  Given{"Username": "aschmidt", "GroupName": "VPN Users"},
	},
	{
		ID: "membership.exists", Summary: "Reports whether a user is a member of a group.",
		Method: http.MethodGet, Path: "/api/ADUser/{Username}/Group/{GroupName}/Exists",
		Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{memberUser, existingGroup, throughGroups},
		Script:  "Test-GatewayMembership",
		Fixed:   userMember,
		Lane:    ps.Directory,
		Reply:   Reply{schema.Existence, Exists},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userInGroup,
		Sample:  Given{"Username": "aschmidt", "GroupName": "VPN Users"},
	},
	{
		ID: "membership.list", Summary: "Lists the groups of a user.",
		Method: http.MethodGet, Path: "/api/ADUser/{Username}/Group/All",
		Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{memberUser, throughGroups},
		Script:  "Get-GatewayMembershipList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Membership, List},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userSubject,
		Sample:  Given{"Username": "aschmidt"},
	},
	{
		ID: "membership.add", Summary: "Adds a user to a group.",
		Method: http.MethodPost, Path: "/api/ADUser/{Username}/Group/{GroupName}",
		Scope: identity.MemberWrite, Effect: Create,
		Params:    []Param{memberUser, existingGroup},
		Script:    "Add-GatewayMembership",
		Fixed:     userMember,
		Lane:      ps.Directory,
		Reply:     Reply{schema.Membership, Single},
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Subject:   userInGroup,
		Success:   "The user '{Username}' was added to the group '{GroupName}'.",
		Unchanged: "The user '{Username}' is a member of the group '{GroupName}' already; nothing was changed.",
		Sample:    Given{"Username": "aschmidt", "GroupName": "Help Desk"},
	},
	{
		ID: "membership.remove", Summary: "Removes a user from a group.",
		Method: http.MethodDelete, Path: "/api/ADUser/{Username}/Group/{GroupName}",
		Scope: identity.MemberWrite, Effect: Delete, Disrupts: true,
		Params:    []Param{memberUser, existingGroup},
		Script:    "Remove-GatewayMembership",
		Fixed:     userMember,
		Lane:      ps.Directory,
		Reply:     Reply{schema.Membership, Single},
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound, schema.Conflict},
		Subject:   userInGroup,
		Success:   "The user '{Username}' was removed from the group '{GroupName}'.",
		Unchanged: "The user '{Username}' is no direct member of the group '{GroupName}'; nothing was changed.",
		Sample:    Given{"Username": "aschmidt", "GroupName": "VPN Users"},
	},
	{
		ID: "membership.addGroup", Summary: "Adds a group to another group.",
		Method: http.MethodPost, Path: "/api/ADGroup/{ParentGroupName}/Group/{ChildGroupName}",
		Scope: identity.MemberWrite, Effect: Create,
		Params:    []Param{parentGroup, childGroup},
		Script:    "Add-GatewayMembership",
		Fixed:     groupMember,
		Lane:      ps.Directory,
		Reply:     Reply{schema.Membership, Single},
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Subject:   groupInGroup,
		Success:   "The group '{ChildGroupName}' was added to the group '{ParentGroupName}'.",
		Unchanged: "The group '{ChildGroupName}' is a member of the group '{ParentGroupName}' already; nothing was changed.",
		Sample:    Given{"ParentGroupName": "Project Phoenix", "ChildGroupName": "Help Desk"},
	},
	{
		ID: "membership.removeGroup", Summary: "Removes a group from another group.",
		Method: http.MethodDelete, Path: "/api/ADGroup/{ParentGroupName}/Group/{ChildGroupName}",
		Scope: identity.MemberWrite, Effect: Delete, Disrupts: true,
		Params:    []Param{parentGroup, childGroup},
		Script:    "Remove-GatewayMembership",
		Fixed:     groupMember,
		Lane:      ps.Directory,
		Reply:     Reply{schema.Membership, Single},
		Settle:    settleMember,
		Fails:     []schema.Code{schema.NotFound},
		Subject:   groupInGroup,
		Success:   "The group '{ChildGroupName}' was removed from the group '{ParentGroupName}'.",
		Unchanged: "The group '{ChildGroupName}' is no direct member of the group '{ParentGroupName}'; nothing was changed.",
		Sample:    Given{"ParentGroupName": "All Staff", "ChildGroupName": "Sales Staff"},
	},
	{
		ID: "membership.groupExists", Summary: "Reports whether a group is a member of another group.",
		Method: http.MethodGet, Path: "/api/ADGroup/{ParentGroupName}/Group/{ChildGroupName}/Exists",
		Scope: identity.MemberRead, Effect: Read,
		Params:  []Param{parentGroup, childGroup},
		Script:  "Test-GatewayMembership",
		Fixed:   groupMember,
		Lane:    ps.Directory,
		Reply:   Reply{schema.Existence, Exists},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: groupInGroup,
		Sample:  Given{"ParentGroupName": "All Staff", "ChildGroupName": "Sales Staff"},
	},
}

var (
	userMember  = ps.Args{"MemberClass": ps.Text("user")}
	groupMember = ps.Args{"MemberClass": ps.Text("group")}
)

var memberUser = Param{
	Name: usernameName, Path: "Username", Arg: "MemberName", Kind: schema.Identity, Required: true,
	Doc: "The user.",
}

var throughGroups = Param{
	Name: "Recursive", Kind: schema.Bool, Default: "false",
	Doc: "Nested groups count, too; such a membership is not direct.",
}

var parentGroup = Param{
	Name: "ParentGroupName", Path: "ParentGroupName", Arg: "GroupName", Kind: schema.Identity, Required: true, Group: true, Example: "All Staff",
	Doc: "The group that has the member.",
}

var childGroup = Param{
	Name: "ChildGroupName", Path: "ChildGroupName", Arg: "MemberName", Kind: schema.Identity, Required: true, Group: true, Example: "Sales Staff",
	Doc: "The group that is the member.",
}

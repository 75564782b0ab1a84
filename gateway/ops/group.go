package ops

import (
	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const groupSubject = "group '{GroupName}'"

var groupRows = []*Operation{
	listing("Get-GatewayGroupList", schema.Group, Operation{
		ID: "group.list", Summary: "Lists the groups below an OU, a container, or the domain.",
		Path: "/api/ADGroups", Scope: identity.GroupRead,
		Params:  groupSearch,
		Subject: "OU '{OUPath}'",
		Sample:  Given{"OUPath": "OU=Groups,OU=Corp,DC=corp,DC=example"},
	}),
	{
		ID: "group.get", Summary: "Shows a group.",
		Path: "/api/ADGroups/{GroupName}", Scope: identity.GroupRead, Effect: Read,
		Params: []Param{existingGroup},
		Script: "Get-GatewayGroup",
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	{
		ID: "group.exists", Summary: "Reports whether a group exists.",
		Path: "/api/ADGroups/{GroupName}/Exists", Scope: identity.GroupRead, Effect: Read,
		Params: []Param{existingGroup},
		Script: "Test-GatewayGroup",
		Reply:  Reply{schema.Existence, Exists},
		Fails:  []schema.Code{schema.Ambiguous},
	},
	listing("Get-GatewayGroupList", schema.Group, Operation{
		ID: "group.listAll", Summary: "Lists all groups.",
		Path: "/api/ADGroups/All", Scope: identity.GroupRead,
		Params:  searched(filter.Groups),
		Subject: "groups",
	}),
	listing("Get-GatewayGroupList", schema.Group, Operation{
		ID: "group.listDistribution", Summary: "Lists the distribution groups below an OU, a container, or the domain.",
		Path: "/api/ADGroups/Distribution/All", Scope: identity.GroupRead,
		Params:  groupSearch,
		Fixed:   distribution,
		Subject: "OU '{OUPath}'",
	}),
	listing("Get-GatewayGroupList", schema.Group, Operation{
		ID: "group.listSecurity", Summary: "Lists the security groups below an OU, a container, or the domain.",
		Path: "/api/ADGroups/Security/All", Scope: identity.GroupRead,
		Params:  groupSearch,
		Fixed:   security,
		Subject: "OU '{OUPath}'",
		Sample:  Given{"OUPath": "CN=Users,DC=corp,DC=example", "Recursive": false},
	}),
	{
		ID: "group.createDistribution", Summary: "Creates a distribution group.",
		Path: "/api/ADGroups/{GroupName}/Distribution", Scope: identity.GroupWrite, Effect: Create,
		Params:  groupInputs,
		Script:  "New-GatewayGroup",
		Fixed:   distribution,
		Fails:   []schema.Code{schema.Conflict, schema.Unprocessable},
		Undo:    removed("group.delete", "GroupName"),
		Success: "The distribution {subject} was created.",
		Sample: Given{
			"GroupName": "Sample List", "GroupScope": "universal", "GroupEmail": "list@corp.example",
		},
	},
	{
		ID: "group.createSecurity", Summary: "Creates a security group.",
		Path: "/api/ADGroups/{GroupName}/Security", Scope: identity.GroupWrite, Effect: Create,
		Params:  groupInputs,
		Script:  "New-GatewayGroup",
		Fixed:   security,
		Fails:   []schema.Code{schema.Conflict, schema.Unprocessable},
		Undo:    removed("group.delete", "GroupName"),
		Success: "The security {subject} was created.",
		Sample: Given{
			"GroupName": "Sample Group", "OUPath": "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example",
			"GroupDescription": "A sample",
		},
	},
	{
		ID: "group.rename", Summary: "Renames a group.",
		Path:  "/api/ADGroups/{GroupName}/Rename/{NewGroupName}",
		Scope: identity.GroupWrite, Effect: Rename, Disrupts: true,
		Params: []Param{
			existingGroup,
			{Name: "NewGroupName", Path: "NewGroupName", Kind: schema.GroupName, Required: true, Doc: "New sAMAccountName, which also becomes the common name (CN) unless Name is given."},
			renamedTo("New common name (CN). If absent, the CN is the new sAMAccountName."),
		},
		Script:    "Rename-GatewayGroup",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      renamed("group.rename", "GroupName", "NewGroupName", "sAMAccountName"),
		Success:   "The {subject} was renamed to '{NewGroupName}'.",
		Unchanged: "The {subject} already has this name; nothing was changed.",
		Sample:    Given{"GroupName": "VPN Users", "NewGroupName": "Dial In"},
	},
	protecting("group", "/api/ADGroups/{GroupName}/Protection", identity.GroupWrite, existingGroup),
	{
		ID: "group.delete", Summary: "Removes a group.",
		Path: "/api/ADGroups/{GroupName}/Remove", Scope: identity.GroupDelete, Effect: Delete,
		Params: []Param{
			existingGroup,
			{Name: "OUPath", Kind: schema.DN, Example: "OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example", Doc: "OU or container that must directly contain the group; otherwise, the group is not removed. If absent, the location is not checked."},
			forced,
		},
		Script:  "Remove-GatewayGroup",
		Settle:  settleRemoval,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected},
		Undo:    fromBin,
		Success: "The {subject} was removed.",
		Needs:   Step{"group.createSecurity", Given{"GroupName": "Sample Gone"}},
		Sample:  Given{"GroupName": "Sample Gone"},
	},
}

var (
	security     = ps.Args{"Category": ps.Text("Security")}
	distribution = ps.Args{"Category": ps.Text("Distribution")}
)

var existingGroup = Param{
	Name: "GroupName", Path: "GroupName", Kind: schema.Identity, Required: true, Group: true,
	Example: "VPN Users",
	Doc:     "Group that the operation applies to.",
}

// groupSearch are the parameters of group lists.
var groupSearch = searched(filter.Groups, searchedOU, belowOU)

// groupInputs are the inputs of a new group.
var groupInputs = []Param{
	{Name: "GroupName", Path: "GroupName", Kind: schema.GroupName, Required: true, Doc: "sAMAccountName and common name (CN) of the new group."},
	{Name: "OUPath", Kind: schema.DN, Doc: "OU or container for the group. If absent, the group is created in the domain's container for users."},
	{Name: "GroupScope", Kind: schema.GroupScope, Default: "Global", Doc: "Scope of the group."},
	{Name: "GroupDescription", Kind: schema.Text("description"), Doc: "Description."},
	{Name: "GroupEmail", Kind: schema.Text("mail"), Doc: "Email address."},
}

package ops

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

const (
	ouSubject   = "OU '{OUPath}'"
	description = "OUDescription"
	isProtected = "IsProtected"
)

var ouRows = []*Operation{
	{
		ID: "ou.list", Summary: "Lists all OUs.",
		Path: "/api/OU/All", Scope: identity.OURead, Effect: Read,
		Params:  []Param{{Name: "ListContainers", Kind: schema.Bool, Default: "false", Doc: "Whether to list containers of all other classes, too, including hidden and system containers."}},
		Script:  "Get-GatewayOUList",
		Reply:   Reply{schema.OU, List},
		Subject: "OUs",
	},
	{
		ID: "ou.getByGuid", Summary: "Shows an OU or container by its GUID.",
		Path: "/api/OU/Guid/Details", Scope: identity.OURead, Effect: Read,
		Params:  []Param{{Name: "OUGuid", Kind: schema.GUID, Required: true, Example: "da9f7f4a-9e3a-59b7-80c1-cd0e8901a4d2", Doc: "objectGUID of the OU."}},
		Script:  "Get-GatewayOU",
		Fails:   []schema.Code{schema.NotFound},
		Subject: "OU '{OUGuid}'",
	},
	{
		ID: "ou.get", Summary: "Shows an OU or container.",
		Path: "/api/OU/Path/Details", Scope: identity.OURead, Effect: Read,
		Params: []Param{ouPath},
		Script: "Get-GatewayOU",
		Fails:  []schema.Code{schema.NotFound},
		Sample: Given{"OUPath": "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"},
	},
	{
		ID: "ou.exists", Summary: "Reports whether an OU or container exists.",
		Path: "/api/OU/Path/Exists", Scope: identity.OURead, Effect: Read,
		Params: []Param{ouPath},
		Script: "Test-GatewayOU",
		Reply:  Reply{schema.Existence, Exists},
		Sample: Given{"OUPath": "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"},
	},
	{
		ID: "ou.create", Summary: "Creates an OU.",
		Path: "/api/OU", Scope: identity.OUWrite, Effect: Create,
		Params: []Param{
			{Name: "OUName", Kind: schema.OUName, Required: true, Doc: "Name of the OU, without escape characters."},
			ouDestination("OU, container, or domain in which to create the OU."),
			{Name: description, Kind: schema.Text("description"), Doc: "Description."},
			{Name: isProtected, Kind: schema.Bool, Default: "true", Doc: "Whether to protect the OU from accidental deletion."},
		},
		Script:  "New-GatewayOU",
		Settle:  settleOU.cleanedUp(),
		Fails:   []schema.Code{schema.Conflict, schema.Unprocessable},
		Undo:    madeOU,
		Subject: "OU '{OUName}'",
		Success: "The {subject} was created in '{OUDestinationPath}'.",
		Sample: Given{
			"OUName": "Sample", "OUDestinationPath": "OU=Empty,OU=Corp,DC=corp,DC=example",
			"OUDescription": "A sample", "IsProtected": "false",
		},
	},
	{
		ID: "ou.update", Summary: "Changes the description or the protection of an OU.",
		Path: "/api/OU", Scope: identity.OUWrite, Effect: Update,
		Params: []Param{
			ouPath,
			{Name: description, Kind: schema.Text("description"), Example: "Nothing but a name", Doc: "Description."},
			{Name: isProtected, Kind: schema.Bool, Doc: "Whether the OU is protected from accidental deletion."},
		},
		Script:    "Set-GatewayOU",
		Fails:     []schema.Code{schema.NotFound, schema.Protected},
		Undo:      restored("ou.update", func(d Done) Given { return Given{ouPath.Name: d.object().DN} }),
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} is as wanted already; nothing was changed.",
		Sample:    Given{"OUPath": "OU=Empty,OU=Corp,DC=corp,DC=example", "OUDescription": "changed"},
	},
	{
		ID: "ou.move", Summary: "Moves an OU with all objects below it.",
		Path: "/api/OU/Move", Scope: identity.OUWrite, Effect: Move, Disrupts: true, Extent: "objects",
		Params:    []Param{ouPath, ouDestination("OU or domain to move the OU to.")},
		Script:    "Move-GatewayOU",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      movedOU,
		Success:   "The {subject} was moved to '{OUDestinationPath}'.",
		Unchanged: "The {subject} is in '{OUDestinationPath}' already; nothing was changed.",
		Sample: Given{
			"OUPath":            "OU=Protected empty,OU=Corp,DC=corp,DC=example",
			"OUDestinationPath": "OU=Empty,OU=Corp,DC=corp,DC=example",
		},
	},
	{
		ID: "ou.rename", Summary: "Renames an OU.",
		Path: "/api/OU/Rename", Scope: identity.OUWrite, Effect: Rename, Disrupts: true, Extent: "objects",
		Params: []Param{
			ouPath,
			{Name: "OUNewName", Kind: schema.OUName, Required: true, Doc: "New name of the OU, without escape characters."},
		},
		Script:    "Rename-GatewayOU",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      renamedOU,
		Success:   "The {subject} was renamed to '{OUNewName}'.",
		Unchanged: "The {subject} has the name already; nothing was changed.",
		Sample: Given{
			"OUPath": "OU=Protected empty,OU=Corp,DC=corp,DC=example", "OUNewName": "Renamed",
		},
	},
	{
		ID: "ou.delete", Summary: "Removes an OU.",
		Path: "/api/OU/Path/Remove", Scope: identity.OUDelete, Effect: Delete,
		Params: []Param{
			ouPath, forced, wholeTree(identity.OUDeleteTree),
		},
		Script:  "Remove-GatewayOU",
		Settle:  settleRemoval,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.NotEmpty, schema.TooMany},
		Undo:    fromBin,
		Success: "The {subject} was removed: {counts}.",
	},
}

var ouPath = Param{Name: "OUPath", Kind: schema.DN, Required: true,
	Example: "OU=Empty,OU=Corp,DC=corp,DC=example", Doc: "OU or container that the operation applies to."}

func ouDestination(doc string) Param {
	return Param{Name: "OUDestinationPath", Kind: schema.DN, Required: true,
		Example: "OU=Staff,OU=Corp,DC=corp,DC=example", Doc: doc}
}

package ops

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const deletedSubject = "deleted object '{Guid}'"

// binRows are the rows of the directory's Recycle Bin.
var binRows = []*Operation{
	{
		ID: "bin.status", Summary: "Shows whether the Recycle Bin is enabled, and how long objects stay in it.",
		Method: http.MethodGet, Path: "/api/RecycleBin/Status",
		Scope: identity.BinRead, Effect: Read,
		Script:  "Get-GatewayBinStatus",
		Lane:    ps.Directory,
		Reply:   Reply{schema.BinStatus, Single},
		Subject: "Recycle Bin",
		Success: "The state of the {subject} was read.",
		Sample:  Given{},
	},
	{
		ID: "bin.list", Summary: "Lists deleted users, groups, computers and OUs, the latest first.",
		Method: http.MethodGet, Path: "/api/RecycleBin",
		Scope: identity.BinRead, Effect: Read,
		Params: []Param{
			{Name: "Type", Kind: schema.OneOf("The type of the objects.", schema.DeletedTypes...), Example: "user", Doc: "Only objects of this type."},
			{Name: "Name", Kind: schema.Word, Example: "Anna Schmidt", Doc: "Only objects that had this name, in any case."},
			{Name: "Account", Kind: schema.Word, Example: "aschmidt", Doc: "Only the objects with this sAMAccountName, in any case."},
			{Name: "LastOUPath", Kind: schema.DN, Example: "OU=Empty,OU=Corp,DC=corp,DC=example", Doc: "Only what lay directly in this container."},
			{Name: "DeletedSince", Kind: schema.Moment, Doc: "Only what was deleted about then or later."},
			{Name: "Limit", Kind: schema.Number("At most so many.", 1, 500), Default: "500", Doc: "At most so many, the latest."},
		},
		Script:  "Get-GatewayDeletedList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.DeletedObject, List},
		Subject: "deleted objects",
		Needs:   Step{"group.delete", Given{"GroupName": "Local List"}},
		Sample:  Given{},
	},
	{
		ID: "bin.get", Summary: "Shows a deleted object, with its memberships and what lay directly below it.",
		Method: http.MethodGet, Path: "/api/RecycleBin/{Guid}",
		Scope: identity.BinRead, Effect: Read,
		Params:  []Param{deletedGUID("f328877c-96b8-5fbf-8d14-1449a6756256")},
		Script:  "Get-GatewayDeletedObject",
		Lane:    ps.Directory,
		Reply:   Reply{schema.DeletedDetails, Single},
		Fails:   []schema.Code{schema.NotFound},
		Subject: deletedSubject,
		Needs:   Step{"group.delete", Given{"GroupName": "Berlin Announcements"}},
		Sample:  Given{"Guid": "f328877c-96b8-5fbf-8d14-1449a6756256"},
	},
	{
		ID: binRow, Summary: "Restores a deleted object from the Recycle Bin.",
		Method: http.MethodPut, Path: "/api/RecycleBin/{Guid}/Restore",
		Scope: identity.BinRestore, Effect: Update,
		Params: []Param{
			deletedGUID("e01076ad-3b79-506a-af5d-96b72c99f124"),
			{Name: "OUPath", Kind: schema.DN, Audited: true, Example: "OU=Empty,OU=Corp,DC=corp,DC=example", Doc: "Where it comes back, if not where it lay."},
			{Name: "NewName", Kind: schema.OUName, Audited: true, Example: "Restored", Doc: "The name that it gets, as it is shown: without escapes. Its account name stays."},
			{Name: binRecursive, Kind: schema.Bool, Default: "false", Audited: true, Doc: "Restore what was deleted with it from below it, too."},
			{Name: binDisabled, Kind: schema.Bool, Default: "true", Audited: true, Doc: "Disable users and computers in the step after they are back; until then they are as they were."},
			{Name: "Protect", Kind: schema.Bool, Default: "false", Audited: true, Doc: "Protect it from accidental deletion."},
		},
		Script:  "Restore-GatewayObject",
		Fixed:   ps.Args{"UserField": schema.User.All().Read()},
		Lane:    ps.Directory,
		Reply:   Reply{schema.RestoredObject, List},
		Settle:  Settle{Script: "Confirm-GatewayRestore"},
		Fails:   []schema.Code{schema.Partial, schema.NotFound, schema.Conflict, schema.ParentDeleted, schema.TooMany, schema.NotUndoable, schema.Unprocessable},
		Undo:    Undo{Never: "delete the object again instead, which moves it back to the Recycle Bin"},
		Guard:   Guard{Never: "it makes something new of what was deleted"},
		Subject: deletedSubject,
		Success: "The {subject} was restored ({counts}).",
		Needs:   Step{"group.delete", Given{"GroupName": "Printer Operators Berlin"}},
		Sample:  Given{"Guid": "e01076ad-3b79-506a-af5d-96b72c99f124"},
	},
}

func deletedGUID(example string) Param {
	return Param{Name: binGUID, Path: binGUID, Kind: schema.GUID, Required: true, Example: example,
		Doc: "The objectGUID, which it keeps."}
}

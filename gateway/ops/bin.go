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
		Path: "/api/RecycleBin/Status", Scope: identity.BinRead, Effect: Read,
		Script:  "Get-GatewayBinStatus",
		Reply:   Reply{schema.BinStatus, Single},
		Subject: "Recycle Bin",
		Success: "The state of the {subject} was read.",
	},
	{
		ID: "bin.list", Summary: "Lists deleted users, groups, computers, and OUs, latest first.",
		Path: "/api/RecycleBin", Scope: identity.BinRead, Effect: Read,
		Params: []Param{
			{Name: "Type", Kind: schema.OneOf("Not case-sensitive.", schema.DeletedTypes...), Example: "user", Doc: "Type of the objects to list. If absent, objects of all types are listed."},
			{Name: "Name", Kind: schema.Word, Example: "Anna Schmidt", Doc: "Former name of the objects to list, not case-sensitive."},
			{Name: "Account", Kind: schema.Word, Example: "aschmidt", Doc: "sAMAccountName of the objects to list, not case-sensitive."},
			{Name: "LastOUPath", Kind: schema.DN, Example: "OU=Empty,OU=Corp,DC=corp,DC=example", Doc: "Former parent of the objects to list."},
			{Name: "DeletedSince", Kind: schema.Moment, Doc: "Approximate time since which the objects were deleted."},
			{Name: "Limit", Kind: schema.Number(1, 500), Default: "500", Doc: "Maximum number of objects to list; the latest are listed."},
		},
		Script:  "Get-GatewayDeletedList",
		Reply:   Reply{schema.DeletedObject, List},
		Subject: "deleted objects",
		Needs:   Step{"group.delete", Given{"GroupName": "Local List"}},
	},
	{
		ID: "bin.get", Summary: "Shows a deleted object with its memberships and its former child objects.",
		Path: "/api/RecycleBin/{Guid}", Scope: identity.BinRead, Effect: Read,
		Params:  []Param{deletedGUID("f328877c-96b8-5fbf-8d14-1449a6756256")},
		Script:  "Get-GatewayDeletedObject",
		Reply:   Reply{schema.DeletedDetails, Single},
		Fails:   []schema.Code{schema.NotFound},
		Subject: deletedSubject,
		Needs:   Step{"group.delete", Given{"GroupName": "Berlin Announcements"}},
	},
	{
		ID: binRow, Summary: "Restores a deleted object from the Recycle Bin.",
		Method: http.MethodPut, Path: "/api/RecycleBin/{Guid}/Restore",
		Scope: identity.BinRestore, Effect: Update,
		Params: []Param{
			deletedGUID("e01076ad-3b79-506a-af5d-96b72c99f124"),
			{Name: "OUPath", Kind: schema.DN, Audited: true, Example: "OU=Empty,OU=Corp,DC=corp,DC=example", Doc: "OU or container to restore the object to. If absent, it is restored to its former location."},
			{Name: "NewName", Kind: schema.OUName, Audited: true, Example: "Restored", Doc: "New name of the object, without escape characters. The account name does not change. If absent, the object keeps its former name."},
			{Name: binRecursive, Kind: schema.Bool, Default: "false", Audited: true, Doc: "Whether to restore the child objects that were deleted with the object, too."},
			{Name: binDisabled, Kind: schema.Bool, Default: "true", Audited: true, Doc: "Whether to disable users and computers directly after they are restored. Until then, they have their former state."},
			{Name: "Protect", Kind: schema.Bool, Default: "false", Audited: true, Doc: "Whether to protect the restored object from accidental deletion."},
		},
		Script:  "Restore-GatewayObject",
		Fixed:   ps.Args{"UserField": schema.User.All().Read()},
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
		Doc: "objectGUID of the deleted object, which does not change."}
}

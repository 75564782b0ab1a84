package ops

import (
	"net/http"
	"strings"

	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	computerName    = "ADComputerName"
	computerSubject = "computer '{ADComputerName}'"
	wildCard        = "WildCard"
)

var computerRows = []*Operation{
	{
		ID: "computer.list", Summary: "Lists the computers below an OU, a container or the domain.",
		Method: http.MethodGet, Path: "/api/Computers",
		Scope: identity.ComputerRead, Effect: Read,
		Params: searched(filter.Computers,
			Param{Name: "OUPath", Kind: schema.DN, Doc: "Where to search; the whole domain when absent."},
			Param{Name: "Recursive", Kind: schema.Bool, Default: "true", Doc: "Search below the OU, too."},
		),
		Rules:   []Rule{afterLimit},
		Script:  "Get-GatewayComputerList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Computer, List},
		Fails:   []schema.Code{schema.TokenMismatch, schema.NotFound, schema.Unprocessable},
		Subject: "OU '{OUPath}'",
		Sample:  Given{"OUPath": "OU=Devices,OU=Corp,DC=corp,DC=example"},
	},
	{
		ID: "computer.get", Summary: "Shows a computer.",
		Method: http.MethodGet, Path: "/api/Computers/{ADComputersName}",
		Scope: identity.ComputerRead, Effect: Read,
		Params:  []Param{existingComputer("ADComputersName")},
		Script:  "Get-GatewayComputer",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Computer, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: computerSubject,
		Sample:  Given{"ADComputerName": "FS1"},
	},
	{
		ID: "computer.exists", Summary: "Reports whether a computer exists.",
		Method: http.MethodGet, Path: "/api/Computers/{ADComputersName}/Exists",
		Scope: identity.ComputerRead, Effect: Read,
		Params:  []Param{existingComputer("ADComputersName")},
		Script:  "Test-GatewayComputer",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Existence, Exists},
		Fails:   []schema.Code{schema.Ambiguous},
		Subject: computerSubject,
		Sample:  Given{"ADComputerName": "FS1$"},
	},
	{
		ID: "computer.listAll", Summary: "Lists all computers.",
		Method: http.MethodGet, Path: "/api/Computers/All",
		Scope: identity.ComputerRead, Effect: Read,
		Params:  searched(filter.Computers),
		Rules:   []Rule{afterLimit},
		Script:  "Get-GatewayComputerList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Computer, List},
		Fails:   []schema.Code{schema.TokenMismatch, schema.Unprocessable},
		Subject: "computers",
		Sample:  Given{},
	},
	{
		ID: "computer.register", Summary: "Registers a computer account, for a machine that joins later.",
		Method: http.MethodPost, Path: "/api/Computers/{ADComputerName}/Register",
		Scope: identity.ComputerWrite, Effect: Create,
		Params: []Param{
			{Name: computerName, Path: computerName, Arg: "Name", Kind: schema.ComputerName, Required: true, Doc: "The computer's NetBIOS name."},
			{Name: "ADComputerDescription", Arg: "Description", Kind: schema.Text("description")},
			{Name: "OUPath", Kind: schema.DN, Doc: "The OU or container that will hold it; the domain's Computers container when absent."},
		},
		Script:  "New-GatewayComputer",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Computer, Single},
		Settle:  settleComputer,
		Fails:   []schema.Code{schema.Conflict, schema.Unprocessable},
		Undo:    removed("computer.delete", computerName),
		Subject: computerSubject,
		Success: "The {subject} was registered.",
		Sample:  Given{"ADComputerName": "SAMPLE", "ADComputerDescription": "A sample"},
	},
	{
		ID: "computer.rename", Summary: "Renames the directory object of a computer.",
		Method: http.MethodPut, Path: "/api/Computers/{ADComputerName}/Rename/{NewADComputerName}",
		Scope: identity.ComputerWrite, Effect: Rename, Disrupts: true,
		Params: []Param{
			existingComputer(computerName),
			{Name: "NewADComputerName", Path: "NewADComputerName", Arg: "NewName", Kind: schema.ComputerName, Required: true, Doc: "The new NetBIOS name."},
		},
		Script:    "Rename-GatewayComputer",
		Lane:      ps.Directory,
		Reply:     Reply{schema.Computer, Single},
		Settle:    settleComputer,
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      renamed("computer.rename", computerName, "NewADComputerName", "name"),
		Subject:   computerSubject,
		Success:   "The {subject} was renamed to '{NewADComputerName}' in the directory. The machine itself is not renamed.",
		Unchanged: "The {subject} has the name '{NewADComputerName}' already; nothing was changed.",
		Sample:    Given{"ADComputerName": "WEB1", "NewADComputerName": "SAMPLE"},
	},
	{
		ID: "computer.update", Summary: "Changes the description of a computer.",
		Method: http.MethodPut, Path: "/api/Computers/{ADComputerName}/Update",
		Scope: identity.ComputerWrite, Effect: Update,
		Params: []Param{
			existingComputer(computerName),
			{Name: "ComputerDescription", Arg: "Description", Kind: schema.Text("description"), Example: "Files of the Berlin office", Doc: "The description."},
		},
		Script:    "Set-GatewayComputer",
		Lane:      ps.Directory,
		Reply:     Reply{schema.Computer, Single},
		Settle:    settleComputer,
		Fails:     []schema.Code{schema.NotFound},
		Undo:      restored("computer.update", func(d Done) Given { return Given{computerName: d.object().GUID} }),
		Subject:   computerSubject,
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"ADComputerName": "FS1", "ComputerDescription": "changed"},
	},
	{
		ID: "computer.protect", Summary: "Protects a computer from accidental deletion, or lifts the protection.",
		Method: http.MethodPut, Path: "/api/Computers/{ADComputerName}/Protection",
		Scope: identity.ComputerWrite, Effect: Update,
		Params:    []Param{existingComputer(computerName), protection},
		Script:    protectionScript,
		Fixed:     ps.Args{"Class": ps.Text("computer")},
		Lane:      ps.Directory,
		Reply:     Reply{schema.Computer, Single},
		Settle:    settleComputer,
		Fails:     []schema.Code{schema.NotFound},
		Undo:      protectedBack("computer.protect", computerName),
		Subject:   computerSubject,
		Success:   protectionSet,
		Unchanged: protectionSame,
		Sample:    Given{"ADComputerName": "FS1", protectionName: "true"},
	},
	{
		ID: "computer.primaryGroup", Summary: "Makes a group that a computer is a direct member of its primary group.",
		Method: http.MethodPut, Path: "/api/Computers/{ADComputerName}/PrimaryGroup",
		Scope: identity.MemberWrite, Effect: Update, Disrupts: true,
		Params:    []Param{existingComputer(computerName), primaryGroup},
		Script:    "Set-GatewayPrimaryGroup",
		Fixed:     ps.Args{"Class": ps.Text("computer")},
		Lane:      ps.Directory,
		Reply:     Reply{schema.Computer, Single},
		Settle:    settleComputer,
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Undo:      primaryBack("computer.primaryGroup", computerName),
		Subject:   computerSubject,
		Success:   "The {subject} has the primary group '{GroupName}' now.",
		Unchanged: "The {subject} has the primary group '{GroupName}' already; nothing was changed.",
		Needs:     Step{"membership.addMembers", Given{"GroupName": "VPN Users", "Members": "FS1$"}},
		Sample:    Given{"ADComputerName": "FS1", "GroupName": "VPN Users"},
	},
	{
		ID: "computer.delete", Summary: "Removes a computer with its connection points and print queues.",
		Method: http.MethodDelete, Path: "/api/Computers/{ADComputerName}/Remove",
		Scope: identity.ComputerDelete, Effect: Delete,
		Params:  []Param{existingComputer(computerName), forced, wholeTree(identity.ComputerDeleteTree)},
		Script:  "Remove-GatewayComputer",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Computer, Single},
		Settle:  settleRemoval,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.NotEmpty, schema.TooMany},
		Undo:    fromBin,
		Subject: computerSubject,
		Success: "The {subject} was removed{also}.",
		Sample:  Given{"ADComputerName": "WEB2"},
	},
	{
		ID: "computer.deleteMany", Summary: "Removes the computers whose names match a pattern.",
		Method: http.MethodDelete, Path: "/api/Computers/Remove",
		Scope: identity.ComputerBulkDelete, Effect: Delete,
		Params: []Param{
			{Name: "OUPath", Kind: schema.DN, Audited: true, Narrows: true, Doc: "The OU or container that holds them; the domain root when absent, where computers hardly are: set Recursive then."},
			{Name: wildCard, Kind: schema.Wildcard, Audited: true, Narrows: true, Doc: "Which names; needed unless OUPath is below the domain root."},
			{Name: "Recursive", Kind: schema.Bool, Default: "false", Audited: true, Doc: "Those below the OU, too."},
		},
		Rules:     []Rule{patternOrOU},
		Script:    "Remove-GatewayComputerList",
		Lane:      ps.Directory,
		Reply:     Reply{schema.Computer, List},
		Settle:    settleRemoval,
		Fails:     []schema.Code{schema.Partial, schema.NotFound, schema.TooMany},
		Undo:      fromBin,
		Guard:     Guard{Never: "it is about several computers"},
		Subject:   "computers",
		Success:   "{count:computers} removed.",
		Unchanged: "No computer was removed.",
		Sample:    Given{"WildCard": "WEB3", "Recursive": "true"},
	},
}

// existingComputer is the target of a row. The name of the placeholder differs
// between rows.
func existingComputer(placeholder string) Param {
	return Param{
		Name: computerName, Path: placeholder, Arg: "Identity", Kind: schema.Identity, Required: true, Example: "FS1",
		Doc: "The computer; its name may be written without $.",
	}
}

// patternOrOU prevents one request from removing every computer of the domain. The
// script checks that the OU is not the domain root.
var patternOrOU = Rule{
	Doc: "WildCard holds more than *, or OUPath is given",
	Apply: func(b *Bound) []schema.FieldError {
		if strings.Trim(b.Text(wildCard), "*") != "" || b.Has("OUPath") {
			return nil
		}
		return []schema.FieldError{{Field: wildCard, Code: schema.InvalidRequest, Message: "must say more than * where no OUPath below the domain root is given"}}
	},
}

package ops

import (
	"net/http"
	"strings"

	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

const (
	computerName    = "ADComputerName"
	computerSubject = "computer '{ADComputerName}'"
	wildCard        = "WildCard"
)

var computerRows = []*Operation{
	listing("Get-GatewayComputerList", schema.Computer, Operation{
		ID: "computer.list", Summary: "Lists the computers below an OU, a container, or the domain.",
		Path: "/api/Computers", Scope: identity.ComputerRead,
		Params:  searched(filter.Computers, searchedOU, belowOU),
		Subject: "OU '{OUPath}'",
		Sample:  Given{"OUPath": "OU=Devices,OU=Corp,DC=corp,DC=example"},
	}),
	{
		ID: "computer.get", Summary: "Shows a computer.",
		Path: "/api/Computers/{ADComputersName}", Scope: identity.ComputerRead, Effect: Read,
		Params: []Param{existingComputer("ADComputersName")},
		Script: "Get-GatewayComputer",
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	{
		ID: "computer.exists", Summary: "Reports whether a computer exists.",
		Path: "/api/Computers/{ADComputersName}/Exists", Scope: identity.ComputerRead, Effect: Read,
		Params: []Param{existingComputer("ADComputersName")},
		Script: "Test-GatewayComputer",
		Reply:  Reply{schema.Existence, Exists},
		Fails:  []schema.Code{schema.Ambiguous},
		Sample: Given{"ADComputerName": "FS1$"},
	},
	listing("Get-GatewayComputerList", schema.Computer, Operation{
		ID: "computer.listAll", Summary: "Lists all computers.",
		Path: "/api/Computers/All", Scope: identity.ComputerRead,
		Params:  searched(filter.Computers),
		Subject: "computers",
	}),
	{
		ID: "computer.register", Summary: "Creates an account for a computer that joins the domain later.",
		Path: "/api/Computers/{ADComputerName}/Register", Scope: identity.ComputerWrite, Effect: Create,
		Params: []Param{
			{Name: computerName, Path: computerName, Arg: "Name", Kind: schema.ComputerName, Required: true, Doc: "NetBIOS name of the computer."},
			{Name: "ADComputerDescription", Arg: "Description", Kind: schema.Text("description"), Doc: "Description."},
			{Name: "OUPath", Kind: schema.DN, Doc: "OU or container for the computer. If absent, the computer is created in the domain's container for computers."},
		},
		Script:  "New-GatewayComputer",
		Fails:   []schema.Code{schema.Conflict, schema.Unprocessable},
		Undo:    removed("computer.delete", computerName),
		Success: "The {subject} was registered.",
		Sample:  Given{"ADComputerName": "SAMPLE", "ADComputerDescription": "A sample"},
	},
	{
		ID: "computer.rename", Summary: "Renames a computer in the directory.",
		Path:  "/api/Computers/{ADComputerName}/Rename/{NewADComputerName}",
		Scope: identity.ComputerWrite, Effect: Rename, Disrupts: true,
		Params: []Param{
			existingComputer(computerName),
			{Name: "NewADComputerName", Path: "NewADComputerName", Arg: "NewName", Kind: schema.ComputerName, Required: true, Doc: "New NetBIOS name of the computer."},
		},
		Script:    "Rename-GatewayComputer",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      renamed("computer.rename", computerName, "NewADComputerName", "name"),
		Success:   "The {subject} was renamed to '{NewADComputerName}' in the directory. The machine itself is not renamed.",
		Unchanged: "The {subject} already has the name '{NewADComputerName}'; nothing was changed.",
		Sample:    Given{"ADComputerName": "WEB1", "NewADComputerName": "SAMPLE"},
	},
	{
		ID: "computer.update", Summary: "Changes the description of a computer.",
		Path: "/api/Computers/{ADComputerName}/Update", Scope: identity.ComputerWrite, Effect: Update,
		Params: []Param{
			existingComputer(computerName),
			{Name: "ComputerDescription", Arg: "Description", Kind: schema.Text("description"), Example: "Files of the Berlin office", Doc: "Description."},
		},
		Script:    "Set-GatewayComputer",
		Fails:     []schema.Code{schema.NotFound},
		Undo:      restored("computer.update", func(d Done) Given { return Given{computerName: d.object().GUID} }),
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"ADComputerName": "FS1", "ComputerDescription": "changed"},
	},
	protecting("computer", "/api/Computers/{ADComputerName}/Protection", identity.ComputerWrite,
		existingComputer(computerName)),
	settingPrimary("computer", "/api/Computers/{ADComputerName}/PrimaryGroup", "FS1$",
		existingComputer(computerName)),
	{
		ID: "computer.delete", Summary: "Removes a computer with its connection points and print queues.",
		Path: "/api/Computers/{ADComputerName}/Remove", Scope: identity.ComputerDelete, Effect: Delete,
		Params:  []Param{existingComputer(computerName), forced, wholeTree(identity.ComputerDeleteTree)},
		Script:  "Remove-GatewayComputer",
		Settle:  settleRemoval,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.NotEmpty, schema.TooMany},
		Undo:    fromBin,
		Success: "The {subject} was removed{also}.",
		Sample:  Given{"ADComputerName": "WEB2"},
	},
	{
		ID: "computer.deleteMany", Summary: "Removes the computers whose names match a pattern.",
		Path: "/api/Computers/Remove", Scope: identity.ComputerBulkDelete, Effect: Delete,
		Params: []Param{
			{Name: "OUPath", Kind: schema.DN, Audited: true, Narrows: true, Doc: "OU or container of the computers. If absent, the domain root is used, which rarely contains computers directly, so set Recursive, too."},
			{Name: wildCard, Kind: schema.Wildcard, Audited: true, Narrows: true, Doc: "Pattern for the names of the computers. Required unless OUPath is below the domain root."},
			{Name: "Recursive", Kind: schema.Bool, Default: "false", Audited: true, Doc: "Whether to remove computers below the OU, too."},
		},
		Rules:     []Rule{patternOrOU},
		Script:    "Remove-GatewayComputerList",
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

// existingComputer is the target of a row. The name of the placeholder differs between rows.
func existingComputer(placeholder string) Param {
	return Param{
		Name: computerName, Path: placeholder, Arg: "Identity", Kind: schema.Identity, Required: true,
		Example: "FS1",
		Doc:     "Computer that the operation applies to. The trailing $ of its name can be omitted.",
	}
}

// patternOrOU keeps one request from removing every computer of the domain. The script checks that
// the OU is not the domain root.
var patternOrOU = Rule{
	Doc: "WildCard must contain more than *, unless OUPath is below the domain root",
	Apply: func(b *Bound) []schema.FieldError {
		if strings.Trim(b.Text(wildCard), "*") != "" || b.Has("OUPath") {
			return nil
		}
		return []schema.FieldError{{Field: wildCard, Code: schema.InvalidRequest,
			Message: "must say more than * where no OUPath below the domain root is given"}}
	},
}

// ReasonName is the name of the parameter with the caller's reason for a change or for seeing a secret.
const ReasonName = "Reason"

var reason = Param{
	Name: ReasonName, Kind: schema.Reason, Required: true, Unsent: true, Doc: "Reason for the request, for " +
		"the audit log.",
}

const (
	keyIDParam   = "KeyId"
	expiresParam = "ExpiresAt"
	localAdmin   = "local administrator of the computer '{ADComputerName}'"
)

// managedComputer is [existingComputer] with an example that LAPS and BitLocker manage.
func managedComputer(placeholder string) Param {
	p := existingComputer(placeholder)
	p.Example = "PC01"
	return p
}

// localAdminRows are the rows for the local administrator password of a computer, as kept by LAPS.
var localAdminRows = []*Operation{
	{
		ID: "computer.localAdmin", Summary: "Shows whether LAPS manages the password of a computer's local administrator, and when the password expires.",
		Path: "/api/Computers/{ADComputersName}/LocalAdmin", Scope: identity.ComputerRead, Effect: Read,
		Params:  []Param{managedComputer("ADComputersName")},
		Script:  "Get-GatewayLocalAdmin",
		Reply:   Reply{schema.LocalAdmin, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: localAdmin,
	},
	{
		ID: "computer.revealLocalAdmin", Summary: "Shows the LAPS password of a computer's local administrator.",
		Method: http.MethodPost, Path: "/api/Computers/{ADComputerName}/LocalAdmin/Reveal",
		Scope: identity.LapsReveal, Effect: Read, Reveals: true,
		Params: []Param{
			managedComputer(computerName), reason,
			{Name: "History", Kind: schema.Bool, Default: "false", Audited: true, Doc: "Whether to return earlier passwords, too, if they are available."},
		},
		Script:  "Get-GatewayLocalAdminPassword",
		Reply:   Reply{schema.LocalAdminSecret, Single},
		Fails:   []schema.Code{schema.DirectoryDenied, schema.NotFound, schema.Unprocessable},
		Subject: localAdmin,
		Success: "Here is the password of the {subject}. The audit log records who asked for it, and why.",
	},
	{
		ID: "computer.expireLocalAdmin", Summary: "Expires the LAPS password of a computer's local administrator, so the computer sets a new one.",
		Method: http.MethodPost, Path: "/api/Computers/{ADComputerName}/LocalAdmin/Expire",
		Scope: identity.LapsExpire, Effect: Update,
		Params: []Param{
			managedComputer(computerName),
			{Name: expiresParam, Kind: schema.ExpiresAt, Doc: "Time when the password expires. If absent, it expires immediately."},
		},
		Script:  "Set-GatewayLocalAdminExpiry",
		Reply:   Reply{schema.LocalAdmin, Single},
		Settle:  Settle{Script: "Confirm-GatewayLocalAdmin"},
		Fails:   []schema.Code{schema.NotFound, schema.Unprocessable},
		Undo:    expiryBack,
		Guard:   Guard{Never: "the computer itself writes the attribute"},
		Subject: localAdmin,
		Success: "The expiry of the password of the {subject} was changed. After it expires, the computer " +
			"sets a new password within about an hour of being online.",
		Unchanged: "The password of the {subject} already has this expiry; nothing was changed.",
	},
}

// expiryBack is the undo of an expiry, which calls the same row. A password that the computer has set
// meanwhile stays.
var expiryBack = called("computer.expireLocalAdmin", func(d Done) Given {
	given := Given{computerName: d.object().GUID}
	for _, c := range d.object().Changes {
		given[expiresParam] = c.Before
	}
	return given
})

// recoveryRows are the rows for the BitLocker recovery keys of computers.
var recoveryRows = []*Operation{
	{
		ID: "computer.recoveryKey", Summary: "Lists the BitLocker recovery keys of a computer, without the recovery passwords.",
		Path: "/api/Computers/{ADComputersName}/RecoveryKeys", Scope: identity.RecoveryList, Effect: Read,
		Params: []Param{managedComputer("ADComputersName")},
		Script: "Get-GatewayRecoveryKeyList",
		Reply:  Reply{schema.RecoveryKey, List},
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	{
		ID: "computer.findRecoveryKey", Summary: "Finds BitLocker recovery keys by the key ID on the recovery screen, without the recovery passwords.",
		Path: "/api/RecoveryKeys", Scope: identity.RecoveryList, Effect: Read,
		Params: []Param{
			{Name: keyIDParam, Kind: schema.RecoveryKeyID, Required: true, Doc: "ID of the recovery key, or its first eight digits as shown on the recovery screen."},
		},
		Script:  "Get-GatewayRecoveryKeyList",
		Reply:   Reply{schema.RecoveryKey, List},
		Subject: "key id '{KeyId}'",
	},
	{
		ID: "computer.revealRecoveryKey", Summary: "Shows a BitLocker recovery password of a computer.",
		Method: http.MethodPost, Path: "/api/Computers/{ADComputerName}/RecoveryKeys/{KeyId}/Reveal",
		Scope: identity.RecoveryReveal, Effect: Read, Reveals: true,
		Params: []Param{
			managedComputer(computerName),
			{Name: keyIDParam, Path: keyIDParam, Kind: schema.RecoveryKeyID, Required: true, Example: "7f6b1d5c-3a1e-4c0b-9e57-1c2d3e4f5a6b", Doc: "ID of the recovery key, or its first eight digits."},
			reason,
		},
		Script:  "Get-GatewayRecoveryKey",
		Reply:   Reply{schema.RecoveryKeySecret, Single},
		Fails:   []schema.Code{schema.DirectoryDenied, schema.NotFound, schema.Ambiguous},
		Subject: "BitLocker key '{KeyId}' of the computer '{ADComputerName}'",
		Success: "Here is the {subject}. The audit log records who asked for it, and why.",
		Sample:  Given{"ADComputerName": "PC01", keyIDParam: "7f6b1d5c-3a1e-4c0b-9e57-1c2d3e4f5a6b", ReasonName: "INC-4712: asks for the key after an update"},
	},
}

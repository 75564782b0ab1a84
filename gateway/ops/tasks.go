package ops

import (
	"net/http"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// taskRows are everyday help desk tasks that no other file declares.
var taskRows = []*Operation{
	{
		ID: "search.find", Summary: "Searches users, groups, and computers for a text, best matches first.",
		Path:  "/api/Search",
		Scope: identity.UserRead, Or: []identity.Scope{identity.GroupRead, identity.ComputerRead}, Effect: Read,
		Params: []Param{
			{Name: TextName, Kind: schema.AnyText, Required: true, Audited: true, Doc: "Text to search for."},
			{Name: TypeName, Kind: schema.WordList("One or more of user, group, computer, separated by commas.", schema.HitTypes...), Unsent: true, Audited: true, Doc: "Types of objects to find. If absent, all types that the credential can read are searched."},
			searchedOU,
			{Name: LimitName, Kind: schema.Number(1, 50), Default: "20", Doc: "Maximum number of objects to return."},
			{Name: "Anywhere", Kind: schema.Bool, Default: "false", Doc: "Whether to find the text within words and phone numbers even if something begins with it. The directory then reads every object."},
		},
		Script:  "Search-GatewayDirectory",
		Reply:   Reply{schema.Hit, List},
		Fails:   []schema.Code{schema.NotFound, schema.Unprocessable},
		Subject: "text '{Text}'",
		Sample:  Given{"Text": "anna"},
	},
	{
		ID: "search.guard", Summary: "Shows whether users, groups, computers, and OUs are guarded, that is, whether changes require the scope privileged, and why.",
		Path:  "/api/Search/Guard",
		Scope: identity.UserRead, Or: []identity.Scope{identity.GroupRead, identity.ComputerRead, identity.OURead}, Effect: Read,
		Params:  []Param{{Name: "ObjectGuid", Kind: schema.GUIDs, Required: true, Example: "1a806dcf-5989-521c-8d8b-e67368a5eed0", Doc: "objectGUIDs of the objects. Objects that are not found are left out of the answer."}},
		Script:  "Get-GatewayGuardState",
		Reply:   Reply{schema.GuardState, List},
		Fails:   []schema.Code{schema.NotFound},
		Subject: "objects '{ObjectGuid}'",
	},
	{
		ID: "group.members", Summary: "Lists the members of a group.",
		Path: "/api/ADGroups/{GroupName}/Members", Scope: identity.MemberRead, Effect: Read,
		Params: append([]Param{
			existingGroup,
			{Name: "Recursive", Kind: schema.Bool, Default: "false", Doc: "Whether to include the members of nested groups, each only once."},
			{Name: TypeName, Arg: "MemberType", Kind: schema.WordList("One or more of user, group, computer, contact, serviceAccount, foreign, other, separated by commas.", schema.MemberTypes...), Doc: "Types of members to list. If absent, members of all types are listed."},
		}, paged...),
		Rules:  []Rule{afterLimit},
		Script: "Get-GatewayMemberList",
		Reply:  Reply{schema.GroupMember, List},
		Fails:  []schema.Code{schema.TokenMismatch, schema.NotFound, schema.Ambiguous, schema.Unprocessable},
		Sample: Given{"GroupName": "VPN Users", "Recursive": true},
	},
	{
		ID: "user.logonState", Summary: "Shows whether a user can log on, and the reasons.",
		Path: "/api/ADUser/{UserName}/LogonState", Scope: identity.UserRead, Effect: Read,
		Params: []Param{existingUser},
		Script: "Get-GatewayLogonState",
		Beside: lockedOutFrom,
		Reply:  Reply{schema.LogonState, Single},
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
		Sample: Given{"Username": "locked.out"},
	},
	{
		ID: "user.passwordPolicy", Summary: "Shows the password policy that applies to a user.",
		Path: "/api/ADUser/{UserName}/PasswordPolicy", Scope: identity.UserRead, Effect: Read,
		Params: []Param{existingUser},
		Script: "Get-GatewayPasswordPolicy",
		Reply:  Reply{schema.PasswordPolicy, Single},
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	{
		ID: "membership.copy", Summary: "Adds a user to the groups of another user.",
		Method: http.MethodPost, Path: "/api/ADUser/{UserName}/CopyGroups",
		Scope: identity.MemberWrite, Effect: Update, Disrupts: true,
		Params: []Param{
			existingUser,
			{Name: "From", Kind: schema.Reference, Required: true, Example: "lweber", Scope: identity.MemberRead, Doc: "User whose group memberships are copied. The scope member:read is required because the answer names the groups."},
			{Name: "Remove", Kind: schema.Bool, Default: "false", Audited: true, Doc: "Whether to also remove the user from groups that the other user does not belong to."},
			{Name: "IncludePrivileged", Kind: schema.Bool, Default: "false", Audited: true, Scope: identity.Privileged, Doc: "Whether to copy memberships in guarded groups, which are otherwise skipped."},
		},
		Script:    "Copy-GatewayMembership",
		Reply:     Reply{schema.CopiedGroup, List},
		Settle:    Settle{Script: "Confirm-GatewayCopy"},
		Fails:     []schema.Code{schema.Partial, schema.NotFound, schema.Unprocessable},
		Undo:      Undo{Rows: []string{"membership.remove", "membership.add"}, Calls: undoCopy},
		Guard:     Guard{Never: "it is about several memberships"},
		Subject:   userSubject,
		Success:   "The groups of the user '{From}' were copied to the {subject}.",
		Partly:    "Some of the groups of the user '{From}' were copied to the {subject}.",
		Unchanged: "The {subject} is in all groups of the user '{From}' that can be copied; nothing was changed.",
		Sample:    Given{"Username": "tom.gone", "From": "aschmidt"},
	},
	{
		ID: "group.update", Summary: "Changes the descriptive texts, manager, scope, or location of a group.",
		Path: "/api/ADGroups/{GroupName}", Scope: identity.GroupWrite, Effect: Update,
		Params: []Param{
			existingGroup,
			{Name: "GroupDescription", Arg: "Description", Kind: schema.Text("description"), Example: "May dial in", Doc: "Description."},
			{Name: "GroupEmail", Arg: "Email", Kind: schema.Text("mail"), Doc: "Email address."},
			{Name: "NewDisplayName", Arg: "DisplayName", Kind: schema.Text("displayName"), Doc: "Display name, which records do not show."},
			{Name: "ManagedBy", Kind: schema.Reference, Doc: "User or group that manages the group. This grants no permissions."},
			{Name: "GroupScope", Kind: schema.GroupScope, Doc: "Scope of the group. To change between global and domain local, change to universal first."},
			{Name: "OUPath", Kind: schema.DN, Moves: true, Doc: "OU or container to which the group is moved."},
		},
		Script:    "Set-GatewayGroup",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      updatedGroup,
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"GroupName": "VPN Users", "GroupDescription": "changed"},
	},
	{
		ID: "computer.enable", Summary: "Enables a computer account.",
		Path: "/api/Computers/{ADComputerName}/Enable", Scope: identity.ComputerWrite, Effect: Update,
		Params:    []Param{existingComputer(computerName)},
		Script:    "Set-GatewayComputerState",
		Fixed:     ps.Args{"State": ps.Text("Enabled")},
		Fails:     []schema.Code{schema.NotFound, schema.Protected},
		Undo:      called("computer.disable", func(d Done) Given { return Given{computerName: d.object().GUID} }),
		Success:   "The {subject} was enabled.",
		Unchanged: "The {subject} is enabled already; nothing was changed.",
		Sample:    Given{"ADComputerName": "OLD-PC1"},
	},
	{
		ID: "computer.disable", Summary: "Disables a computer account.",
		Path:  "/api/Computers/{ADComputerName}/Disable",
		Scope: identity.ComputerWrite, Effect: Update, Disrupts: true,
		Params:    []Param{existingComputer(computerName)},
		Script:    "Set-GatewayComputerState",
		Fixed:     ps.Args{"State": ps.Text("Disabled")},
		Fails:     []schema.Code{schema.NotFound, schema.Protected},
		Undo:      called("computer.enable", func(d Done) Given { return Given{computerName: d.object().GUID} }),
		Success:   "The {subject} was disabled.",
		Unchanged: "The {subject} is disabled already; nothing was changed.",
		Sample:    Given{"ADComputerName": "WEB1"},
	},
	{
		ID: "computer.move", Summary: "Moves a computer to another OU, whose policies then apply to it.",
		Path:  "/api/Computers/{ADComputerName}/Move",
		Scope: identity.ComputerWrite, Effect: Move, Disrupts: true,
		Params: []Param{
			existingComputer(computerName),
			{Name: "OUPath", Kind: schema.DN, Required: true, Example: "OU=Servers,OU=Devices,OU=Corp,DC=corp,DC=example", Doc: "OU or container to which the computer is moved."},
		},
		Script:    "Move-GatewayComputer",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      movedComputer,
		Success:   "The {subject} was moved to '{OUPath}'.",
		Unchanged: "The {subject} is there already; nothing was changed.",
		Sample: Given{
			"ADComputerName": "WEB1", "OUPath": "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example",
		},
	},
	{
		ID: "user.expiry", Summary: "Sets the expiration date of a user's account.",
		Path: "/api/ADUser/{UserName}/Expiry", Scope: identity.UserWrite, Effect: Update, Disrupts: true,
		Params: []Param{
			existingUser,
			{Name: accountExpires, Kind: schema.Expiry, Required: true, Clears: true, Doc: "Time when the account expires."},
			userFields,
		},
		Rules:     []Rule{sayExpiry},
		Script:    "Set-GatewayUserExpiry",
		Fails:     []schema.Code{schema.NotFound},
		Undo:      restored("user.expiry", func(d Done) Given { return Given{usernameName: d.object().GUID} }),
		Success:   "The {subject} {expiry}.",
		Unchanged: "The {subject} already has this expiry; nothing was changed.",
		Sample:    Given{"Username": "aschmidt", "AccountExpires": "2035-06-30"},
	},
	{
		ID: "caller.show", Summary: "Shows the scopes and limits of the credential of the request.",
		Path:   "/api/WhoAmI",
		Effect: Read, Local: true, Here: true,
		Reply:   Reply{schema.Caller, Single},
		Subject: "credential",
	},
}

const (
	accountExpires = "AccountExpires"
	expiryWord     = "expiry"
)

// sayExpiry completes the sentence about a new expiry.
var sayExpiry = Rule{
	Doc: "A time in the past is allowed; the account then expires immediately",
	Apply: func(b *Bound) []schema.FieldError {
		text := b.Text(accountExpires)
		switch at, err := time.Parse(time.RFC3339, text); {
		case err != nil:
			b.texts[expiryWord] = "never expires"
		case at.Before(time.Now()):
			b.texts[expiryWord] = "has expired at " + text + ", which takes effect now"
		default:
			b.texts[expiryWord] = "expires at " + text
		}
		return nil
	},
}

// groupInputsFor returns the inputs of group.update that restore the previous value of an announced
// change. Records do not show the display name.
func groupInputsFor(op *Operation, c ps.IntendedChange) Given {
	if c.Name == "displayName" {
		return Given{"NewDisplayName": c.Before}
	}
	return inputsFor(op, c)
}

// undoCopy undoes each membership of a copy. The second announced object is the member.
func undoCopy(d Done) []Undoing {
	var calls []Undoing
	for i := range d.Intent.Objects {
		group := d.Intent.Objects[i]
		for _, c := range group.Changes {
			row := "membership.remove"
			if c.Before == "True" {
				row = "membership.add"
			}
			member := MemberOf(d.Intent)
			calls = append(calls, Undoing{Row: row,
				Given:  Given{usernameName: member.GUID, existingGroup.Name: group.GUID},
				Undone: []ps.Intended{group, member}})
		}
	}
	return calls
}

// Common parts of the rows that remove directory objects or protect them from removal.

// forced is the parameter of a removal that lifts protections first.
var forced = Param{
	Name: "Force", Kind: schema.Bool, Default: "false", Audited: true,
	Doc: "Whether to remove the protection from accidental deletion first.",
}

// wholeTree is the parameter of a removal that includes the objects below.
func wholeTree(scope identity.Scope) Param {
	return Param{
		Name: "Recursive", Kind: schema.Bool, Default: "false", Audited: true, Scope: scope,
		Doc: "Whether to remove all objects below it, too.",
	}
}

// protectionName is the parameter that sets and lifts a protection.
const protectionName = "IsProtected"

var protection = Param{
	Name: protectionName, Kind: schema.Bool, Required: true, Audited: true, Example: "true",
	Doc: "Whether the object is protected from accidental deletion.",
}

// primaryGroup is the group that becomes an account's primary group.
var primaryGroup = Param{
	Name: "GroupName", Kind: schema.Identity, Required: true, Group: true, Example: "VPN Users",
	Doc: "Global or universal security group of which the account is a direct member.",
}

// protecting returns the row that protects accounts of a class, or removes the protection. more are further
// parameters.
func protecting(class, path string, scope identity.Scope, target Param, more ...Param) *Operation {
	id := class + ".protect"
	target.Arg = "Identity"
	return &Operation{
		ID: id, Summary: "Protects a " + class + " from accidental deletion, or removes the protection.",
		Path: path, Scope: scope, Effect: Update,
		Params:    append([]Param{target, protection}, more...),
		Script:    "Set-GatewayAccountProtection",
		Fixed:     ps.Args{"Class": ps.Text(class)},
		Fails:     []schema.Code{schema.NotFound},
		Undo:      protectedBack(id, target.Name),
		Success:   "The protection of the {subject} from accidental deletion was changed.",
		Unchanged: "The protection of the {subject} is as wanted already; nothing was changed.",
	}
}

// settingPrimary returns the row that sets the primary group of accounts of a class. sample names an account
// whose group can be set in the sandbox.
func settingPrimary(class, path, sample string, target Param, more ...Param) *Operation {
	id := class + ".primaryGroup"
	target.Arg = "Identity"
	return &Operation{
		ID: id, Summary: "Sets the primary group of a " + class + ".",
		Path: path, Scope: identity.MemberWrite, Effect: Update, Disrupts: true,
		Params:    append([]Param{target, primaryGroup}, more...),
		Script:    "Set-GatewayPrimaryGroup",
		Fixed:     ps.Args{"Class": ps.Text(class)},
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Undo:      primaryBack(id, target.Name),
		Success:   "The {subject} now has the primary group '{GroupName}'.",
		Unchanged: "The {subject} already has the primary group '{GroupName}'; nothing was changed.",
		Needs:     Step{"membership.addMembers", Given{"GroupName": "VPN Users", "Members": sample}},
		Sample:    Given{target.Name: strings.TrimSuffix(sample, "$"), "GroupName": "VPN Users"},
	}
}

// lockoutRows are the rows that find where accounts were locked out.
var lockoutRows = []*Operation{
	{
		ID: "user.lockout", Summary: "Shows when a user was locked out, and from which computers.",
		Path: "/api/ADUser/{UserName}/Lockouts", Scope: identity.UserLockouts, Effect: Read,
		Params: []Param{
			existingUser,
			{Name: "Hours", Kind: schema.Number(1, 168), Default: "24", Doc: "Period to search, in hours before now."},
		},
		Script:  "Get-GatewayLockoutList",
		Reply:   Reply{schema.Lockout, List},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Timeout: lockoutLimit,
		Sample:  Given{"Username": "locked.out"},
	},
}

// lockoutLimit is the time limit for searching a domain controller's log.
const lockoutLimit = 10 * time.Second

// lockedOutFrom adds the place of the lockout to the state of a locked-out account.
var lockedOutFrom = Beside{
	Row: "user.lockout", Member: "lockouts", Code: "lockouts_unknown",
	Unasked: "Where the account was locked out is not known",
	Given:   func(b *Bound) Given { return Given{usernameName: b.Text(usernameName), "Hours": "168"} },
}

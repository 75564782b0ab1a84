package ops

import (
	"net/http"
	"slices"

	"adgateway/gateway/attributes"
	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	userSubject     = "user '{Username}'"
	userGuidSubject = "user '{UserGuid}'"
	usernameName    = "Username"

	photoPath   = "/api/ADUser/{UserName}/Photo"
	photoScript = "Set-GatewayPhoto"
	photoParam  = "Photo"
)

var userRows = []*Operation{
	{
		ID: "user.get", Summary: "Shows a user.",
		Path: "/api/ADUser/{UserName}/Details", Scope: identity.UserRead, Effect: Read,
		Params: []Param{existingUser, userFields},
		Script: "Get-GatewayUser",
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	{
		ID: "user.exists", Summary: "Reports whether a user exists.",
		Path: "/api/ADUser/{UserName}/Exists", Scope: identity.UserRead, Effect: Read,
		Params: []Param{existingUser},
		Script: "Test-GatewayUser",
		Reply:  Reply{schema.Existence, Exists},
		Fails:  []schema.Code{schema.Ambiguous},
	},
	{
		ID: "user.lastLogon", Summary: "Shows when a user last logged on, according to all domain controllers.",
		Path: "/api/ADUser/{UserName}/LastLogon", Scope: identity.UserRead, Effect: Read,
		Params: []Param{existingUser},
		Script: "Get-GatewayUserLastLogon",
		Reply:  Reply{schema.LastLogon, Moment},
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	listing("Get-GatewayUserList", schema.User, Operation{
		ID: "user.list", Summary: "Lists the users below an OU, a container, or the domain.",
		Path: "/api/ADUser/ListUsers", Scope: identity.UserRead,
		Params:  searched(filter.Users, searchedOU, userFields, belowOU),
		Subject: "OU '{OUPath}'",
		Sample:  Given{"OUPath": "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"},
	}),
	listing("Get-GatewayUserList", schema.User, Operation{
		ID: "user.listAll", Summary: "Lists all users.",
		Path: "/api/ADUser/ListUsers/All", Scope: identity.UserRead,
		Params:  searched(filter.Users, userFields),
		Subject: "users",
	}),
	{
		ID: "user.create", Summary: "Creates a user.",
		Path: "/api/ADUser/{UserName}", Scope: identity.UserWrite, Effect: Create,
		Params: slices.Concat(
			[]Param{{Name: usernameName, Path: "UserName", Arg: "UserName", Kind: schema.UserName, Required: true, Doc: "sAMAccountName of the new user. It also becomes the common name (CN), unless Name is given."}},
			newUserInputs, []Param{userFields}),
		Rules:   []Rule{homeFolder, unmistakable(usernameName, "UserNamePlain")},
		Script:  "New-GatewayUser",
		Fixed:   kept,
		Settle:  settleUser.cleanedUp(),
		Fails:   []schema.Code{schema.Conflict, schema.Policy, schema.Unprocessable},
		Undo:    removed("user.deleteByGuid", "UserGuid"),
		Success: "The {subject} was created.",
		Sample:  Given{"Username": "sample", "Password": "Corr3ct-Horse", "FirstName": "Sam"},
	},
	{
		ID: "user.update", Summary: "Changes a user.",
		Path: "/api/ADUser/{UserName}", Scope: identity.UserWrite, Effect: Update,
		Params:    slices.Concat([]Param{existingUser}, userInputs, []Param{userFields}),
		Rules:     []Rule{homeFolder},
		Script:    "Set-GatewayUser",
		Fails:     updateFails,
		Undo:      undoOfUser,
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"Username": "aschmidt", "Description": "changed"},
	},
	{
		ID: "user.disable", Summary: "Disables a user.",
		Path: "/api/ADUser/{UserName}/Disable", Scope: identity.UserWrite, Effect: Update, Disrupts: true,
		Params:    []Param{existingUser, userFields},
		Script:    "Set-GatewayUserState",
		Fixed:     ps.Args{"State": ps.Text("Disabled")},
		Fails:     []schema.Code{schema.NotFound},
		Undo:      called("user.enable", func(d Done) Given { return Given{usernameName: d.object().GUID} }),
		Success:   "The {subject} was disabled.",
		Unchanged: "The {subject} is disabled already; nothing was changed.",
	},
	{
		ID: "user.enable", Summary: "Enables a user.",
		Path: "/api/ADUser/{UserName}/Enable", Scope: identity.UserWrite, Effect: Update,
		Params:    []Param{existingUser, userFields},
		Script:    "Set-GatewayUserState",
		Fixed:     ps.Args{"State": ps.Text("Enabled")},
		Fails:     []schema.Code{schema.NotFound, schema.Protected, schema.Policy},
		Undo:      called("user.disable", func(d Done) Given { return Given{usernameName: d.object().GUID} }),
		Success:   "The {subject} was enabled.",
		Unchanged: "The {subject} is enabled already; nothing was changed.",
		Sample:    Given{"Username": "karl.alt"},
	},
	{
		ID: "user.rename", Summary: "Renames a user.",
		Path:  "/api/ADUser/{UserName}/Rename/{NewUserName}",
		Scope: identity.UserWrite, Effect: Rename, Disrupts: true,
		Params: []Param{
			existingUser,
			{Name: "NewUsername", Path: "NewUserName", Arg: "NewUserName", Kind: schema.UserName, Required: true, Doc: "New sAMAccountName. The prefix of the UPN changes with it if it was the old sAMAccountName; otherwise, the UPN is kept and the answer contains a warning."},
			renamedTo("New full name, which becomes the common name (CN). If absent, the CN changes only if it was the old username."),
			userFields,
		},
		Rules:     []Rule{unmistakable("NewUsername", "NewUserNamePlain")},
		Script:    "Rename-GatewayUser",
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      renamed("user.rename", usernameName, "NewUsername", "sAMAccountName"),
		Success:   "The {subject} was renamed to '{NewUsername}'.",
		Unchanged: "The {subject} already has this name; nothing was changed.",
		Sample:    Given{"Username": "aschmidt", "NewUsername": "a.schmidt"},
	},
	{
		ID: "user.resetPassword", Summary: "Sets a user's password; generates one if none is given.",
		Path: "/api/ADUser/{UserName}/ResetPassword", Scope: identity.UserPassword, Effect: Update,
		Params: []Param{
			existingUser,
			generate,
			{Name: "newPassword", Arg: "Password", Kind: schema.Password, Generated: "password", Doc: "New password. If absent, the gateway generates a password (see Generate) and shows it once."},
			{Name: "ChangePassword", Kind: schema.Bool, Default: "false", Doc: "Whether the user must change the password at the next logon. Ignored, with a warning, if the password never expires."},
			userFields,
		},
		Script:  "Reset-GatewayUserPassword",
		Fails:   []schema.Code{schema.NotFound, schema.Policy, schema.Unprocessable},
		Undo:    Undo{Never: "a password that was replaced is not known"},
		Success: "The password of the {subject} was set.",
		Sample:  Given{"Username": "aschmidt", "newPassword": "Corr3ct-Horse"},
	},
	{
		ID: "user.unlock", Summary: "Unlocks a user.",
		Path: "/api/ADUser/{UserName}/Unlock", Scope: identity.UserWrite, Effect: Update,
		Params:    []Param{existingUser, userFields},
		Script:    "Set-GatewayUserState",
		Fixed:     ps.Args{"State": ps.Text("Unlocked")},
		Fails:     []schema.Code{schema.NotFound},
		Undo:      Undo{Never: "an account cannot be locked"},
		Success:   "The {subject} was unlocked.",
		Unchanged: "The {subject} is not locked out; nothing was changed.",
		Sample:    Given{"Username": "locked.out"},
	},
	protecting("user", "/api/ADUser/{UserName}/Protection", identity.UserWrite, existingUser, userFields),
	settingPrimary("user", "/api/ADUser/{UserName}/PrimaryGroup", "locked.out", existingUser, userFields),
	{
		ID: "user.photo", Summary: "Shows the photo of a user.",
		Path: photoPath, Scope: identity.UserRead, Effect: Read,
		Params: []Param{existingUser},
		Script: "Get-GatewayPhoto",
		Reply:  Reply{schema.UserPhoto, Single},
		Images: schema.PhotoTypes(schema.Photo),
		Fails:  []schema.Code{schema.NotFound, schema.Ambiguous},
	},
	{
		ID: "user.setPhoto", Summary: "Sets the photo of a user.",
		Path: photoPath, Scope: identity.UserWrite, Effect: Update,
		Params: []Param{
			existingUser,
			{Name: photoParam, Arg: "Attribute", Kind: schema.Photo, Required: true, Doc: "Image, which can also be sent as the request body. It is stored upright as a JPEG of at most 10 kB, without metadata."},
			userFields,
		},
		Script:    photoScript,
		Fails:     []schema.Code{schema.NotFound, schema.Unprocessable},
		Undo:      photoBack,
		Success:   "The {subject} has this photo now.",
		Unchanged: "The {subject} has this photo already; nothing was changed.",
	},
	{
		ID: "user.removePhoto", Summary: "Removes the photo of a user.",
		Method: http.MethodDelete, Path: photoPath,
		Scope: identity.UserWrite, Effect: Update,
		Params:    []Param{existingUser, userFields},
		Script:    photoScript,
		Fixed:     ps.Args{"Attribute": ps.List([]string{attributes.Photo.Line()})},
		Fails:     []schema.Code{schema.NotFound},
		Undo:      photoBack,
		Success:   "The photo of the {subject} was removed.",
		Unchanged: "The {subject} has no photo; nothing was changed.",
		Needs:     Step{"user.setPhoto", Given{"Username": "aschmidt", photoParam: schema.Photo.Doc().Example}},
	},
	{
		ID: "user.delete", Summary: "Removes a user.",
		Path: "/api/ADUser/{UserName}", Scope: identity.UserDelete, Effect: Delete,
		Params:  []Param{existingUser, forced, wholeTree(identity.UserDeleteTree), userFields},
		Script:  "Remove-GatewayUser",
		Fixed:   kept,
		Settle:  settleRemoval,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.NotEmpty, schema.TooMany},
		Undo:    fromBin,
		Success: "The {subject} was removed{also}.",
		Needs:   Step{"user.create", Given{"Username": "sample.gone"}},
		Sample:  Given{"Username": "sample.gone"},
	},
	{
		ID: "user.getByGuid", Summary: "Shows the user with a given GUID or SID.",
		Path: "/api/ADUserGuid", Scope: identity.UserRead, Effect: Read,
		Params:  []Param{userGuid, userFields},
		Script:  "Get-GatewayUser",
		Fixed:   ps.Args{"OnlyGuid": ps.Bool(true)},
		Fails:   []schema.Code{schema.NotFound},
		Subject: userGuidSubject,
	},
	{
		ID: "user.updateByGuid", Summary: "Changes the user with a given GUID or SID.",
		Path: "/api/ADUserGuid", Scope: identity.UserWrite, Effect: Update,
		Params:    slices.Concat([]Param{userGuid}, userInputs, []Param{userFields}),
		Rules:     []Rule{homeFolder},
		Script:    "Set-GatewayUser",
		Fails:     updateFails,
		Undo:      undoOfUser,
		Subject:   userGuidSubject,
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"UserGuid": "897be383-0d4f-5fd1-b27f-461bf3bb4b03", "Description": "changed"},
	},
	{
		ID: "user.deleteByGuid", Summary: "Removes the user with a given GUID or SID.",
		Path: "/api/ADUserGuid", Scope: identity.UserDelete, Effect: Delete,
		Params:  []Param{userGuid, forced, wholeTree(identity.UserDeleteTree), userFields},
		Script:  "Remove-GatewayUser",
		Fixed:   kept,
		Settle:  settleRemoval,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.NotEmpty, schema.TooMany},
		Undo:    fromBin,
		Subject: userGuidSubject,
		Success: "The {subject} was removed{also}.",
		Sample:  Given{"UserGuid": "ab2ab868-0adc-5480-9a2d-fceabe6b4a9d"},
	},
}

// updateFails are the failures of an update, including a move to another OU.
var updateFails = []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Policy,
	schema.Unprocessable}

var userGuid = Param{
	Name: "UserGuid", Arg: "UserName", Kind: schema.GUIDOrSID, Required: true,
	Doc: "objectGUID or objectSid of the user.",
}

var existingUser = Param{
	Name: usernameName, Path: "UserName", Arg: "UserName", Kind: schema.Identity, Required: true,
	Doc: "User that the operation applies to.",
}

var userFields = Param{
	Name: ShowFields, Arg: "Field", Kind: schema.FieldList(schema.User), Default: "*",
	Doc: "Fields to return.",
}

// userInputs are the inputs for creating and updating a user.
var userInputs = slices.Concat([]Param{
	{Name: "Password", Kind: schema.Password, Scope: identity.UserPassword, Doc: "Password of the account. A new account without a password is disabled."},
	{Name: commonName, Arg: "CommonName", Kind: schema.Kept(schema.CommonName), Doc: "Full name, which is also the common name (CN). Without it, a new user gets the username as its CN."},
	{Name: "UserPrincipalName", Kind: schema.Kept(schema.PrincipalName), Doc: "User principal name (UPN). Without it, a new user gets the username and the DNS name of the domain."},
	{Name: "FirstName", Kind: schema.Text("givenName"), Example: "Jane", Doc: "First name."},
	{Name: "Initials", Kind: schema.Text("initials"), Doc: "Initials."},
	{Name: "LastName", Kind: schema.Text("sn"), Example: "Doe", Doc: "Last name."},
	{Name: "DisplayName", Kind: schema.Text("displayName"), Example: "Jane Doe", Doc: "Display name."},
	{Name: "Description", Kind: schema.Text("description"), Example: "Joins in May", Doc: "Description."},
	{Name: "EmailAddress", Kind: schema.Text("mail"), Doc: "Email address."},
	{Name: "Department", Kind: schema.Text("department"), Doc: "Department."},
	{Name: "Office", Kind: schema.Text("physicalDeliveryOfficeName"), Doc: "Office."},
	{Name: "Company", Kind: schema.Text("company"), Doc: "Company."},
	{Name: "JobTitle", Kind: schema.Text("title"), Doc: "Job title."},
	{Name: "OUPath", Kind: schema.DN, Moves: true, Doc: "OU or container for the user. Without it, a new user is created in the domain's container for users."},
	{Name: "ChangePasswordNextLogon", Kind: schema.Bool, Doc: "Whether the user must change the password at the next logon. Ignored, with a warning, if the password never expires."},
	{Name: "PasswordNeverExpired", Kind: schema.Bool, Doc: "Whether the password never expires."},
	{Name: "Manager", Kind: schema.Reference, Doc: "Manager of the user."},
	{Name: "Street", Kind: schema.Text("streetAddress"), Doc: "Street address."},
	{Name: "POBox", Kind: schema.Text("postOfficeBox"), Doc: "P.O. box."},
	{Name: "City", Kind: schema.Text("l"), Doc: "City."},
	{Name: "State", Kind: schema.Text("st"), Doc: "State or province."},
	{Name: "ZipCode", Kind: schema.Text("postalCode"), Doc: "ZIP or postal code."},
	{Name: "Country", Kind: schema.Country, Doc: "Country or region."},
	{Name: "OfficePhone", Kind: schema.Text("telephoneNumber"), Doc: "Office phone number."},
	{Name: "HomePhone", Kind: schema.Text("homePhone"), Doc: "Home phone number."},
	{Name: "MobilePhone", Kind: schema.Text("mobile"), Doc: "Mobile phone number."},
	{Name: "ProfilePath", Kind: schema.Text("profilePath"), Doc: "Path of the user profile."},
	{Name: "ProfileLogonScript", Kind: schema.Text("scriptPath"), Doc: "Logon script."},
	{Name: homeDirectory, Kind: schema.Text("homeDirectory"), Example: `\\files\home\jdoe`, Doc: "Home folder."},
	{Name: "HomeFolderDrive", Kind: schema.Drive, Doc: "Drive letter for the home folder."},
	{Name: homePath, Kind: schema.Text("homeDirectory"), Doc: "Alternative name for HomeFolderDirectory."},
	{Name: "RdsProfilePath", Kind: schema.Text("userParameters"), Doc: "Path of the profile for Remote Desktop sessions."},
	{Name: "RdsHomeFolderPath", Kind: schema.Text("userParameters"), Doc: "Home folder for Remote Desktop sessions."},
	{Name: "RdsHomeFolderDrive", Kind: schema.Drive, Doc: "Drive letter for the home folder in Remote Desktop sessions."},
	{Name: "RdsConnectDrive", Kind: schema.Bool, Doc: "Whether the client's drives are connected in Remote Desktop sessions."},
	{Name: "RdsAllowLogon", Kind: schema.Bool, Doc: "Whether the user can sign in to Remote Desktop sessions."},
}, attributeInputs(attributes.Users))

// kept are the attributes that only records of removals and creations contain.
var kept = ps.Args{"Kept": ps.List(attributes.Kept())}

// attributeInputs returns the inputs for additional attributes. They feed a single argument of the
// script.
func attributeInputs(table []*attributes.Attribute) []Param {
	inputs := make([]Param, len(table))
	for i, a := range table {
		kind := schema.AttributeKind(a)
		inputs[i] = Param{Name: a.Input, Arg: "Attribute", Kind: kind, Doc: a.Doc, Example: a.Example}
		if a.Guarded {
			inputs[i].Scope = identity.Privileged
		}
	}
	return inputs
}

// newUserInputs are userInputs that document the effects of absent values in a new user.
var newUserInputs = func() []Param {
	inputs := slices.Clone(userInputs)
	for i := range inputs {
		inputs[i].Kind = schema.Strict(inputs[i].Kind)
		inputs[i].Implied = map[string]string{
			"ChangePasswordNextLogon": "true", "PasswordNeverExpired": "false", "RdsConnectDrive": "false", "RdsAllowLogon": "true",
		}[inputs[i].Name]
		if inputs[i].Kind.Secret() {
			inputs[i].Without = "It is disabled because it has no password: ResetPassword sets one, Enable enables it."
		}
	}
	return inputs
}()

const (
	homeDirectory = "HomeFolderDirectory"
	homePath      = "HomeFolderPath"
)

// renamedTo returns the parameter of a rename for a common name that differs from the new account
// name.
func renamedTo(about string) Param {
	return Param{Name: commonName, Arg: "CommonName", Kind: schema.CommonName, Audited: true, Doc: about}
}

// unmistakable passes the visible form of a user's name to the script if that form differs from the name. The
// script compares the form with the names of guarded accounts.
func unmistakable(name, arg string) Rule {
	return Rule{
		Doc: "The name must not differ from the name of a guarded account only in blanks, character width, or " +
			"invisible characters",
		Apply: func(b *Bound) []schema.FieldError {
			if plain := schema.Plain(b.Text(name)); plain != "" {
				b.Args[arg] = ps.Text(plain)
			}
			return nil
		},
	}
}

// homeFolder handles two parameters for the same attribute. Clients that send every input leave one of the
// two empty.
var homeFolder = Rule{
	Doc: "HomeFolderPath and HomeFolderDirectory are two names for one attribute; give one of them, or both " +
		"with the same value",
	Apply: func(b *Bound) []schema.FieldError {
		directory, path := b.Text(homeDirectory), b.Text(homePath)
		switch {
		case directory == path:
		case directory == "" && b.Has(homeDirectory):
			b.Args[homeDirectory] = ps.Text(path)
		case path == "" && b.Has(homePath):
			b.Args[homePath] = ps.Text(directory)
		case directory != "" && path != "":
			return []schema.FieldError{{Field: homePath, Code: schema.InvalidRequest,
				Message: "is another name of " + homeDirectory + " and must not differ from it"}}
		}
		return nil
	},
}

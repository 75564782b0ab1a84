package ops

import (
	"net/http"
	"slices"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	userSubject  = "user '{Username}'"
	usernameName = "Username"
	showFields   = "ShowFields"
)

var userRows = []*Operation{
	{
		ID: "user.get", Row: 20, Summary: "Shows a user.",
		Method: http.MethodGet, Path: "/api/ADUser/{UserName}/Details",
		Scope: auth.UserRead, Effect: Read,
		Params:  []Param{existingUser, userFields},
		Script:  "Get-GatewayUser",
		Lane:    ps.Directory,
		Reply:   Reply{schema.User, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Ambiguous},
		Subject: userSubject,
	},
	{
		ID: "user.exists", Row: 21, Summary: "Tells whether a user exists.",
		Method: http.MethodGet, Path: "/api/ADUser/{UserName}/Exists",
		Scope: auth.UserRead, Effect: Read,
		Params:  []Param{existingUser},
		Script:  "Test-GatewayUser",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Existence, Exists},
		Fails:   []schema.Code{schema.Ambiguous},
		Subject: userSubject,
	},
	{
		ID: "user.list", Row: 23, Summary: "Lists the users below an OU, a container or the domain.",
		Method: http.MethodGet, Path: "/api/ADUser/ListUsers",
		Scope: auth.UserRead, Effect: Read,
		Params: []Param{
			{Name: "OUPath", Kind: schema.DN, Doc: "Where to search; the whole domain when absent."},
			userFields,
			{Name: "Recursive", Kind: schema.Bool, Default: "true", Doc: "Search below the OU, too."},
		},
		Script:  "Get-GatewayUserList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.User, List},
		Fails:   []schema.Code{schema.NotFound},
		Subject: "OU '{OUPath}'",
	},
	{
		ID: "user.listAll", Row: 24, Summary: "Lists all users.",
		Method: http.MethodGet, Path: "/api/ADUser/ListUsers/All",
		Scope: auth.UserRead, Effect: Read,
		Params:  []Param{userFields},
		Script:  "Get-GatewayUserList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.User, List},
		Subject: "users",
	},
	{
		ID: "user.create", Row: 25, Summary: "Creates a user.",
		Method: http.MethodPost, Path: "/api/ADUser/{UserName}",
		Scope: auth.UserWrite, Effect: Create,
		Params: slices.Concat(
			[]Param{{Name: usernameName, Path: "UserName", Arg: "UserName", Kind: schema.UserName, Required: true, Doc: "The new user's sAMAccountName; it also becomes the CN."}},
			userInputs, []Param{userFields}),
		Rules:   []Rule{homeFolder, driveNeedsDirectory, firstLogon},
		Script:  "New-GatewayUser",
		Lane:    ps.Directory,
		Reply:   Reply{schema.User, Single},
		Fails:   []schema.Code{schema.Conflict, schema.Policy, schema.Unprocessable},
		Subject: userSubject,
		Says:    "The {subject} was created.",
	},
	{
		ID: "user.delete", Row: 32, Summary: "Removes a user.",
		Method: http.MethodDelete, Path: "/api/ADUser/{UserName}",
		Scope: auth.UserDelete, Effect: Delete,
		Params:  []Param{existingUser, userFields},
		Script:  "Remove-GatewayUser",
		Lane:    ps.Directory,
		Reply:   Reply{schema.User, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Protected, schema.NotEmpty},
		Subject: userSubject,
		Says:    "The {subject} was removed.",
	},
}

var existingUser = Param{
	Name: usernameName, Path: "UserName", Arg: "UserName", Kind: schema.Identity, Required: true,
	Doc: "The user: GUID, distinguished name or sAMAccountName.",
}

var userFields = Param{
	Name: showFields, Arg: "Field", Kind: schema.FieldList(schema.User), Default: "*",
	Doc: "The fields to answer with.",
}

// userInputs are the inputs of a user (API 4), for creating and updating.
var userInputs = []Param{
	{Name: "Password", Kind: schema.Password, Keep: true, Scope: auth.UserPassword, Doc: "The password. Without one the account is created disabled."},
	{Name: "FirstName", Kind: schema.Text("givenName")},
	{Name: "Initials", Kind: schema.Text("initials")},
	{Name: "LastName", Kind: schema.Text("sn")},
	{Name: "DisplayName", Kind: schema.Text("displayName")},
	{Name: "Description", Kind: schema.Text("description")},
	{Name: "EmailAddress", Kind: schema.Text("mail")},
	{Name: "Department", Kind: schema.Text("department")},
	{Name: "Office", Kind: schema.Text("physicalDeliveryOfficeName")},
	{Name: "Company", Kind: schema.Text("company")},
	{Name: "JobTitle", Kind: schema.Text("title")},
	{Name: "OUPath", Kind: schema.DN, Keep: true, Doc: "The OU or container that holds the user."},
	{Name: nextLogon, Kind: schema.Bool, Doc: "The password must be changed at the next logon."},
	{Name: neverExpired, Kind: schema.Bool, Doc: "The password never expires."},
	{Name: "Manager", Kind: schema.Reference, Doc: "The manager: username, distinguished name or GUID."},
	{Name: "Street", Kind: schema.Text("streetAddress")},
	{Name: "POBox", Kind: schema.Text("postOfficeBox")},
	{Name: "City", Kind: schema.Text("l")},
	{Name: "State", Kind: schema.Text("st")},
	{Name: "ZipCode", Kind: schema.Text("postalCode")},
	{Name: "Country", Kind: schema.Country},
	{Name: "OfficePhone", Kind: schema.Text("telephoneNumber")},
	{Name: "HomePhone", Kind: schema.Text("homePhone")},
	{Name: "MobilePhone", Kind: schema.Text("mobile")},
	{Name: "ProfilePath", Kind: schema.Text("profilePath")},
	{Name: "ProfileLogonScript", Kind: schema.Text("scriptPath")},
	{Name: homeDirectory, Kind: schema.UNCPath, Doc: "A folder on a share, connected as HomeFolderDrive."},
	{Name: homeDrive, Kind: schema.Drive, Doc: "The drive that HomeFolderDirectory is connected as."},
	{Name: homePath, Kind: schema.Text("homeDirectory"), Doc: "A home folder without a drive."},
}

const (
	nextLogon     = "ChangePasswordNextLogon"
	neverExpired  = "PasswordNeverExpired"
	homeDirectory = "HomeFolderDirectory"
	homeDrive     = "HomeFolderDrive"
	homePath      = "HomeFolderPath"
)

var homeFolder = Rule{
	Doc: "HomeFolderPath excludes HomeFolderDirectory and HomeFolderDrive",
	Apply: func(b *Bound) []schema.Problem {
		if b.Text(homePath) == "" || b.Text(homeDirectory) == "" && b.Text(homeDrive) == "" {
			return nil
		}
		return []schema.Problem{{Field: homePath, Code: schema.InvalidRequest, Message: "must not be given together with " + homeDirectory + " or " + homeDrive}}
	},
}

// driveNeedsDirectory is for creates; of an update the script asks what is stored.
var driveNeedsDirectory = Rule{
	Doc: "HomeFolderDrive needs HomeFolderDirectory",
	Apply: func(b *Bound) []schema.Problem {
		if b.Text(homeDrive) == "" || b.Text(homeDirectory) != "" {
			return nil
		}
		return []schema.Problem{{Field: homeDrive, Code: schema.InvalidRequest, Message: "needs " + homeDirectory}}
	},
}

// firstLogon sets what a create has by default: a password that must be changed
// at the first logon, except one that never expires.
var firstLogon = Rule{
	Doc: "ChangePasswordNextLogon is true unless PasswordNeverExpired is; not both",
	Apply: func(b *Bound) []schema.Problem {
		never := b.Text(neverExpired) == "true"
		if never && b.Text(nextLogon) == "true" {
			return []schema.Problem{{Field: nextLogon, Code: schema.InvalidRequest, Message: "must not be true together with " + neverExpired}}
		}
		b.Args[neverExpired] = ps.Bool(never)
		if !b.Has(nextLogon) {
			b.Args[nextLogon] = ps.Bool(!never)
		}
		return nil
	},
}

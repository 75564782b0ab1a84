package schema

// The records, with their fields in the order of answers.
var (
	User = &Shape{Name: "User", Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "username", Attribute: "sAMAccountName", Doc: "sAMAccountName"},
		{Name: "samUsername", Doc: "sAMAccountName", SetBy: "Rename"},
		{Name: "name", Doc: "CN", SetBy: "Rename"},
		{Name: "userPrincipalName", Null: true},
		{Name: "sid"},
		{Name: "distinguishedName"},
		{Name: "firstName", Attribute: "givenName", Null: true},
		{Name: "initials", Null: true},
		{Name: "lastName", Attribute: "sn", Null: true},
		{Name: "displayName", Null: true},
		{Name: "description", Null: true},
		{Name: "emailAddress", Attribute: "mail", Null: true},
		{Name: "department", Null: true},
		{Name: "office", Attribute: "physicalDeliveryOfficeName", Null: true},
		{Name: "company", Null: true},
		{Name: "ouPath", Attribute: "parent", Doc: "distinguished name of the parent"},
		{Name: "jobTitle", Attribute: "title", Null: true},
		{Name: "manager", Null: true, Doc: "distinguished name"},
		{Name: "streetAddress", Null: true, Input: "Street"},
		{Name: "streetPoBox", Attribute: "postOfficeBox", Null: true, Input: "POBox"},
		{Name: "city", Attribute: "l", Null: true},
		{Name: "state", Attribute: "st", Null: true},
		{Name: "postalCode", Null: true, Input: "ZipCode"},
		{Name: "country", Attribute: "c", Type: CountryField, Null: true},
		{Name: "officePhone", Attribute: "telephoneNumber", Null: true},
		{Name: "homePhone", Null: true},
		{Name: "mobilePhone", Attribute: "mobile", Null: true},
		{Name: "profilePath", Null: true},
		{Name: "profileLogonScript", Attribute: "scriptPath", Null: true},
		{Name: "homeFolderPath", Attribute: "homeDirectory", Null: true, Doc: "the same as homeFolderDirectory; in the classic dialect only without a drive", Classic: &Condition{"homeFolderDrive", false}},
		{Name: "homeFolderDrive", Attribute: "homeDrive", Null: true},
		{Name: "homeFolderDirectory", Null: true, Doc: "in the classic dialect only with a drive", Classic: &Condition{"homeFolderDrive", true}},
		{Name: rdsProfilePath, Null: true, Packed: userParameters},
		{Name: rdsHomeFolderPath, Null: true, Packed: userParameters},
		{Name: rdsHomeFolderDrive, Null: true, Packed: userParameters},
		{Name: rdsConnectDrive, Type: BoolField, Null: true, Packed: userParameters, Doc: "null when the stored settings cannot be read"},
		{Name: rdsAllowLogon, Type: BoolField, Null: true, Packed: userParameters, Doc: "null when the stored settings cannot be read"},
		{Name: "enabled", Type: BoolField, SetBy: "Enable or Disable"},
		{Name: "lockedOut", Type: BoolField, SetBy: "Unlock"},
		{Name: "changePasswordNextLogon", Type: BoolField},
		{Name: "passwordNeverExpired", Type: BoolField},
		{Name: "passwordLastSet", Type: TimeField, Null: true},
		{Name: "accountExpires", Type: TimeField, Null: true},
		{Name: "created", Type: TimeField, Null: true},
		{Name: "modified", Type: TimeField, Null: true},
	}}

	Group = &Shape{Name: "Group", Fields: groupFields}

	Membership = &Shape{Name: "Membership", Fields: append(groupFields[:len(groupFields):len(groupFields)],
		Field{Name: "memberName"},
		Field{Name: "memberType"},
		Field{Name: "memberDistinguishedName"},
		Field{Name: "direct", Type: BoolField},
		Field{Name: "primary", Type: BoolField},
	)}

	OU = &Shape{Name: "OU", Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "name"},
		{Name: "path", Attribute: "parent", Doc: "distinguished name", Input: "OUPath"},
		{Name: "protected", Type: BoolField, Input: "IsProtected"},
		{Name: "description", Null: true, Input: "OUDescription"},
		{Name: "created", Type: TimeField, Null: true},
		{Name: "modified", Type: TimeField, Null: true},
		{Name: "container", Type: BoolField, Doc: "a container, not an OU"},
	}}

	Computer = &Shape{Name: "Computer", Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "sid"},
		{Name: "computerName", Attribute: "name"},
		{Name: "samName", Attribute: "sAMAccountName"},
		{Name: "operatingSystem", Null: true},
		{Name: "operatingSystemVersion", Null: true},
		{Name: "description", Null: true, Input: "ComputerDescription"},
		{Name: "dnsName", Attribute: "dNSHostName", Null: true},
		{Name: "path", Attribute: "parent"},
		{Name: "distinguishedName"},
		{Name: "enabled", Type: BoolField},
		{Name: "lastLogon", Type: TimeField, Null: true},
		{Name: "created", Type: TimeField, Null: true},
		{Name: "modified", Type: TimeField, Null: true},
	}}

	ReverseZone = &Shape{Name: "ReverseZone", Fields: []Field{
		{Name: "distinguishedName", Doc: "empty for a zone in a file"},
		{Name: "zoneName"},
		{Name: "zoneType", Enum: []string{"Primary", "Secondary", "Stub", "Forwarder"}},
		{Name: "type", Doc: "DS for a zone in the directory, else File", Enum: []string{"DS", "File"}},
	}}

	Existence = &Shape{Name: "Existence", Fields: []Field{
		{Name: "exists", Type: BoolField},
		{Name: "guid", Type: GUIDField, Null: true},
		{Name: "distinguishedName", Null: true},
	}}

	LastLogon = &Shape{Name: "LastLogon", Fields: []Field{
		{Name: "username"},
		{Name: "lastLogon", Type: TimeField, Null: true},
		{Name: "source", Null: true},
		{Name: "complete", Type: BoolField},
		{Name: "unreached", Type: TextListField},
	}}
)

var groupFields = []Field{
	{Name: "guid", Type: GUIDField},
	{Name: "name"},
	{Name: "samName", Attribute: "sAMAccountName"},
	{Name: "sid"},
	{Name: "distinguishedName"},
	{Name: "scope", Input: "GroupScope", Enum: GroupScope.Doc().Enum},
	{Name: "type", Enum: []string{"Security", "Distribution"}},
	{Name: "description", Null: true, Input: "GroupDescription"},
	{Name: "email", Attribute: "mail", Null: true, Input: "GroupEmail"},
	{Name: "ouPath", Attribute: "parent"},
	{Name: "managedBy", Null: true},
	{Name: "created", Type: TimeField, Null: true},
	{Name: "modified", Type: TimeField, Null: true},
}

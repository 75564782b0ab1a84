package schema

import (
	"adgateway/gateway/attributes"
	"adgateway/gateway/schema/photo"
)

// The records, with their fields in answer order.
var (
	User = &Shape{Name: "User", Tag: &Tagging{
		Kind: "u2", Except: []string{"lockedOut", "changePasswordNextLogon", "passwordLastSet", "modified"},
		Beside: []string{"further"}, Further: true,
	}, Fields: append([]Field{
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
	}, attributeFields(attributes.Users)...)}

	UserPhoto = &Shape{Name: "UserPhoto", Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "username", Doc: "sAMAccountName"},
		{Name: "distinguishedName"},
		{Name: photoField, Null: true, Packed: thumbnailPhoto, Doc: "in base64; null if there is none"},
		{Name: photoType, Null: true, Packed: thumbnailPhoto, Enum: []string{photo.JPEG, photo.PNG}},
		{Name: photoWidth, Type: NumberField, Null: true, Packed: thumbnailPhoto, Doc: "in pixels"},
		{Name: photoHeight, Type: NumberField, Null: true, Packed: thumbnailPhoto, Doc: "in pixels"},
		{Name: photoBytes, Type: NumberField, Null: true, Packed: thumbnailPhoto, Doc: "size of the image"},
		{Name: photoSHA256, Null: true, Packed: thumbnailPhoto, Doc: "of the image, in hexadecimal digits"},
	}}

	Group = &Shape{Name: "Group", Tag: &Tagging{Kind: "g1", Except: []string{"modified"}}, Fields: groupFields}

	Membership = &Shape{Name: "Membership",
		Tag: &Tagging{Kind: "m1", Only: []string{"guid", "direct", "primary"}},
		Fields: append(groupFields[:len(groupFields):len(groupFields)],
			Field{Name: "memberName"},
			Field{Name: "memberType"},
			Field{Name: "memberDistinguishedName"},
			Field{Name: "direct", Type: BoolField},
			Field{Name: "primary", Type: BoolField},
		)}

	OU = &Shape{Name: "OU", Tag: &Tagging{Kind: "o1", Except: []string{"modified"}}, Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "name"},
		{Name: "path", Attribute: "parent", Doc: "distinguished name", Input: "OUPath"},
		{Name: "protected", Type: BoolField, Input: "IsProtected"},
		{Name: "description", Null: true, Input: "OUDescription"},
		{Name: "created", Type: TimeField, Null: true},
		{Name: "modified", Type: TimeField, Null: true},
		{Name: "container", Type: BoolField, Doc: "a container, not an OU"},
	}}

	Computer = &Shape{Name: "Computer",
		Tag: &Tagging{Kind: "c1", Except: []string{"lastLogon", "passwordLastSet", "modified"}}, Fields: []Field{
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
			{Name: "passwordLastSet", Type: TimeField, Null: true},
			{Name: "created", Type: TimeField, Null: true},
			{Name: "modified", Type: TimeField, Null: true},
		}}

	ReverseZone = &Shape{Name: "ReverseZone", Tag: &Tagging{Kind: "z1", Beside: []string{"serial"}, Alone: true},
		Fields: []Field{
			{Name: "distinguishedName", Doc: "empty for a zone in a file"},
			{Name: "zoneName"},
			{Name: "zoneType", Enum: ZoneTypes},
			{Name: "type", Doc: "DS for a zone in the directory, else File", Enum: []string{"DS", "File"}},
		}}

	DNSZone = &Shape{Name: "DnsZone", Tag: &Tagging{
		Kind: "y1", Except: []string{"directoryPartition"}, Beside: []string{"serial"}, Alone: true,
	}, Fields: []Field{
		{Name: "distinguishedName", Doc: "empty for a zone that is not in the directory"},
		{Name: "zoneName"},
		{Name: "zoneType", Enum: ZoneTypes, Words: &Words{From: "zoneType", Word: map[string]string{"Stub": "Stub Zone"}}},
		{
			Name: "type", Doc: "DS for a zone in the directory, else File; in the classic dialect ForwardDNSZone or ReverseDNSZone", Enum: []string{"DS", "File"},
			Words: &Words{From: "lookup", Word: map[string]string{"Forward": "ForwardDNSZone", "Reverse": "ReverseDNSZone"}},
		},
		{Name: "lookup", Enum: []string{"Forward", "Reverse"}},
		{Name: "replicationScope", Doc: "Domain, Forest, Legacy or Custom; File for a zone that is not in the directory"},
		{Name: "directoryPartition", Null: true, Input: "DirectoryPartition", Doc: "DNS name of the directory partition that has the zone"},
		{Name: "dynamicUpdate", Null: true, Doc: "None, Secure or NonsecureAndSecure"},
		{Name: "readOnly", Type: BoolField},
		{Name: "paused", Type: BoolField},
		{Name: "signed", Type: BoolField},
		{Name: "autoCreated", Type: BoolField, Doc: "one that the server makes for itself"},
		{Name: "zoneFile", Null: true},
		{Name: "masterServers", Type: TextListField},
	}}

	ZoneAging = &Shape{Name: "ZoneAging", Fields: []Field{
		{Name: "zoneName"},
		{Name: "enabled", Type: BoolField, Input: "Aging"},
		{Name: "refreshHours", Type: NumberField, Input: "RefreshHours"},
		{Name: "noRefreshHours", Type: NumberField, Input: "NoRefreshHours"},
		{Name: "scavengeServers", Type: TextListField, Doc: "that may scavenge the zone; none: any"},
		{Name: "availableAt", Type: TimeField, Null: true, Doc: "when the zone may be scavenged"},
		{Name: "serverScavengingHours", Type: NumberField, Null: true, Doc: "how often the server scavenges; 0: never; null: it does not say"},
	}}

	ZoneStatistics = &Shape{Name: "ZoneStatistics", Fields: []Field{
		{Name: "zoneName"},
		{Name: "since", Type: TimeField, Null: true},
		{Name: "queries", Type: ObjectListField, Doc: "by type of record", Of: []Field{
			{Name: "type"}, {Name: "received", Type: NumberField}, {Name: "answered", Type: NumberField},
		}},
		{Name: "updates", Type: ObjectField, Doc: "dynamic updates", Of: []Field{
			{Name: "received", Type: NumberField}, {Name: "rejected", Type: NumberField},
		}},
		{Name: "transfers", Type: ObjectField, Doc: "zone transfers to other servers", Of: []Field{
			{Name: "received", Type: NumberField, Doc: "requests"}, {Name: "succeeded", Type: NumberField}, {Name: "failed", Type: NumberField},
		}},
	}}

	ConditionalForwarder = &Shape{Name: "ConditionalForwarder", Tag: &Tagging{
		Kind: "f1", Except: []string{"directoryPartition"},
	}, Fields: []Field{
		{Name: "zoneName"},
		{Name: "masterServers", Type: TextListField, Input: "MasterServers"},
		{Name: "forwarderTimeout", Type: NumberField, Input: "ForwarderTimeout", Doc: "seconds"},
		{Name: "useRecursion", Type: BoolField, Input: "UseRecursion"},
		{Name: "replicationScope", Input: "ReplicationScope", Doc: "Server for one of this server only"},
		{Name: "directoryPartition", Null: true, Input: "DirectoryPartition", Doc: "DNS name of the directory partition that has it"},
	}}

	Delegation = &Shape{Name: "Delegation", Fields: []Field{
		{Name: "zoneName"},
		{Name: "childName", Doc: "relative to the zone"},
		{Name: "nameServer"},
		{Name: "ipAddresses", Type: TextListField, Doc: "that the zone has for the name server"},
	}}

	GroupMember = &Shape{Name: "Member", Fields: []Field{
		{Name: "type", Enum: MemberTypes},
		{Name: "guid", Type: GUIDField},
		{Name: "name", Doc: "CN; of one of another domain its SID"},
		{Name: "username", Null: true, Doc: "sAMAccountName"},
		{Name: "distinguishedName"},
		{Name: "ouPath", Doc: "distinguished name of the parent"},
		{Name: "enabled", Type: BoolField, Null: true, Doc: "null for what cannot log on"},
		{Name: "sid", Null: true},
		{Name: "domain", Null: true, Doc: "DNS name of its domain; null for a foreign principal"},
		{Name: "direct", Type: BoolField},
		{Name: "via", Null: true, Doc: "sAMAccountName of the direct member through which it belongs to the group; null for a direct one"},
		{Name: "primary", Type: BoolField, Doc: "by its primary group"},
	}}

	Hit = &Shape{Name: "Hit", Fields: []Field{
		{Name: "type", Enum: HitTypes},
		{Name: "guid", Type: GUIDField},
		{Name: "name", Doc: "CN"},
		{Name: "username", Doc: "sAMAccountName"},
		{Name: "displayName", Null: true},
		{Name: "emailAddress", Null: true},
		{Name: "description", Null: true},
		{Name: "ouPath", Doc: "distinguished name of the parent"},
		{Name: "enabled", Type: BoolField, Null: true, Doc: "null for groups"},
		{Name: "locked", Type: BoolField, Null: true, Doc: "locked out now; null for groups and computers"},
		{Name: "matched", Doc: "the field that matched best"},
	}}

	Caller = &Shape{Name: "Caller", Fields: []Field{
		{Name: "name"},
		{Name: "kind", Doc: "token, user or certificate"},
		{Name: "id", Null: true, Doc: "of the account; null: it has none"},
		{Name: "scopes", Type: TextListField},
		{Name: "limits", Type: ObjectField, Doc: "an empty list stands for no limit", Of: []Field{
			{Name: "ous", Type: TextListField}, {Name: "groups", Type: TextListField}, {Name: "zones", Type: TextListField}, {Name: "names", Type: TextListField},
		}},
		{Name: "expires", Type: TimeField, Null: true},
	}}

	Cluster = &Shape{Name: "Cluster", Fields: []Field{
		{Name: "name"},
		{Name: "gateway", Doc: "the one that answers"},
		{Name: "degraded", Type: BoolField, Doc: "changes are not possible through it, or not all"},
		{Name: "reason", Null: true, Doc: "why; null: all is well"},
		{Name: "keyVersion", Type: NumberField, Doc: "of the key that seals what is shared"},
		{Name: "format", Type: NumberField, Doc: "in which values are written: all gateways read it"},
		{Name: "role", Null: true, Enum: clusterRoles, Doc: "of the gateway that answers"},
		{Name: "term", Type: NumberField, Doc: "counts the leaders; 0: there was none"},
		{Name: "leader", Null: true, Doc: "the gateway that makes the changes; null: none is known"},
		{Name: "leaderless", Type: NumberField, Doc: "seconds since something was heard of a leader; 0: it is known"},
		{Name: "position", Type: ObjectField, Null: true, Doc: "the last entry of the log that the gateway has applied", Of: clusterPosition},
		{Name: "openAttempts", Type: NumberField, Doc: "changes of earlier leaders of which this leader does not know yet whether they were made"},
		{Name: "gateways", Type: ObjectListField, Doc: "all of them, the one that answers included, as it knows them", Of: []Field{
			{Name: "name"}, {Name: "state", Enum: []string{"lives", "silent"}}, {Name: "role", Null: true, Enum: clusterRoles, Doc: "null: not known"},
			{Name: "position", Type: ObjectField, Null: true, Doc: "as it last told", Of: clusterPosition},
			{Name: "clockAhead", Type: NumberField, Doc: "seconds of its clock before the one of the gateway that answers"},
			{Name: "format", Type: NumberField, Doc: "the newest that it reads"},
			{Name: "keyVersion", Type: NumberField, Doc: "the newest that it has"},
			{Name: "lanes", Type: TextListField, Doc: "whose servers it can use"},
		}},
		{Name: "strangers", Type: TextListField, Doc: "gateways that send messages and do not belong to the cluster"},
		{Name: "fault", Null: true, Doc: "why the log cannot be used; null: it can"},
	}}

	MemberChange = &Shape{Name: "MemberChange", Fields: append(groupFields[:len(groupFields):len(groupFields)],
		Field{Name: "added", Type: ObjectListField, Of: changedMember, Doc: "members that were added"},
		Field{Name: "removed", Type: ObjectListField, Of: changedMember, Doc: "members that were removed"},
	)}

	CopiedGroup = &Shape{Name: "CopiedGroup", Fields: []Field{
		{Name: "group", Doc: "sAMAccountName"},
		{Name: "guid", Type: GUIDField},
		{Name: "action", Enum: []string{"added", "present", "removed", "skipped", "failed"}},
		{Name: "reason", Null: true, Doc: "why it was skipped, or failed"},
	}}

	LogonState = &Shape{Name: "LogonState", Fields: []Field{
		{Name: "username"},
		{Name: "canLogOn", Type: BoolField, Doc: "false if the account is disabled, expired, locked out or outside its hours"},
		{Name: "verdicts", Type: ObjectListField, Doc: "the most serious one first", Of: []Field{
			{Name: "code", Enum: []string{"ok", "disabled", "locked", "expired", "hours", "password_expired", "must_change", "smartcard_required", "workstations", "unknown"}},
			{Name: "since", Type: TimeField, Null: true}, {Name: "until", Type: TimeField, Null: true}, {Name: "text", Doc: "for people"},
		}},
		{Name: "badPwdCount", Type: NumberField, Doc: "as the domain controller that was asked counts"},
		{Name: "lastBadPassword", Type: TimeField, Null: true},
		{Name: "passwordExpires", Type: TimeField, Null: true, Doc: "null: never, or at once"},
		{Name: "accountExpires", Type: TimeField, Null: true},
		{Name: "lockoutEnds", Type: TimeField, Null: true, Doc: "null: not locked out, or until it is unlocked"},
		{Name: "policy", Doc: "name of the password policy"},
		{Name: "source", Enum: PolicySources},
		{Name: "lockouts", Type: ObjectListField, Null: true, Of: Lockout.Fields, Doc: "where an account that is locked out was locked; null if nobody could be asked, see the warnings"},
	}}

	Lockout = &Shape{Name: "Lockout", Fields: []Field{
		{Name: "time", Type: TimeField, Null: true},
		{Name: "kind", Enum: []string{"lockout", "badPassword"}, Doc: "lockout: an event of the log; badPassword: what a domain controller counts, where the log cannot be read"},
		{Name: "source", Null: true, Doc: "the computer from which the wrong passwords came; null if the controller does not know it"},
		{Name: "controller", Doc: "the domain controller that says so"},
		{Name: "count", Type: NumberField, Null: true, Doc: "wrong passwords that the controller counts; null for an event"},
	}}

	PasswordPolicy = &Shape{Name: "PasswordPolicy", Fields: []Field{
		{Name: "name"},
		{Name: "source", Enum: PolicySources, Doc: "unknown for one that the service account may not read"},
		{Name: "minLength", Type: NumberField, Null: true},
		{Name: "complexity", Type: BoolField, Null: true},
		{Name: "historyCount", Type: NumberField, Null: true},
		{Name: "minAge", Type: NumberField, Null: true, Doc: "days"},
		{Name: "maxAge", Type: NumberField, Null: true, Doc: "days; 0: passwords do not expire"},
		{Name: "lockoutThreshold", Type: NumberField, Null: true, Doc: "wrong passwords; 0: no lockout"},
		{Name: "lockoutWindow", Type: NumberField, Null: true, Doc: "minutes"},
		{Name: "lockoutDuration", Type: NumberField, Null: true, Doc: "minutes; 0: until it is unlocked"},
	}}

	Existence = &Shape{Name: "Existence", Fields: []Field{
		{Name: "exists", Type: BoolField},
		{Name: "guid", Type: GUIDField, Null: true},
		{Name: "distinguishedName", Null: true},
	}}

	GuardState = &Shape{Name: "GuardState", Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "distinguishedName"},
		{Name: "guarded", Type: BoolField, Doc: "only callers with the scope privileged may change it"},
		{Name: "why", Null: true, Doc: "null if it is not guarded"},
		{Name: "whyMoved", Null: true, Doc: "why only they may move, rename or remove it: also because of what lies below an OU"},
		{Name: "whyFilled", Null: true, Doc: "why only they may create something in an OU, or move something into it"},
	}}

	RecordGuard = &Shape{Name: "RecordGuard", Fields: []Field{
		{Name: "zoneName"},
		{Name: "name", Null: true, Doc: "null if no name was given"},
		{Name: "guarded", Type: BoolField, Doc: "only callers with the scope privileged may change the records"},
		{Name: "why", Null: true, Doc: "null if they are not guarded"},
		{Name: "guardedTargets", Type: TextListField, Doc: "the targets whose PTR records only they may change"},
		{Name: "whyAging", Doc: "why only they may set the aging of a zone"},
	}}

	LastLogon = &Shape{Name: "LastLogon", Fields: []Field{
		{Name: "username"},
		{Name: "lastLogon", Type: TimeField, Null: true},
		{Name: "source", Null: true},
		{Name: "complete", Type: BoolField},
		{Name: "unreached", Type: TextListField},
	}}
)

// HitTypes are the types of objects that a search finds. MemberTypes are the types of group
// members.
var (
	HitTypes        = []string{"user", "group", "computer"}
	MemberTypes     = []string{"user", "group", "computer", "contact", "serviceAccount", "foreign", "other"}
	clusterRoles    = []string{"follower", "claiming", "leader", "leaving", "deposed"}
	clusterPosition = []Field{{Name: "sequence", Type: NumberField},
		{Name: "hash", Doc: "of all entries up to there"}}

	PolicySources = []string{"pso", "domain", "unknown"}
)

// ZoneTypes are the types of zones. DynamicUpdates are the kinds of updates that a zone can accept.
var (
	ZoneTypes      = []string{"Primary", "Secondary", "Stub", "Forwarder"}
	DynamicUpdates = []string{"None", "Secure", "NonsecureAndSecure"}
)

// changedMember are the fields of an added or removed member.
var changedMember = []Field{
	{Name: "type", Enum: MemberTypes},
	{Name: "guid", Type: GUIDField},
	{Name: "name", Doc: "CN"},
	{Name: "username", Null: true, Doc: "sAMAccountName"},
	{Name: "distinguishedName"},
	{Name: "sid", Null: true},
	{Name: "domain", Null: true, Doc: "DNS name of its domain; null for a foreign principal"},
}

// ShowsMembers reports whether records of the shape describe a group and its members. Changes of such records
// announce the group first.
func ShowsMembers(s *Shape) bool { return s == Membership || s == MemberChange }

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

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
		{Name: "username", Attribute: "sAMAccountName", Doc: "Logon name (sAMAccountName)."},
		{Name: "samUsername", Doc: "Logon name (sAMAccountName), the same as username.", SetBy: "Rename"},
		{Name: "name", Doc: "Common name (CN).", SetBy: "Rename"},
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
		{Name: "ouPath", Attribute: "parent", Doc: "Distinguished name of the OU or container that holds the object."},
		{Name: "jobTitle", Attribute: "title", Null: true},
		{Name: "manager", Null: true, Doc: "Distinguished name."},
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
		{Name: "homeFolderPath", Attribute: "homeDirectory", Null: true, Doc: "Home folder, the same as homeFolderDirectory. In the classic dialect, null if the user has a home drive.", Classic: &Condition{"homeFolderDrive", false}},
		{Name: "homeFolderDrive", Attribute: "homeDrive", Null: true},
		{Name: "homeFolderDirectory", Null: true, Doc: "Home folder. In the classic dialect, null if the user has no home drive.", Classic: &Condition{"homeFolderDrive", true}},
		{Name: rdsProfilePath, Null: true, Packed: userParameters},
		{Name: rdsHomeFolderPath, Null: true, Packed: userParameters},
		{Name: rdsHomeFolderDrive, Null: true, Packed: userParameters},
		{Name: rdsConnectDrive, Type: BoolField, Null: true, Packed: userParameters, Doc: "Whether the client's drives are connected in Remote Desktop sessions; null if the stored settings cannot be read."},
		{Name: rdsAllowLogon, Type: BoolField, Null: true, Packed: userParameters, Doc: "Whether the user can sign in to Remote Desktop sessions; null if the stored settings cannot be read."},
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
		{Name: "username", Doc: "Logon name (sAMAccountName)."},
		{Name: "distinguishedName"},
		{Name: photoField, Null: true, Packed: thumbnailPhoto, Doc: "Image in base64; null if the user has no photo."},
		{Name: photoType, Null: true, Packed: thumbnailPhoto, Enum: []string{photo.JPEG, photo.PNG}},
		{Name: photoWidth, Type: NumberField, Null: true, Packed: thumbnailPhoto, Doc: "Width of the image, in pixels."},
		{Name: photoHeight, Type: NumberField, Null: true, Packed: thumbnailPhoto, Doc: "Height of the image, in pixels."},
		{Name: photoBytes, Type: NumberField, Null: true, Packed: thumbnailPhoto, Doc: "Size of the image, in bytes."},
		{Name: photoSHA256, Null: true, Packed: thumbnailPhoto, Doc: "SHA-256 hash of the image, in hexadecimal."},
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
		{Name: "path", Attribute: "parent", Doc: "Distinguished name.", Input: "OUPath"},
		{Name: "protected", Type: BoolField, Input: "IsProtected"},
		{Name: "description", Null: true, Input: "OUDescription"},
		{Name: "created", Type: TimeField, Null: true},
		{Name: "modified", Type: TimeField, Null: true},
		{Name: "container", Type: BoolField, Doc: "Whether the object is a container rather than an OU."},
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
			{Name: "distinguishedName", Doc: "Distinguished name; empty if the zone is stored in a file."},
			{Name: "zoneName"},
			{Name: "zoneType", Enum: ZoneTypes},
			{Name: "type", Doc: "Storage of the zone: DS for the directory, File for a file.", Enum: []string{"DS", "File"}},
		}}

	DNSZone = &Shape{Name: "DnsZone", Tag: &Tagging{
		Kind: "y1", Except: []string{"directoryPartition"}, Beside: []string{"serial"}, Alone: true,
	}, Fields: []Field{
		{Name: "distinguishedName", Doc: "Distinguished name; empty if the zone is not stored in the directory."},
		{Name: "zoneName"},
		{Name: "zoneType", Enum: ZoneTypes, Words: &Words{From: "zoneType", Word: map[string]string{"Stub": "Stub Zone"}}},
		{
			Name: "type", Doc: "Storage of the zone: DS for the directory, File for a file. In the classic dialect, ForwardDNSZone or ReverseDNSZone.", Enum: []string{"DS", "File"},
			Words: &Words{From: "lookup", Word: map[string]string{"Forward": "ForwardDNSZone", "Reverse": "ReverseDNSZone"}},
		},
		{Name: "lookup", Enum: []string{"Forward", "Reverse"}},
		{Name: "replicationScope", Doc: "Replication scope: Domain, Forest, Legacy, or Custom; File if the zone is not stored in the directory."},
		{Name: "directoryPartition", Null: true, Input: "DirectoryPartition", Doc: "DNS name of the directory partition that stores the zone; null if the zone is not stored in the directory."},
		{Name: "dynamicUpdate", Null: true, Doc: "Dynamic updates that the zone accepts: None, Secure, or NonsecureAndSecure."},
		{Name: "readOnly", Type: BoolField},
		{Name: "paused", Type: BoolField},
		{Name: "signed", Type: BoolField},
		{Name: "autoCreated", Type: BoolField, Doc: "Whether the server created the zone automatically."},
		{Name: "zoneFile", Null: true},
		{Name: "masterServers", Type: TextListField},
	}}

	ZoneAging = &Shape{Name: "ZoneAging", Fields: []Field{
		{Name: "zoneName"},
		{Name: "enabled", Type: BoolField, Input: "Aging"},
		{Name: "refreshHours", Type: NumberField, Input: "RefreshHours"},
		{Name: "noRefreshHours", Type: NumberField, Input: "NoRefreshHours"},
		{Name: "scavengeServers", Type: TextListField, Doc: "Servers that may scavenge the zone; empty if any server may."},
		{Name: "availableAt", Type: TimeField, Null: true, Doc: "Earliest time at which the zone can be scavenged."},
		{Name: "serverScavengingHours", Type: NumberField, Null: true, Doc: "Scavenging interval of the server, in hours; 0 if the server never scavenges, null if the interval is unknown."},
	}}

	ZoneStatistics = &Shape{Name: "ZoneStatistics", Fields: []Field{
		{Name: "zoneName"},
		{Name: "since", Type: TimeField, Null: true},
		{Name: "queries", Type: ObjectListField, Doc: "Queries by record type.", Of: []Field{
			{Name: "type"}, {Name: "received", Type: NumberField}, {Name: "answered", Type: NumberField},
		}},
		{Name: "updates", Type: ObjectField, Doc: "Dynamic updates.", Of: []Field{
			{Name: "received", Type: NumberField}, {Name: "rejected", Type: NumberField},
		}},
		{Name: "transfers", Type: ObjectField, Doc: "Zone transfers to other servers.", Of: []Field{
			{Name: "received", Type: NumberField, Doc: "Number of transfer requests received."}, {Name: "succeeded", Type: NumberField}, {Name: "failed", Type: NumberField},
		}},
	}}

	ConditionalForwarder = &Shape{Name: "ConditionalForwarder", Tag: &Tagging{
		Kind: "f1", Except: []string{"directoryPartition"},
	}, Fields: []Field{
		{Name: "zoneName"},
		{Name: "masterServers", Type: TextListField, Input: "MasterServers"},
		{Name: "forwarderTimeout", Type: NumberField, Input: "ForwarderTimeout", Doc: "Timeout for one server, in seconds."},
		{Name: "useRecursion", Type: BoolField, Input: "UseRecursion"},
		{Name: "replicationScope", Input: "ReplicationScope", Doc: "Replication scope; Server if only this server stores the forwarder."},
		{Name: "directoryPartition", Null: true, Input: "DirectoryPartition", Doc: "DNS name of the directory partition that stores the forwarder; null if only this server stores it."},
	}}

	Delegation = &Shape{Name: "Delegation", Fields: []Field{
		{Name: "zoneName"},
		{Name: "childName", Doc: "Delegated name, relative to the zone."},
		{Name: "nameServer"},
		{Name: "ipAddresses", Type: TextListField, Doc: "Addresses of the name server that the zone contains."},
	}}

	GroupMember = &Shape{Name: "Member", Fields: []Field{
		{Name: "type", Enum: MemberTypes},
		{Name: "guid", Type: GUIDField},
		{Name: "name", Doc: "Common name (CN); the SID if the member belongs to a different domain."},
		{Name: "username", Null: true, Doc: "Account name (sAMAccountName)."},
		{Name: "distinguishedName"},
		{Name: "ouPath", Doc: "Distinguished name of the OU or container that holds the object."},
		{Name: "enabled", Type: BoolField, Null: true, Doc: "Whether the account is enabled; null if the member cannot log on."},
		{Name: "sid", Null: true},
		{Name: "domain", Null: true, Doc: "DNS name of the member's domain; null for a foreign security principal."},
		{Name: "direct", Type: BoolField},
		{Name: "via", Null: true, Doc: "sAMAccountName of the direct member through which the object belongs to the group; null if it is a direct member."},
		{Name: "primary", Type: BoolField, Doc: "Whether the group is the member's primary group."},
	}}

	Hit = &Shape{Name: "Hit", Fields: []Field{
		{Name: "type", Enum: HitTypes},
		{Name: "guid", Type: GUIDField},
		{Name: "name", Doc: "Common name (CN)."},
		{Name: "username", Doc: "Account name (sAMAccountName)."},
		{Name: "displayName", Null: true},
		{Name: "emailAddress", Null: true},
		{Name: "description", Null: true},
		{Name: "ouPath", Doc: "Distinguished name of the OU or container that holds the object."},
		{Name: "enabled", Type: BoolField, Null: true, Doc: "Whether the account is enabled; null for groups."},
		{Name: "locked", Type: BoolField, Null: true, Doc: "Whether the account is currently locked out; null for groups and computers."},
		{Name: "matched", Doc: "Field with the best match."},
	}}

	Caller = &Shape{Name: "Caller", Fields: []Field{
		{Name: "name"},
		{Name: "kind", Doc: "Type of the credential: token, user, or certificate."},
		{Name: "id", Null: true, Doc: "ID of the account; null if it has none."},
		{Name: "scopes", Type: TextListField},
		{Name: "limits", Type: ObjectField, Doc: "Limits of the credential; an empty list means no limit.", Of: []Field{
			{Name: "ous", Type: TextListField}, {Name: "groups", Type: TextListField}, {Name: "zones", Type: TextListField}, {Name: "names", Type: TextListField},
		}},
		{Name: "expires", Type: TimeField, Null: true},
	}}

	Cluster = &Shape{Name: "Cluster", Fields: []Field{
		{Name: "name"},
		{Name: "gateway", Doc: "Gateway that answers."},
		{Name: "degraded", Type: BoolField, Doc: "Whether this gateway cannot make changes, or only some of them."},
		{Name: "reason", Null: true, Doc: "Reason why changes are restricted; null if they are not."},
		{Name: "keyVersion", Type: NumberField, Doc: "Version of the key that encrypts shared data."},
		{Name: "format", Type: NumberField, Doc: "Version of the format in which values are written; every gateway can read it."},
		{Name: "role", Null: true, Enum: clusterRoles, Doc: "Role of the gateway that answers; null if it is unknown."},
		{Name: "term", Type: NumberField, Doc: "Number of the current term, which increases with each new leader; 0 if there has been no leader."},
		{Name: "leader", Null: true, Doc: "Leader, the gateway that makes changes; null if it is unknown."},
		{Name: "leaderless", Type: NumberField, Doc: "Time since the last message from a leader, in seconds; 0 if the leader is known."},
		{Name: "position", Type: ObjectField, Null: true, Doc: "Last log entry that the gateway has applied.", Of: clusterPosition},
		{Name: "openAttempts", Type: NumberField, Doc: "Number of changes of earlier leaders whose outcome this leader has not yet determined."},
		{Name: "gateways", Type: ObjectListField, Doc: "All gateways, including the one that answers, as it sees them.", Of: []Field{
			{Name: "name"}, {Name: "state", Enum: []string{"lives", "silent"}}, {Name: "role", Null: true, Enum: clusterRoles, Doc: "Role of the gateway; null if it is unknown."},
			{Name: "position", Type: ObjectField, Null: true, Doc: "Last log entry that the gateway reported.", Of: clusterPosition},
			{Name: "clockAhead", Type: NumberField, Doc: "Time by which the gateway's clock is ahead of the clock of the gateway that answers, in seconds."},
			{Name: "format", Type: NumberField, Doc: "Latest format version that the gateway can read."},
			{Name: "keyVersion", Type: NumberField, Doc: "Latest key version that the gateway has."},
			{Name: "lanes", Type: TextListField, Doc: "Services whose servers the gateway can use."},
		}},
		{Name: "strangers", Type: TextListField, Doc: "Gateways that send messages but do not belong to the cluster."},
		{Name: "fault", Null: true, Doc: "Reason why the log is unusable; null if it is usable."},
	}}

	MemberChange = &Shape{Name: "MemberChange", Fields: append(groupFields[:len(groupFields):len(groupFields)],
		Field{Name: "added", Type: ObjectListField, Of: changedMember, Doc: "Members that were added."},
		Field{Name: "removed", Type: ObjectListField, Of: changedMember, Doc: "Members that were removed."},
	)}

	CopiedGroup = &Shape{Name: "CopiedGroup", Fields: []Field{
		{Name: "group", Doc: "Account name of the group (sAMAccountName)."},
		{Name: "guid", Type: GUIDField},
		{Name: "action", Enum: []string{"added", "present", "removed", "skipped", "failed"}},
		{Name: "reason", Null: true, Doc: "Reason why the group was skipped or the change failed; null otherwise."},
	}}

	LogonState = &Shape{Name: "LogonState", Fields: []Field{
		{Name: "username"},
		{Name: "canLogOn", Type: BoolField, Doc: "Whether the user can log on; false if the account is disabled, expired, locked out, or outside its logon hours."},
		{Name: "verdicts", Type: ObjectListField, Doc: "Reasons why the user can or cannot log on, the most serious first.", Of: []Field{
			{Name: "code", Enum: []string{"ok", "disabled", "locked", "expired", "hours", "password_expired", "must_change", "smartcard_required", "workstations", "unknown"}},
			{Name: "since", Type: TimeField, Null: true}, {Name: "until", Type: TimeField, Null: true}, {Name: "text", Doc: "Explanation in plain language."},
		}},
		{Name: "badPwdCount", Type: NumberField, Doc: "Number of failed logon attempts, as counted by the queried domain controller."},
		{Name: "lastBadPassword", Type: TimeField, Null: true},
		{Name: "passwordExpires", Type: TimeField, Null: true, Doc: "Time when the password expires; null if it never expires or must be changed at the next logon."},
		{Name: "accountExpires", Type: TimeField, Null: true},
		{Name: "lockoutEnds", Type: TimeField, Null: true, Doc: "Time when the lockout ends; null if the account is not locked out or stays locked until an administrator unlocks it."},
		{Name: "policy", Doc: "Name of the password policy."},
		{Name: "source", Enum: PolicySources},
		{Name: "lockouts", Type: ObjectListField, Null: true, Of: Lockout.Fields, Doc: "Lockouts of an account that is locked out; null if no server could be queried (see warnings)."},
	}}

	Lockout = &Shape{Name: "Lockout", Fields: []Field{
		{Name: "time", Type: TimeField, Null: true},
		{Name: "kind", Enum: []string{"lockout", "badPassword"}, Doc: "Type of the entry: lockout for an event in the log, badPassword for a domain controller's count if its log cannot be read."},
		{Name: "source", Null: true, Doc: "Computer that sent the wrong passwords; null if the domain controller does not know it."},
		{Name: "controller", Doc: "Domain controller that reported the entry."},
		{Name: "count", Type: NumberField, Null: true, Doc: "Number of wrong passwords that the domain controller counted; null for a lockout event."},
	}}

	PasswordPolicy = &Shape{Name: "PasswordPolicy", Fields: []Field{
		{Name: "name"},
		{Name: "source", Enum: PolicySources, Doc: "Origin of the policy; unknown if the service account may not read it."},
		{Name: "minLength", Type: NumberField, Null: true},
		{Name: "complexity", Type: BoolField, Null: true},
		{Name: "historyCount", Type: NumberField, Null: true},
		{Name: "minAge", Type: NumberField, Null: true, Doc: "Minimum password age, in days."},
		{Name: "maxAge", Type: NumberField, Null: true, Doc: "Maximum password age, in days; 0 if passwords do not expire."},
		{Name: "lockoutThreshold", Type: NumberField, Null: true, Doc: "Number of wrong passwords that locks an account; 0 if accounts are never locked out."},
		{Name: "lockoutWindow", Type: NumberField, Null: true, Doc: "Time after which the count of wrong passwords is reset, in minutes."},
		{Name: "lockoutDuration", Type: NumberField, Null: true, Doc: "Duration of a lockout, in minutes; 0 if accounts stay locked until an administrator unlocks them."},
	}}

	Existence = &Shape{Name: "Existence", Fields: []Field{
		{Name: "exists", Type: BoolField},
		{Name: "guid", Type: GUIDField, Null: true},
		{Name: "distinguishedName", Null: true},
	}}

	GuardState = &Shape{Name: "GuardState", Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "distinguishedName"},
		{Name: "guarded", Type: BoolField, Doc: "Whether only callers with the scope privileged can change the object."},
		{Name: "why", Null: true, Doc: "Reason why the object is guarded; null if it is not."},
		{Name: "whyMoved", Null: true, Doc: "Reason why only callers with the scope privileged can move, rename, or remove the object, such as guarded objects below an OU; null if other callers can, too."},
		{Name: "whyFilled", Null: true, Doc: "Reason why only callers with the scope privileged can create objects in the OU or move objects into it; null if other callers can, too."},
	}}

	RecordGuard = &Shape{Name: "RecordGuard", Fields: []Field{
		{Name: "zoneName"},
		{Name: "name", Null: true, Doc: "Owner name; null if the request names none."},
		{Name: "guarded", Type: BoolField, Doc: "Whether only callers with the scope privileged can change the records."},
		{Name: "why", Null: true, Doc: "Reason why the records are guarded; null if they are not."},
		{Name: "guardedTargets", Type: TextListField, Doc: "Targets whose PTR records only callers with the scope privileged can change."},
		{Name: "whyAging", Doc: "Reason why only callers with the scope privileged can change the aging of a zone."},
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
	clusterPosition = []Field{{Name: "sequence", Type: NumberField, Doc: "Number of the log entry."},
		{Name: "hash", Doc: "Hash of all log entries up to this one."}}

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
	{Name: "name", Doc: "Common name (CN)."},
	{Name: "username", Null: true, Doc: "Account name (sAMAccountName)."},
	{Name: "distinguishedName"},
	{Name: "sid", Null: true},
	{Name: "domain", Null: true, Doc: "DNS name of the member's domain; null for a foreign security principal."},
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

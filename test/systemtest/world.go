package systemtest

import (
	"maps"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// Objects of the built-in domain that samples are about.
const (
	SampleUser     = "aschmidt"
	SampleUserGUID = "897be383-0d4f-5fd1-b27f-461bf3bb4b03"
	SampleUserDN   = "CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	LeftUser       = "karl.alt" // disabled, with a password
	LockedUser     = "locked.out"

	SampleGroup  = "VPN Users"
	helpDeskGUID = "da2584e8-e4b7-5549-a6fc-696ad78dc01f"

	EmptyOU     = "OU=Empty,OU=Corp,DC=corp,DC=example"
	ProtectedOU = "OU=Protected empty,OU=Corp,DC=corp,DC=example"
	CorpOU      = "OU=Corp,DC=corp,DC=example"
)

const sampleUserText = "Head of Sales, Berlin" // her description

// Setup has the calls that create what the samples of some operations remove, or remove
// what they restore, by ID of the operation.
var Setup = map[string]Call{
	"user.delete":      call("user.create", "Username", "sample.gone"),
	"user.removePhoto": call("user.setPhoto", "Username", SampleUser, "Photo", schema.Photo.Doc().Example),
	"user.primaryGroup": call("membership.addMembers",
		"GroupName", SampleGroup, "Members", LockedUser),
	"computer.primaryGroup": call("membership.addMembers",
		"GroupName", SampleGroup, "Members", "FS1$"),
	"group.delete":       call("group.createSecurity", "GroupName", "Sample Gone"),
	"bin.list":           call("group.delete", "GroupName", "Local List"),
	"bin.get":            call("group.delete", "GroupName", "Berlin Announcements"),
	"bin.restore":        call("group.delete", "GroupName", "Printer Operators Berlin"),
	"reverseZone.delete": call("reverseZone.create", "NetworkID", "172.17.0.0/16"),
	"lookupZone.delete":  call("lookupZone.create", "ZoneName", "removed.example"),
	"forwarder.delete": call("forwarder.create",
		"ZoneName", "forwarded.example", "MasterServers", "10.9.0.53"),
	"delegation.delete": call("delegation.create", "ZoneName", "corp.example", "ChildName", "left",
		"NameServer", "ns1.left.corp.example", "IP_Address", "10.9.1.1"),
}

// Undos has the calls that restore the world after the samples of operations, by ID of the
// operation. It has none of those that change nothing or cannot be undone.
var Undos = Merge(undosOfAccounts, undosOfGroupsAndOUs, undosOfZones, undosOfRecords())

var undosOfAccounts = map[string]Call{
	"user.create":       call("user.delete", "Username", "sample"),
	"user.update":       call("user.update", "Username", SampleUser, "Description", sampleUserText),
	"user.disable":      call("user.enable", "Username", SampleUser),
	"user.enable":       call("user.disable", "Username", LeftUser),
	"user.setPhoto":     call("user.removePhoto", "Username", SampleUser),
	"user.expiry":       call("user.expiry", "Username", SampleUser, "AccountExpires", ""),
	"user.primaryGroup": call("user.primaryGroup", "Username", LockedUser, "GroupName", "Domain Users"),
	"user.protect":      call("user.protect", "Username", SampleUser, "IsProtected", "false"),
	"user.rename":       call("user.rename", "Username", "a.schmidt", "NewUsername", SampleUser),
	"user.updateByGuid": call("user.updateByGuid",
		"UserGuid", SampleUserGUID, "Description", sampleUserText),

	"computer.register":     call("computer.delete", "ADComputerName", "SAMPLE"),
	"computer.rename":       call("computer.rename", "ADComputerName", "SAMPLE", "NewADComputerName", "WEB1"),
	"computer.update":       call("computer.update", "ADComputerName", "FS1", "ComputerDescription", "File server"),
	"computer.protect":      call("computer.protect", "ADComputerName", "FS1", "IsProtected", "false"),
	"computer.primaryGroup": call("computer.primaryGroup", "ADComputerName", "FS1", "GroupName", "Domain Computers"),
	"computer.enable":       call("computer.disable", "ADComputerName", "OLD-PC1"),
	"computer.disable":      call("computer.enable", "ADComputerName", "WEB1"),
	"computer.move":         call("computer.move", "ADComputerName", "WEB1", "OUPath", ServersOU),
	"computer.delete":       call("computer.register", "ADComputerName", "WEB2"),
	"computer.deleteMany":   call("computer.register", "ADComputerName", "WEB3"),
}

var undosOfGroupsAndOUs = map[string]Call{
	"group.createDistribution": call("group.delete", "GroupName", "Sample List"),
	"group.createSecurity":     call("group.delete", "GroupName", "Sample Group"),
	"group.rename":             call("group.rename", "GroupName", "Dial In", "NewGroupName", SampleGroup),
	"group.protect":            call("group.protect", "GroupName", SampleGroup, "IsProtected", "false"),
	"group.update": call("group.update",
		"GroupName", SampleGroup, "GroupDescription", "May dial in"),

	"membership.add":    call("membership.remove", "Username", SampleUser, "GroupName", "Help Desk"),
	"membership.remove": call("membership.add", "Username", SampleUser, "GroupName", SampleGroup),
	"membership.copy": call("membership.copy", // both have no groups besides the primary one
		"Username", "tom.gone", "From", "mary.left", "Remove", true),
	"membership.addGroup": call("membership.removeGroup",
		"ParentGroupName", "Project Phoenix", "ChildGroupName", "Help Desk"),
	"membership.removeGroup": call("membership.addGroup",
		"ParentGroupName", "All Staff", "ChildGroupName", "Sales Staff"),

	"ou.create": call("ou.delete", "OUPath", "OU=Sample,"+EmptyOU),
	"ou.update": call("ou.update", "OUPath", EmptyOU, "OUDescription", "Nothing in it"),
	"ou.move":   call("ou.move", "OUPath", "OU=Protected empty,"+EmptyOU, "OUDestinationPath", CorpOU),
	"ou.rename": call("ou.rename", "OUPath", "OU=Renamed,"+CorpOU, "OUNewName", "Protected empty"),
	"ou.delete": call("ou.create", "OUName", "Empty", "OUDestinationPath", CorpOU, "IsProtected", "false"),
}

var undosOfZones = map[string]Call{
	"reverseZone.create": call("reverseZone.delete", "NetworkIDOrZoneName", "172.16.0.0/16"),
	"zone.setAging":      call("zone.setAging", "ZoneName", "_msdcs.corp.example", "RefreshHours", 168),
	"lookupZone.create":  call("lookupZone.delete", "ZoneName", "sample.example"),
	"lookupZone.update":  call("lookupZone.update", "ZoneName", "corp.example", "DynamicUpdate", "Secure"),
	"forwarder.create":   call("forwarder.delete", "ZoneName", "ally.example"),
	"forwarder.update":   call("forwarder.update", "ZoneName", "partner.example", "ForwarderTimeout", 5),
	"delegation.create":  call("delegation.delete", "ZoneName", "corp.example", "ChildName", "branch"),
}

// undosOfRecords are about the operations of every type of records.
func undosOfRecords() map[string]Call {
	row := func(id string) *ops.Operation { return ops.Find(ops.Table(), id) }
	undos := map[string]Call{
		"recordSet.put": CallFor(row("recordSet.put"),
			Merge(row("recordSet.put").Sample, map[string]any{"Data": "10.0.1.30"})),
		"recordSet.delete": CallFor(row("a.create"), row("a.get").Sample),
	}
	for _, t := range schema.RecordTypes {
		if t.Resource == "" {
			continue
		}
		create, change, remove := row(t.Resource+".create"), row(t.Resource+".change"), row(t.Resource+".delete")
		undos[create.ID] = CallFor(remove, create.Sample)
		undos[remove.ID] = CallFor(create, remove.Sample)
		back := maps.Clone(change.Sample)
		for _, f := range t.Fields {
			if f.Changed != "" {
				back[f.Name], back["New"+f.Name] = f.Changed, f.Example
			}
		}
		undos[change.ID] = CallFor(change, back)
	}
	return undos
}

// RecordOf returns the parameters that identify the record of a type that samples are about.
func RecordOf(t *schema.RecordType) map[string]any {
	return maps.Clone(ops.Find(ops.Table(), t.Resource+".get").Sample)
}

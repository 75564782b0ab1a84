package ops

import (
	"encoding/json"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	zoneSubject   = "zone '{ZoneName}'"
	lookupSubject = "forward lookup zone '{ZoneName}'"
)

var zoneRows = []*Operation{
	{
		ID: "zone.list", Summary: "Lists the zones of the server, of all types.",
		Path: "/api/DnsZones/All", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{
			ignoreSystemZones,
			{Name: "Lookup", Kind: schema.OneOf("Not case-sensitive.", "Forward", "Reverse"), Doc: "Lookup direction of the zones to list. If absent, all zones are listed."},
			{Name: "ZoneType", Kind: schema.OneOf("Not case-sensitive.", schema.ZoneTypes...), Doc: "Type of the zones to list. If absent, zones of all types are listed."},
		},
		Script: "Get-GatewayZoneList", Fixed: inForm("Zone"),
		Reply:   Reply{schema.DNSZone, List},
		Subject: "zones",
	},
	{
		ID: "zone.get", Summary: "Finds a zone of any type.",
		Path: "/api/DnsZones/{ZoneName}", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{anyZone, ignoreSystemZones},
		Script: "Get-GatewayZone", Fixed: inForm("Zone"),
		Reply: Reply{schema.DNSZone, Single},
		Fails: []schema.Code{schema.NotFound},
	},
	{
		ID: "zone.exists", Summary: "Reports whether a zone exists.",
		Path: "/api/DnsZones/{ZoneName}/Exists", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{anyZone, ignoreSystemZones},
		Script: "Test-GatewayZone",
		Reply:  Reply{schema.Existence, Exists},
	},
	{
		ID: "zone.getAging", Summary: "Shows the aging and scavenging settings of a zone.",
		Path: "/api/DnsZones/{ZoneName}/Aging", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{anyZone},
		Script: "Get-GatewayZoneAging",
		Reply:  Reply{schema.ZoneAging, Single},
		Fails:  []schema.Code{schema.NotFound, schema.Conflict},
	},
	{
		ID: "zone.setAging", Summary: "Changes the aging and scavenging settings of a zone.",
		Path: "/api/DnsZones/{ZoneName}/Aging", Scope: identity.DNSWrite, Effect: Update, Disrupts: true,
		Params: []Param{
			anyZone,
			{Name: "Aging", Kind: schema.Bool, Example: "true", Doc: "Whether aging is enabled, so stale records can be scavenged."},
			{Name: "RefreshHours", Kind: agingHours, Example: "168", Doc: "Refresh interval, in hours: the time in which a record must be refreshed before it is stale. 0 means the default of the server."},
			{Name: "NoRefreshHours", Kind: agingHours, Example: "168", Doc: "No-refresh interval, in hours: the time in which a record is not refreshed again. 0 means the default of the server."},
		},
		Script:    "Set-GatewayZoneAging",
		Reply:     Reply{schema.ZoneAging, Single},
		Settle:    Settle{Script: "Confirm-GatewayZoneAging"},
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected},
		Undo:      restored("zone.setAging", sameZone),
		Guard:     Guard{Never: "the aging of a zone has no tag"},
		Success:   "The aging of the {subject} was changed.",
		Unchanged: "The aging of the {subject} is so already; nothing was changed.",
		Sample:    Given{"ZoneName": "_msdcs.corp.example", "RefreshHours": json.Number("24")},
	},
	{
		ID: "zone.statistics", Summary: "Shows the server's statistics of a zone.",
		Path: "/api/DnsZones/{ZoneName}/Statistics", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{anyZone},
		Script: "Get-GatewayZoneStatistics",
		Reply:  Reply{schema.ZoneStatistics, Single},
		Fails:  []schema.Code{schema.NotFound, schema.Conflict},
	},
	{
		ID: "lookupZone.list", Summary: "Lists the forward lookup zones.",
		Path: "/api/DnsLookupZone/All", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{ignoreSystemZones},
		Script: "Get-GatewayZoneList", Fixed: ps.Args{"Form": ps.Text("Zone"), "Lookup": ps.Text("Forward")},
		Reply:   Reply{schema.DNSZone, List},
		Subject: "forward lookup zones",
	},
	{
		ID: "lookupZone.create", Summary: "Creates a primary forward lookup zone.",
		Path: "/api/DnsLookupZone/{ZoneName}", Scope: identity.DNSWrite, Effect: Create,
		Params: []Param{
			forwardZone,
			{Name: "ReplicationScope", Kind: zoneScope, Implied: "Domain", Doc: "Replication scope: File stores the zone in a file, the others in the directory. If absent and the server is not a domain controller, File is used."},
			inPartition,
			{Name: "DynamicUpdate", Kind: dynamicUpdate, Implied: "Secure", Doc: "Dynamic updates that the zone accepts; Secure requires a zone in the directory. If absent for a zone in a file, None is used. Any value other than the default also requires the scope privileged."},
		},
		Rules:  []Rule{secureInDirectory, customPartition},
		Script: "New-GatewayZone", Fixed: inForm("Zone"),
		Reply:   Reply{schema.DNSZone, Single},
		Settle:  settleZone("Zone"),
		Fails:   []schema.Code{schema.Conflict, schema.Protected, schema.NotEmpty, schema.Unprocessable},
		Undo:    emptyZone("lookupZone.delete", zoneParam, zoneParam, Given{"Force": "false"}),
		Subject: lookupSubject,
		Success: "The {subject} was created.",
		Sample:  Given{"ZoneName": "sample.example"},
	},
	{
		ID: "lookupZone.update", Summary: "Changes the dynamic updates or the replication scope of a forward lookup zone. Also requires the scope `privileged`.",
		Path: "/api/DnsLookupZone/{ZoneName}", Scope: identity.DNSWrite, Effect: Update, Disrupts: true,
		Params: []Param{
			existingForwardZone,
			{Name: "ReplicationScope", Kind: zoneScope, Doc: "Replication scope: File stores the zone in a file, the others in the directory. A zone cannot be moved between the directory and a file."},
			inPartition,
			{Name: "DynamicUpdate", Kind: dynamicUpdate, Example: "None", Doc: "Dynamic updates that the zone accepts; Secure requires a zone in the directory."},
		},
		Rules:     []Rule{secureInDirectory, customPartition},
		Script:    "Set-GatewayZone",
		Reply:     Reply{schema.DNSZone, Single},
		Settle:    settleZone("Zone"),
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:      restored("lookupZone.update", sameZone),
		Guard:     Guard{Reader: "zone.get"},
		Subject:   lookupSubject,
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"ZoneName": "corp.example", "DynamicUpdate": "None"},
	},
	{
		ID: "lookupZone.delete", Summary: "Removes a primary forward lookup zone with its records.",
		Path: "/api/DnsLookupZone/{ZoneName}", Scope: identity.DNSDelete, Effect: Delete, Extent: "records",
		Params: []Param{
			existingForwardZone,
			{Name: "Force", Kind: schema.Bool, Default: "false", Classic: "true", Audited: true, Example: "true", Doc: "Whether to remove the zone even if it contains records other than its SOA and NS records."},
		},
		Script: "Remove-GatewayZone", Fixed: inForm("Zone"),
		Reply:   Reply{schema.DNSZone, Single},
		Settle:  settleZone("Zone"),
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.NotEmpty, schema.TooMany},
		Undo:    zoneBack("lookupZone.create"),
		Guard:   Guard{Reader: "zone.get"},
		Subject: lookupSubject,
		Success: "The {subject} was removed with {count:records}.",
		Needs:   Step{"lookupZone.create", Given{"ZoneName": "removed.example"}},
		Sample:  Given{"ZoneName": "removed.example"},
	},
}

var (
	anyZone     = Param{Name: zoneParam, Path: "ZoneName", Kind: schema.Zone, Required: true, Doc: "Zone."}
	forwardZone = Param{Name: zoneParam, Path: "ZoneName", Kind: schema.NewForwardZone, Required: true,
		Example: "lab2.example", Doc: "Zone."}
	// The example is a zone that exists in the sandbox.
	existingForwardZone = Param{Name: zoneParam, Path: "ZoneName", Kind: schema.ForwardZone, Required: true,
		Example: "shop.example", Doc: "Zone."}

	zoneScope     = schema.OneOf("Not case-sensitive.", zoneScopes...)
	zoneScopes    = []string{"Domain", "Forest", "Legacy", "Custom", "File"}
	dynamicUpdate = schema.OneOf("Not case-sensitive.", schema.DynamicUpdates...)
	agingHours    = schema.Number(0, 8760)
)

// secureInDirectory rejects combinations that no server supports before anything is looked up.
var secureInDirectory = Rule{
	Doc: "secure updates require a zone in the directory",
	Apply: func(b *Bound) []schema.FieldError {
		if b.Text("ReplicationScope") != "File" || b.Text("DynamicUpdate") != "Secure" {
			return nil
		}
		return []schema.FieldError{{Field: "DynamicUpdate", Code: schema.Unprocessable,
			Message: "must not be Secure for a zone in a file: secure updates need a zone in the directory"}}
	},
}

// inPartition is the partition of a zone with the replication scope Custom.
var inPartition = Param{Name: "DirectoryPartition", Kind: schema.Zone,
	Doc: "DNS name of an existing application partition. Required with the replication scope Custom."}

// customPartition rejects a partition that is missing or unnecessary.
var customPartition = Rule{
	Doc: "DirectoryPartition is required with the replication scope Custom and not allowed otherwise",
	Apply: func(b *Bound) []schema.FieldError {
		wrong := func(message string) []schema.FieldError {
			return []schema.FieldError{{Field: "DirectoryPartition", Code: schema.InvalidRequest, Message: message}}
		}
		custom, named := b.Text("ReplicationScope") == "Custom", b.Text("DirectoryPartition") != ""
		switch {
		case custom && !named:
			return wrong("is required with ReplicationScope=Custom")
		case named && !custom:
			return wrong("is for ReplicationScope=Custom only: the other scopes have partitions of their own")
		}
		return nil
	},
}

// inForm returns the argument that selects a script's zones and the form of their records.
func inForm(form string) ps.Args { return ps.Args{"Form": ps.Text(form)} }

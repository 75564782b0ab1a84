package ops

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

var reverseZoneRows = []*Operation{
	{
		ID: "reverseZone.get", Summary: "Finds a reverse lookup zone.",
		Path: "/api/DnsReverseLookupZone/{NetworkID}", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{networkOrZone, ignoreSystemZones},
		Script: "Get-GatewayZone", Fixed: inForm("Reverse"),
		Reply:   Reply{schema.ReverseZone, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Unprocessable},
		Subject: "reverse zone '{NetworkIDOrZoneName}'",
	},
	{
		ID: "reverseZone.list", Summary: "Lists the reverse lookup zones.",
		Path: "/api/DnsReverseLookupZone/All", Scope: identity.DNSRead, Effect: Read,
		Params: []Param{ignoreSystemZones},
		Script: "Get-GatewayZoneList", Fixed: inForm("Reverse"),
		Reply:   Reply{schema.ReverseZone, List},
		Subject: "reverse zones",
	},
	{
		ID: "reverseZone.create", Summary: "Creates the reverse lookup zone of a network.",
		Path: "/api/DnsReverseLookupZone/{NetworkID}", Scope: identity.DNSWrite, Effect: Create,
		Params: []Param{{Name: "NetworkID", Path: "NetworkID", Arg: "ZoneName", Kind: schema.Network, Required: true, Example: "172.16.0.0/16", Doc: "Network of the zone."}},
		Script: "New-GatewayZone", Fixed: inForm("Reverse"),
		Reply:   Reply{schema.ReverseZone, Single},
		Settle:  settleZone("Reverse"),
		Fails:   []schema.Code{schema.Conflict, schema.Protected, schema.NotEmpty, schema.Unprocessable},
		Undo:    emptyZone("reverseZone.delete", "NetworkIDOrZoneName", "NetworkID", nil),
		Subject: "reverse zone '{NetworkID}'",
		Success: "The {subject} was created.",
	},
	{
		ID: "reverseZone.delete", Summary: "Removes a reverse lookup zone with its records.",
		Path:  "/api/DnsReverseLookupZone/{NetworkID}",
		Scope: identity.DNSDelete, Effect: Delete, Extent: "records",
		Params: []Param{networkOrZone},
		Script: "Remove-GatewayZone", Fixed: ps.Args{"Form": ps.Text("Reverse"), "Force": ps.Bool(true)},
		Reply:   Reply{schema.ReverseZone, Single},
		Settle:  settleZone("Reverse"),
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:    zoneBack("reverseZone.create"),
		Guard:   Guard{Reader: "reverseZone.get"},
		Subject: "reverse zone '{NetworkIDOrZoneName}'",
		Success: "The {subject} was removed with {count:records}.",
		Needs:   Step{"reverseZone.create", Given{"NetworkID": "172.17.0.0/16"}},
		Sample:  Given{"NetworkIDOrZoneName": "172.17.0.0/16"},
	},
}

var networkOrZone = Param{
	Name: "NetworkIDOrZoneName", Path: "NetworkID", Arg: "ZoneName", Kind: schema.NetworkOrZone, Required: true,
	Doc: "Network of the zone, or the name of the zone.",
}

var ignoreSystemZones = Param{
	Name: "IgnoreSystemZones", Kind: schema.Bool, Default: "true",
	Doc: "Whether to leave out the zones that the server creates automatically.",
}

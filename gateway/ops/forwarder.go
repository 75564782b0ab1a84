package ops

import (
	"encoding/json"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

const (
	forwarderPath    = "/api/DnsConditionalForwarder/{ZoneName}"
	forwarderSubject = "conditional forwarder for '{ZoneName}'"
)

var forwarderRows = []*Operation{
	{
		ID: "forwarder.list", Summary: "Lists the conditional forwarders.",
		Path: "/api/DnsConditionalForwarder/All", Scope: identity.DNSRead, Effect: Read,
		Script: "Get-GatewayZoneList", Fixed: inForm("Forwarder"),
		Reply:   Reply{schema.ConditionalForwarder, List},
		Subject: "conditional forwarders",
	},
	{
		ID: "forwarder.get", Summary: "Finds a conditional forwarder.",
		Path: forwarderPath, Scope: identity.DNSRead, Effect: Read,
		Params: []Param{forwarded("partner.example", schema.Zone)},
		Script: "Get-GatewayZone", Fixed: inForm("Forwarder"),
		Fails:   []schema.Code{schema.NotFound},
		Subject: forwarderSubject,
	},
	{
		ID: "forwarder.create", Summary: "Creates a conditional forwarder. Also requires the scope `privileged`.",
		Path: forwarderPath, Scope: identity.DNSWrite, Effect: Create, Disrupts: true,
		Params: []Param{
			forwarded("ally.example", schema.NewZone),
			{Name: "MasterServers", Kind: schema.Addresses, Required: true, Doc: "DNS servers to which queries are forwarded."},
			{Name: "ForwarderTimeout", Kind: forwarderTimeout, Default: "5", Doc: "Time to wait for each server, in seconds."},
			{Name: "UseRecursion", Kind: schema.Bool, Default: "false", Doc: "Whether to use recursion if the servers do not answer."},
			{Name: "ReplicationScope", Kind: newForwarderScope, Default: "Domain", Doc: "Replication scope: Server stores the forwarder only on this server, the others store it in the directory."},
			inPartition,
		},
		Rules:   []Rule{customPartition},
		Script:  "New-GatewayForwarder",
		Settle:  settleZone("Forwarder"),
		Fails:   []schema.Code{schema.Conflict, schema.Protected, schema.NotEmpty, schema.Unprocessable},
		Undo:    called("forwarder.delete", sameZone),
		Subject: forwarderSubject,
		Success: "The {subject} was created.",
	},
	{
		ID: "forwarder.update", Summary: "Changes a conditional forwarder. Also requires the scope `privileged`.",
		Path: forwarderPath, Scope: identity.DNSWrite, Effect: Update, Disrupts: true,
		Params: []Param{
			forwarded("partner.example", schema.Zone),
			{Name: "MasterServers", Kind: schema.Addresses, Doc: "DNS servers to which queries are forwarded."},
			{Name: "ForwarderTimeout", Kind: forwarderTimeout, Example: "10", Doc: "Time to wait for each server, in seconds."},
			{Name: "UseRecursion", Kind: schema.Bool, Doc: "Whether to use recursion if the servers do not answer."},
			{Name: "ReplicationScope", Kind: forwarderScope, Doc: "Replication scope: Server stores the forwarder only on this server, the others store it in the directory. It cannot be changed to or from Server."},
		},
		Script:    "Set-GatewayForwarder",
		Settle:    settleZone("Forwarder"),
		Fails:     []schema.Code{schema.NotFound, schema.Conflict, schema.Unprocessable},
		Undo:      restored("forwarder.update", sameZone),
		Guard:     Guard{Reader: "forwarder.get"},
		Subject:   forwarderSubject,
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    Given{"ZoneName": "partner.example", "ForwarderTimeout": json.Number("9")},
	},
	{
		ID: "forwarder.delete", Summary: "Removes a conditional forwarder. Also requires the scope `privileged`.",
		Path: forwarderPath, Scope: identity.DNSDelete, Effect: Delete,
		Params: []Param{forwarded("partner.example", schema.Zone)},
		Script: "Remove-GatewayZone", Fixed: inForm("Forwarder"),
		Settle:  settleZone("Forwarder"),
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected},
		Undo:    called("forwarder.create", forwarderBack),
		Guard:   Guard{Reader: "forwarder.get"},
		Subject: forwarderSubject,
		Success: "The {subject} was removed.",
		Needs:   Step{"forwarder.create", Given{"ZoneName": "forwarded.example", "MasterServers": "10.9.0.53"}},
		Sample:  Given{"ZoneName": "forwarded.example"},
	},
}

var (
	forwarderTimeout  = schema.Number(0, 15)
	newForwarderScope = schema.OneOf("Not case-sensitive.", "Domain", "Forest", "Legacy", "Custom", "Server")
	forwarderScope    = schema.OneOf("Not case-sensitive.", "Domain", "Forest", "Legacy", "Server")
)

// forwarded returns the parameter for the names to forward.
func forwarded(example string, kind schema.Kind) Param {
	return Param{Name: zoneParam, Path: "ZoneName", Kind: kind, Required: true, Example: example,
		Doc: "Domain whose queries are forwarded."}
}

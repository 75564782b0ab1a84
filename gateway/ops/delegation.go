package ops

import (
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

const (
	delegationSubject = "delegation of '{ChildName}' in zone '{ZoneName}'"
	serverParam       = "NameServer"
)

var delegationRows = []*Operation{
	{
		ID: "delegation.list", Summary: "Lists the delegations of a zone, one record per name server.",
		Path: "/api/DnsDelegation/{ZoneName}", Scope: identity.DNSRead, Effect: Read,
		Params:  []Param{anyZone},
		Script:  "Get-GatewayDelegationList",
		Reply:   Reply{schema.Delegation, List},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict},
		Subject: zoneSubject,
	},
	{
		ID: "delegation.create", Summary: "Delegates a name in a zone to a name server, or adds a name server to an existing delegation.",
		Path: "/api/DnsDelegation", Scope: identity.DNSWrite, Effect: Create,
		Params: []Param{
			delegatingZone, childName("branch2"),
			{Name: serverParam, Kind: schema.NewTarget, Required: true, Example: "ns1.branch2.corp.example", Doc: "Name server; without a dot, a name in the zone."},
			{Name: "IP_Address", Arg: "Address", Kind: schema.Addresses, Required: true, Doc: "Addresses of the name server. The zone stores them if the name of the name server is in the zone."},
		},
		Rules:   []Rule{delegationFits},
		Script:  "New-GatewayDelegation",
		Reply:   Reply{schema.Delegation, Single},
		Settle:  Settle{Script: "Confirm-GatewayDelegation"},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous, schema.Protected, schema.NotEmpty, schema.Unprocessable},
		Undo:    madeDelegation,
		Subject: delegationSubject,
		Success: "The {subject} to '{NameServer}' was created.",
		Sample: Given{
			"ZoneName": "corp.example", "ChildName": "branch", "NameServer": "ns1.branch.corp.example",
			"IP_Address": "10.9.1.1",
		},
	},
	{
		ID: "delegation.delete", Summary: "Removes a name server from the delegation of a name, or the whole delegation.",
		Path: "/api/DnsDelegation", Scope: identity.DNSDelete, Effect: Delete,
		Params: []Param{
			delegatingZone, childName("lab"),
			{Name: serverParam, Kind: schema.Target, Audited: true, Example: "ns1.lab.corp.example", Doc: "Name server to remove. If absent, the whole delegation is removed."},
		},
		Rules:   []Rule{delegationFits},
		Script:  "Remove-GatewayDelegation",
		Reply:   Reply{schema.Delegation, List},
		Settle:  Settle{Script: "Confirm-GatewayDelegation"},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous, schema.Protected, schema.Unprocessable},
		Undo:    Undo{Rows: []string{"delegation.create"}, Calls: delegationBack},
		Guard:   Guard{Never: "delegations have no tags"},
		Subject: delegationSubject,
		Success: "The {subject} was removed: {records}.",
		Needs: Step{"delegation.create", Given{
			"ZoneName": "corp.example", "ChildName": "left", "NameServer": "ns1.left.corp.example", "IP_Address": "10.9.1.1",
		}},
		Sample: Given{"ZoneName": "corp.example", "ChildName": "left"},
	},
}

var delegatingZone = Param{Name: zoneParam, Kind: schema.Zone, Required: true,
	Doc: "Zone that delegates the name."}

// childName returns the parameter for the name to delegate.
func childName(example string) Param {
	return Param{Name: childParam, Kind: schema.ChildZone, Required: true, Example: example,
		Doc: "Delegated name, either relative to the zone or fully qualified, that is, ending with the name of " +
			"the zone or with a dot."}
}

// delegationFits rejects names that, completed by the zone, are too long.
var delegationFits = Rule{
	Doc: "a name and its zone together can have at most 253 characters",
	Apply: func(b *Bound) []schema.FieldError {
		child, server, zone := b.Text(childParam), b.Text(serverParam), b.Text(zoneParam)
		var problems []schema.FieldError
		if message := unmeantOwner(child, zone); message != "" && b.Op.Effect.Creates() {
			problems = append(problems,
				schema.FieldError{Field: childParam, Code: schema.Unprocessable, Message: message})
		}
		if !insideZone(child, zone) && len(child)+1+len(zone) > schema.DomainLimit {
			problems = append(problems,
				schema.FieldError{Field: childParam, Code: schema.Unprocessable, Message: tooLong})
		}
		if !strings.Contains(server, ".") && len(server)+1+len(zone) > schema.DomainLimit {
			problems = append(problems,
				schema.FieldError{Field: serverParam, Code: schema.Unprocessable, Message: tooLong})
		}
		return problems
	},
}

package ops

import (
	"net/http"
	"strings"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	cnameSubject = "CNAME record '{DNS_HostName}' with the target '{DNS_HostName_Alias}' in zone '{ZoneName}'"
	zoneParam    = "ZoneName"
)

var cnameRows = []*Operation{
	{
		ID: "cname.get", Row: 1, Summary: "Finds one CNAME record.",
		Method: http.MethodGet, Path: "/api/DnsCNameRecord",
		Scope: auth.DNSRead, Effect: Read,
		Params:  cnameParams(schema.Owner, schema.Target),
		Rules:   []Rule{namesFit(schema.NotFound)},
		Script:  "Get-GatewayCName",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict},
		Subject: cnameSubject,
	},
	{
		ID: "cname.listZone", Row: 2, Summary: "Lists the CNAME records of a zone.",
		Method: http.MethodGet, Path: "/api/DnsCNameRecord/{ZoneName}",
		Scope: auth.DNSRead, Effect: Read,
		Params:  []Param{{Name: zoneParam, Path: "ZoneName", Kind: schema.Zone, Required: true, Doc: "The zone."}},
		Script:  "Get-GatewayCNameList",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, List},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict},
		Subject: "zone '{ZoneName}'",
	},
	{
		ID: "cname.listAll", Row: 3, Summary: "Lists the CNAME records of all zones.",
		Method: http.MethodGet, Path: "/api/DnsCNameRecord/All",
		Scope: auth.DNSRead, Effect: Read,
		Script:  "Get-GatewayCNameList",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, List},
		Subject: "CNAME records",
	},
	{
		ID: "cname.listHostName", Row: 4, Summary: "Lists the CNAME records of an owner name in all zones.",
		Method: http.MethodGet, Path: "/api/DnsCNameRecord/HostName/{DNS_HostName}",
		Scope: auth.DNSRead, Effect: Read,
		Params:  []Param{{Name: "DNS_HostName", Path: "DNS_HostName", Arg: "Name", Kind: schema.Owner, Required: true, Doc: "The owner name, relative to its zone or in full."}},
		Script:  "Get-GatewayCNameList",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, List},
		Subject: "name '{DNS_HostName}'",
	},
	{
		ID: "cname.listAlias", Row: 5, Summary: "Lists the CNAME records with a target in all zones.",
		Method: http.MethodGet, Path: "/api/DnsCNameRecord/HostNameAlias/{DNS_HostName_Alias}",
		Scope: auth.DNSRead, Effect: Read,
		Params:  []Param{{Name: "DNS_HostName_Alias", Path: "DNS_HostName_Alias", Arg: "Target", Kind: schema.Target, Required: true, Doc: "The target; without any dot it is a name in each record's own zone."}},
		Script:  "Get-GatewayCNameList",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, List},
		Subject: "target '{DNS_HostName_Alias}'",
	},
	{
		ID: "cname.create", Row: 6, Summary: "Creates a CNAME record.",
		Method: http.MethodPost, Path: "/api/DnsCNameRecord",
		Scope: auth.DNSWrite, Effect: Create,
		Params:  cnameParams(schema.NewOwner, schema.NewTarget),
		Rules:   []Rule{namesFit(schema.Unprocessable)},
		Script:  "New-GatewayCName",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, Single},
		Settle:  settleCName,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Subject: cnameSubject,
		Success: "The {subject} was created.",
	},
	{
		ID: "cname.delete", Row: 7, Summary: "Removes one CNAME record.",
		Method: http.MethodDelete, Path: "/api/DnsCNameRecord",
		Scope: auth.DNSDelete, Effect: Delete,
		Params:  cnameParams(schema.Owner, schema.Target),
		Rules:   []Rule{namesFit(schema.NotFound)},
		Script:  "Remove-GatewayCName",
		Lane:    ps.DNS,
		Reply:   Reply{schema.CName, Single},
		Settle:  settleCName,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict},
		Subject: cnameSubject,
		Success: "The {subject} was removed.",
	},
}

// cnameParams returns the parameters that identify a record. The kinds keep a
// trailing dot, because the scripts complete both names from the zone.
func cnameParams(owner, target schema.Kind) []Param {
	return []Param{
		{Name: ownerParam, Arg: "Name", Kind: owner, Required: true, Doc: "The owner name: relative to the zone, or a full name inside it; @ is the zone itself."},
		{Name: "DNS_HostName_Alias", Arg: "Target", Kind: target, Required: true, Doc: "The target. Without any dot it is a name in the zone."},
		{Name: zoneParam, Kind: schema.Zone, Required: true, Doc: "The zone."},
	}
}

// namesFit rejects names that are too long together with the zone, which the
// server would call malformed. No such record can exist, so reads and removals
// answer not_found.
func namesFit(code schema.Code) Rule {
	return Rule{
		Doc: "names completed by the zone are at most 253 characters long",
		Apply: func(b *Bound) []schema.Problem {
			owner, target, zone := b.Text(ownerParam), b.Text("DNS_HostName_Alias"), b.Text(zoneParam)
			var problems []schema.Problem
			if !insideZone(owner, zone) && len(owner)+1+len(zone) > schema.DomainLimit {
				problems = append(problems, schema.Problem{Field: ownerParam, Code: code, Message: tooLong})
			}
			if !strings.Contains(target, ".") && len(target)+1+len(zone) > schema.DomainLimit {
				problems = append(problems, schema.Problem{Field: "DNS_HostName_Alias", Code: code, Message: tooLong})
			}
			return problems
		},
	}
}

const tooLong = "is too long together with the zone: a DNS name has at most 253 characters"

// insideZone reports whether the scripts take a name as a full one.
func insideZone(name, zone string) bool {
	plain, absolute := strings.CutSuffix(Fold(name), ".")
	return absolute || plain == "@" || plain == Fold(zone) || strings.HasSuffix(plain, "."+Fold(zone))
}

package story

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const (
	zonesPath      = "/api/DnsZones/"
	lookupPath     = "/api/DnsLookupZone/"
	forwarderPath  = "/api/DnsConditionalForwarder/"
	delegationPath = "/api/DnsDelegation"
)

func ask(method, path string, params ...string) systemtest.Call {
	c := systemtest.Call{Method: method, Path: path, Params: map[string]any{}}
	for i := 0; i+1 < len(params); i += 2 {
		c.Params[params[i]] = params[i+1]
	}
	return c
}

// TestTheLifeOfAForwardZone: every endpoint of forward zones works.
func TestTheLifeOfAForwardZone(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	const path = lookupPath + "life.example"
	made := s.OK(ask("POST", path), http.StatusCreated)
	assert.Equal(t, map[string]any{
		"distinguishedName": "DC=life.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example", "zoneName": "life.example", "zoneType": "Primary", "type": "DS",
		"lookup": "Forward", "directoryPartition": "DomainDnsZones.corp.example", "replicationScope": "Domain", "dynamicUpdate": "Secure", "readOnly": false, "paused": false, "signed": false, "autoCreated": false,
		"zoneFile": nil, "masterServers": []any{},
	}, made)
	for _, route := range []string{zonesPath + "life.example", zonesPath + "LIFE.example."} {
		assert.Equal(t, made, s.OK(ask("GET", route), http.StatusOK), route)
	}
	assert.Equal(t, true, s.OK(ask("GET", zonesPath+"life.example/Exists"), http.StatusOK)["exists"])
	for _, list := range []systemtest.Call{ask("GET", zonesPath+"All"), ask("GET", lookupPath+"All"),
		ask("GET", zonesPath+"All", "Lookup", "forward", "ZoneType", "PRIMARY")} {
		assert.Contains(t, s.Do(list).Envelope.Result, made)
	}
	assert.NotContains(t, s.Do(ask("GET", zonesPath+"All", "Lookup", "Reverse")).Envelope.Result, made)
	assert.NotContains(t, s.Do(ask("GET", zonesPath+"All", "ZoneType", "Stub")).Envelope.Result, made)
	s.Rejects(ask("POST", path), http.StatusConflict, "conflict")
	s.Rejects(ask("POST", lookupPath+"Life.Example."), http.StatusConflict, "conflict")

	changed := s.OK(ask("PUT", path, "DynamicUpdate", "none", "ReplicationScope", "forest"), http.StatusOK)
	assert.Equal(t, []any{"None", "Forest",
		"DC=life.example,cn=MicrosoftDNS,DC=ForestDnsZones,DC=corp,DC=example"},
		[]any{changed["dynamicUpdate"], changed["replicationScope"], changed["distinguishedName"]})
	s.ChangesNothing(ask("PUT", path, "DynamicUpdate", "None"))
	s.ChangesNothing(ask("PUT", path))

	s.OK(ask("POST", "/api/DnsCNameRecord", "DNS_HostName", "www", "DNS_HostName_Alias", "web1.corp.example",
		"ZoneName", "life.example"), http.StatusCreated)
	refused := s.Rejects(ask("DELETE", path), http.StatusConflict, "not_empty")
	assert.Contains(t, refused.Envelope.Output, "has 1 record besides its SOA and name servers")
	removed := s.Do(ask("DELETE", path, "Force", "true"))
	require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
	assert.Contains(t, removed.Envelope.Output, "with 4 records")
	assert.Equal(t, []map[string]any{changed}, removed.Envelope.Result)
	s.Rejects(ask("DELETE", path), http.StatusNotFound, "not_found")
	s.Rejects(ask("GET", zonesPath+"life.example"), http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.OK(ask("GET", zonesPath+"life.example/Exists"), http.StatusOK)["exists"])

	file := s.OK(ask("POST", path, "ReplicationScope", "File"), http.StatusCreated)
	assert.Equal(t, []any{"File", "File", "None", "life.example.dns", ""},
		[]any{file["type"], file["replicationScope"], file["dynamicUpdate"], file["zoneFile"],
			file["distinguishedName"]})
	s.OK(ask("DELETE", path), http.StatusOK) // the zone contains only its SOA and name servers
	assert.Empty(t, start.Compare(s.Snapshot()))
}

// TestZonesOfEveryType: lists name the type of each zone, and show system zones only on request.
func TestZonesOfEveryType(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, want := range map[string][]any{
		"corp.example":     {"Primary", "DS", "Forward", "Domain", false, []any{}},
		"10.in-addr.arpa":  {"Primary", "DS", "Reverse", "Domain", false, []any{}},
		"shop.example":     {"Primary", "File", "Forward", "File", false, []any{}},
		"supplier.example": {"Secondary", "File", "Forward", "File", true, []any{"198.51.100.53", "2001:db8:99::53"}},
		"lab.example":      {"Stub", "File", "Forward", "File", true, []any{"10.9.0.10"}},
		"partner.example":  {"Forwarder", "DS", "Forward", "Domain", false, []any{"203.0.113.10", "203.0.113.11"}},
	} {
		z := s.OK(ask("GET", zonesPath+name), http.StatusOK)
		assert.Equal(t, want, []any{z["zoneType"], z["type"], z["lookup"], z["replicationScope"], z["readOnly"],
			z["masterServers"]}, name)
	}
	all := len(s.Get(zonesPath + "All").Envelope.Result)
	assert.Len(t, s.Do(ask("GET", zonesPath+"All", "IgnoreSystemZones", "false")).Envelope.Result, all+4)
	refused := s.Rejects(ask("GET", zonesPath+"TrustAnchors"), http.StatusNotFound, "not_found")
	assert.Contains(t, refused.Envelope.Output, "IgnoreSystemZones=false")
	s.OK(ask("GET", zonesPath+"TrustAnchors", "IgnoreSystemZones", "false"), http.StatusOK)
	assert.Equal(t, false, s.OK(ask("GET", zonesPath+"TrustAnchors/Exists"), http.StatusOK)["exists"])
	assert.Equal(t, true, s.OK(ask("GET", zonesPath+"TrustAnchors/Exists", "IgnoreSystemZones", "false"),
		http.StatusOK)["exists"])
}

// refusal is a refused call with its caller and the text of the answer.
type refusal struct {
	call   systemtest.Call
	token  string // "" for a token with every scope
	status int
	code   string
	says   string
}

func refuses(t *testing.T, cases []refusal) {
	t.Helper()
	for _, culture := range systemtest.Cultures {
		s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s/%s %s %v %s", culture, c.call.Method, c.call.Path, c.call.Params, c.token),
				func(t *testing.T) {
					a := s.In(t).Rejects(c.call.As(c.token), c.status, c.code)
					assert.Contains(t, a.Envelope.Output, c.says)
				})
		}
	}
}

var label63, name253 = strings.Repeat("a", 63), strings.Repeat("a.", 126) + "b"

func TestWhatForwardZonesRefuse(t *testing.T) {
	const plain, privileged = systemtest.PlainToken, "needs the scope 'privileged'"
	zone := func(method, name string, params ...string) systemtest.Call {
		return ask(method, lookupPath+name, params...)
	}
	refuses(t, []refusal{
		{zone("POST", "10.in-addr.arpa"), "", 400, "invalid_request", "names under arpa"},
		{zone("POST", "a"+label63+".example"), "", 400, "invalid_request", "63 characters"},
		{zone("POST", "b"+name253), "", 400, "invalid_request", "253 characters"},
		{zone("POST", "*.example"), "", 400, "invalid_request", "zone name"},
		{zone("POST", "new.example", "ReplicationScope", "Custom"), "", 400, "invalid_request", "is required with ReplicationScope=Custom"},
		{zone("POST", "new.example", "DynamicUpdate", "All"), "", 400, "invalid_request", "None, Secure or NonsecureAndSecure"},
		{zone("POST", "new.example", "ReplicationScope", "File", "DynamicUpdate", "Secure"), "", 422, "unprocessable", "secure updates"},
		{zone("POST", "new.example", "DynamicUpdate", "None"), plain, 403, "forbidden", privileged},
		{zone("POST", "new.example", "DynamicUpdate", "NonsecureAndSecure", "ReplicationScope", "File"), plain, 403, "forbidden", privileged},
		{zone("POST", "wpad.corp.example"), plain, 403, "forbidden", privileged},
		{zone("POST", "dc1.corp.example"), plain, 403, "forbidden", "name of a domain controller"},
		{zone("POST", "TrustAnchors"), "", 409, "protected", "belongs to the DNS server itself"},
		{zone("POST", "_msdcs.other.example"), "", 409, "protected", "domain controllers find each other"},
		{zone("POST", "Shop.example"), "", 409, "conflict", "exists already"},
		{zone("POST", "partner.example"), "", 409, "conflict", "A conditional forwarder for 'partner.example' exists"},
		{zone("POST", "lab.corp.example"), "", 409, "conflict", "is delegated in the zone 'corp.example'"},
		{zone("POST", "dev.corp.example"), "", 409, "not_empty", "would hide 2 records"},
		{zone("POST", "www.shop.example"), "", 409, "not_empty", "would hide 1 record that"},
		{zone("POST", "x.legacy.example"), "", 409, "conflict", "paused"},
		{ask("POST", "/api/DnsReverseLookupZone/10.0.1.0/24"), "", 409, "not_empty", "records that the zone '10.in-addr.arpa' has"},

		{zone("PUT", "corp.example", "DynamicUpdate", "None"), plain, 403, "forbidden", privileged},
		{zone("PUT", "corp.example"), plain, 403, "forbidden", privileged},
		{zone("PUT", "corp.example", "ReplicationScope", "File"), "", 422, "unprocessable", "cannot be changed to File"},
		{zone("PUT", "shop.example", "ReplicationScope", "Domain"), "", 422, "unprocessable", "cannot be changed to Domain"},
		{zone("PUT", "shop.example", "DynamicUpdate", "Secure"), "", 422, "unprocessable", "zone in the directory"},
		{zone("PUT", "partner.example", "DynamicUpdate", "None"), "", 409, "conflict", "a conditional forwarder"},
		{zone("PUT", "supplier.example", "DynamicUpdate", "None"), "", 409, "conflict", "a secondary zone"},
		{zone("PUT", "lab.example", "DynamicUpdate", "None"), "", 409, "conflict", "a stub zone"},
		{zone("PUT", "TrustAnchors", "DynamicUpdate", "None"), "", 409, "protected", "belongs to the DNS server"},
		{zone("PUT", "absent.example", "DynamicUpdate", "None"), "", 404, "not_found", "was not found"},
		{zone("PUT", "10.in-addr.arpa"), "", 400, "invalid_request", "names under arpa"},

		{zone("DELETE", "corp.example", "Force", "true"), "", 409, "protected", "is that of the domain"},
		{zone("DELETE", "_msdcs.corp.example", "Force", "true"), "", 409, "protected", "domain controllers"},
		{zone("DELETE", "TrustAnchors", "Force", "true"), "", 409, "protected", "DNS server itself"},
		{zone("DELETE", "partner.example", "Force", "true"), "", 409, "conflict", "is a conditional forwarder"},
		{zone("DELETE", "lab.example", "Force", "true"), "", 409, "conflict", "a stub zone"},
		{zone("DELETE", "supplier.example", "Force", "true"), "", 409, "conflict", "a secondary zone"},
		{zone("DELETE", "shop.example"), "", 409, "not_empty", "has 13 records besides"},
		{zone("DELETE", "shop.example", "Force", "true"), plain, 403, "forbidden", "wildcard"},
		{zone("DELETE", "legacy.example"), "", 409, "conflict", "paused"},
		{zone("DELETE", "legacy.example", "Force", "true"), plain, 403, "forbidden", "could not be read"},
		{zone("DELETE", "absent.example"), "", 404, "not_found", "was not found"},
		{zone("DELETE", "127.in-addr.arpa"), "", 400, "invalid_request", "names under arpa"},
		{zone("DELETE", "shop.example", "Force", "yes"), "", 400, "invalid_request", "true or false"},
	})
}

func TestWhatForwardersRefuse(t *testing.T) {
	const plain, masters = systemtest.PlainToken, "MasterServers"
	forwarder := func(method, name string, params ...string) systemtest.Call {
		return ask(method, forwarderPath+name, params...)
	}
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("10.9.1.%d", i+1))
	}
	refuses(t, []refusal{
		{forwarder("POST", "ally.example", masters, "10.9.0.1"), plain, 403, "forbidden", "diverts all names"},
		{forwarder("POST", "partner.example", masters, "10.9.0.1"), "", 409, "conflict", "exists already"},
		{forwarder("POST", "shop.example", masters, "10.9.0.1"), "", 409, "conflict", "exists already"},
		{forwarder("POST", "_msdcs.other.example", masters, "10.9.0.1"), "", 409, "protected", "domain controllers"},
		{forwarder("POST", "dev.corp.example", masters, "10.9.0.1"), "", 409, "not_empty", "would hide 2 records"},
		{forwarder("POST", "ally.example", masters, strings.Join(many, ",")), "", 400, "invalid_request", "at most 20 addresses"},
		{forwarder("POST", "ally.example", masters, "ns1.ally.example"), "", 400, "invalid_request", "must be addresses"},
		{forwarder("POST", "ally.example", masters, "127.0.0.1"), "", 422, "unprocessable", "other hosts"},
		{forwarder("POST", "ally.example", masters, ""), "", 400, "invalid_request", "is required"},
		{forwarder("POST", "ally.example", masters, "10.9.0.1", "ForwarderTimeout", "16"), "", 400, "invalid_request", "from 0 to 15"},
		{forwarder("POST", "ally.example", masters, "10.9.0.1", "ReplicationScope", "File"), "", 400, "invalid_request", "Legacy, Custom or Server"},
		{forwarder("GET", "shop.example"), "", 404, "not_found", "is a primary zone"},
		{forwarder("GET", "absent.example"), "", 404, "not_found", "was not found"},
		{forwarder("PUT", "partner.example", "ForwarderTimeout", "3"), plain, 403, "forbidden", "diverts all names"},
		{forwarder("PUT", "shop.example", "ForwarderTimeout", "3"), "", 409, "conflict", "but a primary zone"},
		{forwarder("PUT", "absent.example", "ForwarderTimeout", "3"), "", 404, "not_found", "was not found"},
		{forwarder("PUT", "partner.example", "ReplicationScope", "Server"), "", 422, "unprocessable", "cannot be changed to Server"},
		{forwarder("DELETE", "partner.example"), plain, 403, "forbidden", "diverts all names"},
		{forwarder("DELETE", "shop.example"), "", 409, "conflict", "but a primary zone"},
		{forwarder("DELETE", "absent.example"), "", 404, "not_found", "was not found"},
	})
}

func TestWhatDelegationsRefuse(t *testing.T) {
	const plain = systemtest.PlainToken
	delegate := func(zone, child, server, address string) systemtest.Call {
		return ask("POST", delegationPath, "ZoneName", zone, "ChildName", child, "NameServer", server, "IP_Address",
			address)
	}
	remove := func(zone, child string, more ...string) systemtest.Call {
		return ask("DELETE", delegationPath, append(more, "ZoneName", zone, "ChildName", child)...)
	}
	refuses(t, []refusal{
		{delegate("absent.example", "x", "ns1.x", "10.9.1.1"), "", 404, "not_found", "was not found"},
		{delegate("partner.example", "x", "ns1.x", "10.9.1.1"), "", 409, "conflict", "a conditional forwarder"},
		{delegate("supplier.example", "x", "ns1.x", "10.9.1.1"), "", 409, "conflict", "a secondary zone"},
		{delegate("corp.example", "@", "ns1.x", "10.9.1.1"), "", 400, "invalid_request", "DNS name"},
		{delegate("corp.example", "corp.example", "ns1.x", "10.9.1.1"), "", 422, "unprocessable", "does not lie below"},
		{delegate("corp.example", "x.other.", "ns1.x", "10.9.1.1"), "", 422, "unprocessable", "does not lie below"},
		{delegate("corp.example", label63+"a", "ns1.x", "10.9.1.1"), "", 400, "invalid_request", "63 characters"},
		{delegate("corp.example", strings.Repeat("a.", 121)+"b", "ns1.x", "10.9.1.1"), "", 422, "unprocessable", "together with the zone"},
		{delegate("corp.example", "wpad", "ns1.x.example", "10.9.1.1"), plain, 403, "forbidden", "proxy"},
		{delegate("corp.example", "_msdcs", "ns1.x.example", "10.9.1.1"), plain, 403, "forbidden", "domain controllers"},
		{delegate("corp.example", "www", "ns1.x.example", "10.9.1.1"), "", 409, "not_empty", "have 1 other record that"},
		{delegate("corp.example", "dev", "ns1.x.example", "10.9.1.1"), "", 409, "not_empty", "have 2 other records that"},
		{delegate("corp.example", "lab", "NS1.lab.corp.example.", "10.9.0.10"), "", 409, "conflict", "already"},
		{delegate("corp.example", "x.lab", "ns1.x.example", "10.9.1.1"), "", 409, "conflict", "below a delegation"},
		{delegate("corp.example", "x._msdcs", "ns1.x.example", "10.9.1.1"), "", 409, "conflict", "in a deeper zone"},
		{delegate("corp.example", "branch", "dc1", "6.6.6.6"), "", 409, "conflict", "has other addresses"},
		{delegate("corp.example", "branch", "www", "6.6.6.6"), "", 409, "conflict", "is a CNAME"},
		{delegate("corp.example", "branch", "isatap", "6.6.6.6"), plain, 403, "forbidden", "router"},
		{delegate("corp.example", "branch", "ns1.branch", "nowhere"), "", 400, "invalid_request", "must be addresses"},
		{delegate("corp.example", "branch", "a b", "10.9.1.1"), "", 422, "unprocessable", "DNS host name"},
		{ask("POST", delegationPath, "ZoneName", "corp.example", "ChildName", "branch", "NameServer", "ns1.branch"), "", 400, "invalid_request", "is required"},
		{remove("corp.example", "branch"), "", 404, "not_found", "is not delegated"},
		{remove("corp.example", "lab", "NameServer", "ns9.lab.corp.example"), "", 404, "not_found", "is not delegated to"},
		{remove("corp.example", "_msdcs"), plain, 403, "forbidden", "domain controllers"},
		{remove("absent.example", "lab"), "", 404, "not_found", "was not found"},
		{ask("GET", delegationPath+"/partner.example"), "", 409, "conflict", "has no delegations"},
		{ask("GET", delegationPath+"/absent.example"), "", 404, "not_found", "was not found"},
		{ask("GET", delegationPath+"/legacy.example"), "", 503, "unavailable", "paused"},

		{ask("GET", zonesPath+"supplier.example/Aging"), "", 409, "conflict", "does not age records"},
		{ask("GET", zonesPath+"absent.example/Aging"), "", 404, "not_found", "was not found"},
		{ask("PUT", zonesPath+"corp.example/Aging", "RefreshHours", "8761"), "", 400, "invalid_request", "from 0 to 8760"},
		{ask("PUT", zonesPath+"corp.example/Aging", "NoRefreshHours", "-1"), "", 400, "invalid_request", "from 0 to 8760"},
		{ask("PUT", zonesPath+"corp.example/Aging", "Aging", "false"), plain, 403, "forbidden", "not refreshed in time"},
		{ask("PUT", zonesPath+"supplier.example/Aging", "Aging", "true"), "", 409, "conflict", "a secondary zone"},
		{ask("PUT", zonesPath+"TrustAnchors/Aging", "Aging", "true"), "", 409, "protected", "DNS server itself"},
		{ask("GET", zonesPath+"partner.example/Statistics"), "", 409, "conflict", "counts nothing"},
		{ask("GET", zonesPath+"absent.example/Statistics"), "", 404, "not_found", "was not found"},
	})
}

// TestTheLifeOfAForwarder: a forwarder can be stored in the directory or on the server.
func TestTheLifeOfAForwarder(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	const path = forwarderPath + "ally.example"
	made := s.OK(systemtest.Call{Method: "POST", Path: path,
		Params: map[string]any{"MasterServers": []any{"10.9.0.1", "2001:DB8:0::9"}}}, http.StatusCreated)
	assert.Equal(t, map[string]any{"zoneName": "ally.example", "masterServers": []any{"10.9.0.1", "2001:db8::9"},
		"forwarderTimeout": 5.0, "useRecursion": false,
		"replicationScope": "Domain", "directoryPartition": "DomainDnsZones.corp.example"}, made)
	assert.Equal(t, made, s.OK(ask("GET", path), http.StatusOK))
	assert.Contains(t, s.Get(forwarderPath+"All").Envelope.Result, made)
	assert.Len(t, s.Get(forwarderPath+"All").Envelope.Result, 2)
	changed := s.OK(ask("PUT", path, "MasterServers", "10.9.0.2", "ForwarderTimeout", "15", "UseRecursion",
		"true", "ReplicationScope", "Forest"), http.StatusOK)
	assert.Equal(t, map[string]any{"zoneName": "ally.example", "masterServers": []any{"10.9.0.2"},
		"forwarderTimeout": 15.0, "useRecursion": true,
		"replicationScope": "Forest", "directoryPartition": "ForestDnsZones.corp.example"}, changed)
	s.ChangesNothing(ask("PUT", path, "MasterServers", "10.9.0.2", "ForwarderTimeout", "15"))
	s.ChangesNothing(ask("PUT", path))
	assert.Equal(t, changed, s.OK(ask("DELETE", path), http.StatusOK))
	alone := s.OK(ask("POST", path, "MasterServers", "10.9.0.1", "ReplicationScope", "Server",
		"ForwarderTimeout", "0"), http.StatusCreated)
	assert.Equal(t, []any{"Server", 0.0}, []any{alone["replicationScope"], alone["forwarderTimeout"]})
	s.Rejects(ask("PUT", path, "ReplicationScope", "Domain"), http.StatusUnprocessableEntity, "unprocessable")
	s.OK(ask("DELETE", path), http.StatusOK)
	// A delegated name may also be forwarded, because that hides nothing else.
	s.OK(ask("POST", forwarderPath+"lab.corp.example", "MasterServers", "10.9.0.10"), http.StatusCreated)
	s.OK(ask("DELETE", forwarderPath+"lab.corp.example"), http.StatusOK)
	// The operation for reverse zones does not remove forwarders, because that would need the scope privileged.
	s.OK(ask("POST", forwarderPath+"9.10.in-addr.arpa", "MasterServers", "10.9.0.10"), http.StatusCreated)
	s.Rejects(ask("DELETE", "/api/DnsReverseLookupZone/10.9.0.0/16").As(systemtest.PlainToken),
		http.StatusConflict, "conflict")
	s.OK(ask("DELETE", forwarderPath+"9.10.in-addr.arpa"), http.StatusOK)
	assert.Empty(t, start.Compare(s.Snapshot()))
}

// TestTheLifeOfADelegation: a delegation can have two name servers, even if the zone
// contains the address of only one.
func TestTheLifeOfADelegation(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	params := func(server string) map[string]any {
		return map[string]any{"ZoneName": "corp.example", "ChildName": "branch", "NameServer": server,
			"IP_Address": []any{"10.9.1.1", "2001:db8::9:1"}}
	}
	made := s.OK(systemtest.Call{Method: "POST", Path: delegationPath,
		Params: params("ns1.branch.corp.example")}, http.StatusCreated)
	assert.Equal(t, map[string]any{"zoneName": "corp.example", "childName": "branch",
		"nameServer": "ns1.branch.corp.example", "ipAddresses": []any{"10.9.1.1", "2001:db8::9:1"}}, made)
	more := s.Do(systemtest.Call{Method: "POST", Path: delegationPath, Params: params("ns.elsewhere.example")})
	require.Equal(t, http.StatusCreated, more.Status, "%s", more.Body)
	assert.Empty(t, s.Record(more)["ipAddresses"])
	assert.Equal(t, "no_addresses", more.Envelope.Warnings[0].Code)
	known := s.OK(ask("POST", delegationPath, "ZoneName", "corp.example", "ChildName", "Branch.corp.example",
		"NameServer", "dc1", "IP_Address", "10.0.0.10"), http.StatusCreated)
	assert.Equal(t, []any{"branch", "dc1.corp.example"}, []any{known["childName"], known["nameServer"]})
	list := s.Get(delegationPath + "/corp.example").Envelope.Result
	assert.Contains(t, list, made)
	assert.Len(t, list, 4+3)
	// No record can be added below the delegation.
	s.Rejects(ask("POST", "/api/DnsCNameRecord", "DNS_HostName", "www.branch", "DNS_HostName_Alias", "web1",
		"ZoneName", "corp.example"), http.StatusConflict, "conflict")

	one := s.Do(ask("DELETE", delegationPath, "ZoneName", "corp.example", "ChildName", "branch", "NameServer",
		"dc1"))
	assert.Len(t, one.Envelope.Result, 1, "%s", one.Body)
	rest := s.Do(ask("DELETE", delegationPath, "ZoneName", "corp.example", "ChildName", "branch"))
	assert.Len(t, rest.Envelope.Result, 2, "%s", rest.Body)
	assert.Contains(t, rest.Envelope.Output, "2 records")
	assert.Empty(t, start.Compare(s.Snapshot()))
}

func TestAgingAndStatistics(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const path = zonesPath + "_msdcs.corp.example/Aging"
	off := s.OK(ask("GET", path), http.StatusOK)
	assert.Equal(t, map[string]any{"zoneName": "_msdcs.corp.example", "enabled": false, "refreshHours": 168.0,
		"noRefreshHours":  168.0,
		"scavengeServers": []any{}, "availableAt": nil, "serverScavengingHours": 0.0}, off)
	a := s.Do(ask("PUT", path, "Aging", "true", "RefreshHours", "8760", "NoRefreshHours", "0"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	on := s.Record(a)
	assert.Equal(t, []any{true, 8760.0, 168.0}, []any{on["enabled"], on["refreshHours"], on["noRefreshHours"]})
	assert.NotNil(t, on["availableAt"])
	assert.Equal(t, "no_scavenging", a.Envelope.Warnings[0].Code)
	s.ChangesNothing(ask("PUT", path, "Aging", "true"))
	s.ChangesNothing(ask("PUT", path))
	assert.Equal(t, off, s.OK(ask("PUT", path, "Aging", "false", "RefreshHours", "168"), http.StatusOK))
	assert.Equal(t, 168.0, s.OK(ask("GET", zonesPath+"10.in-addr.arpa/Aging"), http.StatusOK)["refreshHours"])

	counted := s.OK(ask("GET", zonesPath+"corp.example/Statistics"), http.StatusOK)
	assert.Equal(t, "corp.example", counted["zoneName"])
	assert.NotEmpty(t, counted["queries"])
	assert.Equal(t, map[string]any{"received": 0.0, "rejected": 0.0}, counted["updates"])
	assert.Equal(t, map[string]any{"received": 0.0, "succeeded": 0.0, "failed": 0.0}, counted["transfers"])
}

// TestZonesOutsideTheLimits: a credential can see and create only zones within its limits. The gateway checks
// the limits before it looks up anything.
func TestZonesOutsideTheLimits(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, c := range []systemtest.Call{
		ask("GET", zonesPath+"shop.example"), ask("GET", zonesPath+"shop.example/Exists"), ask("GET", zonesPath+"shop.example/Aging"), ask("GET", zonesPath+"shop.example/Statistics"),
		ask("PUT", zonesPath+"shop.example/Aging", "Aging", "true"),
		ask("POST", lookupPath+"shop.example"), ask("POST", lookupPath+"new.example"), ask("POST", lookupPath+"_msdcs.example"), ask("POST", lookupPath+"sub.corp.example"),
		ask("PUT", lookupPath+"shop.example"), ask("PUT", lookupPath+"absent.example"), ask("DELETE", lookupPath+"shop.example"), ask("DELETE", lookupPath+"absent.example"),
		ask("GET", forwarderPath+"partner.example"), ask("POST", forwarderPath+"partner.example", "MasterServers", "10.9.0.1"), ask("PUT", forwarderPath+"partner.example"), ask("DELETE", forwarderPath+"partner.example"),
		ask("GET", delegationPath+"/shop.example"), ask("DELETE", delegationPath, "ZoneName", "shop.example", "ChildName", "x"),
		ask("POST", delegationPath, "ZoneName", "shop.example", "ChildName", "x", "NameServer", "ns1.x", "IP_Address", "10.9.1.1"),
	} {
		a := s.Rejects(c.As(systemtest.LimitedToken), http.StatusForbidden, "limit")
		assert.Contains(t, a.Envelope.Output, "corp.example", "the answer names the zones of the credential")
	}
	// The answer reports that a zone outside the limits would lose records, but does not name the zone.
	hidden := s.Rejects(ask("POST", lookupPath+systemtest.SubZone).As(systemtest.SubZoneToken),
		http.StatusConflict, "not_empty")
	assert.Equal(t, "'dev.corp.example' would hide records that the zone above it has at and below this "+
		"name. Move them first.", hidden.Envelope.Output)
	for owner, target := range map[string]string{"www.dev": "web3", "api.dev": "app3"} {
		s.OK(ask("DELETE", "/api/DnsCNameRecord", "DNS_HostName", owner, "DNS_HostName_Alias", target, "ZoneName",
			"corp.example"), http.StatusOK)
	}
	s.OK(ask("POST", lookupPath+systemtest.SubZone).As(systemtest.SubZoneToken), http.StatusCreated)
	for path, want := range map[string]int{zonesPath + "All": 1, lookupPath + "All": 1, forwarderPath + "All": 0,
		delegationPath + "/corp.example": 4} {
		a := s.Do(ask("GET", path).As(systemtest.LimitedToken))
		assert.Len(t, a.Envelope.Result, want, "%s: %s", path, a.Body)
	}
}

// TestValuesOfZonesInEveryPlace: values at the limits are accepted and values just beyond
// are refused, in query, form and JSON.
func TestValuesOfZonesInEveryPlace(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	var twenty []string
	for i := range 20 {
		twenty = append(twenty, fmt.Sprintf("10.9.1.%d", i+1))
	}
	masters := strings.Join(twenty, ",")
	for _, c := range []struct {
		name, masters, timeout string
		status                 int
	}{
		{"a.example", masters, "15", 201}, {label63 + ".example", "10.9.0.1", "0", 201}, {name253, "10.9.0.1", "5", 201}, {"single", "10.9.0.1", "5", 201},
		{"a.example", masters + ",10.9.2.1", "15", 400}, {"a.example", masters, "16", 400}, {"a.example", "", "15", 400}, {"a.example", "10.9.0.1,10.9.0.1", "15", 400},
		{"a" + label63 + ".example", "10.9.0.1", "0", 400}, {"a." + name253, "10.9.0.1", "5", 400}, {"a.example", "10.9.0.256", "5", 400}, {"a.example", "10.9.0.1", "5.0", 400},
	} {
		values := url.Values{"MasterServers": {c.masters}, "ForwarderTimeout": {c.timeout}}
		form := systemtest.Call{Method: "POST", Path: forwarderPath + c.name,
			Raw:     strings.NewReader(values.Encode()),
			Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
		query := systemtest.Call{Method: "POST", Path: forwarderPath + c.name + "?" + values.Encode()}
		for where, call := range map[string]systemtest.Call{"query": query, "form": form,
			"JSON": ask("POST", forwarderPath+c.name, "MasterServers", c.masters, "ForwarderTimeout", c.timeout)} {
			a := s.Do(call)
			assert.Equal(t, c.status, a.Status, "%s %+v: %s", where, c, a.Body)
			if a.Status == http.StatusCreated {
				s.OK(ask("DELETE", forwarderPath+c.name), http.StatusOK)
			}
		}
	}
}

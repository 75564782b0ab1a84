package systemtest

import "net/http"

const forwarderPath = "/api/DnsConditionalForwarder/"

var zoneSamples = map[string]Sample{
	"zone.list":       {},
	"zone.get":        {Params: map[string]any{"ZoneName": "corp.example"}},
	"zone.exists":     {Params: map[string]any{"ZoneName": "corp.example"}},
	"zone.getAging":   {Params: map[string]any{"ZoneName": "corp.example"}},
	"zone.setAging":   {Params: map[string]any{"ZoneName": "_msdcs.corp.example", "RefreshHours": 24}, Undo: Call{Method: http.MethodPut, Path: "/api/DnsZones/_msdcs.corp.example/Aging", Params: map[string]any{"RefreshHours": 168}}},
	"zone.statistics": {Params: map[string]any{"ZoneName": "corp.example"}},

	"lookupZone.list": {},
	"lookupZone.create": {
		Params: map[string]any{"ZoneName": "sample.example"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/DnsLookupZone/sample.example"},
	},
	"lookupZone.update": {
		Params: map[string]any{"ZoneName": "corp.example", "DynamicUpdate": "None"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/DnsLookupZone/corp.example", Params: map[string]any{"DynamicUpdate": "Secure"}},
	},
	"lookupZone.delete": {Params: map[string]any{"ZoneName": "removed.example"}},

	"forwarder.list": {},
	"forwarder.get":  {Params: map[string]any{"ZoneName": "partner.example"}},
	"forwarder.create": {
		Params: map[string]any{"ZoneName": "ally.example", "MasterServers": "10.9.0.53"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: forwarderPath + "ally.example"},
	},
	"forwarder.update": {
		Params: map[string]any{"ZoneName": "partner.example", "ForwarderTimeout": 9},
		Undo:   Call{Method: http.MethodPut, Path: forwarderPath + "partner.example", Params: map[string]any{"ForwarderTimeout": 5}},
	},
	"forwarder.delete": {Params: map[string]any{"ZoneName": "forwarded.example"}},

	"delegation.list": {Params: map[string]any{"ZoneName": "corp.example"}},
	"delegation.create": {
		Params: map[string]any{"ZoneName": "corp.example", "ChildName": "branch", "NameServer": "ns1.branch.corp.example", "IP_Address": "10.9.1.1"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/DnsDelegation", Params: map[string]any{"ZoneName": "corp.example", "ChildName": "branch"}},
	},
	"delegation.delete": {Params: map[string]any{"ZoneName": "corp.example", "ChildName": "left"}},
}

var zonesBefore = map[string]Call{
	"lookupZone.delete": {Method: http.MethodPost, Path: "/api/DnsLookupZone/removed.example"},
	"forwarder.delete":  {Method: http.MethodPost, Path: forwarderPath + "forwarded.example", Params: map[string]any{"MasterServers": "10.9.0.53"}},
	"delegation.delete": {Method: http.MethodPost, Path: "/api/DnsDelegation", Params: map[string]any{"ZoneName": "corp.example", "ChildName": "left", "NameServer": "ns1.left.corp.example", "IP_Address": "10.9.1.1"}},
}

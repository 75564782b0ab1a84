package systemtest

import (
	"net/http"
)

var dnsSamples = map[string]Sample{
	"cname.get":          {Params: map[string]any{"DNS_HostName": "www", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}},
	"cname.listZone":     {Params: map[string]any{"ZoneName": "corp.example"}},
	"cname.listAll":      {},
	"cname.listHostName": {Params: map[string]any{"DNS_HostName": "www"}},
	"cname.listAlias":    {Params: map[string]any{"DNS_HostName_Alias": "web1"}},
	"cname.create": {
		Params: map[string]any{"DNS_HostName": "sample", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/DnsCNameRecord", Params: map[string]any{"DNS_HostName": "sample", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}},
	},
	"cname.delete": {
		Params: map[string]any{"DNS_HostName": "www", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"},
		Undo:   Call{Method: http.MethodPost, Path: "/api/DnsCNameRecord", Params: map[string]any{"DNS_HostName": "www", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}},
	},
	"reverseZone.get":  {Params: map[string]any{"NetworkIDOrZoneName": "10.0.0.0/8"}},
	"reverseZone.list": {},
	"reverseZone.create": {
		Params: map[string]any{"NetworkID": "172.16.0.0/16"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/DnsReverseLookupZone/172.16.0.0/16"},
	},
	"reverseZone.delete": {Params: map[string]any{"NetworkIDOrZoneName": "172.17.0.0/16"}},
}

var dnsBefore = map[string]Call{
	"reverseZone.delete": {Method: http.MethodPost, Path: "/api/DnsReverseLookupZone/172.17.0.0/16"},
}

package test

import "net/http"

var dnsSamples = map[string]sample{
	"cname.get":          {params: map[string]any{"DNS_HostName": "www", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}},
	"cname.listZone":     {params: map[string]any{"ZoneName": "corp.example"}},
	"cname.listAll":      {},
	"cname.listHostName": {params: map[string]any{"DNS_HostName": "www"}},
	"cname.listAlias":    {params: map[string]any{"DNS_HostName_Alias": "web1"}},
	"cname.create": {
		params: map[string]any{"DNS_HostName": "sample", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/DnsCNameRecord", params: map[string]any{"DNS_HostName": "sample", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}},
	},
	"cname.delete": {
		params: map[string]any{"DNS_HostName": "www", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"},
		undo:   call{method: http.MethodPost, path: "/api/DnsCNameRecord", params: map[string]any{"DNS_HostName": "www", "DNS_HostName_Alias": "web1", "ZoneName": "corp.example"}},
	},
	"reverseZone.get":  {params: map[string]any{"NetworkIDOrZoneName": "10.0.0.0/8"}},
	"reverseZone.list": {},
	"reverseZone.create": {
		params: map[string]any{"NetworkID": "172.16.0.0/16"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/DnsReverseLookupZone/172.16.0.0/16"},
	},
	"reverseZone.delete": {params: map[string]any{"NetworkIDOrZoneName": "172.17.0.0/16"}},
}

var dnsBefore = map[string]call{
	"reverseZone.delete": {method: http.MethodPost, path: "/api/DnsReverseLookupZone/172.17.0.0/16"},
}

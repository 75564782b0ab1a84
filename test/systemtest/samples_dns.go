package systemtest

import (
	"maps"
	"net/http"

	"adgateway/gateway/schema"
)

var dnsSamples = map[string]Sample{
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

// DNSRecords are records of the built-in world by type: the parameters that identify
// one, and what of them a change makes new.
var DNSRecords = map[string]struct{ Params, New map[string]any }{
	"CNAME": {record("corp.example", "www", "DNS_HostName_Alias", "web1.corp.example"), map[string]any{"DNS_HostName_Alias": "web2.corp.example"}},
	"A":     {record("corp.example", "web1", "IP_Address", "10.0.1.30"), map[string]any{"IP_Address": "10.0.1.130"}},
	"AAAA":  {record("corp.example", "web1", "IPv6_Address", "2001:db8:10:1::30"), map[string]any{"IPv6_Address": "2001:db8:10:1::130"}},
	"PTR":   {record("10.in-addr.arpa", "30.1.0", "DNS_TargetName", "web1.corp.example"), map[string]any{"DNS_TargetName": "web9.corp.example"}},
	"TXT":   {record("corp.example", "@", "Text", "v=spf1 mx ip4:10.0.1.0/24 -all"), map[string]any{"Text": "v=spf1 mx -all"}},
	"SRV": {
		record("corp.example", "_sip._tls", "DNS_TargetName", "app2.corp.example", "Priority", "10", "Weight", "60", "Port", "5061"),
		map[string]any{"Priority": "20", "Weight": "50", "Port": "5060", "DNS_TargetName": "vpn2.corp.example"},
	},
	"MX": {record("corp.example", "@", "DNS_TargetName", "mail1.corp.example", "Preference", "10"), map[string]any{"DNS_TargetName": "mail3.corp.example", "Preference": "15"}},
}

// record returns the parameters of a record, from names and values in turn.
func record(zone, owner string, data ...any) map[string]any {
	params := map[string]any{"ZoneName": zone, "DNS_HostName": owner}
	for i := 0; i+1 < len(data); i += 2 {
		params[data[i].(string)] = data[i+1]
	}
	return params
}

// recordSamples are the samples of the operations of every type of records.
func recordSamples() map[string]Sample {
	samples := map[string]Sample{
		"record.listZone": {Params: map[string]any{"ZoneName": "corp.example"}},
		"recordSet.get":   {Params: map[string]any{"ZoneName": "corp.example", "DNS_HostName": "web1", "Type": "A"}},
		"recordSet.put": {
			Params: map[string]any{"ZoneName": "corp.example", "DNS_HostName": "web1", "Type": "A", "Data": "10.0.1.31"},
			Undo:   Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: map[string]any{"ZoneName": "corp.example", "DNS_HostName": "web1", "Type": "A", "Data": "10.0.1.30"}},
		},
		"recordSet.delete": {
			Params: map[string]any{"ZoneName": "corp.example", "DNS_HostName": "web1", "Type": "A"},
			Undo:   Call{Method: http.MethodPost, Path: "/api/DnsARecord", Params: DNSRecords["A"].Params},
		},
	}
	for _, t := range schema.RecordTypes {
		if t.Resource == "" {
			continue
		}
		there, path := DNSRecords[t.Name], "/api/"+t.Path
		other, change, back := maps.Clone(there.Params), maps.Clone(there.Params), maps.Clone(there.Params)
		maps.Copy(other, there.New)
		maps.Copy(back, there.New)
		for name, value := range there.New {
			change["New"+name], back["New"+name] = value, there.Params[name]
		}
		if t.Alone {
			other["DNS_HostName"] = "sample"
		}
		target := t.Fields[len(t.Fields)-1].Name
		owner := map[string]any{"DNS_HostName": there.Params["DNS_HostName"]}
		maps.Copy(samples, map[string]Sample{
			t.Resource + ".get":          {Params: there.Params},
			t.Resource + ".listZone":     {Params: map[string]any{"ZoneName": there.Params["ZoneName"]}},
			t.Resource + ".listAll":      {},
			t.Resource + ".listHostName": {Params: owner},
			t.Resource + ".create":       {Params: other, Status: http.StatusCreated, Undo: Call{Method: http.MethodDelete, Path: path, Params: other}},
			t.Resource + ".change":       {Params: change, Undo: Call{Method: http.MethodPut, Path: path, Params: back}},
			t.Resource + ".delete":       {Params: there.Params, Undo: Call{Method: http.MethodPost, Path: path, Params: there.Params}},
		})
		if t.Search != "" {
			samples[t.Resource+"."+t.Found] = Sample{Params: map[string]any{target: there.Params[target]}}
		}
	}
	return samples
}

package story

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// pausedZone cannot be read. Lists over all zones report that.
const pausedZone = "legacy.example"

// cnames returns the records of an answer as "name.zone -> data".
func cnames(a systemtest.Answer) []string {
	list := []string{}
	for _, record := range a.Envelope.Result {
		list = append(list, fmt.Sprintf("%s | %s -> %s", record["name"], record["zone"], record["data"]))
	}
	return list
}

// TestTheLifeOfACNAME: every endpoint of CNAME records works, from creation to removal.
func TestTheLifeOfACNAME(t *testing.T) {
	const path = "/api/DnsCNameRecord"
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	record := map[string]any{"DNS_HostName": "Story", "DNS_HostName_Alias": "web9", "ZoneName": "corp.example"}
	made := s.OK(systemtest.Call{Method: http.MethodPost, Path: path, Params: record}, http.StatusCreated)
	assert.Equal(t, map[string]any{"name": "Story", "type": "CNAME", "data": "web9.corp.example",
		"zone": "corp.example", "timestamp": ""}, made)

	for _, same := range []map[string]any{
		record,
		{"DNS_HostName": "STORY.corp.example", "DNS_HostName_Alias": "WEB9.corp.example.", "ZoneName": "CORP.EXAMPLE."},
	} {
		assert.Equal(t, made, s.OK(systemtest.Call{Method: http.MethodGet, Path: path, Params: same},
			http.StatusOK))
		s.Rejects(systemtest.Call{Method: http.MethodPost, Path: path, Params: same}, http.StatusConflict,
			"conflict")
	}
	for _, list := range []string{"/corp.example", "/All", "/HostName/story", "/HostName/story.corp.example",
		"/HostNameAlias/web9", "/HostNameAlias/Web9.Corp.Example."} {
		assert.Contains(t, s.Get(path+list).Envelope.Result, made, list)
	}
	other := map[string]any{"DNS_HostName": "story", "DNS_HostName_Alias": "web8", "ZoneName": "corp.example"}
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: path, Params: other}, http.StatusConflict,
		"conflict")
	s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: path, Params: other}, http.StatusNotFound,
		"not_found")
	assert.Equal(t, made, s.OK(systemtest.Call{Method: http.MethodDelete, Path: path, Params: record},
		http.StatusOK))
	assert.Empty(t, start.Compare(s.Snapshot()))
	s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: path, Params: record}, http.StatusNotFound,
		"not_found")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: path, Params: record}, http.StatusNotFound,
		"not_found")
	assert.Empty(t, s.Get(path+"/HostName/story").Envelope.Result)
}

// TestCNAMEsOverAllZones: lists over all zones find exactly the given name or target, in
// every zone that the server hosts and the token may see.
func TestCNAMEsOverAllZones(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
		for path, want := range map[string][]string{
			"HostName/www": {
				"www | corp.example -> web1.corp.example",
				"www | shop.example -> shop.example", "www | supplier.example -> ns1.supplier.example",
			},
			"HostName/WWW.shop.Example":                    {"www | shop.example -> shop.example"},
			"HostName/www.shop.example.":                   {"www | shop.example -> shop.example"},
			"HostName/www.dev":                             {"www.dev | corp.example -> web3.corp.example"},
			"HostName/www.dev.corp.example":                {"www.dev | corp.example -> web3.corp.example"},
			"HostName/www.":                                {},
			"HostName/ww":                                  {},
			"HostName/@":                                   {},
			"HostName/*":                                   {"* | shop.example -> www.shop.example"},
			"HostName/*.apps.corp.example":                 {"*.apps | corp.example -> app1.corp.example"},
			"HostName/web1":                                {}, // an address record
			"HostNameAlias/www":                            {"* | shop.example -> www.shop.example", "cart | shop.example -> www.shop.example", "orders | supplier.example -> www.supplier.example"},
			"HostNameAlias/portal":                         {"old-portal | corp.example -> portal.corp.example"},
			"HostNameAlias/corp.cdn.example.net":           {"cdn | corp.example -> corp.cdn.example.net", "img | shop.example -> corp.cdn.example.net"},
			"HostNameAlias/CORP.cdn.example.net.":          {"cdn | corp.example -> corp.cdn.example.net", "img | shop.example -> corp.cdn.example.net"},
			"HostNameAlias/cdn.example.net":                {},
			"HostNameAlias/nowhere":                        {},
			"HostNameAlias/65.64%2F26.3.0.10.in-addr.arpa": {"65.3.0 | 10.in-addr.arpa -> 65.64/26.3.0.10.in-addr.arpa"},
		} {
			t.Run(culture+"/"+path, func(t *testing.T) {
				a := s.In(t).Get("/api/DnsCNameRecord/" + strings.ReplaceAll(path, "*", "%2A"))
				assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
				assert.Equal(t, want, cnames(a))
				for _, warning := range a.Envelope.Warnings {
					assert.Equal(t, "zone_unreadable "+pausedZone, warning.Code+" "+warning.Target)
				}
			})
		}
		limited := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsCNameRecord/HostName/www",
			Token: systemtest.LimitedToken})
		assert.Equal(t, []string{"www | corp.example -> web1.corp.example"}, cnames(limited))
	}
}

// TestClasslessDelegations: aliases with a slash in their targets (RFC 2317) delegate parts of
// networks smaller than /24 to zones with a slash in their names.
func TestClasslessDelegations(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	record := map[string]any{"ZoneName": "10.in-addr.arpa", "DNS_HostName": "65.3.0",
		"DNS_HostName_Alias": "65.64/26.3.0.10.in-addr.arpa"}
	read := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsCNameRecord", Params: record},
		http.StatusOK)
	assert.Equal(t, record["DNS_HostName_Alias"], read["data"])
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsCNameRecord", Params: record}, http.StatusOK)
	assert.Equal(t, read, s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsCNameRecord",
		Params: record}, http.StatusCreated))
	for _, zone := range []string{"64/26.3.0.10.in-addr.arpa", "64%2F26.3.0.10.in-addr.arpa."} {
		s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsReverseLookupZone/" + zone},
			http.StatusNotFound, "not_found")
	}
}

// TestSystemZonesAreShownOnRequest: a request for a system zone is refused with advice, and the advice works.
func TestSystemZonesAreShownOnRequest(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for zone, shown := range map[string]bool{"127.in-addr.arpa": true, "TrustAnchors": false} {
		path := "/api/DnsReverseLookupZone/" + zone
		a := s.Rejects(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusNotFound, "not_found")
		advised := strings.Contains(a.Envelope.Error.Message, "IgnoreSystemZones=false")
		assert.Equal(t, shown, advised, zone)
		all := s.Do(systemtest.Call{Method: http.MethodGet, Path: path,
			Params: map[string]any{"IgnoreSystemZones": false}})
		assert.Equal(t, shown, all.Status == http.StatusOK, "%s", all.Body)
	}
}

// TestTheLifeOfAReverseZone: every endpoint of reverse zones works, for IPv4 and IPv6.
func TestTheLifeOfAReverseZone(t *testing.T) {
	for network, zone := range map[string]string{"172.20.0.0/16": "20.172.in-addr.arpa",
		"2001:db8:7::/48": "7.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"} {
		t.Run(network, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1})
			start := s.Snapshot()
			path := "/api/DnsReverseLookupZone/" + network
			made := s.OK(systemtest.Call{Method: http.MethodPost, Path: path}, http.StatusCreated)
			assert.Equal(t, []any{zone, "Primary", "DS"}, []any{made["zoneName"], made["zoneType"], made["type"]})
			for _, route := range []string{path, "/api/DnsReverseLookupZone/" + zone,
				"/api/DnsReverseLookupZone/" + strings.ToUpper(zone) + "."} {
				assert.Equal(t, made, s.OK(systemtest.Call{Method: http.MethodGet, Path: route}, http.StatusOK), route)
			}
			assert.Contains(t, s.Get("/api/DnsReverseLookupZone/All").Envelope.Result, made)
			s.Rejects(systemtest.Call{Method: http.MethodPost, Path: path}, http.StatusConflict, "conflict")
			removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
			assert.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
			assert.Equal(t, []map[string]any{made}, removed.Envelope.Result)
			assert.Empty(t, start.Compare(s.Snapshot()))
			s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: path}, http.StatusNotFound, "not_found")
			s.Rejects(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusNotFound, "not_found")
		})
	}
}

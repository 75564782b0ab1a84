package story

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

// TestNamesOfTheGatewayInDNS: the records with which clients find the gateway, and records with names in the
// settings, are guarded.
func TestNamesOfTheGatewayInDNS(t *testing.T) {
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	s := systemtest.NewWith(t, w, session.Config{Starter: w.Starter()},
		func(o *app.Options) { o.Hosts = []string{"GW1.corp.example", "GW1"} },
		"http.listen='adgateway.apps.corp.example:8443'", "http.allowUnencrypted=true",
		"limits.guardedNames=[pki.corp.example]")
	const (
		zone  = "corp.example"
		found = "clients find this gateway by it"
		named = "the settings of this gateway guard it"
	)
	in := func(path string, pairs ...string) systemtest.Call {
		return post(path, append(pairs, "ZoneName", zone)...)
	}
	address := func(name string) systemtest.Call {
		return in("/api/DnsARecord", "DNS_HostName", name, "IP_Address", "10.10.9.9")
	}
	text := func(name string) systemtest.Call {
		return in("/api/DnsTxtRecord", "DNS_HostName", name, "Text", "x")
	}
	for name, why := range map[string]string{
		"gw1": found, "GW1.corp.example.": found, "gw1.corp.example.corp.example.": found,
		"adgateway.apps": found, "pki": named,
	} {
		needsPrivilege(s, address(name), why)
	}
	needsPrivilege(s, text("_acme-challenge.gw1"), "'gw1.corp.example', and "+found)
	needsPrivilege(s, text("_acme-challenge.pki"), "'pki.corp.example', and "+named)
	for _, c := range []systemtest.Call{
		in("/api/DnsCNameRecord", "DNS_HostName", "gw1", "DNS_HostName_Alias", "evil.example.net."),
		post("/api/DnsPtrRecord", "IP_Address", "192.168.1.77", "DNS_TargetName", "gw1.corp.example"),
		{Method: http.MethodDelete, Path: "/api/DnsReverseLookupZone/" + url.PathEscape("192.168.1.0/24")},
	} {
		needsPrivilege(s, c, found)
	}
	needsPrivilege(s, post("/api/DnsLookupZone/pki.corp.example"), named)
	server := []string{"ChildName", "pki", "NameServer", "ns.example.net", "IP_Address", "10.0.0.9"}
	needsPrivilege(s, in("/api/DnsDelegation", server...), named)
	for _, name := range []string{"gw2", "gw1.apps", "xgw1", "apps", "below.pki"} {
		s.OK(address(name).As(systemtest.PlainToken), http.StatusCreated)
	}
}

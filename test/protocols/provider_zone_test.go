package protocols_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// zone contains the members that the family's generated client decodes.
type zone struct {
	DistinguishedName *string `json:"distinguishedName"`
	Type              *string `json:"type"`
	ZoneName          *string `json:"zoneName"`
	ZoneType          *string `json:"zoneType"`
}

func (z zone) String() string { return *z.ZoneName + " " + *z.Type + " " + *z.ZoneType }

// decode reads a result. Like the family's client, it reads only answers with status 200.
func decode(t *testing.T, got answer, into any) {
	t.Helper()
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Output)
	require.NoError(t, json.Unmarshal(got.Result, into), "%s", got.Result)
}

// TestZonesOfTheTerraformProvider creates, reads, changes and removes a zone like the provider. The provider
// sends every parameter in the query or the path, even with POST and DELETE, and never a body.
func TestZonesOfTheTerraformProvider(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	ask := func(method, path string) answer { return call(s, systemtest.OlderToken, method, path) }
	var one zone
	decode(t, ask("POST", "/api/DnsLookupZone/tf.example"), &one)
	assert.Equal(t, "tf.example ForwardDNSZone Primary", one.String())
	require.NotNil(t, one.DistinguishedName)
	decode(t, ask("GET", "/api/DnsZones/tf.example?IgnoreSystemZones=true"), &one)
	assert.Equal(t, "tf.example ForwardDNSZone Primary", one.String())
	exists := false
	decode(t, ask("GET", "/api/DnsZones/tf.example/Exists"), &exists)
	assert.True(t, exists)
	decode(t, ask("POST", "/api/DnsCNameRecord?DNS_HostName=www&DNS_HostName_Alias=web1.corp.example&ZoneName=tf.example"), &struct{}{})

	var list []zone
	decode(t, ask("GET", "/api/DnsLookupZone/All?IgnoreSystemZones=true"), &list)
	var shown []string
	for _, z := range list {
		shown = append(shown, z.String())
	}
	assert.Equal(t, []string{
		"corp.example ForwardDNSZone Primary", "lab.example ForwardDNSZone Stub Zone",
		"legacy.example ForwardDNSZone Primary", "partner.example ForwardDNSZone Forwarder", "shop.example ForwardDNSZone Primary",
		"supplier.example ForwardDNSZone Secondary", "tf.example ForwardDNSZone Primary", "_msdcs.corp.example ForwardDNSZone Primary",
	}, shown)
	decode(t, ask("GET", "/api/DnsZones/All?IgnoreSystemZones=true"), &list)
	assert.Len(t, list, len(shown)+3)
	decode(t, ask("GET", "/api/DnsZones/10.in-addr.arpa?IgnoreSystemZones="), &one)
	assert.Equal(t, "10.in-addr.arpa ReverseDNSZone Primary", one.String())

	// The provider does not know Force, so its DELETE removes the zone with all records.
	decode(t, ask("DELETE", "/api/DnsLookupZone/tf.example"), &one)
	assert.Equal(t, "tf.example ForwardDNSZone Primary", one.String())
	decode(t, ask("GET", "/api/DnsZones/tf.example/Exists"), &exists)
	assert.False(t, exists)
	assert.Equal(t, http.StatusNotFound, ask("GET", "/api/DnsZones/tf.example").Status)
	assert.Equal(t, http.StatusNotFound, ask("DELETE", "/api/DnsLookupZone/tf.example").Status)
	assert.Equal(t, http.StatusConflict, ask("POST", "/api/DnsLookupZone/shop.example").Status)
	assert.Equal(t, http.StatusConflict, ask("DELETE", "/api/DnsLookupZone/shop.example?Force=false").Status)

	// In the classic dialect, reverse zones still have the same four members with the same values.
	decode(t, ask("GET", "/api/DnsReverseLookupZone/10.0.0.0%2F8"), &one)
	assert.Equal(t, "10.in-addr.arpa DS Primary", one.String())
}

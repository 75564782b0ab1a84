package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const ownPartition = "dnspart.corp.example"

func zoneCall(method, path string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: method, Path: path, Params: params}
}

// TestZonesInACustomPartition: such zones are shown with their scope and partition, and their records can be
// read, written, guarded and undone. A zone can be created there, moved in and out, and removed, with undo.
func TestZonesInACustomPartition(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, Zones: []string{"testdata/partition.zone"}})
	start := s.Snapshot()
	undo := func(a systemtest.Answer) {
		t.Helper()
		undone := s.Do(undoChange(a.Header.Get("X-Change-Id"), nil))
		require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
		assert.Empty(t, start.Compare(s.Snapshot()))
	}
	shown := s.OK(zoneCall(http.MethodGet, "/api/DnsZones/part.example", nil), http.StatusOK)
	assert.Equal(t, "Custom", shown["replicationScope"])
	assert.Equal(t, ownPartition, shown["directoryPartition"])
	assert.Equal(t, "DC=part.example,cn=MicrosoftDNS,DC=dnspart,DC=corp,DC=example", shown["distinguishedName"])
	corp := s.OK(zoneCall(http.MethodGet, "/api/DnsZones/corp.example", nil), http.StatusOK)
	assert.Equal(t, "DomainDnsZones.corp.example", corp["directoryPartition"])

	// Records of the zone.
	named := func(name, address string) map[string]any {
		return map[string]any{"ZoneName": "part.example", "DNS_HostName": name, "IP_Address": address}
	}
	made := s.Do(zoneCall(http.MethodPost, "/api/DnsARecord", named("app", "10.0.1.51")))
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	undo(made)
	set := s.Do(zoneCall(http.MethodPut, "/api/DnsRecordSet", map[string]any{
		"ZoneName": "part.example", "DNS_HostName": "www", "Type": "A",
		"Data": []string{"10.0.1.60", "10.0.1.61"}}))
	require.Equal(t, http.StatusOK, set.Status, "%s", set.Body)
	undo(set)
	removed := s.Do(zoneCall(http.MethodDelete, "/api/DnsARecord", named("www", "10.0.1.50")))
	require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
	undo(removed)
	for _, name := range []string{"*", "wpad"} {
		guarded := zoneCall(http.MethodPost, "/api/DnsARecord", named(name, "10.0.1.51"))
		guarded.Token = systemtest.PlainToken
		s.Rejects(guarded, http.StatusForbidden, "forbidden")
	}

	// Zones and forwarders.
	inPartition := map[string]any{"ReplicationScope": "Custom", "DirectoryPartition": ownPartition}
	planned, _ := dryRun(s, zoneCall(http.MethodPost, "/api/DnsLookupZone/new.example", inPartition))
	require.Len(t, planned.Objects, 1)
	const container = "cn=MicrosoftDNS,DC=dnspart,DC=corp,DC=example"
	assert.Equal(t, "DC=new.example,"+container, planned.Objects[0].DistinguishedName)
	made = s.Do(zoneCall(http.MethodPost, "/api/DnsLookupZone/new.example", inPartition))
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	assert.Equal(t, ownPartition, s.Record(made)["directoryPartition"])
	assert.Equal(t, planned.Objects[0].DistinguishedName, s.Record(made)["distinguishedName"])
	undo(made)
	removed = s.Do(zoneCall(http.MethodDelete, "/api/DnsLookupZone/part.example", map[string]any{"Force": true}))
	require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
	undone := s.Do(undoChange(removed.Header.Get("X-Change-Id"), nil))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	back := s.OK(zoneCall(http.MethodGet, "/api/DnsZones/part.example", nil), http.StatusOK)
	assert.Equal(t, shown, back)
	records := s.Get("/api/DnsRecord/part.example")
	assert.Contains(t, string(records.Body), "10.0.1.50")

	s.OK(zoneCall(http.MethodPost, "/api/DnsLookupZone/moved.example", nil), http.StatusCreated)
	start = s.Snapshot()
	for _, c := range []systemtest.Call{
		zoneCall(http.MethodPut, "/api/DnsLookupZone/part.example", map[string]any{"ReplicationScope": "Forest"}),
		zoneCall(http.MethodPut, "/api/DnsLookupZone/moved.example", inPartition),
	} {
		moved := s.Do(c)
		require.Equal(t, http.StatusOK, moved.Status, "%s: %s", c.Path, moved.Body)
		assert.Equal(t, c.Params["ReplicationScope"], s.Record(moved)["replicationScope"])
		undo(moved)
		s.OK(zoneCall(http.MethodPut, c.Path, map[string]any{"DynamicUpdate": "Secure"}), http.StatusOK)
	}
	made = s.Do(zoneCall(http.MethodPost, "/api/DnsConditionalForwarder/ally.example", map[string]any{
		"MasterServers": "10.9.0.53", "ReplicationScope": "Custom", "DirectoryPartition": ownPartition}))
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	before := s.Snapshot()
	removed = s.Do(zoneCall(http.MethodDelete, "/api/DnsConditionalForwarder/ally.example", nil))
	require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
	undone = s.Do(undoChange(removed.Header.Get("X-Change-Id"), nil))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	assert.Empty(t, before.Compare(s.Snapshot()))
}

// TestInvalidPartitionsAreRefused: invalid partitions are refused with a remedy, also in a dry run.
func TestInvalidPartitionsAreRefused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, Zones: []string{"testdata/partition.zone"}})
	start := s.Snapshot()
	const bad, wrong = http.StatusBadRequest, http.StatusUnprocessableEntity
	for _, path := range []string{"/api/DnsLookupZone/new.example", "/api/DnsConditionalForwarder/new.example"} {
		for _, c := range []struct {
			params map[string]any
			status int
			code   string
			says   string
		}{
			{map[string]any{"ReplicationScope": "Custom"}, bad, "invalid_request", "is required with ReplicationScope=Custom"},
			{map[string]any{"DirectoryPartition": ownPartition}, bad, "invalid_request", "is for ReplicationScope=Custom only"},
			{map[string]any{"ReplicationScope": "Custom", "DirectoryPartition": "absent.example"}, wrong, "unprocessable",
				"no directory partition 'absent.example'"},
		} {
			for _, dry := range []bool{true, false} {
				c.params["DryRun"] = dry
				if path != "/api/DnsLookupZone/new.example" {
					c.params["MasterServers"] = "10.9.0.53"
				}
				a := s.Rejects(zoneCall(http.MethodPost, path, c.params), c.status, c.code)
				assert.Contains(t, string(a.Body), c.says)
			}
		}
	}
	assert.Empty(t, start.Compare(s.Snapshot()))
}

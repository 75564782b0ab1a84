package hostile

import (
	"net/http"
	"net/url"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/test/systemtest"
)

// storedZone holds the checks of zones, forwarders and delegations.
var storedZone = map[string]storedCheck{
	"lookupZone.create": storedNewZone("/api/DnsLookupZone/"),
	"forwarder.create":  storedNewZone("/api/DnsConditionalForwarder/"),
	"delegation.create": storedDelegation,
	"nameServer.create": storedNameServer,
	"lookupZone.update": storedSettings,
	"forwarder.update":  storedSettings,
	"zone.setAging":     storedSettings,
	"lookupZone.delete": func(s *systemtest.System, g *guard, p *ops.Param, name, _ string, a systemtest.Answer) {
		require.Equal(s.T, "Force", p.Name, "%s: %s", name, a.Body)
		s.Prepare(opstest.Find("lookupZone.delete"))
		g.base = s.Snapshot()
	},
}

// storedNewZone compares the name of a new zone and removes the zone.
func storedNewZone(path string) storedCheck {
	return func(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		zone := systemtest.Text(s.Record(a)["zoneName"])
		if p.Name == "ZoneName" {
			assert.Equal(s.T, value, zone, name)
		}
		removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path + url.PathEscape(zone)})
		require.Equal(s.T, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
	}
}

func storedDelegation(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	record := s.Record(a)
	switch p.Name {
	case "ChildName":
		assert.Equal(s.T, value, record["childName"], name)
	case "NameServer":
		assert.Contains(s.T, []any{value, value + ".corp.example"}, record["nameServer"], name)
	}
	params := map[string]any{"ZoneName": record["zoneName"], "ChildName": record["childName"]}
	removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsDelegation", Params: params})
	require.Equal(s.T, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
	g.base = s.Snapshot() // the address record of a name server outside the child zone remains
}

// storedNameServer compares the new record of a zone's name server and removes the record.
func storedNameServer(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	record := s.Record(a)
	switch {
	case p.Name == "NameServer":
		assert.Contains(s.T, []any{value, value + ".corp.example"}, record["data"], name)
	case p.Name == "TimeToLive" && value != "":
		assert.Equal(s.T, value, systemtest.Text(record["ttl"]), name)
	}
	params := map[string]any{"ZoneName": record["zone"], "NameServer": record["data"]}
	removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsNameServer", Params: params})
	require.Equal(s.T, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
}

// storedSettings accepts the settings if no other zone has changed.
func storedSettings(s *systemtest.System, g *guard, _ *ops.Param, name, _ string, a systemtest.Answer) {
	g.changedOnly(s, systemtest.Text(s.Record(a)["zoneName"]), name)
}

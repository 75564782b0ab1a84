package zones_test

import (
	"io/fs"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/internal/data"
	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// controllers are the configurations of two domain controllers.
var controllers = []zones.ServerConfig{
	{Name: "dc1.corp.example", Address: "10.0.0.10", DomainController: true},
	{Name: "dc2.corp.example", Address: "10.0.0.11", DomainController: true},
}

// builtin returns a store with the built-in zones on two domain controllers.
func builtin(t testing.TB) *zonestest.Store {
	t.Helper()
	st := zonestest.New(zones.Config{Domain: "corp.example", Servers: controllers})
	require.NoError(t, st.Load(zoneFiles(t)...))
	return st
}

func zoneFiles(t testing.TB) []zones.Source {
	t.Helper()
	names, err := fs.Glob(data.Zones, "*.zone")
	require.NoError(t, err)
	var sources []zones.Source
	for _, name := range names {
		text, err := fs.ReadFile(data.Zones, name)
		require.NoError(t, err)
		sources = append(sources, zones.Source{Name: name, Text: text})
	}
	return sources
}

func open(t testing.TB, st *zonestest.Store, name string) *zones.Server {
	t.Helper()
	s, err := st.Server(name)
	require.NoError(t, err)
	return s
}

func TestBuiltInZones(t *testing.T) {
	st := builtin(t)
	s := open(t, st, "dc1")
	all, err := s.Zones()
	require.NoError(t, err)
	kinds := map[string]zones.Zone{}
	for _, z := range all {
		kinds[z.Name] = z
	}
	require.Len(t, kinds, 14)
	assert.Equal(t, "DC=corp.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example",
		kinds["corp.example"].DN)
	assert.Equal(t, "DC=_msdcs.corp.example,cn=MicrosoftDNS,DC=ForestDnsZones,DC=corp,DC=example",
		kinds["_msdcs.corp.example"].DN)
	assert.Equal(t, "DC=legacy.example,cn=MicrosoftDNS,cn=System,DC=corp,DC=example", kinds["legacy.example"].DN)
	assert.Empty(t, kinds["shop.example"].DN)
	assert.Equal(t, "shop.example.dns", kinds["shop.example"].File)
	assert.Equal(t, zones.Forwarder, kinds["partner.example"].Type)
	assert.Equal(t, zones.Stub, kinds["lab.example"].Type)
	assert.Equal(t, zones.Secondary, kinds["supplier.example"].Type)
	assert.True(t, kinds["supplier.example"].ReadOnly)
	assert.True(t, kinds["legacy.example"].Paused)
	assert.True(t, kinds["127.in-addr.arpa"].AutoCreated)
	assert.False(t, kinds[zones.TrustAnchors].AutoCreated)
	assert.True(t, kinds["10.in-addr.arpa"].Reverse)
	assert.True(t, kinds["0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa"].Reverse)

	cnames, err := s.Records("corp.example", zones.Query{Type: dns.TypeCNAME})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(cnames), 50)
	byName := map[string]zones.Record{}
	for _, r := range cnames {
		byName[r.Name] = r
	}
	assert.Equal(t, "web1.corp.example.", byName["www"].RR.(*dns.CNAME).Target)
	assert.True(t, byName["www"].Stamp.IsZero())
	assert.Equal(t, "2026-10-02T11:00:00Z", byName["br-print"].Stamp.Format("2006-01-02T15:04:05Z"))
	assert.Contains(t, byName, "*.apps")
	assert.Contains(t, byName, "_dmarc.lists")

	other := open(t, st, "dc2")
	_, err = other.Zone("corp.example")
	require.NoError(t, err)
	_, err = other.Zone("shop.example")
	assert.Equal(t, zones.CodeZoneDoesNotExist, code(err), "a file-backed zone is on one server")
}

func code(err error) int {
	if e, ok := err.(*zones.Error); ok {
		return e.Code
	}
	return 0
}

package zones_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// three returns a store with a domain controller, a read-only domain controller
// and a stand-alone server.
func three(t *testing.T) *zonestest.Store {
	t.Helper()
	st := zonestest.New(zones.Config{Domain: "corp.example", Servers: []zones.ServerConfig{
		{Name: "dc1.corp.example", Address: "10.0.0.10", DomainController: true, Aliases: []string{"dns.corp.example"}},
		{Name: "rodc.corp.example", DomainController: true, ReadOnly: true},
		{Name: "alone.corp.example"},
	}})
	require.NoError(t, st.Load(zoneFiles(t)...))
	return st
}

// Facts E67, E68 and D.3.
func TestCreateZone(t *testing.T) {
	cases := []struct {
		what, server string
		zone         zones.NewZone
		code         int
	}{
		{"domain", "dc1", zones.NewZone{Name: "n.example", Scope: zones.ScopeDomain}, 0},
		{"forest", "dc1", zones.NewZone{Name: "n.example.", Scope: zones.ScopeForest, Update: zones.UpdateNone}, 0},
		{"legacy", "dc1", zones.NewZone{Name: "n.example", Scope: zones.ScopeLegacy}, 0},
		{"file", "alone", zones.NewZone{Name: "2.10.in-addr.arpa", File: "2.10.in-addr.arpa.dns"}, 0},
		{"file on a domain controller", "dc1", zones.NewZone{Name: "n.example", File: "n.example.dns", Update: zones.UpdateAll}, 0},

		{"exists", "dc1", zones.NewZone{Name: "Corp.Example", Scope: zones.ScopeDomain}, zones.CodeZoneAlreadyExists},
		{"exists, dot", "dc1", zones.NewZone{Name: "shop.example.", File: "x.dns"}, zones.CodeZoneAlreadyExists},
		{"exists as forwarder", "dc1", zones.NewZone{Name: "partner.example", File: "x.dns"}, zones.CodeForwarderExists},
		{"exists in the directory of others only", "alone", zones.NewZone{Name: "corp.example", File: "x.dns"}, 0},
		{"automatic", "dc1", zones.NewZone{Name: "127.in-addr.arpa", Scope: zones.ScopeDomain}, zones.CodeAutozoneExists},
		{"no directory", "alone", zones.NewZone{Name: "n.example", Scope: zones.ScopeDomain}, zones.CodeDsUnavailable},
		{"read-only", "rodc", zones.NewZone{Name: "n.example", Scope: zones.ScopeDomain}, zones.CodeNotOnRODC},
		{"no file", "alone", zones.NewZone{Name: "n.example"}, zones.CodeNeedsDatafile},
		{"bad file", "alone", zones.NewZone{Name: "n.example", File: `..\n.dns`}, zones.CodeInvalidDatafile},
		{"secure in a file", "alone", zones.NewZone{Name: "n.example", File: "n.dns", Update: zones.UpdateSecure}, zones.CodeInvalidZoneOperation},
		{"custom partition", "dc1", zones.NewZone{Name: "n.example", Scope: zones.ScopeCustom}, zones.CodeInvalidParameter},
		{"empty name", "dc1", zones.NewZone{Name: "", Scope: zones.ScopeDomain}, zones.CodeInvalidName},
		{"special name", "dc1", zones.NewZone{Name: "..cache", Scope: zones.ScopeDomain}, zones.CodeInvalidName},
		{"wildcard", "dc1", zones.NewZone{Name: "*.example", Scope: zones.ScopeDomain}, zones.CodeInvalidNameChar},
		{"blank", "dc1", zones.NewZone{Name: "a b", Scope: zones.ScopeDomain}, zones.CodeInvalidNameChar},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			st := three(t)
			s := open(t, st, c.server)
			before := st.Snapshot()
			z, err := s.CreateZone(c.zone)
			if c.code != 0 {
				require.Equal(t, c.code, code(err), fmt.Sprint(err))
				assert.Empty(t, zonestest.Compare(before, st.Snapshot()))
				return
			}
			require.NoError(t, err)
			got, err := s.Zone(c.zone.Name)
			require.NoError(t, err)
			assert.Equal(t, z, got)
			assert.Equal(t, strings.HasSuffix(z.Name, ".arpa"), z.Reverse)
			assert.Equal(t, z.Scope != zones.ScopeNone, z.DsIntegrated)
			assert.Equal(t, z.DsIntegrated, z.DN != "")
			assert.Equal(t, z.DsIntegrated, z.File == "")
			all, err := s.Records(c.zone.Name, zones.Query{Name: "@", Node: true})
			require.NoError(t, err)
			assert.Equal(t, dns.TypeSOA, all[0].Type())
			assert.Equal(t, dns.TypeNS, all[1].Type())
			_, err = s.CreateZone(c.zone)
			assert.Equal(t, zones.CodeZoneAlreadyExists, code(err))
		})
	}
}

// Facts E65.
func TestPlacesInTheDirectory(t *testing.T) {
	s := open(t, three(t), "dc1")
	want := map[zones.Scope][2]string{
		zones.ScopeDomain: {"DomainDnsZones.corp.example", "DC=n.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"},
		zones.ScopeForest: {"ForestDnsZones.corp.example", "DC=n.example,cn=MicrosoftDNS,DC=ForestDnsZones,DC=corp,DC=example"},
		zones.ScopeLegacy: {"corp.example", "DC=n.example,cn=MicrosoftDNS,cn=System,DC=corp,DC=example"},
	}
	for scope, w := range want {
		z, err := s.CreateZone(zones.NewZone{Name: "n.example", Scope: scope})
		require.NoError(t, err)
		assert.Equal(t, w, [2]string{z.Partition, z.DN})
		assert.Equal(t, zones.UpdateSecure, z.DynamicUpdate)
		_, err = s.RemoveZone("n.example")
		require.NoError(t, err)
	}
}

// Facts E69.
func TestRemoveZone(t *testing.T) {
	st := three(t)
	s := open(t, st, "dc1")
	for _, name := range []string{"corp.example", "partner.example", "lab.example", "supplier.example",
		"Legacy.Example.", zones.TrustAnchors} {
		_, err := s.RemoveZone(name)
		require.NoError(t, err, name)
		_, err = s.Zone(name)
		assert.Equal(t, zones.CodeZoneDoesNotExist, code(err), name)
		_, err = s.RemoveZone(name)
		assert.Equal(t, zones.CodeZoneDoesNotExist, code(err), name)
	}
	_, err := s.RemoveZone("0.in-addr.arpa")
	assert.Equal(t, zones.CodeInvalidZoneOperation, code(err))
	_, err = open(t, st, "rodc").RemoveZone("10.in-addr.arpa")
	assert.Equal(t, zones.CodeNotOnRODC, code(err))
}

func TestServers(t *testing.T) {
	st := three(t)
	for name, want := range map[string]string{
		"": "dc1.corp.example", ".": "dc1.corp.example", "localhost": "dc1.corp.example", "DC1": "dc1.corp.example", "dc1.CORP.example.": "dc1.corp.example",
		"10.0.0.10": "dc1.corp.example", "dns.corp.example": "dc1.corp.example", "alone": "alone.corp.example",
	} {
		assert.Equal(t, want, open(t, st, name).Name(), name)
	}
	_, err := st.Server("absent")
	assert.Equal(t, zones.CodeServerUnavailable, code(err))
	s := open(t, st, "alone")
	require.NoError(t, st.Switch("alone", false))
	_, err = st.Server("alone")
	assert.Equal(t, zones.CodeServerUnavailable, code(err))
	for what, call := range map[string]func() error{
		"zones":   func() error { _, err := s.Zones(); return err },
		"zone":    func() error { _, err := s.Zone("corp.example"); return err },
		"records": func() error { _, err := s.Records("corp.example", zones.Query{}); return err },
		"create":  func() error { _, err := s.CreateZone(zones.NewZone{Name: "n", File: "n"}); return err },
		"remove":  func() error { _, err := s.RemoveZone("n"); return err },
		"add":     func() error { _, err := s.AddRecord(zones.NewRecord{Zone: "n", Name: "n", RR: cname("x")}); return err },
		"drop":    func() error { _, err := s.RemoveRecords("n", "n", dns.TypeA); return err },
		"config":  func() error { _, err := s.Config(); return err },
	} {
		assert.Equal(t, zones.CodeServerUnavailable, code(call()), what)
	}
	require.NoError(t, st.Switch("alone", true))
	_, err = s.Zones()
	assert.NoError(t, err)
	assert.Equal(t, zones.CodeServerUnavailable, code(st.Switch("absent", true)))
}

func TestMessagesExistInBothLanguages(t *testing.T) {
	codes := []int{5, 87, 123, 1722, 9002, 9005, 9551, 9560, 9563, 9569, 9601, 9603, 9609, 9610, 9611, 9618,
		9621, 9651, 9652, 9701, 9706, 9707, 9708, 9709, 9710, 9711, 9714, 9717, 9718}
	for _, c := range codes {
		e := &zones.Error{Code: c, Op: zones.OpConnect, Server: "S", Zone: "Z", Name: "N"}
		en, de := e.Text("en-US"), e.Text("de-DE")
		assert.NotContains(t, en, "WIN32", c)
		assert.NotContains(t, de, "WIN32", c)
		assert.NotEqual(t, en, de, c)
	}
	for _, op := range []zones.Op{
		zones.OpGetZone, zones.OpListZones, zones.OpCreateZone, zones.OpRemoveZone, zones.OpGetRecord,
		zones.OpListRecords, zones.OpCreateRecord, zones.OpRemoveRecord, zones.OpSetRecord, zones.OpSetZone,
		zones.OpGetAging, zones.OpSetAging, zones.OpGetDelegation, zones.OpCreateDelegation,
		zones.OpRemoveDelegation, zones.OpGetStatistics,
	} {
		e := &zones.Error{Code: zones.CodeRecordAlreadyExists, Op: op, Server: "S", Zone: "Z", Name: "N"}
		en, de := e.Message("en-US"), e.Message("de")
		assert.NotEqual(t, en, de)
		assert.NotContains(t, en+de, "{")
		assert.Contains(t, en, "S")
	}
	e := &zones.Error{Code: 9711, Op: zones.OpCreateRecord, Server: "DC-01", Zone: "test.local",
		Name: "terratest"}
	assert.Equal(t, `Fehler beim Erstellen des Ressourcendatensatzes "terratest" in der Zone "test.local" auf dem Server "DC-01".`, e.Message("de-DE"))
	assert.Equal(t, "Failed to create resource record terratest in zone test.local on server DC-01.",
		e.Message(""))
}

func TestConcurrentUse(t *testing.T) {
	st := three(t)
	s := open(t, st, "dc1")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("c%d-%d", i, j)
				_, err := s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: name, RR: cname("web1.corp.example.")})
				assert.NoError(t, err)
				_, err = s.Records("corp.example", zones.Query{Type: dns.TypeCNAME})
				assert.NoError(t, err)
				_, err = s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: "shared",
					RR: cname("web1.corp.example.")})
				if err == nil {
					_, err = s.RemoveRecords("corp.example", "shared", dns.TypeCNAME)
					assert.NoError(t, err, "only its creator removes it")
				}
				_, err = s.RemoveRecords("corp.example", name, dns.TypeCNAME)
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	z, err := s.Zone("corp.example")
	require.NoError(t, err)
	all, err := s.Records("corp.example", zones.Query{})
	require.NoError(t, err)
	assert.Equal(t, z.Records, len(all))
	assert.Equal(t, 118+len(st.Journal()), int(z.Serial), "one serial number per write")
}

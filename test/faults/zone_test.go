package faults

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
	"adgateway/test/systemtest"
)

// denied returns the DNS server's error for an account without rights (facts D11).
func (f *faults) denied(cmdlet string) *dotnet.ErrorRecord {
	e := dotnet.NewException(f.types["Microsoft.Management.Infrastructure.CimException"], "Zugriff verweigert")
	e.Props.Set("MessageId", "WIN32 5")
	return dotnet.NewError(e, "WIN32 5,"+cmdlet, dotnet.PermissionDenied, nil)
}

// TestZonesAreChangedCompletelyOrNotAtAll: if the second of two calls in a change fails, the first one is
// undone.
func TestZonesAreChangedCompletelyOrNotAtAll(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	for cmdlet, c := range map[string]systemtest.Call{
		"Set-DnsServerPrimaryZone":              {Path: "/api/DnsLookupZone/corp.example", Params: map[string]any{"DynamicUpdate": "None", "ReplicationScope": "Forest"}},
		"Set-DnsServerConditionalForwarderZone": {Path: "/api/DnsConditionalForwarder/partner.example", Params: map[string]any{"MasterServers": "10.9.0.1", "ForwarderTimeout": 9, "ReplicationScope": "Forest"}},
	} {
		c.Method = http.MethodPut
		f.raise(cmdlet, func(call int) *dotnet.ErrorRecord {
			if call == 2 {
				return f.denied(cmdlet)
			}
			return nil
		})
		a := s.Rejects(c, http.StatusForbidden, "directory_denied") // Rejects also compares the world
		assert.Equal(t, "none", a.Envelope.Error.Outcome)
		assert.Equal(t, "WIN32 5", a.Envelope.Error.DirectoryCode)
		assert.Equal(t, 3, f.calls[cmdlet], "the third call undoes the first")
	}
}

// TestZonesChangeBetweenGuardAndWrite changes zones between the guards of a request and its
// write. The DNS server's own rules decide.
func TestZonesChangeBetweenGuardAndWrite(t *testing.T) {
	for name, c := range map[string]struct {
		cmdlet string
		change func(*zones.Server) error
		call   systemtest.Call
		status int
		code   string
		native string
	}{
		"the zone is created": {
			"Add-DnsServerPrimaryZone", func(s *zones.Server) error {
				_, err := s.CreateZone(zones.NewZone{Name: "race.example", Scope: zones.ScopeForest})
				return err
			},
			systemtest.Call{Method: http.MethodPost, Path: "/api/DnsLookupZone/race.example"}, http.StatusConflict, "conflict", "WIN32 9609",
		},
		"a forwarder is created": {
			"Add-DnsServerPrimaryZone", func(s *zones.Server) error {
				_, err := s.CreateForwarder(zones.NewForwarder{Name: "race.example",
					Masters: []netip.Addr{netip.MustParseAddr("10.9.0.1")}})
				return err
			},
			systemtest.Call{Method: http.MethodPost, Path: "/api/DnsLookupZone/race.example"}, http.StatusConflict, "conflict", "WIN32 9619",
		},
		"the forwarder is removed": {
			"Set-DnsServerConditionalForwarderZone", func(s *zones.Server) error { _, err := s.RemoveZone("partner.example"); return err },
			systemtest.Call{Method: http.MethodPut, Path: "/api/DnsConditionalForwarder/partner.example", Params: map[string]any{"ForwarderTimeout": 9}}, http.StatusNotFound, "not_found", "WIN32 9601",
		},
		"the zone is removed": {
			"Remove-DnsServerZone", func(s *zones.Server) error { _, err := s.RemoveZone("shop.example"); return err },
			systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsLookupZone/shop.example", Params: map[string]any{"Force": true}}, http.StatusNotFound, "not_found", "WIN32 9601",
		},
		"the name is delegated": {
			"Add-DnsServerZoneDelegation", func(s *zones.Server) error {
				_, err := s.AddDelegation("corp.example", "race", "ns1.race.corp.example",
					[]netip.Addr{netip.MustParseAddr("10.9.0.1")})
				return err
			},
			systemtest.Call{Method: http.MethodPost, Path: "/api/DnsDelegation", Params: map[string]any{"ZoneName": "corp.example", "ChildName": "race", "NameServer": "ns1.race.corp.example", "IP_Address": "10.9.0.1"}},
			http.StatusConflict, "conflict", "WIN32 9711",
		},
		"the delegation is removed": {
			"Remove-DnsServerZoneDelegation", func(s *zones.Server) error { _, err := s.RemoveDelegation("corp.example", "lab", ""); return err },
			systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsDelegation", Params: map[string]any{"ZoneName": "corp.example", "ChildName": "lab"}}, http.StatusNotFound, "not_found", "WIN32 9714",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, f := newFaultySystem(t, sandbox.Options{Seed: 1, Culture: "de-DE"})
			f.before(c.cmdlet, func(call int) {
				if call > 1 {
					return
				}
				server, err := s.World.DNS.Server("")
				require.NoError(t, err)
				require.NoError(t, c.change(server))
			})
			a := s.Do(c.call)
			require.Equal(t, c.status, a.Status, "%s", a.Body)
			assert.Equal(t, []string{c.code, c.native, "none"},
				[]string{a.Envelope.Error.Code, a.Envelope.Error.DirectoryCode, a.Envelope.Error.Outcome})
		})
	}
}

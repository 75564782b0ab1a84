package zones_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
)

func addresses(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

// Facts NC1.
func TestSetZone(t *testing.T) {
	for _, c := range []struct {
		what, server, zone string
		change             zones.ZoneChange
		code               int
	}{
		{"updates", "dc1", "corp.example", zones.ZoneChange{Update: zones.UpdateNone}, 0},
		{"scope", "dc1", "corp.example", zones.ZoneChange{Scope: zones.ScopeForest}, 0},
		{"file", "dc1", "shop.example", zones.ZoneChange{File: "other.dns"}, 0},
		{"updates in a file", "dc1", "shop.example", zones.ZoneChange{Update: zones.UpdateAll}, 0},
		{"nothing", "dc1", "corp.example", zones.ZoneChange{}, 0},
		{"secure in a file", "dc1", "shop.example", zones.ZoneChange{Update: zones.UpdateSecure}, zones.CodeInvalidZoneOperation},
		{"from a file to the directory", "dc1", "shop.example", zones.ZoneChange{Scope: zones.ScopeDomain}, zones.CodeInvalidZoneOperation},
		{"from the directory to a file", "dc1", "corp.example", zones.ZoneChange{File: "x.dns"}, zones.CodeInvalidZoneOperation},
		{"bad file", "dc1", "shop.example", zones.ZoneChange{File: "a/b"}, zones.CodeInvalidDatafile},
		{"custom", "dc1", "corp.example", zones.ZoneChange{Scope: zones.ScopeCustom}, zones.CodeInvalidParameter},
		{"forwarder", "dc1", "partner.example", zones.ZoneChange{Update: zones.UpdateNone}, zones.CodeInvalidZoneType},
		{"secondary", "dc1", "supplier.example", zones.ZoneChange{Update: zones.UpdateNone}, zones.CodeInvalidZoneType},
		{"automatic", "dc1", "127.in-addr.arpa", zones.ZoneChange{Update: zones.UpdateAll}, zones.CodeInvalidZoneOperation},
		{"read-only", "rodc", "corp.example", zones.ZoneChange{Update: zones.UpdateAll}, zones.CodeNotOnRODC},
		{"absent", "dc1", "absent.example", zones.ZoneChange{}, zones.CodeZoneDoesNotExist},
	} {
		t.Run(c.what, func(t *testing.T) {
			st := three(t)
			before := st.Snapshot()
			z, err := open(t, st, c.server).SetZone(c.zone, c.change)
			if assert.Equal(t, c.code, code(err)); c.code != 0 {
				assert.Equal(t, before, st.Snapshot())
				assert.Empty(t, st.Journal())
				return
			}
			assert.Len(t, st.Journal(), 1)
			if c.change.Scope != "" {
				assert.Equal(t, "ForestDnsZones.corp.example", z.Partition)
				records, err := open(t, st, "").Records(c.zone, zones.Query{Name: "www"})
				require.NoError(t, err)
				assert.Equal(t, "DC=www,"+z.DN, records[0].DN)
			}
		})
	}
}

// Facts NC2.
func TestForwarders(t *testing.T) {
	good := zones.NewForwarder{Name: "ally.example.", Scope: zones.ScopeDomain,
		Masters: addresses("10.9.0.1", "2001:db8::9"), Timeout: 15}
	for _, c := range []struct {
		what, server string
		change       func(*zones.NewForwarder)
		code         int
	}{
		{"in the directory", "dc1", func(*zones.NewForwarder) {}, 0},
		{"on one server", "alone", func(f *zones.NewForwarder) { f.Scope, f.UseRecursion = "", true }, 0},
		{"no directory", "alone", func(*zones.NewForwarder) {}, zones.CodeDsUnavailable},
		{"a zone of that name", "dc1", func(f *zones.NewForwarder) { f.Name = "shop.example" }, zones.CodeZoneAlreadyExists},
		{"a forwarder of that name", "dc1", func(f *zones.NewForwarder) { f.Name = "Partner.example" }, zones.CodeForwarderExists},
		{"too slow", "dc1", func(f *zones.NewForwarder) { f.Timeout = 16 }, zones.CodeValueTooLarge},
		{"no masters", "dc1", func(f *zones.NewForwarder) { f.Masters = nil }, zones.CodeNeedsMasters},
		{"no host", "dc1", func(f *zones.NewForwarder) { f.Masters = addresses("0.0.0.0") }, zones.CodeInvalidIPAddress},
		{"no name", "dc1", func(f *zones.NewForwarder) { f.Name = "a..b" }, zones.CodeInvalidName},
		{"wildcard", "dc1", func(f *zones.NewForwarder) { f.Name = "*.b" }, zones.CodeInvalidNameChar},
	} {
		t.Run(c.what, func(t *testing.T) {
			st, f := three(t), good
			c.change(&f)
			z, err := open(t, st, c.server).CreateForwarder(f)
			if assert.Equal(t, c.code, code(err)); c.code != 0 {
				return
			}
			assert.Equal(t, []any{"ally.example", zones.Forwarder, f.Masters, f.Timeout, f.UseRecursion,
				f.Scope == ""},
				[]any{z.Name, z.Type, z.Masters, z.ForwarderTimeout, z.UseRecursion, z.Scope == zones.ScopeNone})
			_, err = open(t, st, "rodc").Zone("ally.example")
			assert.Equal(t, f.Scope == "", err != nil, "those of the directory are on every domain controller")
		})
	}
	st := three(t)
	s, timeout, recursion := open(t, st, ""), uint32(3), true
	z, err := s.SetForwarder("partner.example",
		zones.ForwarderChange{Timeout: &timeout, UseRecursion: &recursion, Scope: zones.ScopeForest})
	require.NoError(t, err)
	assert.Equal(t, []any{timeout, true, zones.ScopeForest, 2},
		[]any{z.ForwarderTimeout, z.UseRecursion, z.Scope, len(z.Masters)})
	timeout = 16
	_, err = s.SetForwarder("partner.example", zones.ForwarderChange{Timeout: &timeout})
	assert.Equal(t, zones.CodeValueTooLarge, code(err))
	_, err = s.SetForwarder("shop.example", zones.ForwarderChange{})
	assert.Equal(t, zones.CodeInvalidZoneType, code(err))
	_, err = s.RemoveZone("partner.example")
	require.NoError(t, err)
	_, err = s.CreateForwarder(zones.NewForwarder{Name: "partner.example", Masters: addresses("10.9.0.1")})
	require.NoError(t, err)
	_, err = s.SetForwarder("partner.example", zones.ForwarderChange{Scope: zones.ScopeDomain})
	assert.Equal(t, zones.CodeInvalidZoneOperation, code(err),
		"one of this server cannot be moved to the directory")
}

// Facts NC7.
func TestAging(t *testing.T) {
	st := three(t)
	s, on, off := open(t, st, ""), true, false
	hours := func(n int) *time.Duration { d := time.Duration(n) * time.Hour; return &d }
	z, err := s.Aging("_msdcs.corp.example")
	require.NoError(t, err)
	assert.Equal(t, []any{false, *hours(168), *hours(168), true},
		[]any{z.Aging, z.Refresh, z.NoRefresh, z.AvailableAt.IsZero()})
	z, err = s.SetAging("_msdcs.corp.example",
		zones.AgingChange{Enabled: &on, Refresh: hours(8760), NoRefresh: hours(0),
			ScavengeServers: addresses("10.0.0.10")})
	require.NoError(t, err)
	assert.Equal(t, []any{true, *hours(8760), *hours(168), 1, false},
		[]any{z.Aging, z.Refresh, z.NoRefresh, len(z.ScavengeServers), z.AvailableAt.IsZero()})
	z, err = s.SetAging("_msdcs.corp.example", zones.AgingChange{Enabled: &off})
	require.NoError(t, err)
	assert.Equal(t, []any{false, *hours(8760), true}, []any{z.Aging, z.Refresh, z.AvailableAt.IsZero()})
	for zone, want := range map[string]int{"partner.example": zones.CodeInvalidZoneType,
		"supplier.example": zones.CodeInvalidZoneType, "absent.example": zones.CodeZoneDoesNotExist} {
		_, err = s.Aging(zone)
		assert.Equal(t, want, code(err), zone)
		_, err = s.SetAging(zone, zones.AgingChange{Enabled: &on})
		assert.Equal(t, want, code(err), zone)
	}
	for _, change := range []zones.AgingChange{{Refresh: hours(8761)}, {NoRefresh: hours(8761)},
		{Refresh: hours(-1)}} {
		_, err = s.SetAging("corp.example", change)
		assert.Equal(t, zones.CodeValueTooLarge, code(err))
	}
}

// Facts NB2, NC6.
func TestDelegations(t *testing.T) {
	st := three(t)
	s := open(t, st, "")
	names := func(child string) (list []string) {
		found, err := s.Delegations("corp.example", child)
		if err != nil {
			return []string{err.(*zones.Error).Error()[:10]}
		}
		for _, d := range found {
			line := d.Child + " " + d.NameServer.Text()
			for _, a := range d.Addresses {
				line += " | " + a.Text()
			}
			list = append(list, line)
		}
		return list
	}
	all := len(names(""))
	add := func(child, server string, ips ...string) int {
		_, err := s.AddDelegation("corp.example", child, server, addresses(ips...))
		return code(err)
	}
	require.Zero(t, add("branch", "ns1.branch.corp.example", "10.9.1.1", "2001:db8::9:1"))
	require.Zero(t, add("Branch.corp.example", "ns.elsewhere.example.", "10.9.1.2"))
	require.Zero(t, add("branch", "fs1.corp.example", "10.0.1.20"))
	got := names("branch")
	require.Len(t, got, 3)
	assert.Contains(t, got[0], "10.9.1.1")
	assert.Contains(t, got[0], "2001:db8::9:1")
	assert.NotContains(t, got[1], "|", "no addresses of a name server outside the zone")
	assert.Len(t, names(""), all+3)

	for what, c := range map[string]struct{ got, want int }{
		"the same":      {add("branch", "NS1.branch.corp.example.", "10.9.1.1"), zones.CodeRecordAlreadyExists},
		"no addresses":  {add("branch", "ns9.branch.corp.example"), zones.CodeInvalidIPAddress},
		"no host":       {add("branch", "ns9.branch.corp.example", "0.0.0.0"), zones.CodeInvalidIPAddress},
		"apex":          {add("@", "ns1.corp.example", "10.9.1.1"), zones.CodeInvalidName},
		"beside alias":  {add("www", "ns1.www.corp.example", "10.9.1.1"), zones.CodeNodeIsCName},
		"below another": {add("deeper.branch", "ns1.corp.example", "10.9.1.1"), zones.CodeUnderDelegation},
		"outside":       {add("x.other.", "ns1.corp.example", "10.9.1.1"), zones.CodeNameNotInZone},
	} {
		assert.Equal(t, c.want, c.got, what)
	}
	_, err := s.AddDelegation("supplier.example", "x", "ns1.x", addresses("10.9.1.1"))
	assert.Equal(t, zones.CodeInvalidZoneType, code(err))
	_, err = s.Delegations("partner.example", "")
	assert.Equal(t, zones.CodeInvalidZoneType, code(err))

	gone, err := s.RemoveDelegation("corp.example", "branch", "fs1.corp.example.")
	require.NoError(t, err)
	assert.Len(t, gone, 1)
	_, err = s.RemoveDelegation("corp.example", "branch", "fs1.corp.example.")
	assert.Equal(t, zones.CodeRecordDoesNotExist, code(err))
	gone, err = s.RemoveDelegation("corp.example", "branch", "")
	require.NoError(t, err)
	assert.Len(t, gone, 2)
	_, err = s.RemoveDelegation("corp.example", "branch", "")
	assert.Equal(t, zones.CodeNameDoesNotExist, code(err))
	_, err = s.Records("corp.example", zones.Query{Name: "branch"})
	assert.Equal(t, zones.CodeNameDoesNotExist, code(err), "the addresses below it went with it")
	records, err := s.Records("corp.example", zones.Query{Name: "fs1", Node: true})
	require.NoError(t, err)
	assert.NotEmpty(t, records, "those elsewhere stayed")
}

// Facts NC5.
func TestADeeperZoneHidesNames(t *testing.T) {
	st := three(t)
	s := open(t, st, "")
	count := func(server, name string) int {
		records, err := open(t, st, server).Records("corp.example", zones.Query{Name: name})
		if err != nil {
			assert.Equal(t, zones.CodeNameDoesNotExist, code(err))
		}
		return len(records)
	}
	all, dev := count("", ""), count("", "dev")
	require.Positive(t, dev)
	before := st.Snapshot()
	_, err := s.CreateZone(zones.NewZone{Name: "dev.corp.example", File: "dev.dns"})
	require.NoError(t, err)
	assert.Zero(t, count("", "dev"))
	assert.Zero(t, count("", "www.dev"))
	assert.Equal(t, all-dev, count("", ""))
	assert.Equal(t, dev, count("rodc", "dev"), "the zone is on one server only")
	_, err = s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: "x.dev", RR: rr(t, "A 10.0.0.1"),
		DefaultTTL: true})
	assert.Equal(t, zones.CodeUnderDelegation, code(err))

	require.Positive(t, count("", "_msdcs"), "of _msdcs.corp.example, which exists, the delegation shows")
	_, err = s.RemoveZone("dev.corp.example")
	require.NoError(t, err)
	assert.Equal(t, before, st.Snapshot())

	_, err = s.CreateForwarder(zones.NewForwarder{Name: "dev.corp.example", Masters: addresses("10.9.0.1")})
	require.NoError(t, err)
	assert.Zero(t, count("", "dev"))
}

// TestDirectivesOfZones: settings made by the cmdlets can be written to a zone file and loaded again.
func TestDirectivesOfZones(t *testing.T) {
	st := three(t)
	require.NoError(t, st.Load(
		zones.Source{Name: "ally.zone",
			Text: []byte("; adgateway: zone=ally.example type=Forwarder masters=10.9.0.1 timeout=3 recursion=true\n")},
		zones.Source{Name: "aged.zone",
			Text: []byte("; adgateway: zone=aged.example aging=true refresh=24 norefresh=0\n@ SOA a. b. 1 2 3 4 5\n" +
				"@ NS a.\nbranch NS ns1.branch\nns1.branch A 10.9.1.1\n")},
	))
	s := open(t, st, "")
	ally, err := s.Zone("ally.example")
	require.NoError(t, err)
	assert.Equal(t, []any{uint32(3), true}, []any{ally.ForwarderTimeout, ally.UseRecursion})
	aged, err := s.Zone("aged.example")
	require.NoError(t, err)
	assert.Equal(t, []any{true, 24 * time.Hour}, []any{aged.Aging, aged.Refresh})
	found, err := s.Delegations("aged.example", "")
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Len(t, found[0].Addresses, 1)
	for text, want := range map[string]string{
		"zone=x.example type=Forwarder masters=10.9.0.1 timeout=16": "timeout must be a whole number from 0 to 15",
		"zone=x.example type=Forwarder masters=10.9.0.1 refresh=1":  "only a primary zone has refresh",
		"zone=x.example timeout=3":                                  "only a forwarder has timeout",
		"zone=x.example refresh=9000":                               "refresh must be a whole number from 0 to 8760",
	} {
		err := st.Load(zones.Source{Name: "x.zone", Text: []byte("; adgateway: " + text + "\n")})
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
	}
}

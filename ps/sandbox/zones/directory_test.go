package zones_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// TestRecordsOfTheDirectoryByHand: values written by hand according to MS-DNSP 2.3.2.2 are decoded correctly.
func TestRecordsOfTheDirectoryByHand(t *testing.T) {
	head := func(size, kind, ttl, hours string) string {
		return size + kind + "05f00000" + "2a000000" + ttl + "00000000" + hours
	}
	cases := map[string]string{
		". 3600 IN A 10.0.0.10":                       head("0400", "0100", "00000e10", "00000000") + "0a00000a",
		". 600 IN A 10.0.0.10 ; 2026-11-19T06:00:00Z": head("0400", "0100", "00000258", "d6f63800") + "0a00000a",
		". 3600 IN CNAME web1.corp.":                  head("0d00", "0500", "00000e10", "00000000") + "0b02" + "0477656231" + "04636f7270" + "00",
		". 3600 IN MX 10 m.":                          head("0700", "0f00", "00000e10", "00000000") + "000a" + "0301" + "016d00",
		". 3600 IN SRV 0 100 389 d.":                  head("0b00", "2100", "00000e10", "00000000") + "000000640185" + "0301" + "016400",
		`. 3600 IN TXT "ab" "c\"d"`:                   head("0700", "1000", "00000e10", "00000000") + "026162" + "03632264",
		". 3600 CLASS1 TYPE65400 \\# 3 010203":        head("0300", "78ff", "00000e10", "00000000") + "010203",
		". 3600 IN AAAA 2001:db8::1":                  head("1000", "1c00", "00000e10", "00000000") + "20010db8000000000000000000000001",
		". 3600 IN SOA n. m. 7 900 600 86400 3600":    head("1e00", "0600", "00000e10", "00000000") + "00000007" + "00000384" + "00000258" + "00015180" + "00000e10" + "0301016e00" + "0301016d00",
		". 3600 IN PTR dc1.corp.":                     head("0c00", "0c00", "00000e10", "00000000") + "0a02" + "03646331" + "04636f7270" + "00",
		". 3600 IN NS dc1.corp.":                      head("0c00", "0200", "00000e10", "00000000") + "0a02" + "03646331" + "04636f7270" + "00",
	}
	for want, text := range cases {
		value, err := hex.DecodeString(text)
		require.NoError(t, err)
		got, stamp, err := zones.DecodeRecord(value)
		require.NoError(t, err, want)
		got.Header().Name = "."
		shown := strings.ReplaceAll(got.String(), "\t", " ")
		if !stamp.IsZero() {
			shown += " ; " + stamp.Format(time.RFC3339)
		}
		assert.Equal(t, want, shown)
		back, err := zones.EncodeRecord(got, stamp, 42)
		require.NoError(t, err)
		assert.Equal(t, text, hex.EncodeToString(back))
	}
	bad := []string{"", "0400", head("0400", "0100", "00000e10", "00000000") + "0a0000",
		head("0500", "0100", "00000e10", "00000000") + "0a00000a00",
		head("0300", "0500", "00000e10", "00000000") + "ff0100",
		head("0700", "0500", "00000e10", "00000000") + "0502" + "036162630a"}
	for _, text := range bad {
		value, err := hex.DecodeString(text)
		require.NoError(t, err)
		_, _, err = zones.DecodeRecord(value)
		assert.Error(t, err, text)
	}
	tomb, err := hex.DecodeString(head("0800", "0000", "00000000", "00000000") + "0102030405060708")
	require.NoError(t, err)
	rr, _, err := zones.DecodeRecord(tomb)
	require.NoError(t, err)
	assert.Nil(t, rr)
}

// entries returns the directory-integrated zones in the form of an LDIF export.
func entries(t *testing.T, st *zonestest.Store) []zones.Entry {
	t.Helper()
	s := open(t, st, "")
	all, err := s.Zones()
	require.NoError(t, err)
	var out []zones.Entry
	for _, z := range all {
		if !z.DsIntegrated || z.Paused || z.Type != zones.Primary {
			continue
		}
		update := map[zones.Update]string{zones.UpdateNone: "00", zones.UpdateAll: "01",
			zones.UpdateSecure: "02"}[z.DynamicUpdate]
		property, err := hex.DecodeString("01000000" + "01000000" + "00000000" + "01000000" + "02000000" + update +
			"00")
		require.NoError(t, err)
		out = append(out, zones.Entry{DN: z.DN, Properties: [][]byte{property}, File: "x.ldif", Line: len(out) + 1})
		records, err := s.Records(z.Name, zones.Query{})
		require.NoError(t, err)
		last := ""
		for _, r := range records {
			value, err := zones.EncodeRecord(r.RR, r.Stamp, z.Serial)
			require.NoError(t, err)
			if r.Name != last {
				out = append(out, zones.Entry{DN: r.DN, Node: true, File: "x.ldif", Line: len(out) + 1})
				last = r.Name
			}
			out[len(out)-1].Records = append(out[len(out)-1].Records, value)
		}
	}
	return out
}

func TestZonesComeBackFromTheDirectory(t *testing.T) {
	from := builtin(t)
	list := entries(t, from)
	require.Greater(t, len(list), 100)
	to := zonestest.New(zones.Config{Domain: "corp.example", Servers: controllers})
	require.NoError(t, to.LoadDirectory(list))
	a, b := from.Snapshot(), to.Snapshot()
	for _, name := range []string{"corp.example", "_msdcs.corp.example", "10.in-addr.arpa",
		"0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa"} {
		assert.Equal(t, a[name][1:], b[name][1:], name)
		za, err := open(t, from, "").Zone(name)
		require.NoError(t, err)
		zb, err := open(t, to, "").Zone(name)
		require.NoError(t, err)
		za.Aging = zb.Aging
		assert.Equal(t, za, zb)
	}
}

func TestFaultsOfDirectoryEntries(t *testing.T) {
	st := zonestest.New(zones.Config{})
	soa, err := zones.EncodeRecord(rr(t, "SOA a. b. 1 2 3 4 5"), time.Time{}, 1)
	require.NoError(t, err)
	alias, err := zones.EncodeRecord(rr(t, "CNAME a."), time.Time{}, 1)
	require.NoError(t, err)
	addr, err := zones.EncodeRecord(rr(t, "A 10.0.0.1"), time.Time{}, 1)
	require.NoError(t, err)
	const parent = "CN=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"
	list := []zones.Entry{
		{DN: "DC=@,DC=x.example," + parent, Node: true, Records: [][]byte{soa}, File: "f", Line: 1},
		{DN: "DC=x.example, " + parent, File: "f", Line: 2},
		{DN: "DC=www,DC=X.example," + parent, Node: true, Records: [][]byte{alias, addr, {1, 2}}, File: "f", Line: 3},
		{DN: "DC=old,DC=x.example," + parent, Node: true, Records: [][]byte{{1, 2}}, Tombstoned: true, File: "f", Line: 4},
		{DN: "DC=www,DC=absent.example," + parent, Node: true, Records: [][]byte{alias}, File: "f", Line: 5},
		{DN: "DC=y.example," + parent, File: "f", Line: 6, Properties: [][]byte{{1}}},
		{DN: "DC=x.example," + parent, File: "f", Line: 7},
		{DN: "nonsense", File: "f", Line: 8},
		{DN: "nonsense", Node: true, File: "f", Line: 9},
		{DN: "DC=a b," + parent, File: "f", Line: 10},
		{DN: "DC=RootDNSServers," + parent, File: "f", Line: 11},
		{DN: "DC=@,DC=RootDNSServers," + parent, Node: true, Records: [][]byte{{1}}, File: "f", Line: 12},
	}
	err = st.LoadDirectory(list)
	require.Error(t, err)
	assert.Equal(t, strings.Join([]string{
		"f:3: www.x.example. has a CNAME and other data, see line 3",
		"f:3: value 3 of dnsRecord: not a DNS record: 2 octets, shorter than the header",
		"f:5: the zone of DC=www,DC=absent.example," + parent + " is missing",
		"f:6: a value of dNSProperty is malformed",
		"f:6: the zone y.example has no SOA record",
		"f:7: the zone x.example is defined twice",
		`f:8: "nonsense" is not the DN of a zone`,
		`f:9: "nonsense" is not the DN of a node`,
		`f:10: "a b" is not a zone name`,
	}, "\n"), err.Error())
	_, err = open(t, st, "").Zone("x.example")
	assert.Equal(t, zones.CodeZoneDoesNotExist, code(err))
}

// FuzzDecodeRecord decodes any value. A value that can be decoded must be encoded to the same octets.
func FuzzDecodeRecord(f *testing.F) {
	for _, text := range []string{"BAABAAXwAAAqAAAAAAAOEAAAAAAAAAAACgAACg==",
		"DQAFAAXwAAAqAAAAAAAOEAAAAAAAAAAACwIEd2ViMQRjb3JwAA=="} {
		value, err := base64.StdEncoding.DecodeString(text)
		require.NoError(f, err)
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got, stamp, err := zones.DecodeRecord(value)
		if err != nil || got == nil {
			return
		}
		got.Header().Name = "."
		back, err := zones.EncodeRecord(got, stamp, 0)
		if err != nil {
			return // a name with octets that have no text form
		}
		again, stamp2, err := zones.DecodeRecord(back)
		require.NoError(t, err)
		again.Header().Name = "."
		require.Equal(t, got.String(), again.String())
		require.True(t, stamp.Equal(stamp2))
		require.Equal(t, value[24:], back[24:])
	})
}

// TestPropertiesOfTheDirectory: values written by hand according to MS-DNSP 2.3.2.1.1 are
// decoded correctly: type, intervals, and masters in both forms.
func TestPropertiesOfTheDirectory(t *testing.T) {
	property := func(id, data string) []byte {
		size := len(data) / 2
		value, err := hex.DecodeString(hex.EncodeToString([]byte{byte(size), 0, 0, 0}) + "01000000" + "00000000" +
			"01000000" + id + "000000" + data + "00")
		require.NoError(t, err)
		return value
	}
	header := "02000000" + "02000000" + strings.Repeat("00", 24)
	v4 := "0200" + "0035" + "0a090001" + strings.Repeat("00", 56)
	v6 := "1700" + "0035" + "00000000" + "20010db8000000000000000000000009" + strings.Repeat("00", 40)
	const parent = "CN=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"
	st := zonestest.New(zones.Config{Domain: "corp.example", Servers: controllers})
	soa, err := zones.EncodeRecord(rr(t, "SOA a. b. 1 2 3 4 5"), time.Time{}, 1)
	require.NoError(t, err)
	require.NoError(t, st.LoadDirectory([]zones.Entry{
		{DN: "DC=ally.example," + parent, Properties: [][]byte{property("01", "04000000"), property("81", "01000000"+"0a090001"), property("91", header+v4+v6)}},
		{DN: "DC=aged.example," + parent, Properties: [][]byte{property("01", "01000000"), property("40", "01000000"), property("10", "18000000"), property("20", "00000000")}},
		{DN: "DC=@,DC=aged.example," + parent, Node: true, Records: [][]byte{soa}},
	}))
	ally, err := open(t, st, "").Zone("ally.example")
	require.NoError(t, err)
	assert.Equal(t, []any{zones.Forwarder, addresses("10.9.0.1", "2001:db8::9"), uint32(5), zones.UpdateNone},
		[]any{ally.Type, ally.Masters, ally.ForwarderTimeout, ally.DynamicUpdate})
	aged, err := open(t, st, "").Zone("aged.example")
	require.NoError(t, err)
	assert.Equal(t, []any{true, 24 * time.Hour, 168 * time.Hour},
		[]any{aged.Aging, aged.NoRefresh, aged.Refresh})
	for _, bad := range [][]byte{property("81", "020000000a090001"), property("91", "00000000"),
		property("91", header+v4), property("10", "39220000"), property("20", "00")} {
		err := st.LoadDirectory([]zones.Entry{{DN: "DC=x.example," + parent,
			Properties: [][]byte{property("01", "04000000"), bad}}})
		require.Error(t, err)
		assert.Contains(t, err.Error(), "a value of dNSProperty is malformed")
	}
}

package zones_test

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// rr parses a record in zone file form without its owner, such as "CNAME web1.corp.example."
func rr(t testing.TB, text string) dns.RR {
	t.Helper()
	p := dns.NewZoneParser(strings.NewReader("x. 600 IN "+text+"\n"), ".", "")
	r, ok := p.Next()
	require.True(t, ok, "%s: %v", text, p.Err())
	return r
}

func cname(target string) dns.RR {
	return &dns.CNAME{Hdr: dns.RR_Header{Rrtype: dns.TypeCNAME, Class: dns.ClassINET}, Target: target}
}

// Facts D.3 and facts E52-E58.
func TestAddRecordRules(t *testing.T) {
	long := strings.Repeat("a", 63)
	cases := []struct {
		what, zone, name, rr string
		code                 int // 0 if accepted
		stored               string
	}{
		{"relative name", "corp.example", "new", "CNAME web1.corp.example.", 0, "new"},
		{"name inside the zone", "corp.example", "new.corp.example", "CNAME web1.corp.example.", 0, "new"},
		{"absolute name", "corp.example", "New.Corp.Example.", "CNAME web1.corp.example.", 0, "New"},
		{"deeper name", "corp.example.", "a.b.c", "CNAME web1.corp.example.", 0, "a.b.c"},
		{"zone in another case", "CORP.Example", "new", "CNAME web1.corp.example.", 0, "new"},
		{"wildcard", "corp.example", "*.new", "CNAME web1.corp.example.", 0, "*.new"},
		{"wildcard alone", "corp.example", "*", "CNAME web1.corp.example.", 0, "*"},
		{"underscores", "corp.example", "_x._tcp", "CNAME web1.corp.example.", 0, "_x._tcp"},
		{"not ASCII", "corp.example", "bücher", "CNAME web1.corp.example.", 0, "bücher"},
		{"longest label", "corp.example", long, "CNAME web1.corp.example.", 0, long},
		{"a second A", "corp.example", "web1", "A 10.0.1.200", 0, "web1"},
		{"reverse name", "10.in-addr.arpa", "7.6.5", "PTR x.corp.example.", 0, "7.6.5"},
		{"reverse name IPv6", "0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa", strings.Repeat("0.", 19) + "1", "PTR x.corp.example.", 0, strings.Repeat("0.", 19) + "1"},
		{"glue below a delegation", "corp.example", "ns3.lab", "A 10.9.0.12", 0, "ns3.lab"},
		{"one more server of a delegation", "corp.example", "lab", "NS ns3.lab.corp.example.", 0, "lab"},
		{"no service", "corp.example", "_pop3._tcp", "SRV 0 0 0 .", 0, "_pop3._tcp"},

		{"zone absent", "absent.example", "new", "CNAME web1.corp.example.", zones.CodeZoneDoesNotExist, ""},
		{"forwarder", "partner.example", "new", "CNAME web1.corp.example.", zones.CodeInvalidZoneType, ""},
		{"stub", "lab.example", "new", "CNAME web1.corp.example.", zones.CodeInvalidZoneType, ""},
		{"secondary", "supplier.example", "new", "CNAME web1.corp.example.", zones.CodeInvalidZoneType, ""},
		{"automatic", "127.in-addr.arpa", "new", "PTR web1.corp.example.", zones.CodeInvalidZoneOperation, ""},
		{"paused", "legacy.example", "new", "CNAME web1.corp.example.", zones.CodeZoneShutdown, ""},
		{"outside the zone", "corp.example", "new.other.example.", "CNAME web1.corp.example.", zones.CodeNameNotInZone, ""},
		{"empty label", "corp.example", "a..b", "CNAME web1.corp.example.", zones.CodeInvalidName, ""},
		{"label too long", "corp.example", long + "a", "CNAME web1.corp.example.", zones.CodeInvalidName, ""},
		{"name too long", "corp.example", strings.Repeat(long+".", 3) + strings.Repeat("b", 52), "CNAME web1.corp.example.", zones.CodeInvalidName, ""},
		{"blank", "corp.example", "a b", "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"star inside", "corp.example", "a*", "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"star in the middle", "corp.example", "a.*.b", "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"dollar", "corp.example", "$(x)", "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"backslash", "corp.example", `a\.b`, "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"NUL", "corp.example", "a\x00b", "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"invalid UTF-8", "corp.example", "a\xffb", "CNAME web1.corp.example.", zones.CodeInvalidNameChar, ""},
		{"bad target", "corp.example", "new", `CNAME a\032b.example.`, zones.CodeInvalidNameChar, ""},
		{"no target", "corp.example", "new", "CNAME .", zones.CodeInvalidName, ""},
		{"alias at the apex", "corp.example", "@", "CNAME web1.corp.example.", zones.CodeCNameCollision, ""},
		{"alias at the apex by the zone's name", "corp.example", "corp.example.", "CNAME web1.corp.example.", zones.CodeCNameCollision, ""},
		{"alias over A", "corp.example", "WEB1", "CNAME web2.corp.example.", zones.CodeCNameCollision, ""},
		{"alias over SRV", "corp.example", "_ldap._tcp", "CNAME web2.corp.example.", zones.CodeCNameCollision, ""},
		{"alias over TXT", "corp.example", "_dmarc", "CNAME web2.corp.example.", zones.CodeCNameCollision, ""},
		{"alias over PTR", "1.168.192.in-addr.arpa", "21", "CNAME web2.corp.example.", zones.CodeCNameCollision, ""},
		{"alias over a delegation", "corp.example", "lab", "CNAME web2.corp.example.", zones.CodeCNameCollision, ""},
		{"same alias", "corp.example", "WWW", "CNAME WEB1.corp.example", zones.CodeRecordAlreadyExists, ""},
		{"same A", "corp.example", "web1", "A 10.0.1.30", zones.CodeRecordAlreadyExists, ""},
		{"A over an alias", "corp.example", "www", "A 10.0.1.30", zones.CodeNodeIsCName, ""},
		{"AAAA over an alias", "corp.example", "www", "AAAA 2001:db8::1", zones.CodeNodeIsCName, ""},
		{"TXT over an alias", "corp.example", "www", "TXT x", zones.CodeNodeIsCName, ""},
		{"SRV over an alias", "corp.example", "www", "SRV 1 2 3 web1.corp.example.", zones.CodeNodeIsCName, ""},
		{"MX over an alias", "corp.example", "www", "MX 1 web1.corp.example.", zones.CodeNodeIsCName, ""},
		{"to itself", "corp.example", "self", "CNAME SELF.corp.example.", zones.CodeCNameLoop, ""},
		{"below a delegation", "corp.example", "x.lab", "CNAME web1.corp.example.", zones.CodeUnderDelegation, ""},
		{"far below a delegation", "corp.example", "a.b.x.lab", "TXT x", zones.CodeUnderDelegation, ""},
		{"SOA not at the root", "corp.example", "new", "SOA a. b. 1 2 3 4 5", zones.CodeRecordOnlyAtRoot, ""},
		{"second SOA", "corp.example", "@", "SOA a. b. 1 2 3 4 5", zones.CodeRecordAlreadyExists, ""},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			st := builtin(t)
			s := open(t, st, "")
			before := st.Snapshot()
			got, err := s.AddRecord(zones.NewRecord{Zone: c.zone, Name: c.name, RR: rr(t, c.rr)})
			if c.code != 0 {
				require.Error(t, err)
				assert.Equal(t, c.code, code(err), err.Error())
				assert.Empty(t, zonestest.Compare(before, st.Snapshot()), "nothing changed")
				assert.Empty(t, st.Journal())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.stored, got.Name)
			assert.Len(t, zonestest.Compare(before, st.Snapshot()), 1)
			found, err := s.Records(c.zone, zones.Query{Name: c.name, Node: true, Type: got.Type()})
			require.NoError(t, err)
			assert.Contains(t, found, got)
			require.Len(t, st.Journal(), 1)
			assert.Equal(t, got.Text(), st.Journal()[0].After)
		})
	}
}

func TestNamesOfTheApex(t *testing.T) {
	s := open(t, builtin(t), "")
	for _, name := range []string{"@", ".", "corp.example", "Corp.Example."} {
		got, err := s.Records("corp.example", zones.Query{Name: name, Node: true, Type: dns.TypeSOA})
		require.NoError(t, err)
		require.Len(t, got, 1, name)
		assert.Equal(t, "@", got[0].Name)
	}
}

// TestReadings: a name that ends with the name of the zone is read in the configured way (facts E52, NA8,
// NB4).
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		way          zones.Reading
		name, stored string // stored: "" if the name is refused
	}{
		{zones.Strips, "a.corp.example", "a"},
		{zones.Strips, "a.corp.example.corp.example", "a.corp.example"},
		{zones.Strips, "a.Corp.Example.corp.example.", "a.Corp.Example"},
		{zones.Nests, "a.corp.example", "a.corp.example"},
		{zones.Nests, "corp.example", "corp.example"},
		{zones.Nests, "a.corp.example.", "a"},
		{zones.Refuses, "a.corp.example", ""},
		{zones.Refuses, "corp.example", ""},
		{zones.Refuses, "corp.example.corp.example.", "corp.example"},
		{zones.Repeats, "a.corp.example.corp.example", "a"},
		{zones.Repeats, "a.corp.example.corp.example.", "a"},
		{zones.Repeats, "corp.example.corp.example.", "@"},
	} {
		st := zonestest.New(zones.Config{Domain: "corp.example", Servers: controllers,
			Reads: func(zones.Op) zones.Reading { return c.way }})
		require.NoError(t, st.Load(zoneFiles(t)...))
		got, err := open(t, st, "").AddRecord(zones.NewRecord{Zone: "corp.example", Name: c.name,
			RR: rr(t, "TXT x")})
		if c.stored == "" {
			assert.Equal(t, zones.CodeInvalidName, code(err), c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, c.stored, got.Name, "%d: %s", c.way, c.name)
	}
}

// Facts E55.
func TestRecordsByName(t *testing.T) {
	s := open(t, builtin(t), "")
	count := func(q zones.Query) int {
		got, err := s.Records("corp.example", q)
		require.NoError(t, err)
		return len(got)
	}
	assert.Equal(t, 1, count(zones.Query{Name: "www", Node: true}))
	assert.Equal(t, 2, count(zones.Query{Name: "dev"}), "the names below one without records")
	assert.Zero(t, count(zones.Query{Name: "dev", Node: true}))
	assert.Equal(t, 2, count(zones.Query{Name: "lists"}), "the name and those below it")
	assert.Equal(t, 1, count(zones.Query{Name: "lists", Node: true}))
	assert.Zero(t, count(zones.Query{Name: "web1", Node: true, Type: dns.TypeCNAME}))
	assert.Equal(t, 1, count(zones.Query{Name: "*.apps", Node: true}), "an asterisk is a name, not a pattern")
	for _, q := range []zones.Query{{Name: "absent"}, {Name: "absent", Node: true}, {Name: "w*"},
		{Name: "absent", Type: dns.TypeCNAME}, {Name: "a b"}, {Name: "a..b"}, {Name: "www.other.example."},
		{Name: "\xff"}} {
		_, err := s.Records("corp.example", q)
		assert.Equal(t, zones.CodeNameDoesNotExist, code(err), q.Name)
	}
	empty, err := s.Records("127.in-addr.arpa", zones.Query{Type: dns.TypeCNAME})
	require.NoError(t, err)
	assert.Empty(t, empty)
	for zone, want := range map[string]int{"absent.example": zones.CodeZoneDoesNotExist,
		"partner.example": zones.CodeInvalidZoneType, "legacy.example": zones.CodeZoneShutdown} {
		_, err := s.Records(zone, zones.Query{})
		assert.Equal(t, want, code(err), zone)
	}
}

func TestRecordsComeInTheOrderOfTheTree(t *testing.T) {
	s := open(t, builtin(t), "")
	got, err := s.Records("corp.example", zones.Query{})
	require.NoError(t, err)
	require.Equal(t, "@", got[0].Name)
	seen := map[string]bool{}
	last := ""
	for _, r := range got {
		if r.Name != last {
			require.False(t, seen[r.Name], "%s twice", r.Name)
		}
		if _, parent, ok := strings.Cut(r.Name, "."); ok && parent == "lists" {
			require.True(t, seen["lists"])
		}
		seen[r.Name], last = true, r.Name
	}
}

func TestNewRecordsTakeTimeToLiveAndStamp(t *testing.T) {
	now := time.Date(2026, 10, 5, 14, 35, 12, 0, time.FixedZone("", 7200))
	st := zonestest.New(zones.Config{Now: func() time.Time { return now }})
	require.NoError(t, st.Load(zoneFiles(t)...))
	s := open(t, st, "")
	a, err := s.AddRecord(zones.NewRecord{Zone: "shop.example", Name: "a", RR: cname("b.example"),
		DefaultTTL: true})
	require.NoError(t, err)
	assert.Equal(t, 2*time.Hour, a.TTL())
	assert.True(t, a.Stamp.IsZero())
	assert.Equal(t, "b.example.", a.RR.(*dns.CNAME).Target)
	assert.Empty(t, a.DN)
	b, err := s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: "B", RR: cname("b.example."), Age: true})
	require.NoError(t, err)
	assert.Equal(t, time.Duration(0), b.TTL())
	assert.Equal(t, time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC), b.Stamp)
	assert.Equal(t, "DC=B,DC=corp.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example", b.DN)
}

func TestSerialGrowsOnEveryWrite(t *testing.T) {
	s := open(t, builtin(t), "")
	serial := func() uint32 {
		z, err := s.Zone("corp.example")
		require.NoError(t, err)
		return z.Serial
	}
	start := serial()
	_, err := s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: "n", RR: cname("web1.corp.example.")})
	require.NoError(t, err)
	assert.Equal(t, start+1, serial())
	_, err = s.RemoveRecords("corp.example", "n", dns.TypeCNAME)
	require.NoError(t, err)
	assert.Equal(t, start+2, serial())
	_, err = s.RemoveRecords("corp.example", "n", dns.TypeCNAME)
	require.Error(t, err)
	assert.Equal(t, start+2, serial(), "a failed write")
}

func TestSerialWrapsTo1(t *testing.T) {
	st := zonestest.New(zones.Config{})
	require.NoError(t, st.Load(zones.Source{Name: "x.example.zone",
		Text: []byte("@ 60 SOA a b 4294967295 2 3 4 5\n@ NS a\n")}))
	s := open(t, st, "")
	_, err := s.AddRecord(zones.NewRecord{Zone: "x.example", Name: "n", RR: cname("web1.corp.example.")})
	require.NoError(t, err)
	z, err := s.Zone("x.example")
	require.NoError(t, err)
	assert.Equal(t, uint32(1), z.Serial)
}

// Facts E60, E61.
func TestRemoveRecord(t *testing.T) {
	st := builtin(t)
	s := open(t, st, "")
	dcs, err := s.Records("corp.example", zones.Query{Name: "@", Node: true, Type: dns.TypeA})
	require.NoError(t, err)
	require.Len(t, dcs, 2)
	before := st.Snapshot()
	gone, err := s.RemoveRecord(dcs[0])
	require.NoError(t, err)
	assert.Equal(t, dcs[0], gone)
	assert.Equal(t, []string{"- corp.example: " + dcs[0].Text()}, zonestest.Compare(before, st.Snapshot()),
		"and no other record")
	_, err = s.RemoveRecord(dcs[0])
	assert.Equal(t, zones.CodeRecordDoesNotExist, code(err))

	dcs[1].Zone = "absent.example"
	_, err = s.RemoveRecord(dcs[1])
	assert.Equal(t, zones.CodeZoneDoesNotExist, code(err))

	cases := []struct {
		name string
		kind uint16
		want int // number of removed records, or minus the code
	}{
		{"_ldap._tcp", dns.TypeSRV, 2},
		{"_ldap._tcp", dns.TypeSRV, -zones.CodeNameDoesNotExist},
		{"@", dns.TypeMX, 2},
		{"@", 65400, 1},
		{"www", dns.TypeCNAME, 1},
		{"Intranet.Corp.Example.", dns.TypeCNAME, 1},
		{"web1", dns.TypeCNAME, -zones.CodeRecordDoesNotExist},
		{"absent", dns.TypeCNAME, -zones.CodeNameDoesNotExist},
		{"www.other.example.", dns.TypeCNAME, -zones.CodeNameDoesNotExist},
		{"@", dns.TypeSOA, -zones.CodeSoaDelete},
	}
	for _, c := range cases {
		gone, err := s.RemoveRecords("corp.example", c.name, c.kind)
		if c.want < 0 {
			assert.Equal(t, -c.want, code(err), c.name)
			continue
		}
		assert.NoError(t, err, c.name)
		assert.Len(t, gone, c.want, c.name)
	}
}

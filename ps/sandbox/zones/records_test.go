package zones_test

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
)

// rr makes a record from zone file form, owner left out: "CNAME web1.corp.example."
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

// TestAddRecordRules walks the conditions of facts D.3 and E52-E58.
func TestAddRecordRules(t *testing.T) {
	long := strings.Repeat("a", 63)
	cases := []struct {
		what, zone, name, rr string
		code                 int // 0: accepted
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
		{"A beside A", "corp.example", "web1", "A 10.0.1.200", 0, "web1"},
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
		{"second alias", "corp.example", "www", "CNAME web2.corp.example.", zones.CodeCNameCollision, ""},
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
				assert.Empty(t, zones.Compare(before, st.Snapshot()), "nothing may change")
				assert.Empty(t, st.Journal(0))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.stored, got.Name)
			assert.Len(t, zones.Compare(before, st.Snapshot()), 1)
			found, err := s.Records(c.zone, zones.Query{Name: c.name, Node: true, Type: got.Type()})
			require.NoError(t, err)
			assert.Contains(t, found, got)
			require.Len(t, st.Journal(0), 1)
			assert.Equal(t, got.Text(), st.Journal(0)[0].After)
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

// TestRecordsByName: facts E55.
func TestRecordsByName(t *testing.T) {
	s := open(t, builtin(t), "")
	count := func(q zones.Query) int {
		got, err := s.Records("corp.example", q)
		require.NoError(t, err)
		return len(got)
	}
	assert.Equal(t, 1, count(zones.Query{Name: "www", Node: true}))
	assert.Equal(t, 2, count(zones.Query{Name: "dev"}), "what lies below a name without records")
	assert.Zero(t, count(zones.Query{Name: "dev", Node: true}))
	assert.Equal(t, 2, count(zones.Query{Name: "lists"}), "the name and what lies below it")
	assert.Equal(t, 1, count(zones.Query{Name: "lists", Node: true}))
	assert.Zero(t, count(zones.Query{Name: "web1", Node: true, Type: dns.TypeCNAME}))
	assert.Equal(t, 1, count(zones.Query{Name: "*.apps", Node: true}), "a star is a name, not a pattern")
	for _, q := range []zones.Query{{Name: "absent"}, {Name: "absent", Node: true}, {Name: "w*"}, {Name: "absent", Type: dns.TypeCNAME}, {Name: "a b"}, {Name: "a..b"}, {Name: "www.other.example."}, {Name: "\xff"}} {
		_, err := s.Records("corp.example", q)
		assert.Equal(t, zones.CodeNameDoesNotExist, code(err), q.Name)
	}
	empty, err := s.Records("127.in-addr.arpa", zones.Query{Type: dns.TypeCNAME})
	require.NoError(t, err)
	assert.Empty(t, empty)
	for zone, want := range map[string]int{"absent.example": zones.CodeZoneDoesNotExist, "partner.example": zones.CodeInvalidZoneType, "legacy.example": zones.CodeZoneShutdown} {
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
			require.False(t, seen[r.Name], "%s comes twice", r.Name)
		}
		if _, parent, ok := strings.Cut(r.Name, "."); ok && parent == "lists" {
			require.True(t, seen["lists"])
		}
		seen[r.Name], last = true, r.Name
	}
}

func TestNewRecordsTakeTimeToLiveAndStamp(t *testing.T) {
	now := time.Date(2026, 10, 5, 14, 35, 12, 0, time.FixedZone("", 7200))
	st := zones.New(zones.Config{Now: func() time.Time { return now }})
	require.NoError(t, st.Load(zoneFiles(t)...))
	s := open(t, st, "")
	a, err := s.AddRecord(zones.NewRecord{Zone: "shop.example", Name: "a", RR: cname("b.example"), DefaultTTL: true})
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
	r, err := s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: "n", RR: cname("web1.corp.example.")})
	require.NoError(t, err)
	assert.Equal(t, start+1, serial())
	_, err = s.ReplaceRecord(r, cname("web2.corp.example."))
	require.NoError(t, err)
	assert.Equal(t, start+2, serial())
	_, err = s.RemoveRecords("corp.example", "n", dns.TypeCNAME)
	require.NoError(t, err)
	assert.Equal(t, start+3, serial())
	_, err = s.RemoveRecords("corp.example", "n", dns.TypeCNAME)
	require.Error(t, err)
	assert.Equal(t, start+3, serial(), "a refusal is no write")

	soa, err := s.Records("corp.example", zones.Query{Name: "@", Node: true, Type: dns.TypeSOA})
	require.NoError(t, err)
	last := dns.Copy(soa[0].RR).(*dns.SOA)
	last.Serial = 1<<32 - 1
	_, err = s.ReplaceRecord(soa[0], last)
	require.NoError(t, err)
	assert.Equal(t, uint32(1), serial(), "after the last number comes 1")
}

// TestRemoveRecord: facts E60, E61.
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
	assert.Equal(t, []string{"- corp.example: " + dcs[0].Text()}, zones.Compare(before, st.Snapshot()), "never its siblings")
	_, err = s.RemoveRecord(dcs[0])
	assert.Equal(t, zones.CodeRecordDoesNotExist, code(err))

	dcs[1].Zone = "absent.example"
	_, err = s.RemoveRecord(dcs[1])
	assert.Equal(t, zones.CodeZoneDoesNotExist, code(err))

	cases := []struct {
		name string
		kind uint16
		data []string
		want int // number removed, or minus the code
	}{
		{"_ldap._tcp", dns.TypeSRV, []string{"0", "100", "389", "dc1.corp.example."}, 1},
		{"_ldap._tcp", dns.TypeSRV, []string{"0", "100", "389", "dc1.corp.example."}, -zones.CodeRecordDoesNotExist},
		{"_ldap._tcp", dns.TypeSRV, nil, 1},
		{"_ldap._tcp", dns.TypeSRV, nil, -zones.CodeNameDoesNotExist},
		{"@", dns.TypeMX, []string{"10", "mail1.corp.example."}, 1},
		{"@", dns.TypeTXT, []string{"v=spf1 mx ip4:10.0.1.0/24 -all"}, 1},
		{"@", 65400, []string{"0a000a01"}, 1},
		{"www", dns.TypeCNAME, []string{"web1.corp.example"}, -zones.CodeRecordDoesNotExist},
		{"www", dns.TypeCNAME, []string{"web1.corp.example."}, 1},
		{"Intranet.Corp.Example.", dns.TypeCNAME, nil, 1},
		{"web1", dns.TypeCNAME, nil, -zones.CodeRecordDoesNotExist},
		{"absent", dns.TypeCNAME, nil, -zones.CodeNameDoesNotExist},
		{"www.other.example.", dns.TypeCNAME, nil, -zones.CodeNameDoesNotExist},
		{"@", dns.TypeSOA, nil, -zones.CodeSoaDelete},
	}
	for _, c := range cases {
		gone, err := s.RemoveRecords("corp.example", c.name, c.kind, c.data...)
		if c.want < 0 {
			assert.Equal(t, -c.want, code(err), "%s %v", c.name, c.data)
			continue
		}
		assert.NoError(t, err, "%s %v", c.name, c.data)
		assert.Len(t, gone, c.want, "%s %v", c.name, c.data)
	}
}

// TestReplaceRecord: facts E59.
func TestReplaceRecord(t *testing.T) {
	st := builtin(t)
	s := open(t, st, "")
	get := func(name string) zones.Record {
		got, err := s.Records("corp.example", zones.Query{Name: name, Node: true})
		require.NoError(t, err)
		return got[0]
	}
	old := get("br-print")
	next := dns.Copy(old.RR).(*dns.CNAME)
	next.Target, next.Hdr.Ttl = "fs1.corp.example", 60
	got, err := s.ReplaceRecord(old, next)
	require.NoError(t, err)
	assert.Equal(t, "fs1.corp.example.", got.RR.(*dns.CNAME).Target)
	assert.Equal(t, time.Minute, got.TTL())
	assert.Equal(t, old.Stamp, got.Stamp)
	assert.Equal(t, got, get("br-print"))
	_, err = s.ReplaceRecord(old, next)
	assert.Equal(t, zones.CodeRecordDoesNotExist, code(err), "the old record is gone")
	_, err = s.ReplaceRecord(got, rr(t, "A 10.0.0.1"))
	assert.Equal(t, zones.CodeInvalidParameter, code(err), "the type stays")
	_, err = s.ReplaceRecord(got, cname("br-print.corp.example."))
	assert.Equal(t, zones.CodeCNameLoop, code(err))
	_, err = s.ReplaceRecord(got, nil)
	assert.Equal(t, zones.CodeInvalidParameter, code(err))
}

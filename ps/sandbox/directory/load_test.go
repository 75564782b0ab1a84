package directory

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/internal/ldif"
)

func records(t testing.TB, name, text string) []ldif.Record {
	t.Helper()
	r, err := ldif.Parse(name, []byte(text))
	require.NoError(t, err)
	return r
}

// TestBuiltIn: the built-in domain is complete and consistent.
func TestBuiltIn(t *testing.T) {
	dc, _ := lab(t)
	d := dc.domain
	assert.Equal(t, "CORP", d.NetBIOSName())
	assert.Equal(t, "corp.example", d.DNSName())
	assert.Equal(t, root, d.RootDN())
	assert.Equal(t, users, d.UsersContainer())
	assert.Equal(t, "CN=Computers,"+root, d.ComputersContainer())
	assert.Empty(t, d.Warnings())
	requireSound(t, dc.rep)
	count := func(filter string) int {
		objs, err := dc.Search(bg, SearchRequest{Filter: filter, Attributes: []string{"name"}})
		require.NoError(t, err)
		return len(objs)
	}
	assert.GreaterOrEqual(t, count("(&(objectCategory=person)(objectClass=user))"), 200)
	assert.GreaterOrEqual(t, count("(&(objectCategory=group)(!(isCriticalSystemObject=TRUE)))"), 30)
	assert.GreaterOrEqual(t, count("(objectCategory=computer)"), 40)
	for _, typ := range []int{globalSec, localSec, universalSec, 2, 4, 8} {
		assert.Positive(t, count(fmt.Sprintf("(groupType=%d)", typ)), typ)
	}
	deep := 0
	objs, err := dc.Search(bg, SearchRequest{Filter: "(&(objectCategory=person)(objectClass=user))"})
	require.NoError(t, err)
	sids := map[SID]bool{}
	for _, o := range objs {
		deep = max(deep, strings.Count(o.DN, ",OU="))
		assert.False(t, o.SID.IsZero() || sids[o.SID], o.DN)
		sids[o.SID] = true
		if o.String("sAMAccountName") != "Guest" {
			assert.Equal(t, "513", o.String("primaryGroupID"), o.DN)
		}
	}
	assert.Equal(t, 4, deep)
	for rid, name := range map[uint32]string{500: "Administrator", 501: "Guest", 502: "krbtgt",
		512: "Domain Admins", 513: "Domain Users", 515: "Domain Computers", 516: "Domain Controllers",
		518: "Schema Admins", 519: "Enterprise Admins"} {
		o, err := dc.BySID(bg, d.SID().WithRID(rid))
		require.NoError(t, err)
		assert.Equal(t, name, o.String("name"))
		assert.Equal(t, "TRUE", o.String("isCriticalSystemObject"))
	}
	o, err := dc.BySID(bg, mustSID("S-1-5-32-544"))
	require.NoError(t, err)
	assert.Equal(t, "-2147483643", o.String("groupType"), "facts E34")
	assert.Equal(t, `BUILTIN\Administrators`, mustObject(t, dc, o.DN, "msDS-PrincipalName").String("msDS-PrincipalName"))
	assert.True(t, protected(t, dc, "OU=Staff,"+corp))
	assert.False(t, protected(t, dc, empty))
	names := make([]string, 0, 2)
	for _, c := range d.DCs() {
		names = append(names, c.HostName())
	}
	assert.Equal(t, []string{"dc1.corp.example", "dc2.corp.example"}, names)

	// facts E17a: lastLogon differs between DCs
	differ := 0
	for _, u := range objs {
		a := mustObject(t, d.dcs[0], u.GUID.Ref(), "lastLogon").String("lastLogon")
		b := mustObject(t, d.dcs[1], u.GUID.Ref(), "lastLogon").String("lastLogon")
		if a != b {
			differ++
		}
	}
	assert.Greater(t, differ, 100)
}

// TestSeed: equal seeds result in equal domains, different seeds in different identities.
func TestSeed(t *testing.T) {
	open := func(seed int64) *Snapshot {
		d, err := New("example.net", Options{Seed: seed, Clock: newClock().time})
		require.NoError(t, err)
		require.NoError(t, d.Generate(300, seed))
		dc, err := d.DC("")
		require.NoError(t, err)
		_, err = dc.Add(bg, "CN=x,"+d.UsersContainer(), user("x")...)
		require.NoError(t, err)
		s, err := dc.Snapshot()
		require.NoError(t, err)
		return s
	}
	a := open(1)
	assert.Empty(t, a.Compare(open(1)))
	assert.NotEmpty(t, a.Compare(open(2)))
}

func TestNew(t *testing.T) {
	d, err := New("a.b.example.org", Options{})
	require.NoError(t, err)
	assert.Equal(t, "DC=a,DC=b,DC=example,DC=org", d.RootDN())
	assert.Equal(t, "A", d.NetBIOSName())
	assert.NotEqual(t, GUID{}, d.GUID())
	assert.WithinDuration(t, time.Now(), d.Now(), time.Minute)
	o := mustObject(t, d.dcs[0], "CN=Administrator,CN=Users,"+d.RootDN())
	assert.Equal(t, d.SID().WithRID(500), o.SID)
}

const export = `
dn: CN=Ann,OU=People,DC=lab,DC=test
objectClass: user
objectClass: person
objectClass: organizationalPerson
objectClass: top
cn: Ann
name: Ann
distinguishedName: CN=Ann,OU=People,DC=lab,DC=test
objectGUID: 4b98b030-c66a-4474-a63a-a26f4cebc7af
objectSid: S-1-5-21-1-2-3-1105
sAMAccountName: ann
sAMAccountType: 805306368
userAccountControl: 66048
memberOf: CN=Team,OU=People,DC=lab,DC=test
memberOf: CN=Gone,OU=People,DC=lab,DC=test
assistant: CN=Boss,OU=Elsewhere,DC=lab,DC=test
userParameters:: IENvbnRlbnQg
shoeSize: 43
x-blob:: /wD/
pwdLastSet: 132254171030000000
lastLogon: 132254171030000001
whenCreated: 20190101120000.0Z
whenChanged: 20200101120000.0Z
uSNChanged: 8812
canonicalName: lab.test/People/Ann
extensionAttribute1: ext

dn: CN=Team,OU=People,DC=lab,DC=test
objectClass: group
objectGUID:: MLCYS2bGdESmOqJvTOvHsA==
objectSid:: AQUAAAAAAAUVAAAAAQAAAAIAAAADAAAAUwQAAA==
groupType: 2147483656
member: CN=Bob,OU=People,DC=lab,DC=test

dn: OU=People,DC=lab,DC=test
objectClass: organizationalUnit

dn: CN=Bob,OU=People,DC=lab,DC=test
objectClass: user
directReports: CN=Ann,OU=People,DC=lab,DC=test
userAccountControl: 546

dn: CN=PC,OU=People,DC=lab,DC=test
objectClass: computer
x-blob: text

dn: CN=Deleted Objects,DC=lab,DC=test
objectClass: container
isDeleted: TRUE

dn:: Q049R29uZQpERUw6MSxDTj1EZWxldGVkIE9iamVjdHMsREM9bGFiLERDPXRlc3Q=
objectClass: user
isDeleted: TRUE
sAMAccountName: ann

dn: CN=Configuration,DC=lab,DC=test
objectClass: configuration

dn: CN=LAB,CN=Configuration,DC=lab,DC=test
objectClass: crossRef
nCName: DC=lab,DC=test
nETBIOSName: LABOR

dn: DC=DomainDnsZones,DC=lab,DC=test
objectClass: domainDNS

dn: DC=lab.test,CN=MicrosoftDNS,DC=DomainDnsZones,DC=lab,DC=test
objectClass: dnsZone

dn: CN=MicrosoftDNS,DC=DomainDnsZones,DC=lab,DC=test
objectClass: container

dn: DC=www,DC=lab.test,CN=MicrosoftDNS,DC=DomainDnsZones,DC=lab,DC=test
objectClass: dnsNode
dnsRecord:: BAABAAXwAAAeAAAAAAADhAAAAAAAAAAACgAAAQ==

dn: DC=lab,DC=test
objectClass: domainDNS
minPwdLength: 3
pwdProperties: 0
`

// TestOpen: an export of another domain is loaded completely, regardless of the order of its entries.
func TestOpen(t *testing.T) {
	d, err := Open(Options{Seed: 1}, records(t, "export.ldif", export))
	require.NoError(t, err)
	assert.Equal(t, "lab.test", d.DNSName())
	assert.Equal(t, "LABOR", d.NetBIOSName(), "from the crossRef")
	assert.Equal(t, "S-1-5-21-1-2-3", d.SID().String(), "from its users")
	assert.Equal(t, "CN=Users,DC=lab,DC=test", d.UsersContainer())
	dc, err := d.DC("dc1.lab.test")
	require.NoError(t, err)
	requireSound(t, dc.rep)

	o := mustObject(t, dc, "CN=Ann,OU=People,DC=lab,DC=test", "*", "canonicalName")
	assert.Equal(t, "user", o.Class)
	assert.Equal(t, "4b98b030-c66a-4474-a63a-a26f4cebc7af", o.GUID.String())
	assert.EqualValues(t, 1105, o.SID.RID())
	assert.Equal(t, []string{"CN=Team,OU=People,DC=lab,DC=test"}, o.Strings("memberOf"),
		"memberOf instead of member")
	assert.Equal(t, []string{"CN=Bob,OU=People,DC=lab,DC=test"}, o.Strings("manager"),
		"directReports instead of manager")
	assert.Equal(t, []string{"CN=Boss,OU=Elsewhere,DC=lab,DC=test"}, o.Strings("assistant"), "kept as text")
	assert.Equal(t, "43", o.String("shoeSize"), "unknown attributes are kept")
	assert.Equal(t, []byte{0xFF, 0, 0xFF}, o.Value("x-blob"))
	assert.Equal(t, []byte("text"), mustObject(t, dc, "CN=PC,OU=People,DC=lab,DC=test").Value("x-blob"),
		"octets in all entries")
	assert.Equal(t, "2019-01-01T12:00:00Z", o.Value("whenCreated").(time.Time).Format(time.RFC3339))
	assert.Equal(t, "8812", o.String("uSNChanged"))
	assert.Equal(t, " Content ", o.String("userParameters"))
	assert.Equal(t, "lab.test/People/Ann", o.String("canonicalName"))
	objs, err := dc.Search(bg, SearchRequest{Filter: "(&(shoeSize=43)(extensionAttribute1=EXT))"})
	require.NoError(t, err)
	assert.Len(t, objs, 1, "and can be used in filters")
	require.NoError(t, dc.Modify(bg, o.DN, []Change{{OpReplace, "shoeSize", []any{"44"}}}, ModifyOptions{}),
		"and writable")

	g := mustObject(t, dc, "CN=Team,OU=People,DC=lab,DC=test")
	assert.Equal(t, "Team", g.String("sAMAccountName"))
	assert.Equal(t, itoa(universalSec), g.String("groupType"), "an unsigned number")
	assert.EqualValues(t, 1107, g.SID.RID())
	assert.Len(t, g.Strings("member"), 2)
	b := mustObject(t, dc, "CN=Bob,OU=People,DC=lab,DC=test")
	assert.GreaterOrEqual(t, b.SID.RID(), uint32(1108), "a generated SID, above those of the file")
	assert.Equal(t, "Bob", b.String("sAMAccountName"))
	assert.Equal(t, "546", b.String("userAccountControl"))
	assert.Equal(t, "PC$", mustObject(t, dc, "CN=PC,OU=People,DC=lab,DC=test").String("sAMAccountName"))

	// searches do not enter other naming contexts
	objs, err = dc.Search(bg, SearchRequest{Filter: "(|(objectClass=dnsZone)(objectClass=dnsNode)(nETBIOSName=LABOR))"})
	require.NoError(t, err)
	assert.Empty(t, objs)
	objs, err = dc.Search(bg, SearchRequest{Base: "DC=DomainDnsZones,DC=lab,DC=test", Filter: "(dnsRecord=*)"})
	require.NoError(t, err)
	require.Len(t, objs, 1)
	assert.Equal(t, "www", objs[0].String("dc"))
	assert.Equal(t, []byte{10, 0, 0, 1}, objs[0].Bytes("dnsRecord")[24:28])

	var warned []string
	for _, w := range d.Warnings() {
		warned = append(warned, fmt.Sprintf("%d %s", w.Line, w.Message))
	}
	assert.ElementsMatch(t, []string{
		"52 a deleted object is skipped",
		"2 memberOf refers to CN=Gone,OU=People,DC=lab,DC=test, which does not exist",
		"2 assistant refers to CN=Boss,OU=Elsewhere,DC=lab,DC=test, which does not exist",
	}, warned)
	// the policy of the file
	require.NoError(t, dc.ResetPassword(bg, o.DN, "abc"))
	requireCode(t, CodePasswordRestriction, KindPolicy, dc.ResetPassword(bg, o.DN, "ab"))
}

// TestOpenSkips: an entry that the directory cannot contain is skipped as a whole, with its
// file, line, value and reason.
func TestOpenSkips(t *testing.T) {
	const x = "dn: CN=x,DC=lab,DC=test\nobjectClass: user\n" +
		"unicodePwd:: IgBTAHQAcgAwAG4AZwAtAFAAYQBzAHMAIQAiAA==\nmanager: DC=lab,DC=test\nlastLogon: 1\n" +
		"adgatewayProtected: TRUE\n"
	for _, tt := range []struct{ name, text, line, message string }{
		{"malformed DN", "dn: x\nobjectClass: user\n", "1", "the DN is malformed"},
		{"outside", x + "\ndn: CN=x,DC=other\nobjectClass: user\n", "8", "outside the domain DC=lab,DC=test"},
		{"no class", "dn: CN=x,DC=lab,DC=test\ncn: x\n", "1", "objectClass is missing"},
		{"abstract class", "dn: CN=x,DC=lab,DC=test\nobjectClass: leaf\n", "1", "objectClass leaf is not a structural class"},
		{"below a skipped one", "dn: CN=x,DC=lab,DC=test\nobjectClass: leaf\n\ndn: CN=y,CN=x,DC=lab,DC=test\nobjectClass: user\n", "4", "its parent was skipped"},
		{"twice", x + "\ndn: cn=X, dc=lab,dc=test\nobjectClass: user\n", "8", "same DN as on line 1"},
		{"the name of a sibling", x + "\ndn: OU=X,DC=lab,DC=test\nobjectClass: organizationalUnit\n", "8", "another object in its place has the name: CN=x,DC=lab"},
		{"the name of a standard container", "dn: OU=users,DC=lab,DC=test\nobjectClass: organizationalUnit\n", "1", "its name is that of the container CN=users,DC=lab"},
		{"bad GUID", x + "objectGUID: 17\n", "1", `objectGUID "17" is malformed`},
		{"bad SID", x + "objectSid: 17\n", "1", `objectSid "17" is malformed`},
		{"same GUID", "dn: CN=x,DC=lab,DC=test\nobjectClass: container\nobjectGUID: 4b98b030-c66a-4474-a63a-a26f4cebc7af\n\ndn: CN=y,DC=lab,DC=test\nobjectClass: container\nobjectGUID: 4b98b030-c66a-4474-a63a-a26f4cebc7af\n", "5", "same objectGUID"},
		{"same SID", "dn: CN=x,DC=lab,DC=test\nobjectClass: user\nobjectSid: S-1-5-21-1-2-3-4\n\ndn: CN=y,DC=lab,DC=test\nobjectClass: user\nobjectSid: S-1-5-21-1-2-3-4\n", "5", "same objectSid"},
		{"same account", "dn: CN=x,DC=lab,DC=test\nobjectClass: user\nsAMAccountName: A\n\ndn: CN=y,DC=lab,DC=test\nobjectClass: group\nsAMAccountName: a\n", "5", `the same sAMAccountName "a" as CN=x`},
		{"no number", x + "userAccountControl: many\n", "7", `the value "many" of userAccountControl`},
		{"no time", x + "whenCreated: yesterday\n", "7", `the value "yesterday" of whenCreated`},
		{"no USN", x + "uSNChanged: x\n", "7", `the value "x" of uSNChanged`},
		{"no logon", x + "badPwdCount: x\n", "7", `the value "x" of badPwdCount`},
		{"several", x + "title: a\ntitle: b\n", "1", "title is single-valued but has 2 values"},
		{"password", "dn: CN=x,DC=lab,DC=test\nobjectClass: user\nunicodePwd: x\n", "1", "unicodePwd"},
		{"addition to nothing", "dn: CN=x,DC=lab,DC=test\nchangetype: modify\nadd: title\ntitle: x\n-\n", "1", "values are added to an entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Open(Options{}, records(t, "base.ldif", "dn: DC=lab,DC=test\nobjectClass: domainDNS\n"),
				records(t, "own.ldif", tt.text))
			require.NoError(t, err)
			require.Equal(t, 1, d.Loaded().Skipped-strings.Count(tt.name, "below"), "%v", d.Warnings())
			last := d.Warnings()[d.Loaded().Skipped-1]
			assert.Contains(t, last.Error(), "own.ldif:"+tt.line+": skipped: ")
			assert.Contains(t, last.Message, tt.message)
			assert.Equal(t, 1+strings.Count(tt.text, "\ndn: ")+1-d.Loaded().Skipped, d.Loaded().Entries)
			requireSound(t, d.dcs[0].rep)
		})
	}
}

// TestOpenKeeps: entries that the simulation does not use are kept as written and counted. Missing
// parents are added.
func TestOpenKeeps(t *testing.T) {
	d, err := Open(Options{}, records(t, "part.ldif", `dn: CN=x,OU=b,CN=a,DC=lab,DC=test
objectClass: user
manager: boss
secretary: CN=one,DC=lab,DC=test
msDS-SupportedEncryptionTypes: some

dn: CN=RID Manager$,CN=System,DC=lab,DC=test
objectClass: rIDManager
rIDAvailablePool: 2100-1073741823

dn: CN=RID Set,CN=x,OU=b,CN=a,DC=lab,DC=test
objectClass: rIDSet
rIDAvailablePool: 1-2
rIDNextRID: 1104
rIDAllocationPool: 1
rIDPreviousAllocationPool: 1
rIDUsedPool: 1

dn: CN=g,DC=lab,DC=test
changetype: add
objectClass: group
managedBy: CN=x,OU=b,CN=a,DC=lab,DC=test
managedBy: CN=RID Manager$,CN=System,DC=lab,DC=test

dn: CN=g,DC=lab,DC=test
changetype: modify
add: member
member: CN=x,OU=b,CN=a,DC=lab,DC=test
-
`))
	require.NoError(t, err)
	assert.Equal(t, Loaded{Entries: 4, Kept: 3, Added: 4}, d.Loaded())
	assert.Equal(t, "lab.test", d.DNSName())
	dc := d.dcs[0]
	assert.Equal(t, "2100-1073741823",
		mustObject(t, dc, "CN=RID Manager$,CN=System,DC=lab,DC=test").String("rIDAvailablePool"))
	assert.Equal(t, "organizationalUnit", mustObject(t, dc, "OU=b,CN=a,DC=lab,DC=test").Class)
	g := mustObject(t, dc, "CN=g,DC=lab,DC=test")
	assert.Equal(t, []string{"CN=x,OU=b,CN=a,DC=lab,DC=test"}, g.Strings("member"))
	assert.Equal(t, []string{"CN=x,OU=b,CN=a,DC=lab,DC=test"}, g.Strings("managedBy"))
	require.NoError(t, dc.Modify(bg, "CN=RID Set,CN=x,OU=b,CN=a,DC=lab,DC=test",
		[]Change{{OpReplace, "description", []any{"x"}}}, ModifyOptions{}))
	var text []string
	for _, w := range d.Warnings() {
		text = append(text, w.Error())
	}
	assert.Equal(t, []string{
		`part.ldif:1: the value "boss" of manager is not a DN and is left out (CN=x,OU=b,CN=a,DC=lab,DC=test)`,
		`part.ldif:1: secretary refers to CN=one,DC=lab,DC=test, which does not exist (CN=x,OU=b,CN=a,DC=lab,DC=test)`,
		`part.ldif:19: managedBy is single-valued but has 2 values: the first is kept (CN=g,DC=lab,DC=test)`,
		`part.ldif:1: 4 entries that lie above others are missing and were added`,
		`part.ldif:5: 3 values do not match the syntax of their attribute and are kept as written: msDS-SupportedEncryptionTypes (1, first "some" on line 5), rIDAvailablePool (2, first "2100-1073741823" on line 9)`,
	}, text)
	requireSound(t, dc.rep)
}

// TestOpenStops: an entry that would falsify all answers stops the load.
func TestOpenStops(t *testing.T) {
	base := "dn: DC=lab,DC=test\nobjectClass: domainDNS\n"
	for name, tt := range map[string]struct{ base, text, message string }{
		"no domain":          {"", "dn: CN=x\nobjectClass: user\n", `own.ldif:1: no domainDNS entry`},
		"another domain":     {base, "dn: DC=other,DC=test\nobjectClass: domainDNS\n\ndn: CN=x,DC=other,DC=test\nobjectClass: user\n", "own.ldif:1: no entry of the file is in the domain DC=lab,DC=test: it is an export of another domain; leave it out"},
		"an odd domain":      {"", "dn: CN=x,DC=lab\nobjectClass: domainDNS\n", "DC names only"},
		"a malformed SID":    {"", base + "objectSid: x\n", "objectSid"},
		"a malformed policy": {"", base + "minPwdLength: x\n", `the value "x" of minPwdLength`},
	} {
		t.Run(name, func(t *testing.T) {
			layers := [][]ldif.Record{records(t, "own.ldif", tt.text)}
			if tt.base != "" {
				layers = append([][]ldif.Record{records(t, "base.ldif", tt.base)}, layers...)
			}
			d, err := Open(Options{OtherDomain: "leave it out"}, layers...)
			require.ErrorContains(t, err, tt.message)
			assert.Nil(t, d)
		})
	}
}

// A layer over the built-in domain replaces attributes and adds entries.
func TestLayers(t *testing.T) {
	d, err := BuiltIn(Options{}, records(t, "own.ldif", `
dn: CN=Photo Paula,OU=Odd Names,OU=Corp,DC=corp,DC=example
objectClass: user
displayName: Paula P.
title: Photographer

dn: OU=Mine,DC=corp,DC=example
objectClass: organizationalUnit
adgatewayProtected: TRUE

dn: CN=me,OU=Mine,DC=corp,DC=example
objectClass: user
unicodePwd:: IgBTAHQAcgAwAG4AZwAtAFAAYQBzAHMAIQAiAA==
`))
	require.NoError(t, err)
	dc := d.dcs[0]
	o := mustObject(t, dc, "CN=Photo Paula,"+odd)
	assert.Equal(t, "Paula P.", o.String("displayName"))
	assert.Equal(t, "Photographer", o.String("title"))
	assert.True(t, o.Has("thumbnailPhoto"))
	assert.True(t, protected(t, dc, "OU=Mine,"+root))
	require.NoError(t, dc.Logon(bg, "me", good))
}

// manyEntries returns a file with n users in 100 OUs, with children before their parents.
// Through memberOf, the users are members of 50 groups.
func manyEntries(n int) []byte {
	var b bytes.Buffer
	b.WriteString("dn: DC=lab,DC=test\nobjectClass: domainDNS\n\n")
	for i := 0; i < n; i++ {
		fmt.Fprintf(&b, "dn: CN=User %d,OU=o%d,DC=lab,DC=test\nobjectClass: top\nobjectClass: person\n"+
			"objectClass: organizationalPerson\nobjectClass: user\n"+
			"cn: User %d\nsAMAccountName: user%d\nuserPrincipalName: user%d@lab.test\nuserAccountControl: 512\n"+
			"displayName: User number %d\n"+
			"mail: user%d@lab.test\nmemberOf: CN=g%d,OU=o1,DC=lab,DC=test\ndescription: one of very many\n\n", i,
			i%100, i, i, i, i, i, i%50)
	}
	for i := 0; i < 100; i++ {
		fmt.Fprintf(&b, "dn: OU=o%d,DC=lab,DC=test\nobjectClass: organizationalUnit\n\n", i)
	}
	for i := 0; i < 50; i++ {
		fmt.Fprintf(&b, "dn: CN=g%d,OU=o1,DC=lab,DC=test\nobjectClass: group\n\n", i)
	}
	return b.Bytes()
}

// TestManyEntries does not measure time. BenchmarkLoad does; its goal is 20,000 entries in 5
// seconds.
func TestManyEntries(t *testing.T) {
	const n = 20_000
	recs, err := ldif.Parse("big.ldif", manyEntries(n))
	require.NoError(t, err)
	d, err := Open(Options{}, recs)
	require.NoError(t, err)
	assert.Equal(t, n+151, d.Loaded().Entries)
	o := mustObject(t, d.dcs[0], "CN=g7,OU=o1,DC=lab,DC=test", "member")
	assert.Equal(t, n/50, o.Count("member"))
}

func TestGenerate(t *testing.T) {
	d, err := BuiltIn(Options{Seed: 1, ReplicationLag: time.Minute})
	require.NoError(t, err)
	require.NoError(t, d.Generate(0, 1))
	require.NoError(t, d.Generate(600, 1))
	err = d.Generate(10, 1)
	requireCode(t, CodeNameExists, KindExists, err)
	assert.Empty(t, d.Journal(0))
	for _, c := range d.DCs() {
		requireSound(t, c.rep)
		objs, err := c.Search(bg, SearchRequest{Filter: "(company=Generated Ltd.)"})
		require.NoError(t, err)
		assert.Len(t, objs, 600)
		for _, o := range objs {
			assert.LessOrEqual(t, len(o.String("sAMAccountName")), 20)
			assert.True(t, o.Has("memberOf") && o.Has("telephoneNumber") && o.Has("department"))
		}
	}
	requireConverged(t, d)
}

// Without serverReferenceBL, the account of a computer decides whether it is a domain controller.
// If some entries have it, computers without it only look like domain controllers (facts G13).
func TestControllersOfFiles(t *testing.T) {
	computer := func(name, uac, more string) string {
		return "dn: CN=" + name + ",DC=lab,DC=test\nobjectClass: computer\nsAMAccountName: " + name +
			"$\nuserAccountControl: " + uac + "\n" + more + "\n"
	}
	const server = "serverReferenceBL: CN=X,CN=Servers,CN=Here,CN=Sites,CN=Configuration,DC=lab,DC=test\n"
	for name, c := range map[string]struct {
		file string
		want []string // host names, and whether each accepts writes
	}{
		"none":       {"", []string{"dc1.lab.test true", "dc2.lab.test true"}},
		"by account": {computer("A", "532480", "") + computer("B", "83890176", "") + computer("PC", "4096", ""), []string{"a.lab.test true", "b.lab.test false"}},
		"by server object": {
			computer("A", "532480", server) + computer("STALE", "532480", "dNSHostName: stale.lab.test\n") + computer("WAN", "83955712", ""),
			[]string{"a.lab.test true"},
		},
		"renamed": {computer("OLD", "532480", server+"dNSHostName: New.lab.test\n"), []string{"new.lab.test true"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Open(Options{Seed: 1},
				records(t, "dcs.ldif", "dn: DC=lab,DC=test\nobjectClass: domainDNS\n\n"+c.file))
			require.NoError(t, err)
			assert.Empty(t, d.Warnings())
			var got []string
			for _, dc := range d.DCs() {
				got = append(got, fmt.Sprintf("%s %t", dc.HostName(), dc.Writable()))
				if c.file != "" {
					o, err := dc.ByGUID(bg, dc.Account(), "name")
					require.NoError(t, err)
					assert.Equal(t, dc.Name(), strings.ToLower(o.String("name")))
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

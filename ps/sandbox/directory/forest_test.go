package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// emea is a child domain. Some of its accounts have the same names as accounts of the domain.
const (
	emea     = "DC=emea,DC=corp,DC=example"
	forestIn = `version: 1

dn: DC=emea,DC=corp,DC=example
objectClass: top
objectClass: domainDNS
objectSid: S-1-5-21-111-222-333
nETBIOSName: EUROPE

dn: CN=Users,DC=emea,DC=corp,DC=example
objectClass: top
objectClass: container

dn: CN=Lea Weber,CN=Users,DC=emea,DC=corp,DC=example
objectClass: top
objectClass: person
objectClass: organizationalPerson
objectClass: user
objectSid: S-1-5-21-111-222-333-1101
sAMAccountName: lweber
userPrincipalName: lea@emea.corp.example
servicePrincipalName: HTTP/emea
userAccountControl: 512
adminCount: 1
description: Europe

dn: CN=Global,CN=Users,DC=emea,DC=corp,DC=example
objectClass: top
objectClass: group
objectSid: S-1-5-21-111-222-333-1201
groupType: -2147483646
sAMAccountName: Global
member: CN=Lea Weber,CN=Users,DC=emea,DC=corp,DC=example

dn: CN=Universal,CN=Users,DC=emea,DC=corp,DC=example
objectClass: top
objectClass: group
objectSid: S-1-5-21-111-222-333-1202
groupType: -2147483640
sAMAccountName: Universal
member: CN=Lea Weber,CN=Users,DC=emea,DC=corp,DC=example

dn: CN=Local,CN=Users,DC=emea,DC=corp,DC=example
objectClass: top
objectClass: group
objectSid: S-1-5-21-111-222-333-1203
groupType: -2147483644
sAMAccountName: Local
`
	leaAbroad = "CN=Lea Weber,CN=Users," + emea
)

func forestDC(t *testing.T, options Options) *DC {
	t.Helper()
	options.Seed = 1
	d, err := BuiltIn(options, records(t, "forest.ldif", forestIn))
	require.NoError(t, err)
	assert.Empty(t, d.Warnings())
	dc, err := d.DC("dc1")
	require.NoError(t, err)
	return dc
}

// TestForest: the domain does not show its child domain. The global catalog shows all
// domains, with the attributes that it contains (facts G14, G15).
func TestForest(t *testing.T) {
	dc := forestDC(t, Options{})
	child := Child{DN: emea, DNSName: "emea.corp.example", NetBIOS: "EUROPE"}
	child.SID = mustSID("S-1-5-21-111-222-333")
	assert.Equal(t, []Child{child}, dc.Domain().Children())
	find := func(req SearchRequest) []string {
		t.Helper()
		found, err := dc.Search(bg, req)
		require.NoError(t, err)
		var names []string
		for _, o := range found {
			names = append(names, o.DN)
		}
		return names
	}
	const lea = "(sAMAccountName=lweber)"
	own := find(SearchRequest{Filter: lea})
	require.Len(t, own, 1)
	assert.ElementsMatch(t, []string{own[0], leaAbroad}, find(SearchRequest{Filter: lea, Catalog: true}))
	assert.Equal(t, []string{leaAbroad}, find(SearchRequest{Filter: lea, Base: emea, Catalog: true}))
	for _, absent := range []string{"(adminCount=1)", "(memberOf=CN=Universal,CN=Users," + emea + ")"} {
		assert.Empty(t, find(SearchRequest{Filter: absent, Base: emea, Catalog: true}), absent)
	}
	_, err := dc.Search(bg, SearchRequest{Base: emea})
	requireCode(t, CodeReferral, KindReferral, err)
	_, err = dc.Get(bg, leaAbroad)
	requireCode(t, CodeReferral, KindReferral, err)
	_, err = dc.BySID(bg, mustSID("S-1-5-21-111-222-333-1101"))
	requireCode(t, CodeNotFound, KindNotFound, err)
	for name, members := range map[string]int{"Universal": 1, "Global": 0} {
		request := SearchRequest{Filter: "(sAMAccountName=" + name + ")", Base: emea, Catalog: true}
		request.Attributes = []string{"member", "description"}
		groups, err := dc.Search(bg, request)
		require.NoError(t, err)
		require.Len(t, groups, 1)
		assert.Len(t, groups[0].Strings("member"), members, name)
	}
	names := SearchRequest{Base: "CN=Partitions,CN=Configuration," + root, Filter: "(nETBIOSName=*)"}
	assert.Len(t, find(names), 2)

	// Objects of another domain cannot be written. Their account names are free here, but their
	// UPNs and SPNs are not.
	replace := func(dn, attribute, value string) error {
		return dc.Modify(bg, dn, []Change{{OpReplace, attribute, []any{value}}}, ModifyOptions{})
	}
	requireCode(t, CodeReferral, KindReferral, replace(leaAbroad, "description", "x"))
	_, err = dc.Add(bg, "CN=Universal,"+empty, Attr("objectClass", "group"), Attr("sAMAccountName", "Universal"),
		Attr("groupType", globalSec))
	require.NoError(t, err)
	requireCode(t, CodeUPNExists, KindExists, replace(own[0], "userPrincipalName", "LEA@emea.corp.example"))
	requireCode(t, CodeSPNExists, KindExists, replace(own[0], "servicePrincipalName", "http/EMEA"))
}

// TestMembersOfAnotherDomain: universal and domain local groups accept members of another
// domain in the forest, global groups do not (facts E.2, E31, G15).
func TestMembersOfAnotherDomain(t *testing.T) {
	for _, replicas := range []bool{false, true} {
		dc := forestDC(t, Options{Replicas: replicas})
		global, local := addGroup(t, dc, "g", globalSec), addGroup(t, dc, "l", localSec)
		universal := addGroup(t, dc, "u", universalSec)
		for _, refused := range []struct {
			group, member string
			code          int
		}{
			{global, leaAbroad, CodeGlobalNoCrossDomain},
			{global, "CN=Global,CN=Users," + emea, CodeGlobalNoCrossDomain},
			{local, "CN=Local,CN=Users," + emea, CodeLocalNoCrossLocal},
			{universal, "CN=Local,CN=Users," + emea, CodeUniversalNoLocal},
		} {
			requireCode(t, refused.code, KindNesting, addMember(dc, refused.group, refused.member))
		}
		for _, group := range []string{local, universal} {
			groups := []string{"CN=Global,CN=Users," + emea, "CN=Universal,CN=Users," + emea}
			for _, member := range append(groups, leaAbroad) {
				require.NoError(t, addMember(dc, group, member))
			}
			o, err := dc.Get(bg, group, "member")
			require.NoError(t, err)
			assert.Len(t, o.Strings("member"), 3)
			found, err := dc.Search(bg, SearchRequest{Filter: "(member=" + leaAbroad + ")"})
			require.NoError(t, err)
			assert.NotEmpty(t, found)
			gone := []Change{{OpDelete, "member", []any{leaAbroad}}}
			require.NoError(t, dc.Modify(bg, group, gone, ModifyOptions{}))
		}
	}
}

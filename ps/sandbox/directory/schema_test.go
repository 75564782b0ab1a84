package directory

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchema(t *testing.T) {
	s := newSchema()
	for _, a := range s.Attributes() {
		assert.False(t, a.Unknown)
		if a.LinkID != 0 {
			assert.Equal(t, SyntaxDN, a.Syntax, a.Name)
			assert.Equal(t, a.LinkID%2 == 1, a.IsBackLink(), a.Name)
			assert.True(t, a.IsLink())
			if a.other != nil {
				assert.Same(t, a, a.other.other)
				assert.NotEqual(t, a.IsBackLink(), a.other.IsBackLink())
			}
		}
		assert.False(t, a.Constructed && a.get == nil && a.Name != "fromEntry", "%s is computed by nothing", a.Name)
		assert.LessOrEqual(t, a.RangeLower, max(a.RangeUpper, a.RangeLower))
	}
	for _, c := range s.classes {
		require.NotEmpty(t, c.chain, c.Name)
		assert.Equal(t, "top", c.chain[0])
		assert.Equal(t, c.Name, c.chain[len(c.chain)-1])
		if c.Kind == Structural {
			assert.NotEmpty(t, c.Superiors, c.Name)
			_, ok := s.Attribute(c.RDN)
			assert.True(t, ok, c.RDN)
		}
		for _, sup := range c.Superiors {
			_, ok := s.Class(sup)
			assert.True(t, ok, "%s under %s", c.Name, sup)
		}
	}
	a, ok := s.Attribute("SAMAccountName")
	require.True(t, ok)
	assert.Equal(t, "sAMAccountName", a.Name)
	assert.EqualValues(t, 256, a.RangeUpper, "facts C24")
	_, ok = s.Attribute("shoeSize")
	assert.False(t, ok)
	assert.True(t, s.Allowed("user", "title"))
	assert.True(t, s.Allowed("computer", "title"))
	assert.False(t, s.Allowed("group", "title"))
	assert.False(t, s.Allowed("nothing", "title"))
	assert.False(t, s.Allowed("user", "nothing"))
	c, ok := s.Class("INETORGPERSON")
	require.True(t, ok)
	assert.Equal(t, []string{"top", "person", "organizationalPerson", "user", "inetOrgPerson"}, c.Chain())
	assert.Greater(t, len(c.Allowed()), 200)
}

// Facts C24 and the ranges of the schema.
func TestRanges(t *testing.T) {
	s := newSchema()
	for name, upper := range map[string]int64{
		"givenName": 64, "sn": 64, "company": 64, "department": 64, "telephoneNumber": 64, "homePhone": 64, "mobile": 64, "cn": 64,
		"title": 128, "l": 128, "st": 128, "physicalDeliveryOfficeName": 128, "postalCode": 40, "postOfficeBox": 40,
		"displayName": 256, "mail": 256, "description": 1024, "streetAddress": 1024, "initials": 6, "userParameters": 32767, "userPrincipalName": 1024,
	} {
		a, ok := s.Attribute(name)
		require.True(t, ok, name)
		assert.Equal(t, upper, a.RangeUpper, name)
	}
}

func TestValues(t *testing.T) {
	s := newSchema()
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("x", 3600))
	guid, sid := GUID{1, 2, 3}, mustSID("S-1-5-32-544")
	tests := []struct {
		attr string
		in   any
		out  any // nil if refused
	}{
		{"title", "x", "x"}, {"title", []byte("x"), "x"}, {"title", 5, "5"}, {"title", true, "TRUE"}, {"title", guid, guid.String()},
		{"title", "", nil}, {"title", nil, nil}, {"title", 1.5, nil}, {"title", "\xff", nil}, {"title", sid, "S-1-5-32-544"}, {"title", struct{}{}, nil},
		{"countryCode", 276, int32(276)}, {"countryCode", "276", int32(276)}, {"countryCode", uint8(7), int32(7)}, {"countryCode", "0x1", nil},
		{"countryCode", int64(1) << 40, nil}, {"groupType", uint32(0x80000002), int32(-2147483646)}, {"groupType", "2147483650", nil}, {"countryCode", true, nil},
		{"accountExpires", Never, Never}, {"accountExpires", at, ToFileTime(at)}, {"accountExpires", uint64(math.MaxUint64), nil}, {"accountExpires", "x", nil},
		{"isDeleted", true, true}, {"isDeleted", "false", false}, {"isDeleted", 1, nil}, {"isDeleted", "yes", nil},
		{"whenCreated", at, at.UTC().Truncate(time.Second)}, {"whenCreated", "20260102020405.0Z", at.UTC().Truncate(time.Second)},
		{"whenCreated", "260102020405Z", at.UTC().Truncate(time.Second)}, {"whenCreated", "x", nil}, {"whenCreated", 5, nil},
		{"thumbnailPhoto", []byte{0, 255}, []byte{0, 255}}, {"thumbnailPhoto", "ab", []byte("ab")}, {"thumbnailPhoto", []byte{}, nil}, {"thumbnailPhoto", 1, nil},
		{"objectGUID", guid, guid[:]}, {"objectGUID", guid.String(), guid[:]}, {"objectGUID", guid[:], guid[:]}, {"objectGUID", []byte{1}, nil}, {"objectGUID", "x", nil},
		{"objectSid", sid, sid.Bytes()}, {"objectSid", sid.String(), sid.Bytes()}, {"objectSid", sid.Bytes(), sid.Bytes()}, {"objectSid", []byte{1}, nil},
		{"gecos", "ascii", "ascii"}, {"gecos", "ü", nil}, {"x121Address", "12 3", "12 3"}, {"x121Address", "12a", nil},
		{"userParameters", "a\xed\xa0\x80b", "a\xed\xa0\x80b"},
	}
	for _, tt := range tests {
		a := s.must(a2k(tt.attr))
		raw, e := a.encode(tt.in)
		if tt.out == nil {
			require.NotNil(t, e, "%s <- %#v", tt.attr, tt.in)
			assert.Equal(t, CodeInvalidParameter, e.Code)
			continue
		}
		require.Nil(t, e, "%s <- %#v", tt.attr, tt.in)
		assert.Equal(t, tt.out, a.decode(raw), "%s <- %#v", tt.attr, tt.in)
	}
	for name, in := range map[string]string{"hexadecimal": "30b0984b6ac67444a63aa26f4cebc7af",
		"base64": "MLCYS2rGdESmOqJvTOvHrw==", "text": "4b98b030-c66a-4474-a63a-a26f4cebc7af",
		"octets": "0\xb0\x98\x4b\x6a\xc6\x74\x44\xa6\x3a\xa2\x6f\x4c\xeb\xc7\xaf"} {
		raw, ok := s.must("objectguid").octetsFromText(in)
		require.True(t, ok, name)
		g, _ := GUIDFromBytes([]byte(raw))
		assert.Equal(t, "4b98b030-c66a-4474-a63a-a26f4cebc7af", g.String(), name)
	}
}

func a2k(name string) string { return foldASCII(name) }

func TestFileTime(t *testing.T) {
	at, ok := FromFileTime(133485408000000000)
	require.True(t, ok)
	assert.Equal(t, "2024-01-01T00:00:00Z", at.Format(time.RFC3339))
	assert.EqualValues(t, 133485408000000000, ToFileTime(at))
	for _, n := range []int64{0, -1, Never} { // facts E9
		_, ok := FromFileTime(n)
		assert.False(t, ok)
	}
}

func TestObject(t *testing.T) {
	dc, _ := lab(t)
	o := mustObject(t, dc, "CN=Hidden User,"+odd, "*", "canonicalName")
	assert.Equal(t, []any{"1", "2", "3"}, o.Values("otherTelephone"))
	assert.Equal(t, 3, o.Count("OTHERTELEPHONE"))
	assert.Nil(t, o.Values("title"))
	assert.Nil(t, o.Value("title"))
	assert.Nil(t, o.Strings("title"))
	assert.Nil(t, o.Bytes("title"))
	assert.Empty(t, o.String("title"))
	assert.Zero(t, o.Count("title"))
	_, ok := o.Int("title")
	assert.False(t, ok)
	_, ok = o.Bool("title")
	assert.False(t, ok)
	_, ok = o.Time("title")
	assert.False(t, ok)
	hidden, ok := o.Bool("showInAdvancedViewOnly")
	assert.True(t, hidden && ok)
	assert.Equal(t, o.GUID.String(), o.String("objectGUID"))
	assert.Equal(t, o.SID.String(), o.String("objectSid"))
	assert.Equal(t, o.GUID[:], o.Value("objectGUID"))
	assert.True(t, o.Is("PERSON"))
	assert.False(t, o.Is("computer"))
	names := o.Names()
	require.IsIncreasing(t, lower(names))
	_, ok = o.Time("accountExpires")
	assert.False(t, ok, "Never is not a time (facts E9)")
	assert.Equal(t, "corp.example/Corp/Odd Names/Hidden User", o.String("canonicalName"))
}

func lower(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = foldASCII(n)
	}
	return out
}

func TestComputed(t *testing.T) {
	dc, _ := lab(t)
	all := []string{"canonicalName", "createTimeStamp", "modifyTimeStamp", "structuralObjectClass",
		"subSchemaSubEntry", "parentGUID",
		"msDS-parentdistname", "msDS-PrincipalName", "primaryGroupToken", "msDS-Approx-Immed-Subordinates", "allowedAttributes",
		"allowedAttributesEffective", "allowedChildClasses", "sDRightsEffective", "fromEntry", "msDS-isGC", "msDS-isRODC", "msDS-SiteName",
		"tokenGroupsGlobalAndUniversal", "instanceType", "dc"}
	o := mustObject(t, dc, root, all...)
	assert.Equal(t, "corp.example/", o.String("canonicalName"))
	assert.Equal(t, "5", o.String("instanceType"))
	assert.Equal(t, `CORP\`, o.String("msDS-PrincipalName"))
	assert.Equal(t, "corp", o.String("dc"))
	assert.False(t, o.Has("parentGUID"))
	o = mustObject(t, dc, "CN=Domain Admins,"+users, all...)
	assert.Equal(t, "512", o.String("primaryGroupToken"))
	assert.Equal(t, `CORP\Domain Admins`, o.String("msDS-PrincipalName"))
	assert.Equal(t, users, o.String("msDS-parentdistname"))
	assert.Contains(t, o.Strings("allowedAttributes"), "member")
	assert.Contains(t, o.Strings("allowedAttributes"), "memberOf")
	assert.NotContains(t, o.Strings("allowedAttributesEffective"), "memberOf")
	o = mustObject(t, dc, "CN=DC1,OU=Domain Controllers,"+root, all...)
	assert.Equal(t, "TRUE", o.String("msDS-isGC"))
	assert.Equal(t, "Default-First-Site-Name", o.String("msDS-SiteName"))
	o = mustObject(t, dc, empty, all...)
	assert.Contains(t, o.Strings("allowedChildClasses"), "user")
	assert.NotContains(t, o.Strings("allowedChildClasses"), "msFVE-RecoveryInformation")
	assert.Equal(t, "0", o.String("msDS-Approx-Immed-Subordinates"))
	assert.False(t, o.Has("primaryGroupToken"))
	o = mustObject(t, dc, "CN=S-1-5-11,CN=ForeignSecurityPrincipals,"+root, all...)
	assert.Equal(t, "S-1-5-11", o.String("msDS-PrincipalName"))
}

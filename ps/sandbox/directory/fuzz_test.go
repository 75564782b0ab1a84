package directory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/internal/ldif"
)

// FuzzOpen loads any file. It must fail with ldif.Faults, or result in a consistent domain
// that is the same when it is loaded again.
func FuzzOpen(f *testing.F) {
	f.Add(export)
	f.Add("dn: CN=x,DC=lab,DC=test\nobjectClass: user\nmember: CN=x,DC=lab,DC=test\n" +
		"manager: CN=x,DC=lab,DC=test\n")
	f.Add("dn: X=1,DC=lab,DC=test\nobjectClass: strange\nx: y\nobjectGUID: 1\n")
	f.Add("dn: CN=g,DC=lab,DC=test\nobjectClass: group\nmember: CN=g,DC=lab,DC=test\n" +
		"memberOf: CN=g,DC=lab,DC=test\nprimaryGroupID: 5\n")
	f.Add("dn: DC=lab,DC=test\nobjectClass: domainDNS\nobjectSid: S-1-5-21-1-2-3\nmaxPwdAge: -1\n" +
		"lockoutDuration: 99\n")
	f.Add("dn: CN=Deleted Objects,DC=lab,DC=test\nobjectClass: container\nisDeleted: TRUE\n\n" +
		"dn: CN=Gone,CN=Deleted Objects,DC=lab,DC=test\nobjectClass: user\n")
	f.Add("dn: DC=lab,DC=test\nobjectClass: domainDNS\nisDeleted: TRUE\n\n" +
		"dn: CN=x,DC=lab,DC=test\nobjectClass: user\n")
	base, err := ldif.Parse("base", []byte("dn: DC=lab,DC=test\nobjectClass: domainDNS\n"))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		own, _ := ldif.Parse("own", []byte(text))
		d, err := Open(Options{Seed: 1, Clock: newClock().time}, base, own)
		if err != nil {
			var faults ldif.Faults
			require.ErrorAs(t, err, &faults)
			require.Nil(t, d)
			return
		}
		dc := d.dcs[0]
		requireSound(t, dc.rep)
		first, err := dc.Snapshot()
		require.NoError(t, err)
		again, err := Open(Options{Seed: 1, Clock: newClock().time}, base, own)
		require.NoError(t, err)
		second, err := again.dcs[0].Snapshot()
		require.NoError(t, err)
		require.Empty(t, first.Compare(second))
		objs, err := dc.Search(bg, SearchRequest{Deleted: true})
		require.NoError(t, err)
		for _, o := range objs {
			if o.String("isDeleted") != "TRUE" {
				got, err := dc.Get(bg, o.DN)
				require.NoError(t, err)
				require.Equal(t, o.GUID, got.GUID)
			}
		}
	})
}

// FuzzModify changes any attribute in any way. The change must succeed or fail with a code,
// and leave the domain consistent.
func FuzzModify(f *testing.F) {
	f.Add("CN=Administrator,CN=Users,DC=corp,DC=example", uint8(2), "userAccountControl", "512", "x", false)
	f.Add("<SID=S-1-5-32-544>", uint8(0), "member", "CN=Guest,CN=Users,DC=corp,DC=example",
		"CN=krbtgt,CN=Users,DC=corp,DC=example", true)
	f.Add("CN=Guest,CN=Users,DC=corp,DC=example", uint8(1), "primaryGroupID", "513", "514", false)
	f.Add("CN=Domain Users,CN=Users,DC=corp,DC=example", uint8(2), "groupType", "-2147483640", "8", false)
	f.Add("CN=Guest,CN=Users,DC=corp,DC=example", uint8(2), "unicodePwd", string(QuotePassword("Str0ng-Pass!")),
		"", false)
	f.Add("DC=corp,DC=example", uint8(2), "lockoutDuration", "-1", "-9223372036854775808", false)
	f.Fuzz(func(t *testing.T, ref string, op uint8, name, v1, v2 string, permissive bool) {
		d, err := New("corp.example", Options{Seed: 1, Clock: newClock().time})
		require.NoError(t, err)
		dc := d.dcs[0]
		before, err := dc.Snapshot()
		require.NoError(t, err)
		err = dc.Modify(bg, ref, []Change{
			{ChangeOp(op % 4), name, []any{v1}}, {ChangeOp(op / 4 % 4), name, []any{v2, []byte(v1)}},
		}, ModifyOptions{Permissive: permissive})
		if err != nil {
			_, ok := CodeOf(err)
			require.True(t, ok, "%v", err)
			after, err := dc.Snapshot()
			require.NoError(t, err)
			require.Empty(t, before.Compare(after))
		}
		requireSound(t, dc.rep)
		_, err = dc.Search(bg, SearchRequest{Attributes: []string{"*", "msDS-User-Account-Control-Computed",
			"msDS-UserPasswordExpiryTimeComputed", "tokenGroups", "canonicalName"}})
		require.NoError(t, err)
	})
}

// FuzzAdd adds an object with any name and class.
func FuzzAdd(f *testing.F) {
	f.Add("CN=a,CN=Users,DC=corp,DC=example", "user", "sAMAccountName", "a", "b")
	f.Add(`OU=\ a\, b\00,DC=corp,DC=example`, "organizationalUnit", "ou", " a, b\x00", "x")
	f.Add("CN=g,CN=Users,DC=corp,DC=example", "group", "member", "CN=Guest,CN=Users,DC=corp,DC=example", "n")
	f.Fuzz(func(t *testing.T, dn, class, name, value, newName string) {
		d, err := New("corp.example", Options{Seed: 1, Clock: newClock().time})
		require.NoError(t, err)
		dc := d.dcs[0]
		o, err := dc.Add(bg, dn, Attr("objectClass", class), Attr(name, value))
		if err != nil {
			_, ok := CodeOf(err)
			require.True(t, ok, "%v", err)
			requireSound(t, dc.rep)
			return
		}
		got, err := dc.Get(bg, dn)
		require.NoError(t, err)
		require.Equal(t, o, got)
		if err := dc.Rename(bg, o.GUID.Ref(), newName); err == nil {
			now, err := dc.ByGUID(bg, o.GUID)
			require.NoError(t, err)
			require.Equal(t, newName, now.String("name"))
			again, err := dc.Get(bg, now.DN)
			require.NoError(t, err)
			require.Equal(t, o.GUID, again.GUID)
		}
		requireSound(t, dc.rep)
		require.NoError(t, dc.Delete(bg, o.GUID.Ref()))
		requireSound(t, dc.rep)
	})
}

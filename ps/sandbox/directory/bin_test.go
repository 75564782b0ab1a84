package directory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func withBin(o *Options) { o.RecycleBin = true }

// deleted reads a deleted object as -IncludeDeletedObjects does, or returns nil if there is none.
func deleted(t testing.TB, dc *DC, g GUID) *Object {
	t.Helper()
	found, err := dc.Search(bg, SearchRequest{
		Filter: "(objectGUID=" + EscapeFilterBytes(g[:]) + ")", Deleted: true, Attributes: []string{"*"},
	})
	require.NoError(t, err)
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// leftovers are attributes that a restored object has in addition to its former ones.
var leftovers = map[string]bool{"lastKnownParent": true, "msDS-LastKnownRDN": true}

// requireSame requires that the directory equals the snapshot, except for leftovers.
func requireSame(t testing.TB, dc *DC, before *Snapshot) {
	t.Helper()
	after, err := dc.Snapshot()
	require.NoError(t, err)
	for _, d := range before.Compare(after) {
		for _, c := range d.Changes {
			assert.True(t, leftovers[c.Name], "%s: %s was %v, is %v", d.DN, c.Name, c.Before, c.After)
		}
		assert.Equal(t, d.DN, d.NewDN)
	}
}

// Facts R3, R4, R7, R14
func TestRestoreUser(t *testing.T) {
	dc, clock := lab(t, withBin)
	ruth, err := dc.BySAM(bg, "ring.ruth", "memberOf")
	require.NoError(t, err)
	require.NoError(t, dc.ResetPassword(bg, ruth.GUID.Ref(), "Tr0ub4dor&3xx"))
	require.NoError(t, dc.SetProtected(bg, ruth.GUID.Ref(), true))
	require.NoError(t, dc.SetProtected(bg, ruth.GUID.Ref(), false))
	before, err := dc.Snapshot()
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, ruth.GUID.Ref()))
	requireSound(t, dc.rep)

	gone := deleted(t, dc, ruth.GUID)
	require.NotNil(t, gone)
	assert.Equal(t, `CN=Ring Ruth\0ADEL:`+ruth.GUID.String()+",CN=Deleted Objects,"+root, gone.DN)
	assert.Equal(t, "Ring Ruth", gone.String("msDS-LastKnownRDN"))
	assert.Equal(t, odd, gone.String("lastKnownParent"))
	assert.Equal(t, "ring.ruth", gone.String("sAMAccountName"))
	assert.Equal(t, ruth.SID, gone.SID)
	assert.False(t, gone.Has("objectCategory") || gone.Has("sAMAccountType") || gone.Has("isRecycled"))
	assert.ElementsMatch(t, ruth.Strings("memberOf"), gone.Strings("memberOf"),
		"hidden links are shown with deleted objects")
	rolf, err := dc.BySAM(bg, "ring.rolf", "manager")
	require.NoError(t, err)
	assert.False(t, rolf.Has("manager"), "links to a deleted object are hidden")
	_, err = dc.Get(bg, gone.DN)
	require.Error(t, err)
	requireCode(t, CodeNotFound, KindNotFound, dc.Modify(bg, ruth.GUID.Ref(), nil, ModifyOptions{}))
	require.Error(t, dc.Logon(bg, "ring.ruth", "Tr0ub4dor&3xx"))

	clock.advance(48 * time.Hour)
	require.NoError(t, dc.Restore(bg, ruth.GUID.Ref(), RestoreOptions{}))
	requireSound(t, dc.rep)
	requireSame(t, dc, before)
	require.NoError(t, dc.ChangePassword(bg, ruth.GUID.Ref(), "Tr0ub4dor&3xx", "An0ther+Password"),
		"the password came back")
	unchanged(t, dc, func() {
		requireCode(t, CodeNotOnObject, KindConstraint, dc.Restore(bg, ruth.GUID.Ref(), RestoreOptions{}))
	})
	last := dc.domain.Journal(0)
	entry := last[len(last)-2]
	assert.Equal(t, "restore", entry.Op)
	assert.Empty(t, entry.Objects[0].DN)
	assert.Equal(t, ruth.DN, entry.Objects[0].NewDN)
}

// Facts R5, R18: without the bin almost nothing is restored.
func TestReanimateTombstone(t *testing.T) {
	dc, _ := lab(t)
	ruth, err := dc.BySAM(bg, "ring.ruth")
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, ruth.GUID.Ref()))
	gone := deleted(t, dc, ruth.GUID)
	require.NotNil(t, gone)
	assert.Equal(t, "TRUE", gone.String("isRecycled"))
	for _, name := range []string{"msDS-LastKnownRDN", "displayName", "userPrincipalName", "memberOf",
		"description"} {
		assert.False(t, gone.Has(name), name)
	}
	require.NoError(t, dc.Restore(bg, ruth.GUID.Ref(), RestoreOptions{}))
	requireSound(t, dc.rep)
	back, err := dc.BySAM(bg, "ring.ruth", "*")
	require.NoError(t, err)
	assert.Equal(t, ruth.DN, back.DN)
	assert.Equal(t, ruth.SID, back.SID)
	uac, _ := back.Int("userAccountControl")
	assert.NotZero(t, uac&uacDisabled, "a reanimated user is disabled")
	assert.False(t, back.Has("memberOf") || back.Has("displayName"))
}

// Facts R7, R8: a restore is refused.
func TestRestoreRefused(t *testing.T) {
	dc, _ := lab(t, withBin)
	ou, err := dc.Add(bg, "OU=bin,"+odd, Attr("objectClass", "organizationalUnit"))
	require.NoError(t, err)
	attrs := append(user("binned"), Attr("userPrincipalName", "binned@corp.example"),
		Attr("servicePrincipalName", "http/binned"))
	u, err := dc.Add(bg, "CN=Binned,"+ou.DN, attrs...)
	require.NoError(t, err)
	require.NoError(t, dc.DeleteTree(bg, ou.GUID.Ref()))
	gone := deleted(t, dc, u.GUID)
	require.NotNil(t, gone)
	assert.Equal(t, deleted(t, dc, ou.GUID).DN, gone.String("lastKnownParent"),
		"facts R10: the mangled name of the parent")

	refused := func(code int, kind Kind, o RestoreOptions) {
		t.Helper()
		unchanged(t, dc, func() { requireCode(t, code, kind, dc.Restore(bg, u.GUID.Ref(), o)) })
	}
	refused(CodeNoParent, KindNoParent, RestoreOptions{})
	refused(CodeNoParent, KindNoParent, RestoreOptions{Parent: "OU=none," + odd})
	refused(CodeReferral, KindReferral, RestoreOptions{Parent: "OU=x,DC=else,DC=where"})
	refused(CodeIllegalSuperior, KindConstraint, RestoreOptions{Parent: "CN=Ring Ruth," + odd})
	refused(CodeNoParent, KindNoParent, RestoreOptions{Parent: ou.GUID.Ref()})
	require.NoError(t, dc.Restore(bg, ou.GUID.Ref(), RestoreOptions{}))
	assert.Equal(t, ou.DN, deleted(t, dc, u.GUID).String("lastKnownParent"),
		"facts R10: the reference follows the parent")

	taken := func(code int, dn string, attrs ...Values) {
		t.Helper()
		o, err := dc.Add(bg, dn, attrs...)
		require.NoError(t, err)
		refused(code, KindExists, RestoreOptions{})
		require.NoError(t, dc.Delete(bg, o.GUID.Ref()))
	}
	taken(CodeNameExists, "CN=Binned,"+ou.DN, user("other.one")...)
	taken(CodeAccountExists, "CN=Other,"+ou.DN, user("binned")...)
	taken(CodeUPNExists, "CN=Other,"+ou.DN,
		append(user("other.one"), Attr("userPrincipalName", "binned@corp.example"))...)
	taken(CodeSPNExists, "CN=Other,"+ou.DN,
		append(user("other.one"), Attr("servicePrincipalName", "http/binned"))...)

	everyone := func(r Rights, of GUID) []ACE { return []ACE{{Trustee: Everyone, Rights: r, ObjectType: of}} }
	require.NoError(t, dc.SetACL(bg, root, everyone(RightControlAccess, ReanimateRight)))
	refused(CodeInsufficientRights, KindDenied, RestoreOptions{})
	require.NoError(t, dc.SetACL(bg, root, nil))
	require.NoError(t, dc.SetACL(bg, ou.DN, everyone(RightCreateChild, GUID{})))
	refused(CodeInsufficientRights, KindDenied, RestoreOptions{})
	require.NoError(t, dc.SetACL(bg, ou.DN, nil))

	require.NoError(t, dc.Restore(bg, u.GUID.Ref(), RestoreOptions{Name: "New name", Parent: empty}))
	back, err := dc.BySAM(bg, "binned")
	require.NoError(t, err)
	assert.Equal(t, "CN=New name,"+empty, back.DN)
	requireSound(t, dc.rep)
}

// A link is restored when both of its objects exist again, in any order.
func TestHiddenLinks(t *testing.T) {
	for _, userFirst := range []bool{true, false} {
		dc, _ := lab(t, withBin)
		g, err := dc.Add(bg, "CN=Binned group,"+empty, Attr("objectClass", "group"),
			Attr("sAMAccountName", "binned.group"), Attr("member", "CN=Ring Ruth,"+odd))
		require.NoError(t, err)
		ruth, err := dc.BySAM(bg, "ring.ruth")
		require.NoError(t, err)
		before, err := dc.Snapshot()
		require.NoError(t, err)
		require.NoError(t, dc.Delete(bg, ruth.GUID.Ref()))
		require.NoError(t, dc.Delete(bg, g.GUID.Ref()))
		requireSound(t, dc.rep)
		order := []GUID{ruth.GUID, g.GUID}
		if !userFirst {
			order = []GUID{g.GUID, ruth.GUID}
		}
		for _, one := range order {
			require.NoError(t, dc.Restore(bg, one.Ref(), RestoreOptions{}))
			requireSound(t, dc.rep)
		}
		requireSame(t, dc, before)
	}
}

// If a single-valued link has got another value meanwhile, that value stays.
func TestRestoreKeepsNewManager(t *testing.T) {
	dc, _ := lab(t, withBin)
	rolf, err := dc.BySAM(bg, "ring.rolf", "manager")
	require.NoError(t, err)
	manager, err := dc.Get(bg, rolf.String("manager"))
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, manager.GUID.Ref()))
	other := "CN=Photo Paula," + odd
	require.NoError(t, dc.Modify(bg, rolf.GUID.Ref(), []Change{{OpReplace, "manager", []any{other}}},
		ModifyOptions{}))
	require.NoError(t, dc.Restore(bg, manager.GUID.Ref(), RestoreOptions{}))
	rolf, err = dc.BySAM(bg, "ring.rolf", "manager")
	require.NoError(t, err)
	assert.Equal(t, []string{other}, rolf.Strings("manager"))
	requireSound(t, dc.rep)
}

// Facts R2, R18: an object is first deleted, then recycled, then removed.
func TestLifetimes(t *testing.T) {
	dc, clock := lab(t, withBin, func(o *Options) {
		o.DeletedObjectLifetime, o.TombstoneLifetime = 10*24*time.Hour, 20*24*time.Hour
	})
	ruth, err := dc.BySAM(bg, "ring.ruth")
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, ruth.GUID.Ref()))
	clock.advance(10*24*time.Hour - time.Second)
	require.NotNil(t, deleted(t, dc, ruth.GUID))
	clock.advance(time.Second)
	require.Nil(t, deleted(t, dc, ruth.GUID), "a recycled object needs another control")
	requireSound(t, dc.rep)
	unchanged(t, dc, func() {
		requireCode(t, CodeNotOnObject, KindConstraint, dc.Restore(bg, ruth.GUID.Ref(), RestoreOptions{}))
	})
	clock.advance(20 * 24 * time.Hour)
	unchanged(t, dc, func() {
		requireCode(t, CodeNotFound, KindNotFound, dc.Restore(bg, ruth.GUID.Ref(), RestoreOptions{}))
	})
	requireSound(t, dc.rep)
}

// A deletion and a restore reach the other controllers.
func TestRestoreReplicates(t *testing.T) {
	dc, clock := lab(t, withBin, func(o *Options) { o.ReplicationLag = time.Minute })
	dc2, err := dc.domain.DC("dc2")
	require.NoError(t, err)
	before, err := dc2.Snapshot()
	require.NoError(t, err)
	ruth, err := dc.BySAM(bg, "ring.ruth")
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, ruth.GUID.Ref()))
	clock.advance(time.Minute)
	_, err = dc2.ByGUID(bg, ruth.GUID)
	requireCode(t, CodeNotFound, KindNotFound, err)
	require.NotNil(t, deleted(t, dc2, ruth.GUID))
	clock.advance(time.Minute)
	require.NoError(t, dc2.Restore(bg, ruth.GUID.Ref(), RestoreOptions{}))
	_, err = dc.ByGUID(bg, ruth.GUID)
	requireCode(t, CodeNotFound, KindNotFound, err)
	clock.advance(time.Minute)
	requireSame(t, dc, before)
	requireSame(t, dc2, before)
	requireSound(t, dc.rep)
	requireSound(t, dc2.rep)
}

// The name of the deleted object contains a long name in truncated form; the restored object
// has the whole name.
func TestRestoreLongName(t *testing.T) {
	dc, _ := lab(t, withBin)
	long := "OU=" + "Long name of an organizational unit that fills the range of OU"
	o, err := dc.Add(bg, long+","+empty, Attr("objectClass", "organizationalUnit"))
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, o.GUID.Ref()))
	assert.LessOrEqual(t, utf16Len(deleted(t, dc, o.GUID).String("name")), 255)
	require.NoError(t, dc.Restore(bg, o.GUID.Ref(), RestoreOptions{}))
	_, err = dc.Get(bg, long+","+empty)
	require.NoError(t, err)
}

package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func addOU(t testing.TB, dc *DC, dn string) string {
	t.Helper()
	o, err := dc.Add(bg, dn, Attr("objectClass", "organizationalUnit"))
	require.NoError(t, err)
	return o.DN
}

func protected(t testing.TB, dc *DC, ref string) bool {
	t.Helper()
	on, err := dc.Protected(bg, ref)
	require.NoError(t, err)
	return on
}

// Facts E36-E41, H23: protection is two ACEs, not a flag.
func TestProtection(t *testing.T) {
	dc, _ := lab(t)
	base := addOU(t, dc, "OU=base,"+empty)
	a, b := addOU(t, dc, "OU=a,"+base), addOU(t, dc, "OU=b,"+base)
	other := addOU(t, dc, "OU=other,"+empty)

	require.NoError(t, dc.SetProtected(bg, a, true))
	assert.True(t, protected(t, dc, a))
	assert.False(t, protected(t, dc, b))
	acl, err := dc.ACL(bg, a)
	require.NoError(t, err)
	assert.Equal(t, []ACE{{Trustee: Everyone, Rights: RightDelete | RightDeleteTree}}, acl,
		"facts E37: on the object")
	acl, err = dc.ACL(bg, base)
	require.NoError(t, err)
	assert.Equal(t, []ACE{{Trustee: Everyone, Rights: RightDeleteChild}}, acl, "facts E37: on the parent")
	unchanged(t, dc, func() {
		require.NoError(t, dc.SetProtected(bg, a, true), "again: no write")
		requireCode(t, CodeAccessDenied, KindDenied, dc.Delete(bg, a))      // facts E40
		requireCode(t, CodeAccessDenied, KindDenied, dc.DeleteTree(bg, a))  // facts E43
		requireCode(t, CodeAccessDenied, KindDenied, dc.Move(bg, a, other)) // facts E40
	})
	require.NoError(t, dc.Delete(bg, b), "facts E38: a sibling goes, for the caller has Delete on it")
	require.NoError(t, dc.Rename(bg, a, "a2"), "facts E40")
	a = "OU=a2," + base
	assert.True(t, protected(t, dc, a))

	require.NoError(t, dc.SetProtected(bg, a, false))
	acl, err = dc.ACL(bg, base)
	require.NoError(t, err)
	assert.Len(t, acl, 1, "facts E38: the parent keeps its ACE")
	assert.False(t, protected(t, dc, a))
	require.NoError(t, dc.SetProtected(bg, a, true))

	// facts E41: with only its own ACE, after a move
	require.NoError(t, dc.SetACL(bg, a, nil))
	require.NoError(t, dc.Move(bg, a, other))
	a = "OU=a2," + other
	require.NoError(t, dc.SetACL(bg, a, []ACE{{Trustee: Everyone, Rights: RightDelete | RightDeleteTree}}))
	assert.False(t, protected(t, dc, a), "facts E41: reads false")
	require.NoError(t, dc.Delete(bg, a), "DeleteChild on the parent is enough")

	// without the ACE of the parent, a tree delete is still denied
	c := addOU(t, dc, "OU=c,"+other)
	require.NoError(t, dc.SetProtected(bg, c, true))
	require.NoError(t, dc.SetACL(bg, other, nil))
	requireCode(t, CodeAccessDenied, KindDenied, dc.DeleteTree(bg, c))
	unchanged(t, dc, func() {
		require.NoError(t, dc.SetProtected(bg, c, false), "facts E38: it reads as unprotected already")
		requireCode(t, CodeAccessDenied, KindDenied, dc.DeleteTree(bg, c))
	})
	require.NoError(t, dc.SetProtected(bg, c, true), "adds the missing ACE of the parent")
	require.NoError(t, dc.SetProtected(bg, c, false))
	require.NoError(t, dc.DeleteTree(bg, c))

	// without the right to read an access list, neither way works
	r := addOU(t, dc, "OU=r,"+other)
	require.NoError(t, dc.SetACL(bg, other, []ACE{{Trustee: Everyone, Rights: RightReadControl}}))
	unchanged(t, dc, func() {
		_, err := dc.Protected(bg, r)
		requireCode(t, CodeUnspecified, KindDenied, err)
		requireCode(t, CodeUnspecified, KindDenied, dc.SetProtected(bg, r, true))
		requireCode(t, CodeUnspecified, KindDenied, dc.SetProtected(bg, r, false))
	})

	// facts E39
	d := addOU(t, dc, "OU=d,"+other)
	require.NoError(t, dc.SetACL(bg, other, []ACE{{Trustee: Everyone, Rights: RightWriteDacl}}))
	unchanged(t, dc, func() { requireCode(t, CodeUnspecified, KindDenied, dc.SetProtected(bg, d, true)) })
	requireCode(t, CodeUnspecified, KindDenied, dc.SetProtected(bg, root, true))
	// facts E42: any object can be protected, not only OUs
	require.NoError(t, dc.SetProtected(bg, "CN=Photo Paula,"+odd, true))
	requireCode(t, CodeAccessDenied, KindDenied, dc.Delete(bg, "CN=Photo Paula,"+odd))
	_, err = dc.Protected(bg, "CN=x,"+odd)
	requireCode(t, CodeNoSuchObject, KindNotFound, err)
}

// Facts D.2, E30: denied rights result in 8344 and 5.
func TestDeniedRights(t *testing.T) {
	dc, _ := lab(t)
	deny := func(ref string, r Rights, inherit bool) {
		require.NoError(t, dc.SetACL(bg, ref, []ACE{{Trustee: Authenticated, Rights: r, Inherit: inherit}}))
	}
	paula, g := "CN=Photo Paula,"+odd, "CN=Empty Group,"+sec
	deny(odd, RightWriteProperty, true)
	deny(sec, RightWriteProperty, true)
	unchanged(t, dc, func() {
		requireCode(t, CodeInsufficientRights, KindDenied,
			dc.Modify(bg, paula, []Change{{OpReplace, "title", []any{"x"}}}, ModifyOptions{}))
		requireCode(t, CodeInsufficientRights, KindDenied, addMember(dc, g, paula)) // facts E30
		requireCode(t, CodeInsufficientRights, KindDenied, dc.Rename(bg, paula, "x"))
		requireCode(t, CodeInsufficientRights, KindDenied, dc.ResetPassword(bg, paula, "Str0ng-Pass!"))
	})
	deny(odd, RightCreateChild, false)
	unchanged(t, dc, func() {
		_, err := dc.Add(bg, "CN=new,"+odd, user("new")...)
		requireCode(t, CodeInsufficientRights, KindDenied, err)
		requireCode(t, CodeInsufficientRights, KindDenied,
			dc.Move(bg, "CN=Carl Helpdesk,OU=Administration,"+corp, odd))
	})
	_, err := dc.Add(bg, "CN=new,OU=A\\+B,"+odd, user("new")...)
	require.NoError(t, err, "not inherited")
	deny(odd, RightDelete|RightDeleteChild, true)
	requireCode(t, CodeAccessDenied, KindDenied, dc.Delete(bg, paula))
	deny(paula, RightWriteDacl, false)
	requireCode(t, CodeInsufficientRights, KindDenied, dc.SetCannotChangePassword(bg, paula, true))
}

func TestACEText(t *testing.T) {
	for _, a := range []ACE{ownProtection, parentProtection, cannotChange[0],
		{Trustee: Self, Rights: 0x20, Inherit: true}} {
		b, ok := ParseACE(a.String())
		require.True(t, ok, a.String())
		assert.Equal(t, a, b)
	}
	for _, bad := range []string{"", "Deny", "Allow S-1-1-0 0x1", "Deny x 0x1", "Deny S-1-1-0 y",
		"Deny S-1-1-0 0x1 z"} {
		_, ok := ParseACE(bad)
		assert.False(t, ok, bad)
	}
}

package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The access list of one object can be written unchanged to another. Any other value is rejected.
func TestDescriptors(t *testing.T) {
	dc, _ := lab(t)
	paula := "CN=Photo Paula," + odd
	acl := []ACE{ownProtection, {Trustee: Self, Rights: RightControlAccess, ObjectType: ChangePasswordRight},
		{Trustee: Authenticated, Rights: RightDeleteChild, Inherit: true}}
	require.NoError(t, dc.SetACL(bg, paula, acl))
	read := func(ref string) []byte {
		o, err := dc.Get(bg, ref, "nTSecurityDescriptor")
		require.NoError(t, err)
		value, _ := o.Value("nTSecurityDescriptor").([]byte)
		return value
	}
	raw := read(paula)
	back, ok := accessList(raw)
	require.True(t, ok)
	assert.Equal(t, acl, back)
	give := func(value []byte) error {
		return dc.Modify(bg, paula, []Change{{OpReplace, "nTSecurityDescriptor", []any{value}}}, ModifyOptions{})
	}
	for cut := range raw {
		_, ok := accessList(raw[:cut])
		assert.False(t, ok, "cut off after %d bytes", cut)
	}
	for at := range headerSize {
		changed := append([]byte(nil), raw...)
		changed[at]++
		assert.Error(t, give(changed), "byte %d", at)
	}
	require.NoError(t, give(descriptor(nil)))
	assert.Equal(t, descriptor(nil), read(paula))

	require.NoError(t, dc.SetACL(bg, paula, []ACE{{Trustee: Everyone, Rights: RightWriteDacl}}))
	requireCode(t, CodeInsufficientRights, KindDenied, give(raw))
	require.NoError(t, dc.SetACL(bg, paula, []ACE{{Trustee: Everyone, Rights: RightReadControl}}))
	assert.Nil(t, read(paula), "it cannot be read")
	found, err := dc.Search(bg, SearchRequest{Filter: "(nTSecurityDescriptor=*)", Scope: ScopeSubtree})
	require.NoError(t, err)
	assert.Empty(t, found)
}

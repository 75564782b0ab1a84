package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Selection gives the same result as its names.
func TestSelect(t *testing.T) {
	dc, _ := lab(t)
	paula := "CN=Photo Paula," + odd
	schema := dc.Domain().Schema()
	read := func(req SearchRequest) *Object {
		req.Base, req.Scope = paula, ScopeBase
		found, err := dc.Search(bg, req)
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	for _, names := range [][]string{
		nil, {"*"}, {"*", "tokenGroups", "name"}, {"SAMACCOUNTNAME", "sAMAccountName", "memberOf", "whenCreated"},
		{"distinguishedName"}, {"nosuch"}, {"unicodePwd", "nTSecurityDescriptor"},
	} {
		byName, selected := read(SearchRequest{Attributes: names}), read(
			SearchRequest{Selected: schema.Select(names...)})
		assert.Equal(t, byName.Names(), selected.Names(), names)
		for _, name := range byName.Names() {
			a, ok := schema.Attribute(name)
			require.True(t, ok)
			assert.Equal(t, byName.Values(name), selected.ValuesOf(a), name)
			assert.Equal(t, byName.Value(name), selected.ValueOf(a), name)
		}
	}
	none := read(SearchRequest{Selected: &Selection{}, Attributes: []string{"name"}})
	assert.Empty(t, none.Names())
	assert.Equal(t, paula, none.DN)
	assert.Nil(t, none.ValueOf(schema.must("name")))
	assert.Nil(t, none.ValuesOf(schema.must("name")))
}

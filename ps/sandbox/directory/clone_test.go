package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBuiltInDomains: a copy of the template is like a domain that was loaded with the same options, and no
// write reaches another copy.
func TestBuiltInDomains(t *testing.T) {
	snapshot := func(c *DC) *Snapshot {
		s, err := c.Snapshot()
		require.NoError(t, err)
		return s
	}
	for _, opts := range []Options{{}, {Seed: 1, RecycleBin: true}, {Seed: 1, Replicas: true}} {
		clock := newClock()
		opts.Clock = clock.time
		loaded, err := openBuiltIn(opts, nil)
		require.NoError(t, err)
		want := snapshot(loaded.dcs[0])
		first, err := BuiltIn(opts)
		require.NoError(t, err)
		assert.Equal(t, loaded.identity, first.identity)
		assert.Equal(t, loaded.loaded, first.loaded)
		assert.Equal(t, loaded.warnings, first.warnings)
		for i, c := range first.dcs {
			was := loaded.dcs[i]
			assert.Equal(t, []any{was.name, was.host, was.account, was.Writable()},
				[]any{c.name, c.host, c.account, c.Writable()})
			assert.Empty(t, want.Compare(snapshot(c)))
			requireSound(t, c.rep)
		}
		root := first.RootDN()
		dc := first.dcs[0]
		require.NoError(t, first.Generate(300, 1))
		changed := []Change{{OpReplace, "description", []any{"another"}}}
		require.NoError(t, dc.Modify(bg, root, changed, ModifyOptions{}))
		require.NoError(t, dc.SetACL(bg, root, []ACE{ownProtection}))
		groups, err := dc.Search(bg, SearchRequest{Filter: "(&(objectClass=group)(member=*))"})
		require.NoError(t, err)
		for _, g := range groups {
			_ = dc.Modify(bg, g.DN, []Change{{OpClear, "member", nil}}, ModifyOptions{})
			_ = dc.Rename(bg, g.DN, "renamed "+g.GUID.String())
		}
		users, err := dc.Search(bg, SearchRequest{Filter: "(objectClass=user)"})
		require.NoError(t, err)
		for _, u := range users {
			_ = dc.ResetPassword(bg, u.DN, "Another-1-password")
			_ = dc.SetLastLogon(bg, u.DN, clock.time())
			_ = dc.Delete(bg, u.DN)
		}
		requireSound(t, dc.rep)
		assert.Greater(t, len(want.Compare(snapshot(dc))), 100)

		second, err := BuiltIn(opts)
		require.NoError(t, err)
		requireSound(t, second.dcs[0].rep)
		assert.Empty(t, want.Compare(snapshot(second.dcs[0])))
		for _, n := range second.all[0].byGUID {
			assert.Equal(t, n.isAccount() && n.secret != nil, n.secret == unknownSecret, n.dn())
			assert.Equal(t, loaded.all[0].byGUID[n.guid].local, n.local)
			assert.Equal(t, loaded.all[0].byGUID[n.guid].acl, n.acl)
		}
	}
}

package systemtest

import (
	"context"
	"net/http"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/test/sandboxtest"
)

// SwitchDC turns the first domain controller on or off.
func (s *System) SwitchDC(on bool) {
	s.T.Helper()
	require.NoError(s.T, sandboxtest.SetAlive(s.World, "dc1", on))
}

// DenyBelow replaces the ACL of an object with one that denies everyone a right on the
// object and everything below it.
func (s *System) DenyBelow(ref string, right directory.Rights) {
	s.T.Helper()
	require.NoError(s.T, s.DC1().SetACL(context.Background(), ref,
		[]directory.ACE{{Trustee: directory.Everyone, Rights: right, Inherit: true}}))
}

// Modify changes an attribute directly in the directory, bypassing the gateway.
func (s *System) Modify(ref string, op directory.ChangeOp, attribute string, value any) {
	s.T.Helper()
	change := directory.Change{Op: op, Name: attribute, Values: []any{value}}
	require.NoError(s.T, s.DC1().Modify(context.Background(), ref, []directory.Change{change},
		directory.ModifyOptions{}))
}

// CreateTree creates an OU with a user, a computer, and a protected OU with two groups, and returns its DN.
func (s *System) CreateTree(parent string) string {
	s.T.Helper()
	root := s.OK(CreateOU("Tree", parent), http.StatusCreated)["path"].(string)
	s.Expect(http.StatusCreated, http.MethodPost, "/api/ADUser/tree.user", map[string]any{"OUPath": root})
	s.Expect(http.StatusCreated, http.MethodPost, "/api/Computers/TREE-PC/Register",
		map[string]any{"OUPath": root})
	inner := s.OK(CreateOU("Inner", root), http.StatusCreated)["path"].(string)
	s.AddObject("CN=tree group 1,"+inner, "group", "sAMAccountName", "tree group 1", "groupType", "-2147483646")
	s.AddObject("CN=tree group 2,"+inner, "group", "sAMAccountName", "tree group 2", "groupType", "-2147483646")
	return root
}

// AddObject adds an object directly to the directory, bypassing the gateway. attributes contains alternating
// names and values.
func (s *System) AddObject(dn, class string, attributes ...string) {
	s.T.Helper()
	values := []directory.Values{{Name: "objectClass", Values: []any{class}}}
	for i := 0; i+1 < len(attributes); i += 2 {
		values = append(values, directory.Values{Name: attributes[i], Values: []any{attributes[i+1]}})
	}
	_, err := s.DC1().Add(context.Background(), dn, values...)
	require.NoError(s.T, err)
}

// SetAttribute replaces an attribute directly in the directory, bypassing the gateway.
func (s *System) SetAttribute(dn, attribute string, values ...any) {
	s.T.Helper()
	require.NoError(s.T, s.DC1().Modify(context.Background(), dn,
		[]directory.Change{{Op: directory.OpReplace, Name: attribute, Values: values}}, directory.ModifyOptions{}))
}

// DenyEveryone appends a Deny ACE for everyone to the ACL of an object.
func (s *System) DenyEveryone(dn string, rights directory.Rights, inherit bool) {
	s.T.Helper()
	acl, err := s.DC1().ACL(context.Background(), dn)
	require.NoError(s.T, err)
	require.NoError(s.T, s.DC1().SetACL(context.Background(), dn,
		append(acl, directory.ACE{Trustee: directory.Everyone, Rights: rights, Inherit: inherit})))
}

// DC1 returns the domain controller that the gateway uses first.
func (s *System) DC1() *directory.DC { return s.World.Directory.DCs()[0] }

// Stored reads attributes directly from the directory, bypassing the gateway.
func (s *System) Stored(ref string, attributes ...string) *directory.Object {
	s.T.Helper()
	o, err := s.DC1().Get(context.Background(), ref, attributes...)
	require.NoError(s.T, err)
	return o
}

package directory

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	globalSec    = -2147483646
	localSec     = -2147483644
	universalSec = -2147483640
)

func addGroup(t testing.TB, dc *DC, name string, groupType int) string {
	t.Helper()
	o, err := dc.Add(bg, "CN="+name+","+empty, Attr("objectClass", "group"), Attr("sAMAccountName", name),
		Attr("groupType", groupType))
	require.NoError(t, err)
	return o.DN
}

func addMember(dc *DC, group, member string) error {
	return dc.Modify(bg, group, []Change{{OpAdd, "member", []any{member}}}, ModifyOptions{})
}

// Facts E.2 and the codes of facts D.2 (E35).
func TestNesting(t *testing.T) {
	dc, _ := lab(t)
	groups := map[string]string{}
	for name, typ := range map[string]int{"global": globalSec, "local": localSec, "universal": universalSec,
		"dglobal": 2, "dlocal": 4, "duniversal": 8} {
		groups[name] = addGroup(t, dc, name, typ)
		groups["member "+name] = addGroup(t, dc, "m"+name, typ)
	}
	members := map[string]string{
		"user": "CN=Photo Paula," + odd, "computer": "CN=PC01,OU=Berlin,OU=Workstations,OU=Devices," + corp,
		"contact": "CN=Paula Partner,OU=Partners," + corp, "foreign": "CN=S-1-5-11,CN=ForeignSecurityPrincipals," + root,
		"builtin": "CN=Users,CN=Builtin," + root, "ou": empty,
		"global": groups["member global"], "local": groups["member local"], "universal": groups["member universal"],
		"dglobal": groups["member dglobal"], "dlocal": groups["member dlocal"], "duniversal": groups["member duniversal"],
	}
	refused := map[string]map[string]int{
		"global": {"local": CodeGlobalNoLocal, "dlocal": CodeGlobalNoLocal, "builtin": CodeGlobalNoLocal,
			"universal": CodeGlobalNoUniversal, "duniversal": CodeGlobalNoUniversal, "foreign": CodeGlobalNoCrossDomain, "ou": CodeUnwilling},
		"universal": {"local": CodeUniversalNoLocal, "dlocal": CodeUniversalNoLocal, "builtin": CodeUniversalNoLocal, "foreign": CodeFSPInUniversal, "ou": CodeUnwilling},
		"local":     {"builtin": CodeLocalNoCrossLocal, "ou": CodeUnwilling},
	}
	for _, scope := range []string{"global", "universal", "local"} {
		for _, kind := range []string{scope, "d" + scope} {
			for name, member := range members {
				t.Run(kind+" <- "+name, func(t *testing.T) {
					code := refused[scope][name]
					if code == 0 {
						require.NoError(t, addMember(dc, groups[kind], member))
						return
					}
					unchanged(t, dc, func() {
						e := requireCode(t, code, KindNesting, addMember(dc, groups[kind], member))
						assert.Equal(t, "member", e.Attribute)
						assert.NotEmpty(t, e.Value)
					})
				})
			}
		}
	}
	requireSound(t, dc.rep)
}

// Facts E25, E26, E28, E29, H17, H18
func TestMembership(t *testing.T) {
	dc, _ := lab(t)
	g := addGroup(t, dc, "team", globalSec)
	paula := "CN=Photo Paula," + odd
	permissive := ModifyOptions{Permissive: true}
	require.NoError(t, addMember(dc, g, paula))
	unchanged(t, dc, func() {
		requireCode(t, CodeAlreadyMember, KindMember, addMember(dc, g, paula))
		require.NoError(t, dc.Modify(bg, g, []Change{{OpAdd, "member", []any{paula}}}, permissive), "facts E25")
		require.NoError(t, dc.Modify(bg, g, []Change{{OpDelete, "member", []any{"CN=Rds Rita," + odd}}},
			permissive), "facts E25")
		requireCode(t, CodeNotMember, KindMember,
			dc.Modify(bg, g, []Change{{OpDelete, "member", []any{"CN=Rds Rita," + odd}}}, ModifyOptions{}))
		// facts E26: if one member does not exist, none is added
		e := requireCode(t, CodeNotFound, KindNotFound,
			dc.Modify(bg, g, []Change{{OpAdd, "member", []any{"CN=Rds Rita," + odd, "CN=x," + odd}}}, permissive))
		assert.Equal(t, "member", e.Attribute)
		// facts E28: the primary group
		requireCode(t, CodePrimaryGroup, KindMember,
			dc.Modify(bg, "CN=Domain Users,"+users, []Change{{OpDelete, "member", []any{paula}}}, permissive))
		requireCode(t, CodeAlreadyMember, KindMember,
			dc.Modify(bg, "CN=Domain Users,"+users, []Change{{OpAdd, "member", []any{paula}}}, permissive))
	})
	require.NoError(t, addMember(dc, g, g), "facts E29: a group in itself is allowed")
	g2 := addGroup(t, dc, "team2", globalSec)
	require.NoError(t, addMember(dc, g, g2))
	require.NoError(t, addMember(dc, g2, g), "facts E29: so is a ring")

	o, err := dc.Get(bg, paula, "tokenGroups", "memberOf", "primaryGroupID")
	require.NoError(t, err)
	assert.Equal(t, []string{g}, o.Strings("memberOf"), "facts E18: neither primary nor nested groups")
	tokens := o.Strings("tokenGroups")
	domain := dc.domain.SID()
	assert.Contains(t, tokens, domain.WithRID(513).String(), "facts E21: the primary group")
	assert.Contains(t, tokens, "S-1-5-32-545", "what the primary group is nested in")
	assert.Len(t, tokens, 4)

	// a new primary group and the old one exchange their roles
	require.NoError(t, dc.Modify(bg, paula,
		[]Change{{OpReplace, "primaryGroupID", []any{int64(mustObject(t, dc, g).SID.RID())}}}, ModifyOptions{}))
	o, err = dc.Get(bg, paula, "memberOf")
	require.NoError(t, err)
	assert.Equal(t, []string{"CN=Domain Users," + users}, o.Strings("memberOf"))
	unchanged(t, dc, func() {
		// facts E33
		requireCode(t, CodePrimaryMembers, KindProtected,
			dc.Modify(bg, g, []Change{{OpReplace, "groupType", []any{2}}}, ModifyOptions{}))
		// facts E28
		requireCode(t, CodeCannotDelete, KindProtected, dc.Delete(bg, g))
	})
	requireSound(t, dc.rep)
}

func mustObject(t testing.TB, dc *DC, ref string, attrs ...string) *Object {
	t.Helper()
	o, err := dc.Get(bg, ref, attrs...)
	require.NoError(t, err)
	return o
}

// Facts E31, E33, E34
func TestGroupConversion(t *testing.T) {
	dc, _ := lab(t)
	set := func(g string, to int) error {
		return dc.Modify(bg, g, []Change{{OpReplace, "groupType", []any{to}}}, ModifyOptions{})
	}
	g := addGroup(t, dc, "conv", globalSec)
	unchanged(t, dc, func() {
		requireCode(t, CodeUnwilling, KindUnwilling, set(g, localSec)) // facts E31: not in one step
		requireCode(t, CodeInvalidGroupType, KindConstraint, set(g, 14))
		requireCode(t, CodeInvalidGroupType, KindConstraint, set(g, 0x40000002))
		require.NoError(t, set(g, globalSec))
	})
	for _, to := range []int{universalSec, localSec, universalSec, globalSec, 2, 8, 4, 8, 2, globalSec} {
		require.NoError(t, set(g, to), fmt.Sprint(to))
		assert.Equal(t, itoa(int64(to)), mustObject(t, dc, g).String("groupType"))
	}
	parent := addGroup(t, dc, "gparent", globalSec)
	require.NoError(t, addMember(dc, parent, g))
	requireCode(t, CodeGlobalNoUniversal, KindNesting, set(g, universalSec)) // a member of a global group

	u := addGroup(t, dc, "u", universalSec)
	inner := addGroup(t, dc, "inner", universalSec)
	require.NoError(t, addMember(dc, u, inner))
	requireCode(t, CodeGlobalNoUniversal, KindNesting, set(u, globalSec))   // has a universal member
	requireCode(t, CodeUniversalNoLocal, KindNesting, set(inner, localSec)) // a member of a universal group

	l := addGroup(t, dc, "l", localSec)
	require.NoError(t, addMember(dc, l, addGroup(t, dc, "linner", localSec)))
	requireCode(t, CodeUniversalNoLocal, KindNesting, set(l, universalSec))
	l2 := addGroup(t, dc, "l2", localSec)
	require.NoError(t, addMember(dc, l2, "CN=S-1-5-11,CN=ForeignSecurityPrincipals,"+root))
	requireCode(t, CodeFSPInUniversal, KindNesting, set(l2, universalSec))
	requireSound(t, dc.rep)
}

// Direct and nested members of administrative groups get adminCount.
func TestAdminCount(t *testing.T) {
	dc, _ := lab(t)
	g := addGroup(t, dc, "helpers", globalSec)
	paula := "CN=Photo Paula," + odd
	require.NoError(t, addMember(dc, g, paula))
	assert.False(t, mustObject(t, dc, paula).Has("adminCount"))
	require.NoError(t, addMember(dc, "CN=Account Operators,CN=Builtin,"+root, g))
	assert.Equal(t, "1", mustObject(t, dc, paula).String("adminCount"))
	assert.Equal(t, "1", mustObject(t, dc, g).String("adminCount"))
	rita := "CN=Rds Rita," + odd
	require.NoError(t, addMember(dc, g, rita))
	assert.Equal(t, "1", mustObject(t, dc, rita).String("adminCount"), "through the nested group")
	require.NoError(t, dc.Modify(bg, g, []Change{{OpDelete, "member", []any{rita}}}, ModifyOptions{}))
	assert.Equal(t, "1", mustObject(t, dc, rita).String("adminCount"), "it is kept")
}

// TestBigGroup: members of a large group can be added and removed.
func TestBigGroup(t *testing.T) {
	d, err := New("corp.example", Options{Seed: 3})
	require.NoError(t, err)
	require.NoError(t, d.Generate(6000, 3))
	dc, err := d.DC("")
	require.NoError(t, err)
	all, err := dc.Search(bg, SearchRequest{Filter: "(employeeID=*)", Attributes: []string{"name"}})
	require.NoError(t, err)
	require.Len(t, all, 6000)
	o, err := dc.Add(bg, "CN=everyone,"+users, Attr("objectClass", "group"), Attr("sAMAccountName", "everyone"))
	require.NoError(t, err)
	members := make([]any, len(all))
	for i, u := range all {
		members[i] = u.GUID.Ref()
	}
	require.NoError(t, dc.Modify(bg, o.DN, []Change{{OpAdd, "member", members}}, ModifyOptions{}))
	assert.Equal(t, 6000, mustObject(t, dc, o.DN, "member").Count("member"))
	require.NoError(t, dc.Modify(bg, o.DN, []Change{{OpDelete, "member", members[1000:5000]}}, ModifyOptions{}))
	assert.Equal(t, 2000, mustObject(t, dc, o.DN, "member").Count("member"))
	require.NoError(t, dc.Modify(bg, o.DN, []Change{{OpReplace, "member", members[:10]}}, ModifyOptions{}))
	assert.Equal(t, 10, mustObject(t, dc, o.DN, "member").Count("member"))
	requireSound(t, dc.rep)
}

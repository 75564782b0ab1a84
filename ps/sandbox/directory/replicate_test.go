package directory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lagLab(t testing.TB) (a, b *DC, clock *testClock) {
	dc, clock := lab(t, func(o *Options) { o.ReplicationLag = 15 * time.Second })
	other, err := dc.domain.DC("dc2")
	require.NoError(t, err)
	return dc, other, clock
}

// Facts G1: an object is not found on the other DC before the lag has passed.
func TestReplicationLag(t *testing.T) {
	a, b, clock := lagLab(t)
	o, err := a.Add(bg, "CN=late,"+empty, user("late")...)
	require.NoError(t, err)
	_, err = b.ByGUID(bg, o.GUID)
	requireCode(t, CodeNotFound, KindNotFound, err)
	clock.advance(14 * time.Second)
	_, err = b.BySAM(bg, "late")
	require.Error(t, err)
	clock.advance(time.Second)
	there, err := b.BySAM(bg, "late")
	require.NoError(t, err)
	assert.Equal(t, o.GUID, there.GUID)
	assert.Equal(t, o.SID, there.SID)
	require.NoError(t, b.Rename(bg, o.GUID.Ref(), "later"))
	require.NoError(t, b.SetProtected(bg, o.GUID.Ref(), true))
	require.NoError(t, addMember(b, "CN=Empty Group,"+sec, o.GUID.Ref()))
	assert.Equal(t, o.DN, mustObject(t, a, o.GUID.Ref()).DN)
	clock.advance(15 * time.Second)
	now := mustObject(t, a, o.GUID.Ref())
	assert.Equal(t, "CN=later,"+empty, now.DN)
	assert.Equal(t, []string{"CN=Empty Group," + sec}, now.Strings("memberOf"))
	assert.True(t, protected(t, a, o.GUID.Ref()))
	require.NoError(t, a.ResetPassword(bg, o.GUID.Ref(), good))
	a.domain.Replicate()
	requireCode(t, CodeAccountDisabled, KindLogon, b.Logon(bg, "late", good))
	requireConverged(t, a.domain)
}

// Facts G10, G12, C23: conflicting writes on two DCs are resolved in the same way on both.
func TestReplicationConflicts(t *testing.T) {
	a, b, clock := lagLab(t)
	// the same name twice
	first, err := a.Add(bg, "CN=twin,"+empty, user("twin")...)
	require.NoError(t, err)
	clock.advance(time.Second)
	second, err := b.Add(bg, "CN=Twin,"+empty, user("TWIN")...)
	require.NoError(t, err)
	requireConverged(t, a.domain)
	for _, c := range []*DC{a, b} {
		x, y := mustObject(t, c, first.GUID.Ref()), mustObject(t, c, second.GUID.Ref())
		assert.Equal(t, `CN=twin\0ACNF:`+first.GUID.String()+","+empty, x.DN, "the earlier one loses the name")
		assert.Equal(t, "CN=Twin,"+empty, y.DN)
		assert.Equal(t, "twin", x.String("sAMAccountName"))
		assert.True(t, strings.HasPrefix(y.String("sAMAccountName"), "$DUPLICATE-"),
			"the younger one loses the account name")
	}
	// the same attribute twice: the later write wins on both
	paula := "CN=Photo Paula," + odd
	set := func(c *DC, attr, v string) {
		require.NoError(t, c.Modify(bg, paula, []Change{{OpReplace, attr, []any{v}}}, ModifyOptions{}))
		clock.advance(time.Second)
	}
	set(b, "title", "first")
	set(a, "title", "second")
	set(a, "manager", "CN=Rds Rita,"+odd)
	set(b, "manager", "CN=Administrator,"+users)
	requireConverged(t, a.domain)
	assert.Equal(t, "second", mustObject(t, b, paula).String("title"))
	assert.Equal(t, []string{"CN=Administrator," + users}, mustObject(t, a, paula).Strings("manager"))
	// a child of an OU that was deleted on the other DC
	ou := addOU(t, a, "OU=doomed,"+odd)
	a.domain.Replicate()
	require.NoError(t, a.Delete(bg, ou))
	kid, err := b.Add(bg, "CN=orphan,"+ou, user("orphan")...)
	require.NoError(t, err)
	requireConverged(t, a.domain)
	assert.Equal(t, "CN=orphan,CN=LostAndFound,"+root, mustObject(t, a, kid.GUID.Ref()).DN)
	// two moves that would create a cycle
	x, y := addOU(t, a, "OU=x,"+empty), addOU(t, a, "OU=y,"+empty)
	a.domain.Replicate()
	require.NoError(t, a.Move(bg, x, y))
	clock.advance(time.Second)
	require.NoError(t, b.Move(bg, y, x))
	requireConverged(t, a.domain)
}

// A DC that is switched on again receives the writes made during its outage.
func TestReplicationAfterOutage(t *testing.T) {
	a, b, clock := lagLab(t)
	b.SetAlive(false)
	o, err := a.Add(bg, "CN=meanwhile,"+empty, user("meanwhile")...)
	require.NoError(t, err)
	clock.advance(time.Hour)
	_, err = a.BySAM(bg, "paula")
	require.NoError(t, err)
	b.SetAlive(true)
	assert.Equal(t, o.DN, mustObject(t, b, o.GUID.Ref()).DN)
	requireConverged(t, a.domain)
}

func TestJournalAndSnapshot(t *testing.T) {
	dc, clock := lab(t, func(o *Options) { o.JournalLimit = 10 })
	before, err := dc.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, 500, before.Len())
	o, err := dc.Add(bg, "CN=j,"+empty, user("j")...)
	require.NoError(t, err)
	require.NoError(t, dc.ResetPassword(bg, o.DN, good))
	require.NoError(t, dc.Modify(bg, o.DN,
		[]Change{{OpReplace, "title", []any{"x"}}, {OpReplace, "manager", []any{"CN=Photo Paula," + odd}}},
		ModifyOptions{}))
	require.NoError(t, dc.Move(bg, o.DN, odd))
	require.NoError(t, dc.SetProtected(bg, empty, true))
	require.NoError(t, dc.Delete(bg, "CN=Rds Rita,"+odd))
	j := dc.domain.Journal(0)
	require.Len(t, j, 6)
	ops := make([]string, len(j))
	for i, e := range j {
		ops[i] = e.Op
		assert.EqualValues(t, i+1, e.Seq)
		assert.Equal(t, "dc1", e.DC)
		assert.Equal(t, clock.now, e.Time)
	}
	assert.Equal(t, []string{"add", "password", "modify", "move", "protect", "delete"}, ops)
	assert.Equal(t, o.GUID, j[0].Objects[0].GUID)
	assert.Equal(t, "", j[0].Objects[0].DN)
	assert.Equal(t, o.DN, j[0].Objects[0].NewDN)
	assert.Equal(t, AttributeChange{Name: "unicodePwd"}, j[1].Objects[0].Changes[0], "without the password")
	assert.Contains(t, j[2].Objects[0].Changes, AttributeChange{"title", nil, []string{"x"}})
	assert.Contains(t, j[2].Objects[0].Changes,
		AttributeChange{"manager", nil, []string{"CN=Photo Paula," + odd}})
	assert.Equal(t, o.DN, j[3].Objects[0].DN)
	assert.Equal(t, "CN=j,"+odd, j[3].Objects[0].NewDN)
	assert.Equal(t, "nTSecurityDescriptor", j[4].Objects[0].Changes[0].Name)
	assert.Empty(t, j[5].Objects[len(j[5].Objects)-1].NewDN)
	assert.Len(t, dc.domain.Journal(4), 2)

	after, err := dc.Snapshot()
	require.NoError(t, err)
	diff := before.Compare(after)
	require.Len(t, diff, 3)
	byDN := map[string]Difference{}
	for _, d := range diff {
		byDN[d.DN+">"+d.NewDN] = d
	}
	assert.Contains(t, byDN, ">CN=j,"+odd)
	assert.Contains(t, byDN, "CN=Rds Rita,"+odd+">")
	assert.Equal(t, []AttributeChange{{"nTSecurityDescriptor", nil, []string{"Deny S-1-1-0 0x10040"}}},
		byDN[empty+">"+empty].Changes)
	assert.Empty(t, after.Compare(after))
	back := after.Compare(before)
	assert.Len(t, back, 3)

	for i := 0; i < 50; i++ {
		require.NoError(t, dc.Rename(bg, o.GUID.Ref(), strings.Repeat("n", i+1)))
	}
	j = dc.domain.Journal(0)
	assert.LessOrEqual(t, len(j), 20)
	assert.GreaterOrEqual(t, len(j), 10)
	assert.EqualValues(t, 56, j[len(j)-1].Seq)
}

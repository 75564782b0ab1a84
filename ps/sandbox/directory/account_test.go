package directory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const good = "Str0ng-Pass!"

func uacOf(t testing.TB, dc *DC, ref string) int64 {
	t.Helper()
	n, ok := mustObject(t, dc, ref, "userAccountControl").Int("userAccountControl")
	require.True(t, ok)
	return n
}

func setUAC(dc *DC, ref string, v int64) error {
	return dc.Modify(bg, ref, []Change{{OpReplace, "userAccountControl", []any{v}}}, ModifyOptions{})
}

// Facts H1-H5, H10, H14, E2, E3, E11, E13
func TestAccountState(t *testing.T) {
	dc, clock := lab(t)
	o, err := dc.Add(bg, "CN=neu,"+users,
		user("neu", Attr("displayName", "Newton, Isaac"), Attr("userAccountControl", 514))...)
	require.NoError(t, err)
	ref := o.GUID.Ref()
	unchanged(t, dc, func() {
		requireCode(t, CodePasswordRestriction, KindPolicy, setUAC(dc, ref, 512)) // facts H4, H5
		for _, weak := range []string{"", "Sh0rt!", "alllowercase", "lower123456", "Xneu-12345!", "NEWTON-1a!",
			"isaac-Abc12",
			"aaaaaa1 b", "aaaaaaa1€", "aaaaaaa1😀", "aaaaaaa1\u00a0"} { // facts H26: the last four have no symbol
			requireCode(t, CodePasswordRestriction, KindPolicy, dc.ResetPassword(bg, ref, weak))
		}
		requireCode(t, CodeUnwilling, KindUnwilling, dc.ResetPassword(bg, empty, good))
		requireCode(t, CodeNoSuchObject, KindNotFound, dc.ResetPassword(bg, "CN=x,"+users, good))
	})
	require.NoError(t, dc.ResetPassword(bg, ref, good))
	assert.EqualValues(t, 514, uacOf(t, dc, ref), "facts H3, E13: a reset does not enable the account")
	set, ok := mustObject(t, dc, ref).Time("pwdLastSet")
	require.True(t, ok)
	assert.Equal(t, clock.now, set, "facts H10")
	require.NoError(t, setUAC(dc, ref, 512))
	unchanged(t, dc, func() { require.NoError(t, setUAC(dc, ref, 512)) }) // facts H14
	require.NoError(t, dc.ResetPassword(bg, ref, good), "facts E13: a reset ignores the history")
	require.NoError(t, setUAC(dc, ref, 514))
	require.NoError(t, setUAC(dc, ref, 0x10000|0x800000|0x40|0x10|512))
	assert.EqualValues(t, 0x10200, uacOf(t, dc, ref), "facts H.1: bits that are never stored")
	require.NoError(t, setUAC(dc, ref, 2))
	assert.EqualValues(t, 514, uacOf(t, dc, ref), "the account type stays")

	// PASSWD_NOTREQD allows an enabled account without a password (H16)
	o, err = dc.Add(bg, "CN=open,"+users, user("open", Attr("userAccountControl", 544))...)
	require.NoError(t, err)
	requireCode(t, CodePasswordRestriction, KindPolicy, setUAC(dc, o.DN, 512))
	require.NoError(t, dc.ResetPassword(bg, o.DN, ""), "the empty password")
	require.NoError(t, dc.Logon(bg, "open", ""))
	requireCode(t, CodePasswordRestriction, KindPolicy, setUAC(dc, o.DN, 512)) // facts H5
	// requiring a smart card replaces the password with a random one
	require.NoError(t, dc.ResetPassword(bg, ref, good))
	require.NoError(t, setUAC(dc, ref, 0x40200))
	requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "neu", good))
}

// Facts H26: each symbol of the list is one kind of character.
func TestSymbols(t *testing.T) {
	for _, c := range "~!@#$%^&*_-+=`|\\(){}[]:;\"'<>,.?/" {
		assert.Equal(t, 3, classesOf("a1"+string(c)), string(c))
	}
	for _, c := range " €£¥\u00a0\t😀½١" {
		assert.Equal(t, 2, classesOf("a1"+string(c)), string(c))
	}
}

// Facts H27: the password policy applies to normal accounts that need a password.
func TestPolicyOfOtherAccounts(t *testing.T) {
	dc, _ := lab(t)
	pc, err := dc.Add(bg, "CN=BARE,CN=Computers,"+root, Attr("objectClass", "computer"),
		Attr("sAMAccountName", "BARE$"), Attr("userAccountControl", 4096))
	require.NoError(t, err, "a computer is enabled without a password")
	for _, uac := range []int64{4098, 4096, 69632, 4104, 135168} {
		require.NoError(t, setUAC(dc, pc.DN, uac), uac)
	}
	require.NoError(t, dc.ResetPassword(bg, pc.DN, "abc"))
	open, err := dc.Add(bg, "CN=open,"+users,
		user("open", Attr("userAccountControl", 544), Attr("unicodePwd", QuotePassword("abc")))...)
	require.NoError(t, err)
	requireCode(t, CodePasswordRestriction, KindPolicy, dc.ResetPassword(bg, "CN=Photo Paula,"+odd, "abc"))
	require.NoError(t, dc.ResetPassword(bg, open.DN, "x"))
	require.NoError(t, dc.ResetPassword(bg, "CN=krbtgt,"+users, "abc"), "replaced by a random one")
}

// Facts H6, H9, H11
func TestPasswordTimes(t *testing.T) {
	dc, clock := lab(t)
	ref := "CN=Photo Paula," + odd
	set := func(v any) error {
		return dc.Modify(bg, ref, []Change{{OpReplace, "pwdLastSet", []any{v}}}, ModifyOptions{})
	}
	computed := func(r string) (int64, int64) {
		o := mustObject(t, dc, r, "msDS-User-Account-Control-Computed", "msDS-UserPasswordExpiryTimeComputed")
		a, _ := o.Int("msDS-User-Account-Control-Computed")
		b, _ := o.Int("msDS-UserPasswordExpiryTimeComputed")
		return a, b
	}
	require.NoError(t, set(0))
	bits, expiry := computed(ref)
	assert.EqualValues(t, uacPasswordExpired, bits, "a password that must be changed counts as expired")
	assert.EqualValues(t, Never, expiry, "the domain's passwords do not expire")
	require.NoError(t, set("-1"))
	at, ok := mustObject(t, dc, ref).Time("pwdLastSet")
	require.True(t, ok)
	assert.Equal(t, clock.now, at, "facts H6")
	bits, _ = computed(ref)
	assert.Zero(t, bits)

	// the password settings object of a group
	old := "CN=Old Password,OU=IT,OU=Berlin,OU=Staff," + corp
	bits, expiry = computed(old)
	assert.EqualValues(t, uacPasswordExpired, bits)
	assert.Less(t, expiry, ToFileTime(clock.now))
	assert.Equal(t, "CN=Strict,CN=Password Settings Container,CN=System,"+root,
		mustObject(t, dc, old, "msDS-ResultantPSO").String("msDS-ResultantPSO"))
	requireCode(t, CodePasswordRestriction, KindPolicy, dc.ResetPassword(bg, old, "Sh0rter-13!!!"))
	require.NoError(t, dc.ResetPassword(bg, old, "L0nger-than-14!"))
	bits, expiry = computed(old)
	assert.Zero(t, bits)
	assert.Equal(t, ToFileTime(clock.now.AddDate(0, 0, 90)), expiry)
	require.NoError(t, setUAC(dc, old, 0x10200))
	_, expiry = computed(old)
	assert.Equal(t, Never, expiry)
}

// Facts E15, H12, H13
func TestLockout(t *testing.T) {
	dc, clock := lab(t)
	it := ",OU=IT,OU=Berlin,OU=Staff," + corp
	locked := func(cn string) bool {
		n, _ := mustObject(t, dc, "CN="+cn+it,
			"msDS-User-Account-Control-Computed").Int("msDS-User-Account-Control-Computed")
		return n&uacLockout != 0
	}
	assert.True(t, locked("Locked Out"))
	assert.False(t, locked("Lockout Over"), "facts H12: lockoutTime alone proves nothing")
	require.NoError(t, dc.Unlock(bg, "CN=Locked Out"+it))
	assert.False(t, locked("Locked Out"))
	o := mustObject(t, dc, "CN=Locked Out"+it)
	assert.Equal(t, "0", o.String("lockoutTime"))
	assert.Equal(t, "0", o.String("badPwdCount"), "facts H13")
	unchanged(t, dc, func() { require.NoError(t, dc.Unlock(bg, "CN=Locked Out"+it)) }) // facts E15, H13
	require.NoError(t, dc.ResetPassword(bg, "CN=Locked Out"+it, good))

	// five bad passwords lock out the account; a reset does not unlock it
	for i := 0; i < 5; i++ {
		require.False(t, locked("Locked Out"))
		requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "locked.out", "wrong"))
		clock.advance(time.Minute)
	}
	assert.True(t, locked("Locked Out"))
	requireCode(t, CodeAccountLockedOut, KindLogon, dc.Logon(bg, "locked.out", good))
	require.NoError(t, dc.ResetPassword(bg, "CN=Locked Out"+it, good))
	assert.True(t, locked("Locked Out"), "facts E13")
	require.NoError(t, dc.Unlock(bg, "CN=Locked Out"+it))
	require.NoError(t, dc.Logon(bg, "locked.out", good))

	// bad passwords outside the observation window do not add up
	for i := 0; i < 8; i++ {
		requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "locked.out", "wrong"))
		clock.advance(31 * time.Minute)
	}
	assert.False(t, locked("Locked Out"))

	// a lockout under a password settings object ends after its duration
	require.NoError(t, dc.ResetPassword(bg, "CN=Lockout Over"+it, "L0nger-than-14!"))
	for i := 0; i < 3; i++ {
		requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "lockout.over", "wrong"))
	}
	assert.True(t, locked("Lockout Over"))
	clock.advance(30 * time.Minute)
	assert.False(t, locked("Lockout Over"))
	require.NoError(t, dc.Logon(bg, "lockout.over", "L0nger-than-14!"))

	// the built-in Administrator is never locked out
	require.NoError(t, dc.ResetPassword(bg, "CN=Administrator,"+users, good))
	for i := 0; i < 9; i++ {
		requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "administrator", "wrong"))
	}
	require.NoError(t, dc.Logon(bg, "administrator", good))
}

// Facts E17a, E17b: lastLogon is not replicated, lastLogonTimestamp is replicated
// but updated rarely.
func TestLogon(t *testing.T) {
	dc, clock := lab(t)
	dc2, err := dc.domain.DC("dc2")
	require.NoError(t, err)
	paula := "CN=Photo Paula," + odd
	requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "paula", good)) // loaded without a password
	require.NoError(t, dc.ResetPassword(bg, paula, good))
	require.NoError(t, dc.Logon(bg, "PAULA", good))
	first := clock.now
	clock.advance(24 * time.Hour)
	require.NoError(t, dc2.Logon(bg, "paula", good))
	read := func(c *DC, name string) time.Time {
		at, _ := mustObject(t, c, paula).Time(name)
		return at
	}
	assert.Equal(t, first, read(dc, "lastLogon"))
	assert.Equal(t, clock.now, read(dc2, "lastLogon"))
	assert.Equal(t, first, read(dc, "lastLogonTimestamp"))
	assert.Equal(t, first, read(dc2, "lastLogonTimestamp"), "younger than nine days: not updated")
	clock.advance(15 * 24 * time.Hour)
	require.NoError(t, dc2.Logon(bg, "paula", good))
	assert.Equal(t, clock.now, read(dc, "lastLogonTimestamp"))
	assert.Equal(t, "1", mustObject(t, dc, paula).String("logonCount"))
	assert.Equal(t, "2", mustObject(t, dc2, paula).String("logonCount"))
	require.NoError(t, dc2.SetLastLogon(bg, paula, first))
	assert.Equal(t, first, read(dc2, "lastLogon"))

	for cn, code := range map[string]int{"Expired Account": CodeAccountExpired,
		"Never Set": CodeAccountDisabled} {
		ref := "CN=" + cn + ",OU=IT,OU=Berlin,OU=Staff," + corp
		require.NoError(t, dc.ResetPassword(bg, ref, good))
		requireCode(t, code, KindLogon, dc.Logon(bg, mustObject(t, dc, ref).String("sAMAccountName"), good))
	}
	require.NoError(t, dc.Modify(bg, paula, []Change{{OpReplace, "pwdLastSet", []any{0}}}, ModifyOptions{}))
	requireCode(t, CodePasswordMustChange, KindLogon, dc.Logon(bg, "paula", good))
	old := "CN=Old Password,OU=IT,OU=Berlin,OU=Staff," + corp
	require.NoError(t, dc.ResetPassword(bg, old, "L0nger-than-14!"))
	clock.advance(91 * 24 * time.Hour)
	requireCode(t, CodePasswordExpired, KindLogon, dc.Logon(bg, "old.password", "L0nger-than-14!"))
	requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "nobody", good))
	requireCode(t, CodeLogonFailure, KindLogon, dc.Logon(bg, "Domain Admins", good))
}

// Facts D.2, E13: a change by the user checks the old password, age and history.
func TestChangePassword(t *testing.T) {
	dc, clock := lab(t)
	paula := "CN=Photo Paula," + odd
	requireCode(t, CodeInvalidPassword, KindBadPassword, dc.ChangePassword(bg, paula, "x", good))
	require.NoError(t, dc.ResetPassword(bg, paula, good))
	requireCode(t, CodeInvalidPassword, KindBadPassword, dc.ChangePassword(bg, paula, "wrong", "0ther-Pass!"))
	// too young
	requireCode(t, CodePasswordRestriction, KindPolicy, dc.ChangePassword(bg, paula, good, "0ther-Pass!"))
	clock.advance(25 * time.Hour)
	unchanged(t, dc, func() {
		requireCode(t, CodePasswordRestriction, KindPolicy, dc.ChangePassword(bg, paula, good, "weak"))
		requireCode(t, CodePasswordRestriction, KindPolicy, dc.ChangePassword(bg, paula, good, good))
		requireCode(t, CodeUnwilling, KindUnwilling, dc.ChangePassword(bg, empty, good, good))
	})
	require.NoError(t, dc.ChangePassword(bg, paula, good, "0ther-Pass!"))
	clock.advance(25 * time.Hour)
	// history
	requireCode(t, CodePasswordRestriction, KindPolicy, dc.ChangePassword(bg, paula, "0ther-Pass!", good))
	// over LDAP
	require.NoError(t, dc.Modify(bg, paula, []Change{
		{OpDelete, "unicodePwd", []any{QuotePassword("0ther-Pass!")}},
		{OpAdd, "unicodePwd", []any{QuotePassword("Th1rd-Pass!")}}}, ModifyOptions{}))
	require.NoError(t, dc.Logon(bg, "paula", "Th1rd-Pass!"))
	require.NoError(t, dc.Modify(bg, paula,
		[]Change{{OpReplace, "unicodePwd", []any{QuotePassword("F0urth-Päss!")}}}, ModifyOptions{}))
	require.NoError(t, dc.Logon(bg, "paula", "F0urth-Päss!"))

	// facts H15
	require.NoError(t, dc.SetCannotChangePassword(bg, paula, true))
	on, err := dc.CannotChangePassword(bg, paula)
	require.NoError(t, err)
	assert.True(t, on)
	clock.advance(25 * time.Hour)
	requireCode(t, CodeAccessDenied, KindDenied, dc.ChangePassword(bg, paula, "F0urth-Päss!", "F1fth-Pass!"))
	unchanged(t, dc, func() { require.NoError(t, dc.SetCannotChangePassword(bg, paula, true)) })
	require.NoError(t, dc.SetCannotChangePassword(bg, paula, false))
	on, err = dc.CannotChangePassword(bg, paula)
	require.NoError(t, err)
	assert.False(t, on)
	require.NoError(t, dc.ChangePassword(bg, paula, "F0urth-Päss!", "F1fth-Pass!"))
}

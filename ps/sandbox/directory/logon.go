package directory

import (
	"context"
	"time"
)

// Logon checks a password by sAMAccountName. A wrong password is counted on this DC and may lock the account
// out. The right password sets lastLogon of this DC, and lastLogonTimestamp if that is old enough (facts
// E17b). Errors are KindLogon: 1326 wrong name or password, 1331 disabled, 1793 account expired, 1909 locked
// out, 1907 password must change, 1330 password expired. An account that was loaded without a password
// accepts no password.
//
// [WithSource] names the computer that the logon comes from.
func (c *DC) Logon(ctx context.Context, account, password string) error {
	var refused *Error
	var locked *Lockout
	err := c.transact(ctx, "logon", func(t *tx) *Error {
		refused = t.logon(account, password)
		locked = t.locked
		return nil
	})
	if err != nil {
		return err
	}
	if locked != nil && c.domain.opts.OnLockout != nil {
		locked.Source, _ = ctx.Value(sourceKey{}).(string)
		c.domain.opts.OnLockout(*locked)
	}
	if refused != nil {
		refused.Op = "logon"
		return refused
	}
	return nil
}

// sourceKey is the context key of the computer that a logon comes from.
type sourceKey struct{}

// WithSource names the computer that a logon comes from, for [Options.OnLockout].
func WithSource(ctx context.Context, computer string) context.Context {
	return context.WithValue(ctx, sourceKey{}, computer)
}

// logon returns the reason for a refused logon. Its changes, such as the count of bad passwords, are kept.
func (t *tx) logon(account, password string) *Error {
	r, k := t.rep, t.rep.sch
	n := r.bySAM(account)
	no := func(code int) *Error { return fail(code, KindLogon, account, "logon refused") }
	if n == nil || !n.isAccount() {
		return no(CodeLogonFailure)
	}
	if r.lockedOut(n, t.now) {
		return no(CodeAccountLockedOut)
	}
	local := n.localFor(t.dc.index, len(r.dom.dcs))
	p := r.policyFor(n)
	if n.secret == nil || !n.secret.known || !n.checkPassword(password) {
		t.badPassword(n, local, p)
		return no(CodeLogonFailure)
	}
	switch {
	case n.int(k.uac, 0)&uacDisabled != 0:
		return no(CodeAccountDisabled)
	case expired(n.int(k.accountExpires, 0), t.now):
		return no(CodeAccountExpired)
	case r.passwordExpired(n, t.now) && n.int(k.pwdLastSet, 0) == 0:
		return no(CodePasswordMustChange)
	case r.passwordExpired(n, t.now):
		return no(CodePasswordExpired)
	}
	local.badPwdCount = 0
	local.lastLogon = ToFileTime(t.now)
	local.logonCount++
	if n.int(k.lockoutTime, 0) != 0 {
		t.set(n, k.lockoutTime, "0")
	}
	t.logonStamp(n)
	return nil
}

func expired(fileTime int64, now time.Time) bool {
	at, ok := FromFileTime(fileTime)
	return ok && !now.Before(at)
}

func (t *tx) badPassword(n *node, local *localState, p policy) {
	if last, ok := FromFileTime(local.badPasswordTime); ok && p.lockWindow() != 0 &&
		t.now.Sub(last) > p.lockWindow() {
		local.badPwdCount = 0
	}
	local.badPwdCount++
	local.badPasswordTime = ToFileTime(t.now)
	if p.lockThreshold() > 0 && int(local.badPwdCount) >= p.lockThreshold() && n.sid.RID() != 500 {
		t.set(n, t.rep.sch.lockoutTime, itoa(ToFileTime(t.now)))
		t.locked = &Lockout{Time: t.now, Account: n.first(t.rep.sch.sam), SID: n.sid}
	}
}

// logonStamp updates lastLogonTimestamp if it is older than 14 days minus up to 5
// days, depending on the GUID of the account.
func (t *tx) logonStamp(n *node) {
	k := t.rep.sch
	days := t.rep.root.int(k.logonSync, 14)
	if days == 0 {
		return
	}
	slack := time.Duration(n.guid[0]) * 5 * 24 * time.Hour / 256
	last, ok := FromFileTime(n.int(k.lastLogonStamp, 0))
	if !ok || t.now.Sub(last) >= time.Duration(days)*24*time.Hour-slack {
		t.set(n, k.lastLogonStamp, itoa(ToFileTime(t.now)))
	}
}

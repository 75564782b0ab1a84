package directory

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// Bits of userAccountControl (facts H.1).
const (
	uacDisabled        = 0x2
	uacLockout         = 0x10
	uacNotRequired     = 0x20
	uacCannotChange    = 0x40
	uacTempDuplicate   = 0x100
	uacNormal          = 0x200
	uacInterdomain     = 0x800
	uacWorkstation     = 0x1000
	uacServer          = 0x2000
	uacNeverExpires    = 0x10000
	uacSmartcard       = 0x40000
	uacDelegation      = 0x80000
	uacPasswordExpired = 0x800000
	uacPartialSecrets  = 0x4000000

	uacTypes    = uacNormal | uacInterdomain | uacWorkstation | uacServer
	uacComputed = uacLockout | uacCannotChange | uacPasswordExpired
)

// secret contains salted hashes of a password and its predecessors. It is immutable.
type secret struct {
	known   bool // false if the account was loaded from a file
	blank   bool // the password is empty
	hash    [32]byte
	history [][32]byte // previous hashes, newest first
}

func (n *node) hash(password string) [32]byte {
	return sha256.Sum256(append(n.guid[:], password...))
}

// interval converts an Interval attribute, a negative number of 100 ns units. It
// returns 0 for the lowest number, which means never.
func interval(n int64) time.Duration {
	if n >= 0 || n == -1<<63 {
		return 0
	}
	if n < -int64(time.Duration(1<<63-1)/100) {
		return 0
	}
	return time.Duration(-n) * 100
}

// policy is the password and lockout policy of an account, read on demand.
type policy struct {
	r   *replica
	own *node // the password settings object; nil for the domain's policy
}

func (r *replica) policyFor(n *node) policy { return policy{r, r.pso(n)} }

// number returns a setting: the attribute domain of the domain's root, or the
// attribute ofGroup of the password settings object.
func (p policy) number(domain *Attribute, otherwise int64, ofGroup string) int64 {
	if p.own != nil {
		return p.own.int(p.r.dom.schema.must(ofGroup), 0)
	}
	return p.r.root.int(domain, otherwise)
}

func (p policy) minLength() int {
	return int(p.number(p.r.sch.minPwdLength, 7, "msds-minimumpasswordlength"))
}

func (p policy) history() int {
	return int(p.number(p.r.sch.pwdHistory, 24, "msds-passwordhistorylength"))
}

func (p policy) complexity() bool {
	if p.own != nil {
		return p.own.first(p.r.dom.schema.must("msds-passwordcomplexityenabled")) == "TRUE"
	}
	return p.r.root.int(p.r.sch.pwdProperties, 1)&1 != 0
}

// minAge and maxAge return the limits of the password age; 0 means none.
func (p policy) minAge() time.Duration {
	return interval(p.number(p.r.sch.minPwdAge, 0, "msds-minimumpasswordage"))
}

func (p policy) maxAge() time.Duration {
	return interval(p.number(p.r.sch.maxPwdAge, 0, "msds-maximumpasswordage"))
}

// lockThreshold returns the number of bad passwords that lock an account; 0 means
// no limit.
func (p policy) lockThreshold() int {
	return int(p.number(p.r.sch.lockoutThreshold, 0, "msds-lockoutthreshold"))
}

// lockDuration returns the duration of a lockout; 0 means until unlocked.
func (p policy) lockDuration() time.Duration {
	return interval(p.number(p.r.sch.lockoutDuration, 0, "msds-lockoutduration"))
}

func (p policy) lockWindow() time.Duration {
	return interval(p.number(p.r.sch.lockoutWindow, 0, "msds-lockoutobservationwindow"))
}

// lockedOut reports whether the account is locked out now (facts H12).
func (r *replica) lockedOut(n *node, now time.Time) bool {
	at, ok := FromFileTime(n.int(r.sch.lockoutTime, 0))
	if !ok {
		return false
	}
	d := r.policyFor(n).lockDuration()
	return d == 0 || now.Before(at.Add(d))
}

// passwordExpired reports whether the password has expired or must be changed.
func (r *replica) passwordExpired(n *node, now time.Time) bool {
	if n.int(r.sch.uac, 0)&(uacNeverExpires|uacSmartcard|uacWorkstation|uacServer|uacInterdomain) != 0 {
		return false
	}
	set, ok := FromFileTime(n.int(r.sch.pwdLastSet, 0))
	if !ok {
		return true
	}
	age := r.policyFor(n).maxAge()
	return age != 0 && !now.Before(set.Add(age))
}

// acceptable checks the length and complexity of a new password. uac is the
// userAccountControl of the account.
func (r *replica) acceptable(n *node, uac int64, password string, p policy) *Error {
	bad := func(why string) *Error {
		return failAttr(CodePasswordRestriction, KindPolicy, n.dn(), "unicodePwd", "%s", why)
	}
	if uac&uacNormal == 0 || uac&uacNotRequired != 0 || n.sid == r.dom.sid.WithRID(502) {
		return nil // the policy does not apply (facts H27)
	}
	if utf16Len(password) < p.minLength() {
		return bad("shorter than the policy requires")
	}
	if !p.complexity() {
		return nil
	}
	if classesOf(password) < 3 {
		return bad("fewer than three kinds of characters")
	}
	low := strings.ToLower(password)
	if sam := strings.ToLower(n.first(r.sch.sam)); len(sam) >= 3 && strings.Contains(low, sam) {
		return bad("it contains the account name")
	}
	tokens := strings.FieldsFunc(strings.ToLower(n.first(r.sch.displayName)), func(c rune) bool {
		return strings.ContainsRune(",.-_#\t ", c)
	})
	for _, t := range tokens {
		if utf16Len(t) >= 3 && strings.Contains(low, t) {
			return bad("it contains a part of the display name")
		}
	}
	return nil
}

// symbols are the characters that the complexity rule counts as symbols. Spaces, currency
// signs other than $, and emoji are not among them (facts H26).
const symbols = "~!@#$%^&*_-+=`|\\(){}[]:;\"'<>,.?/"

// classesOf counts the character classes: upper case, lower case, digits, other letters,
// symbols. Other characters belong to no class.
func classesOf(s string) int {
	var seen [5]bool
	for _, c := range s {
		switch {
		case unicode.IsUpper(c):
			seen[0] = true
		case unicode.IsLower(c):
			seen[1] = true
		case '0' <= c && c <= '9':
			seen[2] = true
		case unicode.IsLetter(c):
			seen[3] = true
		case strings.ContainsRune(symbols, c):
			seen[4] = true
		}
	}
	n := 0
	for _, s := range seen {
		if s {
			n++
		}
	}
	return n
}

// setPassword resets the password of an account with the given userAccountControl. History
// and age are not checked (facts E13, H10).
func (t *tx) setPassword(n *node, uac int64, password string) *Error {
	if !n.isAccount() {
		return failAttr(CodeUnwilling, KindUnwilling, n.dn(), "unicodePwd", "the object has no password")
	}
	p := t.rep.policyFor(n)
	if err := t.rep.acceptable(n, uac, password, p); err != nil {
		return err
	}
	t.storePassword(n, password, p)
	return nil
}

func (t *tx) storePassword(n *node, password string, p policy) {
	next := &secret{known: true, hash: n.hash(password), blank: password == ""}
	if old := n.secret; old != nil && old.known && p.history() > 0 {
		next.history = append(next.history, old.hash)
		next.history = append(next.history, old.history...)
		if len(next.history) > p.history() {
			next.history = next.history[:p.history()]
		}
	}
	t.setSecret(n, next)
	t.set(n, t.rep.sch.pwdLastSet, itoa(ToFileTime(t.now)))
}

// changePassword changes a password in the same way as the user, which requires the old
// password and checks history and age.
func (t *tx) changePassword(n *node, old, password string) *Error {
	if !n.isAccount() {
		return failAttr(CodeUnwilling, KindUnwilling, n.dn(), "unicodePwd", "the object has no password")
	}
	if n.secret == nil || !n.secret.known || !n.checkPassword(old) {
		return failAttr(CodeInvalidPassword, KindBadPassword, n.dn(), "unicodePwd", "the old password is wrong")
	}
	if n.cannotChangePassword() {
		return failAttr(CodeAccessDenied, KindDenied, n.dn(), "unicodePwd", "the user may not change the password")
	}
	p := t.rep.policyFor(n)
	if err := t.rep.acceptable(n, n.int(t.rep.sch.uac, 0), password, p); err != nil {
		return err
	}
	bad := func(why string) *Error {
		return failAttr(CodePasswordRestriction, KindPolicy, n.dn(), "unicodePwd", "%s", why)
	}
	if set, ok := FromFileTime(n.int(t.rep.sch.pwdLastSet, 0)); ok && t.now.Before(set.Add(p.minAge())) {
		return bad("the minimum password age has not passed")
	}
	want := n.hash(password)
	if p.history() > 0 && want == n.secret.hash {
		return bad("it is the current password")
	}
	for i, h := range n.secret.history {
		if i+1 < p.history() && h == want {
			return bad("the password was used before")
		}
	}
	t.storePassword(n, password, p)
	return nil
}

func (n *node) checkPassword(password string) bool {
	h := n.hash(password)
	return subtle.ConstantTimeCompare(h[:], n.secret.hash[:]) == 1
}

// quotedPassword decodes a value of unicodePwd: UTF-16LE in double quotes.
func quotedPassword(raw string) (string, bool) {
	if len(raw)%2 != 0 || len(raw) < 4 {
		return "", false
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
	}
	if units[0] != '"' || units[len(units)-1] != '"' {
		return "", false
	}
	return string(utf16.Decode(units[1 : len(units)-1])), true
}

// setUAC sets userAccountControl.
func (t *tx) setUAC(n *node, want int64) *Error {
	k := t.rep.sch
	old := n.int(k.uac, -1)
	unwilling := func(why string) *Error {
		return failAttr(CodeUnwilling, KindUnwilling, n.dn(), "userAccountControl", "%s", why)
	}
	if !n.isAccount() {
		return failAttr(CodeNotDefinedForClass, KindConstraint, n.dn(), "userAccountControl",
			"the class has no such attribute")
	}
	want = int64(uint32(want))
	unlock := old >= 0 && want&uacLockout == 0 && old&uacLockout != 0
	want &^= uacComputed
	types := want & uacTypes
	if types == 0 {
		types = uacNormal
		if n.is("computer") {
			types = uacWorkstation
		}
		want |= types
	}
	if why := wrongUAC(want); why != "" {
		return unwilling(why)
	}
	if types&(uacWorkstation|uacServer) != 0 && !n.is("computer") {
		return unwilling("a computer's account type on a user")
	}
	if types&uacServer != 0 && old >= 0 && old&uacServer == 0 {
		return unwilling("a computer becomes a domain controller by promotion only")
	}
	if want&uacDisabled == 0 && old&uacDisabled != 0 && n.first(k.critical) == "TRUE" && n.sid.RID() == 502 {
		return failAttr(CodeSpecialAccount, KindProtected, n.dn(), "userAccountControl", "krbtgt stays disabled")
	}
	// This rule does not apply to computer accounts (facts H27).
	if want&uacNormal != 0 && want&(uacDisabled|uacNotRequired) == 0 && (n.secret == nil || n.secret.blank) {
		return failAttr(CodePasswordRestriction, KindPolicy, n.dn(), "userAccountControl",
			"an account without a password cannot be enabled")
	}
	if want&uacSmartcard != 0 && old >= 0 && old&uacSmartcard == 0 {
		t.setSecret(n, &secret{}) // a random, unknown password
	}
	if unlock {
		t.unlock(n)
	}
	t.set(n, k.uac, itoa(int64(int32(uint32(want)))))
	return nil
}

// wrongUAC returns the reason why the directory refuses a userAccountControl for any account, or "" if
// it does not (facts H28).
func wrongUAC(uac int64) string {
	types := uac & uacTypes
	switch {
	case uac&uacTempDuplicate != 0:
		return "an account for users of another domain"
	case uac&uacInterdomain != 0:
		return "only the trust protocol creates a trust account"
	case types&(types-1) != 0:
		return "more than one account type"
	case uac&uacPartialSecrets != 0 && uac&uacWorkstation == 0:
		return "a read-only domain controller without a workstation account"
	case uac&uacPartialSecrets != 0 && uac&uacDelegation != 0:
		return "a read-only domain controller that is trusted for delegation"
	}
	return ""
}

// unlock ends a lockout. It does not write lockoutTime if the account is not
// locked out (facts E15, H13).
func (t *tx) unlock(n *node) {
	if n.int(t.rep.sch.lockoutTime, 0) != 0 {
		t.set(n, t.rep.sch.lockoutTime, "0")
	}
	for i := range n.local {
		n.local[i].badPwdCount = 0
	}
}

// setPwdLastSet sets pwdLastSet. It accepts only 0 (must change) and -1 (now) (facts H6).
func (t *tx) setPwdLastSet(n *node, raw string) *Error {
	k := t.rep.sch
	switch raw {
	case "0":
		t.set(n, k.pwdLastSet, "0")
	case "-1":
		if n.int(k.pwdLastSet, 0) == 0 {
			t.set(n, k.pwdLastSet, itoa(ToFileTime(t.now)))
		}
	default:
		return failAttr(CodeInvalidParameter, KindConstraint, n.dn(), "pwdLastSet", "only 0 and -1 can be written")
	}
	return nil
}

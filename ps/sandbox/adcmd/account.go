package adcmd

import (
	"slices"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Bits of userAccountControl (facts H.1).
const (
	uacDisabled    = 0x2
	uacNotRequired = 0x20
	uacNormal      = 0x200
	uacWorkstation = 0x1000
	uacNeverExpire = 0x10000
)

// accountBit is a property or parameter that represents a bit of userAccountControl.
type accountBit struct {
	bit      int64
	inverted bool // the property is true when the bit is clear
}

// accountBits are the account bits by name. The property and the parameter have the same name.
var accountBits = map[string]accountBit{
	"Enabled":                           {bit: uacDisabled, inverted: true},
	"HomedirRequired":                   {bit: 0x8},
	"PasswordNotRequired":               {bit: uacNotRequired},
	"AllowReversiblePasswordEncryption": {bit: 0x80},
	"MNSLogonAccount":                   {bit: 0x20000},
	"PasswordNeverExpires":              {bit: uacNeverExpire},
	"SmartcardLogonRequired":            {bit: 0x40000},
	"TrustedForDelegation":              {bit: 0x80000},
	"AccountNotDelegated":               {bit: 0x100000},
	"UseDESKeyOnly":                     {bit: 0x200000},
	"DoesNotRequirePreAuth":             {bit: 0x400000},
	"TrustedToAuthForDelegation":        {bit: 0x1000000},
}

func (b accountBit) read(_ *reader, o *directory.Object) any {
	n, ok := o.Int("userAccountControl")
	if !ok {
		return nil
	}
	return (n&b.bit != 0) != b.inverted
}

// apply returns uac with the property set to on.
func (b accountBit) apply(uac int64, on bool) int64 {
	if on != b.inverted {
		return uac | b.bit
	}
	return uac &^ b.bit
}

// isAccountParam reports whether a parameter sets an account bit or access control entries.
// [changes.account] and [call.accessLists] write these.
func isAccountParam(param string) bool {
	_, bit := accountBits[param]
	return bit || param == "ChangePasswordAtLogon" || param == "CannotChangePassword" ||
		param == "ProtectedFromAccidentalDeletion"
}

// flag returns a Boolean parameter; given is false if it is absent or $null.
func (c *call) flag(param string) (on, given bool) {
	v := c.bound(param)
	if v == nil {
		return false, false
	}
	return dotnet.Truthy(v), true
}

// bits returns uac with the caller's parameters applied, except those listed in
// without.
func (c *call) bits(uac int64, without ...string) int64 {
	for _, param := range c.row.attrs {
		bit, ok := accountBits[param]
		if !ok || slices.Contains(without, param) {
			continue
		}
		if on, given := c.flag(param); given {
			uac = bit.apply(uac, on)
		}
	}
	return uac
}

// checkPasswordFlags rejects flags that exclude each other (facts H7).
func (c *call) checkPasswordFlags() error {
	change, _ := c.flag("ChangePasswordAtLogon")
	never, _ := c.flag("PasswordNeverExpires")
	if change && never {
		return c.argument("changeAndNever", "")
	}
	return nil
}

// account adds the account bits and -ChangePasswordAtLogon of an existing account.
func (ch *changes) account(o *directory.Object) error {
	c := ch.c
	if err := c.checkPasswordFlags(); err != nil {
		return err
	}
	before, _ := o.Int("userAccountControl")
	after := c.bits(before)
	if after != before {
		if err := ch.claim("userAccountControl", "Enabled"); err != nil {
			return err
		}
		ch.add(directory.OpReplace, "userAccountControl", after)
	}
	change, given := c.flag("ChangePasswordAtLogon")
	if !given {
		return nil
	}
	if change && after&uacNeverExpire != 0 { // facts H8
		return c.throw(failure{typ: "ADException", message: c.say("neverExpires")})
	}
	if err := ch.claim("pwdLastSet", "ChangePasswordAtLogon"); err != nil {
		return err
	}
	ch.add(directory.OpReplace, "pwdLastSet", pwdLastSet(change))
	return nil
}

// pwdLastSet is the value written for -ChangePasswordAtLogon (facts H6).
func pwdLastSet(change bool) int64 {
	if change {
		return 0
	}
	return -1
}

// accessLists writes the parameters that set access control entries. Each is a
// separate write: if it fails, the earlier ones remain.
func (c *call) accessLists(o *directory.Object) error {
	ref := o.GUID.Ref()
	if deny, given := c.flag("CannotChangePassword"); given {
		if err := c.dc.SetCannotChangePassword(c.ctx(), ref, deny); err != nil {
			return c.fail(err)
		}
	}
	if protect, given := c.flag("ProtectedFromAccidentalDeletion"); given {
		if err := c.dc.SetProtected(c.ctx(), ref, protect); err != nil {
			return c.fail(err)
		}
	}
	return nil
}

// setEnabled is the body of Enable-ADAccount and Disable-ADAccount. It writes nothing if the
// account is already in that state (facts E11, H14).
func setEnabled(on bool) func(*call) error {
	return func(c *call) error {
		o, err := c.identity("userAccountControl")
		if err != nil {
			return err
		}
		before, _ := o.Int("userAccountControl")
		ch := c.newChanges()
		if after := accountBits["Enabled"].apply(before, on); after != before {
			ch.add(directory.OpReplace, "userAccountControl", after)
		}
		return c.change(o, ch)
	}
}

// unlockAccount sets lockoutTime to 0. It writes nothing if the account is not locked (facts E15, H13).
func unlockAccount(c *call) error {
	o, err := c.identity("lockoutTime")
	if err != nil {
		return err
	}
	ch := c.newChanges()
	if n, _ := o.Int("lockoutTime"); n != 0 {
		ch.add(directory.OpReplace, "lockoutTime", int64(0))
	}
	return c.change(o, ch)
}

// change completes the commands that change one object: it asks for confirmation, writes,
// and returns the object for -PassThru.
func (c *call) change(o *directory.Object, ch *changes) error {
	c.target = o.DN
	ok, err := c.ShouldProcess(o.DN)
	if err != nil || !ok {
		return err
	}
	if err := ch.write(o, directory.ModifyOptions{}); err != nil {
		return err
	}
	if err := c.accessLists(o); err != nil {
		return err
	}
	return c.passThru(o.GUID)
}

// confirmed asks for confirmation, writes to an object, and returns it for -PassThru.
func confirmed(c *call, o *directory.Object, write func(ref string) error) error {
	c.target = o.DN
	if ok, err := c.ShouldProcess(o.DN); err != nil || !ok {
		return err
	}
	if err := write(o.GUID.Ref()); err != nil {
		return c.fail(err)
	}
	return c.passThru(o.GUID)
}

// passThru writes the current object with the default properties of its class,
// if -PassThru is given (facts E5).
func (c *call) passThru(g directory.GUID) error {
	if !c.Bool("PassThru") {
		return nil
	}
	o, err := c.dc.ByGUID(c.ctx(), g, c.class.plan.attrs...)
	if err != nil {
		return c.fail(err)
	}
	return c.emit(c.class, c.class.plan, o)
}

// setPassword is the body of Set-ADAccountPassword. It prompts for a missing
// password, which fails in these sessions (facts E13, A34).
func setPassword(c *call) error {
	o, err := c.identity()
	if err != nil {
		return err
	}
	c.target = o.DN
	secret := func(param string) (string, bool) {
		s, ok := c.bound(param).(*dotnet.SecureString)
		if !ok || s == nil {
			return "", false
		}
		return s.Reveal(), true
	}
	fresh, hasNew := secret("NewPassword")
	old, hasOld := secret("OldPassword")
	reset := c.Bool("Reset")
	if !hasNew || !hasOld && !reset {
		return c.prompt()
	}
	return confirmed(c, o, func(ref string) error {
		if reset {
			return c.dc.ResetPassword(c.ctx(), ref, fresh)
		}
		return c.dc.ChangePassword(c.ctx(), ref, old, fresh)
	})
}

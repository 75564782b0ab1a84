package directory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Add creates an object and returns a copy with all stored attributes. dn is the
// full DN, escaped (facts C21); the RDN attribute may be omitted. objectClass is
// one class or the whole chain. unicodePwd sets a password. The directory sets
// the GUID, SID, category, times and these defaults:
//
//   - userAccountControl 546 for a user (facts H1), 4098 for a computer
//   - primaryGroupID by account type, pwdLastSet 0 and accountExpires Never for
//     accounts
//   - groupType -2147483646 for a group
//   - a generated sAMAccountName for principals
//
// Errors: 8329 no parent, 1316 or 1318 SAM in use, 8305 name in use (facts E4),
// 1315 bad SAM, 8648 UPN, 8647 SPN, 8316 required attribute, 8317 attribute not
// of the class, 8321 several values, 8322 range, 8345 parent of a wrong class,
// 8247 wrong RDN attribute, 8242 malformed DN, 87 unknown attribute, class or
// malformed value, 8333 absent reference (with Attribute), 8311 system attribute,
// 8245, 8513, 8516-8520, 1325.
func (c *DC) Add(ctx context.Context, dn string, attrs ...Values) (*Object, error) {
	var o *Object
	err := c.transact(ctx, "add", func(t *tx) *Error {
		n, err := t.add(dn, attrs)
		if err == nil {
			t.stamp()
			v := view{rep: t.rep, dc: c.index, now: t.now}
			o = v.object(n, &Selection{all: true})
			t.unstamp()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// unstamp reverts the USNs of stamp, so that transact can assign them again.
func (t *tx) unstamp() { t.rep.usn -= int64(len(t.touched)) }

func (t *tx) add(dn string, attrs []Values) (*node, *Error) {
	d, bad := ParseDN(dn)
	if bad != nil {
		return nil, bad.(*Error)
	}
	if d.IsZero() {
		return nil, fail(CodeInvalidDN, KindSyntax, dn, "an empty name")
	}
	parent, err := t.parentOf(d, dn)
	if err != nil {
		return nil, err
	}
	class, err := t.classOf(dn, attrs)
	if err != nil {
		return nil, err
	}
	rdn := d.RDN()
	if !strings.EqualFold(rdn.Type, class.RDN) {
		return nil, fail(CodeNaming, KindConstraint, dn, "the naming attribute of a %s is %s", class.Name,
			class.RDN)
	}
	if !class.mayLieUnder(parent.class) {
		return nil, fail(CodeIllegalSuperior, KindConstraint, dn, "a %s cannot be below a %s", class.Name,
			parent.class.Name)
	}
	if parent.denied(RightCreateChild) {
		return nil, fail(CodeInsufficientRights, KindDenied, dn, "no right to create objects in the container")
	}
	n := &node{guid: t.rep.dom.freshGUID(), class: class, created: t.now.Unix()}
	n.setName(rdn)
	if err := t.checkName(n, rdn); err != nil {
		return nil, err
	}
	if parent.names[n.key] != nil {
		if t.accountInUse(attrs) {
			return nil, fail(CodeAccountExists, KindExists, dn,
				"the account name is in use, and the name in the container, too")
		}
		return nil, fail(CodeNameExists, KindExists, dn, "the name is in use in the container")
	}
	if class.is("user") || class.is("group") {
		sid, err := t.rep.dom.freshSID()
		if err != nil {
			return nil, err
		}
		n.sid = sid
	}
	t.insert(n, parent)
	err = t.fill(n, attrs)
	n.attrs = slices.Clone(n.attrs) // without spare capacity
	return n, err
}

// accountInUse reports whether another object has the account name among attrs.
func (t *tx) accountInUse(attrs []Values) bool {
	for _, a := range attrs {
		if strings.EqualFold(a.Name, "sAMAccountName") && len(a.Values) == 1 {
			return len(t.rep.having(t.rep.sch.sam, fmt.Sprint(a.Values[0]))) > 0
		}
	}
	return false
}

func (t *tx) insert(n, parent *node) {
	t.rep.seq++
	n.seq = t.rep.seq
	t.did(step{kind: stepPlace, n: n, after: state{parent: parent, name: RDN{n.rdnType, n.rdn}}})
}

// parentOf returns the container of a new object. The error is 8329.
func (t *tx) parentOf(d DN, dn string) (*node, *Error) {
	parent, best := t.rep.find(d.Parent())
	if parent != nil && !parent.deleted {
		return parent, nil
	}
	if best == nil {
		if d.Len() > 0 && foreign(d) {
			return nil, fail(CodeReferral, KindReferral, dn, "the name is in another domain")
		}
		return nil, fail(CodeNoParent, KindNoParent, dn, "the name is outside the domain")
	}
	e := fail(CodeNoParent, KindNoParent, dn, "the parent does not exist")
	e.BestMatch = best.dn()
	return nil, e
}

// classOf returns the most specific class among the values of objectClass.
func (t *tx) classOf(dn string, attrs []Values) (*Class, *Error) {
	var class *Class
	for _, a := range attrs {
		if !strings.EqualFold(a.Name, "objectClass") {
			continue
		}
		for _, v := range a.Values {
			name := fmt.Sprint(v)
			c, ok := t.rep.dom.schema.Class(name)
			if !ok {
				e := failAttr(CodeInvalidParameter, KindSyntax, dn, "objectClass", "no such class")
				e.Value = name
				return nil, e
			}
			if class == nil || c.is(class.Name) {
				class = c
			}
		}
	}
	switch {
	case class == nil:
		return nil, failAttr(CodeClassRequired, KindConstraint, dn, "objectClass", "no class is given")
	case class.Kind != Structural:
		return nil, failAttr(CodeClassViolation, KindConstraint, dn, "objectClass", "%s is not a structural class",
			class.Name)
	case class.is("domain") || class.is("builtinDomain") || class.is("lostAndFound") ||
		class.is("infrastructureUpdate"):
		return nil, failAttr(CodeUnwilling, KindUnwilling, dn, "objectClass", "only the system creates a %s",
			class.Name)
	}
	return class, nil
}

// checkName checks an RDN value against the range of the naming attribute.
func (t *tx) checkName(n *node, rdn RDN) *Error {
	def, ok := t.rep.dom.schema.Attribute(rdn.Type)
	if !ok {
		return fail(CodeNameTypeUnknown, KindSyntax, rdn.String(), "an unknown naming attribute")
	}
	if err := def.checkRange(rdn.Value); err != nil {
		err.DN = rdn.String()
		return err
	}
	if strings.ContainsAny(rdn.Value, "\x00\n\r") || !utf8.ValidString(rdn.Value) {
		return fail(CodeInvalidDN, KindSyntax, "", "a name has control characters or is not valid UTF-8")
	}
	return nil
}

// fill sets the attributes of a new object: the caller's and the defaults.
func (t *tx) fill(n *node, attrs []Values) *Error {
	k := t.rep.sch
	m := modifier{tx: t, n: n, adding: true, newUAC: wantedUAC(n, attrs)}
	if n.isPrincipal() && !given(attrs, "sAMAccountName") {
		m.sam = "$" + strings.ToUpper(n.guid.String()[:6]) + "-" + strings.ToUpper(n.guid.String()[24:36])
		t.set(n, k.sam, m.sam)
	}
	if n.isGroup() && !given(attrs, "groupType") {
		t.set(n, k.groupType, "-2147483646")
	}
	if n.isAccount() {
		t.set(n, k.pwdLastSet, "0")
		for def, value := range map[*Attribute]string{k.accountExpires: itoa(Never), k.codePage: "0",
			k.countryCode: "0"} {
			if !given(attrs, def.Name) {
				t.set(n, def, value)
			}
		}
	}
	var late []Values // attributes that depend on others
	for _, a := range attrs {
		switch strings.ToLower(a.Name) {
		case "objectclass":
			continue
		case "useraccountcontrol", "pwdlastset", "member":
			late = append(late, a)
			continue
		case "unicodepwd":
			late = append([]Values{a}, late...)
			continue
		}
		if err := m.apply(Change{Op: OpAdd, Name: a.Name, Values: a.Values}); err != nil {
			return err
		}
	}
	for _, a := range late {
		if err := m.apply(Change{Op: OpAdd, Name: a.Name, Values: a.Values}); err != nil {
			return err
		}
	}
	if err := t.accountDefaults(n, attrs); err != nil {
		return err
	}
	return m.finish()
}

func given(attrs []Values, name string) bool {
	return slices.ContainsFunc(attrs, func(a Values) bool {
		return strings.EqualFold(a.Name, name) && len(a.Values) > 0
	})
}

func (t *tx) accountDefaults(n *node, attrs []Values) *Error {
	if !n.isAccount() {
		return nil
	}
	k := t.rep.sch
	if !given(attrs, "userAccountControl") {
		if n.is("msDS-GroupManagedServiceAccount") || n.is("msDS-ManagedServiceAccount") {
			t.setSecret(n, &secret{})
		}
		if err := t.setUAC(n, defaultUAC(n)); err != nil {
			return err
		}
	}
	if !given(attrs, "primaryGroupID") {
		t.set(n, k.primaryGroup, itoa(defaultPrimaryGroup(n, n.int(k.uac, 0))))
	}
	return nil
}

// defaultUAC returns the userAccountControl of a new account.
func defaultUAC(n *node) int64 {
	switch {
	case n.is("msDS-GroupManagedServiceAccount"), n.is("msDS-ManagedServiceAccount"):
		return uacWorkstation
	case n.is("computer"):
		return uacWorkstation | uacDisabled
	}
	return uacNormal | uacNotRequired | uacDisabled
}

// wantedUAC returns the userAccountControl that a new account will get.
func wantedUAC(n *node, attrs []Values) int64 {
	for _, a := range attrs {
		if strings.EqualFold(a.Name, "userAccountControl") && len(a.Values) == 1 {
			uac, err := strconv.ParseInt(fmt.Sprint(a.Values[0]), 10, 64)
			switch {
			case err != nil:
				return 0 // refused later, when it is set
			case uac&uacTypes == 0:
				return uac | defaultUAC(n)&uacTypes
			}
			return uac
		}
	}
	return defaultUAC(n)
}

// defaultPrimaryGroup returns the RID for an account type (facts E18, H18).
func defaultPrimaryGroup(n *node, uac int64) int64 {
	switch {
	case uac&uacPartialSecrets != 0:
		return 521
	case uac&uacServer != 0:
		return 516
	case uac&uacWorkstation != 0, n.is("computer"):
		return 515
	}
	return 513
}

package directory

import (
	"strconv"
	"strings"
)

// special changes an attribute with special rules. handled is false if default processing must continue.
type special func(m *modifier, def *Attribute, c Change) (handled bool, err *Error)

var specials map[string]special

func init() {
	specials = map[string]special{
		"samaccountname":       changeSAM,
		"userprincipalname":    changeUnique(CodeUPNExists),
		"serviceprincipalname": changeUnique(CodeSPNExists),
		"useraccountcontrol":   changeRequired(setNumber((*tx).setUAC)),
		"grouptype":            changeRequired(setNumber((*tx).setGroupType)),
		"primarygroupid":       changeRequired(setPrimary),
		"pwdlastset":           changeRequired(setPwdLastSet),
		"lockouttime":          changeRequired(setLockout),
		"accountexpires":       changeRequired(setExpiry),
		"unicodepwd":           changePassword,
		keyDescriptor:          changeDescriptor,
		"description":          onlyDescription,
	}
}

// only returns the value of a single-valued attribute after a change. ok is false if the change removes it.
func (m *modifier) only(def *Attribute, c Change) (raw string, ok bool, err *Error) {
	vals, err := m.encode(def, c.Values)
	if err != nil {
		return "", false, err
	}
	stored := m.n.get(def)
	switch c.Op {
	case OpClear:
		return "", false, nil
	case OpDelete:
		if len(vals) > 0 && (len(stored) == 0 || indexOf(def, vals, stored[0].val) < 0) {
			if m.permissive {
				return m.n.first(def), len(stored) > 0, nil
			}
			return "", false, failAttr(CodeMissingValue, KindConstraint, m.n.dn(), def.Name,
				"the value does not exist")
		}
		return "", false, nil
	case OpAdd:
		if len(stored) > 0 && !m.adding && len(vals) > 0 {
			switch {
			case vals[0] == stored[0].val && m.permissive:
				return vals[0], true, nil
			case vals[0] == stored[0].val:
				return "", false, failAttr(CodeValueExists, KindConstraint, m.n.dn(), def.Name,
					"the value already exists")
			}
			return "", false, failAttr(CodeSingleValue, KindConstraint, m.n.dn(), def.Name,
				"the attribute already has a value")
		}
	}
	if len(vals) > 1 {
		return "", false, failAttr(CodeSingleValue, KindConstraint, m.n.dn(), def.Name,
			"the attribute is single-valued")
	}
	if len(vals) == 0 {
		return "", false, nil
	}
	return vals[0], true, nil
}

// changeRequired sets a single-valued attribute that cannot be cleared.
func changeRequired(set func(m *modifier, def *Attribute, raw string) *Error) special {
	return func(m *modifier, def *Attribute, c Change) (bool, *Error) {
		raw, ok, err := m.only(def, c)
		switch {
		case err != nil:
			return true, err
		case !ok:
			return true, failAttr(CodeIllegalModify, KindConstraint, m.n.dn(), def.Name,
				"the attribute cannot be cleared")
		}
		return true, set(m, def, raw)
	}
}

func changeSAM(m *modifier, def *Attribute, c Change) (bool, *Error) {
	raw, ok, err := m.only(def, c)
	if err != nil {
		return true, err
	}
	if !ok {
		return true, failAttr(CodeMissingRequired, KindConstraint, m.n.dn(), def.Name,
			"the class requires the attribute")
	}
	if !m.adding && m.n.first(def) == raw {
		return true, nil
	}
	if err := m.checkSAM(raw); err != nil {
		return true, err
	}
	if !m.adding && m.n.first(m.rep.sch.critical) == "TRUE" && m.n.sid.RID() == 502 {
		return true, failAttr(CodeSpecialAccount, KindProtected, m.n.dn(), def.Name, "krbtgt cannot be renamed")
	}
	m.set(m.n, def, raw)
	return true, nil
}

// accountControl returns the userAccountControl of the account. While the object is being created, it returns
// the future value, because the password is set first.
func (m *modifier) accountControl() int64 {
	if m.adding {
		return m.newUAC
	}
	return m.n.int(m.rep.sch.uac, 0)
}

// onlyDescription continues with default processing unless a user, group or computer would
// get several descriptions: 8321 (facts H29).
func onlyDescription(m *modifier, def *Attribute, c Change) (bool, *Error) {
	if !m.n.isPrincipal() || c.Op != OpAdd && c.Op != OpReplace {
		return false, nil
	}
	vals, err := m.encode(def, c.Values)
	if err != nil {
		return true, err
	}
	n := len(vals)
	if c.Op == OpAdd {
		for _, s := range m.n.get(def) {
			if indexOf(def, vals, s.val) < 0 {
				n++
			}
		}
	}
	if n > 1 {
		return true, failAttr(CodeSingleValue, KindConstraint, m.n.dn(), def.Name,
			"an account or group has one description")
	}
	return false, nil
}

// changeUnique continues with default processing if no other object has the values.
func changeUnique(code int) special {
	return func(m *modifier, def *Attribute, c Change) (bool, *Error) {
		if c.Op == OpDelete || c.Op == OpClear {
			return false, nil
		}
		vals, err := m.encode(def, c.Values)
		if err != nil {
			return true, err
		}
		for _, v := range vals {
			for _, other := range m.rep.index[def][def.matchKey(v)].nodes() {
				if other != m.n {
					e := failAttr(code, KindExists, m.n.dn(), def.Name, "another object has the value")
					e.Value = v
					return true, e
				}
			}
		}
		return false, nil
	}
}

func setNumber(set func(*tx, *node, int64) *Error) func(*modifier, *Attribute, string) *Error {
	return func(m *modifier, _ *Attribute, raw string) *Error {
		n, _ := strconv.ParseInt(raw, 10, 64)
		return set(m.tx, m.n, n)
	}
}

func setPrimary(m *modifier, def *Attribute, raw string) *Error {
	n, _ := strconv.ParseInt(raw, 10, 64)
	if !m.adding {
		return m.setPrimaryGroup(m.n, n)
	}
	if n != defaultPrimaryGroup(m.n, m.n.int(m.rep.sch.uac, 0)) {
		return failAttr(CodeConstraint, KindConstraint, m.n.dn(), def.Name,
			"a new account has the default primary group")
	}
	m.set(m.n, def, raw)
	return nil
}

func setPwdLastSet(m *modifier, _ *Attribute, raw string) *Error { return m.setPwdLastSet(m.n, raw) }

func setLockout(m *modifier, def *Attribute, raw string) *Error {
	if raw != "0" {
		return failAttr(CodeInvalidParameter, KindConstraint, m.n.dn(), def.Name, "only 0 can be written")
	}
	m.unlock(m.n)
	return nil
}

// setExpiry sets accountExpires, which cannot be cleared (facts E9).
func setExpiry(m *modifier, def *Attribute, raw string) *Error {
	if strings.HasPrefix(raw, "-") {
		return failAttr(CodeInvalidParameter, KindConstraint, m.n.dn(), def.Name, "a negative time")
	}
	m.set(m.n, def, raw)
	return nil
}

// changePassword handles unicodePwd: replace resets the password, and delete and add in the
// same Modify change it in the way that the user does.
func changePassword(m *modifier, def *Attribute, c Change) (bool, *Error) {
	if len(c.Values) != 1 {
		return true, failAttr(CodeUnwilling, KindUnwilling, m.n.dn(), def.Name, "exactly one password is expected")
	}
	raw, err := def.encode(c.Values[0])
	if err != nil {
		err.DN = m.n.dn()
		return true, err
	}
	password, ok := quotedPassword(raw)
	if !ok {
		return true, failAttr(CodeUnwilling, KindUnwilling, m.n.dn(), def.Name,
			"a password is UTF-16LE in double quotes")
	}
	switch {
	case c.Op == OpReplace || c.Op == OpAdd && m.adding:
		return true, m.setPassword(m.n, m.accountControl(), password)
	case c.Op == OpDelete:
		m.oldPwd, m.hasOldPwd = password, true
		return true, nil
	case c.Op == OpAdd && m.hasOldPwd:
		return true, m.changePassword(m.n, m.oldPwd, password)
	}
	return true, failAttr(CodeUnwilling, KindUnwilling, m.n.dn(), def.Name, "neither a reset nor a change")
}

package directory

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Modify applies changes in order, either all or none. It can change all attributes that the schema does not
// reserve, including member, userAccountControl, groupType, pwdLastSet (0 and -1 only), lockoutTime (0 only),
// accountExpires, primaryGroupID and unicodePwd (replace resets the password; delete the old and add the new
// one changes it). sAMAccountName, userPrincipalName and servicePrincipalName must be unique. The RDN
// attribute and name cannot be changed (8214), nor the class (8215); links are changed on their forward side
// (memberOf: 8346). Setting equal values is not a write.
func (c *DC) Modify(ctx context.Context, ref string, changes []Change, opts ModifyOptions) error {
	return c.write(ctx, "modify", ref, func(t *tx, n *node) *Error { return t.modify(n, changes, opts) })
}

func (t *tx) modify(n *node, changes []Change, opts ModifyOptions) *Error {
	if !n.writable() {
		return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to write properties")
	}
	m := modifier{tx: t, n: n, permissive: opts.Permissive}
	for _, c := range changes {
		if err := m.apply(c); err != nil {
			if err.DN == "" {
				err.DN = n.dn()
			}
			return err
		}
	}
	return m.finish()
}

// modifier applies changes to one object.
type modifier struct {
	*tx
	n          *node
	adding     bool // the object is being created
	permissive bool
	sam        string // generated account name, which is not checked
	newUAC     int64  // userAccountControl of the object that is being created
	oldPwd     string // from the delete part of a change of unicodePwd
	hasOldPwd  bool
}

func (m *modifier) apply(c Change) *Error {
	def, ok := m.rep.dom.schema.Attribute(c.Name)
	if !ok {
		return failAttr(CodeInvalidParameter, KindSyntax, m.n.dn(), c.Name, "the schema has no such attribute")
	}
	if err := m.mayWrite(def, c); err != nil {
		return err
	}
	if special, ok := specials[def.key]; ok {
		done, err := special(m, def, c)
		if done || err != nil {
			return err
		}
	}
	if def.Syntax == SyntaxDN {
		return m.applyRefs(def, c)
	}
	vals, err := m.encode(def, c.Values)
	if err != nil {
		return err
	}
	return m.applyValues(def, c.Op, vals)
}

// mayWrite returns an error for attributes that clients cannot write.
func (m *modifier) mayWrite(def *Attribute, c Change) *Error {
	dn := m.n.dn()
	switch {
	case def.key == "objectclass":
		return failAttr(CodeModifyClass, KindConstraint, dn, def.Name, "the class of an object is fixed")
	case def.key == "name" || strings.EqualFold(def.key, m.n.rdnType):
		if m.adding && def.key != "name" {
			return m.sameAsRDN(def, c)
		}
		return failAttr(CodeOnRDN, KindConstraint, dn, def.Name, "a name is changed by renaming the object")
	case def.key == "memberof", def.key == "samaccounttype", def.key == "objectsid", def.key == "sidhistory":
		return failAttr(CodeOwnedBySAM, KindUnwilling, dn, def.Name, "the directory derives the values")
	case def.SystemOnly || def.Constructed || def.IsBackLink():
		return failAttr(CodeIllegalModify, KindConstraint, dn, def.Name, "only the system writes the attribute")
	case def.key == "dbcspwd":
		return failAttr(CodeUnwilling, KindUnwilling, dn, def.Name, "the attribute cannot be written this way")
	case def.NotReplicated:
		return failAttr(CodeOwnedBySAM, KindUnwilling, dn, def.Name,
			"only the domain controller writes the attribute")
	case !m.n.class.Allows(def):
		return failAttr(CodeNotDefinedForClass, KindConstraint, dn, def.Name, "a %s has no such attribute",
			m.n.class.Name)
	}
	return nil
}

// sameAsRDN allows Add to repeat the value of the RDN.
func (m *modifier) sameAsRDN(def *Attribute, c Change) *Error {
	vals, err := m.encode(def, c.Values)
	if err != nil {
		return err
	}
	for _, v := range vals {
		if fold(v) != fold(m.n.rdn) {
			return failAttr(CodeOnRDN, KindConstraint, m.n.dn(), def.Name, "the value differs from the name")
		}
	}
	return nil
}

func (m *modifier) encode(def *Attribute, values []any) ([]string, *Error) {
	var out []string
	for _, v := range values {
		raw, err := def.encode(v)
		if err == nil {
			err = def.checkRange(raw)
		}
		if err != nil {
			err.DN = m.n.dn()
			return nil, err
		}
		if def.Syntax == SyntaxDNBinary {
			raw = m.rep.heldRef(raw)
		}
		out = append(out, raw)
	}
	return out, nil
}

// applyValues changes the values of an attribute that is not a reference.
func (m *modifier) applyValues(def *Attribute, op ChangeOp, vals []string) *Error {
	if strings.EqualFold(def.key, m.n.rdnType) {
		return nil // repeated by Add, see sameAsRDN
	}
	var now []string
	for _, s := range m.n.get(def) {
		now = append(now, s.val)
	}
	switch op {
	case OpReplace:
		now = nil
		for _, v := range vals {
			if indexOf(def, now, v) >= 0 {
				return failAttr(CodeValueExists, KindConstraint, m.n.dn(), def.Name, "a value is given twice")
			}
			now = append(now, v)
		}
	case OpClear:
		now = nil
	case OpAdd:
		if len(vals) == 0 {
			return nil
		}
		for _, v := range vals {
			switch {
			case indexOf(def, now, v) < 0:
				now = append(now, v)
			case !m.permissive:
				return failAttr(CodeValueExists, KindConstraint, m.n.dn(), def.Name, "the value already exists")
			}
		}
	case OpDelete:
		var err *Error
		if now, err = m.without(def, now, vals); err != nil {
			return err
		}
	}
	if def.SingleValued && len(now) > 1 {
		return failAttr(CodeSingleValue, KindConstraint, m.n.dn(), def.Name, "the attribute is single-valued")
	}
	m.set(m.n, def, now...)
	return nil
}

func (m *modifier) without(def *Attribute, now, vals []string) ([]string, *Error) {
	if len(vals) == 0 {
		if len(now) == 0 && !m.permissive {
			return nil, failAttr(CodeMissingAttribute, KindConstraint, m.n.dn(), def.Name,
				"the attribute has no value")
		}
		return nil, nil
	}
	for _, v := range vals {
		i := indexOf(def, now, v)
		switch {
		case i >= 0:
			now = append(now[:i:i], now[i+1:]...)
		case !m.permissive:
			return nil, failAttr(CodeMissingValue, KindConstraint, m.n.dn(), def.Name, "the value does not exist")
		}
	}
	return now, nil
}

func indexOf(def *Attribute, vals []string, v string) int {
	key := def.matchKey(v)
	for i, x := range vals {
		if def.hasKey(x, key) {
			return i
		}
	}
	return -1
}

// applyRefs changes the values of a reference attribute.
func (m *modifier) applyRefs(def *Attribute, c Change) *Error {
	refs := make([]linkVal, 0, len(c.Values))
	for _, v := range c.Values {
		raw, err := def.encode(v)
		if err != nil {
			return err
		}
		l, err := m.reference(def, raw, c.Op == OpDelete)
		if err != nil {
			return err
		}
		refs = append(refs, l)
	}
	now := m.n.linkVals(def)
	switch {
	case c.Op == OpDelete && len(refs) == 0 && len(now) == 0 && !m.permissive:
		return failAttr(CodeMissingAttribute, KindConstraint, m.n.dn(), def.Name, "the attribute has no value")
	case c.Op == OpReplace, c.Op == OpClear, c.Op == OpDelete && len(refs) == 0:
		keep := refs
		if c.Op != OpReplace {
			keep = nil
		}
		for _, l := range append([]linkVal(nil), now...) {
			if !containsLink(keep, l) {
				if err := m.dropRef(def, l); err != nil {
					return err
				}
			}
		}
		for _, l := range keep {
			if !containsLink(now, l) {
				if err := m.addRef(def, l); err != nil {
					return err
				}
			}
		}
	case c.Op == OpAdd:
		for _, l := range refs {
			if err := m.addRef(def, l); err != nil {
				return err
			}
		}
	default:
		for _, l := range refs {
			if err := m.dropRef(def, l); err != nil {
				return err
			}
		}
	}
	if def.SingleValued && len(m.n.linkVals(def)) > 1 {
		return failAttr(CodeSingleValue, KindConstraint, m.n.dn(), def.Name, "the attribute is single-valued")
	}
	return nil
}

func containsLink(list []linkVal, v linkVal) bool {
	return slices.ContainsFunc(list, func(l linkVal) bool {
		return l.n == v.n && (v.n != nil || fold(l.text) == fold(v.text))
	})
}

// reference resolves a value. References to the schema and configuration are kept
// as text; a missing object is 8333, unless the value is being removed.
func (m *modifier) reference(def *Attribute, raw string, removing bool) (linkVal, *Error) {
	n, err := m.rep.resolveForest(raw)
	if err == nil {
		return linkVal{n: n}, nil
	}
	if d, bad := ParseDN(raw); bad == nil && (removing || strings.HasSuffix(d.Key(), fold(m.rep.dom.configNC))) {
		return linkVal{text: d.String()}, nil
	}
	if err.Kind == KindNotFound {
		err.Code = CodeNotFound
	}
	err.Value, err.DN, err.Attribute = raw, m.n.dn(), def.Name
	return linkVal{}, err
}

func (m *modifier) addRef(def *Attribute, l linkVal) *Error {
	if def == m.rep.sch.member {
		return m.addMember(m.n, l, m.permissive)
	}
	if !m.link(m.n, def, l) && !m.permissive {
		return failAttr(CodeValueExists, KindConstraint, m.n.dn(), def.Name, "the value already exists")
	}
	return nil
}

func (m *modifier) dropRef(def *Attribute, l linkVal) *Error {
	if def == m.rep.sch.member {
		return m.removeMember(m.n, l, m.permissive)
	}
	if !m.unlink(m.n, def, l) && !m.permissive {
		return failAttr(CodeMissingValue, KindConstraint, m.n.dn(), def.Name, "the value does not exist")
	}
	return nil
}

// finish checks the required attributes after all changes.
func (m *modifier) finish() *Error {
	v := view{rep: m.rep, now: m.now}
	for _, def := range m.n.class.required() {
		if def.hidden() || def.get != nil {
			continue
		}
		if !v.has(m.n, def) {
			return failAttr(CodeMissingRequired, KindConstraint, m.n.dn(), def.Name,
				"the class requires the attribute")
		}
	}
	return nil
}

// checkSAM checks the syntax and uniqueness of an account name (facts C24): 1315,
// 1316, 1318.
func (m *modifier) checkSAM(name string) *Error {
	limit := 256
	if m.n.isAccount() {
		limit = 20
	}
	bad := func(why string) *Error {
		return failAttr(CodeBadAccountName, KindConstraint, m.n.dn(), "sAMAccountName", "%s", why)
	}
	switch {
	case name == m.sam:
	case strings.ContainsAny(name, "\"/\\[]:;|=,+*?<>"):
		return bad("a forbidden character")
	case strings.HasSuffix(name, "."), strings.Trim(name, ". ") == "":
		return bad("a trailing dot")
	case utf16Len(name) > limit:
		return bad("too long")
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return bad("a control character")
	}
	for _, other := range m.rep.having(m.rep.sch.sam, name) {
		if other != m.n {
			code := CodeAccountExists
			if m.n.isGroup() {
				code = CodeGroupExists
			}
			e := failAttr(code, KindExists, m.n.dn(), "sAMAccountName", "the account name is in use")
			e.Value = name
			return e
		}
	}
	return nil
}

package directory

import (
	"fmt"
	"slices"
)

// Rights are access rights on a directory object.
type Rights uint32

// The rights that are checked, with their values in an access mask.
const (
	RightCreateChild   Rights = 0x1
	RightDeleteChild   Rights = 0x2
	RightReadProperty  Rights = 0x10
	RightWriteProperty Rights = 0x20
	RightDeleteTree    Rights = 0x40
	RightControlAccess Rights = 0x100
	RightDelete        Rights = 0x10000
	RightReadControl   Rights = 0x20000
	RightWriteDacl     Rights = 0x40000
)

// ACE is a Deny entry of an access list. There are no Allow entries, because callers have
// full control by default.
type ACE struct {
	Trustee    SID
	Rights     Rights
	ObjectType GUID // limits the ACE to one control access right; zero means all
	Inherit    bool // also applies to all objects below
}

// String returns a text such as "Deny S-1-1-0 0x10040".
func (a ACE) String() string {
	s := fmt.Sprintf("Deny %s %#x", a.Trustee, uint32(a.Rights))
	if !a.ObjectType.IsZero() {
		s += " " + a.ObjectType.String()
	}
	if a.Inherit {
		s += " inherit"
	}
	return s
}

// Well-known trustees.
var (
	Everyone      = mustSID("S-1-1-0")
	Self          = mustSID("S-1-5-10")
	Authenticated = mustSID("S-1-5-11")
)

// ChangePasswordRight is the control access right User-Change-Password.
var ChangePasswordRight = mustGUID("ab721a53-1e2f-11d0-9819-00aa0040529b")

func mustSID(s string) SID   { return must(ParseSID, s) }
func mustGUID(s string) GUID { return must(ParseGUID, s) }

// must parses a constant.
func must[T any](parse func(string) (T, bool), s string) T {
	v, ok := parse(s)
	if !ok {
		panic("directory: malformed constant " + s)
	}
	return v
}

// denied reports whether an ACE of the node, its own or inherited, denies a right to the caller.
func (n *node) denied(right Rights) bool {
	for m := n; m != nil; m = m.parent {
		for _, a := range m.acl {
			if (m == n || a.Inherit) && a.ObjectType.IsZero() && a.Rights&right != 0 &&
				(a.Trustee == Everyone || a.Trustee == Authenticated) {
				return true
			}
		}
	}
	return false
}

// removable reports whether the caller may delete the node or move it away. Either Delete on the node
// or DeleteChild on its parent suffices, so both must be denied to prevent it (facts E37, E38, E41).
func (n *node) removable() bool {
	return !n.denied(RightDelete) || n.parent != nil && !n.parent.denied(RightDeleteChild)
}

// tellsSecrets reports whether the caller may read confidential attributes, which requires the control
// access right in addition to the right to read (facts S40). Without it they appear to have no value.
func (n *node) tellsSecrets() bool { return !n.denied(RightReadProperty | RightControlAccess) }

func (n *node) writable() bool { return !n.denied(RightWriteProperty) }

func hasACE(acl []ACE, want ACE) bool {
	return slices.ContainsFunc(acl, func(a ACE) bool {
		return a.Trustee == want.Trustee && a.Rights&want.Rights == want.Rights && a.ObjectType == want.ObjectType
	})
}

// withACE returns a copy of acl with an ACE added, or merged with an ACE for the same trustee and type.
func withACE(acl []ACE, add ACE) []ACE {
	out := slices.Clone(acl)
	for i := range out {
		if out[i].Trustee == add.Trustee && out[i].ObjectType == add.ObjectType && out[i].Inherit == add.Inherit {
			out[i].Rights |= add.Rights
			return out
		}
	}
	return append(out, add)
}

// withoutACE returns a copy of acl without the rights of an ACE.
func withoutACE(acl []ACE, drop ACE) []ACE {
	var out []ACE
	for _, a := range acl {
		if a.Trustee == drop.Trustee && a.ObjectType == drop.ObjectType && !a.Inherit {
			a.Rights &^= drop.Rights
		}
		if a.Rights != 0 {
			out = append(out, a)
		}
	}
	return out
}

var (
	ownProtection    = ACE{Trustee: Everyone, Rights: RightDelete | RightDeleteTree}
	parentProtection = ACE{Trustee: Everyone, Rights: RightDeleteChild}
)

// isProtected reports whether both ACEs of the protection are set (facts E37).
func (n *node) isProtected() bool {
	return hasACE(n.acl, ownProtection) && n.parent != nil && hasACE(n.parent.acl, parentProtection)
}

// readable reports whether the caller may read the access lists that implement the protection.
func (n *node) readable() bool {
	return !n.denied(RightReadControl) && (n.parent == nil || !n.parent.denied(RightReadControl))
}

// protect sets or removes the protection (facts E37-E39). Removing it changes nothing unless both ACEs are
// set, even if the object's own ACE is set.
func (t *tx) protect(n *node, on bool) *Error {
	if !n.readable() {
		return fail(CodeUnspecified, KindDenied, n.dn(),
			"insufficient permissions to read the protection of the object")
	}
	if !on && !n.isProtected() {
		return nil
	}
	if n.denied(RightWriteDacl) || on && n.parent != nil && n.parent.denied(RightWriteDacl) {
		return fail(CodeUnspecified, KindDenied, n.dn(), "insufficient permissions to protect the object")
	}
	if !on {
		t.setACL(n, withoutACE(n.acl, ownProtection))
		return nil
	}
	if n.parent == nil {
		return fail(CodeUnspecified, KindDenied, n.dn(), "the domain's root has no parent to protect it")
	}
	if !hasACE(n.acl, ownProtection) {
		t.setACL(n, withACE(n.acl, ownProtection))
	}
	if !hasACE(n.parent.acl, parentProtection) {
		t.setACL(n.parent, withACE(n.parent.acl, parentProtection))
	}
	return nil
}

var cannotChange = []ACE{
	{Trustee: Everyone, Rights: RightControlAccess, ObjectType: ChangePasswordRight},
	{Trustee: Self, Rights: RightControlAccess, ObjectType: ChangePasswordRight},
}

func (n *node) cannotChangePassword() bool {
	return hasACE(n.acl, cannotChange[0]) && hasACE(n.acl, cannotChange[1])
}

func (t *tx) denyPasswordChange(n *node, deny bool) *Error {
	if n.denied(RightWriteDacl) {
		return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to change the access list")
	}
	acl := n.acl
	for _, a := range cannotChange {
		if deny && !hasACE(acl, a) {
			acl = withACE(acl, a)
		}
		if !deny && hasACE(acl, a) {
			acl = withoutACE(acl, a)
		}
	}
	if !slices.Equal(acl, n.acl) {
		t.setACL(n, acl)
	}
	return nil
}

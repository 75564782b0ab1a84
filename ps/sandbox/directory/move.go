package directory

import "context"

// Rename changes the RDN value, given unescaped (facts C21). A change of case is a write;
// setting an equal name is not (facts E12). Protected objects can be renamed (facts E40). An
// existing name is 8305, a critical system object 8245.
func (c *DC) Rename(ctx context.Context, ref, newName string) error {
	return c.write(ctx, "rename", ref, func(t *tx, n *node) *Error {
		if newName == "" {
			return fail(CodeNaming, KindConstraint, n.dn(), "an empty name")
		}
		return t.relocate(n, n.parent, RDN{n.rdnType, newName})
	})
}

// Move moves an object, with all objects below it, to another parent (a reference). Links are kept. Errors:
// a protected object 5 (facts E40), a parent in the moved tree 8245, an existing name 8305, a missing
// parent 8329, a parent of the wrong class 8345, another domain 8235, a critical system object 8245.
func (c *DC) Move(ctx context.Context, ref, newParent string) error {
	return c.write(ctx, "move", ref, func(t *tx, n *node) *Error { return t.move(n, newParent) })
}

func (t *tx) move(n *node, newParent string) *Error {
	parent, err := t.rep.resolve(newParent)
	if err != nil {
		if err.Kind == KindNotFound {
			err.Code, err.Kind = CodeNoParent, KindNoParent
		}
		return err
	}
	if parent.under(n) {
		return fail(CodeUnwilling, KindUnwilling, n.dn(), "an object cannot be moved below itself")
	}
	if parent == n.parent {
		return nil
	}
	return t.relocate(n, parent, RDN{n.rdnType, n.rdn})
}

// relocate renames or moves an object.
func (t *tx) relocate(n, parent *node, name RDN) *Error {
	if n.parent == nil {
		return fail(CodeUnwilling, KindUnwilling, n.dn(), "the domain's root cannot be moved or renamed")
	}
	if n.parent == parent && n.rdn == name.Value {
		return nil
	}
	if n.isSystem(t.rep) {
		return fail(CodeUnwilling, KindUnwilling, n.dn(), "a system object cannot be moved or renamed")
	}
	if err := t.checkName(n, name); err != nil {
		return err
	}
	moving := n.parent != parent
	switch {
	case moving && !n.removable():
		return fail(CodeAccessDenied, KindDenied, n.dn(), "the object is protected from accidental deletion")
	case moving && parent.denied(RightCreateChild):
		return fail(CodeInsufficientRights, KindDenied, parent.dn(), "no right to create objects in the container")
	case !n.writable():
		return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to write the name")
	case moving && !n.class.mayLieUnder(parent.class):
		return fail(CodeIllegalSuperior, KindConstraint, n.dn(), "a %s cannot be below a %s", n.class.Name,
			parent.class.Name)
	}
	if other := parent.named(name.Value); other != nil && other != n {
		return fail(CodeNameExists, KindExists, n.dn(), "the name is in use in the container")
	}
	t.place(n, parent, name)
	return nil
}

// isSystem reports whether the object is a system object that cannot be renamed or moved. It returns false
// for built-in users and groups outside of the Builtin container.
func (n *node) isSystem(r *replica) bool {
	if n.parent == nil || n == r.bin || n.parent.is("builtinDomain") {
		return true
	}
	return n.first(r.sch.critical) == "TRUE" && !n.isPrincipal()
}

// Delete deletes an object without children. The object moves to CN=Deleted Objects and keeps its GUID (facts
// H20) and, with the Recycle Bin, nearly all attributes. An object with children is 8213, a protected one 5,
// a critical system object or a primary group 8398, a built-in account (Administrator, Guest, krbtgt) or
// group 1371.
func (c *DC) Delete(ctx context.Context, ref string) error {
	return c.write(ctx, "delete", ref, (*tx).delete)
}

func (t *tx) delete(n *node) *Error {
	if err := t.mayDelete(n); err != nil {
		return err
	}
	if !n.removable() {
		return fail(CodeAccessDenied, KindDenied, n.dn(), "the object is protected from accidental deletion")
	}
	if len(n.kids.list) > 0 {
		return fail(CodeNonLeaf, KindNotEmpty, n.dn(), "it has %d children", len(n.kids.list))
	}
	t.bury(n)
	return nil
}

// mayDelete returns an error for objects that can never be deleted.
func (t *tx) mayDelete(n *node) *Error {
	rid := n.sid.RID()
	switch {
	case n.parent == nil || n == t.rep.bin:
		return fail(CodeCannotDelete, KindProtected, n.dn(), "a system object")
	case n.isPrincipal() && (n.sid.Domain() == builtinSID || n.sid.Domain() == t.rep.dom.sid && rid < 1000):
		return fail(CodeSpecialAccount, KindProtected, n.dn(), "a built-in account or group")
	case n.first(t.rep.sch.critical) == "TRUE" || n.int(t.rep.sch.systemFlags, 0)&0x80000000 != 0:
		return fail(CodeCannotDelete, KindProtected, n.dn(), "a critical system object")
	case t.rep.wellKnown(n):
		return fail(CodeCannotDelete, KindProtected, n.dn(), "a default container of the domain")
	case n.isGroup() && t.rep.hasPrimaryMembers(n):
		return fail(CodeCannotDelete, KindProtected, n.dn(), "it is someone's primary group")
	}
	return nil
}

// mayDeleteWith is like mayDelete, for an object in a tree that is deleted as a whole. A
// primary group can be deleted together with all its members.
func (t *tx) mayDeleteWith(tree, n *node) *Error {
	err := t.mayDelete(n)
	if err == nil || !n.isGroup() || n.first(t.rep.sch.critical) == "TRUE" || !t.rep.hasPrimaryMembers(n) {
		return err
	}
	for _, m := range t.rep.having(t.rep.sch.primaryGroup, itoa(int64(n.sid.RID()))) {
		if !m.under(tree) {
			return err
		}
	}
	return nil
}

// DeleteTree deletes an object and all objects below it, as the tree-delete control does.
// The right DeleteTree is checked only on the root of the tree (facts E43): a protected root
// is 5, but protected children are deleted. A critical object in the tree is 8560, and
// nothing is deleted (the real directory may delete a part).
func (c *DC) DeleteTree(ctx context.Context, ref string) error {
	return c.write(ctx, "delete", ref, (*tx).deleteTree)
}

func (t *tx) deleteTree(n *node) *Error {
	if err := t.mayDelete(n); err != nil {
		return err
	}
	if n.denied(RightDeleteTree) {
		return fail(CodeAccessDenied, KindDenied, n.dn(), "the object is protected from accidental deletion")
	}
	nodes := subtree(n)
	for _, m := range nodes[1:] {
		if bad := t.mayDeleteWith(n, m); bad != nil {
			return fail(CodeCriticalObject, KindProtected, m.dn(), "%s", bad.Detail)
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		t.bury(nodes[i])
	}
	return nil
}

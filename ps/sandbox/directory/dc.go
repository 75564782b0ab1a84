package directory

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Scope is the scope of a search.
type Scope uint8

// Search scopes.
const (
	ScopeSubtree  Scope = iota // the base and everything below
	ScopeOneLevel              // the base's children
	ScopeBase                  // the base itself
)

// SearchRequest describes a search.
type SearchRequest struct {
	// Base is a reference (DN, <GUID=...>, <SID=...>); "" is the domain's root.
	Base  string
	Scope Scope
	// Filter is an RFC 4515 filter; "" matches everything. Compiled, if not nil,
	// is used instead (see CompileFilter and AllOf).
	Filter   string
	Compiled *Filter
	// Attributes are the requested attributes. None, or "*", means all stored attributes, including linked ones.
	// Computed attributes must be requested by name; names may be combined with "*". Unknown names are ignored,
	// as in LDAP; use Schema.Attribute to check names. tokenGroups is computed in searches of ScopeBase only.
	Attributes []string
	// Selected, if not nil, is used instead of Attributes, see Schema.Select.
	Selected *Selection
	// Limit is the maximum number of results; 0 means unlimited. Exceeding it is
	// not an error.
	Limit int
	// Deleted includes tombstones, as the Show Deleted control does.
	Deleted bool
	// Catalog reads the global catalog: all naming contexts, with the attributes that it
	// contains. A Base of "" is the forest.
	Catalog bool
}

// Values is an attribute with values for Add or Change.
//
// A value is a string, []byte, bool, integer, time.Time, GUID, SID or fmt.Stringer, if the syntax of the
// attribute permits that. Strings in LDAP form are accepted for every syntax ("TRUE", "123", a DN,
// "20260101000000.0Z", S-1-..., a GUID). An attribute of DN syntax also accepts "<GUID=...>" and "<SID=...>".
type Values struct {
	Name   string
	Values []any
}

// Attr returns Values.
func Attr(name string, values ...any) Values { return Values{name, values} }

// ChangeOp is the operation of a Change.
type ChangeOp uint8

// Change operations.
const (
	OpAdd     ChangeOp = iota // adds the values
	OpDelete                  // removes the values, or all if none are given
	OpReplace                 // sets exactly the values; none clears the attribute
	OpClear                   // removes all values, if there are any
)

// Change is one part of a Modify.
type Change struct {
	Op     ChangeOp
	Name   string
	Values []any
}

// ModifyOptions are options of Modify.
type ModifyOptions struct {
	// Permissive ignores adding an existing value and removing an absent one, as the Permissive
	// Modify control does (facts E25).
	Permissive bool
}

// DC is a domain controller. All operations fail with KindServerDown while it is
// switched off.
type DC struct {
	domain  *Domain
	name    string
	host    string // fully qualified
	account GUID
	index   int
	rep     *replica

	// NoCatalog removes the global catalog from the controller.
	NoCatalog atomic.Bool

	off      atomic.Bool
	readOnly atomic.Bool

	connMu sync.Mutex
	conns  map[string]int // by account, folded
}

// Name returns the short name, e.g. "dc1".
func (c *DC) Name() string { return c.name }

// HostName returns the fully qualified name, e.g. "dc1.corp.example": the
// dNSHostName that the account was loaded with.
func (c *DC) HostName() string { return c.host }

// Account returns the objectGUID of the computer account, or the zero GUID if the domain was
// loaded without one.
func (c *DC) Account() GUID { return c.account }

// Domain returns the domain of the controller.
func (c *DC) Domain() *Domain { return c.domain }

// Site returns the Active Directory site, "Default-First-Site-Name".
func (c *DC) Site() string { return "Default-First-Site-Name" }

// Alive reports whether the controller is switched on.
func (c *DC) Alive() bool { return !c.off.Load() }

// SetAlive switches the controller on or off. When it is switched on again, it receives the
// changes of the other controllers.
func (c *DC) SetAlive(alive bool) { c.off.Store(!alive) }

// Writable reports whether the controller accepts writes.
func (c *DC) Writable() bool { return !c.readOnly.Load() }

// SetWritable makes the controller writable or read-only. Writes to a read-only controller fail with 8595.
func (c *DC) SetWritable(writable bool) { c.readOnly.Store(!writable) }

// down returns the error of a controller that is switched off.
func (c *DC) down(op string) *Error {
	return &Error{Code: CodeUnspecified, Kind: KindServerDown, Op: op, DN: c.HostName(),
		Detail: "the domain controller does not answer"}
}

// Connect takes one of the Options.MaxConnections ADWS connections of an account. The error
// is KindBusy with a fault and no code if none is free (facts D14). release returns the
// connection; calling it again has no effect.
func (c *DC) Connect(account string) (release func(), err error) {
	if !c.Alive() {
		return nil, c.down("connect")
	}
	limit := c.domain.opts.MaxConnections
	if limit == 0 {
		limit = 5
	}
	key := fold(account)
	c.connMu.Lock()
	defer c.connMu.Unlock()
	if c.conns[key] >= limit {
		return nil, &Error{Fault: "EndpointUnavailable", Kind: KindBusy, Op: "connect", DN: c.HostName(),
			Detail: "the account has no connection left"}
	}
	if c.conns == nil {
		c.conns = map[string]int{}
	}
	c.conns[key]++
	var once sync.Once
	return func() {
		once.Do(func() {
			c.connMu.Lock()
			defer c.connMu.Unlock()
			if c.conns[key]--; c.conns[key] == 0 {
				delete(c.conns, key)
			}
		})
	}, nil
}

// Connections returns the number of connections that the account holds.
func (c *DC) Connections(account string) int {
	c.connMu.Lock()
	defer c.connMu.Unlock()
	return c.conns[fold(account)]
}

// Get reads one object. Attributes are as in SearchRequest, including tokenGroups.
// The error is KindNotFound if the object does not exist, with 8333 for GUIDs and
// SIDs, and 8240 and BestMatch for DNs.
func (c *DC) Get(ctx context.Context, ref string, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) { return r.resolve(ref) })
}

// ByGUID is Get by objectGUID.
func (c *DC) ByGUID(ctx context.Context, g GUID, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) {
		if n := r.byGUID[g]; n != nil && !n.deleted && !abroad(r, n) {
			return n, nil
		}
		return nil, fail(CodeNotFound, KindNotFound, g.Ref(), "no such object")
	})
}

// BySID is Get by objectSid.
func (c *DC) BySID(ctx context.Context, s SID, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) {
		if n := r.bySID[s]; n != nil && !s.IsZero() && !abroad(r, n) {
			return n, nil
		}
		return nil, fail(CodeNotFound, KindNotFound, s.Ref(), "no such object")
	})
}

func (c *DC) read(
	ctx context.Context, attributes []string, find func(*replica) (*node, *Error),
) (*Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, release, err := c.view("search")
	if err != nil {
		return nil, err
	}
	defer release()
	v.base = true
	n, e := find(v.rep)
	if e != nil {
		e.Op = "search"
		return nil, e
	}
	return v.object(n, c.domain.schema.Select(attributes...)), nil
}

// ResetPassword sets a password. The policy on length and complexity applies, but not the policy on history
// and age (facts E13). ResetPassword sets pwdLastSet to now, and neither unlocks nor enables the account.
// Errors: 1325 violates the policy, 8245 the object cannot have a password.
func (c *DC) ResetPassword(ctx context.Context, ref, password string) error {
	return c.write(ctx, "password", ref, func(t *tx, n *node) *Error {
		if !n.writable() {
			return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to write properties")
		}
		return t.setPassword(n, n.int(t.rep.sch.uac, 0), password)
	})
}

// ChangePassword changes a password in the same way as the user. The old password must match, and the whole
// policy applies. Errors: 86 wrong old password, or the account was loaded without a password; 1325 violates
// the policy.
func (c *DC) ChangePassword(ctx context.Context, ref, old, new string) error {
	return c.write(ctx, "password", ref, func(t *tx, n *node) *Error { return t.changePassword(n, old, new) })
}

// Protected reports whether the object is protected from accidental deletion, that
// is, whether it and its parent have the Deny ACEs (facts E37). Without the right to
// read an access list the error is KindDenied with code 0.
func (c *DC) Protected(ctx context.Context, ref string) (bool, error) {
	on := false
	_, err := c.read(ctx, []string{"name"}, func(r *replica) (*node, *Error) {
		n, e := r.resolve(ref)
		if e == nil && !n.readable() {
			e = fail(CodeUnspecified, KindDenied, n.dn(),
				"insufficient permissions to read the protection of the object")
		}
		if e == nil {
			on = n.isProtected()
		}
		return n, e
	})
	return on, err
}

// SetProtected sets or removes the protection. Setting it denies Everyone Delete
// and DeleteTree on the object and DeleteChild on its parent; removing it only
// changes the object (facts E37, E38). Without the right to change an access list
// the error is KindDenied with code 0 (facts E39).
func (c *DC) SetProtected(ctx context.Context, ref string, protect bool) error {
	return c.write(ctx, "protect", ref, func(t *tx, n *node) *Error { return t.protect(n, protect) })
}

// CannotChangePassword reports whether SELF and Everyone are denied the right to
// change the password (facts H15).
func (c *DC) CannotChangePassword(ctx context.Context, ref string) (bool, error) {
	return c.ask(ctx, ref, (*node).cannotChangePassword)
}

// SetCannotChangePassword denies SELF and Everyone the right to change the
// password, or removes these ACEs.
func (c *DC) SetCannotChangePassword(ctx context.Context, ref string, deny bool) error {
	return c.write(ctx, "protect", ref, func(t *tx, n *node) *Error { return t.denyPasswordChange(n, deny) })
}

func (c *DC) ask(ctx context.Context, ref string, f func(*node) bool) (bool, error) {
	var answer bool
	_, err := c.read(ctx, []string{"name"}, func(r *replica) (*node, *Error) {
		n, e := r.resolve(ref)
		if e == nil {
			answer = f(n)
		}
		return n, e
	})
	return answer, err
}

// ACL returns the object's own Deny entries, without inherited ones.
func (c *DC) ACL(ctx context.Context, ref string) ([]ACE, error) {
	var acl []ACE
	_, err := c.ask(ctx, ref, func(n *node) bool {
		acl = append(acl, n.acl...)
		return true
	})
	return acl, err
}

// SetACL replaces the object's own Deny entries; it needs no rights. The denied
// rights affect all callers:
//
//   - WriteProperty: Modify, Rename and ResetPassword fail with 8344
//   - CreateChild: Add and Move fail with 8344
//   - Delete on the object and DeleteChild on its parent: Delete and Move fail
//     with 5
//   - DeleteTree: DeleteTree fails with 5
//   - WriteDacl: SetProtected fails
//   - ReadControl: Protected and SetProtected fail, on the object and its children
func (c *DC) SetACL(ctx context.Context, ref string, acl []ACE) error {
	return c.write(ctx, "protect", ref, func(t *tx, n *node) *Error {
		t.setACL(n, append([]ACE(nil), acl...))
		return nil
	})
}

// SetLastLogon sets lastLogon on this DC only (facts E17a). It is not recorded in
// the journal.
func (c *DC) SetLastLogon(ctx context.Context, ref string, at time.Time) error {
	return c.write(ctx, "logon", ref, func(t *tx, n *node) *Error {
		n.localFor(c.index, len(c.domain.dcs)).lastLogon = ToFileTime(at)
		return nil
	})
}

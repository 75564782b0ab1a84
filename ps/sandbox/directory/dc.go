package directory

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Scope is how far below its base a search looks.
type Scope uint8

// Search scopes.
const (
	ScopeSubtree  Scope = iota // the base and everything below
	ScopeOneLevel              // the base's children
	ScopeBase                  // the base itself
)

// SearchRequest says what to look for.
type SearchRequest struct {
	// Base is a reference (DN, <GUID=...>, <SID=...>); "" is the domain's root.
	Base  string
	Scope Scope
	// Filter is an RFC 4515 filter; "" matches everything. Compiled wins over
	// it when both are given (see CompileFilter and AllOf).
	Filter   string
	Compiled *Filter
	// Attributes are the names wanted in the copies. nil or "*" means all
	// stored attributes, including linked ones; computed ones (see Schema)
	// come only by name and may stand beside "*". Unknown names are ignored,
	// as LDAP does; use Schema.Attribute to check names. distinguishedName,
	// objectClass and objectGUID are always in Object's own fields, but in
	// its attributes only when asked for. tokenGroups is computed only in
	// searches of ScopeBase.
	Attributes []string
	// Selected are attributes looked up before, see Schema.Select. It wins over
	// Attributes when both are given.
	Selected *Selection
	// Limit ends the search after that many hits; 0 means no limit. More hits
	// than that are not an error.
	Limit int
	// Deleted finds tombstones too (the Show Deleted control).
	Deleted bool
}

// Values is one attribute with values for Add, or a Change.
//
// A value is a string, []byte, bool, any integer type, time.Time, GUID, SID,
// or a fmt.Stringer; the attribute's syntax decides what fits. Text is
// accepted for every syntax in LDAP's own form ("TRUE", "123", a DN,
// "20260101000000.0Z", S-1-..., a GUID). A DN-valued one also takes
// "<GUID=...>" and "<SID=...>".
type Values struct {
	Name   string
	Values []any
}

// Attr makes Values.
func Attr(name string, values ...any) Values { return Values{name, values} }

// ChangeOp is what a Change does.
type ChangeOp uint8

// Change operations.
const (
	OpAdd     ChangeOp = iota // adds values; the attribute may be absent
	OpDelete                  // removes these values; without values: all
	OpReplace                 // sets exactly these values; none: removes all, absent or not
	OpClear                   // removes all values; absent is fine
)

// Change is one part of a Modify.
type Change struct {
	Op     ChangeOp
	Name   string
	Values []any
}

// ModifyOptions of Modify.
type ModifyOptions struct {
	// Permissive makes adding a present value and removing an absent one a
	// success without change (the Permissive Modify control, facts E25).
	Permissive bool
}

// DC is one domain controller: its own view of the domain, and every operation
// on it. All methods fail with KindServerDown while it is switched off.
type DC struct {
	domain *Domain
	name   string
	host   string // with the domain's name
	index  int
	rep    *replica

	off      atomic.Bool
	readOnly atomic.Bool

	connMu sync.Mutex
	conns  map[string]int // by account, folded
}

// Name is the short name, e.g. "dc1".
func (c *DC) Name() string { return c.name }

// HostName is the full DNS name, e.g. "dc1.corp.example".
func (c *DC) HostName() string { return c.host }

// Domain is the domain the controller belongs to.
func (c *DC) Domain() *Domain { return c.domain }

// Site is the Active Directory site; "Default-First-Site-Name".
func (c *DC) Site() string { return "Default-First-Site-Name" }

// Alive tells whether the controller answers.
func (c *DC) Alive() bool { return !c.off.Load() }

// SetAlive switches the controller off or on. While off it answers nothing;
// what the others wrote meanwhile reaches it when it is on again.
func (c *DC) SetAlive(alive bool) { c.off.Store(!alive) }

// Writable tells whether it accepts writes.
func (c *DC) Writable() bool { return !c.readOnly.Load() }

// SetWritable makes it read-only (writes fail with 8595) or writable.
func (c *DC) SetWritable(writable bool) { c.readOnly.Store(!writable) }

// down is the error of a DC that does not answer.
func (c *DC) down(op string) *Error {
	return &Error{Code: CodeUnspecified, Kind: KindServerDown, Op: op, DN: c.HostName(), Detail: "the domain controller does not answer"}
}

// Connect takes one of the account's connections (ADWS allows
// Options.MaxConnections on each DC). It fails with KindBusy and 1246 when
// none is free. release frees it; calling that twice is harmless.
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
		return nil, &Error{Code: CodeTooManyConnections, Kind: KindBusy, Op: "connect", DN: c.HostName(), Detail: "the account has all connections it may have"}
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

// Connections is how many the account holds on this DC.
func (c *DC) Connections(account string) int {
	c.connMu.Lock()
	defer c.connMu.Unlock()
	return c.conns[fold(account)]
}

// Get reads one object by reference. Attributes as in SearchRequest, tokenGroups
// included. An absent one is KindNotFound: 8333 for GUIDs and SIDs, 8240 for
// DNs, with BestMatch.
func (c *DC) Get(ctx context.Context, ref string, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) { return r.resolve(ref) })
}

// ByGUID is Get by objectGUID.
func (c *DC) ByGUID(ctx context.Context, g GUID, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) {
		if n := r.byGUID[g]; n != nil && !n.deleted {
			return n, nil
		}
		return nil, fail(CodeNotFound, KindNotFound, g.Ref(), "no such object")
	})
}

// BySID is Get by objectSid.
func (c *DC) BySID(ctx context.Context, s SID, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) {
		if n := r.bySID[s]; n != nil && !s.IsZero() {
			return n, nil
		}
		return nil, fail(CodeNotFound, KindNotFound, s.Ref(), "no such object")
	})
}

// BySAM is Get by sAMAccountName, exactly as stored but for case: computers
// need their "$" (facts E51). Absent: 8333.
func (c *DC) BySAM(ctx context.Context, name string, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) {
		if n := r.bySAM(name); n != nil {
			return n, nil
		}
		return nil, fail(CodeNotFound, KindNotFound, "", "no account %q", name)
	})
}

func (c *DC) read(ctx context.Context, attributes []string, find func(*replica) (*node, *Error)) (*Object, error) {
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

// write runs one change of the object a reference names.
func (c *DC) write(ctx context.Context, op, ref string, f func(t *tx, n *node) *Error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, e := c.begin(op)
	if e != nil {
		return e
	}
	n, e := t.rep.resolve(ref)
	if e == nil {
		e = f(t, n)
	}
	return t.end(e)
}

// ResetPassword sets a new password under the policy (length and complexity;
// not history and age, facts E13): 1325. It sets pwdLastSet to now and neither
// unlocks nor enables. 8245 for objects without passwords.
func (c *DC) ResetPassword(ctx context.Context, ref, password string) error {
	return c.write(ctx, "password", ref, func(t *tx, n *node) *Error {
		if !n.writable() {
			return fail(CodeInsufficientRights, KindDenied, n.dn(), "no right to write properties")
		}
		return t.setPassword(n, password)
	})
}

// ChangePassword is what a user does: the old one must be right (86; it is
// wrong too when the account came from a file that has no passwords), and the
// whole policy holds (1325).
func (c *DC) ChangePassword(ctx context.Context, ref, old, new string) error {
	return c.write(ctx, "password", ref, func(t *tx, n *node) *Error { return t.changePassword(n, old, new) })
}

// Unlock ends a lockout; on an unlocked account it is a success without a
// write (facts E15).
func (c *DC) Unlock(ctx context.Context, ref string) error {
	return c.Modify(ctx, ref, []Change{{Op: OpReplace, Name: "lockoutTime", Values: []any{0}}}, ModifyOptions{})
}

// Protected tells whether the object is protected from accidental deletion:
// its own two Deny ACEs and the parent's are all there (facts E37).
func (c *DC) Protected(ctx context.Context, ref string) (bool, error) {
	return c.ask(ctx, ref, (*node).isProtected)
}

// SetProtected sets or lifts protection. Setting adds Deny Everyone Delete and
// DeleteTree to the object and Deny Everyone DeleteChild to its parent;
// lifting removes them from the object only (facts E37, E38). Without the
// right to change the access lists: KindDenied with code 0 (facts E39).
func (c *DC) SetProtected(ctx context.Context, ref string, protect bool) error {
	return c.write(ctx, "protect", ref, func(t *tx, n *node) *Error { return t.protect(n, protect) })
}

// CannotChangePassword tells whether the two Deny ACEs (SELF and Everyone) on
// the Change Password right are there (facts H15).
func (c *DC) CannotChangePassword(ctx context.Context, ref string) (bool, error) {
	return c.ask(ctx, ref, (*node).cannotChangePassword)
}

// SetCannotChangePassword adds or removes them.
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

// ACL gives the object's own Deny entries.
func (c *DC) ACL(ctx context.Context, ref string) ([]ACE, error) {
	var acl []ACE
	_, err := c.ask(ctx, ref, func(n *node) bool {
		acl = append(acl, n.acl...)
		return true
	})
	return acl, err
}

// SetACL replaces them. It is the way to take rights away from the accounts
// that use the store: a denied WriteProperty makes Modify fail with 8344, a
// denied CreateChild Add and Move, a denied Delete on the object together with
// a denied DeleteChild on its parent Delete (5), a denied DeleteTree
// DeleteTree (5), a denied WriteDacl protection. SetACL itself is not checked.
func (c *DC) SetACL(ctx context.Context, ref string, acl []ACE) error {
	return c.write(ctx, "protect", ref, func(t *tx, n *node) *Error {
		t.setACL(n, append([]ACE(nil), acl...))
		return nil
	})
}

// SetLastLogon writes what only this DC knows (facts E17a). For set-up and
// tests: clients cannot write it, and it is no entry of the journal.
func (c *DC) SetLastLogon(ctx context.Context, ref string, at time.Time) error {
	return c.write(ctx, "logon", ref, func(t *tx, n *node) *Error {
		n.localFor(c.index, len(c.domain.dcs)).lastLogon = ToFileTime(at)
		return nil
	})
}

package call

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Authorize requires all scopes. Every credential has the empty scope.
func Authorize(p *identity.Principal, scopes ...identity.Scope) error {
	for _, scope := range scopes {
		if scope != "" && !p.Has(scope) {
			failed := problem.New(schema.Forbidden, "This needs the scope '%s', which the credential does not have.",
				scope)
			failed.Reason = problem.ReasonScope
			return failed
		}
	}
	return nil
}

// AuthorizeRow requires the scope of a row, or one of its alternatives.
func AuthorizeRow(p *identity.Principal, op *ops.Operation) error {
	if op.Scope == "" || slices.ContainsFunc(op.Or, p.Has) {
		return nil
	}
	return Authorize(p, op.Scope)
}

// Able returns the roles that have the scope of a row, or the first role if none has it, so that the refusal
// is recorded in that role. It does not change roles.
func Able(roles []*identity.Principal, op *ops.Operation) []*identity.Principal {
	var able []*identity.Principal
	if len(roles) > 1 {
		for _, role := range roles {
			if AuthorizeRow(role, op) == nil {
				able = append(able, role)
			}
		}
	}
	if len(able) == 0 {
		return roles[:1]
	}
	return able
}

// PassedOn reports whether a call that was refused in one role of its caller may be made in another. If so,
// nothing was done.
func PassedOn(err error) bool {
	if err == nil || errors.Is(err, ErrAgain) {
		return false
	}
	failed := problem.Of(err)
	switch failed.Code.Status() {
	case http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return cmp.Or(failed.Outcome, ps.OutcomeNone) == ps.OutcomeNone
	}
	return false
}

// A person's roles are not merged, so one of them must allow the whole call. A list, however, shows the
// objects of all roles. Roles that differ only in one kind of limits together show the same objects as a
// single role with the union of these limits, so they are combined into one role for reading.

// Together returns the roles in which a row is called. Each of them allows the call. For a list
// that only reads, as many roles as possible are combined.
func (t Table) Together(op *ops.Operation, roles []*identity.Principal) []*identity.Principal {
	if len(roles) < 2 || op.Reply.Mark != ops.List || op.Effect.Writes() {
		return roles
	}
	var left []*identity.Principal
	for _, role := range roles {
		at := -1
		var both *identity.Principal
		for i := range left {
			if both = t.both(op, left[i], role); both != nil {
				at = i
				break
			}
		}
		if at < 0 {
			left = append(left, role)
			continue
		}
		left[at] = both
	}
	return left
}

// both returns a role that shows exactly the objects that two roles show together, or nil if there is none.
func (t Table) both(op *ops.Operation, a, b *identity.Principal) *identity.Principal {
	scopes := t.asked(op)
	if slices.ContainsFunc(scopes, func(s identity.Scope) bool { return a.Has(s) != b.Has(s) }) {
		return nil
	}
	limits, ok := t.limitsOf(op, a.Limits, b.Limits)
	if !ok {
		return nil
	}
	both := *a
	both.Limits = limits
	both.Scopes = slices.DeleteFunc(scopes, func(s identity.Scope) bool { return !a.Has(s) })
	return &both
}

// asked returns the scopes on which the answer of a row depends.
func (t Table) asked(op *ops.Operation) []identity.Scope {
	switch {
	case op.Local, op.Beside.Row != "", t.takes(op.Script, "CreatableType"), t.takes(op.Script, "Privileged"):
		return slices.Clone(identity.Scopes())
	}
	return append([]identity.Scope{op.Scope}, op.Or...)
}

// limitsOf returns the combined limits of two roles. ok is false if the roles differ in two kinds of limits.
// A role with the limits of both would then show an object that is inside one kind of limits of the first
// role and inside the other kind of the second.
func (t Table) limitsOf(op *ops.Operation, a, b identity.Limits) (both identity.Limits, ok bool) {
	different := 0
	join := func(argument string, a, b []string) []string {
		if !op.Local && !t.takes(op.Script, argument) {
			return nil
		}
		if len(a) == 0 || len(b) == 0 {
			if len(a)+len(b) > 0 {
				different++
			}
			return nil
		}
		all := slices.Clone(a)
		for _, item := range b {
			if !slices.Contains(a, item) {
				all = append(all, item)
			}
		}
		if len(all) > len(a) || len(all) > len(b) {
			different++
		}
		return all
	}
	both = identity.Limits{
		OUs: join("AllowedOU", a.OUs, b.OUs), Zones: join("AllowedZone", a.Zones, b.Zones),
		Groups: join("AllowedGroup", a.Groups, b.Groups), Names: join("AllowedName", a.Names, b.Names),
	}
	return both, different < 2
}

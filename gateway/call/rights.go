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

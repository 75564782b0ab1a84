package call

import (
	"slices"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Authorise requires all scopes. Every credential has the empty scope.
func Authorise(p *identity.Principal, scopes ...identity.Scope) error {
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

// AuthoriseRow requires the scope of a row, or one of its alternatives.
func AuthoriseRow(p *identity.Principal, op *ops.Operation) error {
	if op.Scope == "" || slices.ContainsFunc(op.Or, p.Has) {
		return nil
	}
	return Authorise(p, op.Scope)
}

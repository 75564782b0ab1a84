package call

import (
	"slices"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
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

package call

import (
	"errors"
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Authorise requires all the scopes; any credential has the empty one.
func Authorise(p *identity.Principal, scopes ...identity.Scope) error {
	for _, scope := range scopes {
		if scope != "" && !p.Has(scope) {
			failed := problem.New(schema.Forbidden, "This needs the scope '%s', which the credential does not have.", scope)
			failed.Reason = problem.ReasonScope
			return failed
		}
	}
	return nil
}

// AuthoriseRow requires the scope of a row, or one that does instead.
func AuthoriseRow(p *identity.Principal, op *ops.Operation) error {
	if op.Scope == "" || slices.ContainsFunc(op.Or, p.Has) {
		return nil
	}
	return Authorise(p, op.Scope)
}

// Exceeded returns the error of a call whose caller does too much, an [*identity.Exceeded], or
// whose caller could not be counted.
func Exceeded(err error) error {
	var exceeded *identity.Exceeded
	if !errors.As(err, &exceeded) {
		return problem.Internal(err)
	}
	failed := problem.New(schema.RateLimited, "%s", exceeded.Message)
	failed.Details = []problem.Detail{{Field: exceeded.Limit, Message: "is the limit that was reached"}}
	failed.Reason, failed.RetryAfter = problem.ReasonRate, max(exceeded.RetryAfter, time.Second)
	return failed
}

package transport

import (
	"errors"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// refusals are the reasons of the codes that callers are refused with.
var refusals = map[schema.Code]problem.Reason{
	schema.InvalidRequest:  problem.ReasonMalformed,
	schema.Unauthenticated: problem.ReasonUnauthenticated,
	schema.RateLimited:     problem.ReasonRate,
	schema.Overloaded:      problem.ReasonBusy,
	schema.Unavailable:     problem.ReasonStore,
}

// refusedBy returns the error of a call whose caller is not known, an [*authn.Refusal], or does
// too much.
func refusedBy(err error) error {
	var refused *authn.Refusal
	if !errors.As(err, &refused) {
		return problem.Exceeded(err)
	}
	failed := problem.New(refused.Code, "%s", refused.Message)
	failed.Reason = refusals[refused.Code]
	if refused.Reason != "" {
		failed.Cause = errors.New(refused.Reason)
	}
	switch refused.Code {
	case schema.Unauthenticated:
		failed.Challenge = authn.Challenge
	case schema.RateLimited, schema.Overloaded, schema.Unavailable:
		failed.RetryAfter = max(refused.RetryAfter, time.Second)
	}
	return failed
}

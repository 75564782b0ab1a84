package problem

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"errors"
	"time"
)

// Exceeded returns the error of a call whose caller has exceeded a limit, which is an
// [*identity.Exceeded], or could not be counted.
func Exceeded(err error) error {
	var exceeded *identity.Exceeded
	if !errors.As(err, &exceeded) {
		return Internal(err)
	}
	failed := New(schema.RateLimited, "%s", exceeded.Message)
	failed.Details = []Detail{{Field: exceeded.Limit, Message: "is the limit that was reached"}}
	failed.Reason, failed.RetryAfter = ReasonRate, max(exceeded.RetryAfter, time.Second)
	return failed
}

package problem

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"errors"
	"time"
)

// Exceeded returns the error of a call whose caller does too much, an [*identity.Exceeded], or
// whose caller could not be counted.
func Exceeded(err error) error {
	var exceeded *identity.Exceeded
	if !errors.As(err, &exceeded) {
		return Internal(err)
	}
	failed := New(schema.RateLimited, "%s", exceeded.Message)
	failed.Reason, failed.RetryAfter = ReasonRate, max(exceeded.RetryAfter, time.Second)
	return failed
}

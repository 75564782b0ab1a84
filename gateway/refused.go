package gateway

import (
	"errors"
	"net/http"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// refusedBy returns the error of a request that package auth has refused.
func refusedBy(refused *auth.Refusal) error {
	failed := problem.New(schema.Unauthenticated, "%s", refused.Message)
	failed.Reason = problem.ReasonUnauthenticated
	if refused.Reason != "" {
		failed.Cause = errors.New(refused.Reason)
	}
	switch refused.Status {
	case http.StatusBadRequest:
		failed.Code, failed.Reason = schema.InvalidRequest, problem.ReasonMalformed
	case http.StatusTooManyRequests:
		failed.Code, failed.RetryAfter = schema.RateLimited, max(refused.RetryAfter, time.Second)
		failed.Reason = problem.ReasonRate
	case http.StatusServiceUnavailable:
		failed.Code, failed.RetryAfter = schema.Overloaded, max(refused.RetryAfter, time.Second)
		failed.Reason = problem.ReasonBusy
		if refused.Unavailable {
			failed.Code, failed.Reason = schema.Unavailable, problem.ReasonStore
		}
	default:
		failed.Challenge = auth.Challenge
	}
	return failed
}

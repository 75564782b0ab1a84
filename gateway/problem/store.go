package problem

import (
	"errors"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// StoreRetry is the Retry-After of a call that could not be recorded, or whose data could not be
// read.
const StoreRetry = 5 * time.Second

// AskWhy completes a sentence that refers to /readyz.
const AskWhy = "with the scope " + string(identity.OpsRead) + " also why."

// StoreFault returns the error of a call that was refused because of a fault of the store, with a
// message for people.
func StoreFault(err error, format string, args ...any) error {
	failed := New(storeCode(err), format, args...)
	failed.Cause, failed.RetryAfter = err, StoreRetry
	return failed
}

// HistoryUnavailable returns the error of a call that needs the history while it cannot be read.
func HistoryUnavailable(err error) error {
	failed := New(schema.Unavailable, "The history cannot be read now. Try again later.")
	failed.Cause, failed.RetryAfter = err, StoreRetry
	return failed
}

// storeCode returns the code of a fault of the store.
func storeCode(err error) schema.Code {
	switch {
	case errors.Is(err, store.ErrRewound):
		return schema.StoreRewound
	case errors.Is(err, store.ErrUnreachable):
		return schema.StoreLost
	case errors.Is(err, store.ErrNewer):
		return schema.NewerPeer
	}
	return schema.Unavailable
}

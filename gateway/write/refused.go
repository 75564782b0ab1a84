package write

import (
	"adgateway/gateway/cluster"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"errors"
	"time"
)

// NotLeading returns the refusal of a change that a member of a cluster could not begin or store.
// err is the cause.
func NotLeading(err error) error {
	failed := problem.New(schema.NotLeader, "This gateway does not lead the cluster, or not any more, "+
		"so nothing was changed. Send it again.")
	switch {
	case errors.Is(err, cluster.ErrLate):
		failed = problem.New(schema.Unavailable, "The host of the gateway stood still while the change was "+
			"prepared, so it was not begun. Send it again.")
	case errors.Is(err, cluster.ErrNotLeader), errors.Is(err, store.ErrFollows),
		errors.Is(err, store.ErrNotSent):
	default:
		return clusterUnavailable(err)
	}
	failed.RetryAfter, failed.Cause = time.Second, err
	return failed
}

// clusterUnavailable returns the refusal of a change on which the cluster could not agree.
func clusterUnavailable(err error) error {
	if errors.Is(err, store.ErrRewound) {
		return problem.StoreFault(err, "The nodes of the cluster have lost a part of the log that they "+
			"had stored, so nothing is changed until an administrator has run 'adgateway cluster recover'. "+
			"GET /readyz tells more; "+problem.AskWhy)
	}
	return problem.StoreFault(err, "The store of the cluster cannot be written now, so nothing "+
		"was changed. Try again later; GET /readyz tells when it can.")
}

package gateway

import (
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/names"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// changeOf returns what a call is about to change, before its script runs.
func (s *Server) changeOf(r *request) write.Change {
	undoes := &r.call.Undoes
	record := changes.Record{
		RequestID: r.id, Author: changes.AuthorOf(r.principal.Who()),
		Undoes: undoes.Change, Fields: undoes.Fields, Batch: undoes.Batch,
	}
	record.Parameters, record.Secret = r.checked.Texts()
	record.Plan, record.Key = r.applying.ID(), r.claimed().Name()
	var named *names.Part
	if s.names != nil && r.op.Lane == ps.Directory {
		named = s.names.Part(r.id, s.settler(r.policy))
	}
	return write.Change{
		Op: r.op, Bound: r.checked.Bound, Zone: r.checked.Zone, Record: record,
		Most: r.policy.BulkLimit, Settler: s.settler(r.policy), Log: s.logOf(r),
		Holds: func(i *ps.Intent) error { return holds(r, i) },
		Idle:  func() error { return r.applying.Use() },
		Parts: func(i *ps.Intent, record *changes.Record) []write.Participant {
			return s.participants(r, i, record, named)
		},
		Lines:   r.auditLines,
		Refused: func(why error) error { return s.notBegun(r, why) },
	}
}

// logOf returns the log with what identifies a call.
func (s *Server) logOf(r *request) *logrus.Entry {
	return s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID})
}

// participants returns what is stored together with the record of a change.
func (s *Server) participants(
	r *request, i *ps.Intent, record *changes.Record, named *names.Part,
) (all []write.Participant) {
	if r.applying != nil {
		all = append(all, r.applying)
	}
	if spends := r.spending.Part(i); spends != nil {
		if record != nil {
			record.Spent = spends.Spent()
		}
		all = append(all, spends)
	}
	if c := r.claimed(); c != nil {
		all = append(all, c)
	}
	if named != nil {
		all = append(all, named)
	}
	return all
}

// notBegun returns the error of a call whose change could not begin. If only the history cannot be
// written, that is no reason for a gateway that is alone, and it is nil.
func (s *Server) notBegun(r *request, why error) error {
	switch {
	case errors.Is(why, write.ErrUnaudited):
		return call.Unrecorded(why)
	case errors.Is(why, quota.ErrSpent):
		return r.spending.Overspent(r.ctx)
	case s.Member != nil:
		return notLeading(why)
	case r.claimed() != nil:
		return idempotency.Unavailable(why)
	case r.applying != nil:
		return plan.Unavailable(why)
	case r.spending.Kept():
		return quota.Unavailable(why)
	}
	return nil
}

// clusterUnavailable returns the refusal of a change that the gateways could not agree on.
func clusterUnavailable(err error) error {
	if errors.Is(err, store.ErrRewound) {
		return call.StoreFault(err, "The nodes of the cluster have lost a part of the log that they had stored, "+
			"so that nothing is changed until an administrator has run 'adgateway cluster recover'. "+
			"GET /readyz tells more; "+call.AskWhy)
	}
	return call.StoreFault(err, "The store of the cluster cannot be written at the moment, so that nothing was "+
		"changed. Try again later; GET /readyz tells when it can.")
}

// notLeading returns the refusal of a change that a member of a cluster could not begin, or not
// store.
func notLeading(err error) error {
	failed := problem.New(schema.NotLeader, "This gateway does not lead the cluster, or not any more, "+
		"so that nothing was changed. Send it again.")
	switch {
	case errors.Is(err, cluster.ErrLate):
		failed = problem.New(schema.Unavailable, "The host of the gateway stood still while the change was "+
			"prepared, so that it was not begun. Send it again.")
	case errors.Is(err, cluster.ErrNotLeader), errors.Is(err, store.ErrFollows),
		errors.Is(err, store.ErrNotSent):
	default:
		return clusterUnavailable(err)
	}
	failed.RetryAfter, failed.Cause = time.Second, err
	return failed
}

package call

import (
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/names"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/quota"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// changeOf describes the change of a call before its script runs.
func changeOf(r *request) write.Change {
	undoes := &r.Undoes
	record := changes.Record{
		RequestID: r.ID, Author: changes.AuthorOf(r.Principal.Who()),
		Undoes: undoes.Change, Fields: undoes.Fields, Batch: undoes.Batch,
	}
	record.Parameters, record.Secret = r.Texts()
	if why := r.whole().Bound.Text(ops.ReasonName); why != "" { // each part has the reason for the whole call
		record.Parameters[ops.ReasonName] = why
	}
	record.Plan, record.Key = r.applying.ID(), r.claimed().Name()
	var named *names.Part
	if r.service.Names != nil && r.Op.Lane == ps.Directory {
		named = r.service.Names.Part(r.ID, r.service.Settler(r.policy))
	}
	return write.Change{
		Op: r.Op, Bound: r.Bound, Zone: r.Zone, Record: record,
		Most: r.policy.BulkLimit, Settler: r.service.Settler(r.policy), Log: r.log,
		Holds: func(i *ps.Intent) error { return holds(r, i) },
		Parts: func(i *ps.Intent, record *changes.Record) []write.Participant {
			return participants(r, i, record, named)
		},
		Lines:   func(i *ps.Intent) []audit.Call { return auditLines(r, i) },
		Refused: func(why error) error { return notBegun(r, why) },
	}
}

// log returns a log entry that identifies the call.
func (r *request) log() *logrus.Entry {
	return r.service.Log.WithFields(logrus.Fields{"request_id": r.ID, "operation": r.Op.ID})
}

// participants returns the participants that are stored in one batch with the record of a change.
func participants(r *request, i *ps.Intent, record *changes.Record, named *names.Part,
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

// notBegun returns the error of a call whose change could not begin. It returns nil if only the history
// cannot be written, because a single gateway makes the change nevertheless.
func notBegun(r *request, why error) error {
	switch {
	case errors.Is(why, write.ErrUnaudited):
		return unrecorded(why)
	case errors.Is(why, quota.ErrSpent):
		return r.spending.Overspent(r.ctx)
	case r.service.clustered():
		return write.NotLeading(why)
	case r.claimed() != nil:
		return idempotency.Unavailable(why)
	case r.applying != nil:
		return plan.Unavailable(why)
	case r.spending.Kept():
		return quota.Unavailable(why)
	}
	return nil
}

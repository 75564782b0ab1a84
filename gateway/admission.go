package gateway

import (
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/names"
	"adgateway/gateway/plan"
	"adgateway/gateway/quota"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// changeOf returns what a call is about to change, before its script runs.
func (s *Server) changeOf(r *request) write.Change {
	undoes := &r.call.Undoes
	record := changes.Record{
		RequestID: r.id, Caller: r.principal.Name,
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

// store returns the store of what the server keeps; nil if there is none.
func (s *Server) store() *store.Sealed {
	if s.Kept == nil && s.History != nil {
		return s.History.Store()
	}
	return s.Kept
}

// clusterUnavailable returns the refusal of a change that the gateways could not agree on.
func clusterUnavailable(err error) error {
	if errors.Is(err, store.ErrRewound) {
		return call.StoreFault(err, "The nodes of the cluster have lost a part of the log that they had stored, "+
			"so that nothing is changed until an administrator has run 'adgateway cluster recover'. "+
			"GET /readyz tells more; "+call.AskWhy)
	}
	return call.StoreFault(err, "The store of the cluster cannot be written at the moment, so that nothing was changed. "+
		"Try again later; GET /readyz tells when it can.")
}

// ownKinds returns what ends with a change of this gateway.
func (s *Server) ownKinds() (all []write.Kind) {
	if s.plans != nil {
		all = append(all, s.plans)
	}
	if s.ledger != nil {
		all = append(all, s.ledger)
	}
	if s.keys != nil {
		all = append(all, s.keys)
	}
	if s.names != nil {
		all = append(all, s.names)
	}
	return all
}

// openWriter opens what begins, ends and recovers changes.
func (s *Server) openWriter() (err error) {
	s.writer, err = write.New(write.Options{
		Runner: s.Runner, Operations: s.Operations, Log: s.Log,
		Settler: func() *settle.Settler { return s.settler(s.current.Load()) },
		Store:   s.store(), History: s.History, Audit: s.Audit, Kinds: s.ownKinds(),
		Spent: quota.SpentOf, Unrecorded: s.meters.unremembered.Inc,
		Member: s.Member, Relay: s.Relay, Load: s.load, Stopping: s.stopping,
	})
	return err
}

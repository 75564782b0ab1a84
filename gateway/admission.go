package gateway

import (
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/names"
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
	record.Parameters, record.Secret = r.parameters()
	if r.applying != nil {
		record.Plan = r.applying.plan.ID
	}
	if key := r.claimed(); key != nil {
		record.Key = key.name
	}
	var named *names.Part
	if s.names != nil && r.op.Lane == ps.Directory {
		named = s.names.Part(r.id, s.settler(r.policy))
	}
	return write.Change{
		Op: r.op, Bound: r.bound, Record: record, Most: r.policy.BulkLimit,
		Settler: s.settler(r.policy), Log: s.logOf(r),
		Holds: func(i *ps.Intent) error { return holds(r, i) },
		Idle:  func() error { return r.applying.use(r) },
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
	if r.applying != nil && !r.applying.used {
		all = append(all, &planPart{s: s, r: r})
	}
	if spends := r.spending.Part(i); spends != nil {
		if record != nil {
			record.Spent = spends.Spent()
		}
		all = append(all, spends)
	}
	if c := r.claimed(); c != nil {
		all = append(all, &keyPart{claim: c})
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
		return unrecorded(why)
	case errors.Is(why, quota.ErrSpent):
		return r.spending.Overspent(r.ctx)
	case s.Member != nil:
		return notLeading(why)
	case r.claimed() != nil:
		return keysUnavailable(why)
	case r.applying != nil:
		return plansUnavailable(why)
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

// planPart is the plan that a call applies, which it uses up.
type planPart struct {
	s *Server
	r *request
}

func (p *planPart) Begin(tx *store.Tx, _ *write.Attempt) error {
	return p.s.usePlan(tx, p.r.applying, p.r.id)
}

func (p *planPart) Begun() { p.s.usedUp(p.r.applying) }

// keyPart is the key of a call, with what its script is about to change and the identity of the
// change in the history.
type keyPart struct {
	claim *claim
	next  keptCall
}

func (p *keyPart) Begin(tx *store.Tx, a *write.Attempt) error {
	c := p.claim
	own, err := c.owns(tx)
	if err != nil {
		return err
	}
	if c.lost = !own; c.lost {
		return write.TakenOver()
	}
	p.next = c.call
	p.next.Intent, p.next.Server = a.Intent, a.Intent.Server
	if a.Record != nil {
		p.next.Change, p.next.Batch = a.Record.ID, a.Record.Batch
	}
	p.next.Verdict, p.next.Token = nil, a.Token
	return c.put(tx, p.next)
}

func (p *keyPart) Begun() { p.claim.kept(p.next) }

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

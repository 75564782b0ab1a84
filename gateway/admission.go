package gateway

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// Before a script may change anything, all that the change depends on is decided in one update of
// the store: the history gets its record, its key the announcement, the plan is used up, the
// budgets are charged, earlier changes in doubt of its objects are closed, and in a cluster the
// names are held that it gives. All of it or nothing: if one part is refused, the script is
// stopped, and nothing was written.

// participants returns what is stored together with the change of a call. Its record is the first.
func (s *Server) participants(r *request, i *ps.Intent) []write.Participant {
	all := []write.Participant{&recordPart{s: s, r: r}}
	if r.applying != nil {
		all = append(all, r.applying)
	}
	if spends := r.spending.Part(i); spends != nil {
		if r.change != nil {
			r.change.Spent = spends.Spent()
		}
		all = append(all, spends)
	}
	if c := r.claimed(); c != nil {
		all = append(all, c)
	}
	if doubts := s.doubtsAbout(r); doubts != nil {
		all = append(all, doubts)
	}
	if s.clustered() {
		all = append(all, &namesPart{s: s, r: r})
	}
	return all
}

// allow decides whether the change of a call may begin.
func (s *Server) allow(r *request, i *ps.Intent) error {
	limit := cmp.Or(r.limit, r.policy.WriteLimit)
	if s.Member != nil {
		limit = min(limit, mostStoring)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit) // the caller may leave, the change goes on
	defer cancel()
	s.remember(r, *i)
	if err := s.storeEnds(ctx); err != nil {
		return s.refuse(r, err)
	}
	a := &write.Attempt{Intent: i, Token: uuid.NewString(), Record: r.change}
	if a.Record != nil {
		a.Token = a.Record.Token
	}
	all := s.participants(r, i)
	err := r.stored(func() error { return s.begin(ctx, r, a, all) })
	if errors.Is(err, quota.ErrSpent) {
		err = r.spending.Overspent(r.ctx)
	}
	if err != nil {
		return s.refuse(r, err)
	}
	for _, one := range all {
		one.Begun()
	}
	return nil
}

// begin stores the beginning of a change.
func (s *Server) begin(ctx context.Context, r *request, a *write.Attempt, all []write.Participant) error {
	in := s.store()
	if in == nil {
		return nil
	}
	update := func() error {
		return in.Update(ctx, func(tx *store.Tx) error {
			for _, one := range all {
				err := one.Begin(tx, a)
				if errors.Is(err, write.ErrBegun) {
					return nil
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := update()
	if errors.Is(err, store.ErrUnsure) && s.Member == nil && a.Record != nil && !r.kept {
		if update() == nil { // which finds the record, if it is stored
			return nil
		}
	}
	return err
}

// store returns the store of what the server keeps; nil if there is none.
func (s *Server) store() *store.Sealed {
	if s.Kept == nil && s.History != nil {
		return s.History.Store()
	}
	return s.Kept
}

// refuse completes why a change is not allowed. If only the history cannot be written, that
// is no reason for a gateway that is alone: the audit is the evidence.
func (s *Server) refuse(r *request, err error) error {
	switch {
	case problem.Is(err):
	case errors.Is(err, store.ErrTooMany):
		err = problem.New(schema.TooMany, "The change affects more objects than a gateway can record at once: %d objects and names. Nothing was changed. Change fewer objects at a time.", store.MostChanges)
	case s.Member != nil:
		s.doubtful(r, err)
		err = notLeading(err)
	case errors.Is(err, errContended):
	case r.claimed() != nil:
		err = idempotency.Unavailable(err)
	case r.applying != nil:
		err = plan.Unavailable(err)
	case r.spending.Kept():
		err = quota.Unavailable(err)
	default:
		s.unremembered(r, err)
		return nil
	}
	if r.change != nil && !r.kept {
		r.change = nil // there is no record of it
	}
	return err
}

// clusterUnavailable returns the refusal of a change that the gateways could not agree on.
func clusterUnavailable(err error) error {
	if errors.Is(err, store.ErrRewound) {
		return call.StoreFault(err, "The nodes of the cluster have lost a part of the log that they had stored, so that nothing is changed until an administrator has run 'adgateway cluster recover'. GET /readyz tells more; "+call.AskWhy)
	}
	return call.StoreFault(err, "The store of the cluster cannot be written at the moment, so that nothing was changed. Try again later; GET /readyz tells when it can.")
}

// recordPart is the record of a change in the history.
type recordPart struct {
	s *Server
	r *request
}

func (p *recordPart) Begin(tx *store.Tx, a *write.Attempt) error {
	s, c := p.s, a.Record
	if c == nil {
		return nil
	}
	latest, err := s.History.Find(tx, c.ID)
	switch {
	case errors.Is(err, changes.ErrAbsent) && !p.r.kept:
		err = s.noteDue(tx, c)
	case err != nil:
	case !latest.Running || latest.Token != c.Token:
		err = idempotency.TakenOver()
	case !p.r.kept: // it is put once more, so that it is on the disk afterwards
		return cmp.Or(s.History.Put(tx, c), write.ErrBegun)
	}
	if err != nil {
		return err
	}
	return s.History.Put(tx, c)
}

func (p *recordPart) Begun() {
	if p.r.change == nil {
		return
	}
	if !p.r.kept {
		p.r.due = p.r.change.ID
	}
	p.r.kept = true
	p.s.saved(p.r.change)
}

// inTime refuses a change that a member of a cluster must not let begin any more.
func (s *Server) inTime(r *request) error {
	if s.Member == nil {
		return nil
	}
	return s.mayWrite(r)
}

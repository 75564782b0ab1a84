package gateway

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/ledger"
	"adgateway/gateway/plans"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Before a script may change anything, all that the change depends on is decided in one
// batch: its key gets the announcement, the history the record, the plan is used
// up, the budgets are charged, and in a cluster the names are held that it gives. All of it or
// nothing: if one part is refused, the script is stopped, and nothing was written.

// share is one part of a call in the batch that allows its change.
type share struct {
	// changes returns what the store must change, composed from what is known now.
	changes func(ctx context.Context) ([]keep.Change, error)
	// again finds out after a conflict whether this part is the reason, and reads anew what
	// changes needs. An error refuses the call; errMade: an earlier try has made the batch.
	// Nil: changes reads it.
	again func(ctx context.Context) error
	// made notes that the batch was made, with the revision. Nil: nothing is noted.
	made func(revision keep.Revision)
}

// made says that a batch was made by an earlier try, whose answer was lost.
type made struct{ revision keep.Revision }

func (m *made) Error() string { return "the batch was made before" }

// mostDoubt is how long an allowance is tried again of which it is not known whether it was
// made: as long as the engine needs for another leader.
const mostDoubt = 15 * time.Second

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
	token := uuid.NewString()
	shares := []share{s.shareOfChange(r, token), s.shareOfPlan(r), s.shareOfBudgets(r, i), s.shareOfKey(r, i, token), s.shareOfDoubts(r)}
	if s.clustered() {
		shares = append(shares, s.shareOfNames(r, i))
	}
	if err := r.stored(func() error { return s.decideTogether(ctx, s.store(), shares) }); err != nil {
		return s.refuse(r, err)
	}
	return nil
}

// decideTogether makes the batch of some shares in a store. It is composed anew as long as
// others are faster, and tried again while it is not known whether it was made.
func (s *Server) decideTogether(ctx context.Context, in *keep.Sealed, shares []share) error {
	until := time.Now().Add(mostDoubt)
	for pause := 10 * time.Millisecond; ; {
		var all []keep.Change
		for i := range shares {
			if shares[i].changes == nil {
				continue
			}
			own, err := shares[i].changes(ctx)
			if err != nil {
				return err
			}
			all = append(all, own...)
		}
		if len(all) == 0 {
			return nil
		}
		revision, err := in.Apply(ctx, all...)
		if errors.Is(err, keep.ErrConflict) {
			err = conflict(ctx, shares)
			if before := (*made)(nil); errors.As(err, &before) {
				revision, err = before.revision, nil
			} else if err == nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if in == s.Relay && s.Member != nil { // the copy of the store here may not have it yet
					time.Sleep(copyBehind)
				}
				continue
			} else {
				return err
			}
		}
		if err == nil {
			for i := range shares {
				if shares[i].made != nil {
					shares[i].made(revision)
				}
			}
			return nil
		}
		if !s.retries(in) || errors.Is(err, keep.ErrClosed) || errors.Is(err, keep.ErrTooMany) || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		case <-ctx.Done():
			return err
		}
	}
}

// copyBehind is how long the copy of the store is waited for that this gateway has.
const copyBehind = 5 * time.Millisecond

// retries reports whether a batch is tried again of which it is not known whether it was made.
// What allows a change is not: another gateway may lead by then.
func (s *Server) retries(in *keep.Sealed) bool {
	return s.clustered() && in == s.Relay && in != s.Kept
}

// conflict asks all shares for the reason of a conflict. That an earlier try was made says
// the share that has a mark of it, whatever the others find.
func conflict(ctx context.Context, shares []share) error {
	var refused error
	for i := range shares {
		if shares[i].again == nil {
			continue
		}
		err := shares[i].again(ctx)
		if before := (*made)(nil); errors.As(err, &before) {
			return err
		}
		refused = cmp.Or(refused, err)
	}
	return refused
}

// store returns the store of what the server keeps; nil if there is none.
func (s *Server) store() *keep.Sealed {
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
	case errors.Is(err, keep.ErrTooMany):
		err = problem.New(schema.TooMany, "The change affects more objects than a gateway can record at once: %d objects and names. Nothing was changed. Change fewer objects at a time.", keep.MostChanges)
	case s.Member != nil:
		s.doubtful(r, err)
		err = notLeading(err)
	case errors.Is(err, errContended):
	case r.claimed() != nil:
		err = keysUnavailable(err)
	case r.applying != nil:
		err = plansUnavailable(err)
	case len(r.spending.reserved) > 0 && s.ledger != nil && len(r.amounts(held)) > 0:
		err = ledgerUnavailable(err)
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
	failed := problem.New(storeCode(err), "The store of the cluster cannot be written at the moment, so that nothing was changed. Try again later; GET /readyz tells when it can.")
	if failed.Code == schema.StoreRewound {
		failed.Message = "The nodes of the cluster have lost a part of the log that they had stored, so that nothing is changed until an administrator has run 'adgateway cluster recover'. GET /readyz tells more; " + askWhy
	}
	failed.Cause, failed.RetryAfter = err, auditRetry
	return failed
}

// shareOfChange returns the record of a change in the history.
func (s *Server) shareOfChange(r *request, token string) share {
	c := r.change
	if c == nil {
		return share{}
	}
	c.Token, c.Process = token, s.process()
	if s.Member != nil {
		c.Limit = writeLimitOf(c.Intent)
	}
	var own keep.Change
	return share{
		changes: func(context.Context) (all []keep.Change, err error) {
			if own, err = s.History.Change(c); err != nil || r.kept {
				return []keep.Change{own}, err
			}
			note, err := s.noteDue(c)
			return []keep.Change{own, note}, err
		},
		again: func(ctx context.Context) error {
			latest, err := s.History.Get(ctx, c.ID)
			switch {
			case errors.Is(err, changes.ErrAbsent) && !r.kept:
				return nil
			case err != nil:
				return err
			case latest.Token == token:
				return &made{latest.Revision()}
			case latest.Same(c):
				return nil
			}
			return takenOver()
		},
		made: func(revision keep.Revision) {
			if !r.kept {
				r.due = &keep.Change{Kind: dueKind, Key: c.ID, Expect: revision}
			}
			r.kept = true
			s.saved(s.History, c, []keep.Change{own}, revision)
		},
	}
}

// takenOver refuses a change whose call another gateway has settled.
func takenOver() error {
	failed := problem.New(schema.Unavailable, "This gateway did not answer for so long that another one has taken the call over. Nothing was changed here. Send it again, with its %s.", keyHeader)
	failed.RetryAfter = time.Second
	return failed
}

// shareOfPlan returns the plan that a call applies, as used.
func (s *Server) shareOfPlan(r *request) share {
	a := r.applying
	if a == nil || a.used {
		return share{}
	}
	return share{
		changes: func(context.Context) ([]keep.Change, error) {
			own, err := s.plans.Using(a.plan, plans.Use{RequestID: r.id})
			return []keep.Change{own}, err
		},
		again: func(ctx context.Context) error {
			latest, err := s.plans.Get(ctx, a.plan.ID)
			switch {
			case err != nil:
				return plansUnavailable(err)
			case latest.Same(a.plan):
				return nil
			case latest.Used != nil:
				a.plan.Used = nil // not by this request
				return usedPlan(latest)
			}
			a.plan.Adopt(latest) // only its drift was noted
			return nil
		},
		made: func(revision keep.Revision) {
			a.plan.Saved(revision)
			a.used = true
			s.meters.plans.WithLabelValues(planApplied).Inc()
		},
	}
}

// shareOfKey returns the key of a call, with what the script is about to change and the
// identity of the change in the history.
func (s *Server) shareOfKey(r *request, i *ps.Intent, token string) share {
	c := r.claimed()
	if c == nil {
		return share{}
	}
	return share{
		changes: func(context.Context) ([]keep.Change, error) {
			c.call.Intent, c.call.Server = i, i.Server
			if r.change != nil {
				c.call.Change, c.call.Batch = r.change.ID, r.change.Batch
			}
			c.call.Verdict, c.call.Token = nil, token
			own, err := c.change()
			return []keep.Change{own}, err
		},
		again: func(ctx context.Context) error {
			latest, revision, err := c.latest(ctx)
			switch {
			case err != nil:
				return err
			case latest.Token == token:
				return &made{revision}
			case revision == c.revision:
				return nil
			}
			c.lost = true
			return takenOver()
		},
		made: func(revision keep.Revision) { c.revision = revision },
	}
}

// shareOfBudgets returns what is about to be spent of the caller's hourly limits.
func (s *Server) shareOfBudgets(r *request, i *ps.Intent) share {
	if s.ledger == nil || r.spending.kept != nil {
		return share{}
	}
	amounts := r.amounts(func(one *spent) int {
		if r.bound.Op.Extent != "" {
			return one.Held() // it is corrected once it is known what was there
		}
		return min(one.Held(), max(1, len(i.Objects)))
	})
	if len(amounts) == 0 {
		return share{}
	}
	kept := s.ledger.Prepare(amounts, s.limitsOf(r))
	if r.change != nil {
		r.change.Spent = spentBy(kept)
	}
	return share{
		changes: func(ctx context.Context) ([]keep.Change, error) {
			all, err := kept.Changes(ctx)
			switch {
			case errors.Is(err, ledger.ErrSpent):
				return nil, s.overspent(r)
			case err != nil:
				return nil, ledgerUnavailable(err)
			}
			return all, nil
		},
		made: func(keep.Revision) {
			kept.Made()
			r.spending.kept = kept
		},
	}
}

// inTime refuses a change that a member of a cluster must not let begin any more.
func (s *Server) inTime(r *request) error {
	if s.Member == nil {
		return nil
	}
	return s.mayWrite(r)
}

// storeCode returns the code of a call that was refused because of a fault of the store.
func storeCode(err error) schema.Code {
	switch {
	case errors.Is(err, keep.ErrRewound):
		return schema.StoreRewound
	case errors.Is(err, keep.ErrUnreachable):
		return schema.StoreLost
	case errors.Is(err, keep.ErrNewer):
		return schema.NewerPeer
	}
	return schema.Unavailable
}

// kept returns a value of the store and its revision, or the zero value if it is absent.
func kept[T any, P keep.Value[T]](ctx context.Context, store *keep.Sealed, kind keep.Kind, key string) (value T, revision keep.Revision, err error) {
	e, err := store.Get(ctx, kind, key)
	if errors.Is(err, keep.ErrAbsent) {
		return value, keep.Absent, nil
	}
	if err == nil {
		err = keep.Decode(store, e.Value, P(&value))
	}
	return value, e.Revision, err
}

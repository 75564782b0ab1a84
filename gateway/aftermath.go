package gateway

import (
	"context"
	"errors"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/keep"
	"adgateway/gateway/ledger"
	"adgateway/gateway/plans"
	"adgateway/ps"
)

// A change that was cut off by the end of its gateway leaves what it had: its key, names that
// it was about to give, the plan that it has used up, a part of its caller's budgets. Its record tells which. Whoever settles it closes all of them in one batch
// with the record, so that it is done once, and with one outcome.

// settled closes a change that was cut off. It fails with [errClosed] if another one was
// faster.
func (s *Server) settled(in *changes.History, c *changes.Record, v *verdict, result *ps.Result) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostDoubt)
	defer cancel()
	err := s.decideTogether(ctx, s.store(), s.partsOf(in, c, v, result))
	if err == nil || errors.Is(err, errClosed) {
		s.doubts.end(c.ID)
	}
	return err
}

// partsOf returns what closes a change that was cut off.
func (s *Server) partsOf(in *changes.History, c *changes.Record, v *verdict, result *ps.Result) []share {
	parts := []share{
		s.keyAfter(c, v), s.planAfter(c.Plan, c.RequestID, c.ID, v.Outcome), s.namesAfter(c, v.Outcome), s.budgetsAfter(c, v.Outcome, result),
	}
	if in == nil {
		return parts
	}
	if result != nil {
		c.Identify(result)
	}
	return append([]share{s.closing(in, c, v.Outcome)}, parts...)
}

// saved notes that the record of a change was written to a history.
func (s *Server) saved(in *changes.History, c *changes.Record, made []keep.Change, revision keep.Revision) {
	if err := in.Saved(context.Background(), c, made, revision); err != nil {
		s.Log.WithError(err).Error("the oldest changes could not be removed from the history")
	}
}

// planAfter opens the plan again that a call has used up whose change was not made, and notes
// the change in it otherwise.
func (s *Server) planAfter(id, requestID, change string, outcome ps.Outcome) share {
	if s.plans == nil || id == "" {
		return share{}
	}
	return share{changes: func(ctx context.Context) ([]keep.Change, error) {
		p, err := s.plans.Get(ctx, id)
		switch {
		case errors.Is(err, plans.ErrAbsent), err == nil && (p.Used == nil || p.Used.RequestID != requestID || p.Used.ChangeID != ""):
			return nil, nil // it is not kept any more, or was used by another call
		case err != nil:
			return nil, err
		}
		var own keep.Change
		if outcome == ps.OutcomeNone {
			own, err = s.plans.Release(p)
		} else {
			own, err = s.plans.Done(p, change)
		}
		return []keep.Change{own}, err
	}}
}

// keyAfter notes in the key of a change what became of that. If nothing was changed, the call
// runs anew when it is repeated.
func (s *Server) keyAfter(c *changes.Record, v *verdict) share {
	if s.keys == nil || c.Key == "" {
		return share{}
	}
	return share{changes: func(ctx context.Context) ([]keep.Change, error) {
		found, err := s.keys.store.Get(ctx, keyKind, c.Key)
		var call keptCall
		switch {
		case errors.Is(err, keep.ErrAbsent):
			return nil, nil // it is not kept any more
		case err == nil:
			err = keep.Decode(s.keys.store, found.Value, &call)
		}
		if err != nil || call.Change != c.ID || call.Status != 0 || call.Verdict != nil {
			return nil, err
		}
		call.Verdict, call.Token = v, ""
		if v.Outcome == ps.OutcomeNone {
			call.Verdict, call.Intent, call.Change = nil, nil, ""
		}
		value, err := keep.Encode(s.keys.store, call)
		return []keep.Change{{Kind: keyKind, Key: c.Key, Expect: found.Revision, Value: value, Expires: found.Expires}}, err
	}}
}

// namesAfter frees the names that a change was about to give which was not made.
func (s *Server) namesAfter(c *changes.Record, outcome ps.Outcome) share {
	if !s.clustered() || outcome != ps.OutcomeNone {
		return share{}
	}
	return share{changes: func(ctx context.Context) (all []keep.Change, err error) {
		for i := range c.Intent.Objects {
			for _, name := range namesOf(&c.Intent.Objects[i]) {
				sum := s.nameKey(name)
				present, revision, err := kept[nameHold](ctx, s.store(), nameKind, sum)
				if err != nil {
					return nil, err
				}
				if revision != keep.Absent && present.Change == c.ID && present.Fresh {
					all = append(all, keep.Change{Kind: nameKind, Key: sum, Expect: revision})
				}
			}
		}
		return all, nil
	}}
}

// budgetsAfter corrects what a change has reserved of its caller's budgets, if it is known
// what it did. Otherwise all of that stays spent.
func (s *Server) budgetsAfter(c *changes.Record, outcome ps.Outcome, result *ps.Result) share {
	op := s.operationOf(c.Operation)
	if s.ledger == nil || c.Spent == nil || outcome != ps.OutcomeNone && (result == nil || op == nil) {
		return share{}
	}
	reserved, done := map[ledger.Budget]int{}, map[ledger.Budget]int{}
	for name, n := range c.Spent.Impacts {
		of := ledger.Budget{Account: c.Spent.Account, Impact: name}
		reserved[of], done[of] = n, 0
		if kind, known := identity.ImpactNamed(name); known && outcome != ps.OutcomeNone {
			done[of] = affected(kind, op, result, nil)
		}
	}
	return (&correction{s.ledger.Reserved(c.Spent.At, reserved), done}).share()
}

// correction is what a run has left to correct of its caller's budgets.
type correction struct {
	reserved *ledger.Reservation
	done     map[ledger.Budget]int
}

// share returns the correction for a decision with others.
func (c *correction) share() share {
	if c == nil {
		return share{}
	}
	return share{changes: func(ctx context.Context) ([]keep.Change, error) { return c.reserved.Settling(ctx, c.done) }}
}

// spentBy returns what a reservation has of the budgets of one account.
func spentBy(r *ledger.Reservation) *changes.Spent {
	spent := &changes.Spent{At: r.At(), Impacts: map[string]int{}}
	for of, n := range r.Amounts() {
		spent.Account, spent.Impacts[of.Impact] = of.Account, n
	}
	return spent
}

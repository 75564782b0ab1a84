package gateway

import (
	"cmp"
	"context"
	"errors"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ledger"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// A change is ended once, in one update: its record in the history, its key, its plan, what it
// has spent, the names that it was about to give. The record as the store has it says which.
// Whether the call itself ends it or whoever settles it, it is the same; whoever comes later reads
// the outcome, and does not look at the directory again.

// mostEnding is how long it is tried to store the end of a change at once.
const mostEnding = 15 * time.Second

// errClosed means that another one has closed a change, with another outcome.
var errClosed = errors.New("the change was closed before")

// errEnded ends an update whose changes an earlier try has stored.
var errEnded = errors.New("the change has ended so already")

// end is how a change has ended.
type end struct {
	verdict  verdict
	record   *changes.Record       // as it is kept from now on; nil: the history has none
	token    string                // that the record has while the change runs
	done     map[ledger.Budget]int // of what it has reserved; nil: all of that stays spent
	answered bool                  // its call keeps its answer in the key itself
}

// closed closes the record of a change in memory and returns how it has ended.
func closed(c *changes.Record, v verdict) *end {
	e := &end{verdict: v, record: c, token: c.Token}
	c.End(v.Outcome)
	return e
}

// store ends a change, as a part of an update. It fails with [errClosed] if that was done before
// with another outcome, or if another gateway has claimed the record, and with [errEnded] if it was
// done with this one: then the rest was done, too.
func (e *end) store(tx *store.Tx, s *Server) error {
	latest, err := s.History.Find(tx, e.record.ID)
	absent, outcome := errors.Is(err, changes.ErrAbsent), e.verdict.Outcome
	switch {
	case absent && outcome == ps.OutcomeNone:
		return errEnded
	case absent:
		return errClosed
	case err != nil:
		return err
	case !latest.Running && latest.Outcome == outcome:
		return cmp.Or(s.History.Put(tx, latest), errEnded) // it may not be on the disk yet
	case !latest.Running || latest.Token != e.token:
		return errClosed
	}
	return s.endChange(tx, latest, e)
}

// endChange ends a change that is running, as a part of an update: its record and all that was
// stored with its beginning.
func (s *Server) endChange(tx *store.Tx, c *changes.Record, e *end) error {
	if err := s.endParts(tx, c, e); err != nil {
		return err
	}
	if e.verdict.Outcome == ps.OutcomeNone {
		s.History.Drop(tx, c.ID)
		return nil
	}
	record := e.record
	if record == nil {
		record = c
		record.End(e.verdict.Outcome)
	}
	return s.History.PutEnded(tx, record)
}

// endParts ends what was stored with the beginning of a change.
func (s *Server) endParts(tx *store.Tx, c *changes.Record, e *end) error {
	if err := s.endPlan(tx, c, e); err != nil {
		return err
	}
	if err := s.endBudgets(tx, c, e); err != nil {
		return err
	}
	if err := s.endKey(tx, c, e); err != nil || !s.clustered() || e.verdict.Outcome != ps.OutcomeNone {
		return err
	}
	return s.freeNames(tx, c)
}

// endPlan opens the plan again that a call has used up whose change was not made, and notes
// the change in it otherwise. One that had nothing to change has used it up.
func (s *Server) endPlan(tx *store.Tx, c *changes.Record, e *end) error {
	switch {
	case s.plans == nil || c.Plan == "":
		return nil
	case e.verdict.Outcome != ps.OutcomeNone:
		return s.plans.End(tx, c.Plan, c.RequestID, c.ID)
	case e.verdict.Idle:
		return nil
	}
	return s.plans.End(tx, c.Plan, c.RequestID, "")
}

// endKey notes in the key of a change what became of that. If nothing was changed, the call
// runs anew when it is repeated.
func (s *Server) endKey(tx *store.Tx, c *changes.Record, e *end) error {
	if s.keys == nil || c.Key == "" || e.answered {
		return nil
	}
	found, err := tx.Get(keyKind, c.Key)
	if errors.Is(err, store.ErrAbsent) {
		return nil // it is not kept any more
	}
	if err != nil {
		return err
	}
	call, err := store.Load[keptCall](tx, keyKind, c.Key)
	if err != nil || call.Change != c.ID || call.Status != 0 || call.Verdict != nil {
		return err
	}
	call.Verdict, call.Token = &e.verdict, ""
	if e.verdict.Outcome == ps.OutcomeNone {
		call.Verdict, call.Intent, call.Change = nil, nil, ""
	}
	return store.Save(tx, keyKind, c.Key, call, found.Expires)
}

// endBudgets corrects what a change has reserved of its caller's budgets, if it is known
// what it did.
func (s *Server) endBudgets(tx *store.Tx, c *changes.Record, e *end) error {
	if s.ledger == nil || c.Spent == nil || e.done == nil {
		return nil
	}
	reserved := map[ledger.Budget]int{}
	for name, n := range c.Spent.Impacts {
		reserved[ledger.Budget{Account: c.Spent.Account, Impact: name}] = n
	}
	return s.ledger.Reserved(c.Spent.At, reserved).Correct(tx, e.done)
}

// doneBy returns what a change that was cut off has spent of what it has reserved; nil: that is
// not known.
func (s *Server) doneBy(c *changes.Record, outcome ps.Outcome, result *ps.Result) map[ledger.Budget]int {
	op := s.operationOf(c.Operation)
	if c.Spent == nil || outcome != ps.OutcomeNone && (result == nil || op == nil) {
		return nil
	}
	done := map[ledger.Budget]int{}
	for name := range c.Spent.Impacts {
		n := 0
		if kind, known := identity.ImpactNamed(name); known && outcome != ps.OutcomeNone {
			n = affected(kind, op, result, nil)
		}
		done[ledger.Budget{Account: c.Spent.Account, Impact: name}] = n
	}
	return done
}

// settled closes a change that was cut off. It fails with [errClosed] if another one was
// faster. If it is not recorded in the history, only its key is closed.
func (s *Server) settled(recorded bool, c *changes.Record, v *verdict, result *ps.Result) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostEnding)
	defer cancel()
	done := s.doneBy(c, v.Outcome, result)
	if recorded && result != nil {
		c.Identify(result)
	}
	e := closed(c, *v)
	e.done = done
	err := s.store().Update(ctx, func(tx *store.Tx) error {
		if !recorded {
			return s.endParts(tx, c, e)
		}
		err := e.store(tx, s)
		if errors.Is(err, errEnded) {
			return nil
		}
		return err
	})
	if err == nil && recorded {
		s.saved(c)
	}
	if err == nil || errors.Is(err, errClosed) {
		s.doubts.end(c.ID)
	}
	return err
}

// saved notes that the record of a change was put into the history.
func (s *Server) saved(c *changes.Record) {
	if err := s.History.Saved(context.Background(), c); err != nil {
		s.Log.WithError(err).Error("the oldest changes could not be removed from the history")
	}
}

// correction is what a run has left to correct of its caller's budgets.
type correction struct {
	reserved *ledger.Reservation
	done     map[ledger.Budget]int
}

// spentBy returns what a reservation has of the budgets of one account.
func spentBy(r *ledger.Reservation) *changes.Spent {
	spent := &changes.Spent{At: r.At(), Impacts: map[string]int{}}
	for of, n := range r.Amounts() {
		spent.Account, spent.Impacts[of.Impact] = of.Account, n
	}
	return spent
}

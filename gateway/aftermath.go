package gateway

import (
	"errors"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ledger"
	"adgateway/gateway/plans"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// ownKinds returns what ends with a change of this gateway.
func (s *Server) ownKinds() (all []write.Kind) {
	if s.plans != nil {
		all = append(all, planKind{s.plans})
	}
	if s.ledger != nil {
		all = append(all, budgetKind{s.ledger})
	}
	if s.keys != nil {
		all = append(all, keyKind{})
	}
	if s.names != nil {
		all = append(all, s.names)
	}
	return all
}

// planKind opens the plan again that a call has used up whose change was not made, and notes
// the change in it otherwise. One that had nothing to change has used it up.
type planKind struct{ plans *plans.Plans }

func (k planKind) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	switch {
	case c.Plan == "":
		return nil
	case e.Verdict.Outcome != ps.OutcomeNone:
		return k.plans.End(tx, c.Plan, c.RequestID, c.ID)
	case e.Verdict.Idle:
		return nil
	}
	return k.plans.End(tx, c.Plan, c.RequestID, "")
}

// keyKind notes in the key of a change how that has ended. If nothing was changed, the call runs
// anew when it is repeated.
type keyKind struct{}

func (keyKind) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if c.Key == "" || e.Answered {
		return nil
	}
	found, err := tx.Get(keptKind, c.Key)
	if errors.Is(err, store.ErrAbsent) {
		return nil // it is not kept any more
	}
	if err != nil {
		return err
	}
	call, err := store.Load[keptCall](tx, keptKind, c.Key)
	if err != nil || call.Change != c.ID || call.Status != 0 || call.Verdict != nil {
		return err
	}
	call.Verdict, call.Token = &e.Verdict, ""
	if e.Verdict.Outcome == ps.OutcomeNone {
		call.Verdict, call.Intent, call.Change = nil, nil, ""
	}
	return store.Save(tx, keptKind, c.Key, call, found.Expires)
}

// budgetKind corrects what a change has reserved of its caller's budgets, if it is known
// what it did.
type budgetKind struct{ ledger *ledger.Ledger }

func (k budgetKind) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if c.Spent == nil || e.Spent == nil {
		return nil
	}
	reserved, spent := map[ledger.Budget]int{}, map[ledger.Budget]int{}
	for name, n := range c.Spent.Impacts {
		budget := ledger.Budget{Account: c.Spent.Account, Impact: name}
		reserved[budget], spent[budget] = n, e.Spent[name]
	}
	return k.ledger.Reserved(c.Spent.At, reserved).Correct(tx, spent)
}

// spentOf returns what a change that was cut off has spent of what it has reserved, by impact; nil:
// that is not known.
func (s *Server) spentOf(c *changes.Record, outcome ps.Outcome, result *ps.Result) map[string]int {
	op := s.operationOf(c.Operation)
	if c.Spent == nil || outcome != ps.OutcomeNone && (result == nil || op == nil) {
		return nil
	}
	spent := map[string]int{}
	for name := range c.Spent.Impacts {
		if kind, known := identity.ImpactNamed(name); known && outcome != ps.OutcomeNone {
			spent[name] = affected(kind, op, result, nil)
		}
	}
	return spent
}

// correction is what a run has left to correct of its caller's budgets.
type correction struct {
	reserved *ledger.Reservation
	done     map[ledger.Budget]int
}

// spent returns what was spent, by impact; nil: no correction is due.
func (c *correction) spent() map[string]int {
	if c == nil {
		return nil
	}
	by := map[string]int{}
	for of, n := range c.done {
		by[of.Impact] = n
	}
	return by
}

// spentBy returns what a reservation has of the budgets of one account.
func spentBy(r *ledger.Reservation) *changes.Spent {
	spent := &changes.Spent{At: r.At(), Impacts: map[string]int{}}
	for of, n := range r.Amounts() {
		spent.Account, spent.Impacts[of.Impact] = of.Account, n
	}
	return spent
}

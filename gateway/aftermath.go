package gateway

import (
	"errors"

	"adgateway/gateway/changes"
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
		all = append(all, s.ledger)
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

package gateway

import (
	"cmp"
	"context"
	"errors"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/quota"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// A change is ended once, in one update: its record in the history, its key, its plan, what it
// has spent, the names that it was about to give. The record as the store has it says which.
// Whether the call itself ends it or whoever settles it, it is the same; whoever comes later reads
// the outcome, and does not look at the directory again.

// mostEnding is how long it is tried to store the end of a change at once.
const mostEnding = 15 * time.Second

// storeEndOf ends a change, as a part of an update. It fails with [write.ErrClosed] if that was done before
// with another outcome, or if another gateway has claimed the record, and with [write.ErrEnded] if it was
// done with this one: then the rest was done, too.
func (s *Server) storeEndOf(tx *store.Tx, e *write.End) error {
	latest, err := s.History.Find(tx, e.Record.ID)
	absent, outcome := errors.Is(err, changes.ErrAbsent), e.Verdict.Outcome
	switch {
	case absent && outcome == ps.OutcomeNone:
		return write.ErrEnded
	case absent:
		return write.ErrClosed
	case err != nil:
		return err
	case !latest.Running && latest.Outcome == outcome:
		return cmp.Or(s.History.Put(tx, latest), write.ErrEnded) // it may not be on the disk yet
	case !latest.Running || latest.Token != e.Token:
		return write.ErrClosed
	}
	return s.endChange(tx, latest, e)
}

// endChange ends a change that is running, as a part of an update: its record and all that was
// stored with its beginning.
func (s *Server) endChange(tx *store.Tx, c *changes.Record, e *write.End) error {
	if err := s.endParts(tx, c, e); err != nil {
		return err
	}
	if e.Verdict.Outcome == ps.OutcomeNone {
		s.History.Drop(tx, c.ID)
		return nil
	}
	record := e.Record
	if record == nil {
		record = c
		record.End(e.Verdict.Outcome)
	}
	return s.History.PutEnded(tx, record)
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
	if s.clustered() {
		all = append(all, nameKind{s})
	}
	return all
}

// endParts ends what was stored with the beginning of a change.
func (s *Server) endParts(tx *store.Tx, c *changes.Record, e *write.End) error {
	for _, kind := range s.kinds {
		if err := kind.End(tx, c, e); err != nil {
			return err
		}
	}
	return nil
}

// settled closes a change that was cut off. It fails with [write.ErrClosed] if another one was
// faster. If it is not recorded in the history, only its key is closed.
func (s *Server) settled(recorded bool, c *changes.Record, v *write.Verdict, result *ps.Result) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostEnding)
	defer cancel()
	spent := quota.SpentOf(c, s.operationOf(c.Operation), v.Outcome, result)
	if recorded && result != nil {
		c.Identify(result)
	}
	e := write.Close(c, *v)
	e.Spent = spent
	err := s.store().Update(ctx, func(tx *store.Tx) error {
		if !recorded {
			return s.endParts(tx, c, e)
		}
		err := s.storeEndOf(tx, e)
		if errors.Is(err, write.ErrEnded) {
			return nil
		}
		return err
	})
	if err == nil && recorded {
		s.saved(c)
	}
	if err == nil || errors.Is(err, write.ErrClosed) {
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

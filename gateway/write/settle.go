package write

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/changes"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// A change is ended once, in a single update, together with its history record, its key, its plan, its quotas
// and the names that it reserved. The record in the store says which of these the change has. The call itself
// and a later judge end the change in the same way. A later attempt to end it reads the outcome from the
// store, not from the directory.

// patience is how long the end of an item waits for the beginning of the next one, in the store and in the
// audit.
const patience = 10 * time.Millisecond

// mostEnding limits how long the gateway first tries to store the end of a change.
const mostEnding = 15 * time.Second

// storeEndOf ends a change as part of an update. It fails with [ErrClosed] if the change has ended
// with another outcome, or if another gateway has claimed the record. It fails with [ErrEnded] if
// the change has ended with the same outcome, which includes all its parts.
func (w *Writer) storeEndOf(tx *store.Tx, e *End) error {
	latest, err := changes.FindLast(w.History, tx, e.Record)
	absent, outcome := errors.Is(err, changes.ErrAbsent), e.Verdict.Outcome
	switch {
	case absent && outcome == ps.OutcomeNone:
		return ErrEnded
	case absent:
		return ErrClosed
	case err != nil:
		return err
	case !latest.Running && latest.Outcome == outcome:
		return cmp.Or(w.History.Put(tx, latest), ErrEnded) // it may not be on disk yet
	case !latest.Running || latest.Token != e.Token:
		return ErrClosed
	}
	return w.endChange(tx, latest, e)
}

// endChange ends a running change as part of an update: its record and everything that was stored
// with its beginning.
func (w *Writer) endChange(tx *store.Tx, c *changes.Record, e *End) error {
	if err := w.endParts(tx, c, e); err != nil {
		return err
	}
	if e.Verdict.Outcome == ps.OutcomeNone {
		w.History.Drop(tx, c.ID)
		return nil
	}
	record := e.Record
	if record == nil {
		record = c
		record.End(e.Verdict.Outcome)
	}
	record.Key = "" // the key has ended, too
	return w.History.PutEnded(tx, record)
}

// endParts ends everything that was stored with the beginning of a change, except its record.
func (w *Writer) endParts(tx *store.Tx, c *changes.Record, e *End) error {
	for _, kind := range w.Kinds {
		if err := kind.End(tx, c, e); err != nil {
			return err
		}
	}
	return nil
}

// startSettled marks audit lines that were written after a restart.
const startSettled = "start"

// SettleHistory determines the outcomes of the changes that were in flight when the gateway stopped. It
// returns how many are still unknown; the caller calls it again while there are any. In a cluster it does
// nothing, because the leader determines the outcomes.
func (w *Writer) SettleHistory(ctx context.Context) (left int, err error) {
	if w.History == nil || w.Member != nil {
		return 0, nil
	}
	running, err := w.History.Running(ctx)
	running = slices.DeleteFunc(running, func(c *changes.Record) bool { return !w.evidence.left(ctx, c) })
	for _, c := range running {
		w.lockOpen(c)
	}
	for _, c := range running {
		settled, wrong := w.Settle(ctx, true, c, startSettled)
		err = errors.Join(err, wrong)
		if !settled {
			left++
		}
	}
	return left, errors.Join(err, w.recordDue(ctx))
}

// recordDue writes the due audit lines of an earlier process of this gateway.
func (w *Writer) recordDue(ctx context.Context) error {
	ids, err := w.evidence.due(ctx)
	if err == nil {
		err = w.evidence.unbegun(ids)
	}
	err = errors.Join(err, w.evidence.record(ctx, startSettled, ids))
	if err == nil {
		w.evidence.searched.Store(true)
	}
	return err
}

// Settle determines the outcome of an interrupted change, and closes the change. If recorded is
// false, the change is not in the history, and only its key is closed. done is false if the outcome
// cannot be determined yet. The audit lines name by as the settler.
func (w *Writer) Settle(
	ctx context.Context, recorded bool, c *changes.Record, by string,
) (done bool, err error) {
	v, result := &Verdict{Outcome: ps.OutcomeUnknown}, (*ps.Result)(nil)
	if change, can := settle.Recorded(w.operation(c.Operation), c); can {
		found := w.Settler().Settle(ctx, change)
		if found.Unread != nil && (passing[ps.AsError(found.Unread).Kind] || ctx.Err() != nil) {
			return false, nil
		}
		v, result = VerdictOf(found), found.Result
	}
	if err = w.settled(recorded, c, v, result); errors.Is(err, ErrClosed) {
		return true, nil // another process has closed it first
	}
	if err != nil {
		return false, err
	}
	w.Log.WithFields(logrus.Fields{
		"request_id": c.RequestID, "operation": c.Operation, "outcome": v.Outcome,
	}).Warn("a change that was cut off by the end of a gateway was settled")
	if recorded {
		err = w.evidence.record(ctx, by, map[string]*changes.Record{c.ID: c})
	}
	return true, err
}

// settled closes an interrupted change. It fails with [ErrClosed] if another process has closed it
// first. If the change is not in the history, only its key is closed.
func (w *Writer) settled(recorded bool, c *changes.Record, v *Verdict, result *ps.Result) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostEnding)
	defer cancel()
	var spent map[string]int
	if w.Spent != nil {
		spent = w.Spent(c, w.operation(c.Operation), v.Outcome, result)
	}
	if recorded && result != nil {
		c.Identify(result)
	}
	e := Close(c, *v)
	e.Spent = spent
	err := w.Store.Update(ctx, func(tx *store.Tx) error {
		if !recorded {
			return w.endParts(tx, c, e)
		}
		err := w.storeEndOf(tx, e)
		if errors.Is(err, ErrEnded) {
			return nil
		}
		return err
	})
	if err == nil && recorded {
		w.History.Saved(c)
	}
	if err == nil || errors.Is(err, ErrClosed) {
		w.doubts.end(c.ID)
	}
	return err
}

// passing lists the error kinds after which reading a change's objects is worth retrying.
var passing = map[ps.Kind]bool{
	ps.KindUnavailable: true, ps.KindOverloaded: true, ps.KindTimeout: true, ps.KindDied: true,
	ps.KindCancelled: true,
}

package write

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Every change has an audit line with its outcome, regardless of which process closes it. The first
// update of a change stores a note that the line is due. The note is removed some time after the
// line was written. A restarted gateway writes the missing lines.

// dueKind is the kind of these notes in the store. The key is the id of the change.
const dueKind store.Kind = "due"

// due is a note that a line is due.
type due struct {
	store.Formatted
	Gateway string `json:"gateway,omitempty"` // gateway that audits the change; empty outside of a cluster
}

// evidence writes due audit lines. It is safe for concurrent use.
type evidence struct {
	o         *Options
	startedAt time.Time
	before    map[string]bool // changes with due lines at the start of a gateway outside of a cluster

	writing sync.Mutex // held while missing lines are written, so that each line is written once

	searched atomic.Bool // whether announcements of an earlier process that the store lacks were looked for

	mu   sync.Mutex // guards paid
	paid []string   // changes with written lines whose notes are still to be removed
}

// note stores, as part of an update, that the line of a change is due.
func (e *evidence) note(tx *store.Tx, c *changes.Record) error {
	return store.Save(tx, dueKind, c.ID, due{Gateway: e.o.gateway()}, tx.Now().Add(e.o.History.Life()))
}

// noteBefore reads which lines are due when a gateway outside of a cluster starts.
func (e *evidence) noteBefore(ctx context.Context) error {
	return e.o.Store.Store.Range(ctx, dueKind, "", func(found store.Entry) bool {
		e.before[found.Key] = true
		return true
	})
}

// left reports whether a running change was left by an earlier process of this gateway. Earlier versions
// stored no notes.
func (e *evidence) left(ctx context.Context, c *changes.Record) bool {
	_, err := e.o.Store.Get(ctx, dueKind, c.ID)
	return e.before[c.ID] || errors.Is(err, store.ErrAbsent)
}

// pay records that the lines of changes were written.
func (e *evidence) pay(ids ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paid = append(e.paid, ids...)
}

// take removes the oldest paid changes from the queue and returns them.
func (e *evidence) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.paid), store.MostChanges)
	taken := e.paid[:n:n]
	e.paid = e.paid[n:]
	return taken
}

// removePaid removes the notes of lines that were written.
func (e *evidence) removePaid(ctx context.Context) error {
	for {
		all := e.take()
		if len(all) == 0 {
			return nil
		}
		err := e.o.ending().Update(ctx, func(tx *store.Tx) error {
			for _, id := range all {
				tx.Delete(dueKind, id)
			}
			return nil
		})
		if err != nil {
			e.pay(all...)
			return err
		}
	}
}

// record writes the missing lines of changes that were closed or that changed nothing, and removes
// their notes. ids maps changes to their records; nil if a record was removed.
func (e *evidence) record(ctx context.Context, by string, ids map[string]*changes.Record) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	found, err := e.findLines(ids)
	if err != nil {
		return err
	}
	for id, c := range ids {
		present, wrong := e.o.History.Get(ctx, id)
		outcome := ps.OutcomeNone
		switch {
		case errors.Is(wrong, changes.ErrAbsent):
		case wrong != nil:
			err = errors.Join(err, wrong)
			continue
		case present.Running:
			continue
		default:
			c, outcome = present, present.Outcome
		}
		of := found[id]
		if of == nil {
			of = &audit.Found{}
		}
		if wrong := e.writeLines(id, c, outcome, of, by); wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		if _, wrong := e.o.Store.Get(ctx, dueKind, id); wrong == nil {
			e.pay(id)
		}
	}
	return err
}

// findLines returns the audit's lines about changes.
func (e *evidence) findLines(ids map[string]*changes.Record) (map[string]*audit.Found, error) {
	if e.o.Audit == nil || len(ids) == 0 {
		return nil, nil
	}
	wanted, since := map[string]bool{}, time.Now()
	for id := range ids {
		wanted[id] = true
		if made, ok := changes.Time(id); ok && made.Before(since) {
			since = made
		}
	}
	return e.o.Audit.Find(wanted, since)
}

// writeLines writes the missing lines with the outcome of a change. c is nil if the record was
// removed.
func (e *evidence) writeLines(
	id string, c *changes.Record, outcome ps.Outcome, has *audit.Found, by string,
) error {
	told := map[uint64]bool{}
	for _, line := range has.Outcomes {
		if line.Outcome != string(ps.OutcomeUnknown) || outcome == ps.OutcomeUnknown {
			told[line.Intent] = true
		}
	}
	result := audit.Result{Outcome: string(outcome), SettledBy: by}
	if c != nil {
		result.Server = c.Server
		result.Changes, result.Failed = e.changesOf(c, outcome)
	}
	for _, intent := range has.Intents {
		if told[intent.Seq] {
			continue
		}
		call := audit.Call{
			RequestID: intent.RequestID, Who: intent.Who, From: intent.From, Operation: intent.Operation,
			PlanCaller: intent.PlanCaller, Change: id, Degraded: intent.Degraded,
		}
		if err := e.o.Audit.Settled(call, intent.Seq, result); err != nil {
			return err
		}
	}
	if len(has.Intents) > 0 || len(told) > 0 || c == nil || outcome == ps.OutcomeNone {
		return nil // without an intent, the change was not begun
	}
	who := c.Who()
	call := audit.Call{
		RequestID: c.RequestID, Who: &who, Operation: c.Operation, Parameters: c.Parameters,
		Change: id, Degraded: c.Degraded,
	}
	return e.o.Audit.Settled(call, 0, result)
}

// changesOf returns the changes that a change has made, as its audit line shows them, and the
// objects that it has not changed.
func (e *evidence) changesOf(c *changes.Record, outcome ps.Outcome) (done []ps.Change, failed []ps.Object) {
	change, can := settle.Recorded(e.o.operation(c.Operation), c)
	if !can || outcome != ps.OutcomeDone && outcome != ps.OutcomePartial {
		return nil, nil
	}
	for _, guid := range c.Failed {
		failed = append(failed, ps.Object{GUID: guid})
	}
	if outcome == ps.OutcomePartial && len(failed) == 0 {
		return nil, nil // it is unknown which of its values were changed
	}
	return settle.Unread(change, c.Failed...).Result.Changes, failed
}

// unbegun adds changes that the store may lack to ids. An earlier process outside of a cluster has announced
// these to the audit, which is written at the same time as the store.
func (e *evidence) unbegun(ids map[string]*changes.Record) error {
	if e.searched.Load() || e.o.Member != nil {
		return nil
	}
	found, err := e.o.Audit.Unended()
	if err != nil {
		return err
	}
	for _, id := range found {
		if _, known := ids[id]; !known {
			ids[id] = nil
		}
	}
	return nil
}

// due returns the changes whose lines an earlier process of this gateway has not written.
func (e *evidence) due(ctx context.Context) (map[string]*changes.Record, error) {
	ids := map[string]*changes.Record{}
	var wrong error
	err := e.o.Store.Range(ctx, dueKind, "", func(found store.Entry) bool {
		var note due
		if wrong = store.Decode(e.o.Store, found.Value, &note); wrong != nil {
			return false
		}
		made, _ := changes.Time(found.Key)
		earlier := e.before[found.Key] || e.o.Member != nil && !made.After(e.startedAt)
		if earlier && note.Gateway == e.o.gateway() {
			ids[found.Key] = nil
		}
		return true
	})
	return ids, errors.Join(err, wrong)
}

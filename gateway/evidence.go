package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Every change has a line in the audit about its outcome, whoever closes it. The first batch
// of a change notes that the line is due. The note is removed some time after the line was
// written; a gateway that is started again writes the lines that are missing.

// dueKind is the kind of these notes, by identity of the change.
const dueKind store.Kind = "due"

// due is the note that a line is due.
type due struct {
	store.Formatted
	Gateway string `json:"gateway,omitempty"` // in whose audit; empty: there is only one
}

// startSettled marks lines that were written when the gateway was started again.
const startSettled = "start"

// gatewayName returns the name of the gateway in its cluster; empty: it is
// alone.
func (s *Server) gatewayName() string {
	return s.process().Gateway
}

// noteDue notes that the line of a change is due, as a part of an update.
func (s *Server) noteDue(tx *store.Tx, c *changes.Record) error {
	return store.Save(tx, dueKind, c.ID, due{Gateway: s.gatewayName()}, tx.Now().Add(s.History.Life()))
}

// paid are the notes of lines that were written, which are still to be removed. They are safe
// for concurrent use.
type paid struct {
	writing sync.Mutex // of missing lines, so that each is written once

	mu  sync.Mutex // guards all
	all []string   // identities of the changes
}

func (p *paid) add(ids ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, ids...)
}

// take takes the notes that wait longest.
func (p *paid) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.all), store.MostChanges)
	taken := p.all[:n:n]
	p.all = p.all[n:]
	return taken
}

// removePaid removes the notes of lines that were written.
func (s *Server) removePaid(ctx context.Context) error {
	for {
		all := s.paid.take()
		if len(all) == 0 {
			return nil
		}
		in := s.store()
		if s.Member != nil {
			in = s.Relay
		}
		err := in.Update(ctx, func(tx *store.Tx) error {
			for _, id := range all {
				tx.Delete(dueKind, id)
			}
			return nil
		})
		if err != nil {
			s.paid.add(all...)
			return err
		}
	}
}

// recordSettled writes the missing lines of changes that were closed, or of which nothing was
// changed, and removes their notes. The record of a change that was removed may be given.
func (s *Server) recordSettled(ctx context.Context, by string, ids map[string]*changes.Record) error {
	s.paid.writing.Lock()
	defer s.paid.writing.Unlock()
	found, err := s.findLines(ids)
	if err != nil {
		return err
	}
	for id, c := range ids {
		present, wrong := s.History.Get(ctx, id)
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
		if wrong := s.writeLines(id, c, outcome, of, by); wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		if _, wrong := s.store().Get(ctx, dueKind, id); wrong == nil {
			s.paid.add(id)
		}
	}
	return err
}

// findLines returns what the audit has of changes.
func (s *Server) findLines(ids map[string]*changes.Record) (map[string]*audit.Found, error) {
	if s.Audit == nil || len(ids) == 0 {
		return nil, nil
	}
	wanted, since := map[string]bool{}, time.Now()
	for id := range ids {
		wanted[id] = true
		if made, ok := changes.Time(id); ok && made.Before(since) {
			since = made
		}
	}
	return s.Audit.Find(wanted, since)
}

// writeLines writes the lines about the outcome of a change that are missing. Its record is
// nil if it was removed.
func (s *Server) writeLines(id string, c *changes.Record, outcome ps.Outcome, has *audit.Found, by string) error {
	told := map[uint64]bool{}
	for _, line := range has.Outcomes {
		if line.Outcome != string(ps.OutcomeUnknown) || outcome == ps.OutcomeUnknown {
			told[line.Intent] = true
		}
	}
	result := audit.Result{Outcome: string(outcome), SettledBy: by}
	if c != nil {
		result.Server = c.Server
		result.Changes, result.Failed = s.changesOf(c, outcome)
	}
	for _, intent := range has.Intents {
		if told[intent.Seq] {
			continue
		}
		call := audit.Call{RequestID: intent.RequestID, Who: intent.Who, From: intent.From, Operation: intent.Operation, PlanCaller: intent.PlanCaller, Change: id, Degraded: intent.Degraded}
		if err := s.Audit.Settled(call, intent.Seq, result); err != nil {
			return err
		}
	}
	if len(has.Intents) > 0 || len(told) > 0 || c == nil || outcome == ps.OutcomeNone {
		return nil // what has no intent was not begun
	}
	call := audit.Call{RequestID: c.RequestID, Who: &audit.Who{Name: c.Caller}, Operation: c.Operation, Parameters: c.Parameters, Change: id, Degraded: c.Degraded}
	return s.Audit.Settled(call, 0, result)
}

// changesOf returns what a change has done, as its audit line shows it, and what it has not.
func (s *Server) changesOf(c *changes.Record, outcome ps.Outcome) (done []ps.Change, failed []ps.Object) {
	change, can := settle.Recorded(s.operationOf(c.Operation), c)
	if !can || outcome != ps.OutcomeDone && outcome != ps.OutcomePartial {
		return nil, nil
	}
	for _, guid := range c.Failed {
		failed = append(failed, ps.Object{GUID: guid})
	}
	if outcome == ps.OutcomePartial && len(failed) == 0 {
		return nil, nil // which of its values were changed is not known
	}
	return settle.Unread(change, c.Failed...).Result.Changes, failed
}

// recordDue writes the lines that an earlier process of this gateway has left due.
func (s *Server) recordDue(ctx context.Context) error {
	ids := map[string]*changes.Record{}
	var wrong error
	err := s.store().Range(ctx, dueKind, "", func(e store.Entry) bool {
		var note due
		if wrong = store.Decode(s.store(), e.Value, &note); wrong != nil {
			return false
		}
		made, _ := changes.Time(e.Key)
		if note.Gateway == s.gatewayName() && (s.before[e.Key] || s.clustered() && !made.After(s.startedAt)) {
			ids[e.Key] = nil
		}
		return true
	})
	return errors.Join(err, wrong, s.recordSettled(ctx, startSettled, ids))
}

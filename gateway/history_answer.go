package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// shownChange is a change as answers show it.
type shownChange struct {
	ID        string               `json:"id"`
	RequestID string               `json:"requestId"`
	Time      string               `json:"time"`
	Caller    string               `json:"caller"`
	Operation string               `json:"operation"`
	Effect    ps.Effect            `json:"effect"`
	Outcome   ps.Outcome           `json:"outcome"`
	Server    string               `json:"server"`
	Objects   []change.ShownObject `json:"objects"`
	Undo      schema.Undoable      `json:"undo"`
	Undoes    *string              `json:"undoes"`
	UndoneBy  []string             `json:"undoneBy"`
	Plan      *string              `json:"plan"`
	Batch     *string              `json:"batch"`
	Degraded  bool                 `json:"degraded"`
}

// past is a recorded change with what it did.
type past struct {
	*changes.Record
	made change.Made
}

// pastOf returns a recorded change, or false if its row does not exist any more.
func (s *Server) pastOf(c *changes.Record) (*past, bool) {
	op := s.operationOf(c.Operation)
	if op == nil || op.Reply.Shape == nil && op.Protocol == nil {
		return nil, false
	}
	if c.Rebuilt {
		known := *op
		known.Undo = ops.Undo{Never: "it was read back from the audit log, which has no image of what was there before"}
		op = &known
	}
	done := ops.Done{Op: op, Texts: c.Parameters, Secret: c.Secret, Intent: &c.Intent}
	return &past{c, change.MadeBy(s.Operations, done, c.Zone)}, true
}

// show returns the change as answers show it.
func (s *Server) show(ctx context.Context, p *past, principal *identity.Principal, whole bool) shownChange {
	shown := shownChange{
		ID: p.ID, RequestID: p.RequestID, Time: p.Time.UTC().Format(time.RFC3339Nano), Caller: p.Caller, Operation: p.Operation, Effect: p.Intent.Effect,
		Outcome: p.Outcome, Server: p.Server, Undo: s.undoable(ctx, p), Undoes: call.OrNull(p.Undoes), UndoneBy: []string{},
		Plan: call.OrNull(p.Plan), Batch: call.OrNull(p.Batch), Degraded: p.Degraded,
	}
	if p.Running {
		shown.Outcome = ps.OutcomeUnknown
	}
	for _, undoing := range p.UndoneBy {
		shown.UndoneBy = append(shown.UndoneBy, undoing.ID)
	}
	shown.Objects = p.made.Objects(change.BoundsOf(principal.Limits), whole)
	return shown
}

// showChange answers with one change.
func (s *Server) showChange(r *request) (call.Answer, error) {
	p, failed := s.findChange(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	shown := s.show(r.ctx, p, r.principal, true)
	if r.bound.Text("Compare") == "true" {
		if failed := s.compareNow(r, p, &shown); failed != nil {
			return call.Answer{}, failed
		}
	}
	answer := r.accepted().Answer("The change was found.", shown)
	answer.Server = r.server
	return answer, nil
}

// findChange returns the change that a call is about.
func (s *Server) findChange(r *request) (*past, error) {
	id := r.bound.Text(ops.ChangeIDParam)
	c, err := s.History.Get(r.ctx, id)
	switch {
	case errors.Is(err, changes.ErrAbsent):
	case err != nil:
		return nil, historyUnavailable(err)
	default:
		if p, known := s.pastOf(c); known && change.BoundsOf(r.principal.Limits).See(p.made) {
			return p, nil
		}
	}
	made, _ := changes.Time(id)
	if r.op.Effect.Writes() && s.store().Now().Sub(made) > s.History.Life() {
		return nil, problem.New(schema.NotUndoable, "The change '%s' is no longer kept: changes are kept for %s.", id, s.History.Life())
	}
	return nil, problem.New(schema.NotFound, "There is no change '%s', or the credential may not see it.", id)
}

func historyUnavailable(err error) error {
	failed := problem.New(schema.Unavailable, "The history cannot be read at the moment. Try again later.")
	failed.Cause, failed.RetryAfter = err, call.StoreRetry
	return failed
}

// listChanges answers with the changes that pass the filters.
func (s *Server) listChanges(r *request) (call.Answer, error) {
	b := r.bound
	if b.Has(ops.WaitName) {
		return s.awaitChanges(r)
	}
	since, until := moment(b.Text("Since")), moment(b.Text("Until"))
	var limit int
	_ = json.Unmarshal([]byte(b.Text("Limit")), &limit) // it is a number, or the default
	before, failed := s.cursors.Open(r.accepted())
	if failed != nil {
		return call.Answer{}, failed
	}
	ctx, bounds := r.ctx, change.BoundsOf(r.principal.Limits)
	records, last, more, seen := []any{}, "", false, 0
	err := s.History.Newest(ctx, until, before, func(c *changes.Record) bool {
		if c.Time.Before(since) {
			return false
		}
		if len(records) == limit || seen == maxScan {
			more = true
			return false
		}
		seen++
		last = c.ID
		if p, known := s.pastOf(c); known && bounds.See(p.made) && s.passes(ctx, b, p) {
			records = append(records, s.show(ctx, p, r.principal, false))
		}
		return true
	})
	if err != nil {
		return call.Answer{}, historyUnavailable(err)
	}
	answer := r.accepted().Found(records)
	if more {
		answer.Next = s.cursors.Seal(r.accepted(), last)
	}
	return answer, nil
}

// maxScan is the limit on the changes that one call reads.
const maxScan = 20_000

func moment(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // absent: the zero time
	return t
}

// passes reports whether a change passes the filters of a call.
func (s *Server) passes(ctx context.Context, b *ops.Bound, p *past) bool {
	resource, _, _ := strings.Cut(p.Operation, ".")
	outcome := p.Outcome
	if p.Running {
		outcome = ps.OutcomeUnknown
	}
	for name, has := range map[string]func(string) bool{
		"Operation": func(want string) bool {
			return strings.EqualFold(want, p.Operation) || strings.EqualFold(want, resource)
		},
		"Caller":  func(want string) bool { return strings.EqualFold(want, p.Caller) },
		"Outcome": func(want string) bool { return want == string(outcome) },
		"Undo":    func(want string) bool { return want == string(s.undoable(ctx, p)) },
		"Object":  p.isAbout,
	} {
		if want := b.Text(name); want != "" && !has(want) {
			return false
		}
	}
	return true
}

package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// An undo makes calls of other rows, by whoever undoes: with his scopes, his limits and lines of
// their own in the audit. What their scripts announce must be the recorded change the other way
// round; otherwise something was changed since, and nothing is done.

// undoable returns how much of a change can be undone, of what was not undone yet.
func (s *Server) undoable(ctx context.Context, p *past) schema.Undoable {
	if p.Running || p.Outcome == ps.OutcomeUnknown {
		return schema.UndoNone
	}
	return p.made.Undoable(func(fields ...string) bool { return s.undone(ctx, p, fields) })
}

// undone reports whether a change, or one of some fields of it, is undone by a change that
// stands.
func (s *Server) undone(ctx context.Context, p *past, fields []string) bool {
	return s.undoneBy(ctx, p.Record, fields, 0) != ""
}

// undoneBy returns the change that undid a change and stands; empty if there is none.
func (s *Server) undoneBy(ctx context.Context, c *changes.Record, fields []string, depth int) string {
	const deepest = 20
	for _, by := range slices.Backward(c.UndoneBy) {
		if len(by.Fields) > 0 && len(fields) > 0 && !slices.ContainsFunc(fields, func(field string) bool {
			return slices.ContainsFunc(by.Fields, func(other string) bool { return strings.EqualFold(field, other) })
		}) {
			continue
		}
		if len(by.Fields) > 0 && len(fields) == 0 {
			continue // only a part
		}
		other, err := s.History.Get(ctx, by.ID)
		if err == nil && depth < deepest && len(other.UndoneBy) > 0 && s.undoneBy(ctx, other, nil, depth+1) != "" {
			continue
		}
		return by.ID
	}
	return ""
}

// undo takes a change back.
func (s *Server) undo(r *request) (call.Answer, error) {
	first, failed := s.settleUndo(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	p, failed := s.findChange(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	var before []*changes.Record
	if first != "" {
		if before, failed = s.takeBefore(r.ctx, p, first); failed != nil {
			return call.Answer{}, failed
		}
	}
	done, failed := s.toUndo(r.ctx, p, names(r.bound.Text(ops.UndoFields)))
	if failed != nil {
		return call.Answer{}, failed
	}
	calls := p.made.Op.Undo.Calls(done)
	if len(calls) == 0 {
		return call.Answer{}, problem.New(schema.NotUndoable, "The change '%s' cannot be undone: the history has no image of what was there before.", p.ID)
	}
	for i := range calls {
		if s.operationOf(calls[i].Row) == nil {
			return call.Answer{}, problem.New(schema.NotUndoable, "The change '%s' cannot be undone: this gateway cannot restore from the Recycle Bin.", p.ID)
		}
	}
	if len(before) < len(calls) {
		if failed := s.guardUndo(r, p, calls); failed != nil {
			return call.Answer{}, failed
		}
	}
	return s.undoAll(r, p, first, before, calls)
}

// guardUndo holds an undo against the plan and the state that the request names.
func (s *Server) guardUndo(r *request, p *past, calls []ops.Undoing) error {
	if failed := s.findPlan(r); failed != nil {
		return failed
	}
	if len(calls) > 1 {
		r.fingerprint = nil // no plan is kept, as none could be applied
	}
	if r.applying != nil && len(calls) > 1 {
		return problem.New(schema.NotSupported, "The undo of the change '%s' takes several calls, of which each is compared on its own: leave out %s.", p.ID, ops.PlanID)
	}
	if r.checked.Conditions.Match != nil {
		if len(calls) > 1 {
			return call.NotHonoured(ops.IfMatch, "the undo takes several calls, each about an object of its own")
		}
		if row := s.operationOf(calls[0].Row); !row.Guard.Matches() {
			return call.NotHonoured(ops.IfMatch, "the undo is a call of "+row.ID+", and "+row.Guard.Never)
		}
	}
	return nil
}

// settleUndo finds out what became of an undo of an earlier call with the key of a request
// that was cut off, and returns the first of the changes that it made; empty if
// it made none. The key stays as it is while that is not known: whoever is asked next, here
// or at another gateway, goes on from there.
func (s *Server) settleUndo(r *request) (first string, failed error) {
	if r.key == nil || !r.key.unsure {
		return "", nil
	}
	key, call := r.key, &r.key.call
	_, err := s.History.Get(r.ctx, call.Change)
	if call.Intent != nil && call.Verdict == nil && !errors.Is(err, changes.ErrAbsent) { // else it was not made
		if failed = s.judge(r, key); failed != nil {
			key.open = true
			return "", failed
		}
	}
	switch v := call.Verdict; {
	case v == nil:
		call.Intent, call.Change = nil, ""
		return call.Batch, nil
	case v.Outcome == ps.OutcomeUnknown:
		r.shown = call.Change
		return "", unknownOutcome(call)
	}
	return cmp.Or(call.Batch, call.Change), nil
}

// takeBefore takes the undo that began with a change out of those that a change is undone
// by, so that it can be completed, and returns what it has made.
func (s *Server) takeBefore(ctx context.Context, p *past, first string) (before []*changes.Record, failed error) {
	var others []changes.Undoing
	for _, by := range p.UndoneBy {
		made, err := s.History.Get(ctx, by.ID)
		if err != nil && !errors.Is(err, changes.ErrAbsent) {
			return nil, historyUnavailable(err)
		}
		if err != nil || made.ID != first && made.Batch != first {
			others = append(others, by)
			continue
		}
		before = append(before, made)
	}
	p.UndoneBy = others
	return before, nil
}

// madeBefore returns the change that one of the calls has made before; nil if it has not.
func madeBefore(before []*changes.Record, i, n int) *changes.Record {
	for _, made := range before {
		if n == 1 || strings.HasSuffix(made.RequestID, nthCall(i)) {
			return made
		}
	}
	return nil
}

// nthCall completes the request id of an undo that takes several calls.
func nthCall(i int) string { return fmt.Sprintf(".%d", i+1) }

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// toUndo returns the part of a change that is to be undone, or why it cannot be.
func (s *Server) toUndo(ctx context.Context, p *past, fields []string) (ops.Done, error) {
	cannot := func(why string, args ...any) error {
		return problem.New(schema.NotUndoable, "The change '%s' cannot be undone: %s.", p.ID, fmt.Sprintf(why, args...))
	}
	switch {
	case p.made.Op.Undo.Never != "":
		return ops.Done{}, cannot("%s", p.made.Op.Undo.Never)
	case p.Running:
		failed := problem.New(schema.InProgress, "The change '%s' is being made, or being settled. Try again later.", p.ID)
		failed.RetryAfter = time.Second
		return ops.Done{}, failed
	case p.Outcome == ps.OutcomeUnknown:
		return ops.Done{}, cannot("it is not known what became of it")
	}
	if failed := p.unknownField(fields); failed != nil {
		return ops.Done{}, failed
	}
	if by := s.undoneBy(ctx, p.Record, fields, 0); by != "" {
		failed := problem.New(schema.PlanUsed, "The change '%s' was undone already, by the change '%s'.", p.ID, by)
		failed.Details = []problem.Detail{{Field: ops.ChangeIDParam, Message: "was undone by " + by}}
		return ops.Done{}, failed
	}
	intent := p.Intent
	intent.Objects = slices.Clone(intent.Objects)
	from := p.made.Announcement()
	var lost []problem.Detail
	for i := range intent.Objects {
		object := &intent.Objects[i]
		all := object.Changes
		object.Changes = nil
		for _, c := range all {
			picked := len(fields) == 0 || p.Intent.Effect == ps.EffectCreated
			for _, planned := range from.Changes(object, c) {
				wanted := len(fields) == 0 || slices.ContainsFunc(fields, func(name string) bool {
					return strings.EqualFold(name, planned.Field) || strings.EqualFold(name, planned.Attribute)
				})
				picked = picked || wanted
				if wanted && p.made.UndoableValue(c, planned) == schema.UndoNone && !s.undone(ctx, p, []string{planned.Field}) {
					lost = append(lost, problem.Detail{Field: planned.Field, Message: "cannot be brought back"})
				}
			}
			if picked && !s.undoneValue(ctx, p, from, object, c) {
				object.Changes = append(object.Changes, c)
			}
		}
	}
	done := p.made.Done
	done.Intent = &intent
	if loss := p.made.Loss(done); loss != "" && len(fields) == 0 {
		lost = append(lost, problem.Detail{Field: "", Message: "This does not come back: " + loss + "."})
	}
	if len(lost) > 0 && !(len(fields) > 0 && p.made.Op.Undo.Loss != nil) {
		failed := problem.Of(cannot("not all of it comes back; see details. Fields takes back what can be"))
		failed.Details = lost
		return ops.Done{}, failed
	}
	return done, nil
}

// unknownField refuses fields that the change did not change.
func (p *past) unknownField(fields []string) error {
	known := map[string]bool{}
	for _, object := range change.Of(p.made.Announcement()) {
		for _, c := range object.Changes {
			known[strings.ToLower(c.Field)], known[strings.ToLower(c.Attribute)] = true, true
		}
	}
	for _, name := range fields {
		if !known[strings.ToLower(name)] {
			return problem.Invalid([]schema.FieldError{{Field: ops.UndoFields, Code: schema.InvalidRequest, Message: "names a field that the change did not change"}})
		}
	}
	return nil
}

// undoneValue reports whether all fields of a change of a value are undone already.
func (s *Server) undoneValue(ctx context.Context, p *past, from change.Announcement, object *ps.Intended, c ps.IntendedChange) bool {
	if len(p.UndoneBy) == 0 {
		return false
	}
	planned := from.Changes(object, c)
	return len(planned) > 0 && !slices.ContainsFunc(planned, func(one change.Change) bool { return !s.undone(ctx, p, []string{one.Field}) })
}

// undoAll makes the calls that take a change back, and answers. The calls after the first
// go on if one of them fails: each is an object of its own. batch is the first of the changes
// that were made before.
func (s *Server) undoAll(
	r *request, p *past, batch string, before []*changes.Record, calls []ops.Undoing,
) (call.Answer, error) {
	records, details := []any{}, []problem.Detail{}
	var plans []json.RawMessage
	var first error
	for i := range calls {
		if made := madeBefore(before, i, len(calls)); made != nil {
			records, r.server = append(records, s.shown(r, made)...), cmp.Or(made.Server, r.server)
			if made.Outcome == ps.OutcomePartial {
				first = cmp.Or(first, error(problem.New(schema.Partial, "The change '%s' was made in part.", made.ID)))
				details = append(details, problem.Detail{Field: "", Message: problem.Of(first).Message})
			}
			continue
		}
		id := r.id
		if len(calls) > 1 {
			id += nthCall(i)
		}
		answer, failed := s.Do(r.ctx, s.takingBack(r, p, &calls[i], id, batch), nil)
		r.unkept = r.unkept || slices.Contains(answer.Warnings, notInHistory)
		r.shown = cmp.Or(answer.ChangeID, r.shown)
		switch {
		case failed != nil:
			first = cmp.Or(first, failed)
			found := problem.Of(failed)
			details = append(details, found.Details...)
			if len(calls) > 1 {
				details = append(details, problem.Detail{Field: "", Message: found.Message})
			}
			if call.PartOf(failed) != nil {
				answer.Server = found.Server
			}
		case r.dryRun():
			plans = append(plans, answer.Plan)
		case answer.Change != nil:
			records = append(records, s.shown(r, answer.Change)...)
			batch = cmp.Or(batch, answer.Change.ID)
		}
		r.server = cmp.Or(answer.Server, r.server)
		buildOnFirst := calls[0].Row != calls[len(calls)-1].Row
		if (failed != nil || r.dryRun()) && buildOnFirst && i == 0 || failed != nil && r.dryRun() {
			break
		}
	}
	return s.answerUndo(r, p, records, plans, first, details)
}

// takingBack returns a call that takes back a change, or a part of it. batch is the first of the
// changes that the undo has made; empty: this call makes it.
func (s *Server) takingBack(r *request, p *past, u *ops.Undoing, id, batch string) call.Call {
	given := maps.Clone(u.Given)
	if r.dryRun() {
		given[ops.DryRun] = "true"
	}
	c := r.Part(id, s.operationOf(u.Row), given)
	c.Undoes = call.Undoing{Change: p.ID, Fields: names(r.bound.Text(ops.UndoFields)), Batch: batch}
	for i := range p.Intent.Objects {
		c.Undoes.Objects = append(c.Undoes.Objects, p.Intent.Objects[i].GUID)
	}
	c.Guards = []call.Guard{&asRecorded{
		of: r, row: c.Op, record: p.Record, call: u, from: p.made.Announcement(),
		created: p.Intent.Effect == ps.EffectCreated, accept: names(r.bound.Text(ops.AcceptDrift)),
	}}
	return c
}

// shown returns a change as the answer shows it; nothing if this gateway does not have its row.
func (s *Server) shown(r *request, c *changes.Record) (records []any) {
	if past, known := s.pastOf(c); known {
		records = append(records, s.show(r.ctx, past, r.principal, false))
	}
	return records
}

// answerUndo answers an undo. With an error the answer names what was done before.
func (s *Server) answerUndo(
	r *request, p *past, records []any, plans []json.RawMessage, first error, details []problem.Detail,
) (call.Answer, error) {
	if len(records) > 0 {
		r.shown = records[0].(shownChange).ID
	}
	switch {
	case first != nil && (len(records) == 0 || r.dryRun()):
		problem.Of(first).Details = details
		return call.Answer{}, first
	case first != nil:
		failed := problem.New(schema.Partial, "A part of the change '%s' was undone; see details.", p.ID)
		failed.Details, failed.Outcome = details, ps.OutcomePartial
		failed.Server = r.server
		return call.Answer{}, &call.Partly{Problem: failed, Records: encode(records)}
	case r.dryRun():
		return s.answerUndoPlan(r, p, plans)
	}
	answer := r.accepted().Answer(fmt.Sprintf("The change was undone: %s.", p.Operation), records...)
	answer.Server = r.server
	return answer, nil
}

// answerUndoPlan answers the dry run of an undo, with the plans of its calls.
func (s *Server) answerUndoPlan(r *request, p *past, plans []json.RawMessage) (call.Answer, error) {
	shown := plans[0]
	if len(plans) > 1 {
		all := make([]change.Plan, len(plans))
		for i := range plans {
			if err := json.Unmarshal(plans[i], &all[i]); err != nil {
				return call.Answer{}, problem.Internal(err)
			}
		}
		shown = encode(all[0].And(all[1:]...))
	}
	answer := r.accepted().Answer(fmt.Sprintf("Would undo the change '%s'.", p.ID))
	answer.Server, answer.Plan = r.server, shown
	return answer, nil
}

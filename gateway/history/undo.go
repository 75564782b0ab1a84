package history

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
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// An undo makes calls of other rows on behalf of its caller, with the caller's scopes and limits, and each
// call has its own audit lines. Their scripts must announce the reverse of the recorded change. Otherwise
// something has changed since, and nothing is done.

// undoing is the undo of a change, or of a part of it, that a call requests.
type undoing struct {
	*Service
	a      call.Accepted
	p      *past
	fields []string // fields to undo; empty for all
}

// undo undoes a change.
func (s *Service) undo(ctx context.Context, a call.Accepted) (call.Answer, error) {
	first, err := a.As.Resumed(ctx)
	if err != nil {
		return call.Answer{ChangeID: first}, err
	}
	p, err := s.find(ctx, a)
	if err != nil {
		return call.Answer{}, err
	}
	u := &undoing{Service: s, a: a, p: p, fields: names(a.Bound.Text(ops.UndoFields))}
	var before []*changes.Record
	if first != "" {
		if before, err = u.takeBefore(ctx, first); err != nil {
			return call.Answer{}, err
		}
	}
	done, err := u.toUndo(ctx)
	if err != nil {
		return call.Answer{}, err
	}
	calls := p.made.Op.Undo.Calls(done)
	if err = u.possible(calls); err != nil {
		return call.Answer{}, err
	}
	if len(before) < len(calls) {
		if err = u.guard(ctx, calls); err != nil {
			return call.Answer{}, err
		}
	}
	return u.all(ctx, first, before, calls)
}

// cannot returns the error for a change that cannot be undone.
func (u *undoing) cannot(why string, args ...any) error {
	why = fmt.Sprintf(why, args...)
	return problem.New(schema.NotUndoable, "The change '%s' cannot be undone: %s.", u.p.ID, why)
}

// possible refuses an undo that consists of no calls, or of calls whose rows the gateway does not have.
func (u *undoing) possible(calls []ops.Undoing) error {
	if len(calls) == 0 {
		return u.cannot("the history has no image of what was there before")
	}
	for i := range calls {
		if ops.Find(u.Operations, calls[i].Row) == nil {
			return u.cannot("this gateway cannot restore from the Recycle Bin")
		}
	}
	return nil
}

// guard compares an undo with the plan and the state that the call names.
func (u *undoing) guard(ctx context.Context, calls []ops.Undoing) error {
	if err := u.a.As.Plan(ctx, len(calls)); err != nil {
		return err
	}
	if u.a.Bound.Has(ops.PlanID) && len(calls) > 1 {
		const message = "The undo of the change '%s' takes several calls, of which each is compared on its own: " +
			"leave out %s."
		return problem.New(schema.NotSupported, message, u.p.ID, ops.PlanID)
	}
	if len(u.a.Match) == 0 {
		return nil
	}
	if len(calls) > 1 {
		return call.NotHonored(ops.IfMatch, "the undo takes several calls, each about an object of its own")
	}
	if row := ops.Find(u.Operations, calls[0].Row); !row.Guard.Matches() {
		return call.NotHonored(ops.IfMatch, "the undo is a call of "+row.ID+", and "+row.Guard.Never)
	}
	return nil
}

// takeBefore prepares the completion of the interrupted undo with the given first change. It removes that
// undo from the undos of its change, and returns the changes that the undo has made so far.
func (u *undoing) takeBefore(ctx context.Context, first string) (before []*changes.Record, err error) {
	var others []changes.Undoing
	for _, by := range u.p.UndoneBy {
		record, err := u.History.Get(ctx, by.ID)
		if err != nil && !errors.Is(err, changes.ErrAbsent) {
			return nil, problem.HistoryUnavailable(err)
		}
		if err != nil || record.ID != first && record.Batch != first {
			others = append(others, by)
			continue
		}
		before = append(before, record)
	}
	u.p.UndoneBy = others
	return before, nil
}

// madeBefore returns the earlier change by one of the calls, or nil if the call made none.
func madeBefore(before []*changes.Record, i, n int) *changes.Record {
	for _, record := range before {
		if n == 1 || strings.HasSuffix(record.RequestID, nthCall(i)) {
			return record
		}
	}
	return nil
}

// nthCall returns the suffix of the request id for one of several calls of an undo.
func nthCall(i int) string { return fmt.Sprintf(".%d", i+1) }

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// toUndo returns the part of the change to undo, or an error if it cannot be undone.
func (u *undoing) toUndo(ctx context.Context) (ops.Done, error) {
	p := u.p
	switch {
	case p.made.Op.Undo.Never != "":
		return ops.Done{}, u.cannot("%s", p.made.Op.Undo.Never)
	case p.Running:
		failed := problem.New(schema.InProgress,
			"The change '%s' is being made, or being settled. Try again later.", p.ID)
		failed.RetryAfter = time.Second
		return ops.Done{}, failed
	case p.Outcome == ps.OutcomeUnknown:
		return ops.Done{}, u.cannot("its outcome is unknown")
	}
	if err := u.unknownField(); err != nil {
		return ops.Done{}, err
	}
	if by := u.undoneBy(ctx, p.Record, u.fields, 0); by != "" {
		failed := problem.New(schema.PlanUsed, "The change '%s' was undone already, by the change '%s'.", p.ID, by)
		failed.Details = []problem.Detail{{Field: ops.ChangeIDParam, Message: "was undone by " + by}}
		return ops.Done{}, failed
	}
	intent := p.Intent
	intent.Objects = slices.Clone(intent.Objects)
	var lost []problem.Detail
	for i := range intent.Objects {
		object := &intent.Objects[i]
		all := object.Changes
		object.Changes = nil
		for _, c := range all {
			picked, missing := u.pick(ctx, object, c)
			lost = append(lost, missing...)
			if picked && !u.undoneValue(ctx, object, c) {
				object.Changes = append(object.Changes, c)
			}
		}
	}
	done := p.made.Done
	done.Intent = &intent
	if loss := p.made.Loss(done); loss != "" && len(u.fields) == 0 {
		lost = append(lost, problem.Detail{Field: "", Message: "This does not come back: " + loss + "."})
	}
	if len(lost) > 0 && !(len(u.fields) > 0 && p.made.Op.Undo.Loss != nil) {
		failed := problem.Of(u.cannot("not all of it comes back; see details. Fields takes back what can be"))
		failed.Details = lost
		return ops.Done{}, failed
	}
	return done, nil
}

// pick reports whether the change of a value is to be undone, and returns the fields of the value that cannot
// be undone.
func (u *undoing) pick(
	ctx context.Context, object *ps.Intended, c ps.IntendedChange,
) (picked bool, lost []problem.Detail) {
	picked = len(u.fields) == 0 || u.p.Intent.Effect == ps.EffectCreated
	for _, planned := range u.p.made.Announcement().Changes(object, c) {
		wanted := len(u.fields) == 0 || slices.ContainsFunc(u.fields, func(name string) bool {
			return strings.EqualFold(name, planned.Field) || strings.EqualFold(name, planned.Attribute)
		})
		picked = picked || wanted
		never := u.p.made.UndoableValue(c, planned) == schema.UndoNone
		if wanted && never && !u.undone(ctx, u.p, planned.Field) {
			lost = append(lost, problem.Detail{Field: planned.Field, Message: "cannot be brought back"})
		}
	}
	return picked, lost
}

// unknownField refuses fields that the change did not modify.
func (u *undoing) unknownField() error {
	known := map[string]bool{}
	for _, object := range change.Of(u.p.made.Announcement()) {
		for _, c := range object.Changes {
			known[strings.ToLower(c.Field)], known[strings.ToLower(c.Attribute)] = true, true
		}
	}
	for _, name := range u.fields {
		if !known[strings.ToLower(name)] {
			return invalid(ops.UndoFields, "names a field that the change did not change")
		}
	}
	return nil
}

// undoneValue reports whether all fields of the change of a value have already been undone.
func (u *undoing) undoneValue(ctx context.Context, object *ps.Intended, c ps.IntendedChange) bool {
	if len(u.p.UndoneBy) == 0 {
		return false
	}
	planned := u.p.made.Announcement().Changes(object, c)
	return len(planned) > 0 && !slices.ContainsFunc(planned, func(one change.Change) bool {
		return !u.undone(ctx, u.p, one.Field)
	})
}

// tally sums up the calls of an undo made so far.
type tally struct {
	records  []any // records of the changes made
	plans    []json.RawMessage
	warnings []ps.Warning // of the calls
	first    error        // error of the first call that failed; nil if none did
	details  []problem.Detail
	changeID string // id of the last change made; empty if no change was made
	server   string // server used last; empty if none was
}

// all makes the calls that undo a change, and answers. If a call fails, the later calls are still made,
// because each affects a different object. batch is the id of the first change that an earlier call with the
// same key has made.
func (u *undoing) all(
	ctx context.Context, batch string, before []*changes.Record, calls []ops.Undoing,
) (call.Answer, error) {
	var all tally
	for i := range calls {
		if record := madeBefore(before, i, len(calls)); record != nil {
			all.before(record, u.shown(ctx, record))
			continue
		}
		id := u.a.ID
		if len(calls) > 1 {
			id += nthCall(i)
		}
		answer, err := u.Do(ctx, u.call(ctx, &calls[i], id, batch), nil)
		err = call.Problem(answer, err)
		all.add(answer, err, len(calls) > 1)
		switch {
		case err != nil:
		case u.a.DryRun():
			all.plans = append(all.plans, answer.Plan)
		case answer.Change != nil:
			all.records = append(all.records, u.shown(ctx, answer.Change)...)
			batch = cmp.Or(batch, answer.Change.ID)
		}
		buildOnFirst := calls[len(calls)-1].Blind && !calls[0].Blind
		if (err != nil || u.a.DryRun()) && buildOnFirst && i == 0 || err != nil && u.a.DryRun() {
			break
		}
	}
	if len(all.records) > 0 {
		all.changeID = all.records[0].(shownChange).ID
	}
	answer, err := u.answer(&all)
	answer.ChangeID, answer.Server = all.changeID, all.server
	return answer, err
}

// before adds a change that was made by an earlier call with the same key.
func (t *tally) before(record *changes.Record, shown []any) {
	t.records, t.server = append(t.records, shown...), cmp.Or(record.Server, t.server)
	if record.Outcome == ps.OutcomePartial {
		failed := problem.New(schema.Partial, "The change '%s' was made in part.", record.ID)
		t.first = cmp.Or(t.first, error(failed))
		t.details = append(t.details, problem.Detail{Field: "", Message: problem.Of(t.first).Message})
	}
}

// add adds the outcome of a call. several is true if the undo makes several calls.
func (t *tally) add(answer call.Answer, err error, several bool) {
	t.warnings = append(t.warnings, answer.Warnings...)
	t.changeID = cmp.Or(answer.ChangeID, t.changeID)
	server := answer.Server
	if err != nil {
		t.first = cmp.Or(t.first, err)
		found := problem.Of(err)
		t.warnings, t.details = append(t.warnings, found.Warnings...), append(t.details, found.Details...)
		if several {
			t.details = append(t.details, problem.Detail{Field: "", Message: found.Message})
		}
		if answer.Partly != nil || len(found.Warnings) > 0 {
			server = found.Server
		}
	}
	t.server = cmp.Or(server, t.server)
}

// passedOn lists the codes of the warnings that an undo passes on from its calls. These warnings concern the
// changes themselves; all others concern only the calls.
var passedOn = []string{call.Raced, call.NotReadBack, call.NotInHistory}

// shown returns the warnings that the undo passes on, each once.
func (t *tally) shown() (all []ps.Warning) {
	for _, warning := range t.warnings {
		if slices.Contains(passedOn, warning.Code) && !slices.Contains(all, warning) {
			all = append(all, warning)
		}
	}
	return all
}

// warned returns an error with the warnings that the undo passes on, in addition to its own.
func (t *tally) warned(err error) error {
	for _, warning := range t.shown() {
		if !slices.Contains(problem.Of(err).Warnings, warning) {
			err = call.Warned(err, warning)
		}
	}
	return err
}

// call returns a call that undoes the change, or a part of it. batch is the id of the first change
// made by the undo, or "" if this call makes it.
func (u *undoing) call(ctx context.Context, of *ops.Undoing, id, batch string) call.Call {
	given := maps.Clone(of.Given)
	if u.a.DryRun() {
		given[ops.DryRun] = "true"
	}
	c := u.a.As.Part(id, ops.Find(u.Operations, of.Row), given)
	c.Undoes = call.Undoing{Change: u.p.ID, Fields: u.fields, Batch: batch}
	for i := range u.p.Intent.Objects {
		object := &u.p.Intent.Objects[i]
		c.Undoes.Objects = append(c.Undoes.Objects, object.GUID)
		if slices.ContainsFunc(object.Changes, wasProtected) {
			c.Undoes.Guarded = append(c.Undoes.Guarded, object.GUID)
		}
	}
	c.Guards = []call.Guard{&asRecorded{
		row: c.Op, record: u.p.Record, call: of, from: u.p.made.Announcement(),
		created: u.p.Intent.Effect == ps.EffectCreated, accept: names(u.a.Bound.Text(ops.AcceptDrift)),
		sight: change.SightOf(u.a.Principal), now: func() ([]settle.State, error) { return u.now(ctx) },
	}}
	return c
}

// wasProtected reports whether c shows that an object was protected from accidental deletion.
func wasProtected(c ps.IntendedChange) bool { return c.Name == change.Protection && c.Before == "True" }

// now reads the current state of the change's objects. It returns nil if that is impossible.
func (u *undoing) now(ctx context.Context) ([]settle.State, error) {
	was, can := settle.Recorded(ops.Find(u.Operations, u.p.Operation), u.p.Record)
	if !can {
		return nil, nil
	}
	return u.Service.now(ctx, was, u.a.Limits.Settle)
}

// shown returns a change as shown in the answer, or nil if the gateway does not have its row.
func (u *undoing) shown(ctx context.Context, c *changes.Record) (records []any) {
	if p, known := u.pastOf(c); known {
		records = append(records, u.show(ctx, p, u.a.Principal, false))
	}
	return records
}

// answer answers the undo. If the undo failed, the answer still names the changes that were made.
func (u *undoing) answer(t *tally) (call.Answer, error) {
	switch {
	case t.first != nil && (len(t.records) == 0 || u.a.DryRun()):
		problem.Of(t.first).Details = t.details
		return call.Answer{}, t.warned(t.first)
	case t.first != nil:
		failed := problem.New(schema.Partial, "A part of the change '%s' was undone; see details.", u.p.ID)
		failed.Details, failed.Outcome, failed.Server = t.details, ps.OutcomePartial, t.server
		answer := u.a.Answer("", t.records...)
		answer.Partly, answer.Warnings, answer.Server = failed, t.shown(), t.server
		return answer, nil
	case u.a.DryRun():
		return u.answerPlans(t.plans)
	}
	answer := u.a.Answer(fmt.Sprintf("The change was undone: %s.", u.p.Operation), t.records...)
	answer.Warnings = append(answer.Warnings, t.shown()...)
	return answer, nil
}

// answerPlans answers the dry run of an undo, with the plans of its calls.
func (u *undoing) answerPlans(plans []json.RawMessage) (call.Answer, error) {
	answer := u.a.Answer(fmt.Sprintf("Would undo the change '%s'.", u.p.ID))
	if answer.Plan = plans[0]; len(plans) == 1 {
		return answer, nil
	}
	all := make([]change.Plan, len(plans))
	for i := range plans {
		if err := json.Unmarshal(plans[i], &all[i]); err != nil {
			return call.Answer{}, problem.Internal(err)
		}
	}
	answer.Plan = schema.JSON(all[0].And(all[1:]...))
	return answer, nil
}

package history

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// shownChange is a change as shown in answers.
type shownChange struct {
	ID        string               `json:"id"`
	RequestID string               `json:"requestId"`
	Time      string               `json:"time"`
	Caller    string               `json:"caller"`
	Kind      *string              `json:"callerKind"`
	Account   *string              `json:"callerId"`
	Operation string               `json:"operation"`
	Effect    ps.Effect            `json:"effect"`
	Outcome   ps.Outcome           `json:"outcome"`
	Server    string               `json:"server"`
	Objects   []change.ShownObject `json:"objects"`
	Undo      schema.Undoable      `json:"undo"`
	Undoes    *string              `json:"undoes"`
	UndoneBy  []string             `json:"undoneBy"`
	Plan      *string              `json:"plan"`
	Reason    *string              `json:"reason"`
	Batch     *string              `json:"batch"`
	Degraded  bool                 `json:"degraded"`
}

// show returns a change as shown in answers. A caller that may not read the objects of a change, because it
// may only undo the change, learns which objects these are and nothing else.
func (s *Service) show(ctx context.Context, p *past, principal *identity.Principal, whole bool) shownChange {
	shown := shownChange{
		ID: p.ID, RequestID: p.RequestID, Time: p.Time.UTC().Format(time.RFC3339Nano), Caller: p.Caller,
		Kind: schema.OrNull(p.By.Kind), Account: schema.OrNull(p.By.ID),
		Operation: p.Operation, Effect: p.Intent.Effect, Outcome: p.Outcome, Server: p.Server,
		Undo: s.undoable(ctx, p), Undoes: schema.OrNull(p.Undoes), UndoneBy: []string{},
		Plan: schema.OrNull(p.Plan), Reason: schema.OrNull(p.Parameters[ops.ReasonName]),
		Batch: schema.OrNull(p.Batch), Degraded: p.Degraded,
	}
	if p.Running {
		shown.Outcome = ps.OutcomeUnknown
	}
	for _, undoing := range p.UndoneBy {
		shown.UndoneBy = append(shown.UndoneBy, undoing.ID)
	}
	sight := change.SightOf(principal)
	shown.Objects = p.made.Objects(sight.Bounds, whole && sight.Images(p.made))
	if !sight.Reads(p.made.Op) {
		for i := range shown.Objects {
			shown.Objects[i].Changes = []change.ShownValue{}
		}
	}
	return shown
}

// get answers with one change.
func (s *Service) get(ctx context.Context, a call.Accepted) (call.Answer, error) {
	p, err := s.find(ctx, a)
	if err != nil {
		return call.Answer{}, err
	}
	shown, server := s.show(ctx, p, a.Principal, true), ""
	if a.Bound.Text("Compare") == "true" {
		if server, err = s.compare(ctx, a, p, &shown); err != nil {
			return call.Answer{}, err
		}
	}
	answer := a.Answer("The change was found.", shown)
	answer.Server = server
	return answer, nil
}

// compare compares a shown change with the current state, and returns the server that was asked, or
// "" if none was.
func (s *Service) compare(
	ctx context.Context, a call.Accepted, p *past, shown *shownChange,
) (server string, err error) {
	states := make([]settle.State, len(p.Intent.Objects))
	if was, can := settle.Recorded(ops.Find(s.Operations, p.Operation), p.Record); can {
		found, err := s.now(ctx, was, a.Limits.Read)
		if err != nil && ps.AsError(err).Kind != ps.KindScript {
			return "", call.Failure(a.Op, a.Bound, err)
		}
		copy(states, found)
		server = p.Server
	}
	p.compare(shown, change.SightOf(a.Principal), states)
	return server, nil
}

// find returns the change that a call names.
func (s *Service) find(ctx context.Context, a call.Accepted) (*past, error) {
	id := a.Bound.Text(ops.ChangeIDParam)
	c, err := s.History.Get(ctx, id)
	switch {
	case errors.Is(err, changes.ErrAbsent):
	case err != nil:
		return nil, problem.HistoryUnavailable(err)
	default:
		if p, known := s.pastOf(c); known && mayFind(a, p) {
			return p, nil
		}
	}
	began, _ := changes.Time(id)
	if life := s.History.Life(); a.Op.Effect.Writes() && s.History.Store().Now().Sub(began) > life {
		return nil, problem.New(schema.NotUndoable, "The change '%s' is no longer kept: changes are kept for %s.",
			id, life)
	}
	return nil, problem.New(schema.NotFound, "There is no change '%s', or the credential may not see it.", id)
}

// mayFind reports whether the caller may know about a change. It may if it may see the change, or if the call
// is an undo and the caller may make it.
func mayFind(a call.Accepted, p *past) bool {
	sight := change.SightOf(a.Principal)
	return sight.See(p.made) || a.Op.Effect.Writes() && sight.Undoes(p.made)
}

// list answers with the changes that pass the filters.
func (s *Service) list(ctx context.Context, a call.Accepted) (call.Answer, error) {
	b := a.Bound
	if err := checkCaller(b); err != nil {
		return call.Answer{}, err
	}
	if b.Has(ops.WaitName) {
		return s.await(ctx, a)
	}
	since, until := b.Moment(ops.SinceName), b.Moment("Until")
	var limit int
	_ = json.Unmarshal([]byte(b.Text(ops.LimitName)), &limit) // the value is a number, or the default
	before, err := s.Cursors.Open(a)
	if err != nil {
		return call.Answer{}, err
	}
	sight := change.SightOf(a.Principal)
	records, last, hidden, more, seen := []any{}, "", false, false, 0
	err = s.newest(ctx, until, before, s.wanted(b), func(c *changes.Record) bool {
		if c.Time.Before(since) {
			return false
		}
		if more = seen == maxScan; more {
			return false
		}
		seen++
		p, known := s.pastOf(c)
		passes := known && sight.See(p.made) && s.passes(ctx, b, p)
		switch full := len(records) == limit; {
		case full && passes: // there is another page only if it contains an entry that the caller may see
			more = true
			return false
		case full:
			return true
		case passes:
			records = append(records, s.show(ctx, p, a.Principal, false))
		}
		last, hidden = c.ID, !passes
		return true
	})
	if err != nil {
		return call.Answer{}, problem.HistoryUnavailable(err)
	}
	answer := a.Found(records)
	switch {
	case more && hidden:
		answer.Next = s.Cursors.SealHidden(a, last)
	case more:
		answer.Next = s.Cursors.Seal(a, last)
	}
	return answer, nil
}

// checkCaller refuses a call whose filter no caller can match.
func checkCaller(b *ops.Bound) error {
	if _, err := identity.ParseReference(b.Text(ops.CallerName)); err != nil {
		return invalid(ops.CallerName, err.Error())
	}
	return nil
}

// maxScan is the maximum number of changes that a call reads.
const maxScan = 20_000

// passes reports whether a change passes the filters of a call.
func (s *Service) passes(ctx context.Context, b *ops.Bound, p *past) bool {
	resource, _, _ := strings.Cut(p.Operation, ".")
	outcome := p.Outcome
	if p.Running {
		outcome = ps.OutcomeUnknown
	}
	if want := b.Text("Operation"); want != "" && !strings.EqualFold(want, p.Operation) &&
		!strings.EqualFold(want, resource) {
		return false
	}
	if want := b.Text(ops.CallerName); want != "" {
		if by, err := identity.ParseReference(want); err != nil || !by.Means(p.Who()) {
			return false
		}
	}
	if want := b.Text("Outcome"); want != "" && want != string(outcome) {
		return false
	}
	if want := b.Text("Undo"); want != "" && want != string(s.undoable(ctx, p)) {
		return false
	}
	want := b.Text("Object")
	return want == "" || p.isAbout(want)
}

// RunIndexing maintains an index with which searches for an object or a caller read only a part of the
// history. It keeps the index in the store, and reads only what is newer when it starts again. It runs until
// ctx ends, and calls failed with each error. In a cluster only the leader may run it, because the index only
// gets the changes that this gateway saves.
func (s *Service) RunIndexing(ctx context.Context, failed func(error)) {
	if s.History == nil {
		return
	}
	defer s.index.clear()
	report := func(err error) {
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
	x := indexing{Service: s}
	report(x.load(ctx))
	for {
		report(x.extend(ctx))
		select {
		case <-s.index.due:
		case <-ctx.Done():
			return
		}
	}
}

// Prefixes that distinguish the terms of objects, of their paths and of callers.
const (
	objectTerm = "object "
	pathTerm   = "path "
	callerTerm = "caller "
)

// termsOf returns the terms by which a change can be found.
func (s *Service) termsOf(c *changes.Record) terms {
	who := c.Who()
	sums := []uint32{sumOf(callerTerm, who.Name), sumOf(callerTerm, who.Identity().ID)}
	if p, known := s.pastOf(c); known { // other changes are never found
		names := p.names() // most names occur twice, because most changes keep the name
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if name == "" {
				continue
			}
			sums = append(sums, sumOf(objectTerm, name))
			if account, isComputer := strings.CutSuffix(name, "$"); isComputer {
				sums = append(sums, sumOf(objectTerm, account))
			}
			if path, ok := schema.ParsePath(name); ok {
				sums = append(sums, sumOf(pathTerm, strings.Join(path, "\x00")))
			}
		}
	}
	return terms{c.ID, placeOf(c.ID), compacted(sums), !c.Running}
}

// wanted returns the terms for those filters of a call that the index supports. They match every change that
// [past.isAbout] and [identity.Reference] match.
func (s *Service) wanted(b *ops.Bound) (w wanted) {
	if name := b.Text("Object"); name != "" {
		name = strings.Trim(name, "{}")
		sums := []uint32{sumOf(objectTerm, name), sumOf(objectTerm, strings.TrimSuffix(name, "."))}
		for _, text := range []string{name, strings.TrimSuffix(name, ".")} {
			if path, ok := schema.ParsePath(text); ok {
				sums = append(sums, sumOf(pathTerm, strings.Join(path, "\x00")))
			}
		}
		w = append(w, compacted(sums))
	}
	if caller := b.Text(ops.CallerName); caller != "" {
		if i := strings.LastIndex(caller, ":"); i >= 0 { // names and ids have no colons
			caller = caller[i+1:]
		}
		w = append(w, []uint32{sumOf(callerTerm, caller)})
	}
	return w
}

// newest is like [changes.History.Newest], but only visits changes that may match w.
func (s *Service) newest(
	ctx context.Context, until time.Time, before string, w wanted, visit func(*changes.Record) bool,
) error {
	if len(w) == 0 {
		return s.History.Newest(ctx, until, before, nil, visit)
	}
	more := true
	for before = changes.Before(until, before); more; {
		span, found := s.index.next(before, w)
		if !found {
			break
		}
		err := s.History.Newest(ctx, until, span.before, func(id string, revision store.Revision) bool {
			return id > span.after && !span.covered && s.index.excludes(id, revision, w)
		}, func(c *changes.Record) bool {
			if c.ID <= span.after {
				return false
			}
			if !span.covered {
				s.index.learn(c.ID, known{sums: s.termsOf(c).sums, revision: c.Revision()})
			}
			more = visit(c)
			return more
		})
		if err != nil {
			return err
		}
		before, more = span.after, more && span.after != ""
	}
	return nil
}

package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"context"
	"encoding/json"
	"errors"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// The feed of what was changed: a stream of events, and the list with Wait. Both go through
// the changes in the order in which they ended, from a position that clients have as a
// cursor, so that nothing is missed between two answers and at most the last is repeated.

// feedBatch is how many changes are read at once.
const feedBatch = 100

// streamChanges answers with an event for each change.
func (s *Server) streamChanges(r *request, to call.Events) error {
	position, failed := s.streamStart(r)
	if failed != nil {
		return failed
	}
	free, failed := s.streams.Take(r.principal)
	if failed != nil {
		return failed
	}
	defer free()
	r.leave() // a caller with few requests at a time would have none left for its other calls
	err := to.Begin()
	if err == nil {
		to.Mark(s.History.Cursor(position))
		err = to.Comment("what is changed follows") // with the cursor, for who comes back before the first change
	}
	for err == nil {
		changed := s.History.Ends() // taken before reading, so that nothing is missed
		if position, err = s.sendChanges(r, to, position); err == nil {
			err = to.Wait(changed)
		}
	}
	to.End(err)
	return nil
}

// streamStart returns where a stream begins.
func (s *Server) streamStart(r *request) (store.Position, error) {
	switch given := r.call.LastEvents; {
	case len(given) > 1:
		return store.Position{}, problem.Invalid([]schema.FieldError{{Field: ops.LastEventHeader, Code: schema.InvalidRequest, Message: "is given several times"}})
	case len(given) == 1 && given[0] != "":
		return s.positionOf(r, ops.LastEventHeader, given[0])
	}
	text := r.bound.Text(ops.SinceName)
	if at := moment(text); text == "" || !at.IsZero() {
		return s.positionAt(r, at)
	}
	return s.positionOf(r, ops.SinceName, text)
}

// positionAt returns the position before the first change from a time on; the zero time is
// now.
func (s *Server) positionAt(r *request, at time.Time) (position store.Position, failed error) {
	ctx := r.ctx
	position, err := s.History.End(ctx)
	if !at.IsZero() && err == nil {
		position, err = s.History.From(ctx, at)
	}
	return position, feedFailure(err)
}

// orTime completes what a cursor must be where a time may stand as well.
var orTime = map[string]string{ops.SinceName: ", or a time such as 2026-11-22T12:40:00Z"}

// positionOf reads a cursor. field names where it was given.
func (s *Server) positionOf(r *request, field, cursor string) (store.Position, error) {
	ctx := r.ctx
	position, err := s.History.Position(ctx, cursor)
	if errors.Is(err, changes.ErrCursor) {
		return position, problem.Invalid([]schema.FieldError{{Field: field, Code: schema.InvalidRequest, Message: "must be the id of an event of the stream, or the next of an answer with Wait" + orTime[field]}})
	}
	if err == nil {
		_, _, err = s.History.After(ctx, position, 1)
	}
	return position, feedFailure(err)
}

// feedFailure returns the answer to an error of the history.
func feedFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrPosition):
		failed := problem.New(schema.CursorExpired, "What follows the cursor is not kept any more, or the store is another one. Read what was missed with GET /api/Changes, and begin anew without a cursor.")
		failed.Cause = err
		return failed
	}
	return historyUnavailable(err)
}

// sendChanges sends what ended after a position and passes the filters, and returns the
// position that was reached.
func (s *Server) sendChanges(r *request, to call.Events, position store.Position) (store.Position, error) {
	ctx := r.ctx
	for {
		if err := to.Check(); err != nil {
			return position, err
		}
		ended, reached, err := s.History.After(ctx, position, feedBatch)
		if err != nil {
			return position, err
		}
		for _, c := range ended {
			shown, passes := s.shownTo(ctx, r, to.Principal(), c.Record)
			if !passes {
				continue
			}
			event := call.Event{ID: s.History.Cursor(c.Position), Name: "change", Data: encode(shown)}
			if err := to.Send(event); err != nil {
				return position, err
			}
		}
		to.Mark(s.History.Cursor(reached))
		if reached == position {
			return position, nil
		}
		position = reached
	}
}

// shownTo returns a change as answers show it, if the caller may see it and it passes the
// filters of the call.
func (s *Server) shownTo(ctx context.Context, r *request, to *identity.Principal, c *changes.Record) (shown shownChange, passes bool) {
	p, known := s.pastOf(c)
	if !known || !change.BoundsOf(to.Limits).See(p.made) || !s.passes(ctx, r.bound, p) {
		return shownChange{}, false
	}
	return s.show(ctx, p, to, false), true
}

// awaitChanges answers with the changes that ended after a position, and waits for the
// first if there are none yet.
func (s *Server) awaitChanges(r *request) (call.Answer, error) {
	position, failed := s.awaitStart(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	var limit, seconds int
	_ = json.Unmarshal([]byte(r.bound.Text(ops.LimitName)), &limit) // they are numbers
	_ = json.Unmarshal([]byte(r.bound.Text(ops.WaitName)), &seconds)
	waiting, cancel := context.WithTimeout(r.ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	records, seen := []any{}, 0
	for {
		changed := s.History.Ends()
		reached, err := s.collectChanges(r, position, limit, &records)
		if err != nil {
			return call.Answer{}, feedFailure(err)
		}
		moved := reached != position
		position = reached
		if seen += feedBatch; len(records) == limit || seen >= maxScan {
			break
		}
		if moved {
			continue // to the end of what there is
		}
		if len(records) > 0 || !s.awaitChange(waiting, changed) {
			break
		}
		if failed = s.stillAllowed(r); failed != nil {
			return call.Answer{}, failed
		}
	}
	answer := r.accepted().Found(records)
	answer.Next = s.History.Cursor(position)
	return answer, nil
}

// awaitStart returns where a list with Wait begins.
func (s *Server) awaitStart(r *request) (store.Position, error) {
	if cursor := r.bound.Text(ops.AfterName); cursor != "" {
		return s.positionOf(r, ops.AfterName, cursor)
	}
	return s.positionAt(r, moment(r.bound.Text(ops.SinceName)))
}

// collectChanges adds the changes after a position that pass the filters, until there are
// as many as the limit, and returns the position that was reached.
func (s *Server) collectChanges(r *request, position store.Position, limit int, records *[]any) (store.Position, error) {
	ctx := r.ctx
	ended, reached, err := s.History.After(ctx, position, feedBatch)
	if err != nil {
		return position, err
	}
	for _, c := range ended {
		if len(*records) == limit {
			return position, nil
		}
		if shown, passes := s.shownTo(ctx, r, r.principal, c.Record); passes {
			*records = append(*records, shown)
		}
		position = c.Position
	}
	return reached, nil
}

// awaitChange reports whether a change has ended before the wait has.
func (s *Server) awaitChange(waiting context.Context, changed <-chan struct{}) bool {
	select {
	case <-changed:
		return waiting.Err() == nil && s.stopping.Err() == nil
	case <-waiting.Done():
	case <-s.stopping.Done():
	}
	return false
}

// stillAllowed looks at the credential again, which may have ended meanwhile.
func (s *Server) stillAllowed(r *request) error {
	if r.call.Again == nil {
		return nil
	}
	principal, failed := r.call.Again()
	if failed == nil {
		failed = call.AuthoriseRow(principal, r.op)
	}
	if failed == nil {
		r.principal = principal
	}
	return failed
}

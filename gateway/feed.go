package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// The feed of what was changed: a stream of events, and the list with Wait. Both go through
// the changes in the order in which they ended, from a position that clients have as a
// cursor, so that nothing is missed between two answers and at most the last is repeated.

// feedBatch is how many changes are read at once.
const feedBatch = 100

// streamChanges answers with an event for each change.
func (s *Server) streamChanges(r *request) error {
	position, failed := s.streamStart(r)
	if failed != nil {
		return failed
	}
	free, failed := s.takeStream(r)
	if failed != nil {
		return failed
	}
	defer free()
	e, err := r.startEvents()
	if err == nil {
		e.mark(s.History.Cursor(position))
		err = e.comment("what is changed follows") // with the cursor, for who comes back before the first change
	}
	for err == nil {
		changed := s.History.Ends() // taken before reading, so that nothing is missed
		if position, err = s.sendChanges(e, position); err == nil {
			err = e.wait(changed)
		}
	}
	e.end(err)
	return nil
}

// streamStart returns where a stream begins.
func (s *Server) streamStart(r *request) (keep.Position, error) {
	switch given := r.c.Request.Header.Values(ops.LastEventHeader); {
	case len(given) > 1:
		return keep.Position{}, problem.Invalid([]schema.FieldError{{Field: ops.LastEventHeader, Code: schema.InvalidRequest, Message: "is given several times"}})
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
func (s *Server) positionAt(r *request, at time.Time) (position keep.Position, failed error) {
	ctx := r.c.Request.Context()
	position, err := s.History.End(ctx)
	if !at.IsZero() && err == nil {
		position, err = s.History.From(ctx, at)
	}
	return position, feedFailure(err)
}

// orTime completes what a cursor must be where a time may stand as well.
var orTime = map[string]string{ops.SinceName: ", or a time such as 2026-11-22T12:40:00Z"}

// positionOf reads a cursor. field names where it was given.
func (s *Server) positionOf(r *request, field, cursor string) (keep.Position, error) {
	ctx := r.c.Request.Context()
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
	case errors.Is(err, keep.ErrPosition):
		failed := problem.New(schema.CursorExpired, "What follows the cursor is not kept any more, or the store is another one. Read what was missed with GET /api/Changes, and begin anew without a cursor.")
		failed.Cause = err
		return failed
	}
	return historyUnavailable(err)
}

// sendChanges sends what ended after a position and passes the filters, and returns the
// position that was reached.
func (s *Server) sendChanges(e *eventStream, position keep.Position) (keep.Position, error) {
	ctx := e.r.c.Request.Context()
	for {
		if err := e.proceed(); err != nil {
			return position, err
		}
		ended, reached, err := s.History.After(ctx, position, feedBatch)
		if err != nil {
			return position, err
		}
		for _, c := range ended {
			shown, passes := s.shownTo(ctx, e.r, c.Record)
			if !passes {
				continue
			}
			event := serverEvent{id: s.History.Cursor(c.Position), name: "change", data: encode(shown)}
			if err := e.send(event); err != nil {
				return position, err
			}
			e.r.records++
		}
		e.mark(s.History.Cursor(reached))
		if reached == position {
			return position, nil
		}
		position = reached
	}
}

// shownTo returns a change as answers show it, if the caller may see it and it passes the
// filters of the call.
func (s *Server) shownTo(ctx context.Context, r *request, c *changes.Record) (shown shownChange, passes bool) {
	p, known := s.pastOf(c)
	if !known || !boundsOf(r.principal).see(p) || !s.passes(ctx, r.bound, p) {
		return shownChange{}, false
	}
	return s.show(ctx, p, r.principal, false), true
}

// awaitChanges answers with the changes that ended after a position, and waits for the
// first if there are none yet.
func (s *Server) awaitChanges(r *request) error {
	position, failed := s.awaitStart(r)
	if failed != nil {
		return failed
	}
	var limit, seconds int
	_ = json.Unmarshal([]byte(r.bound.Text(ops.LimitName)), &limit) // they are numbers
	_ = json.Unmarshal([]byte(r.bound.Text(ops.WaitName)), &seconds)
	waiting, cancel := context.WithTimeout(r.c.Request.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	records, seen := []any{}, 0
	for {
		changed := s.History.Ends()
		reached, err := s.collectChanges(r, position, limit, &records)
		if err != nil {
			return feedFailure(err)
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
			return failed
		}
	}
	r.records = len(records)
	s.sendLocal(r, http.StatusOK, r.op.Sentence("{records} found", r.bound, len(records), &ps.Result{}), records, map[string]any{"next": s.History.Cursor(position)})
	return nil
}

// awaitStart returns where a list with Wait begins.
func (s *Server) awaitStart(r *request) (keep.Position, error) {
	if cursor := r.bound.Text(ops.AfterName); cursor != "" {
		return s.positionOf(r, ops.AfterName, cursor)
	}
	return s.positionAt(r, moment(r.bound.Text(ops.SinceName)))
}

// collectChanges adds the changes after a position that pass the filters, until there are
// as many as the limit, and returns the position that was reached.
func (s *Server) collectChanges(r *request, position keep.Position, limit int, records *[]any) (keep.Position, error) {
	ctx := r.c.Request.Context()
	ended, reached, err := s.History.After(ctx, position, feedBatch)
	if err != nil {
		return position, err
	}
	for _, c := range ended {
		if len(*records) == limit {
			return position, nil
		}
		if shown, passes := s.shownTo(ctx, r, c.Record); passes {
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
	principal, failed := s.authenticate(r.c.Request)
	if failed == nil {
		failed = authoriseRow(principal, r.op)
	}
	if failed == nil {
		r.principal = principal
	}
	return failed
}

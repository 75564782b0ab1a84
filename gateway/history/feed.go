package history

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// The feed of changes has two forms: a stream of events, and the list with Wait. Both follow the changes in
// the order in which they ended, from a position that clients have as a cursor. So clients miss no change
// between two answers, and at most the last change is repeated.

// feedBatch is the number of changes that are read at once.
const feedBatch = 100

// stream sends an event for each change.
func (s *Service) stream(ctx context.Context, a call.Accepted, to call.Events) error {
	position, err := s.streamStart(ctx, a)
	if err != nil {
		return err
	}
	return s.Streams.Run(a, to, func() error {
		s.mark(to, position)
		err := to.Comment("what is changed follows") // with the cursor to resume from
		reader := viewOf(to.Principal())
		for err == nil {
			var more <-chan struct{}
			if position, more, err = s.send(ctx, a, to, &reader, position); err == nil {
				err = to.Wait(more)
			}
			if err == nil {
				err = to.Wait(s.recent.turn())
			}
		}
		return err
	})
}

// streamStart returns the position at which a stream begins.
func (s *Service) streamStart(ctx context.Context, a call.Accepted) (store.Position, error) {
	switch given := a.LastEvents; {
	case len(given) > 1:
		return store.Position{}, invalid(ops.LastEventHeader, "is given several times")
	case len(given) == 1 && given[0] != "":
		return s.positionOf(ctx, ops.LastEventHeader, given[0])
	}
	text := a.Bound.Text(ops.SinceName)
	if at := a.Bound.Moment(ops.SinceName); text == "" || !at.IsZero() {
		return s.positionAt(ctx, at)
	}
	return s.positionOf(ctx, ops.SinceName, text)
}

// invalid returns the refusal of a value.
func invalid(field, message string) error {
	return problem.Invalid([]schema.FieldError{{Field: field, Code: schema.InvalidRequest, Message: message}})
}

// positionAt returns the position before the first change at or after a time. The zero time means
// now.
func (s *Service) positionAt(ctx context.Context, at time.Time) (store.Position, error) {
	position, err := s.History.End(ctx)
	if !at.IsZero() && err == nil {
		position, err = s.History.From(ctx, at)
	}
	return position, feedFailure(err)
}

// orTime extends the message about a cursor where a time is also allowed.
var orTime = map[string]string{ops.SinceName: ", or a time such as 2026-11-22T12:40:00Z"}

// positionOf reads a cursor. field names the parameter or header that contained the cursor.
func (s *Service) positionOf(ctx context.Context, field, cursor string) (store.Position, error) {
	position, err := s.History.Position(ctx, cursor)
	if errors.Is(err, changes.ErrCursor) {
		const message = "must be the id of an event of the stream, or the next of an answer with Wait"
		return position, invalid(field, message+orTime[field])
	}
	if err == nil {
		_, _, err = s.History.After(ctx, position, 1)
	}
	return position, feedFailure(err)
}

// feedFailure converts an error of the history into the error of a call.
func feedFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrPosition):
		failed := problem.New(schema.CursorExpired, "What follows the cursor is not kept any more, or the store "+
			"is another one. Read what was missed with GET /api/Changes, and begin anew without a cursor.")
		failed.Cause = err
		return failed
	}
	return problem.HistoryUnavailable(err)
}

// send sends the changes after a position that pass the filters. It returns the new position, and a channel
// that is closed when another change ends.
func (s *Service) send(
	ctx context.Context, a call.Accepted, to call.Events, reader *view, position store.Position,
) (reached store.Position, more <-chan struct{}, err error) {
	for {
		if err := to.Check(); err != nil {
			return position, nil, err
		}
		next := s.recent.after(ctx, s, position)
		if next.err != nil {
			return position, nil, next.err
		}
		for _, c := range next.ended {
			if now := to.Principal(); now != reader.reader {
				*reader = viewOf(now)
			}
			if !reader.See(c.past.made) || !s.passes(ctx, a.Bound, c.past) {
				continue
			}
			event := call.Event{ID: c.id(s.History), Name: "change", Data: c.shownTo(ctx, s, *reader)}
			if err := to.Send(event); err != nil {
				return position, nil, err
			}
		}
		position = next.reached
		s.mark(to, position)
		if !next.full {
			return position, next.more, nil
		}
	}
}

// mark records that the client has everything up to a position.
func (s *Service) mark(to call.Events, position store.Position) {
	to.Mark(func() string { return s.History.Cursor(position) })
}

// await answers with the changes that ended after a position. If there are none yet, it waits for the first
// one.
func (s *Service) await(ctx context.Context, a call.Accepted) (call.Answer, error) {
	position, err := s.awaitStart(ctx, a)
	if err != nil {
		return call.Answer{}, err
	}
	var limit, seconds int
	_ = json.Unmarshal([]byte(a.Bound.Text(ops.LimitName)), &limit) // the value is a number
	_ = json.Unmarshal([]byte(a.Bound.Text(ops.WaitName)), &seconds)
	waiting, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	records, seen := []any{}, 0
	for {
		changed := s.History.Ends()
		reached, err := s.collect(ctx, a, position, limit, &records)
		if err != nil {
			return call.Answer{}, feedFailure(err)
		}
		moved := reached != position
		position = reached
		if seen += feedBatch; len(records) == limit || seen >= maxScan {
			break
		}
		if moved {
			continue // until all existing changes are read
		}
		seen = 0 // changes that the caller may not see do not end the wait
		if len(records) > 0 || !s.awaitChange(waiting, changed) {
			break
		}
		if a.Principal, err = now(a); err != nil {
			return call.Answer{}, err
		}
	}
	answer := a.Found(records)
	answer.Next = s.History.Cursor(position)
	return answer, nil
}

// awaitStart returns the position at which a list with Wait begins.
func (s *Service) awaitStart(ctx context.Context, a call.Accepted) (store.Position, error) {
	if cursor := a.Bound.Text(ops.AfterName); cursor != "" {
		return s.positionOf(ctx, ops.AfterName, cursor)
	}
	return s.positionAt(ctx, a.Bound.Moment(ops.SinceName))
}

// collect adds the changes after a position that pass the filters, up to the limit, and returns the
// new position.
func (s *Service) collect(
	ctx context.Context, a call.Accepted, position store.Position, limit int, records *[]any,
) (store.Position, error) {
	ended, reached, err := s.History.After(ctx, position, feedBatch)
	if err != nil {
		return position, err
	}
	sight := change.SightOf(a.Principal)
	for _, c := range ended {
		if len(*records) == limit {
			return position, nil
		}
		if p, known := s.pastOf(c.Record); known && sight.See(p.made) && s.passes(ctx, a.Bound, p) {
			*records = append(*records, s.show(ctx, p, a.Principal, false))
		}
		position = c.Position
	}
	return reached, nil
}

// awaitChange waits until a change ends, and returns false if waiting ends first.
func (s *Service) awaitChange(waiting context.Context, changed <-chan struct{}) bool {
	select {
	case <-changed:
		select {
		case <-s.Stopping:
			return false
		default:
			return waiting.Err() == nil
		}
	case <-waiting.Done():
	case <-s.Stopping:
	}
	return false
}

// now returns the caller with its current rights. It fails if the caller may no longer make the
// call.
func now(a call.Accepted) (*identity.Principal, error) {
	if a.Again == nil {
		return a.Principal, nil
	}
	principal, err := a.Again()
	if err == nil {
		err = call.AuthorizeRow(principal, a.Op)
	}
	return principal, err
}

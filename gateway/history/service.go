// Package history answers calls about changes: their list and stream, a single change and its
// current state, and undo, which makes calls of other rows.
package history

import (
	"cmp"
	"context"
	"fmt"
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

// Options configure a service. All except History are required.
type Options struct {
	History    *changes.History // nil if there is none, in which case every call is refused
	Operations []*ops.Operation // the gateway's table
	Settler    settle.Settler   // reads the current state; the limit is per call
	Cursors    call.Cursors     // cursors of the list
	Streams    *call.Streams

	// Do makes the calls that undo a change. Its error wraps a [*problem.Error].
	Do func(ctx context.Context, c call.Call, to call.Sink) (call.Answer, error)
	// Stopping is closed when the gateway stops, which ends all waits.
	Stopping <-chan struct{}
}

// Service answers calls about changes. It is safe for concurrent use.
type Service struct {
	Options
	recent recent
	index  *index
}

// New returns a service. It replaces any earlier service as the one that is notified of every saved change.
func New(options Options) *Service {
	s := &Service{Options: options, recent: recent{every: turnEvery}, index: newIndex()}
	if s.History != nil {
		s.History.OnSaved(func(c *changes.Record) {
			if s.index.used.Load() && !(c.Running && s.index.pass(placeOf(c.ID))) {
				s.index.add(s.termsOf(c))
			}
		})
	}
	return s
}

// Local returns the handlers for the rows of changes.
func (s *Service) Local() call.Local {
	local := call.Local{
		Handlers:  map[string]call.Handler{"change.list": s.list, "change.get": s.get, "change.undo": s.undo},
		Streamers: map[string]call.Streamer{"change.stream": s.stream},
	}
	if s.History != nil {
		return local
	}
	for id := range local.Handlers {
		local.Handlers[id] = func(context.Context, call.Accepted) (call.Answer, error) {
			return call.Answer{}, noHistory()
		}
	}
	for id := range local.Streamers {
		local.Streamers[id] = func(context.Context, call.Accepted, call.Events) error { return noHistory() }
	}
	return local
}

func noHistory() error {
	return problem.New(schema.NotSupported, "This gateway keeps no history (store.file is off).")
}

// past is a recorded change together with its row.
type past struct {
	*changes.Record
	made change.Made
}

// pastOf returns a recorded change with its row, or false if the row no longer exists.
func (s *Service) pastOf(c *changes.Record) (*past, bool) {
	made, known := call.MadeOf(s.Operations, c)
	return &past{c, made}, known
}

// Made is [call.Made] for the history and the operations of the service.
func (s *Service) Made(ctx context.Context, id string) (change.Made, bool) {
	return call.Made(ctx, s.History, s.Operations, id)
}

// undoable returns the extent to which a change can be undone, except for the parts that have
// already been undone.
func (s *Service) undoable(ctx context.Context, p *past) schema.Undoable {
	if p.Running || p.Outcome == ps.OutcomeUnknown {
		return schema.UndoNone
	}
	return p.made.Undoable(func(fields ...string) bool { return s.undone(ctx, p, fields...) })
}

// undone reports whether a change, or the change of some of its fields, was undone by a change that is still
// in effect.
func (s *Service) undone(ctx context.Context, p *past, fields ...string) bool {
	return s.undoneBy(ctx, p.Record, fields, 0) != ""
}

// undoneBy returns the id of the change that undid a change and is still in effect, or "" if there
// is none.
func (s *Service) undoneBy(ctx context.Context, c *changes.Record, fields []string, depth int) string {
	const deepest = 20
	for _, by := range slices.Backward(c.UndoneBy) {
		if len(by.Fields) > 0 && len(fields) > 0 && !slices.ContainsFunc(fields, func(field string) bool {
			return slices.ContainsFunc(by.Fields, func(other string) bool { return strings.EqualFold(field, other) })
		}) {
			continue
		}
		if len(by.Fields) > 0 && len(fields) == 0 {
			continue // that undo covered only a part
		}
		other, err := s.History.Get(ctx, by.ID)
		if err == nil && depth < deepest && len(other.UndoneBy) > 0 && s.undoneBy(ctx, other, nil, depth+1) != "" {
			continue
		}
		return by.ID
	}
	return ""
}

// WhyNotUndoable returns the reason why a change cannot be undone, as a sentence, or "" if it can.
// It does not check whether the values have changed since. The service must have a history.
func (s *Service) WhyNotUndoable(ctx context.Context, id string) string {
	record, err := s.History.Get(ctx, id)
	if err != nil {
		return fmt.Sprintf("The change '%s' is not in the history any more.", id)
	}
	p, known := s.pastOf(record)
	switch {
	case !known:
		return fmt.Sprintf("The change '%s' is one of an operation that this gateway does not have.", id)
	case s.undone(ctx, p):
		return fmt.Sprintf("The change '%s' was undone already.", id)
	case s.undoable(ctx, p) == schema.UndoNone:
		why := cmp.Or(p.made.Op.Undo.Never, "it has no image of what was there before")
		return fmt.Sprintf("The change '%s' cannot be undone: %s.", id, why)
	}
	return ""
}

// now reads the current state of the objects of a recorded change.
func (s *Service) now(ctx context.Context, was settle.Change, limit time.Duration) ([]settle.State, error) {
	settler := s.Settler
	settler.Limit = limit
	return settler.Now(ctx, was)
}

package gateway

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// endPart is a part of the end of a call.
type endPart struct {
	put    func(tx *store.Tx) error
	stored func() // nil: nothing is noted then
}

// closeChange ends the change of a call that has ended, and keeps the answer.
func (s *Server) closeChange(r *request, answer call.Answer, failed error) {
	c, begun := r.change, r.begun()
	var parts []endPart
	for _, one := range []*endPart{s.endOfChange(r), s.endOfPlan(r), s.endOfKey(r, answer, failed)} {
		if one != nil {
			parts = append(parts, *one)
		}
	}
	s.end(r, c, begun, parts)
}

// begun reports whether the store has what the call is about to change.
func (r *request) begun() bool {
	return r.change != nil && r.change.Running || r.key.Progress().Intent != nil
}

// end stores the outcome of a call in one update, whose record is c. If the store does not take
// it, it is stored later, provided that the store has what the call was about to change;
// in a cluster of one writer by the gateway that leads then.
func (s *Server) end(r *request, c *changes.Record, begun bool, parts []endPart) {
	defer r.endRun()
	ctx, cancel := context.WithTimeout(context.Background(), mostEnding)
	defer cancel()
	err := s.storeEnd(ctx, parts)
	if errors.Is(err, write.ErrClosed) {
		err = s.closedByAnother(r)
	}
	key := r.claimed()
	if err == nil && r.outer != nil && key != nil {
		err = key.Refresh(ctx)
	}
	if s.Member != nil && begun {
		s.ended(r, c, err)
	}
	if err == nil {
		return
	}
	log := s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID})
	switch {
	case s.Member != nil && begun && !errors.Is(err, write.ErrClosed):
		if r.outer != nil && key != nil {
			key.LeaveOpen()
		}
	case !begun || errors.Is(err, write.ErrClosed):
		log.WithError(err).Error("what became of a call could not be kept")
	default:
		r.unkept = true
		s.meters.unremembered.Inc()
		log.WithError(err).Error("what became of a change could not be stored, and is stored later")
		if r.outer != nil && key != nil {
			key.LeaveOpen()
		}
		s.unstored.add(&unstored{parts, key, log})
	}
}

// storeEnd stores the end of a call. In a cluster another gateway may lead by now, so that it is
// tried again until ctx ends: what was stored is found then.
func (s *Server) storeEnd(ctx context.Context, parts []endPart) error {
	if len(parts) == 0 {
		return nil
	}
	in := s.store()
	if s.Member != nil {
		in = s.Relay
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := in.Update(ctx, func(tx *store.Tx) error { return putAll(tx, parts) })
		if err == nil {
			for _, one := range parts {
				if one.stored != nil {
					one.stored()
				}
			}
			return nil
		}
		if in == s.store() || errors.Is(err, write.ErrClosed) || errors.Is(err, store.ErrClosed) || neverStored(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// putAll puts the parts of the end of a call. If the first finds that they are stored, there is
// nothing left to do.
func putAll(tx *store.Tx, parts []endPart) error {
	for _, one := range parts {
		err := one.put(tx)
		if errors.Is(err, write.ErrEnded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endOfChange closes the record of what a call has changed. The answer names the change.
func (s *Server) endOfChange(r *request) *endPart {
	c := r.change
	if c == nil || !c.Running {
		s.uncorrected(r, r.spending.Correct())
		return nil
	}
	outcome := outcomeOfChange(r)
	if r.inDoubt {
		return nil
	}
	if s.staysOpen(r, outcome) {
		r.spending.Keep()
		r.shown = r.changeID()
		s.leaveOpen(r)
		return nil
	}
	if outcome == ps.OutcomeNone {
		r.change = nil
	} else {
		if r.result != nil {
			c.Identify(r.result)
		}
		r.shown = r.changeID()
	}
	e := write.Close(c, write.Verdict{Outcome: outcome})
	// The key of an outer call is that of the whole request, and takes note of each of its changes.
	e.Answered = r.outer == nil
	e.Spent = r.spending.Done()
	e.Verdict.Idle = outcome == ps.OutcomeNone && r.failure == nil
	return &endPart{
		put:    func(tx *store.Tx) error { return s.storeEndOf(tx, e) },
		stored: func() { s.saved(c) },
	}
}

// closedByAnother finds out about a change that another gateway has closed after it had taken
// the call over, which this one has made all the same. That is told: the other one may have
// made the change a second time, or let it be made.
func (s *Server) closedByAnother(r *request) error {
	c, outcome := r.change, r.outcome()
	if c == nil || !s.clustered() || outcome != ps.OutcomeDone && outcome != ps.OutcomePartial {
		return write.ErrClosed
	}
	r.raced = true
	s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID, "change": c.ID}).Error("a change was made after another gateway had taken the call over, as this host stood still: it may have been made twice")
	return nil
}

var racedWarning = ps.Warning{Code: call.Raced, Message: "The host of the gateway stood still for so long that another gateway has taken the call over, which may have made the change once more. Compare the object with what you asked for."}

// endOfPlan returns how the plan that a request applies has ended, unless its change says so.
func (s *Server) endOfPlan(r *request) *endPart {
	if put := r.applying.End(r.outcome()); put != nil {
		return &endPart{put: put}
	}
	return nil
}

// endOfKey returns what is kept of a call with a key.
func (s *Server) endOfKey(r *request, answer call.Answer, failed error) *endPart {
	if r.key == nil {
		return nil
	}
	e := idempotency.Ended{
		Outcome: r.outcome(), Failure: r.failure, DryRun: r.dryRun(),
		Overtaken: r.failure != nil && errors.Is(r.failure, errOvertaken),
		Tag:       answer.Tag, Change: r.shown, Secret: r.bound.Generated,
	}
	e.Status, e.Body = call.Encode(r.op, r.call.Classic, answer, failed, r.id)
	if end := r.key.End(e); end != nil {
		return &endPart{put: end.Put, stored: end.Stored}
	}
	return nil
}

// outcome returns what the request left behind; done if it succeeded.
func (r *request) outcome() ps.Outcome {
	if r.failure == nil {
		return ps.OutcomeDone
	}
	return cmp.Or(r.failure.Outcome, ps.OutcomeNone)
}

// release ends the claim of a request.
func (r *request) release() {
	if r.key != nil {
		r.gateway.unstored.leave(r.key)
	}
}

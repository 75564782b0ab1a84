package gateway

import (
	"adgateway/gateway/call"
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// A change is closed once, in one batch: its record in the history, its key, its plan, what it
// has spent, its names. The batch requires the record to be open, and holds the outcome.
// Whoever comes later reads the outcome, and does not look at the directory again.

// errClosed means that another one has closed a change, with another outcome.
var errClosed = errors.New("the change was closed before")

// closeChange closes the change of a call that has ended, and keeps the answer.
func (s *Server) closeChange(r *request, answer call.Answer, failed error) {
	c, begun := r.change, r.begun()
	s.end(r, c, begun, s.endOfChange(r), s.endOfPlan(r), s.endOfKey(r, answer, failed), s.endOfNames(r))
}

// begun reports whether the store has what the call is about to change.
func (r *request) begun() bool {
	return r.change != nil && r.change.Running || r.key != nil && r.key.call.Intent != nil
}

// end stores the outcome of a call in one batch, whose record is c. If the store does not take
// the batch, it is stored later, provided that the store has what the call was about to change;
// in a cluster of one writer by the gateway that leads then.
func (s *Server) end(r *request, c *changes.Record, begun bool, parts ...share) {
	defer r.endRun()
	ctx, cancel := context.WithTimeout(context.Background(), mostDoubt)
	defer cancel()
	in := s.store()
	if s.Member != nil {
		in = s.Relay // another gateway may lead by now
	}
	err := s.decideTogether(ctx, in, parts)
	if errors.Is(err, errClosed) {
		err = s.closedByAnother(r)
	}
	key := r.claimed()
	if err == nil && r.outer != nil && key != nil {
		key.call, key.revision, err = key.latest(ctx)
	}
	if s.Member != nil && begun {
		s.ended(r, c, err)
	}
	if err == nil {
		return
	}
	log := s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID})
	switch {
	case s.Member != nil && begun && !errors.Is(err, errClosed):
		if r.outer != nil && key != nil {
			key.open = true
		}
	case !begun || errors.Is(err, errClosed):
		log.WithError(err).Error("what became of a call could not be kept")
	default:
		r.unkept = true
		s.meters.unremembered.Inc()
		log.WithError(err).Error("what became of a change could not be stored, and is stored later")
		if r.outer != nil && key != nil {
			key.open = true
		}
		s.unstored.add(&unstored{s.store(), parts, key, log})
	}
}

// closing returns the part of a batch that closes the record of a change, or removes it if
// nothing was changed. It fails with [errClosed] if that was done before with another outcome,
// or if another gateway has claimed the record.
func (s *Server) closing(in *changes.History, c *changes.Record, outcome ps.Outcome) share {
	var own []store.Change
	return share{
		changes: func(ctx context.Context) (_ []store.Change, err error) {
			if outcome == ps.OutcomeNone {
				own = []store.Change{in.Removal(c)}
				return own, nil
			}
			own, err = in.Completion(ctx, c, outcome)
			return own, err
		},
		again: func(ctx context.Context) error {
			latest, err := in.Get(ctx, c.ID)
			absent := errors.Is(err, changes.ErrAbsent)
			switch {
			case absent && outcome == ps.OutcomeNone:
				return &made{}
			case absent:
				return errClosed
			case err != nil:
				return err
			case !latest.Running && latest.Outcome == outcome:
				return &made{latest.Revision()}
			case !latest.Same(c):
				return errClosed
			}
			return nil
		},
		made: func(revision store.Revision) {
			if len(own) > 0 && outcome != ps.OutcomeNone {
				s.saved(in, c, own, revision)
			}
		},
	}
}

// unlessChanged returns changes as a part of a batch that does not depend on them: what others
// have changed meanwhile stays as it is.
func unlessChanged(in *store.Sealed, all ...store.Change) share {
	return share{
		changes: func(context.Context) ([]store.Change, error) { return all, nil },
		again: func(ctx context.Context) error {
			all = slices.DeleteFunc(slices.Clone(all), func(one store.Change) bool {
				present, err := in.Get(ctx, one.Kind, one.Key)
				return err != nil && !errors.Is(err, store.ErrAbsent) || present.Revision != one.Expect
			})
			return nil
		},
	}
}

// endOfChange closes the record of what a call has changed. The answer names the change.
func (s *Server) endOfChange(r *request) share {
	c := r.change
	if c == nil || !c.Running {
		s.correct(r)
		return share{}
	}
	outcome := outcomeOfChange(r)
	if r.inDoubt {
		return share{}
	}
	if s.staysOpen(r, outcome) {
		r.correction = nil // it stays spent until it is known
		r.shown = r.changeID()
		s.leaveOpen(r)
		return share{}
	}
	own, spent := s.closing(s.History, c, outcome), r.correction.share()
	r.correction = nil
	if outcome == ps.OutcomeNone {
		r.change = nil
	} else {
		if r.result != nil {
			c.Identify(r.result)
		}
		r.shown = r.changeID()
	}
	if r.outer == nil { // else the key is that of the whole request, and takes note of each of its changes
		return joined(own, spent)
	}
	return joined(own, spent, s.keyAfter(c, &verdict{Outcome: outcome}))
}

// joined returns parts of a batch as one.
func joined(parts ...share) share {
	return share{
		changes: func(ctx context.Context) (all []store.Change, err error) {
			for i := range parts {
				if parts[i].changes == nil {
					continue
				}
				own, err := parts[i].changes(ctx)
				if err != nil {
					return nil, err
				}
				all = append(all, own...)
			}
			return all, nil
		},
		again: func(ctx context.Context) error { return conflict(ctx, parts) },
		made: func(revision store.Revision) {
			for i := range parts {
				if parts[i].made != nil {
					parts[i].made(revision)
				}
			}
		},
	}
}

// closedByAnother finds out about a change that another gateway has closed after it had taken
// the call over, which this one has made all the same. That is told: the other one may have
// made the change a second time, or let it be made.
func (s *Server) closedByAnother(r *request) error {
	c, outcome := r.change, r.outcome()
	if c == nil || !s.clustered() || outcome != ps.OutcomeDone && outcome != ps.OutcomePartial {
		return errClosed
	}
	r.raced = true
	s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID, "change": c.ID}).Error("a change was made after another gateway had taken the call over, as this host stood still: it may have been made twice")
	return nil
}

// racedCode marks such a change in its answer and in the audit.
const racedCode = "raced"

var racedWarning = ps.Warning{Code: racedCode, Message: "The host of the gateway stood still for so long that another gateway has taken the call over, which may have made the change once more. Compare the object with what you asked for."}

// endOfPlan returns what becomes of the plan that a request applies: one whose application
// changed nothing can be applied again.
func (s *Server) endOfPlan(r *request) share {
	a := r.applying
	if a == nil || a.closed {
		return share{}
	}
	a.closed = true
	if a.drift == nil {
		outcome := r.outcome()
		if !a.used || outcome == ps.OutcomeUnknown || r.change == nil && outcome != ps.OutcomeNone { // nothing was to be changed
			return share{}
		}
		a.used = outcome != ps.OutcomeNone
		return s.planAfter(a.plan.ID, r.id, changeIn(r), outcome)
	}
	s.meters.plans.WithLabelValues(planDrifted).Inc()
	if a.used {
		a.plan.Used = nil
	}
	noted, err := s.plans.Drift(a.plan)
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Error("what became of a plan could not be kept")
		return share{}
	}
	return unlessChanged(s.Kept, noted)
}

// endOfKey returns what is kept of a call with a key: its answer, or that it may be tried
// again. If it cannot be kept, a repetition finds out what became of the change.
func (s *Server) endOfKey(r *request, answer call.Answer, failed error) share {
	c := r.key
	if c == nil || c.call.Status != 0 || c.lost {
		return share{}
	}
	outcome := r.outcome()
	status, body := call.Encode(r.op, r.call.Classic, answer, failed, r.id)
	open := c.open || outcome == ps.OutcomeUnknown && r.failure.Code != schema.OutcomeUnknown // which is the verdict
	call := c.call
	switch {
	case !open && outcome == ps.OutcomeNone && c.counts(r): // as an attempt
		c.again = true
		call = keptCall{Fingerprint: call.Fingerprint, RequestID: call.RequestID, StartedAt: call.StartedAt, Attempts: call.Attempts}
	case r.dryRun(), !open && outcome == ps.OutcomeNone && r.failure != nil: // it has changed nothing, and may be tried again
		own := unlessChanged(s.Kept, store.Change{Kind: keyKind, Key: c.name, Expect: c.revision})
		own.made = func(store.Revision) { c.keys.count.add(c.caller, -1) }
		return own
	case open: // whoever is asked next finds it out
		return share{}
	case status >= http.StatusInternalServerError: // which asks to come again
		call.Verdict, call.Token = &verdict{Outcome: outcome}, ""
		if r.failure != nil {
			call.Verdict.Notes = messages(r.failure.Details)
		}
	default:
		call.answered(r, answer.Tag, status, body)
	}
	c.call = call
	own, err := c.change()
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Error("the answer of a call with an " + keyHeader + " could not be kept")
		return share{}
	}
	return unlessChanged(s.Kept, own)
}

// answered makes an answer that of a call.
func (k *keptCall) answered(r *request, tag string, status int, body []byte) {
	k.Status, k.Body, k.Intent, k.Verdict, k.Token = status, body, nil, nil, ""
	k.Change, k.Tag = r.shown, tag
	if r.failure != nil {
		k.Tag = r.failure.Tag
	}
	if secret := r.bound.Generated; secret != nil {
		name := string(encode(secret.Member)) + ":"
		k.Body, k.Secret = bytes.Replace(body, []byte(name+string(encode(secret.Reveal()))), []byte(name+"null"), 1), secret.Member
	}
	if len(k.Body) > maxKeptBody {
		k.Body, k.Cut = call.WithoutRecords(k.Body), true
	}
}

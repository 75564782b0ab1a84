package gateway

import (
	"bytes"
	"context"
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/ps"
)

// The outcome of a call is stored before its answer is sent, in one decision: the
// record of the change, the answer with its key, the plan, the leases of its objects.

// ending is one part of what becomes of a call.
type ending struct {
	changes []keep.Change
	made    func(revision keep.Revision) // notes that they were made; nil: nothing is noted
	failed  func(err error)              // reports that they were not
	alone   func() error                 // makes them again after a conflict; nil: it stays a failure
}

// conclude keeps what became of a call that is about to be answered.
func (s *Server) conclude(r *request, status int, body []byte) {
	var all []*ending
	for _, one := range []*ending{s.endOfChange(r), s.endOfPlan(r), s.endOfKey(r, status, body), s.endOfLeases(r)} {
		if one != nil {
			all = append(all, one)
		}
	}
	s.endTogether(s.storeOf(r), all...)
}

// keepChange keeps what became of the change of a call that was not answered.
func (s *Server) keepChange(r *request) {
	for _, one := range []*ending{s.endOfChange(r), s.endOfLeases(r)} {
		if one != nil {
			s.endTogether(s.storeOf(r), one)
		}
	}
}

// endTogether keeps some endings in one decision of a store, or each alone if one of them
// conflicts.
func (s *Server) endTogether(in *keep.Sealed, endings ...*ending) {
	var changes []keep.Change
	for _, one := range endings {
		changes = append(changes, one.changes...)
	}
	if len(changes) == 0 {
		return
	}
	revision, err := in.Apply(context.Background(), changes...)
	switch {
	case err == nil:
		if in == s.store() {
			s.seen(revision)
		}
		for _, one := range endings {
			if one.made != nil {
				one.made(revision)
			}
		}
		return
	case errors.Is(err, keep.ErrConflict) && len(endings) > 1:
		for _, one := range endings {
			s.endTogether(in, one)
		}
		return
	}
	for _, one := range endings {
		why := err
		if errors.Is(err, keep.ErrConflict) && one.alone != nil {
			why = one.alone()
		}
		if why != nil {
			one.failed(why)
		}
	}
}

// endOfChange returns what completes the record of what a call has changed, or removes it
// if that is nothing. The answer names the change.
func (s *Server) endOfChange(r *request) *ending {
	c := r.change
	if c == nil || !c.Running {
		s.correct(r)
		return nil
	}
	outcome := r.outcome()
	if r.failure == nil && (r.result == nil || r.result.Effect == ps.EffectNone) {
		outcome = ps.OutcomeNone
	}
	failed := func(err error) {
		s.unremembered(r, err)
		if c := r.claimed(); c != nil && r.undoing != nil {
			c.open = true
		}
		if item := itemCallOf(r.c.Request); item != nil {
			item.unkept = true
		}
		if !r.c.Writer.Written() {
			r.c.Writer.Header().Del(changeHeader)
		}
	}
	spent := r.correction.share()
	r.correction = nil
	ctx, history := context.Background(), s.historyOf(r)
	own := &ending{failed: failed, alone: func() error { return s.keepBeside(r, history, c, outcome, spent) }}
	var err error
	if outcome == ps.OutcomeNone {
		r.change = nil
		own.changes = []keep.Change{history.Removal(c)}
	} else {
		if r.result != nil {
			c.Identify(r.result)
		}
		if own.changes, err = history.Completion(ctx, c, outcome); err != nil {
			failed(err)
			return nil
		}
		if !r.c.Writer.Written() {
			r.c.Header(changeHeader, r.changeID())
		}
		own.made = func(revision keep.Revision) { s.saved(history, c, own.changes, revision) }
	}
	if spent.changes != nil {
		more, err := spent.changes(ctx)
		if err != nil {
			s.Log.WithError(err).WithField("request_id", r.id).Error("what a call has spent of the hourly limits of its credential could not be corrected")
		}
		own.changes = append(own.changes, more...)
	}
	return own
}

// keepBeside keeps what became of a change although others write at the same time. If another
// gateway has taken the call over, which this one has made all the same, that is told: the
// other one may have made the change a second time, or let it be made.
func (s *Server) keepBeside(r *request, in *changes.History, c *changes.Record, outcome ps.Outcome, spent share) error {
	err := s.keepOutcome(in, c, outcome, nil, spent)
	if !errors.Is(err, keep.ErrConflict) || s.Members == nil || outcome != ps.OutcomeDone && outcome != ps.OutcomePartial {
		return err
	}
	ctx := context.Background()
	latest, unread := in.Get(ctx, c.ID)
	switch {
	case errors.Is(unread, changes.ErrAbsent): // the other one has found that nothing was changed
		err = in.Adopt(ctx, c, s.Now())
	case unread != nil:
		return err
	case !latest.Running && latest.Outcome == outcome: // it has found this change
		return nil
	}
	r.raced = true
	s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID, "change": c.ID}).Error("a change was made after another gateway had taken the call over, as this host stood still: it may have been made twice")
	return err
}

// racedCode marks such a change in its answer and in the audit.
const racedCode = "raced"

var racedWarning = ps.Warning{Code: racedCode, Message: "The host of the gateway stood still for so long that another gateway has taken the call over, which may have made the change once more. Compare the object with what you asked for."}

// endOfPlan returns what became of the plan that a request applies: one whose application
// changed nothing can be applied again.
func (s *Server) endOfPlan(r *request) *ending {
	a := r.applying
	if a == nil || a.closed {
		return nil
	}
	a.closed = true
	failed := func(err error) {
		s.Log.WithError(err).WithField("request_id", r.id).Error("what became of a plan could not be kept")
	}
	var change keep.Change
	var err error
	var alone func() error
	switch {
	case a.drift != nil:
		s.meters.plans.WithLabelValues(planDrifted).Inc()
		if a.used {
			a.plan.Used = nil
		}
		change, err = s.plans.Drift(a.plan)
		alone = func() error { return nil } // another call has changed it, which stays
	case a.used && r.failure != nil && r.outcome() == ps.OutcomeNone:
		a.used = false
		change, err = s.plans.Release(a.plan)
	case a.used && r.change != nil:
		change, err = s.plans.Done(a.plan, r.change.ID)
	default:
		return nil
	}
	if err != nil {
		failed(err)
		return nil
	}
	return &ending{changes: []keep.Change{change}, made: a.plan.Saved, failed: failed, alone: alone}
}

// endOfKey returns the answer of a call with a key. If it cannot be kept, a repetition
// finds out what became of the change.
func (s *Server) endOfKey(r *request, status int, body []byte) *ending {
	c := r.key
	if c == nil || c.call.Status != 0 || c.lost {
		return nil
	}
	failed := func(err error) {
		s.Log.WithError(err).WithField("request_id", r.id).Error("the answer of a call with an " + keyHeader + " could not be kept")
	}
	outcome := r.outcome()
	open := c.open || outcome == ps.OutcomeUnknown
	switch {
	case !open && outcome == ps.OutcomeNone && c.counts(r): // as an attempt
		c.call = keptCall{Fingerprint: c.call.Fingerprint, RequestID: c.call.RequestID, StartedAt: c.call.StartedAt, Attempts: c.call.Attempts}
		own, err := c.change()
		if err != nil {
			failed(err)
			return nil
		}
		return &ending{changes: []keep.Change{own}, failed: failed}
	case r.dryRun(), !open && outcome == ps.OutcomeNone && r.failure != nil: // it has changed nothing, and may be tried again
		return &ending{
			changes: []keep.Change{{Kind: keyKind, Key: c.name, Expect: c.revision}}, failed: failed,
			made: func(keep.Revision) { c.keys.count.add(c.caller, -1) },
		}
	case open && (c.call.Owner == nil || c.call.Intent == nil):
		return nil
	case open:
		c.call.Owner, c.call.Settling = nil, false // whoever is asked next may find it out
		own, err := c.change()
		if err != nil {
			failed(err)
			return nil
		}
		return &ending{changes: []keep.Change{own}, failed: failed}
	}
	c.call.Status, c.call.Body, c.call.Intent, c.call.Owner, c.call.Settling, c.call.Token = status, body, nil, nil, false, ""
	header := r.c.Writer.Header()
	c.call.Change, c.call.Tag = header.Get(changeHeader), header.Get(tagHeader)
	if secret := r.bound.Generated; secret != nil {
		name := string(encode(secret.Member)) + ":"
		c.call.Body, c.call.Secret = bytes.Replace(body, []byte(name+string(encode(secret.Reveal()))), []byte(name+"null"), 1), secret.Member
	}
	if len(c.call.Body) > maxKeptBody {
		c.call.Body, c.call.Cut = withoutRecords(c.call.Body), true
	}
	own, err := c.change()
	if err != nil {
		failed(err)
		return nil
	}
	return &ending{changes: []keep.Change{own}, made: func(revision keep.Revision) { c.revision = revision }, failed: failed}
}

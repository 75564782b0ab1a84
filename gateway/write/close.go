package write

import (
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// CallEnd describes the end of a call that may have made a change.
type CallEnd struct {
	// Verdict is the verdict on the change. Its outcome is [ps.OutcomeNone] if nothing was changed.
	Verdict  Verdict
	Failed   bool           // the call was answered with an error
	Result   *ps.Result     // result of the script, or nil
	Spent    map[string]int // used quota by impact; nil means all that the change reserved
	Answered bool           // the call itself stores its answer in the key
	Patient  bool           // the end may be stored together with the beginning of a change that follows

	// Key identifies the call's key for [Writer.Leave]; nil if it has none.
	Key any
	// Begun reports whether the store has the announcement in the key.
	Begun bool
	// Stored is called once the end is stored, or nil. If it fails, the end is stored again later.
	Stored func(ctx context.Context) error
	Log    func() *logrus.Entry // of the call
}

// EndPart is a further part of the end of a call, such as the answer in its key.
type EndPart struct {
	Put    func(tx *store.Tx) error
	Stored func() // called once the part is stored; may be nil
}

// Closed describes how the change of a call was closed.
type Closed struct {
	Record *changes.Record // of the change; nil if nothing was changed or the history does not have it
	Open   bool            // whether the outcome of the call is not stored, so that its key stays open
	Raced  bool            // whether another gateway settled the change before it was made
	Lost   bool            // whether the end could not be stored, so that another gateway has to determine it
	Unkept bool            // whether the change is missing from the history, or recorded without its final state
}

// Close stores the end of a call in one update: the outcome of its change, and parts. r may be nil. If the
// store fails, the end is stored later if the store has the beginning of the change; in a cluster, the leader
// at that time stores it. A change stays open if its outcome is unknown and can still be judged.
func (w *Writer) Close(r *Run, how CallEnd, parts ...EndPart) (closed Closed) {
	if r == nil {
		r = &Run{w: w}
	}
	defer r.endRun()
	c, begun := r.record, r.Running() || how.Begun
	if own := r.end(how); own != nil {
		parts = append([]EndPart{*own}, parts...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostEnding)
	defer cancel()
	if how.Patient {
		ctx = store.Patient(ctx, patience)
	}
	err := w.storeEnd(ctx, parts)
	if errors.Is(err, ErrClosed) {
		err = r.closedByAnother(how.Verdict.Outcome)
	}
	if err == nil && how.Stored != nil {
		err = how.Stored(ctx)
	}
	if w.Member != nil && begun {
		closed.Lost = r.ended(how, c, err)
	}
	switch {
	case err == nil:
	case w.Member != nil && begun && !errors.Is(err, ErrClosed):
		closed.Open = true
	case !begun || errors.Is(err, ErrClosed):
		how.Log().WithError(err).Error("the outcome of a call could not be stored")
	default:
		closed.Open, r.unkept = true, true
		w.unrecorded()
		how.Log().WithError(err).Error("the outcome of a change could not be stored, and is stored later")
		w.late.add(&lateEnd{parts, how.Key, how.Log})
	}
	closed.Record, closed.Raced, closed.Unkept = r.record, r.raced, r.unkept
	return closed
}

// storeEnd stores the end of a call. In a cluster it retries until ctx ends, because another
// gateway may lead by now. A retry recognizes an end that was stored before.
func (w *Writer) storeEnd(ctx context.Context, parts []EndPart) error {
	if len(parts) == 0 {
		return nil
	}
	in := w.ending()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := in.Update(ctx, func(tx *store.Tx) error { return putAll(tx, parts) })
		if err == nil {
			for _, one := range parts {
				if one.Stored != nil {
					one.Stored()
				}
			}
			return nil
		}
		if in == w.Store || errors.Is(err, ErrClosed) || errors.Is(err, store.ErrClosed) || neverStored(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// putAll puts the parts of the end of a call. If the first part was stored before, all parts were, and it
// puts nothing.
func putAll(tx *store.Tx, parts []EndPart) error {
	for _, one := range parts {
		err := one.Put(tx)
		if errors.Is(err, ErrEnded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Leave calls free once no end of a call with the key is waiting to be stored, possibly before it
// returns. The call must have ended. The key must be comparable, and free must not block.
func (w *Writer) Leave(key any, free func()) {
	e := &w.late
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.holds(key) {
		free()
		return
	}
	if e.left == nil {
		e.left = map[any]func(){}
	}
	e.left[key] = free
}

// StoreLate stores the waiting ends of calls that the store has refused before.
func (w *Writer) StoreLate(ctx context.Context) error {
	w.late.storing.Lock()
	defer w.late.storing.Unlock()
	for {
		next := w.late.first()
		if next == nil {
			return nil
		}
		err := w.storeEnd(ctx, next.parts)
		if errors.Is(err, ErrClosed) || neverStored(err) {
			next.log().WithError(err).Error("the outcome of a call could not be stored")
			err = nil
		}
		if err != nil {
			return err
		}
		w.late.stored()
	}
}

// neverStored reports whether retries are useless. The change then stays open until the next start
// determines its outcome, and later ends need not wait for it.
func neverStored(err error) bool {
	return errors.Is(err, store.ErrTooMany) || errors.Is(err, store.ErrUnreadable)
}

// end returns the part that closes the record of the change, or nil if there is no record to close or the
// record stays open.
func (r *Run) end(how CallEnd) *EndPart {
	if !r.Running() {
		return nil
	}
	c, outcome := r.record, how.Verdict.Outcome
	if r.staysOpen(outcome) {
		r.leaveOpen()
		return nil
	}
	if outcome == ps.OutcomeNone {
		r.record = nil
	} else if how.Result != nil {
		c.Identify(how.Result)
	}
	e := Close(c, Verdict{Outcome: outcome, Idle: outcome == ps.OutcomeNone && !how.Failed})
	e.Answered, e.Spent = how.Answered, how.Spent
	return &EndPart{
		Put:    func(tx *store.Tx) error { return r.w.storeEndOf(tx, e) },
		Stored: func() { r.w.History.Saved(c) },
	}
}

// leaveOpen records that the change is in doubt.
func (r *Run) leaveOpen() {
	r.inDoubt = true
	if !r.deposed() {
		wanted := locksOf(r.change.Op, r.record.Zone, &r.record.Intent)
		r.w.doubts.add(r.record.ID, wanted, r.doubted)
		return
	}
	r.w.tell(r.record.ID, ending{})
	if r.doubted != nil {
		r.doubted.end()
	}
}

// closedByAnother handles a change that this gateway has made although another gateway had taken
// over its call and closed it. It reports the change, because it may have been made twice.
func (r *Run) closedByAnother(outcome ps.Outcome) error {
	c := r.record
	if c == nil || r.w.Member == nil || outcome != ps.OutcomeDone && outcome != ps.OutcomePartial {
		return ErrClosed
	}
	r.raced = true
	r.change.Log().WithField("change", c.ID).Error("a change was made after another gateway had taken the " +
		"call over, as this host stood still: it may have been made twice")
	return nil
}

// ended reports the end of a call to the leader of the cluster if it could not be stored. c is the call's
// record. lost reports whether another gateway has to determine the outcome. The caller only gets an outcome
// that is stored.
func (r *Run) ended(how CallEnd, c *changes.Record, stored error) (lost bool) {
	if c == nil || r.inDoubt || stored == nil && !r.raced && !r.deposed() {
		return false
	}
	if stored != nil && !errors.Is(stored, ErrClosed) {
		r.w.unrecorded()
		lost = how.Verdict.Outcome != ps.OutcomeNone
		r.change.Log().WithError(stored).WithField("change", c.ID).
			Error("the outcome of a change could not be stored, and is sent to the gateway that leads")
	}
	r.endRun()
	verdict := how.Verdict
	r.w.tell(c.ID, ending{Verdict: &verdict, Result: how.Result, Record: c})
	return lost
}

// doubtful tells the next leader that a change was stopped before its script changed anything,
// although its announcement may have been stored.
func (r *Run) doubtful(err error) {
	if r.w.Member == nil || r.record == nil || r.kept || !errors.Is(err, store.ErrUnsure) {
		return
	}
	r.w.tell(r.record.ID, ending{Verdict: &Verdict{Outcome: ps.OutcomeNone}})
}

// NotStored returns the error of a call whose change was made, at least in part, but could not be
// closed.
func NotStored() error {
	failed := problem.New(schema.Timeout, "The change was begun, but another gateway leads the cluster by now, "+
		"and the outcome of the change could not be stored. That gateway determines it: look at the change that "+
		"%s names, or repeat the call with its %s.", ops.ChangeHeader, ops.KeyHeader)
	failed.Outcome = ps.OutcomeUnknown
	return failed
}

// Outcomes returns a function that writes the outcome of each audit line of the change, or nil if there are
// no lines. It calls result before it returns, so that the lines can be written while the end of the change
// is being stored.
func (r *Run) Outcomes(result func(line audit.Call) audit.Result) (write func(patient bool) error) {
	if r == nil || len(r.lines) == 0 {
		return nil
	}
	intents, results := make([]*audit.Entry, len(r.lines)), make([]audit.Result, len(r.lines))
	for i, one := range r.lines {
		intents[i], results[i] = one.intent, result(one.call)
	}
	return func(patient bool) error {
		if !patient {
			return r.w.Audit.Outcomes(intents, results, 0)
		}
		return r.w.Audit.Outcomes(intents, results, patience)
	}
}

// Audited records that the audit has all lines of the call.
func (r *Run) Audited() {
	if r != nil && r.due != "" && !r.inDoubt && !r.unkept {
		r.w.evidence.pay(r.due)
	}
}

package write

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Before a script may change anything, a single update of the store decides everything on which the change
// depends. The record is added to the history, the announcement to the key, the plan is used up, the quotas
// are charged, earlier in-doubt changes of the same objects are closed, and in a cluster the new names are
// reserved. If one part is refused, the script is stopped and nothing is written.

// announced decides whether the script may make the announced change.
func (r *Run) announced(i ps.Intent) error {
	if !i.Changes() {
		return r.change.Holds(&i)
	}
	zone := r.change.Zone(&i)
	if err := r.hold.claim(locksOf(r.change.Op, zone, &i)); err != nil {
		return err
	}
	err := r.change.Holds(&i)
	if err == nil {
		err = r.begin(&i, zone)
	}
	r.hold.made = r.hold.made || err == nil
	return err
}

// begin stores the announced change in the store and in the audit concurrently. If it returns nil,
// the change must begin at once.
func (r *Run) begin(i *ps.Intent, zone string) error {
	r.remember(*i, zone)
	lines := r.intentsOf(i)
	err := r.allow(i, lines)
	if err == nil {
		r.pinEpoch = i.PinEpoch
		lines.write()
	}
	if unaudited := r.announce(lines); err == nil {
		err = unaudited
	}
	if err != nil {
		return err
	}
	return r.inTime()
}

// mostStoring limits the time for storing a change before it begins. A change that takes longer could not
// begin anyway.
const mostStoring = 5 * time.Second

// allow decides whether the change may begin, and stores its beginning. The audit lines are written
// concurrently, once the change is decided.
func (r *Run) allow(i *ps.Intent, lines *intents) error {
	limit := r.limit
	if r.w.Member != nil {
		limit = min(limit, mostStoring)
	}
	// If the caller leaves, the change continues.
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := r.w.StoreLate(ctx); err != nil {
		return r.refuse(err)
	}
	a := &Attempt{Intent: i, Token: uuid.NewString(), Record: r.record}
	if a.Record != nil {
		a.Token = a.Record.Token
	}
	all := r.participants(i)
	if err := r.stored(func() error { return r.store(ctx, a, all, lines) }); err != nil {
		return r.refuse(err)
	}
	for _, one := range all {
		one.Begun()
	}
	return nil
}

// remember prepares the record of the announced change. Calls that change nothing have no record.
func (r *Run) remember(i ps.Intent, zone string) {
	if r.w.History == nil {
		return
	}
	if r.record == nil {
		c := r.change.Record
		c.ID, c.Operation, c.Running = changes.NewID(), r.change.Op.ID, true
		c.Token, c.Process = uuid.NewString(), r.w.process()
		r.record = &c
	}
	c := r.record
	c.Time, c.Intent, c.Server, c.Zone = time.Now().UTC(), i, i.Server, zone
	if r.w.Member != nil {
		c.Limit = writeLimitOf(c.Intent)
	}
}

// participants returns the participants of the change. The first is its record.
func (r *Run) participants(i *ps.Intent) []Participant {
	all := append([]Participant{&recordPart{r}}, r.change.Parts(i, r.record)...)
	if doubts := r.w.doubtsAbout(r); doubts != nil {
		all = append(all, doubts)
	}
	return all
}

// stored calls store, under the control of the cluster's member if there is one.
func (r *Run) stored(store func() error) error {
	if r.member == nil {
		return store()
	}
	return r.member.Store(store)
}

// store stores the beginning of the change in one update.
func (r *Run) store(ctx context.Context, a *Attempt, all []Participant, lines *intents) error {
	in := r.w.Store
	if in == nil {
		return nil
	}
	update := func() error {
		return in.Update(ctx, func(tx *store.Tx) error {
			for _, one := range all {
				err := one.Begin(tx, a)
				if errors.Is(err, ErrBegun) {
					return nil
				}
				if err != nil {
					return err
				}
			}
			if r.w.Member == nil { // in a cluster, an unanswered batch may be stored later
				lines.write()
			}
			return nil
		})
	}
	err := update()
	if errors.Is(err, store.ErrUnsure) && r.w.Member == nil && a.Record != nil && !r.kept {
		if update() == nil { // the update finds the record if an earlier attempt has stored it
			return nil
		}
	}
	return err
}

// refuse returns the error for a change that is not allowed. Outside of a cluster, a failure to
// write only the history does not refuse the change, because the audit records it.
func (r *Run) refuse(err error) error {
	later := (*Later)(nil)
	switch why := err; {
	case problem.Is(err), errors.As(err, &later):
	case errors.Is(err, store.ErrTooMany):
		err = problem.New(schema.TooMany, "The change affects more objects than a gateway can record at once: "+
			"%d objects and names. Nothing was changed. Change fewer objects at a time.", store.MostChanges)
	default:
		r.doubtful(err)
		if err = r.change.Refused(err); err == nil {
			r.unremembered(why)
			return nil
		}
	}
	if r.record != nil && !r.kept {
		r.record = nil // the store does not have it
	}
	return err
}

// unremembered records that a change will be missing from the history.
func (r *Run) unremembered(err error) {
	r.w.unrecorded()
	r.change.Log().WithError(err).Error("a change could not be recorded in the history")
	r.record, r.unkept = nil, true
}

// recordPart is the participant for the history's record.
type recordPart struct{ r *Run }

func (p *recordPart) Begin(tx *store.Tx, a *Attempt) error {
	w, c := p.r.w, a.Record
	if c == nil {
		return nil
	}
	latest, err := w.History.Find(tx, c.ID)
	switch {
	case errors.Is(err, changes.ErrAbsent) && !p.r.kept:
		err = w.evidence.note(tx, c)
	case err != nil:
	case !latest.Running || latest.Token != c.Token:
		err = TakenOver()
	case !p.r.kept: // the record is put again, so that it is on disk when the update returns
		return cmp.Or(w.History.Put(tx, c), ErrBegun)
	}
	if err != nil {
		return err
	}
	return w.History.Put(tx, c)
}

func (p *recordPart) Begun() {
	r := p.r
	if r.record == nil {
		return
	}
	if !r.kept {
		r.due = r.record.ID
	}
	r.kept = true
	r.w.History.Saved(r.record)
}

// TakenOver returns the refusal of a change whose call has been settled by another gateway.
func TakenOver() error {
	failed := problem.New(schema.Unavailable, "This gateway did not answer for so long that another one has "+
		"taken the call over. Nothing was changed here. Send it again, with its %s.", ops.KeyHeader)
	failed.RetryAfter = time.Second
	return failed
}

// inTime returns an error if this gateway belongs to a cluster and may no longer begin the change.
func (r *Run) inTime() error {
	if r.w.Member == nil {
		return nil
	}
	err := r.member.Go()
	if err == nil {
		return nil
	}
	r.change.Log().WithError(err).Warn("a change was stopped before it began")
	return r.change.Refused(err)
}

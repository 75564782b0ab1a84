package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"adgateway/gateway/keep"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// A unit is run by the gateway that has claimed it in the store, by comparison and write;
// the claim stands for the message of a queue. It has no time: it ends
// with the heartbeats of its owner. That a unit is claimed twice, because its owner only
// slept, does no harm: the keys of the items say what was done.

// The kinds of values of jobs that several gateways run.
const (
	claimKind keep.Kind = "jobunit"
	partKind  keep.Kind = "jobpart" // what each gateway does for a job
)

// claim is what the store has of a unit. One that nobody has claimed is not there.
type claim struct {
	keep.Formatted
	Owner       string `json:"owner,omitempty"` // empty: it was released
	Incarnation string `json:"incarnation,omitempty"`
	Round       int    `json:"round,omitempty"`   // of the job; an earlier one does not count any more
	Taken       int    `json:"attempt,omitempty"` // how often an owner has ended with it

	revision keep.Revision
	newer    bool // a later version of this program has written it, and has the unit
}

// mostTaken is how often gateways may end with a unit of a dry run, whose items have no keys
// that count it. Real calls are counted before they are made.
const mostTaken = 3

// shared is what a run has if several gateways run its job. The lock of the run guards it.
type shared struct {
	units  units
	claims []claim // by unit, as last seen
	looked time.Time

	why   jobstate.Reason // why this gateway begins nothing until run.heldUntil
	ended int             // items that this gateway has run
	part  part            // as the store has it
	at    time.Time       // when it was written

	gateways int       // by which the rate is divided
	stopping time.Time // since when this gateway knows that the job stops
}

func newShared(total int) *shared { return &shared{units: newUnits(total), gateways: 1} }

// mine reports whether this gateway may run an item.
func (r *run) mine(i int) bool {
	return r.shared == nil || r.owned(r.shared.units.of[i])
}

// owned reports whether this gateway has a unit.
func (r *run) owned(unit int) bool {
	s, c := r.shared, r.m.Cluster
	return unit < len(s.claims) && s.claims[unit].Round == r.job.Round && s.claims[unit].Owner == c.Name() && s.claims[unit].Incarnation == c.Incarnation()
}

// free reports whether a unit may be claimed.
func (r *run) free(unit int) bool {
	claimed := &r.shared.claims[unit]
	if claimed.newer {
		return false
	}
	return claimed.Owner == "" || claimed.Round != r.job.Round || !r.owned(unit) && r.m.Cluster.Gone(claimed.Owner, claimed.Incarnation, 0)
}

// begins returns the items of a unit that can begin.
func (r *run) begins(unit int) (items []int) {
	for _, i := range r.shared.units.items[unit] {
		if _, later := r.later[i]; !later && r.results[i].State == jobstate.Waiting && r.waiting[i] == 0 {
			items = append(items, i)
		}
	}
	return items
}

// over reports whether all items of a unit have ended.
func (r *run) over(unit int) bool {
	return !slices.ContainsFunc(r.shared.units.items[unit], func(i int) bool { return !r.results[i].State.Ended() })
}

// readClaims reads the claims of all units. r.mu is held, or nobody else has the run.
func (r *run) readClaims(ctx context.Context) error {
	s := r.shared
	claims := make([]claim, len(s.units.items))
	var failed error
	err := r.m.store.Range(ctx, claimKind, r.id+"/", func(e keep.Entry) bool {
		if unit := indexOf(e.Key); unit < len(claims) {
			failed = keep.Decode(r.m.store.Sealed, e.Value, &claims[unit])
			if claims[unit].newer = errors.Is(failed, keep.ErrNewer); claims[unit].newer {
				failed = nil
			}
			claims[unit].revision = e.Revision
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		s.claims, s.looked = claims, time.Now()
	}
	return err
}

// work claims units and starts items, and returns when to look again. r.mu is held.
func (r *run) work(ctx context.Context) time.Duration {
	if r.shared == nil {
		return r.begin(ctx)
	}
	if r.unsaved { // that it runs is decided in the store
		if r.saveShared(ctx); r.unsaved || r.job.State != jobstate.Running {
			return lookAgain
		}
	}
	if wait := time.Until(r.heldUntil); wait > 0 {
		r.release(ctx, func(int) bool { return true }) // others may go on
		return wait
	}
	r.shared.why = ""
	r.divide()
	nap := r.claim(ctx)
	return min(nap, r.begin(ctx))
}

// divide gives this gateway its part of the rate.
func (r *run) divide() {
	if r.m.Rate == 0 {
		return
	}
	open := 0
	for unit := range r.shared.units.items {
		if !r.over(unit) {
			open++
		}
	}
	n := max(1, min(len(r.m.Cluster.Names()), open))
	if n != r.shared.gateways {
		r.shared.gateways = n
		r.limiter.SetLimit(rate.Limit(float64(r.m.Rate) / float64(n)))
		r.limiter.SetBurst(max(1, r.m.Rate/4/n))
	}
}

// claim claims units for the sessions that jobs may use and do not. It returns when to look
// again. r.mu is held.
func (r *run) claim(ctx context.Context) time.Duration {
	s := r.shared
	if time.Since(s.looked) >= lookAgain {
		if err := r.readClaims(ctx); err != nil {
			return r.unclaimed(ctx, err)
		}
	}
	var wanted []int
	nap := lookAgain
	for lane, slot := range r.m.slots {
		if r.m.Ready != nil && !r.m.Ready(lane) {
			r.release(ctx, func(unit int) bool { return s.units.lanes[unit] == lane })
			nap = laneAgain
			continue
		}
		wanted = append(wanted, r.candidates(lane, cap(slot)-len(slot)-len(r.ready[lane]))...)
	}
	if len(wanted) == 0 {
		return nap
	}
	switch err := r.take(ctx, wanted); {
	case errors.Is(err, keep.ErrConflict): // others were faster
		if err = r.readClaims(ctx); err != nil {
			return r.unclaimed(ctx, err)
		}
		return shortestNap
	case err != nil:
		return r.unclaimed(ctx, err)
	}
	return nap
}

// unclaimed says that units cannot be claimed, and when to try again.
func (r *run) unclaimed(ctx context.Context, err error) time.Duration {
	if ctx.Err() == nil {
		r.m.Log.WithError(err).WithField("job", r.id).Error("items of a job cannot be claimed; it is tried again")
	}
	r.heldUntil, r.shared.why = time.Now().Add(lookAgain), jobstate.Engine
	return lookAgain
}

// candidates returns units of a lane that have so many items to begin, and that nobody has.
// Each gateway begins to look at another place.
func (r *run) candidates(lane ps.Lane, n int) (wanted []int) {
	s, names := r.shared, r.m.Cluster.Names()
	count := len(s.units.items)
	start := max(0, slices.Index(names, r.m.Cluster.Name())) * count / max(1, len(names))
	for k := 0; k < count && n > 0; k++ {
		unit := (start + k) % count
		if s.units.lanes[unit] != lane || !r.free(unit) {
			continue
		}
		if begins := len(r.begins(unit)); begins > 0 {
			wanted = append(wanted, unit)
			n -= begins
		}
	}
	return wanted
}

// take claims units, all or none.
func (r *run) take(ctx context.Context, wanted []int) error {
	s := r.shared
	claims, changes := make([]claim, len(wanted)), make([]keep.Change, len(wanted))
	for k, unit := range wanted {
		before := s.claims[unit]
		claims[k] = claim{Owner: r.m.Cluster.Name(), Incarnation: r.m.Cluster.Incarnation(), Round: r.job.Round}
		if before.Round == r.job.Round {
			claims[k].Taken = before.Taken
			if before.Owner != "" {
				claims[k].Taken++
			}
		}
		changes[k] = r.claimChange(unit, claims[k])
	}
	revision, err := r.m.store.Apply(ctx, changes...)
	if err != nil {
		return err
	}
	for k, unit := range wanted {
		claims[k].revision = revision
		s.claims[unit] = claims[k]
		begins := r.begins(unit)
		if r.job.Mode == jobstate.DryRun && claims[k].Taken > mostTaken {
			r.poison(unit, claims[k].Taken)
			continue
		}
		r.ready[s.units.lanes[unit]] = append(r.ready[s.units.lanes[unit]], begins...)
	}
	return nil
}

// poison ends what is left of a unit with which gateways have ended again and again.
func (r *run) poison(unit, taken int) {
	for _, i := range r.shared.units.items[unit] {
		if r.results[i].State == jobstate.Waiting {
			r.end(i, Result{State: jobstate.Refused, Code: "poison", Message: fmt.Sprintf("Gateways ended %d times while they ran this item or those beside it, so that it is not run again.", taken)})
		}
	}
}

func (r *run) claimChange(unit int, c claim) keep.Change {
	return keep.Change{Kind: claimKind, Key: itemName(r.id, unit), Expect: r.shared.claims[unit].revision, Value: encode(r.m.store, c), Expires: r.job.Expires}
}

// release gives back the units of this gateway that are wanted elsewhere, unless one of
// their items is being called. r.mu is held.
func (r *run) release(ctx context.Context, wanted func(unit int) bool) {
	s := r.shared
	if s == nil || r.job.State.Ended() {
		return
	}
	var units []int
	var changes []keep.Change
	for unit := range s.claims {
		going := func(i int) bool { return r.results[i].State == jobstate.Going }
		if !r.owned(unit) || r.over(unit) || !wanted(unit) || slices.ContainsFunc(s.units.items[unit], going) {
			continue
		}
		if len(units) == newsBatch {
			break // the others stay until the next look
		}
		units = append(units, unit)
		changes = append(changes, r.claimChange(unit, claim{Round: s.claims[unit].Round, Taken: s.claims[unit].Taken}))
	}
	if len(units) == 0 {
		return
	}
	revision, err := r.m.store.Apply(ctx, append(changes, r.m.news(r.id, nil)...)...)
	if err != nil {
		s.looked = time.Time{} // a lost answer, or somebody has taken them
		return
	}
	for _, unit := range units {
		s.claims[unit] = claim{Round: s.claims[unit].Round, Taken: s.claims[unit].Taken, revision: revision}
	}
	for lane, items := range r.ready {
		r.ready[lane] = slices.DeleteFunc(items, func(i int) bool { return !r.mine(i) })
	}
}

// settled reports whether this gateway may decide that the job has ended: a job that stops
// ends when no gateway runs items of it any more. r.mu is held.
func (r *run) settled(ctx context.Context) bool {
	s := r.shared
	if r.job.State != jobstate.Stopping || r.job.Counts.Going > 0 || r.job.Counts.Waiting == 0 {
		s.stopping = time.Time{}
		return true
	}
	if s.stopping.IsZero() {
		s.stopping = time.Now()
	}
	if r.saveShared(ctx); len(r.changed) > 0 || r.unsaved || r.job.State != jobstate.Stopping {
		return r.job.State != jobstate.Stopping
	}
	r.release(ctx, func(int) bool { return true })
	if err := r.readClaims(ctx); err != nil {
		return false
	}
	for unit := range s.claims {
		if !r.free(unit) && !r.over(unit) {
			return false // its owner is about to release it, and tells so
		}
	}
	// All that look at the same moment would write the same: the first one is to.
	return r.m.Cluster.Names()[0] == r.m.Cluster.Name() || time.Since(s.stopping) >= lookAgain
}

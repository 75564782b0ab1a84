package jobs

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Intervals of a run.
const (
	saveEvery   = 250 * time.Millisecond // interval at which pending results are written
	lookAgain   = 5 * time.Second        // interval at which a held job is checked if nothing wakes it
	laneAgain   = 100 * time.Millisecond // interval at which a lane without a session is checked
	shortestNap = time.Millisecond
	lastWrites  = 10 * time.Second // time limit for the last writes when the gateway ends
)

// run is a job that has not ended. One goroutine, its loop, starts items and saves. Each call of an item runs
// in a separate goroutine.
type run struct {
	subject
	m       *Manager
	limiter *rate.Limiter
	wake    chan struct{}
	calls   sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	job       Job
	results   []Result
	revisions []store.Revision
	lanes     []ps.Lane
	waiting   []int   // number of items that each item still waits for
	followers [][]int // items that wait for each item
	ready     map[ps.Lane][]int
	changed   map[int]bool // results that are not saved yet
	unsaved   bool         // the job has changes that are not saved yet
	saveAt    time.Time    // zero if there is nothing to save
	heldUntil time.Time
	pace      pace
	failures  []int // items that ended without success, in the order in which they ended
	watchers  map[chan struct{}]bool
	later     map[int]time.Time // when to call items again
	abandoned bool              // whether the job no longer belongs to this run, see [Manager.Load]
}

// subject holds the facts about the job of a run that never change.
type subject struct {
	id      string // id of the job
	caller  Caller
	resumed bool // an earlier process may have begun the job

	before [][]int // items that each item comes after; complete once the run is loaded
	needs  [][]int // the preceding items that must have succeeded
}

func newRun(m *Manager, job *Job) *run {
	limit, burst := rate.Inf, 0
	if m.Rate > 0 {
		limit, burst = rate.Limit(m.Rate), max(1, m.Rate/4)
	}
	return &run{
		m: m, job: *job, limiter: rate.NewLimiter(limit, burst),
		subject: subject{
			id: job.ID, caller: job.Caller, before: make([][]int, job.Total), needs: make([][]int, job.Total),
		},
		wake: make(chan struct{}, 1), ready: map[ps.Lane][]int{},
		lanes: make([]ps.Lane, job.Total), waiting: make([]int, job.Total), followers: make([][]int, job.Total),
		changed: map[int]bool{}, watchers: map[chan struct{}]bool{}, later: map[int]time.Time{},
	}
}

// plan notes the items that an item waits for.
func (r *run) plan(i int, spec *Spec) {
	r.lanes[i], r.needs[i], r.before[i] = spec.Lane, spec.Needs, spec.Waits
	for _, before := range spec.Waits {
		r.followers[before] = append(r.followers[before], i)
	}
}

// recount counts the items by state and finds those that may start.
func (r *run) recount() {
	r.job.Counts = Counts{}
	clear(r.ready)
	clear(r.waiting)
	for i, followers := range r.followers {
		if !r.results[i].State.Ended() {
			for _, follower := range followers {
				r.waiting[follower]++
			}
		}
	}
	for i := range r.results {
		*r.job.Counts.of(r.results[i].State)++
		if r.results[i].State == jobstate.Waiting && r.waiting[i] == 0 {
			r.ready[r.lanes[i]] = append(r.ready[r.lanes[i]], i)
		}
	}
}

// wakeUp makes the loop check the job.
func (r *run) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// abandon makes the run stop working on its job, and closes its watchers.
func (r *run) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.abandoned = true
	for watcher := range r.watchers {
		close(watcher)
	}
	clear(r.watchers)
}

func (r *run) state() jobstate.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.job.State
}

// loop runs the job until it has ended or ctx is done, and then waits for its items.
func (r *run) loop(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		nap, ended := r.step(ctx)
		if ended {
			return
		}
		timer.Reset(max(nap, shortestNap))
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-timer.C:
		}
	}
	r.calls.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrites)
	defer cancel()
	r.save(ctx)
}

// step does all work that is due. nap is the time until more work is due.
func (r *run) step(ctx context.Context) (nap time.Duration, ended bool) {
	mayRun := r.m.place(r.id)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.admit(mayRun)
	nap = math.MaxInt64
	switch r.job.State {
	case jobstate.Running:
		nap = r.begin(ctx)
	case jobstate.Held:
		nap = lookAgain
		if !r.heldUntil.IsZero() {
			nap = min(nap, time.Until(r.heldUntil))
		}
	}
	r.finish()
	if ended = r.job.State.Ended(); ended || !r.saveAt.IsZero() && !time.Now().Before(r.saveAt) {
		r.save(ctx)
		if r.job.State.Ended() && r.saveAt.IsZero() && r.job.Counts.Going == 0 {
			r.bury(ctx)
			return 0, true
		}
	}
	if !r.saveAt.IsZero() {
		nap = min(nap, time.Until(r.saveAt))
	}
	return nap, false
}

// admit runs a held job when the reason for holding it has passed, and holds a job that has no
// place.
func (r *run) admit(mayRun bool) {
	if r.job.State != jobstate.Held && r.job.State != jobstate.Running || r.job.Counts.Going > 0 &&
		r.job.State == jobstate.Running {
		return
	}
	switch {
	case r.early() > 0:
		r.heldUntil = time.Now().Add(min(r.early(), lookAgain)) // somebody may set the clock meanwhile
		r.become(jobstate.Held, jobstate.NotBefore)
	case time.Now().Before(r.heldUntil):
	case !mayRun && r.job.State == jobstate.Held:
		r.become(jobstate.Held, jobstate.OtherJobs)
	default:
		r.heldUntil = time.Time{}
		if r.job.Started.IsZero() {
			r.job.Started = now()
		}
		r.become(jobstate.Running, "")
	}
}

// early returns the time that the job must still wait before it may begin, by the slower of the two
// clocks. It is 0 or less if the job may begin. The caller holds r.mu.
func (r *run) early() time.Duration {
	now := r.m.store.Now()
	if wall := r.m.Wall(); wall.Before(now) {
		now = wall
	}
	return r.job.NotBefore.Sub(now)
}

// become changes the state of the job. The caller holds r.mu.
func (r *run) become(state jobstate.Job, why jobstate.Reason) {
	if r.job.State == state && r.job.Why == why {
		return
	}
	r.job.State, r.job.Why = state, why
	if state.Ended() {
		r.job.Ended = now()
	}
	r.unsaved, r.saveAt = true, time.Now() // a new state is saved at once
	r.notify()
}

// begin starts the items that may be called now, and returns the time until the next item may be called.
func (r *run) begin(ctx context.Context) (nap time.Duration) {
	nap = r.takeUp()
	for lane := range r.ready {
		for begun := true; begun && len(r.ready[lane]) > 0 && r.job.State == jobstate.Running; {
			var wait time.Duration
			if begun, wait = r.beginOne(ctx, lane); wait > 0 {
				nap = min(nap, wait)
			}
		}
	}
	return nap
}

// beginOne starts the first ready item of a lane. If it cannot, wait is the time until it should be
// tried again, or 0 to wait until a session is released, which wakes all runs.
func (r *run) beginOne(ctx context.Context, lane ps.Lane) (begun bool, wait time.Duration) {
	i := r.ready[lane][0]
	if !r.allowed(i) {
		r.ready[lane] = r.ready[lane][1:]
		r.end(i, Result{State: jobstate.NotRun, Message: "An item that it comes after was not done."})
		return true, 0
	}
	if r.m.Ready != nil && !r.m.Ready(lane) {
		return false, laneAgain
	}
	slot := r.m.slots[lane]
	select {
	case slot <- struct{}{}:
	default:
		return false, 0
	}
	token := r.limiter.Reserve()
	if wait = token.Delay(); wait > 0 {
		token.Cancel()
		<-slot
		return false, wait
	}
	r.ready[lane] = r.ready[lane][1:]
	r.job.Counts.Waiting--
	r.job.Counts.Going++
	r.results[i].State = jobstate.Going
	r.calls.Add(1)
	go r.call(ctx, i, slot)
	return true, 0
}

// allowed reports whether the items that an item needs have succeeded.
func (r *run) allowed(i int) bool {
	return !slices.ContainsFunc(r.needs[i],
		func(before int) bool { return !r.results[before].State.Succeeded() })
}

// call makes the call of an item.
func (r *run) call(ctx context.Context, i int, slot chan struct{}) {
	defer r.calls.Done()
	leave := sync.OnceFunc(func() {
		<-slot
		r.wakeUp()
		r.m.released()
	})
	answer := r.answer(ctx, i, leave)
	r.mu.Lock()
	before := r.results[i]
	r.job.Counts.Going--
	r.job.Counts.Waiting++
	r.results[i].State = jobstate.Waiting
	switch {
	case ctx.Err() != nil && (answer.Hold != "" || answer.Again || answer.State == jobstate.Unknown):
		// The gateway ends. The next one makes the call again under the same key.
	case answer.Again:
		r.later[i] = time.Now().Add(answer.For)
	case answer.Hold != "":
		r.ready[r.lanes[i]] = slices.Insert(r.ready[r.lanes[i]], 0, i)
		r.hold(answer)
	default:
		answer.Attempts = before.Attempts + 1
		r.end(i, answer.Result)
	}
	r.mu.Unlock()
	leave() // so unless the change was made, the next item begins after the outcome of this one is recorded
	r.wakeUp()
}

// mayLeave reports whether an item may leave its place to the next one as soon as its change was made, before
// its end is stored. The caller holds r.mu.
func (r *run) mayLeave(i int) bool {
	return len(r.followers[i]) == 0 && (r.m.Rate <= 0 || r.limiter.Tokens() >= 1)
}

// mostBefore is the maximum number of items that are searched for the changes before an item. If more items
// precede it, the item may be refused because of a change by its own job.
const mostBefore = 1000

// doneBefore returns the changes made by the items for which an item has waited, directly or indirectly, the
// latest first. The caller holds r.mu.
func (r *run) doneBefore(i int) (changes []string) {
	seen, next := map[int]bool{i: true}, []int{i}
	for at := 0; at < len(next) && len(seen) <= mostBefore; at++ {
		for _, before := range r.before[next[at]] {
			if seen[before] {
				continue
			}
			seen[before], next = true, append(next, before)
			if id := r.results[before].ChangeID; id != "" {
				changes = append(changes, id)
			}
		}
	}
	slices.SortFunc(changes, func(a, b string) int { return strings.Compare(b, a) }) // ids are in order of time
	return changes
}

// answer makes the call of an item and returns its outcome. It calls leave when another item may begin, if
// that is before it returns.
func (r *run) answer(ctx context.Context, i int, leave func()) Answer {
	r.mu.Lock()
	if !r.mayLeave(i) {
		leave = nil
	}
	job, plan := r.job, r.results[i].Plan
	var done []string
	if plan != "" {
		done = r.doneBefore(i)
	}
	r.mu.Unlock()
	spec, err := r.m.store.spec(ctx, job.ID, i)
	if err != nil {
		return r.unreadable(ctx, err)
	}
	secrets, err := r.m.seals.open(ctx, r.m.store, job.Root, spec)
	if errors.Is(err, ErrNoSecrets) {
		return Answer{Result: Result{State: jobstate.Refused, Code: "expired",
			Message: "The secrets of the list are not kept any more. Submit it again."}}
	}
	if err != nil {
		return r.unreadable(ctx, err)
	}
	return r.m.Call(context.WithoutCancel(ctx),
		Call{Job: &job, Spec: spec, Secrets: secrets, DryRun: job.Mode == jobstate.DryRun, Plan: plan,
			Done: done, Resumed: r.resumed, Left: leave})
}

// unreadable holds a job if the store cannot be read.
func (r *run) unreadable(ctx context.Context, err error) Answer {
	if ctx.Err() == nil {
		r.m.Log.WithError(err).WithField("job", r.id).Error("an item of a job cannot be read from the store")
	}
	return Answer{Hold: jobstate.Lane, For: lookAgain}
}

// hold keeps the job from starting items for some time. The caller holds r.mu.
func (r *run) hold(answer Answer) {
	if r.job.State == jobstate.Running {
		r.heldUntil = time.Now().Add(answer.For)
		r.become(jobstate.Held, answer.Hold)
	}
}

// takeUp makes the items ready that are due to be called again, and returns the time until the next item is
// due. The caller holds r.mu.
func (r *run) takeUp() (nap time.Duration) {
	nap = math.MaxInt64
	for i, at := range r.later {
		if wait := time.Until(at); wait > 0 {
			nap = min(nap, wait)
			continue
		}
		delete(r.later, i)
		r.ready[r.lanes[i]] = append(r.ready[r.lanes[i]], i)
	}
	return nap
}

// end records the outcome of an item, and marks the items that waited for it as ready. The caller holds r.mu.
func (r *run) end(i int, result Result) {
	r.changed[i], r.unsaved = true, true
	if r.saveAt.IsZero() {
		r.saveAt = time.Now().Add(saveEvery)
	}
	r.results[i] = result
	r.job.Counts.Waiting--
	*r.job.Counts.of(result.State)++
	r.pace.add(time.Now())
	if !result.State.Succeeded() {
		r.failures = append(r.failures, i)
	}
	for _, follower := range r.followers[i] {
		if r.waiting[follower]--; r.waiting[follower] == 0 && r.results[follower].State == jobstate.Waiting {
			lane := r.lanes[follower]
			r.ready[lane] = append(r.ready[lane], follower)
		}
	}
	if r.job.Mode == jobstate.DryRun {
		r.notify()
		return // a dry run shows all failures
	}
	switch {
	case r.job.State != jobstate.Running && r.job.State != jobstate.Held && r.job.State != jobstate.Paused:
	case result.State == jobstate.Unknown && r.job.StopOnUnknown:
		r.become(jobstate.Stopping, jobstate.AnUnknown)
	case result.State == jobstate.Refused && r.job.StopAfter > 0 && r.job.Counts.Refused >= r.job.StopAfter:
		r.become(jobstate.Stopping, jobstate.Errors)
	}
	r.notify()
}

// finish ends a job if none of its items can start. The caller holds r.mu.
func (r *run) finish() {
	counts := r.job.Counts
	switch {
	case counts.Going > 0 || r.job.State.Ended():
	case r.job.State == jobstate.Stopping:
		why := r.job.Why
		for i := range r.results {
			if r.results[i].State == jobstate.Waiting {
				r.end(i, Result{State: jobstate.NotRun, Plan: r.results[i].Plan})
			}
		}
		if why == "" {
			r.become(jobstate.Cancelled, "")
		} else {
			r.become(jobstate.Failed, why)
		}
		if r.job.ranNothing() {
			r.job.keepNoList()
			clear(r.changed)
		}
	case counts.Waiting > 0:
	case r.job.Mode == jobstate.DryRun:
		if r.job.State == jobstate.Running {
			r.become(jobstate.Ready, "")
		}
	case r.job.State == jobstate.Running || r.job.State == jobstate.Paused || r.job.State == jobstate.Held:
		r.become(jobstate.Done, "")
	}
}

// save writes all changes. After an error it will try again. The caller holds r.mu.
func (r *run) save(ctx context.Context) {
	if r.abandoned {
		return
	}
	if !r.unsaved {
		r.saveAt = time.Time{}
		return
	}
	var changed []int
	for i := range r.changed {
		changed = append(changed, i)
	}
	slices.Sort(changed)
	saved := outcomes{of: changed, results: r.results, revisions: r.revisions, forget: r.forget}
	if err := r.m.store.put(ctx, &r.job, saved, r.m.entry(&r.job)...); err != nil {
		r.saveAt = time.Now().Add(lookAgain)
		if ctx.Err() == nil {
			r.m.Log.WithError(err).WithField("job",
				r.id).Error("the results of items of a job cannot be stored, which is tried again")
		}
		return
	}
	clear(r.changed)
	r.unsaved, r.saveAt = false, time.Time{}
}

// forget returns the changes that remove the stored answers of items that no longer need them:
// their results are stored, and no retry calls them again. A retry uses the keys of the job that it
// retries, which may be retried once more, so their answers are kept. The caller holds r.mu.
func (r *run) forget(ctx context.Context, items []int) ([]store.Change, error) {
	if r.m.Forget == nil || r.job.Mode != jobstate.Run || r.job.Retries != "" {
		return nil, nil
	}
	var keys []string
	for _, i := range items {
		if r.results[i].State.Succeeded() {
			keys = append(keys, ItemKey(r.id, i))
		}
	}
	return r.m.Forget(ctx, keys)
}

// bury does the work that follows the end of a job. The caller holds r.mu.
func (r *run) bury(ctx context.Context) {
	r.m.seals.forget(r.job.Root)
	if r.job.Listless {
		r.m.dropItems(ctx, &r.job)
	}
	if r.job.Secrets && r.job.Counts.retryable() == 0 && (r.job.Retries == "" || r.job.All) {
		if err := r.m.store.destroyKey(ctx, r.job.Root); err != nil {
			r.m.Log.WithError(err).WithField("job",
				r.id).Error("the key of a job's secrets could not be destroyed; it expires with the job")
		}
	}
	r.notify()
	if r.m.Ended != nil {
		job := r.job
		r.m.Ended(&job)
	}
}

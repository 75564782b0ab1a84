package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/bounds"
	"adgateway/gateway/required"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Call is the call of an item.
type Call struct {
	Job     *Job // a copy
	Spec    *Spec
	Secrets map[string]string // keyed by parameter
	DryRun  bool
	Plan    string // plan to apply; empty if none
	// Done contains the changes that earlier items of the job have made to the same objects, the latest first.
	// The item's plan was made before these changes. It is nil for an item without a plan.
	Done []string
	// whether the run was loaded from the store, so that an earlier process may have begun the call
	Resumed bool
	// Left may be called once, after the item's change was made and before the call returns. It lets the next
	// item begin. It is nil if no other item could begin at once, or if one has to wait for this one.
	Left func()
}

// Answer is the outcome of a call: a result, or the reason why the item has to wait.
type Answer struct {
	Result
	Hold  jobstate.Reason // reason to hold the job, because nothing was done; empty if the item was run
	Again bool            // whether nothing was done and only this item is called again later
	For   time.Duration   // how long, at least, the job is held or the item waits
}

// Options configure a manager. Store, Call and Log are required.
type Options struct {
	Store *store.Sealed
	// Call makes the call of an item. Its context ends only after the manager's. If that cuts the call off, the
	// next manager makes it again.
	Call func(ctx context.Context, call Call) Answer
	// Entry returns the entry of [Log] for a finished job. If it is nil, nothing is appended.
	Entry func(job *Job) []byte
	// Forget returns the changes that remove the stored answers to calls of items, given their keys.
	// There is one change for each answer, and none for a key without one. If it is nil, no answers are
	// stored.
	Forget func(ctx context.Context, keys []string) ([]store.Change, error)
	// Ended is called when a job has ended. It may be nil.
	Ended func(job *Job)
	Log   *logrus.Logger

	// Ready reports whether a lane has a usable session. Items wait until it has, because a call that
	// is waiting for a session would count as interrupted when the gateway ends. If nil, lanes are
	// always ready.
	Ready func(lane ps.Lane) bool

	Sessions map[ps.Lane]int // number of sessions of each lane
	Room     *bounds.Room    // room left on the disk; nil for no limit
	Limits

	Wall func() time.Time // wall clock, see [Job.NotBefore]; nil means time.Now
}

// Limits limit jobs. All but Rate are required.
type Limits struct {
	Running   int           // number of jobs that run at a time
	PerCaller int           // open jobs per caller
	Share     float64       // share of a lane's sessions that items may use at a time; at least one session
	Rate      int           // items per second and job; 0 for no limit
	Keep      time.Duration // how long jobs are kept
	MaxStored int64         // bytes that all jobs may take; one caller gets a quarter
}

// Check returns an error that names the missing limits.
func (l *Limits) Check() error {
	faults := required.Positive("Jobs.", map[string]int64{
		"Running": int64(l.Running), "PerCaller": int64(l.PerCaller),
		"Keep": int64(l.Keep), "MaxStored": l.MaxStored,
	})
	if l.Share <= 0 {
		faults = errors.Join(faults, fmt.Errorf("gateway: option Jobs.Share must be positive, not %g", l.Share))
	}
	return faults
}

// Manager runs jobs. It is safe for concurrent use.
type Manager struct {
	Options
	store db
	slots map[ps.Lane]chan struct{}
	seals seals
	shelf *shelf

	mu      sync.Mutex
	active  map[string]*run // jobs that have not ended; empty while no jobs are loaded
	loads   int             // number of calls of Load
	loaded  bool            // whether this manager runs the jobs
	ctx     context.Context // context of Run; nil before and after
	running sync.WaitGroup
}

// New returns a manager of the jobs in a store. It runs no job before [Manager.Load], because another gateway
// may be running them.
func New(o Options) *Manager {
	if o.Wall == nil {
		o.Wall = time.Now
	}
	m := &Manager{Options: o, store: db{o.Store}, shelf: newShelf(&o), slots: map[ps.Lane]chan struct{}{},
		active: map[string]*run{}}
	for lane, sessions := range o.Sessions {
		m.slots[lane] = make(chan struct{}, max(1, int(float64(sessions)*o.Share)))
	}
	return m
}

// Open returns a manager of the jobs in a store, ready for [Manager.Run].
func Open(ctx context.Context, o Options) (*Manager, error) {
	m := New(o)
	return m, m.Load(ctx)
}

// Load makes the manager serve the stored jobs. It discards the earlier state, because another
// gateway may have run the jobs in between. Calls of items that are running continue, but their
// results are not stored. The gateway that calls these items again finds the results by their keys.
func (m *Manager) Load(ctx context.Context) error {
	m.mu.Lock()
	m.loads++
	loads := m.loads
	m.mu.Unlock()
	m.unload(loads)
	m.shelf.clear()
	var open, unmeasured []*Job
	if err := m.store.jobs(ctx, "", func(job *Job) bool {
		if job.Bytes == 0 {
			unmeasured = append(unmeasured, job)
		} else {
			m.shelf.put(job)
		}
		if !job.State.Ended() {
			open = append(open, job)
		}
		return true
	}); err != nil {
		return fmt.Errorf("jobs that were kept: %w", err)
	}
	for _, job := range unmeasured {
		var err error
		if job.Bytes, err = m.store.measure(ctx, job); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		m.shelf.put(job)
	}
	active := map[string]*run{}
	for _, job := range slices.Backward(open) { // oldest first
		r, err := m.load(ctx, job)
		if errors.Is(err, store.ErrUnreadable) {
			m.Log.WithError(err).WithField("job",
				job.ID).Error("a job cannot go on, as something of it cannot be read any more")
			continue
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		active[job.ID] = r
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active, m.loaded = active, true
	return nil
}

// unload drops all jobs, unless they were loaded again since, and ends all watches.
func (m *Manager) unload(loads int) {
	m.mu.Lock()
	if m.loads != loads {
		m.mu.Unlock()
		return
	}
	active := m.active
	m.active, m.loaded = map[string]*run{}, false
	m.mu.Unlock()
	for _, r := range active {
		r.abandon()
	}
}

// load returns the run of a job in its stored state.
func (m *Manager) load(ctx context.Context, job *Job) (*run, error) {
	r := newRun(m, job)
	r.resumed = true
	var err error
	if r.results, r.revisions, err = m.store.results(ctx, job); err != nil {
		return nil, err
	}
	err = m.store.specs(ctx, job.ID, func(i int, spec *Spec) bool {
		if i < job.Total {
			r.plan(i, spec)
		}
		return true
	})
	r.recount()
	return r, err
}

// Run runs the loaded jobs and those that are added later, until ctx is done, and returns when no
// item is being called. It can be called again after [Manager.Load]. Until then jobs are read from
// the store.
func (m *Manager) Run(ctx context.Context) {
	m.mu.Lock()
	m.ctx = ctx
	loads := m.loads
	for _, r := range m.active {
		m.launch(r)
	}
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	m.ctx = nil
	m.mu.Unlock()
	m.running.Wait()
	m.unload(loads)
}

// launch starts the goroutine of a job, if the manager is running. The caller holds m.mu.
func (m *Manager) launch(r *run) {
	if ctx := m.ctx; ctx != nil {
		m.running.Go(func() {
			r.loop(ctx)
			m.leave(r)
		})
	}
}

// leave drops the run of a finished job, and wakes jobs that wait for a place.
func (m *Manager) leave(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.state().Ended() && m.active[r.id] == r {
		delete(m.active, r.id)
	}
	m.wakeAll()
}

// wakeAll wakes the jobs that run or wait for their turn. The caller holds m.mu.
func (m *Manager) wakeAll() {
	for _, r := range m.active {
		if state := r.state(); state == jobstate.Running || state == jobstate.Held || state == jobstate.Stopping {
			r.wakeUp()
		}
	}
}

// released wakes jobs that wait for a session.
func (m *Manager) released() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wakeAll()
}

// place reports whether a job may run now. It may if the running jobs, and older jobs that could run, leave a
// place for it, both overall and for its caller.
func (m *Manager) place(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	total, open := 0, map[Caller]int{}
	var loaded []*Job
	for _, r := range m.active {
		switch job := r.snapshot(); {
		case job.ID != id && (job.State == jobstate.Running || job.State == jobstate.Stopping):
			total++
			open[job.Caller]++
		case job.ID == id, job.State == jobstate.Held && job.Why != jobstate.NotBefore:
			loaded = append(loaded, job)
		}
	}
	slices.SortFunc(loaded, func(a, b *Job) int { return strings.Compare(a.ID, b.ID) })
	for _, job := range loaded {
		fits := total < m.Running && open[job.Caller] < m.PerCaller
		if job.ID == id {
			return fits
		}
		if fits {
			total++
			open[job.Caller]++
		}
	}
	return false
}

// Submission is a job to add.
type Submission struct {
	Job   *Job // without id, state and counts
	Specs []Spec
	// Secrets are the secrets of the items, by parameter, or nil if there are none. They are sealed
	// with a key of their own, which is destroyed when nothing is left to retry.
	Secrets []map[string]string
	Once    string // idempotency token of the call: a repetition adds no second job; "" for none
}

// Submit adds a job. If the call has already added one, it returns that job, or [ErrRemoved]. It
// fails with [ErrOpen] if the caller has too many open jobs, and with a [*bounds.Full] if there is
// no room for it.
func (m *Manager) Submit(ctx context.Context, s Submission) (*Job, error) {
	if s.Once != "" {
		switch id, err := m.store.submittedBy(ctx, s.Once); {
		case err == nil:
			job, err := m.Get(ctx, id)
			if errors.Is(err, ErrAbsent) {
				err = ErrRemoved
			}
			return job, err
		case !errors.Is(err, ErrAbsent):
			return nil, err
		}
	}
	job := s.Job
	if m.openOf(job.Caller) >= bounds.OpenJobs.Own {
		return nil, ErrOpen
	}
	job.ID, job.Created, job.Total = NewID(), now(), len(s.Specs)
	job.Expires = m.store.Now().Add(m.Keep).UTC().Truncate(time.Millisecond)
	if job.Root == "" {
		job.Root = job.ID
	}
	dataKey, err := prepareSpecs(&s)
	if err != nil {
		return nil, err
	}
	switch {
	case len(job.Problems) > 0 && job.Total == 0:
		job.State, job.Ended = jobstate.Rejected, job.Created
	case job.Mode == jobstate.Validate:
		job.State = jobstate.Ready
	default:
		job.State = jobstate.Held // until the job gets a place
	}
	items := m.store.items(job, s.Specs)
	if err := m.shelf.take(job); err != nil {
		return nil, err
	}
	r := m.prepare(job, s.Specs)
	if err := m.store.add(ctx, &r.job, items, dataKey, s.Once, m.entry(&r.job)...); err != nil {
		m.giveBack(ctx, &r.job)
		return nil, err
	}
	if r.results, r.revisions, err = m.store.results(ctx, &r.job); err != nil {
		return nil, err
	}
	r.recount()
	added := r.job
	if !added.State.Ended() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.activate(r)
	}
	return &added, nil
}

// giveBack releases the space of a job that was not added. It removes the parts that were already stored if
// the store can be written; otherwise they expire.
func (m *Manager) giveBack(ctx context.Context, job *Job) {
	if _, err := m.store.job(ctx, job.ID); !errors.Is(err, ErrAbsent) {
		return // the job may have been added after all
	}
	m.shelf.remove(job)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrites)
	defer cancel()
	if err := m.store.removeItems(ctx, job); err != nil {
		m.Log.WithError(err).WithField("job",
			job.ID).Warn("items of a job that could not be added are kept until they expire")
	}
}

// prepareSpecs completes the items of a job, and seals their secrets with the data key.
func prepareSpecs(s *Submission) (dataKey []byte, err error) {
	job := s.Job
	if s.Secrets != nil {
		dataKey = make([]byte, store.KeyLength)
		_, _ = rand.Read(dataKey) // never fails
		job.Secrets = true
	}
	for i := range s.Specs {
		spec := &s.Specs[i]
		if spec.Key == "" {
			spec.Key = ItemKey(job.ID, i)
		}
		spec.RequestID = ItemKey(job.ID, i)
		if s.Secrets != nil && len(s.Secrets[i]) > 0 {
			sealed, err := sealSecrets(dataKey, spec.Key, s.Secrets[i])
			if err != nil {
				return nil, err
			}
			spec.Sealed = sealed
		}
	}
	return dataKey, nil
}

// activate adds a run to the active ones, unless its job already has one. The caller holds m.mu.
func (m *Manager) activate(r *run) {
	if m.active[r.id] == nil {
		m.active[r.id] = r
		m.launch(r)
	}
}

// entry returns the change that appends the log entry of a job, or nil if the job has not ended.
func (m *Manager) entry(job *Job) []store.Change {
	if m.Entry == nil || !job.State.Ended() {
		return nil
	}
	return []store.Change{{Log: Log, Value: m.Entry(job), Expires: job.Expires}}
}

// openOf returns the number of a caller's jobs that have not ended.
func (m *Manager) openOf(by Caller) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.active {
		if r.caller == by {
			n++
		}
	}
	return n
}

// prepare returns the run of a new job.
func (m *Manager) prepare(job *Job, specs []Spec) *run {
	r := newRun(m, job)
	r.results = make([]Result, len(specs))
	for i := range specs {
		r.results[i].State = jobstate.Waiting
		if specs[i].Skip != nil {
			r.results[i] = *specs[i].Skip
		}
		r.plan(i, &specs[i])
	}
	r.recount()
	return r
}

// runOf returns the run of a job that has not ended, or nil if there is none.
func (m *Manager) runOf(id string) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.active[id]
}

// Get returns a copy of a job, or [ErrAbsent]. It fails with a different error if another gateway
// may have added the job but cannot be asked at the moment.
func (m *Manager) Get(ctx context.Context, id string) (*Job, error) {
	if r := m.runOf(id); r != nil {
		return r.snapshot(), nil
	}
	job, err := m.store.job(ctx, id)
	if errors.Is(err, ErrAbsent) && pattern.MatchString(id) {
		if err := m.store.Reach(ctx); err != nil {
			return nil, fmt.Errorf("job %s: %w", id, err)
		}
		job, err = m.store.job(ctx, id)
	}
	return job, err
}

// List calls visit with the jobs that are older than before, or with all jobs if before is empty,
// newest first, until visit returns false.
func (m *Manager) List(ctx context.Context, before string, visit func(*Job) bool) error {
	return m.store.jobs(ctx, before, func(job *Job) bool {
		if r := m.runOf(job.ID); r != nil {
			job = r.snapshot()
		}
		return visit(job)
	})
}

// Items calls visit with the items of a job, starting at an index, until visit returns false.
func (m *Manager) Items(ctx context.Context, job *Job, from int, visit func(int, *Spec, Result) bool) error {
	if job.Listless {
		return nil
	}
	r := m.runOf(job.ID)
	for first, more := from-from%stretch, true; more && first < job.Total; first += stretch {
		var results []Result
		var err error
		if r != nil {
			results = r.copyResults(first, first+stretch)
		} else if results, err = m.store.resultsIn(ctx, job, first); err != nil {
			return err
		}
		err = m.store.specsIn(ctx, job.ID, first, func(i int, spec *Spec) bool {
			if i >= from && i-first < len(results) {
				more = visit(i, spec, results[i-first])
			}
			return more
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Delivered removes the sealed secrets of a job's result once the result has been fetched.
func (m *Manager) Delivered(ctx context.Context, job *Job) error {
	if len(job.ResultKey) == 0 || !job.State.Ended() {
		return nil
	}
	results, revisions, err := m.store.results(ctx, job)
	var changed []int
	for i := range results {
		if results[i].Secret != nil {
			results[i].Secret = nil
			changed = append(changed, i)
		}
	}
	if err != nil || len(changed) == 0 {
		return err
	}
	stored, err := m.store.job(ctx, job.ID)
	if err != nil {
		return err
	}
	return m.store.put(ctx, stored, outcomes{of: changed, results: results, revisions: revisions})
}

// Open returns the number of jobs that have not ended, and the number of their open items.
func (m *Manager) Open() (jobs, items int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.active {
		items += r.snapshot().Counts.Open()
	}
	return len(m.active), items
}

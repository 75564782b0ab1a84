// Package rows answers the calls about jobs and makes the calls of their items.
//
// [Service] has the handlers of the rows job.*: a list is read, bound and checked as a whole before
// any of it runs (submit.go, problems.go), jobs and their items are listed (lists.go, shown.go),
// the items of one job become another job that retries or undoes them (again.go), and a job reports
// its progress (stream.go) and the outcomes of its items (result.go). [Items] makes the call of an
// item as a client would, under the key of the item (items.go).
//
// Package jobs, which runs them, knows neither operations nor calls. This package knows nothing of
// HTTP, nor of the stages of a call.
package rows

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/bounds"
	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/required"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Options configure a service. All except Store, Keys and Wall are required.
type Options struct {
	Store      *store.Sealed // nil if the gateway keeps no jobs, so calls about them are refused
	Clustered  bool          // the leader will load the jobs
	Operations []*ops.Operation
	// Rights returns the current rights of a caller, as for [Items].
	Rights Rights
	// Make makes the call of an item, see [Items].
	Make func(ctx context.Context, operation string, c call.Call) (call.Answer, error)
	// Read makes a call whose row only reads.
	Read func(ctx context.Context, c call.Call) (call.Answer, error)
	// History knows the changes that jobs have made.
	History History
	Keys    *idempotency.Keys // keys of items; nil if none are kept
	Cursors call.Cursors
	Streams *call.Streams
	Log     *logrus.Logger
	Room    *bounds.Room     // room left on the disk; nil for no limit
	Wall    func() time.Time // wall clock for jobs with a start time; nil means time.Now
	Counts  Counts
	Work
}

// History knows the changes that were made. It must be safe for concurrent use.
type History interface {
	// WhyNotUndoable returns the reason why a change cannot be undone, as a sentence, or "" if it can.
	WhyNotUndoable(ctx context.Context, change string) string
	// Made returns the change with the given id, or false if there is none.
	Made(ctx context.Context, id string) (change.Made, bool)
}

// Counts counts jobs and items. It must be safe for concurrent use.
type Counts interface {
	// JobEnded counts a job that has ended.
	JobEnded(state jobstate.Job)
	// JobItem counts an item that was called, by its resulting state. An item that will be called
	// again counts as held.
	JobItem(state string)
}

// Work configures jobs and their lists.
type Work struct {
	Lists     Limits
	Jobs      jobs.Limits
	LaneReady func(ps.Lane) bool // whether a lane has a session that jobs can use; nil means always
	Sessions  map[ps.Lane]int    // sessions of each lane, of which jobs may use a share
}

// Check returns an error that names the missing limits.
func (w *Work) Check() error {
	sessions := map[string]int64{}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		sessions["Sessions["+string(lane)+"]"] = int64(w.Sessions[lane])
	}
	return errors.Join(required.Positive("", sessions), w.Lists.Check(), w.Jobs.Check())
}

// Usable returns the lanes that jobs can use, in order.
func (w *Work) Usable() []string {
	lanes := []string{}
	for lane := range w.Sessions {
		if w.LaneReady == nil || w.LaneReady(lane) {
			lanes = append(lanes, string(lane))
		}
	}
	slices.Sort(lanes)
	return lanes
}

// Limits limit lists. Both numbers are required.
type Limits struct {
	MaxItems int
	MaxBytes int64
	Secrets  bool // whether lists may contain passwords
}

// Check returns an error that names the missing limits.
func (l *Limits) Check() error {
	return required.Positive("Lists.", map[string]int64{"MaxItems": int64(l.MaxItems), "MaxBytes": l.MaxBytes})
}

// Service answers the calls about jobs. It is safe for concurrent use.
type Service struct {
	Options
	Items   Items
	Manager *jobs.Manager // nil if there are no jobs
	names   []string      // parameter names of all operations
}

// New returns a service. It loads the jobs in the store, except in a cluster.
func New(o Options) (*Service, error) {
	s := &Service{Options: o, names: call.ParameterNames(o.Operations)}
	s.Items = Items{
		Operations: o.Operations, Make: o.Make, Rights: o.Rights, Log: o.Log, Count: o.Counts.JobItem,
	}
	if o.Store == nil {
		return s, nil
	}
	s.Items.Clock = o.Store.Now
	manager := jobs.Options{
		Store: o.Store, Call: s.Items.Call, Entry: Entry, Ended: s.ended, Log: o.Log, Wall: o.Wall,
		Sessions: o.Sessions, Ready: o.LaneReady, Limits: o.Jobs, Room: o.Room,
	}
	if o.Keys != nil {
		manager.Forget = o.Keys.ForgetItems
	}
	if o.Clustered {
		s.Manager = jobs.New(manager)
		return s, nil
	}
	var err error
	s.Manager, err = jobs.Open(context.Background(), manager)
	return s, err
}

// Run runs jobs until ctx is done. It is called once the changes in flight at the last stop have
// been settled, so an item that is called again finds the outcome of its change.
func (s *Service) Run(ctx context.Context) {
	if s.Manager != nil {
		s.Manager.Run(ctx)
	}
}

// ended counts a job that has ended.
func (s *Service) ended(job *jobs.Job) {
	s.Counts.JobEnded(job.State)
	s.Log.WithField("job", job.ID).WithField("principal", job.Caller.Name).WithField("outcome", job.State).
		Info("a job ended")
}

// Local returns the handlers of the rows of jobs.
func (s *Service) Local() call.Local {
	control := func(do func(*jobs.Manager, context.Context, string) (*jobs.Job, error)) call.Handler {
		return s.about(func(ctx context.Context, a call.Accepted, job *jobs.Job) (call.Answer, error) {
			return s.control(ctx, a, job, do)
		})
	}
	local := call.Local{
		Handlers: map[string]call.Handler{
			"job.submit": s.submit,
			"job.list":   s.list,

			"job.submitStaleComputers": staleComputers.handler(s),
			"job.submitStaleUsers":     staleUsers.handler(s),

			"job.items":  s.about(s.items),
			"job.result": s.about(s.result),
			"job.retry":  s.about(s.retry),
			"job.undo":   s.about(s.undo),
			"job.get":    control((*jobs.Manager).Get),
			"job.start":  control((*jobs.Manager).Start),
			"job.pause":  control((*jobs.Manager).Pause),
			"job.resume": control((*jobs.Manager).Resume),
			"job.cancel": control((*jobs.Manager).Cancel),
			"job.remove": control((*jobs.Manager).Remove),
		},
		Streamers: map[string]call.Streamer{"job.stream": s.stream},
	}
	if s.Manager != nil {
		return local
	}
	for id := range local.Handlers {
		local.Handlers[id] = func(context.Context, call.Accepted) (call.Answer, error) {
			return call.Answer{}, noJobs()
		}
	}
	for id := range local.Streamers {
		local.Streamers[id] = func(context.Context, call.Accepted, call.Events) error { return noJobs() }
	}
	return local
}

func noJobs() error {
	return problem.New(schema.NotSupported, "This gateway keeps no jobs (store.file is off).")
}

// about returns the handler of a row that concerns a single job.
func (s *Service) about(
	answer func(ctx context.Context, a call.Accepted, job *jobs.Job) (call.Answer, error),
) call.Handler {
	return func(ctx context.Context, a call.Accepted) (call.Answer, error) {
		job, err := s.find(ctx, a)
		if err != nil {
			return call.Answer{}, err
		}
		return answer(ctx, a, job)
	}
}

// control implements a row that changes a job and then shows it.
func (s *Service) control(
	ctx context.Context, a call.Accepted, job *jobs.Job,
	do func(*jobs.Manager, context.Context, string) (*jobs.Job, error),
) (call.Answer, error) {
	job, err := do(s.Manager, ctx, job.ID)
	var wrong *jobs.StateError
	switch {
	case errors.As(err, &wrong):
		return call.Answer{}, wrongState(job, wrong.Wants)
	case err != nil:
		return call.Answer{}, unavailable(err)
	}
	output := a.Op.Sentence(cmp.Or(a.Op.Success, "The {subject} was found."), a.Bound, 1, &ps.Result{})
	return a.Answer(output, s.readerOf(a.Principal, job).job(s.Manager.ProgressOf(job))), nil
}

// find returns the job that a call names, if the caller may see it. With ops:read a caller may see
// the jobs of others.
func (s *Service) find(ctx context.Context, a call.Accepted) (*jobs.Job, error) {
	id := a.Bound.Text(ops.JobIDParam)
	job, err := s.Manager.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrAbsent):
	case err != nil:
		return nil, unavailable(err)
	case owns(a.Principal, job):
		return job, nil
	case a.Principal.Has(identity.OpsRead) && !a.Op.Effect.Writes():
		return job, nil
	case a.Principal.Has(identity.OpsRead):
		return nil, problem.New(schema.Forbidden,
			"The job '%s' belongs to another credential, which alone may do this.", id)
	}
	return nil, problem.New(schema.NotFound,
		"There is no job '%s': it was never submitted, is no longer kept, or belongs to another credential.", id)
}

// owns reports whether a job belongs to the caller.
func owns(p *identity.Principal, job *jobs.Job) bool { return job.Caller.Identity() == p.Identity() }

// withList refuses calls that need a job's list if the job no longer has it.
func withList(job *jobs.Job) error {
	if !job.Listless {
		return nil
	}
	return problem.New(schema.JobState, "The job '%s' has no list any more: it ended before anything of it "+
		"was run. Submit the list again.", job.ID)
}

func wrongState(job *jobs.Job, wants string) error {
	failed := problem.New(schema.JobState,
		"The job '%s' is %s. For this call it must be %s.", job.ID, job.State, wants)
	failed.Details = []problem.Detail{{Field: ops.JobIDParam, Message: "is " + string(job.State)}}
	return failed
}

func unavailable(err error) error {
	return problem.StoreFault(err,
		"Jobs cannot be read or stored now. Try again later; GET /readyz shows when they can.")
}

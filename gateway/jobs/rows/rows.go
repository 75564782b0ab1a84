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

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/required"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Options configure a service. All except Manager are required.
type Options struct {
	Manager    *jobs.Manager // nil if the gateway keeps no jobs, so calls about them are refused
	Operations []*ops.Operation
	// Rights returns the current rights of a caller, as for [Items].
	Rights Rights
	// Read makes a call whose row only reads.
	Read func(ctx context.Context, c call.Call) (call.Answer, error)
	// WhyNotUndoable returns the reason why a change cannot be undone, as a sentence, or "" if it can.
	WhyNotUndoable func(ctx context.Context, change string) string
	// Made returns the change with the given id from the history, or false if there is none.
	Made    func(ctx context.Context, id string) (change.Made, bool)
	Cursors call.Cursors
	Streams *call.Streams
	Log     *logrus.Logger
	Limits  Limits
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
	names []string // parameter names of all operations
}

// New returns a service.
func New(o Options) *Service {
	return &Service{Options: o, names: call.ParameterNames(o.Operations)}
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
		"Jobs cannot be read or kept at the moment. Try again later; GET /readyz tells when they can.")
}

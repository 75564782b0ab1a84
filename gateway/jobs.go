package gateway

import (
	"context"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/rows"
	"adgateway/gateway/meters"
)

// rights returns the current rights of a caller, see [authn.RightsOf].
func (s *Server) rights(ctx context.Context, id identity.ID) ([]*identity.Principal, error) {
	people := authn.People(nil)
	if s.pages != nil {
		people = s.pages.Rights
	}
	return authn.RightsOf(ctx, s.Auth, people, id)
}

// openJobs opens the jobs in the store, and registers the handlers of calls about them.
func (s *Server) openJobs() error {
	if s.Kept != nil && s.History != nil {
		if err := s.openManager(); err != nil {
			return err
		}
	}
	s.register(rows.New(rows.Options{
		Manager: s.jobs, Operations: s.Operations, Rights: s.rights,
		Read: func(ctx context.Context, c call.Call) (call.Answer, error) {
			return s.calls.Read(ctx, c, s.calls.Policy(), nil)
		},
		WhyNotUndoable: s.history.WhyNotUndoable, Made: s.history.Made,
		Cursors: s.cursors, Streams: s.streams, Log: s.Log,
		Limits: s.Lists,
	}).Local())
	return nil
}

// openManager opens the manager of the jobs in the store.
func (s *Server) openManager() (err error) {
	o := jobs.Options{
		Store: s.Kept, Call: s.Items().Call, Entry: rows.Entry, Ended: s.jobEnded, Log: s.Log, Wall: s.Wall,
		Sessions: s.Sessions, Ready: s.LaneReady, Limits: s.Jobs, Room: s.Bounds.Room,
	}
	if s.calls.Keys != nil {
		o.Forget = s.calls.Keys.ForgetItems
	}
	if s.Member != nil {
		s.jobs = jobs.New(o) // the leader will load them
	} else if s.jobs, err = jobs.Open(context.Background(), o); err != nil {
		return err
	}
	return meters.RegisterJobs(s.Metrics, s.jobs)
}

// Items returns an implementation that makes the calls of jobs' items.
func (s *Server) Items() rows.Items {
	return rows.Items{
		Operations: s.Operations, Make: s.Call, Rights: s.rights, Log: s.Log,
		Clock: func() time.Time { return s.store().Now() },
		Count: s.meters.JobItem,
	}
}

// jobEnded counts a job that has ended.
func (s *Server) jobEnded(job *jobs.Job) {
	s.meters.JobEnded(job.State)
	s.Log.WithField("job", job.ID).WithField("principal", job.Caller.Name).WithField("outcome", job.State).
		Info("a job ended")
}

// RunIndexing makes searches in the history faster, see [history.Service.RunIndexing].
func (s *Server) RunIndexing(ctx context.Context, failed func(error)) {
	s.history.RunIndexing(ctx, failed)
}

// RunJobs runs jobs until ctx is done. It is called once the changes in flight at the last stop
// have been settled, so an item that is called again finds the outcome of its change.
func (s *Server) RunJobs(ctx context.Context) {
	if s.jobs != nil {
		s.jobs.Run(ctx)
	}
}

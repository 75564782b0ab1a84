package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/rows"
	"adgateway/gateway/meters"
)

// Package jobs runs jobs, and package rows below it answers calls about them. This file connects
// the two.

// JobLimits are the limits of jobs. All are required unless their comments say otherwise.
type JobLimits struct {
	MaxItems  int
	MaxBytes  int64         // of one list
	Running   int           // jobs that run at the same time
	PerCaller int           // jobs of one caller
	Share     float64       // share of a lane's sessions that items may use
	Rate      int           // items of a job per second; zero for no limit
	Keep      time.Duration // how long jobs are kept
	MaxStored int64         // limit for all jobs in bytes; one caller gets a quarter
	Secrets   bool          // lists may hold passwords
}

// check returns an error that names the missing limits.
func (l *JobLimits) check() error {
	faults := positive("option JobLimits.", map[string]int64{
		"MaxItems": int64(l.MaxItems), "MaxBytes": l.MaxBytes, "Running": int64(l.Running),
		"PerCaller": int64(l.PerCaller), "Keep": int64(l.Keep), "MaxStored": l.MaxStored,
	})
	if l.Share <= 0 {
		wrong := fmt.Errorf("gateway: option JobLimits.Share must be positive, not %g", l.Share)
		faults = errors.Join(faults, wrong)
	}
	return faults
}

// Current is an [authn.Authenticator] that can look up callers again.
type Current interface {
	// Now returns a caller with its current rights, or nil if the caller no longer exists.
	Now(id identity.ID) *identity.Principal
}

// rights returns the current rights of a caller: one principal, or one for each role of a person.
// It returns none if the caller no longer exists. It fails if the rights cannot be determined at
// the moment.
func (s *Server) rights(ctx context.Context, id identity.ID) ([]*identity.Principal, error) {
	if id.Kind == identity.KindPerson {
		if s.pages == nil {
			return nil, nil
		}
		return s.pages.Rights(ctx, id.ID)
	}
	current, ok := s.Auth.(Current)
	if !ok {
		return nil, nil
	}
	if p := current.Now(id); p != nil {
		return []*identity.Principal{p}, nil
	}
	return nil, nil
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
		Limits: rows.Limits{
			MaxItems: s.JobLimits.MaxItems, MaxBytes: s.JobLimits.MaxBytes, Secrets: s.JobLimits.Secrets,
		},
	}).Local())
	return nil
}

// openManager opens the manager of the jobs in the store.
func (s *Server) openManager() (err error) {
	limits := s.JobLimits
	o := jobs.Options{
		Store: s.Kept, Call: s.Items().Call, Entry: rows.Entry, Ended: s.jobEnded, Log: s.Log, Wall: s.Wall,
		Sessions: s.Sessions, Ready: s.LaneReady, Share: limits.Share, Running: limits.Running,
		PerCaller: limits.PerCaller, Rate: limits.Rate, Keep: limits.Keep, MaxStored: limits.MaxStored, Room: s.Bounds.Room,
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

// RunJobs runs jobs until ctx is done. It is called once the changes in flight at the last stop
// have been settled, so an item that is called again finds the outcome of its change.
func (s *Server) RunJobs(ctx context.Context) {
	if s.jobs != nil {
		s.jobs.Run(ctx)
	}
}

package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
)

// StateError is the error of an operation that does not fit the state of a job. It wraps
// [ErrState].
type StateError struct {
	State jobstate.Job
	Wants string // states that would fit: "running or held"
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the job is %s, and must be %s", e.State, e.Wants)
}

func (e *StateError) Unwrap() error { return ErrState }

// owns reports whether this manager runs the jobs in the store.
func (m *Manager) owns() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loaded
}

// control changes a job that has not ended, and returns the changed job. It calls change while it
// holds the lock of the run.
func (m *Manager) control(ctx context.Context, id, wants string, change func(r *run) bool) (*Job, error) {
	job, err := m.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	r := m.runOf(id)
	switch {
	case r == nil && !job.State.Ended() && !m.owns():
		return job, store.ErrFollows
	case r == nil:
		return job, &StateError{job.State, wants}
	}
	defer r.wakeUp()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !change(r) {
		now := r.job
		return &now, &StateError{now.State, wants}
	}
	r.finish()
	r.save(ctx)
	now := r.job
	if r.unsaved {
		return &now, errors.New("the store cannot be written")
	}
	return &now, nil
}

// Pause keeps a job from starting further items. Items that have begun are finished.
func (m *Manager) Pause(ctx context.Context, id string) (*Job, error) {
	return m.control(ctx, id, "running or held", func(r *run) bool {
		switch r.job.State {
		case jobstate.Running, jobstate.Held:
			r.become(jobstate.Paused, "")
		case jobstate.Paused:
		default:
			return false
		}
		return true
	})
}

// Resume resumes a paused job.
func (m *Manager) Resume(ctx context.Context, id string) (*Job, error) {
	return m.control(ctx, id, "paused", func(r *run) bool {
		switch r.job.State {
		case jobstate.Paused:
			r.heldUntil = time.Time{}
			r.become(jobstate.Held, jobstate.OtherJobs)
		case jobstate.Running, jobstate.Held:
		default:
			return false
		}
		return true
	})
}

// Cancel ends a job once its running items have ended. The other items are not run.
func (m *Manager) Cancel(ctx context.Context, id string) (*Job, error) {
	return m.control(ctx, id, "one that has not ended", func(r *run) bool {
		if r.job.State.Ended() {
			return false
		}
		r.become(jobstate.Stopping, "")
		return true
	})
}

// Start runs the items of a job that was validated or dry run. After a dry run each item is bound to its
// plan. An item whose dry run failed has no plan and is not run. The exception is an item that waits for
// another one, because a dry run cannot make the change of that other item first. An undo that waits for the
// undo of a later change is not bound either.
func (m *Manager) Start(ctx context.Context, id string) (*Job, error) {
	return m.control(ctx, id, "ready, as it is after validate or dryRun", func(r *run) bool {
		if r.job.State != jobstate.Ready {
			return false
		}
		r.job.Mode = jobstate.Run
		r.failures, r.pace = nil, pace{}
		waits := make([]bool, len(r.results))
		for _, followers := range r.followers {
			for _, follower := range followers {
				waits[follower] = true
			}
		}
		for i := range r.results {
			result := &r.results[i]
			switch {
			case result.State == jobstate.Skipped, result.State == jobstate.Waiting:
				continue
			case waits[i] && r.job.Undoes != "":
				// The plan shows the object as it was after a later change of the same job, which is undone first. The
				// item is run without the plan, because the undo itself fails if others have changed the object.
				*result = Result{State: jobstate.Waiting}
			case result.State.Succeeded(), waits[i]:
				*result = Result{State: jobstate.Waiting, Plan: result.Plan}
			case result.State == jobstate.Refused, result.State == jobstate.Unknown:
				result.State = jobstate.NotRun
			default:
				*result = Result{State: jobstate.Waiting}
			}
			r.changed[i] = true
		}
		r.job.Round++
		r.recount()
		r.job.Started, r.heldUntil = time.Time{}, time.Time{}
		r.become(jobstate.Held, jobstate.OtherJobs)
		return true
	})
}

// Remove removes a finished job with its items and results, and returns the removed job.
func (m *Manager) Remove(ctx context.Context, id string) (*Job, error) {
	job, err := m.Get(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !m.owns():
		return job, store.ErrFollows
	case !job.State.Ended() || m.runOf(id) != nil:
		return job, &StateError{job.State, "one that has ended: cancel it first"}
	}
	err = m.store.change(ctx, id, func(stored *Job) bool { // no reader may find half a list
		stored.Listless = true
		return true
	})
	if err == nil {
		err = m.forgetCalls(ctx, job)
	}
	if err == nil {
		err = m.store.removeItems(ctx, job)
	}
	if err == nil {
		err = m.store.change(ctx, id, func(*Job) bool { return false })
	}
	if err != nil {
		return job, err
	}
	if m.shelf.remove(job) {
		m.seals.forget(job.Root)
		err = m.store.destroyKey(ctx, job.Root)
	}
	return job, err
}

// forgetCalls removes the stored calls of a removed job's items, except those that another job may
// retry.
func (m *Manager) forgetCalls(ctx context.Context, job *Job) error {
	if m.Forget == nil {
		return nil
	}
	keys, needed := []string{}, map[string]bool{}
	for _, other := range m.shelf.others(job) {
		err := m.store.specs(ctx, other, func(_ int, spec *Spec) bool {
			needed[spec.Key] = true
			return true
		})
		if err != nil {
			return err
		}
	}
	err := m.store.specs(ctx, job.ID, func(_ int, spec *Spec) bool {
		if spec.Key != "" && !needed[spec.Key] {
			keys = append(keys, spec.Key)
		}
		return true
	})
	if err != nil {
		return err
	}
	forgotten, err := m.Forget(ctx, keys)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(forgotten, batch) {
		if _, err = m.store.Apply(ctx, part...); err != nil {
			return err
		}
	}
	return nil
}

// dropItems removes the items of a job that did not run. If that fails, they expire with the job.
func (m *Manager) dropItems(ctx context.Context, job *Job) {
	m.shelf.put(job)
	err := m.store.removeItems(ctx, job)
	if err == nil && job.Secrets && job.Root == job.ID {
		err = m.store.destroyKey(ctx, job.Root)
	}
	if err != nil {
		m.Log.WithError(err).WithField("job",
			job.ID).Warn("the items of a job that ran nothing are kept until they expire")
	}
}

package rows

import (
	"context"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
)

// retry submits items of a job once more.
func (s *Service) retry(ctx context.Context, a call.Accepted, job *jobs.Job) (call.Answer, error) {
	if !job.State.Ended() {
		return call.Answer{}, wrongState(job, "one that has ended")
	}
	if err := withList(job); err != nil {
		return call.Answer{}, err
	}
	states := strings.Split(a.Bound.Text(ops.JobState), ",")
	next := newJob(a)
	next.Name, next.Operation, next.List, next.ResultKey = job.Name, job.Operation, job.List, job.ResultKey
	next.Root, next.Retries, next.All = job.Root, job.ID, true
	next.Secrets = job.Secrets
	place := map[int]int{} // positions of items in the new job
	var specs []jobs.Spec
	succeeded := map[int]bool{}
	err := s.Manager.Items(ctx, job, 0, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		succeeded[i] = result.State.Succeeded()
		switch {
		case slices.Contains(states, string(result.State)):
			place[i] = len(specs)
			specs = append(specs, *spec)
		case result.State == jobstate.Refused, result.State == jobstate.Unknown, result.State == jobstate.NotRun:
			next.All = false
		}
		return true
	})
	if err != nil {
		return call.Answer{}, unavailable(err)
	}
	if len(specs) == 0 {
		return call.Answer{}, problem.New(schema.JobState, "The job '%s' has no items that are %s.",
			job.ID, strings.Join(states, " or "))
	}
	lost := func(before int) bool { _, again := place[before]; return !again && !succeeded[before] }
	for i := range specs {
		spec := &specs[i]
		if slices.ContainsFunc(spec.Needs, lost) {
			spec.Skip = &jobs.Result{
				State:   jobstate.NotRun,
				Message: "An item that it comes after was not done, and is not tried again.",
			}
		}
		spec.Needs, spec.Waits = moved(spec.Needs, place), moved(spec.Waits, place)
	}
	keepOrder(specs)
	return s.add(ctx, a, jobs.Submission{Job: next, Specs: specs})
}

// keepOrder makes items wait for earlier ones that touch the same objects, because items between
// them may be missing in the new job.
func keepOrder(specs []jobs.Spec) {
	waits := make([][]int, len(specs))
	for i := range specs {
		waits[i] = specs[i].Waits
	}
	for i, all := range joblist.Waits(touches(specs), waits) {
		specs[i].Waits = all
	}
}

// moved returns the positions that items have in a new job. It omits items that are not in the new job.
func moved(items []int, place map[int]int) []int {
	var all []int
	for _, i := range items {
		if at, has := place[i]; has {
			all = append(all, at)
		}
	}
	return all
}

// undo submits a job that undoes the changes of a job.
func (s *Service) undo(ctx context.Context, a call.Accepted, job *jobs.Job) (call.Answer, error) {
	if !job.State.Ended() {
		return call.Answer{}, wrongState(job, "one that has ended")
	}
	undo := ops.Find(s.Operations, "change.undo")
	next := newJob(a)
	next.Name, next.Operation, next.Undoes = job.Name, undo.ID, job.ID
	next.List = jobs.List{
		Format: job.List.Format, Separator: job.List.Separator, BOM: job.List.BOM,
		Header: []string{ops.ChangeIDParam},
	}
	if a.DryRun() {
		next.Mode = jobstate.DryRun
	}
	var waits [][]int
	var all []jobs.Spec // in the order of the job
	place := map[int]int{}
	err := s.Manager.Items(ctx, job, 0, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		if result.ChangeID == "" {
			return true
		}
		place[i] = len(all)
		item := jobs.Spec{
			Line: spec.Line, ID: spec.ID, Operation: undo.ID, Lane: spec.Lane, Changes: spec.Changes, Uses: spec.Uses,
			Parameters: map[string]any{ops.ChangeIDParam: result.ChangeID},
		}
		if fields := a.Bound.Text(ops.UndoFields); fields != "" {
			item.Parameters[ops.UndoFields] = fields
		}
		if why := s.History.WhyNotUndoable(ctx, result.ChangeID); why != "" {
			item.Skip = &jobs.Result{State: jobstate.Skipped, Code: string(schema.NotUndoable), Message: why}
		}
		all = append(all, item)
		waits = append(waits, moved(spec.Waits, place))
		return true
	})
	if err != nil {
		return call.Answer{}, unavailable(err)
	}
	if len(all) == 0 {
		return call.Answer{}, problem.New(schema.NotUndoable,
			"The job '%s' has changed nothing that is in the history.", job.ID)
	}
	last := len(all) - 1
	for i, after := range jobs.Reversed(waits) {
		for _, later := range after {
			all[i].Waits = append(all[i].Waits, last-later)
		}
	}
	slices.Reverse(all)
	keepOrder(all)
	return s.add(ctx, a, jobs.Submission{Job: next, Specs: all})
}

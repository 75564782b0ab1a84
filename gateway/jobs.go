package gateway

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/joblist"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// shownJob is a job as answers show it.
type shownJob struct {
	ID           string         `json:"id"`
	Kind         string         `json:"kind"`
	Name         *string        `json:"name"`
	Operation    *string        `json:"operation"`
	Mode         jobstate.Mode  `json:"mode"`
	Caller       string         `json:"caller"`
	State        jobstate.Job   `json:"state"`
	Why          *string        `json:"why"`
	Created      string         `json:"created"`
	Started      *string        `json:"started"`
	Ended        *string        `json:"ended"`
	Expires      string         `json:"expires"`
	Total        int            `json:"total"`
	Waiting      int            `json:"waiting"`
	Running      int            `json:"running"`
	Done         int            `json:"done"`
	Noop         int            `json:"noop"`
	Failed       int            `json:"failed"`
	Unknown      int            `json:"unknown"`
	Skipped      int            `json:"skipped"`
	NotRun       int            `json:"notRun"`
	Percent      int            `json:"percent"`
	Rate         *float64       `json:"rate"`
	Remaining    *int           `json:"remaining"`
	Separator    *string        `json:"separator"`
	Retries      *string        `json:"retries"`
	Undoes       *string        `json:"undoes"`
	Problems     []jobs.Problem `json:"problems"`
	MoreProblems int            `json:"moreProblems"`
}

func (s *Server) showJob(p *jobs.Progress) shownJob {
	stamp := func(t time.Time) *string {
		if t.IsZero() {
			return nil
		}
		text := t.Format(time.RFC3339Nano)
		return &text
	}
	c := p.Counts
	shown := shownJob{
		ID: p.ID, Kind: "list", Name: call.OrNull(p.Name), Operation: call.OrNull(p.Operation), Mode: p.Mode, Caller: p.Caller.Name,
		State: p.State, Why: call.OrNull(string(p.Why)), Created: *stamp(p.Created), Started: stamp(p.Started), Ended: stamp(p.Ended), Expires: *stamp(p.Expires),
		Total: p.Total, Waiting: c.Waiting, Running: c.Going, Done: c.Made, Noop: c.Noop, Failed: c.Refused, Unknown: c.Unknown, Skipped: c.Skipped, NotRun: c.NotRun,
		Percent: p.Percent(), Separator: call.OrNull(p.List.Separator), Retries: call.OrNull(p.Retries), Undoes: call.OrNull(p.Undoes),
		Problems: append([]jobs.Problem{}, p.Problems...), MoreProblems: p.MoreProblems,
	}
	if p.State == jobstate.Running {
		rate := math.Round(p.Rate*10) / 10
		shown.Rate = &rate
	}
	if p.Remaining != nil {
		seconds := int(p.Remaining.Seconds())
		shown.Remaining = &seconds
	}
	return shown
}

// answerJobs answers a call about jobs.
func (s *Server) answerJobs(r *request) (call.Answer, error) {
	if s.jobs == nil {
		return call.Answer{}, problem.New(schema.NotSupported, "This gateway keeps no jobs (store.file is off).")
	}
	switch r.op.ID {
	case "job.submit":
		return s.submitJob(r)
	case "job.list":
		return s.listJobs(r)
	}
	job, failed := s.findJob(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	ctx := r.ctx
	switch r.op.ID {
	case "job.items":
		return s.listItems(r, job)
	case "job.result":
		return s.sendResult(r, job)
	case "job.retry":
		return s.retryJob(r, job)
	case "job.undo":
		return s.undoJob(r, job)
	}
	control := map[string]func(context.Context, string) (*jobs.Job, error){
		"job.get": s.jobs.Get, "job.start": s.jobs.Start, "job.pause": s.jobs.Pause, "job.resume": s.jobs.Resume, "job.cancel": s.jobs.Cancel,
	}[r.op.ID]
	job, err := control(ctx, job.ID)
	var wrong *jobs.StateError
	switch {
	case errors.As(err, &wrong):
		return call.Answer{}, wrongState(job, wrong.Wants)
	case err != nil:
		return call.Answer{}, jobsUnavailable(err)
	}
	return r.accepted().Answer(r.op.Sentence(cmp.Or(r.op.Success, "The {subject} was found."), r.bound, 1, &ps.Result{}), s.showJob(s.jobs.ProgressOf(job))), nil
}

func wrongState(job *jobs.Job, wants string) error {
	failed := problem.New(schema.JobState, "The job '%s' is %s. For this call it must be %s.", job.ID, job.State, wants)
	failed.Details = []problem.Detail{{Field: ops.JobIDParam, Message: "is " + string(job.State)}}
	return failed
}

// owns reports whether a job is the caller's.
func owns(p *identity.Principal, job *jobs.Job) bool {
	return job.Caller == jobs.Caller{ID: p.ID, Kind: p.Kind, Name: p.Name}
}

// findJob returns the job that a request names, if the caller may know of it. Those of
// others may be read with ops:read.
func (s *Server) findJob(r *request) (*jobs.Job, error) {
	id := r.bound.Text(ops.JobIDParam)
	job, err := s.jobs.Get(r.ctx, id)
	switch {
	case errors.Is(err, jobs.ErrAbsent):
	case err != nil:
		return nil, jobsUnavailable(err)
	case owns(r.principal, job):
		return job, nil
	case r.principal.Has(identity.OpsRead) && !r.op.Effect.Writes():
		return job, nil
	case r.principal.Has(identity.OpsRead):
		return nil, problem.New(schema.Forbidden, "The job '%s' belongs to another credential, which alone may do this.", id)
	}
	return nil, problem.New(schema.NotFound, "There is no job '%s': it was never submitted, is no longer kept, or belongs to another credential.", id)
}

// listJobs lists jobs, the newest first.
func (s *Server) listJobs(r *request) (call.Answer, error) {
	b := r.bound
	limit, _ := strconv.Atoi(b.Text(ops.LimitName)) // its kind has tried it
	before, failed := s.cursors.Open(r.accepted())
	if failed != nil {
		return call.Answer{}, failed
	}
	records, last, more := []any{}, "", false
	ctx := r.ctx
	err := s.jobs.List(ctx, before, func(job *jobs.Job) bool {
		if !owns(r.principal, job) && !r.principal.Has(identity.OpsRead) {
			return true
		}
		progress := s.jobs.ProgressOf(job)
		if b.Has(ops.JobState) && b.Text(ops.JobState) != string(progress.State) {
			return true
		}
		if more = len(records) == limit; more {
			return false
		}
		last = job.ID
		records = append(records, s.showJob(progress))
		return true
	})
	if err != nil {
		return call.Answer{}, jobsUnavailable(err)
	}
	return s.sendPage(r, records, last, more)
}

// sendPage answers with a part of a list.
func (s *Server) sendPage(r *request, records []any, last string, more bool) (call.Answer, error) {
	answer := r.accepted().Found(records)
	if more {
		answer.Next = s.cursors.Seal(r.accepted(), last)
	}
	return answer, nil
}

// shownItem is an item as answers show it.
type shownItem struct {
	Line      int           `json:"line"`
	ID        *string       `json:"id"`
	Operation string        `json:"operation"`
	State     jobstate.Item `json:"state"`
	Code      *string       `json:"code"`
	Message   *string       `json:"message"`
	ChangeID  *string       `json:"changeId"`
	GUID      *string       `json:"guid"`
	Plan      *string       `json:"plan"`
	Attempts  int           `json:"attempts"`
}

func showItem(spec *jobs.Spec, result jobs.Result) shownItem {
	return shownItem{
		Line: spec.Line, ID: call.OrNull(spec.ID), Operation: spec.Operation, State: result.State, Code: call.OrNull(result.Code), Message: call.OrNull(result.Message),
		ChangeID: call.OrNull(result.ChangeID), GUID: call.OrNull(result.GUID), Plan: call.OrNull(result.Plan), Attempts: result.Attempts,
	}
}

// listItems lists the items of a job.
func (s *Server) listItems(r *request, job *jobs.Job) (call.Answer, error) {
	b := r.bound
	limit, _ := strconv.Atoi(b.Text(ops.LimitName)) // its kind has tried it
	last, failed := s.cursors.Open(r.accepted())
	if failed != nil {
		return call.Answer{}, failed
	}
	from, _ := strconv.Atoi(last) // it was sealed here, or is empty
	records, next, more := []any{}, 0, false
	err := s.jobs.Items(r.ctx, job, from, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		if b.Has(ops.JobState) && b.Text(ops.JobState) != string(result.State) {
			return true
		}
		if more = len(records) == limit; more {
			return false
		}
		next = i + 1
		records = append(records, showItem(spec, result))
		return true
	})
	if err != nil {
		return call.Answer{}, jobsUnavailable(err)
	}
	return s.sendPage(r, records, strconv.Itoa(next), more)
}

// retryJob submits items of a job again.
func (s *Server) retryJob(r *request, job *jobs.Job) (call.Answer, error) {
	if !job.State.Ended() {
		return call.Answer{}, wrongState(job, "one that has ended")
	}
	states := strings.Split(r.bound.Text(ops.JobState), ",")
	next := s.newJob(r)
	next.Name, next.Operation, next.List, next.ResultKey = job.Name, job.Operation, job.List, job.ResultKey
	next.Root, next.Retries, next.All = job.Root, job.ID, true
	next.Secrets = job.Secrets
	place := map[int]int{} // of an item in the new job
	var specs []jobs.Spec
	succeeded := map[int]bool{}
	err := s.jobs.Items(r.ctx, job, 0, func(i int, spec *jobs.Spec, result jobs.Result) bool {
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
		return call.Answer{}, jobsUnavailable(err)
	}
	if len(specs) == 0 {
		return call.Answer{}, problem.New(schema.JobState, "The job '%s' has no items that are %s.", job.ID, strings.Join(states, " or "))
	}
	for i := range specs {
		spec := &specs[i]
		if slices.ContainsFunc(spec.Needs, func(before int) bool { _, again := place[before]; return !again && !succeeded[before] }) {
			spec.Skip = &jobs.Result{State: jobstate.NotRun, Message: "An item that it comes after was not done, and is not tried again."}
		}
		spec.Needs, spec.Waits = moved(spec.Needs, place), moved(spec.Waits, place)
	}
	keepOrder(specs)
	return s.addJob(r, jobs.Submission{Job: next, Specs: specs})
}

// keepOrder makes items wait for those before them that touch the same objects: what was
// between them in the job that they are of may have been left out.
func keepOrder(specs []jobs.Spec) {
	waits := make([][]int, len(specs))
	for i := range specs {
		waits[i] = specs[i].Waits
	}
	for i, all := range joblist.Waits(touches(specs), waits) {
		specs[i].Waits = all
	}
}

// moved returns the places of items in a new job, without those that are not in it.
func moved(items []int, place map[int]int) []int {
	var all []int
	for _, i := range items {
		if at, has := place[i]; has {
			all = append(all, at)
		}
	}
	return all
}

// undoJob submits the undo of what a job has changed.
func (s *Server) undoJob(r *request, job *jobs.Job) (call.Answer, error) {
	if !job.State.Ended() {
		return call.Answer{}, wrongState(job, "one that has ended")
	}
	undo := s.operationOf("change.undo")
	next := s.newJob(r)
	next.Name, next.Operation, next.Undoes = job.Name, undo.ID, job.ID
	next.List = jobs.List{Format: job.List.Format, Separator: job.List.Separator, BOM: job.List.BOM, Header: []string{ops.ChangeIDParam}}
	if r.dryRun() {
		next.Mode = jobstate.DryRun
	}
	ctx := r.ctx
	var waits [][]int
	var all []jobs.Spec // in the order of the job
	place := map[int]int{}
	err := s.jobs.Items(ctx, job, 0, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		if result.ChangeID == "" {
			return true
		}
		place[i] = len(all)
		item := jobs.Spec{Line: spec.Line, ID: spec.ID, Operation: undo.ID, Lane: spec.Lane, Changes: spec.Changes, Uses: spec.Uses, Parameters: map[string]any{ops.ChangeIDParam: result.ChangeID}}
		if fields := r.bound.Text(ops.UndoFields); fields != "" {
			item.Parameters[ops.UndoFields] = fields
		}
		if why := s.history.WhyNotUndoable(ctx, result.ChangeID); why != "" {
			item.Skip = &jobs.Result{State: jobstate.Skipped, Code: string(schema.NotUndoable), Message: why}
		}
		all = append(all, item)
		waits = append(waits, moved(spec.Waits, place))
		return true
	})
	if err != nil {
		return call.Answer{}, jobsUnavailable(err)
	}
	if len(all) == 0 {
		return call.Answer{}, problem.New(schema.NotUndoable, "The job '%s' has changed nothing that is in the history.", job.ID)
	}
	last := len(all) - 1
	for i, after := range jobs.Reversed(waits) {
		for _, later := range after {
			all[i].Waits = append(all[i].Waits, last-later)
		}
	}
	slices.Reverse(all)
	keepOrder(all)
	return s.addJob(r, jobs.Submission{Job: next, Specs: all})
}

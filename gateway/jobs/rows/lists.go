package rows

import (
	"context"
	"strconv"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
)

// list lists jobs, newest first.
func (s *Service) list(ctx context.Context, a call.Accepted) (call.Answer, error) {
	b := a.Bound
	limit, _ := strconv.Atoi(b.Text(ops.LimitName)) // its kind has checked it
	before, err := s.Cursors.Open(a)
	if err != nil {
		return call.Answer{}, err
	}
	records, last, more := []any{}, "", false
	err = s.Manager.List(ctx, before, func(job *jobs.Job) bool {
		if !owns(a.Principal, job) && !a.Principal.Has(identity.OpsRead) {
			return true
		}
		progress := s.Manager.ProgressOf(job)
		if b.Has(ops.JobState) && b.Text(ops.JobState) != string(progress.State) {
			return true
		}
		if more = len(records) == limit; more {
			return false
		}
		last = job.ID
		records = append(records, s.readerOf(a.Principal, job).job(progress))
		return true
	})
	if err != nil {
		return call.Answer{}, unavailable(err)
	}
	return s.page(a, records, last, more), nil
}

// items lists the items of a job.
func (s *Service) items(ctx context.Context, a call.Accepted, job *jobs.Job) (call.Answer, error) {
	b := a.Bound
	limit, _ := strconv.Atoi(b.Text(ops.LimitName)) // its kind has checked it
	last, err := s.Cursors.Open(a)
	if err != nil {
		return call.Answer{}, err
	}
	from, _ := strconv.Atoi(last) // it was sealed here, or is empty
	reader := s.readerOf(a.Principal, job)
	records, next, more := []any{}, 0, false
	err = s.Manager.Items(ctx, job, from, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		if b.Has(ops.JobState) && b.Text(ops.JobState) != string(result.State) {
			return true
		}
		if more = len(records) == limit; more {
			return false
		}
		next = i + 1
		records = append(records, reader.item(ctx, spec, result))
		return true
	})
	if err != nil {
		return call.Answer{}, unavailable(err)
	}
	return s.page(a, records, strconv.Itoa(next), more), nil
}

// page returns an answer with one page of a list. If more is set, the list continues after last.
func (s *Service) page(a call.Accepted, records []any, last string, more bool) call.Answer {
	answer := a.Found(records)
	if more {
		answer.Next = s.Cursors.Seal(a, last)
	}
	return answer
}

package gateway

import (
	"adgateway/gateway/call"
	"context"
	"time"

	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
)

// progressEvery is how often the progress of a job is sent at most.
const progressEvery = time.Second

// streamJob sends the progress of a job as server-sent events until it ends: at
// most one progress a second, and the items that fail if they are asked for.
func (s *Server) streamJob(r *request, to call.Events) error {
	job, failed := s.findJob(r)
	if failed != nil {
		return failed
	}
	free, failed := s.streams.Take(r.principal)
	if failed != nil {
		return failed
	}
	defer free()
	stream := &jobStream{s: s, id: job.ID, items: r.bound.Text(ops.JobItems) == "failed", watch: s.jobs.Watch(job.ID)}
	defer stream.watch.Stop()
	r.leave() // a caller with few requests at a time would have none left for its other calls
	err := to.Begin()
	for ended := false; err == nil && !ended; {
		if ended, err = stream.send(r.ctx, to); err == nil && !ended {
			err = to.Wait(stream.watch.Changed)
		}
		if err == nil && !ended && stream.watch.Over() {
			err = errRunsElsewhere
		}
		if err == nil && !ended {
			err = to.Wait(after(time.Until(stream.sentAt.Add(progressEvery))))
		}
	}
	to.End(err)
	return nil
}

// errRunsElsewhere is why the stream of a job ends whose gateway does not lead any more.
const errRunsElsewhere = call.EndOfEvents("another gateway runs the job from now on: ask for the stream again")

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	elapsed := make(chan struct{})
	time.AfterFunc(d, func() { close(elapsed) })
	return elapsed
}

// jobStream is a stream of the progress of one job.
type jobStream struct {
	s      *Server
	id     string
	items  bool // those that fail are sent, too
	watch  *jobs.Watch
	sentAt time.Time
}

// send sends what is new, and reports whether the job has ended.
func (j *jobStream) send(ctx context.Context, to call.Events) (ended bool, err error) {
	progress, err := j.s.jobs.Progress(ctx, j.id)
	if err != nil {
		return false, err
	}
	if j.items {
		failed, err := j.watch.Failures(ctx)
		if err != nil {
			return false, err
		}
		for _, one := range failed {
			if err := to.Send(call.Event{Name: "item", Data: encode(showItem(one.Spec, one.Result))}); err != nil {
				return false, err
			}
		}
	}
	name := "progress"
	if ended = progress.State.Ended(); ended {
		name = "end"
	}
	j.sentAt = time.Now()
	return ended, to.Send(call.Event{Name: name, Data: encode(j.s.showJob(progress))})
}

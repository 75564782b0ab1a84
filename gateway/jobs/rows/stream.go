package rows

import (
	"context"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// progressEvery is the minimum time between two progress events of a job.
const progressEvery = time.Second

// stream sends the progress of a job as server-sent events until it ends, with at most one event
// per second, and the failed items if they are requested.
func (s *Service) stream(ctx context.Context, a call.Accepted, to call.Events) error {
	job, err := s.find(ctx, a)
	if err != nil {
		return err
	}
	stream := &progressStream{
		of: s, id: job.ID, items: a.Bound.Text(ops.JobItems) == "failed", watch: s.Manager.Watch(job.ID),
	}
	defer stream.watch.Stop()
	return s.Streams.Run(a, to, func() error {
		for {
			if ended, err := stream.send(ctx, to); ended || err != nil {
				return err
			}
			if err := to.Wait(stream.watch.Changed); err != nil {
				return err
			}
			if stream.watch.Over() {
				return errRunsElsewhere
			}
			if err := to.Wait(after(time.Until(stream.sentAt.Add(progressEvery)))); err != nil {
				return err
			}
		}
	})
}

// errRunsElsewhere ends the stream of a job whose gateway has stopped leading.
const errRunsElsewhere = call.EndOfEvents(
	"another gateway runs the job from now on: ask for the stream again")

// after returns a channel that is closed after a while.
func after(d time.Duration) <-chan struct{} {
	elapsed := make(chan struct{})
	time.AfterFunc(d, func() { close(elapsed) })
	return elapsed
}

// progressStream is a stream of the progress of one job.
type progressStream struct {
	of     *Service
	id     string
	items  bool // also send failed items
	watch  *jobs.Watch
	sentAt time.Time
}

// send sends everything that has changed since the last event, and reports whether the job has ended.
func (j *progressStream) send(ctx context.Context, to call.Events) (ended bool, err error) {
	progress, err := j.of.Manager.Progress(ctx, j.id)
	if err != nil {
		return false, err
	}
	reader := j.of.readerOf(to.Principal(), &progress.Job)
	if j.items {
		failed, err := j.watch.Failures(ctx)
		if err != nil {
			return false, err
		}
		for _, one := range failed {
			shown := schema.JSON(reader.item(ctx, one.Spec, one.Result))
			if err := to.Send(call.Event{Name: "item", Data: shown}); err != nil {
				return false, err
			}
		}
	}
	name := "progress"
	if ended = progress.State.Ended(); ended {
		name = "end"
	}
	j.sentAt = time.Now()
	return ended, to.Send(call.Event{Name: name, Data: schema.JSON(reader.job(progress))})
}

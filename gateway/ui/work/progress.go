package work

import (
	"slices"
	"time"

	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/frame"
)

// The page of a running job receives the progress of the job as events. Each stream is short, and then the
// browser requests the next one. In this way the end of a session is noticed, and a stopping gateway need not
// wait for long streams.

const (
	progressEvery = time.Second
	progressFor   = 10 * time.Second
)

// moves reports whether the job continues by itself.
func (j Job) moves() bool {
	moving := []jobstate.Job{jobstate.Held, jobstate.Running, jobstate.Stopping}
	return slices.Contains(moving, jobstate.Job(j.State))
}

// JobEvents sends the progress of a job as events "progress", and one event "end" when the job no longer
// continues.
func JobEvents(c *frame.Visit) {
	j, a := jobAt(c)
	if j == nil {
		c.Failed(a)
		return
	}
	events := frame.NewEvents(c)
	again, over := time.NewTicker(progressEvery), time.NewTimer(progressFor)
	defer again.Stop()
	defer over.Stop()
	for {
		name := "progress"
		if !j.moves() {
			name = "end"
		}
		body := JobPage{ID: j.ID, Progress: j.Progress(), Facts: j.facts()}
		if !events.Send(name, "job", "progress", body) || name == "end" {
			return
		}
		select {
		case <-again.C:
		case <-over.C:
			return
		case <-c.R.Context().Done():
			return
		}
		if j, _ = jobAt(c); j == nil {
			return // the page requests the job again and gets the reason
		}
	}
}

// jobAt returns the job at the address. If the job cannot be read, the job is nil and the answer contains the
// reason.
func jobAt(c *frame.Visit) (*Job, *frame.Answer) {
	a := c.Get("job.get", JobID, c.R.PathValue("id"))
	found := frame.Records[Job](a)
	if !a.Ok() || len(found) == 0 {
		return nil, a
	}
	return &found[0], a
}

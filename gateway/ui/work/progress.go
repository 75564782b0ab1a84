package work

import (
	"slices"
	"time"

	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/frame"
)

// The page of a job that runs is told how far it has come, by events. Each stream is short, and the
// browser asks for the next one: so a session that has ended is noticed, and a gateway that stops waits
// for none of them.

const (
	progressEvery = time.Second
	progressFor   = 10 * time.Second
)

// moves reports whether the job goes on by itself.
func (j Job) moves() bool {
	moving := []jobstate.Job{jobstate.Held, jobstate.Running, jobstate.Stopping}
	return slices.Contains(moving, jobstate.Job(j.State))
}

// JobEvents sends how far a job has come: events "progress", and one "end" when it goes on no more.
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
			return // the page asks again, and is told why
		}
	}
}

// jobAt returns the job at the address; nil: it cannot be read, as the answer says.
func jobAt(c *frame.Visit) (*Job, *frame.Answer) {
	a := c.Get("job.get", JobID, c.R.PathValue("id"))
	found := frame.Records[Job](a)
	if !a.Ok() || len(found) == 0 {
		return nil, a
	}
	return &found[0], a
}

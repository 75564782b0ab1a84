package rows

import (
	"math"
	"time"

	"adgateway/gateway/jobs"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
)

// shownJob is a job as shown in answers.
type shownJob struct {
	ID         string        `json:"id"`
	Kind       string        `json:"kind"`
	Name       *string       `json:"name"`
	Operation  *string       `json:"operation"`
	Mode       jobstate.Mode `json:"mode"`
	Caller     string        `json:"caller"`
	CallerKind string        `json:"callerKind"`
	CallerID   *string       `json:"callerId"`
	State      jobstate.Job  `json:"state"`
	Why        *string       `json:"why"`
	Created    string        `json:"created"`
	Started    *string       `json:"started"`
	Ended      *string       `json:"ended"`
	Expires    string        `json:"expires"`
	Total      int           `json:"total"`
	jobs.Counts
	Percent      int            `json:"percent"`
	Rate         *float64       `json:"rate"`
	Remaining    *int           `json:"remaining"`
	Separator    *string        `json:"separator"`
	Retries      *string        `json:"retries"`
	Undoes       *string        `json:"undoes"`
	Problems     []jobs.Problem `json:"problems"`
	MoreProblems int            `json:"moreProblems"`
}

func show(p *jobs.Progress) shownJob {
	stamp := func(t time.Time) *string {
		if t.IsZero() {
			return nil
		}
		text := t.Format(time.RFC3339Nano)
		return &text
	}
	shown := shownJob{
		ID: p.ID, Kind: "list", Name: schema.OrNull(p.Name), Operation: schema.OrNull(p.Operation),
		Mode: p.Mode, Caller: p.Caller.Name, CallerKind: p.Caller.Kind, CallerID: schema.OrNull(p.Caller.ID),
		State: p.State, Why: schema.OrNull(string(p.Why)),
		Created: *stamp(p.Created), Started: stamp(p.Started), Ended: stamp(p.Ended), Expires: *stamp(p.Expires),
		Total: p.Total, Counts: p.Counts,
		Percent: p.Percent(), Separator: schema.OrNull(p.List.Separator),
		Retries: schema.OrNull(p.Retries), Undoes: schema.OrNull(p.Undoes),
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

// Entry returns the webhook message for a finished job, for [jobs.Options].
func Entry(job *jobs.Job) []byte {
	return schema.JSON(map[string]any{"type": "job", "data": show(&jobs.Progress{Job: *job})})
}

// shownItem is an item as shown in answers.
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
	Account   *string       `json:"account"`
	Reason    *string       `json:"reason"`
	Since     *string       `json:"since"`
}

func showItem(spec *jobs.Spec, result jobs.Result) shownItem {
	shown := shownItem{
		Line: spec.Line, ID: schema.OrNull(spec.ID), Operation: spec.Operation, State: result.State,
		Code: schema.OrNull(result.Code), Message: schema.OrNull(result.Message),
		ChangeID: schema.OrNull(result.ChangeID), GUID: schema.OrNull(result.GUID),
		Plan: schema.OrNull(result.Plan), Attempts: result.Attempts,
	}
	if found := spec.Found; found != nil {
		shown.Account, shown.Reason, shown.Since = &found.Account, &found.Reason, &found.Since
	}
	return shown
}

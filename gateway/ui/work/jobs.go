package work

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Job is a job in the API.
type Job struct {
	ID, Caller, CallerKind, CallerID          string
	State, Mode, Created                      string
	Name, Operation, Why, Started, Ended      string
	Total, Waiting, Running, Done, Noop       int
	Failed, Unknown, Skipped, NotRun, Percent int
	Rate                                      float64
	Remaining                                 int
	Problems                                  []jobProblem
	MoreProblems                              int
}

type jobProblem struct {
	Line, Column       int
	ID, Field, Message string
	Called             texts.Text `json:"-"` // label of the field
	Said               texts.Text `json:"-"` // the message in the reader's language
}

// jobItem is the outcome of an item in a job.
type jobItem struct {
	Line              int
	ID, Code, Message string
	Operation, State  string
	Plan              string // id of the plan from the dry run of the item
}

// title returns the name of the job for people.
func (j Job) title() texts.Text {
	if j.Name != "" {
		return texts.Raw(j.Name)
	}
	if f := form.Of(j.Operation); f != nil {
		return actionIn(f)
	}
	return texts.Of("job.several")
}

// owner returns the identity of the job's submitter, the only caller that may control the job.
func (j Job) owner() identity.ID {
	return identity.Who{Name: j.Caller, Kind: j.CallerKind, ID: j.CallerID}.Identity()
}

// who returns the name of the owner for people.
func (j Job) who() string { return say.CallerText(j.Caller, j.CallerKind) }

// why returns the reason why the job is held or was stopped, or an empty text if it is neither.
func (j Job) why() texts.Text { return say.WordOf("job.why", j.Why).Text }

// over returns the number of items that have ended.
func (j Job) over() int { return j.Total - j.Waiting - j.Running }

// open reports whether the job may still change its state.
func (j Job) open() bool { return !jobstate.Job(j.State).Ended() }

// progress is the progress of a job.
type progress struct {
	Text      texts.Text
	Percent   int
	Max, Made int // number of items with permanent changes; if Max is zero, no bar is shown
}

// Modes maps modes of jobs to the keys of their texts below "job.". Only [jobstate.Run] makes changes.
var Modes = map[jobstate.Mode]string{
	jobstate.Run: "run", jobstate.Validate: "validate", jobstate.DryRun: "dryRun",
}

func (j Job) mode() string { return cmp.Or(Modes[jobstate.Mode(j.Mode)], Modes[jobstate.Run]) }

// Progress returns the progress of the job. A rejected list has no progress, because its items are not run.
func (j Job) Progress() progress {
	if jobstate.Job(j.State) == jobstate.Rejected {
		return progress{Text: texts.Of("job.nothing")}
	}
	p := progress{
		Text: texts.Of(
			"job."+j.mode()+".progress", "n", j.over(), "of", j.Total, "percent", j.Percent,
		), Max: j.Total, Percent: j.Percent,
	}
	if j.mode() == Modes[jobstate.Run] {
		p.Made = j.over()
	}
	return p
}

// facts returns the facts on a job's page.
func (j Job) facts() []say.Fact {
	counted := func(n int, more int, key string) texts.Text {
		if more > 0 {
			return texts.Of(key, "n", n, "more", more)
		}
		return texts.Of("job.count", "n", n)
	}
	all := []say.Fact{
		{Label: texts.Of("job.state"), Words: []say.Word{say.WordOf("job.state", j.State)}, Text: j.why()},
		{Label: texts.Of("job.submitted"), Time: j.Created, Text: texts.Of("fact.by", "who", j.who())},
		{Label: texts.Of("job.started"), Time: j.Started}, {Label: texts.Of("job.ended"), Time: j.Ended},
	}
	if j.Rate > 0 {
		all = append(all, say.Fact{Label: texts.Of("job.rate"), Text: texts.Raw(fmt.Sprint(j.Rate))})
	}
	if j.Remaining > 0 {
		all = append(
			all, say.Fact{Label: texts.Of("job.remaining"), Text: texts.Of("job.seconds", "n", j.Remaining)},
		)
	}
	all = append(all,
		say.Fact{
			Label: texts.Of("job." + j.mode() + ".done"), Text: counted(j.Done, j.Noop, "job."+j.mode()+".noop"),
		},
		say.Fact{Label: texts.Of("job." + j.mode() + ".failed"), Text: counted(j.Failed, 0, "")},
	)
	if j.Unknown > 0 {
		all = append(all, say.Fact{Label: texts.Of("job.unknown"), Text: counted(j.Unknown, 0, "")})
	}
	if j.NotRun+j.Skipped > 0 {
		all = append(
			all, say.Fact{Label: texts.Of("job.notRun"), Text: counted(j.NotRun, j.Skipped, "job.leftOut")},
		)
	}
	all = append(all, say.Fact{Label: texts.Of("job.number"), Text: texts.Raw(j.ID)})
	return slices.DeleteFunc(all, say.Fact.Nothing)
}

// jobControl is an action on a job.
type jobControl struct {
	ID   string // the key of its label is "job.do." followed by ID
	Main bool
	Asks texts.Text // irreversible effect to show before the button; empty if there is none

	in        []jobstate.Job // states in which it is offered
	of        func(Job) bool // whether the action applies to a job; nil means always
	scope     identity.Scope
	Operation string
	values    call.Values // parameters other than the job
	leaves    bool        // the job's page is left, because the job is removed or another one continues
}

// Label returns the text of the button.
func (k jobControl) Label() texts.Text { return texts.Of("job.do." + k.ID) }

var (
	openStates = []jobstate.Job{
		jobstate.Ready, jobstate.Held, jobstate.Running, jobstate.Paused, jobstate.Stopping,
	}
	endStates = []jobstate.Job{jobstate.Done, jobstate.Failed, jobstate.Cancelled, jobstate.Rejected}

	JobControls = []jobControl{
		{
			ID: "start", Main: true,
			in: []jobstate.Job{jobstate.Ready}, scope: identity.JobSubmit, Operation: "job.start",
		},
		{
			ID: "pause",
			in: []jobstate.Job{jobstate.Running, jobstate.Held}, scope: identity.JobSubmit, Operation: "job.pause",
		},
		{
			ID: "resume", Main: true,
			in: []jobstate.Job{jobstate.Paused}, scope: identity.JobSubmit, Operation: "job.resume",
		},
		{
			ID: "cancel",
			in: openStates, scope: identity.JobSubmit, Operation: "job.cancel",
		},
		{
			ID:   "retry",
			Asks: texts.Of("job.ask.retry"),
			in:   endStates, of: Job.leftSomething, scope: identity.JobSubmit, Operation: "job.retry",
			values: call.Values{"State": "failed,unknown,not_run"}, leaves: true,
		},
		{
			ID:   "undo",
			Asks: texts.Of("job.ask.undo"),
			in:   endStates, of: Job.changedSomething, scope: identity.ChangeUndo, Operation: "job.undo",
			values: call.Values{"DryRun": "true"}, leaves: true,
		},
		{
			ID:   "remove",
			Asks: texts.Of("job.ask.remove"),
			in:   endStates, scope: identity.JobSubmit, Operation: "job.remove", leaves: true,
		},
	}
)

// leftSomething reports whether items of the job failed, have an unknown outcome or were not run.
func (j Job) leftSomething() bool {
	return jobstate.Mode(j.Mode) == jobstate.Run && j.Failed+j.Unknown+j.NotRun > 0
}

// changedSomething reports whether the job has made changes.
func (j Job) changedSomething() bool { return jobstate.Mode(j.Mode) == jobstate.Run && j.Done > 0 }

// controls returns the actions that the person can use on the job in its current state.
func controls(c *frame.Visit, j Job) (all []jobControl) {
	for _, control := range JobControls {
		of := control.of == nil || control.of(j)
		if of && slices.Contains(control.in, jobstate.Job(j.State)) && c.May(control.scope) {
			all = append(all, control)
		}
	}
	return all
}

// JobID is the name of the parameter that names a job.
const JobID = "JobId"

// mostItems limits the items on a job's page.
const mostItems = 50

// notDone contains the states of items that were not completed. People look at these items first.
var notDone = []string{"failed", "unknown", "not_run", "skipped"}

// JobPage is the page of a job.
type JobPage struct {
	ID           string
	Open         bool
	Events       string // address of the job's event stream; empty if the job does not continue by itself
	Progress     progress
	Facts        []say.Fact
	Controls     []jobControl
	Problems     []jobProblem
	MoreProblems int
	Items        []itemRow
	More         bool
	Would        []wouldRow // changes that a dry run has found
	WouldMore    bool
}

// ShowJob shows one job and the outcome of each item.
func ShowJob(c *frame.Visit, failed *frame.Answer) {
	at, a := jobAt(c)
	if at == nil {
		c.Failed(a)
		return
	}
	j := *at
	shown := frame.Page{Title: j.title(), Section: "jobs", Alert: frame.AlertOf(failed)}
	status := http.StatusOK
	if failed != nil {
		status = failed.Status
	}
	body := JobPage{
		ID: j.ID, Open: j.open(), Progress: j.Progress(), Facts: j.facts(),
		Problems: j.Problems, MoreProblems: j.MoreProblems,
	}
	for i := range body.Problems {
		problem := &body.Problems[i]
		problem.Called = texts.Raw(problem.Field)
		problem.Said = texts.Error("invalid_request", problem.Message)
		if f := form.Of(j.Operation); f != nil && f.Field(problem.Field) != nil {
			problem.Called = texts.Each(f.Field(problem.Field).Label)
			german := f.Problem(problem.Field, problem.Message, "").Text[texts.German]
			problem.Said = texts.Each([2]string{problem.Message, german})
		}
	}
	if j.moves() {
		body.Events = say.Address("jobs", j.ID, "events")
	}
	if j.owner() == c.Identity() {
		body.Controls = controls(c, j)
	}
	items, more := itemsIn(c, j, "")
	body.Would, body.WouldMore = would(c, j, items), more
	made := madeAt(items)
	for _, state := range notDone {
		items, more := itemsIn(c, j, state)
		for _, item := range items {
			body.Items = append(body.Items, itemRowOf(j, item, made))
		}
		body.More = body.More || more
	}
	shown.Body = body
	if !j.open() && j.owner() == c.Identity() {
		seen(c, j.ID)
	}
	c.Page(status, "job", shown)
}

// ControlJob runs an action on a job.
func ControlJob(c *frame.Visit) {
	action := c.R.PathValue("action")
	i := slices.IndexFunc(JobControls, func(control jobControl) bool { return control.ID == action })
	if i < 0 {
		c.NotFound(c.W, c.R)
		return
	}
	control, id := &JobControls[i], c.R.PathValue("id")
	values := call.Values{JobID: id}
	maps.Copy(values, control.values)
	a := c.Call(control.Operation, values)
	next := frame.Records[Job](a)
	for _, j := range next {
		if a.Ok() && j.moves() {
			watch(c, j.ID)
		}
	}
	switch {
	case !a.Ok():
		ShowJob(c, a)
	case !control.leaves:
		c.GoTo(say.Address("jobs", id))
	case len(next) == 1 && next[0].ID != id: // another job continues
		c.GoTo(say.Address("jobs", next[0].ID))
	default:
		c.GoTo(say.Base + "jobs")
	}
}

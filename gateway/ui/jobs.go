package ui

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/texts"
)

// job is a job of the API.
type job struct {
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
}

// jobItem is the outcome of an item.
type jobItem struct {
	Line              int
	ID, Code, Message string
	Operation, State  string
	Plan              string // that its dry run has made
}

// title is how people call the job.
func (j job) title() texts.Text {
	if name := cmp.Or(j.Name, j.Operation); name != "" {
		return texts.Raw(name)
	}
	return texts.Of("job.several")
}

// owner returns who has submitted the job, and alone may control it.
func (j job) owner() identity.ID {
	return identity.Who{Name: j.Caller, Kind: j.CallerKind, ID: j.CallerID}.Identity()
}

// who is how people call the owner.
func (j job) who() string { return callerText(j.Caller, j.CallerKind) }

// why says why the job is held or was stopped; empty: it is not.
func (j job) why() texts.Text { return wordOf("job.why", j.Why).Text }

// over returns how many items have ended.
func (j job) over() int { return j.Total - j.Waiting - j.Running }

// open reports whether something may still happen to the job.
func (j job) open() bool { return !jobstate.Job(j.State).Ended() }

// progress is how far a job has come.
type progress struct {
	Text      texts.Text
	Max, Made int // of items that are changed for good; Max zero: no bar is shown
}

// modes have the words for what is done with the items of a list, from the table below "job." and
// their key. Nothing is changed before the mode is run, however many items were looked at.
var modes = map[jobstate.Mode]string{
	jobstate.Run: "run", jobstate.Validate: "validate", jobstate.DryRun: "dryRun",
}

func (j job) mode() string { return cmp.Or(modes[jobstate.Mode(j.Mode)], modes[jobstate.Run]) }

// progress returns how far the job has come. A list with mistakes has no items that could
// end.
func (j job) progress() progress {
	if jobstate.Job(j.State) == jobstate.Rejected {
		return progress{Text: texts.Of("job.nothing")}
	}
	p := progress{
		Text: texts.Of(
			"job."+j.mode()+".progress", "n", j.over(), "of", j.Total, "percent", j.Percent,
		), Max: j.Total,
	}
	if j.mode() == modes[jobstate.Run] {
		p.Made = j.over()
	}
	return p
}

// facts returns the lines of a job's page.
func (j job) facts() []fact {
	counted := func(n int, more int, key string) texts.Text {
		if more > 0 {
			return texts.Of(key, "n", n, "more", more)
		}
		return texts.Of("job.count", "n", n)
	}
	all := []fact{
		{Label: texts.Of("job.state"), Words: []word{wordOf("job.state", j.State)}, Text: j.why()},
		{Label: texts.Of("job.submitted"), Time: j.Created, Text: texts.Of("fact.by", "who", j.who())},
		{Label: texts.Of("job.started"), Time: j.Started}, {Label: texts.Of("job.ended"), Time: j.Ended},
	}
	if j.Rate > 0 {
		all = append(all, fact{Label: texts.Of("job.rate"), Text: texts.Raw(fmt.Sprint(j.Rate))})
	}
	if j.Remaining > 0 {
		all = append(all, fact{Label: texts.Of("job.remaining"), Text: texts.Of("job.seconds", "n", j.Remaining)})
	}
	all = append(all,
		fact{Label: texts.Of("job." + j.mode() + ".done"), Text: counted(j.Done, j.Noop, "job."+j.mode()+".noop")},
		fact{Label: texts.Of("job." + j.mode() + ".failed"), Text: counted(j.Failed, 0, "")},
		fact{Label: texts.Of("job.unknown"), Text: counted(j.Unknown, 0, "")},
		fact{Label: texts.Of("job.notRun"), Text: counted(j.NotRun, j.Skipped, "job.leftOut")},
		fact{Label: texts.Of("job.number"), Text: texts.Raw(j.ID)})
	return slices.DeleteFunc(all, fact.nothing)
}

// jobRow is a job in the list.
type jobRow struct {
	ID, Created, Caller           string
	Title, Why, Progress, NotDone texts.Text
	State                         word
}

func (j job) row() jobRow {
	row := jobRow{
		ID: j.ID, Created: j.Created, Title: j.title(), Caller: j.who(), Why: j.why(),
		Progress: j.progress().Text, State: wordOf("job.state", j.State),
	}
	if j.Failed+j.Unknown > 0 {
		row.NotDone = texts.Of("job."+j.mode()+".notDone", "failed", j.Failed, "unknown", j.Unknown)
	}
	return row
}

// jobControl is what people can do with a job.
type jobControl struct {
	ID   string // its label in the table stands below "job.do."
	Main bool
	Asks texts.Text // what it does for good, which is shown before the button; empty: nothing

	in        []jobstate.Job // the states in which it is offered
	of        func(job) bool // whether it is of use; nil: it is
	scope     identity.Scope
	operation string
	values    call.Values // besides the job
	leaves    bool        // the job is gone, or another one goes on
}

// Label is the text of the button.
func (k jobControl) Label() texts.Text { return texts.Of("job.do." + k.ID) }

var (
	openStates = []jobstate.Job{
		jobstate.Ready, jobstate.Held, jobstate.Running, jobstate.Paused, jobstate.Stopping,
	}
	endStates = []jobstate.Job{jobstate.Done, jobstate.Failed, jobstate.Cancelled, jobstate.Rejected}

	jobControls = []jobControl{
		{
			ID: "start", Main: true,
			in: []jobstate.Job{jobstate.Ready}, scope: identity.JobSubmit, operation: "job.start",
		},
		{
			ID: "pause",
			in: []jobstate.Job{jobstate.Running, jobstate.Held}, scope: identity.JobSubmit, operation: "job.pause",
		},
		{
			ID: "resume", Main: true,
			in: []jobstate.Job{jobstate.Paused}, scope: identity.JobSubmit, operation: "job.resume",
		},
		{
			ID: "cancel",
			in: openStates, scope: identity.JobSubmit, operation: "job.cancel",
		},
		{
			ID:   "retry",
			Asks: texts.Of("job.ask.retry"),
			in:   endStates, of: job.leftSomething, scope: identity.JobSubmit, operation: "job.retry",
			values: call.Values{"State": "failed,unknown,not_run"}, leaves: true,
		},
		{
			ID:   "undo",
			Asks: texts.Of("job.ask.undo"),
			in:   endStates, of: job.changedSomething, scope: identity.ChangeUndo, operation: "job.undo",
			values: call.Values{"DryRun": "true"}, leaves: true,
		},
		{
			ID:   "remove",
			Asks: texts.Of("job.ask.remove"),
			in:   endStates, scope: identity.JobSubmit, operation: "job.remove", leaves: true,
		},
	}
)

// leftSomething reports whether items of the job ran and were not done, or were not run.
func (j job) leftSomething() bool {
	return jobstate.Mode(j.Mode) == jobstate.Run && j.Failed+j.Unknown+j.NotRun > 0
}

// changedSomething reports whether the job has made changes.
func (j job) changedSomething() bool { return jobstate.Mode(j.Mode) == jobstate.Run && j.Done > 0 }

// controls returns what the person can do with the job in its state.
func controls(c *visit, j job) (all []jobControl) {
	for _, control := range jobControls {
		of := control.of == nil || control.of(j)
		if of && slices.Contains(control.in, jobstate.Job(j.State)) && c.may(control.scope) {
			all = append(all, control)
		}
	}
	return all
}

// jobID is the parameter that names a job.
const jobID = "JobId"

// mostItems limits the items on a page.
const mostItems = 50

// notDone are the states of items that people look at first.
var notDone = []string{"failed", "unknown", "not_run", "skipped"}

// showJobs shows the jobs that the person may see, and the form of a list that was not accepted, with the
// refusal; nil: none was sent.
func showJobs(c *visit, failed *listForm, refused *answer) {
	shown := page{Title: texts.Of("page.jobs"), Section: "jobs"}
	status := http.StatusOK
	a := c.listed(list{
		operation: "job.list", key: "id", before: newest, most: 50,
		values: call.Values{"After": c.r.URL.Query().Get("after")},
	})
	if shown.Alert = alertOf(a); shown.Alert != nil {
		status = a.Status
	}
	var rows []jobRow
	for _, j := range records[job](a) {
		rows = append(rows, j.row())
	}
	if len(rows) == 0 {
		shown.Empty = &empty{Text: texts.Of("job.none")}
	}
	if failed != nil {
		shown.Alert, status = alertOf(refused), refused.Status
	}
	shown.Body = struct {
		Jobs   []jobRow
		Next   string
		Submit *listForm
	}{rows, a.Next, listFormOf(c, failed)}
	c.page(status, "jobs", shown)
}

// jobPage is the page of a job.
type jobPage struct {
	ID           string
	Open         bool
	Progress     progress
	Facts        []fact
	Controls     []jobControl
	Problems     []jobProblem
	MoreProblems int
	Items        []jobItem
	More         bool
	Would        []wouldRow // what a dry run has shown
	WouldMore    bool
}

// showJob shows one job and the outcome of each item.
func showJob(c *visit, failed *answer) {
	id := c.r.PathValue("id")
	a := c.get("job.get", jobID, id)
	found := records[job](a)
	if !a.ok() || len(found) == 0 {
		c.failed(a)
		return
	}
	j := found[0]
	shown := page{Title: j.title(), Section: "jobs", Alert: alertOf(failed)}
	status := http.StatusOK
	if failed != nil {
		status = failed.Status
	}
	body := jobPage{
		ID: j.ID, Open: j.open(), Progress: j.progress(), Facts: j.facts(),
		Problems: j.Problems, MoreProblems: j.MoreProblems,
	}
	if j.owner() == c.identity() {
		body.Controls = controls(c, j)
	}
	body.Would, body.WouldMore = would(c, j)
	for _, state := range notDone {
		items := c.listed(list{
			operation: "job.items", key: "line", before: byLine, most: mostItems,
			values: call.Values{jobID: id, "State": state},
		})
		body.Items = append(body.Items, records[jobItem](items)...)
		body.More = body.More || items.Next != ""
	}
	shown.Body = body
	c.page(status, "job", shown)
}

// controlJob does something with a job.
func controlJob(c *visit) {
	action := c.r.PathValue("action")
	i := slices.IndexFunc(jobControls, func(control jobControl) bool { return control.ID == action })
	if i < 0 {
		c.notFound(c.w, c.r)
		return
	}
	control, id := &jobControls[i], c.r.PathValue("id")
	values := call.Values{jobID: id}
	maps.Copy(values, control.values)
	a := c.call(control.operation, values)
	next := records[job](a)
	switch {
	case !a.ok():
		showJob(c, a)
	case !control.leaves:
		c.goTo(address("jobs", id))
	case len(next) == 1 && next[0].ID != id: // the one that goes on
		c.goTo(address("jobs", next[0].ID))
	default:
		c.goTo(base + "jobs")
	}
}

// listFormOf returns the form of a list, with what was sent before if that was not accepted. Nil: the
// person may not submit one.
func listFormOf(c *visit, failed *listForm) *listForm {
	if !c.may(identity.JobSubmit) {
		return nil
	}
	form := &listForm{}
	if failed != nil {
		form = failed
		form.Open = true
	}
	for _, change := range c.Changes {
		if f := formOf(change.ID); f != nil && c.may(change.Scope) {
			form.Changes = append(form.Changes, choice{ID: change.ID, Label: actionIn(f)})
		}
	}
	form.Once = signin.NewID()
	form.Changes, form.Modes = chosen(form.Changes, form.Operation), chosen(listModes, form.Mode)
	return form
}

// givenList returns the list of the form: the file, or else the text.
func givenList(c *visit) (name string, document []byte, err error) {
	file, header, err := c.r.FormFile("file")
	if err == nil {
		defer file.Close()
		document, err = io.ReadAll(file)
		if err != nil || len(document) > 0 {
			return header.Filename, document, err
		}
	}
	return "", []byte(c.r.PostForm.Get("list")), nil
}

// submitList submits a list as a job of the person.
func submitList(c *visit) {
	given := c.r.PostForm
	form := &listForm{
		Name: given.Get("name"), Operation: given.Get("operation"),
		Mode: given.Get("mode"), List: given.Get("list"),
	}
	file, document, err := givenList(c)
	if err != nil || len(document) == 0 {
		refused := &answer{Status: http.StatusBadRequest, Error: &failure{
			Message: texts.Of("list.missing").In(c.lookOf(c.r).lang),
		}}
		showJobs(c, form, refused)
		return
	}
	values := call.Values{"Mode": cmp.Or(form.Mode, string(jobstate.DryRun))}
	for name, value := range map[string]string{"Operation": form.Operation, "Name": cmp.Or(form.Name, file)} {
		if value != "" {
			values[name] = value
		}
	}
	media := mediaOf(file, document)
	if f := formOf(form.Operation); f != nil && media == "text/csv" {
		document = f.Named(document)
	}
	a := send(c, "job.submit", call.Call{
		Input: uploaded{values, document, media}, Keys: []string{given.Get("once")},
	})
	submitted := records[job](a)
	if !a.ok() || len(submitted) != 1 {
		showJobs(c, form, a)
		return
	}
	c.goTo(address("jobs", submitted[0].ID))
}

package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema/jobstate"
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

// jobItem is what became of an item.
type jobItem struct {
	Line              int
	ID, Code, Message string
	Operation, State  string
}

// title is how people call the job.
func (j job) title() string { return cmp.Or(j.Name, j.Operation, "Several operations") }

// owner returns who has submitted the job, and alone may control it.
func (j job) owner() identity.ID {
	return identity.Who{Name: j.Caller, Kind: j.CallerKind, ID: j.CallerID}.Identity()
}

// who is how people call the owner.
func (j job) who() string { return callerText(j.Caller, j.CallerKind) }

// over returns how many items have ended.
func (j job) over() int { return j.Total - j.Waiting - j.Running }

// open reports whether something may still happen to the job.
func (j job) open() bool { return !jobstate.Job(j.State).Ended() }

// progress is how far a job has come.
type progress struct {
	Text      string
	Max, Made int // of items that are changed for good; Max zero: no bar is shown
}

// modeWords are the words for what is done with the items of a list. Nothing is changed
// before the mode is run, however many items were looked at.
type modeWords struct {
	progress                    string // with the items that have ended, and all
	done, noop, failed, unknown string
	changes                     bool
}

var modes = map[jobstate.Mode]modeWords{
	jobstate.Run:      {"%d of %d items", "Done", "and %d that were so already", "Failed", "Unknown", true},
	jobstate.Validate: {"%d of %d items done", "Done", "and %d that are so already", "Failed", "Unknown", false},
	jobstate.DryRun: {
		"%d of %d items checked, none is changed", "Would change", "and %d that are so already", "Would fail", "Unknown", false,
	},
}

func (j job) words() modeWords {
	if w, known := modes[jobstate.Mode(j.Mode)]; known {
		return w
	}
	return modes[jobstate.Run]
}

// progress returns how far the job has come. A list with mistakes has no items that could
// end.
func (j job) progress() progress {
	if jobstate.Job(j.State) == jobstate.Rejected {
		return progress{Text: "Nothing was run"}
	}
	w := j.words()
	p := progress{Text: fmt.Sprintf(w.progress, j.over(), j.Total), Max: j.Total}
	if w.changes {
		p.Made = j.over()
		p.Text += fmt.Sprintf(", %d %%", j.Percent)
	}
	return p
}

// facts returns the lines of a job's page.
func (j job) facts() []fact {
	w := j.words()
	counted := func(n int, more int, text string) string {
		said := strconv.Itoa(n)
		if more > 0 {
			said += ", " + fmt.Sprintf(text, more)
		}
		return said
	}
	all := []fact{
		{Label: "State", Words: []word{wordOf("job.state", j.State)}, Text: j.Why},
		{Label: "Submitted", Time: j.Created, Text: "by " + j.who()},
		{Label: "Started", Time: j.Started}, {Label: "Ended", Time: j.Ended},
	}
	if j.Rate > 0 {
		all = append(all, fact{Label: "Items a second", Text: fmt.Sprint(j.Rate)})
	}
	if j.Remaining > 0 {
		all = append(all, fact{Label: "Remaining", Text: fmt.Sprintf("about %d s", j.Remaining)})
	}
	all = append(all,
		fact{Label: w.done, Text: counted(j.Done, j.Noop, w.noop)},
		fact{Label: w.failed, Text: strconv.Itoa(j.Failed)},
		fact{Label: w.unknown, Text: strconv.Itoa(j.Unknown)},
		fact{Label: "Not run", Text: counted(j.NotRun, j.Skipped, "and %d left out")},
		fact{Label: "Number", Text: j.ID})
	return slices.DeleteFunc(all, fact.nothing)
}

// jobRow is a job in the list.
type jobRow struct {
	ID, Created, Title, Caller, Why, Progress, NotDone string
	State                                              word
}

func (j job) row() jobRow {
	row := jobRow{
		ID: j.ID, Created: j.Created, Title: j.title(), Caller: j.who(), Why: j.Why,
		Progress: j.progress().Text, State: wordOf("job.state", j.State),
	}
	if j.Failed+j.Unknown > 0 {
		w := j.words()
		failed, unknown := strings.ToLower(w.failed), strings.ToLower(w.unknown)
		row.NotDone = fmt.Sprintf("%d %s, %d %s", j.Failed, failed, j.Unknown, unknown)
	}
	return row
}

// jobControl is what people can do with a job.
type jobControl struct {
	ID, Label string
	Main      bool
	in        []jobstate.Job // the states in which it is offered; none: until the job has ended
	operation string
}

var jobControls = []jobControl{
	{"start", "Start", true, []jobstate.Job{jobstate.Ready}, "job.start"},
	{"pause", "Pause", false, []jobstate.Job{jobstate.Running, jobstate.Held}, "job.pause"},
	{"resume", "Go on", true, []jobstate.Job{jobstate.Paused}, "job.resume"},
	{"cancel", "Cancel what was not begun", false, nil, "job.cancel"},
}

// controls returns what can be done with the job in its state.
func (j job) controls() []jobControl {
	var all []jobControl
	for _, c := range jobControls {
		if j.open() && (len(c.in) == 0 || slices.Contains(c.in, jobstate.Job(j.State))) {
			all = append(all, c)
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

// jobs shows the jobs that the person may see.
func (c *visit) jobs() {
	shown := page{Title: "Jobs", Section: "jobs"}
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
		shown.Empty = &empty{Text: "There are no jobs that you may see."}
	}
	shown.Body = struct {
		Jobs []jobRow
		Next string
	}{rows, a.Next}
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
}

// job shows one job and what became of its items.
func (c *visit) job(failed *answer) {
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
	if c.may(identity.JobSubmit) && j.owner() == c.identity() {
		body.Controls = j.controls()
	}
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

// control does something with a job.
func (c *visit) control() {
	action := c.r.PathValue("action")
	i := slices.IndexFunc(jobControls, func(control jobControl) bool { return control.ID == action })
	if i < 0 {
		c.notFound(c.w, c.r)
		return
	}
	if a := c.get(jobControls[i].operation, jobID, c.r.PathValue("id")); !a.ok() {
		c.job(a)
		return
	}
	c.goTo(address("jobs", c.r.PathValue("id")))
}

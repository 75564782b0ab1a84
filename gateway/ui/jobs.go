package ui

import (
	"net/http"

	"adgateway/gateway/auth"
)

// job is a job as the API shows it.
type job struct {
	ID, Caller, State, Mode, Created          string
	Name, Operation, Why, Started, Ended      *string
	Total, Waiting, Running, Done, Noop       int
	Failed, Unknown, Skipped, NotRun, Percent int
	Rate                                      *float64
	Remaining                                 *int
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
	ID, Code, Message *string
	Operation, State  string
}

// Title is how people call the job.
func (j job) Title() string {
	if j.Name != nil {
		return *j.Name
	}
	if j.Operation != nil {
		return *j.Operation
	}
	return "Several operations"
}

// Ended items of all.
func (j job) Over() int { return j.Total - j.Waiting - j.Running }

// Open reports whether something may still happen to the job.
func (j job) Open() bool {
	switch j.State {
	case "done", "failed", "cancelled", "rejected":
		return false
	}
	return true
}

// mostItems limits the items on a page.
const mostItems = "50"

// notDone are the states of items that people look at first.
var notDone = []string{"failed", "unknown", "not_run", "skipped"}

// jobs shows the jobs that the person may see.
func (c *visit) jobs() {
	shown := page{Title: "Jobs", Section: "jobs"}
	status := http.StatusOK
	a := c.get("/api/Jobs", "Limit", "50", "After", c.r.URL.Query().Get("after"))
	if shown.Alert = alertOf(a); shown.Alert != nil {
		status = a.Status
	}
	shown.Body = struct {
		Jobs []job
		Next string
	}{records[job](a), a.Next}
	c.page(status, "jobs", shown)
}

// job shows one job and what became of its items.
func (c *visit) job(failed *answer) {
	path := "/api/Jobs/" + c.r.PathValue("id")
	a := c.get(path)
	found := records[job](a)
	if !a.ok() || len(found) == 0 {
		c.failed(a)
		return
	}
	shown := page{Title: found[0].Title(), Section: "jobs", Alert: alertOf(failed)}
	status := http.StatusOK
	if failed != nil {
		status = failed.Status
	}
	body := struct {
		Job   job
		Items []jobItem
		More  bool
		Mine  bool
	}{Job: found[0], Mine: c.may(auth.JobSubmit) && found[0].Caller == c.session.Name}
	for _, state := range notDone {
		items := c.get(path+"/Items", "State", state, "Limit", mostItems)
		body.Items = append(body.Items, records[jobItem](items)...)
		body.More = body.More || items.Next != ""
	}
	shown.Body = body
	c.page(status, "job", shown)
}

// jobControls are what people can do with a job, by the last part of the address.
var jobControls = map[string]struct{ method, verb string }{
	"start": {http.MethodPut, "/Start"}, "pause": {http.MethodPut, "/Pause"}, "resume": {http.MethodPut, "/Resume"}, "cancel": {http.MethodDelete, ""},
}

// control does something with a job.
func (c *visit) control() {
	control, known := jobControls[c.r.PathValue("action")]
	if !known {
		c.notFound(c.w, c.r)
		return
	}
	address := "/api/Jobs/" + c.r.PathValue("id")
	if a := c.call(control.method, address+control.verb, nil, nil); !a.ok() {
		c.job(a)
		return
	}
	http.Redirect(c.w, c.r, base+"jobs/"+c.r.PathValue("id"), http.StatusSeeOther)
}

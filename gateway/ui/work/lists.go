package work

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
)

// A list is submitted as a file or as text. It runs as a job that belongs to the person and continues after
// the session has ended.

// Lists is the list of submitted lists.
var Lists = table.Listing{
	Path: "jobs", Icon: "list", Scope: identity.JobRead, Operation: "job.list",
	Key: "id", Before: frame.Newest, Pages: true, Rows: 50, AsRead: true,
	Columns: []table.Column{
		{Name: "when", Class: "num", Cell: table.TimeCell("created"), Order: "created"},
		{Name: "what", Class: "nm", Cell: ofJob(func(j Job) table.Cell {
			return table.Cell{Text: j.title(), Link: say.Address("jobs", j.ID)}
		}), Order: "name operation"},
		{Name: "by", Cell: ofJob(func(j Job) table.Cell {
			return table.Cell{Text: texts.Raw(j.who())}
		}), Order: "caller"},
		{Name: "progress", Cell: ofJob(func(j Job) table.Cell { return table.Cell{Text: j.Progress().Text} })},
		{Name: "notDone", Cell: ofJob(func(j Job) table.Cell { return table.Cell{Text: j.notDone()} })},
		{Name: "state", Class: "fit last", Cell: ofJob(Job.stateCell), Order: "state"},
	},
	Views: []table.View{
		{ID: "ready", Values: stateIs(jobstate.Ready)}, {ID: "running", Values: stateIs(jobstate.Running)},
		{ID: "done", Values: stateIs(jobstate.Done)}, {ID: "failed", Values: stateIs(jobstate.Failed)},
		{ID: "rejected", Values: stateIs(jobstate.Rejected)},
	},
	Above: func(c *frame.Visit) any {
		if f := listFormOf(c, keptForm(c)); f != nil {
			return f
		}
		return nil
	},
}

// keptForm returns the form with the values in the address, or of the stored list that the address names. It
// returns nil if there are none. A file must be chosen again.
func keptForm(c *frame.Visit) *listForm {
	given := c.R.URL.Query()
	id := given.Get(sheetPart)
	switch {
	case given.Get(frame.TypedName) != "":
		return &listForm{
			Name: given.Get("name"), Operation: given.Get("operation"), Mode: given.Get("mode"), List: id,
		}
	case id == "":
		return nil
	}
	kept, _, document, err := sheetAt(c, id)
	if err != nil {
		return nil
	}
	f := &listForm{Name: kept.Name, Operation: kept.Operation, Mode: kept.Mode}
	if kept.File == "" {
		f.List = string(document)
	}
	return f
}

// stateIs returns the parameters that select jobs in a state.
func stateIs(state jobstate.Job) map[string]string { return map[string]string{"State": string(state)} }

// ofJob adapts a function of a job to records.
func ofJob(show func(Job) table.Cell) func(say.Record) table.Cell {
	return func(r say.Record) table.Cell {
		var j Job
		text, _ := json.Marshal(r) // it was read from JSON
		_ = json.Unmarshal(text, &j)
		return show(j)
	}
}

// stateCell returns a cell with the state of the job, and the reason for it.
func (j Job) stateCell() table.Cell {
	words := []say.Word{say.WordOf("job.state", j.State)}
	if why := j.why(); !why.Empty() {
		words = append(words, say.Word{Text: why})
	}
	return table.Cell{Words: words}
}

// notDone returns the number of items that failed or whose outcome is unknown, or nil if there are none.
func (j Job) notDone() texts.Text {
	if j.Failed+j.Unknown == 0 {
		return nil
	}
	return texts.Of("job."+j.mode()+".notDone", "failed", j.Failed, "unknown", j.Unknown)
}

// listForm is the form that submits a list.
type listForm struct {
	Once                        string // idempotency key of the submission
	Name, Operation, Mode, List string
	Changes, Modes              []frame.Choice
	// Mistakes at the fields. A list is a file or a text, so only one of them is set.
	FileError, TextError texts.Text
	Open                 bool // open the form, because the list was not accepted
}

// listModes contains the modes in which a list can be submitted.
var listModes = []frame.Choice{
	{ID: string(jobstate.DryRun), Label: texts.Of("list.mode.dryRun")},
	{ID: string(jobstate.Validate), Label: texts.Of("list.mode.validate")},
	{ID: string(jobstate.Run), Label: texts.Of("list.mode.run")},
}

// chosen returns choices with one of them selected.
func chosen(all []frame.Choice, id string) []frame.Choice {
	all = slices.Clone(all)
	for i := range all {
		all[i].Chosen = all[i].ID == id
	}
	return all
}

// uploaded is a list and the parameters of its submission.
type uploaded struct {
	values   call.Values
	document []byte
	media    string
}

// Read implements [call.Input].
func (u uploaded) Read(context.Context) (call.Given, error) {
	return call.Given{Values: map[string]any(u.values), Document: u.document, Media: u.media}, nil
}

// mediaOf returns the media type of a list, based on its file name or its content.
func mediaOf(name string, document []byte) string {
	first, more, _ := bytes.Cut(bytes.TrimSpace(document), []byte("\n"))
	lines := len(more) > 0 && json.Valid(first)
	switch ending := strings.ToLower(filepath.Ext(name)); {
	case ending == ".ndjson", ending == ".jsonl":
		return ops.MediaNDJSON
	case ending == ".json", ending != ".csv" && bytes.HasPrefix(first, []byte("{")):
		if lines {
			return ops.MediaNDJSON
		}
		return ops.MediaJSON
	}
	return ops.MediaCSV
}

// listFormOf returns the form that submits a list, with the values of a refused submission if failed is not
// nil. It returns nil if the person may not submit lists.
func listFormOf(c *frame.Visit, failed *listForm) *listForm {
	if !c.May(identity.JobSubmit) {
		return nil
	}
	form := &listForm{}
	if failed != nil {
		form = failed
		form.Open = true
	}
	for _, change := range c.Changes {
		if f := formOf(change.ID); f != nil && c.May(change.Scope) {
			form.Changes = append(form.Changes, frame.Choice{ID: change.ID, Label: actionIn(f)})
		}
	}
	form.Once = signin.NewID()
	form.Changes, form.Modes = chosen(form.Changes, form.Operation), chosen(listModes, form.Mode)
	return form
}

// givenList returns the submitted list, which is the file or, if there is no file, the text.
func givenList(c *frame.Visit) (name string, document []byte, err error) {
	file, header, err := c.R.FormFile("file")
	if err == nil {
		defer file.Close()
		document, err = io.ReadAll(file)
		if err != nil || len(document) > 0 {
			return header.Filename, document, err
		}
	}
	return "", []byte(c.R.PostForm.Get("list")), nil
}

// SubmitList submits a list as a job that belongs to the person.
func SubmitList(c *frame.Visit) {
	given := c.R.PostForm
	asked := &listForm{
		Name: given.Get("name"), Operation: given.Get("operation"),
		Mode: given.Get("mode"), List: given.Get("list"),
	}
	file, document, err := givenList(c)
	if err != nil || len(document) == 0 {
		refused := &frame.Answer{Status: http.StatusBadRequest, Error: &frame.Failure{
			Message: texts.Of("list.missing").In(c.LookOf(c.R).Lang),
		}}
		table.Refuse(c, &Lists, listFormOf(c, asked), refused)
		return
	}
	if len(document) >= frame.ListLimit {
		if asked.FileError = texts.Of("list.tooLong"); file == "" {
			asked.FileError, asked.TextError = nil, asked.FileError
		}
		refused := &frame.Answer{
			Status: http.StatusRequestEntityTooLarge, Error: &frame.Failure{Message: c.Say("list.tooLong")},
		}
		table.Refuse(c, &Lists, listFormOf(c, asked), refused)
		return
	}
	kept := keptSheet{
		Name: asked.Name, Operation: asked.Operation, Mode: asked.Mode, File: file, Once: given.Get("once"),
		Media: mediaOf(file, document),
	}
	sent, ok := kept.ready(c, document)
	if !ok {
		page, err := keepSheet(c, kept, document)
		if err != nil {
			table.Refuse(c, &Lists, listFormOf(c, asked), notKept(c, err))
			return
		}
		c.GoTo(page)
		return
	}
	a, job := submit(c, kept, sent)
	if job == "" {
		table.Refuse(c, &Lists, listFormOf(c, asked), a)
		return
	}
	c.GoTo(say.Address("jobs", job))
}

// notKept returns the answer to a request whose data could not be stored with the session.
func notKept(c *frame.Visit, err error) *frame.Answer {
	why := &frame.Failure{Message: c.Say("step.notKept", "why", frame.WithoutStore(err))}
	return &frame.Answer{Status: http.StatusServiceUnavailable, Error: why}
}

// submit submits a list, and returns the id of its job. If the id is empty, the answer contains the refusal.
func submit(c *frame.Visit, list keptSheet, document []byte) (a *frame.Answer, job string) {
	values := call.Values{"Mode": cmp.Or(list.Mode, string(jobstate.DryRun))}
	if list.Fields != nil {
		values[ops.JobColumns], values[ops.JobFirstRow] = strings.Join(list.Fields, ","), list.FirstRow
	}
	for name, value := range map[string]string{"Operation": list.Operation, "Name": list.listName()} {
		if value != "" {
			values[name] = value
		}
	}
	sent := call.Call{Input: uploaded{values, document, list.Media}}
	if list.Once != "" {
		sent.Keys = []string{list.Once}
	}
	a = sendOnce(c, sent)
	submitted := frame.Records[Job](a)
	if !a.Ok() || len(submitted) != 1 {
		return a, ""
	}
	if submitted[0].mode() == Modes[jobstate.Run] {
		watch(c, submitted[0].ID)
	}
	return a, submitted[0].ID
}

// mostWait is the longest wait for an earlier press of the same button, and againAfter is the time between
// two checks.
const (
	mostWait   = 15 * time.Second
	againAfter = 100 * time.Millisecond
)

// sendOnce submits a list. While an earlier press of the same button is being answered, it waits,
// because both presses lead to the same job.
func sendOnce(c *frame.Visit, sent call.Call) *frame.Answer {
	ctx, cancel := context.WithTimeout(c.R.Context(), mostWait)
	defer cancel()
	look := time.NewTicker(againAfter)
	defer look.Stop()
	for {
		a := frame.Send(c, "job.submit", sent)
		if a.Ok() || a.Error == nil || a.Error.Code != string(schema.InProgress) {
			return a
		}
		select {
		case <-ctx.Done():
			return a
		case <-look.C:
		}
	}
}

package work

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/procedure"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// A procedure asks for the values of all its blanks in one form. Its steps are then submitted as a list that
// belongs to the person, with one preview, one start and one undo. Each step is a row of the list, and is
// subject to the rights, guards and limits of its operation.

// procedurePath is the path of the procedures' pages.
const procedurePath = "procedures"

// procedureRow is a procedure on the page with all procedures.
type procedureRow struct {
	Path   string // address of the form; empty if the person may not use it
	Title  texts.Text
	Steps  []texts.Text
	Lacked []texts.Text // steps that none of the person's roles allows
}

// lackedSteps returns the steps of a procedure that none of the person's roles allows.
func lackedSteps(c *frame.Visit, p *procedure.Procedure) (all []texts.Text) {
	for i := range p.Steps {
		if f := p.Steps[i].Form; !MayDo(c, f.Op) {
			all = append(all, actionIn(f))
		}
	}
	return all
}

// mostStarts limits the procedures on the home page.
const mostStarts = 3

// Starts returns links to the first procedures that the person may run.
func Starts(c *frame.Visit) (all []frame.Link) {
	for _, p := range c.Procedures {
		if len(all) < mostStarts && c.May(identity.JobSubmit) && len(lackedSteps(c, p)) == 0 {
			all = append(all, frame.Link{Path: say.Address(procedurePath, p.Name), Text: texts.Each(p.Title)})
		}
	}
	return all
}

// ShowProcedures shows all procedures, and says which of them the person may not run.
func ShowProcedures(c *frame.Visit) {
	var rows []procedureRow
	for _, p := range c.Procedures {
		row := procedureRow{Title: texts.Each(p.Title), Lacked: lackedSteps(c, p)}
		for i := range p.Steps {
			row.Steps = append(row.Steps, actionIn(p.Steps[i].Form))
		}
		if len(row.Lacked) == 0 {
			row.Path = say.Address(procedurePath, p.Name)
		}
		rows = append(rows, row)
	}
	shown := frame.Page{Title: texts.Of("page.procedures"), Section: procedurePath, Body: rows}
	if len(rows) == 0 {
		shown.Empty = &frame.Empty{Text: texts.Of("procedure.none")}
	}
	c.Page(http.StatusOK, "procedures", shown)
}

// procedureAt returns the procedure at the address. If there is none, or the person may not use it, it sends
// an error page and returns nil.
func procedureAt(c *frame.Visit) *procedure.Procedure {
	name := c.R.PathValue("name")
	i := slices.IndexFunc(c.Procedures, func(p *procedure.Procedure) bool { return p.Name == name })
	if i < 0 {
		c.NotFound(c.W, c.R)
		return nil
	}
	p := c.Procedures[i]
	lacked := lackedSteps(c, p)
	if !c.May(identity.JobSubmit) {
		lacked = append(lacked, texts.Of("jobs.submit"))
	}
	if len(lacked) > 0 {
		title := texts.Each(p.Title)
		why := &frame.Alert{Text: texts.Of("procedure.notYours", "steps", texts.List(lacked...))}
		c.Page(http.StatusForbidden, "message", frame.Page{Title: title, Section: procedurePath, Alert: why})
		return nil
	}
	return p
}

// ShowProcedure shows the form of a procedure, with the values typed before.
func ShowProcedure(c *frame.Visit) {
	p := procedureAt(c)
	if p == nil {
		return
	}
	d, _ := draftAt(c, procedurePath+p.Name)
	showProcedure(c, p, d)
}

func showProcedure(c *frame.Visit, p *procedure.Procedure, d Draft) {
	body := formPage(say.Address(procedurePath, p.Name), say.Address(procedurePath), d)
	fields := fieldsOfProcedure(c, p)
	for i := range fields {
		v := viewOfField(c, &fields[i], d)
		body.Fields = append(body.Fields, v)
		if v.Error != nil {
			body.Problems = append(body.Problems, v)
		}
	}
	showFormPage(c, d, frame.Page{Title: texts.Each(p.Title), Section: procedurePath, Body: body})
}

// fieldsOfProcedure returns the fields of a procedure. It adds a field for the reason if a step requires one
// and the procedure has no blank for it.
func fieldsOfProcedure(c *frame.Visit, p *procedure.Procedure) []form.Field {
	for i := range p.Steps {
		reason := p.Steps[i].Form.Field(ops.ReasonName)
		if reason != nil && c.NeedsReason(p.Steps[i].Form.Op.ID) && p.Field(ops.ReasonName) == nil {
			field := *reason
			field.Required, field.More = true, false
			return append(slices.Clone(p.Fields), field)
		}
	}
	return p.Fields
}

// DoProcedure handles a submitted form of a procedure. It redirects to the preview of the steps.
func DoProcedure(c *frame.Visit) {
	p := procedureAt(c)
	if p == nil {
		return
	}
	typed := c.R.PostForm
	typed.Del(frame.TokenName)
	meant := url.Values{}
	var problems []form.Problem
	fields := fieldsOfProcedure(c, p)
	for i := range fields {
		field := &fields[i]
		meant.Set(field.Name, typed.Get(field.Name))
		if problem := resolvePick(c, field, meant); problem != nil {
			problems = append(problems, *problem)
			meant.Set(field.Name, typed.Get(field.Name))
		}
	}
	items, more, failed := itemsOf(c, p, meant)
	for _, problem := range more {
		same := func(has form.Problem) bool { return has.Field == problem.Field }
		if !slices.ContainsFunc(problems, same) {
			problems = append(problems, problem)
		}
	}
	if failed != nil || len(problems) > 0 {
		leaveProcedure(c, p, typed, problems, failed)
		return
	}
	list := keptSheet{Mode: string(jobstate.DryRun), Media: ops.MediaNDJSON, Name: c.Say(
		"procedure.job", "what", texts.Each(p.Title), "who", firstTyped(p, typed),
	)}
	a, job := submit(c, list, items)
	if job == "" {
		leaveProcedure(c, p, typed, nil, a)
		return
	}
	c.GoTo(say.Address("jobs", job))
}

// firstTyped returns the value of the first field that names an object. It distinguishes lists of the same
// procedure.
func firstTyped(p *procedure.Procedure, typed url.Values) string {
	for i := range p.Fields {
		field := &p.Fields[i]
		if field.Pick == form.Person && field.Required || field.Name == "Username" {
			return typed.Get(field.Name)
		}
	}
	return ""
}

// procedureItem is the item of a list for a step of a procedure.
type procedureItem struct {
	ID         string         `json:"id"`
	Operation  string         `json:"operation"`
	Parameters map[string]any `json:"parameters"`
	After      []string       `json:"after,omitempty"`
}

// itemsOf returns the steps of a procedure as a list, and the mistakes in the typed values. failed is the
// answer to a read that failed, or nil.
func itemsOf(
	c *frame.Visit, p *procedure.Procedure, typed url.Values,
) (list []byte, problems []form.Problem, failed *frame.Answer) {
	values := map[string]string{}
	fields := fieldsOfProcedure(c, p)
	for i := range fields {
		field := &fields[i]
		values[field.Name] = typed.Get(field.Name)
		if field.Control == form.Tick && values[field.Name] == "" && field.Required {
			values[field.Name] = "false"
		}
		if field.Required && values[field.Name] == "" {
			problems = append(problems, field.Missing())
		}
	}
	if len(problems) > 0 {
		return nil, problems, nil
	}
	var items []procedureItem
	add := func(s *procedure.Step, given map[string]any) {
		if given[ops.ReasonName] == nil && c.NeedsReason(s.Form.Op.ID) {
			given[ops.ReasonName] = typed.Get(ops.ReasonName)
		}
		item := procedureItem{ID: fmt.Sprint("step", len(items)+1), Operation: s.Form.Op.ID, Parameters: given}
		if n := len(items); n > 0 {
			item.After = []string{items[n-1].ID}
		}
		items = append(items, item)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		filled, does := s.Filled(values)
		if !does {
			continue
		}
		if s.EachGroup() {
			groups, failed := groupsOf(c, filled["Username"])
			if failed != nil {
				return nil, nil, failed
			}
			for _, group := range groups {
				add(s, map[string]any{"Username": filled["Username"], "GroupName": group})
			}
			continue
		}
		in := url.Values{}
		for param, value := range filled {
			in.Set(param, value)
		}
		given, wrong := s.Form.Read(in)
		for _, problem := range wrong {
			problems = append(problems, ofBlank(p, s, problem))
		}
		add(s, given)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for _, item := range items {
		if err := encoder.Encode(item); err != nil {
			panic(err) // strings and lists of strings can always be encoded
		}
	}
	return out.Bytes(), problems, nil
}

// ofBlank moves a problem from a parameter of a step to the blank in its value.
func ofBlank(p *procedure.Procedure, s *procedure.Step, problem form.Problem) form.Problem {
	for _, blank := range s.Blanks(problem.Field) {
		if p.Field(blank) != nil {
			problem.Field = blank
			return problem
		}
	}
	problem.Field = ""
	return problem
}

// groupsOf returns a person's groups without the primary group.
func groupsOf(c *frame.Visit, person string) (all []string, failed *frame.Answer) {
	a := c.Listed(frame.List{
		Operation: "membership.list", Key: "guid", Before: frame.ByName, Values: call.Values{"Username": person},
	})
	if !a.Ok() {
		return nil, a
	}
	for _, r := range frame.Records[say.Record](a) {
		if r["primary"] != true {
			all = append(all, r.Text("guid"))
		}
	}
	return all, nil
}

// leaveProcedure stores an incomplete form of a procedure without its secrets, and redirects to its own
// address.
func leaveProcedure(
	c *frame.Visit, p *procedure.Procedure, typed url.Values, problems []form.Problem, failed *frame.Answer,
) {
	d := Draft{Operation: procedurePath + p.Name, Typed: url.Values{}, Problems: problems}
	fields := fieldsOfProcedure(c, p)
	for i := range fields {
		if field := &fields[i]; field.Control != form.Secret && typed.Has(field.Name) {
			d.Typed[field.Name] = typed[field.Name]
		}
	}
	d.Typed.Set(frame.TypedName, "1")
	if failed != nil {
		d.Failed, d.Status = failed.Error, failed.Status
	}
	if id, err := c.KeepNew(d); err == nil {
		c.GoTo(say.Asking(say.Address(procedurePath, p.Name), draftName, id))
		return
	}
	showProcedure(c, p, d) // this response at least keeps what was typed
}

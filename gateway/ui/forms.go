package ui

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"adgateway/gateway/call"
)

// actionForm is an action as a page offers it.
type actionForm struct {
	ID, Label, Help string
	Says            string // the whole of what it does, for those who hear the button alone
	Address         string
	Inputs          []input
	Open            bool // it was not accepted
}

// input is an input of a form. A box is ticked or not, all others have a value.
type input struct {
	ID, Name, Label, Help, Type, Value string
	Box, Checked, Required             bool
}

// form returns an action with inputs that have what was given before, or else what the
// object has.
func (o *object) form(a *action) actionForm {
	shown := actionForm{
		ID: a.ID, Label: a.Label, Help: a.Help, Says: a.Label,
		Address: o.Kind.at(o.GUID, a.ID), Open: o.Failed == a.ID,
	}
	for _, f := range a.Fields {
		in := input{
			ID: a.ID + "-" + f.Name, Name: f.Name, Label: f.Label, Help: f.Help, Type: f.Type,
			Required: f.Required, Box: f.Type == box, Checked: f.On,
		}
		switch {
		case shown.Open:
			in.Value, in.Checked = o.Given.Get(f.Name), o.Given.Get(f.Name) == ticked
		case f.present != nil:
			in.Value = f.present(o.record)
		}
		shown.Inputs = append(shown.Inputs, in)
	}
	return shown
}

// inlineForm returns an action of a row, with the object of the row as its input.
func (o *object) inlineForm(a *action, name string, row record) *actionForm {
	shown := o.form(a)
	shown.Inputs = []input{{Name: name, Value: row.Text("guid")}}
	shown.Says = a.sentence(nameIn(o.record), map[string]string{name: row.Text("name")})
	return &shown
}

// nameIn returns the name of an object in sentences: that in the directory, which unlike a
// display name no other object of its unit has.
func nameIn(r record) string { return r.first("name", "computerName", "displayName") }

// sentence says what the action does. Names stand for what the pattern has in braces:
// {object} for the object of the page, and the names of inputs.
func (a *action) sentence(object string, inputs map[string]string) string {
	pairs := []string{"{object}", object}
	for name, text := range inputs {
		pairs = append(pairs, "{"+name+"}", text)
	}
	return strings.NewReplacer(pairs...).Replace(a.says)
}

// given returns the inputs of an action that a form has, and what is wrong with them. A box
// that is ticked instead of an input leaves that one empty.
func (a *action) given(form url.Values) (given url.Values, problem string) {
	given = url.Values{}
	for _, f := range a.Fields {
		if f.Type == box {
			given.Set(f.Name, map[bool]string{true: ticked, false: "false"}[form.Get(f.Name) != ""])
		}
	}
	for _, f := range a.Fields {
		value := strings.TrimSpace(form.Get(f.Name))
		switch {
		case f.Type == box:
		case f.orBox != "" && given.Get(f.orBox) == ticked:
			given.Set(f.Name, "")
		case value != "":
			given.Set(f.Name, value)
		case f.orBox != "":
			problem = cmp.Or(problem, f.Label+" is missing. If there is none, tick “"+a.field(f.orBox).Label+"”.")
		case f.Required:
			problem = cmp.Or(problem, f.Label+" is missing.")
		}
	}
	return given, problem
}

func (a *action) field(name string) field {
	for _, f := range a.Fields {
		if f.Name == name {
			return f
		}
	}
	return field{}
}

// parameters returns those of the call of a step.
func (s *step) parameters() call.Values {
	sent := call.Values{s.Kind.object: s.GUID}
	for _, f := range s.Action.Fields {
		if s.Given.Has(f.Name) && !f.unsent {
			sent[cmp.Or(f.parameter, f.Name)] = s.Given.Get(f.Name)
		}
	}
	return sent
}

// lastDay returns the last day on which an account can be used, by when it expires.
func lastDay(r record) string {
	at, err := time.Parse(time.RFC3339, r.Text("accountExpires"))
	if err != nil {
		return ""
	}
	return at.UTC().Add(-time.Second).Format(time.DateOnly)
}

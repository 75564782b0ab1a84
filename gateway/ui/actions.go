package ui

import (
	"slices"

	"adgateway/gateway/ops"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// actionForm is the form of an action on an object's page.
type actionForm struct {
	ID      string
	Label   texts.Text
	Says    texts.Text // full sentence, for people whose screen reader reads the button without its context
	Address string
	Inputs  []input
	Link    string // form that asks for the remaining inputs; empty if Inputs contains all of them
}

// Class returns the CSS class of the button. Buttons of dangerous actions are red.
func (a actionForm) Class() string {
	if slices.Contains(dangerous, a.ID) {
		return " danger"
	}
	return ""
}

// actionIcons maps the ids of actions to icons.
var actionIcons = map[string]string{
	"unlock": "unlock", "reset": "key", "edit": "edit", "join": "plus", "add": "plus", "copy": "copy", "move": "move",
	"rename": "edit", "enable": "check", "disable": "ban", "delete": "bin", "restore": "undo", "expire": "clock",
	"expiry": "clock", "protect": "lock", "photo": "person", "members": "group", "primary": "group",
}

// Icon returns the icon of the action, or "" if it has none.
func (a actionForm) Icon() string { return actionIcons[a.ID] }

// seldom contains the ids of actions that few people need. Pages put these actions in a menu.
var seldom = []string{"rename", "primary", "photo", "protect", "expiry"}

// input is an input of a form. Checkboxes have Checked, all others a Value.
type input struct {
	ID, Name, Type, Value  string
	Label, Help            texts.Text
	Box, Checked, Required bool
	Suggest                string // address of suggestions; empty if the input is not a picker
	Kind                   string // kind of object to pick
}

// Hidden reports whether the input is invisible.
func (i input) Hidden() bool { return i.Type == "hidden" }

// actionOf returns the form of an action on the page's object.
func actionOf(c *frame.Visit, o *object, a *action) actionForm {
	f := form.Of(a.operation)
	shown := actionForm{ID: a.ID, Label: texts.Each(f.Label), Address: say.Address(say.DoPath, a.operation)}
	back := o.Kind.At(o.GUID)
	shown.Inputs = []input{
		{Name: a.target, Type: "hidden", Value: o.GUID}, {Name: work.BackName, Type: "hidden", Value: back},
	}
	for name, value := range a.values {
		shown.Inputs = append(shown.Inputs, input{Name: name, Type: "hidden", Value: value, Checked: true})
	}
	for _, name := range a.asks {
		field := f.Field(name)
		in := input{
			ID: a.ID + "-" + name, Name: name, Type: "text",
			Label: texts.Each(field.Label), Help: texts.Each(field.Help),
			Required: field.Required,
		}
		if field.Control == form.Tick {
			in.Type, in.Box, in.Checked = "checkbox", true, field.Default == "true"
		}
		if field.Pick != "" {
			in.Suggest, in.Kind = say.Address(work.PickPath, string(field.Pick)), string(field.Pick)
		}
		shown.Inputs = append(shown.Inputs, in)
	}
	if a.whole {
		shown.Link = work.DoAddress(a.operation, a.target, o.GUID, work.BackName, back)
	}
	shown.askWhy(c, a.operation)
	shown.Says = texts.Of("do.title", "action", shown.Label, "object", say.NameIn(o.record))
	return shown
}

// askWhy turns a button without further inputs into a link to the operation's form if the operation requires
// a reason.
func (a *actionForm) askWhy(c *frame.Visit, operation string) {
	if !c.NeedsReason(operation) {
		return
	}
	var pairs []string
	for _, in := range a.Inputs {
		if in.Hidden() {
			pairs = append(pairs, in.Name, in.Value)
		}
	}
	a.Link = work.DoAddress(operation, pairs...)
}

// inlineForm returns the form of an action for a table row. The object in the row is a hidden input.
func inlineForm(c *frame.Visit, o *object, a *action, name string, row say.Record) *actionForm {
	shown := actionOf(c, o, a)
	shown.Inputs = append(shown.Inputs, input{Name: name, Type: "hidden", Value: row.Text("guid")})
	shown.askWhy(c, a.operation)
	shown.Label = texts.Of("object.remove")
	names := map[string]string{a.target: say.NameIn(o.record), name: say.NameIn(row)}
	shown.Says = texts.Each(form.Of(a.operation).Sentences(names))
	return &shown
}

// row returns the action's operation.
func (a *action) row() *ops.Operation { return form.Of(a.operation).Op }

// Offers reports whether there is any action, including those that are only possible on other objects.
func (o offers) Offers() bool {
	return len(o.Buttons)+len(o.Forms)+len(o.Danger)+len(o.Seldom)+len(o.Denied) > 0
}

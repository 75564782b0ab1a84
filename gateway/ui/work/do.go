package work

import (
	"cmp"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema/photo"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Each changing row has a form, which [form.Of] makes of it, at the address "do". What was typed is
// checked here as the API checks it, and then planned by a dry run, see step.go. A form that was not
// accepted is kept as a draft, which has an address, so that nothing typed is lost.

const (
	draftName = "draft"
	BackName  = "back"
)

// Draft is a form as somebody left it. It has no secrets.
type Draft struct {
	Operation string
	Typed     url.Values
	Problems  []form.Problem
	Failed    *frame.Failure // of the dry run; nil: it is a mistake in a field
	Status    int            // of it
}

// answer returns the answer of a dry run that failed; nil: none did.
func (d Draft) answer() *frame.Answer {
	if d.Failed == nil {
		return nil
	}
	return &frame.Answer{Status: d.Status, Error: d.Failed}
}

// DoAddress returns the address of the form of a row, with pairs of values that it begins with.
func DoAddress(operation string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	page := say.Address(say.DoPath, operation)
	if len(values) > 0 {
		page += "?" + values.Encode()
	}
	return page
}

// MayDo reports whether a role has the right to a row.
func MayDo(c *frame.Visit, op *ops.Operation) bool {
	return slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool {
		return call.AuthoriseRow(p, op) == nil
	})
}

// asked returns the form at the address; nil: there is none, or it is not for this person, which is said.
func askedOperation(c *frame.Visit) *form.Form {
	f := form.Of(c.R.PathValue("operation"))
	switch {
	case f == nil:
		c.NotFound(c.W, c.R)
		return nil
	case !MayDo(c, f.Op):
		label := texts.Each(f.Label)
		why := &frame.Alert{Text: texts.Of("do.notYours", "action", label)}
		c.Page(http.StatusForbidden, "message", frame.Page{Title: label, Alert: why})
		return nil
	}
	return f
}

// DoForm shows the form of a row: with what was typed before, or else with the values of the address and
// of the object that it changes.
func DoForm(c *frame.Visit) {
	f := askedOperation(c)
	if f == nil {
		return
	}
	var kept Draft
	if id := c.R.URL.Query().Get(draftName); id != "" {
		if at, err := c.Session.Kept(c.R.Context(), id, &kept); err == nil && at != 0 && kept.Operation == f.Op.ID {
			ShowForm(c, f, kept)
			return
		}
		kept = Draft{Failed: &frame.Failure{Message: c.Say("do.forgotten")}, Status: http.StatusGone}
	}
	kept.Typed = c.R.URL.Query()
	prefill(c, f, kept.Typed)
	ShowForm(c, f, kept)
}

// readers are the rows that read what a form changes, and the parameter that names it.
var readers = map[form.Pick][2]string{
	form.Person: {"user.get", "Username"}, form.Group: {"group.get", "GroupName"},
	form.Computer: {"computer.get", "ADComputerName"}, form.Unit: {"ou.get", "OUPath"},
	form.Deleted: {"bin.get", "Guid"},
}

// prefill adds the values that the object has, and as which each was shown.
func prefill(c *frame.Visit, f *form.Form, typed url.Values) {
	target := f.Target()
	if target == nil || f.Op.Effect != ops.Update || typed.Get(target.Name) == "" {
		return
	}
	reader, known := readers[target.Pick]
	if !known || f.Op.Reply.Shape == nil {
		return
	}
	found := frame.Records[say.Record](c.Get(reader[0], reader[1], typed.Get(target.Name)))
	if len(found) != 1 {
		return
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		at := fieldFor(f.Op, field.Name)
		value, has := found[0][at]
		if at == "" || !has || field == target || typed.Has(field.Name) || field.Control == form.Secret {
			continue
		}
		text := textOf(value, field)
		if field.Control == form.Day {
			text = lastDay(c, found[0])
		}
		typed.Set(field.Name, text)
		typed.Set(form.Was+field.Name, text)
	}
}

// fieldFor returns the field of the records of a row that has the value of a parameter; empty: none.
func fieldFor(op *ops.Operation, param string) string {
	for _, field := range op.Reply.Shape.Fields {
		if field.Input == param || field.Input == "" && strings.EqualFold(field.Name, param) {
			return field.Name
		}
	}
	return ""
}

// textOf returns a value of a record as its field of a form has it.
func textOf(value any, field *form.Field) string {
	switch value := value.(type) {
	case []any:
		var all []string
		for _, one := range value {
			all = append(all, say.Record{"": one}.Text(""))
		}
		return strings.Join(all, "\n")
	case string:
		switch {
		case field.Pick == form.Unit:
			return say.PathText(value)
		case field.Pick != "":
			return say.Rdn(value)
		}
	}
	return say.Record{"": value}.Text("")
}

// fieldView is a field as a page shows it.
type fieldView struct {
	ID, Name, Value, Was string
	Label, Help, Error   texts.Text
	Control              form.Control
	Choices              []frame.Choice
	Least, Most          int64
	Length               int  // zero: no limit
	Demanded             bool // it must not be empty
	Emptied              bool // it is empty on purpose if that is ticked
	Open                 bool // none of the choices may be chosen
	HasWas               bool
	Ticked, Never        bool
	Suggest, Kind        string // address of what fits and the kind that is picked; empty: it is no picker
}

func (v fieldView) Tick() bool   { return v.Control == form.Tick }
func (v fieldView) Choose() bool { return v.Control == form.Choose }
func (v fieldView) Lines() bool  { return v.Control == form.Lines }
func (v fieldView) Image() bool  { return v.Control == form.Image }
func (v fieldView) Secret() bool { return v.Control == form.Secret }
func (v fieldView) Day() bool    { return v.Control == form.Day }
func (v fieldView) Number() bool { return v.Control == form.Number }

// Limited reports whether a number has the limits Least and Most.
func (v fieldView) Limited() bool { return v.Most > 0 }

// Here returns the address of the field on its page.
func (v fieldView) Here() string { return "#" + v.ID }

// Described returns the ids of the texts about the field.
func (v fieldView) Described() string {
	var ids []string
	if v.Error != nil {
		ids = append(ids, v.ID+"-e")
	}
	if v.Help != nil {
		ids = append(ids, v.ID+"-h")
	}
	return strings.Join(ids, " ")
}

// FormPage is the page of a form.
type FormPage struct {
	Action   string
	Fields   []fieldView
	More     []fieldView
	MoreOpen bool
	Fixed    []fixedView
	Problems []fieldView  // with an error, for the summary
	General  []texts.Text // faults that concern several fields
	Count    texts.Text
	Wrong    bool
	Back     string
	File     bool
}

// fixedView is a field that the page was opened for.
type fixedView struct {
	Name, Value, Text string
	Label             texts.Text
}

func ShowForm(c *frame.Visit, f *form.Form, d Draft) {
	body := FormPage{Action: say.Address(say.DoPath, f.Op.ID), Back: backOf(c, f, d.Typed)}
	names := map[string]string{}
	target := f.Target()
	for i := range f.Fields {
		field := &f.Fields[i]
		v := viewOfField(c, field, d)
		v.demandReason(c, f)
		given := v.Error == nil && v.Value != "" && !v.HasWas
		fixed := field.Pick != "" && given && isFixed(f, field, target, v.Value)
		switch {
		case fixed:
			name := nameOfPicked(c, field.Pick, v.Value)
			names[field.Name] = name
			body.Fixed = append(body.Fixed, fixedView{field.Name, v.Value, name, v.Label})
		case field.More && !v.Demanded:
			body.More = append(body.More, v)
			body.MoreOpen = body.MoreOpen || v.Error != nil
		default:
			body.Fields = append(body.Fields, v)
		}
		body.File = body.File || field.Control == form.Image
		if v.Error != nil {
			body.Problems = append(body.Problems, v)
		}
	}
	for _, p := range d.Problems {
		if p.Field == "" {
			body.General = append(body.General, texts.Each(p.Text))
		}
	}
	body.Wrong = len(d.Problems) > 0
	body.Count = texts.Count("do.problems", len(d.Problems))
	status := cmp.Or(d.Status, http.StatusOK)
	if len(d.Problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	title := texts.Each(f.Label)
	if target != nil && names[target.Name] != "" {
		title = texts.Of("do.title", "action", title, "object", names[target.Name])
	}
	c.Page(
		status, "do", frame.Page{Title: title, Section: sectionOf(f), Alert: frame.AlertOf(d.answer()), Body: body},
	)
}

// isFixed reports whether a page was opened for the value of a field: by its identity, which people do
// not type.
func isFixed(f *form.Form, field, target *form.Field, value string) bool {
	return say.IsGUID(value) || field == target && field.Pick == form.Unit && strings.Contains(value, "DC=") ||
		field.Pick == form.Zone && field == target && f.Op.Effect != ops.Create
}

func viewOfField(c *frame.Visit, field *form.Field, d Draft) fieldView {
	v := fieldView{
		ID: "f-" + field.Name, Name: field.Name, Control: field.Control, Length: field.Length,
		Least: field.Least, Most: field.Most, Emptied: field.Emptied,
		Demanded: field.Required && !field.Emptied, Open: !field.Required && field.Default == "",
		Label: texts.Each(field.Label), Help: texts.Each(field.Help),
		Value: d.Typed.Get(field.Name),
		Was:   d.Typed.Get(form.Was + field.Name), HasWas: d.Typed.Has(form.Was + field.Name),
		Never: d.Typed.Has(form.Never + field.Name),
	}
	fresh := !d.Typed.Has(field.Name) && d.Problems == nil && !d.Typed.Has(frame.TypedName)
	if fresh {
		v.Value = cmp.Or(field.Default, firstValues[field.Name])
	}
	v.Ticked = v.Value == "true" || fresh && ticksFirst[field.Name]
	if field.Control == form.Day && v.HasWas && v.Value == "" {
		v.Never = true
	}
	for _, one := range field.Choices {
		chosen := one.Value == v.Value
		v.Choices = append(v.Choices, frame.Choice{ID: one.Value, Label: texts.Each(one.Label), Chosen: chosen})
	}
	if field.Pick != "" && field.Pick != form.Deleted {
		v.Suggest, v.Kind = say.Address(PickPath, string(field.Pick)), string(field.Pick)
	}
	for _, p := range d.Problems {
		if p.Field == field.Name {
			v.Error = texts.Each(p.Text)
		}
	}
	return v
}

// demandReason marks the field for the reason, where the settings require one.
func (v *fieldView) demandReason(c *frame.Visit, f *form.Form) {
	if v.Name == ops.ReasonName && c.NeedsReason(f.Op.ID) {
		v.Demanded, v.Open = true, false
	}
}

// ticksFirst are the boxes that are ticked at first, although the API does not do it by itself.
var ticksFirst = map[string]bool{"ChangePassword": true, "ChangePasswordNextLogon": true}

// firstValues are the values that are chosen at first, although the API has others.
var firstValues = map[string]string{"Generate": "words"}

// sectionOf returns the section of the navigation that a form belongs to.
func sectionOf(f *form.Form) string {
	resource, _, _ := strings.Cut(f.Op.ID, ".")
	sections := map[string]string{
		"user": "people", "membership": "groups", "group": "groups", "computer": "computers", "ou": "ous",
		"bin": "bin", "change": "changes",
	}
	return cmp.Or(sections[resource], "zones")
}

// backOf returns the page that a form was opened from, or else the page of the object that it changes.
func backOf(c *frame.Visit, f *form.Form, typed url.Values) string {
	if back := typed.Get(BackName); back != "" {
		return frame.Next(back)
	}
	if target := f.Target(); target != nil {
		if k := kindNamed(target.Pick); k != nil && say.IsGUID(typed.Get(target.Name)) {
			return k.At(typed.Get(target.Name))
		}
	}
	return say.Base
}

// kindNamed returns the kind of object with pages that fields name; nil: it has none.
func kindNamed(pick form.Pick) *frame.Kind {
	paths := map[form.Pick]string{form.Person: "people", form.Group: "groups", form.Computer: "computers"}
	return frame.KindAt(paths[pick])
}

// DoOperation takes what was typed into a form. It goes to the preview of what it would change, or
// back to the form.
func DoOperation(c *frame.Visit) {
	f := askedOperation(c)
	if f == nil {
		return
	}
	typed := c.R.PostForm
	typed.Del(frame.TokenName)
	for name, values := range c.R.URL.Query() { // of a button that has all it needs in its address
		if !typed.Has(name) {
			typed[name] = values
		}
	}
	if err := readImage(c, f, typed); err != nil {
		leaveForm(c, f, Draft{Typed: typed, Problems: []form.Problem{*err}})
		return
	}
	meant := maps.Clone(typed)
	var problems []form.Problem
	for i := range f.Fields {
		if p := resolvePick(c, &f.Fields[i], meant); p != nil {
			problems = append(problems, *p)
		}
	}
	if len(problems) > 0 { // the rest is read all the same, so that all mistakes are shown at once
		for _, p := range problems {
			meant.Set(p.Field, typed.Get(p.Field))
		}
	}
	given, more := f.Read(meant)
	if c.NeedsReason(f.Op.ID) && given[ops.ReasonName] == nil {
		more = append(more, f.Field(ops.ReasonName).Missing())
	}
	for _, p := range more {
		same := func(has form.Problem) bool { return has.Field == p.Field && p.Field != "" }
		if !slices.ContainsFunc(problems, same) {
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		leaveForm(c, f, Draft{Typed: typed, Problems: problems})
		return
	}
	s := &Step{Form: f, Given: call.Values(given), Typed: typed, Back: backOf(c, f, meant)}
	if failed := planStep(c, s); failed != nil {
		leaveForm(c, f, refusedDraft(c, f, typed, failed))
		return
	}
	c.GoTo(say.Address("steps", s.ID))
}

// refusedDraft returns the draft of a form that the API has refused, with what it says at the fields.
func refusedDraft(c *frame.Visit, f *form.Form, typed url.Values, failed *frame.Answer) Draft {
	d := Draft{Typed: typed}
	if failed.Error != nil && failed.Status != http.StatusForbidden {
		for _, detail := range failed.Error.Details {
			if f.Field(detail.Field) != nil {
				d.Problems = append(d.Problems, f.Problem(detail.Field, detail.Message, typed.Get(detail.Field)))
			}
		}
	}
	if len(d.Problems) == 0 {
		d.Failed, d.Status = failed.Error, failed.Status
	}
	return d
}

// leave keeps a form as it was left, without its secrets, and shows it at an address of its own.
func leaveForm(c *frame.Visit, f *form.Form, d Draft) {
	d.Operation, d.Typed = f.Op.ID, frame.WithoutSecrets(f, d.Typed)
	id := signin.NewID()
	if err := c.Session.Keep(c.R.Context(), id, 0, d); err != nil {
		ShowForm(c, f, d) // at least here nothing is lost
		return
	}
	c.GoTo(DoAddress(f.Op.ID, draftName, id))
}

// readImage puts the image of a form among what was typed, as small as the directory keeps it.
func readImage(c *frame.Visit, f *form.Form, typed url.Values) *form.Problem {
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.Control != form.Image {
			continue
		}
		file, _, err := c.R.FormFile(field.Name)
		if err != nil {
			continue // it is missing, which the form says
		}
		defer file.Close()
		data, err := io.ReadAll(file)
		if err == nil && len(data) > 0 {
			data, err = photo.Small(data)
			typed.Set(field.Name, base64.StdEncoding.EncodeToString(data))
		}
		if err != nil {
			return &form.Problem{Field: field.Name, Text: *wordsOfPick(c, "do.image")}
		}
	}
	return nil
}

// lastDay returns the last day on which an account can be used, by when it expires.
func lastDay(c *frame.Visit, r say.Record) string {
	at, err := time.Parse(time.RFC3339, r.Text("accountExpires"))
	if err != nil {
		return ""
	}
	return at.In(c.DayZone()).Add(-time.Second).Format(time.DateOnly)
}

// doGroup are the actions on one kind of object.
type doGroup struct {
	ID    string
	Title texts.Text
	Links []frame.Link
}

// DoAll shows every action that the person may do.
func DoAll(c *frame.Visit) {
	var groups []doGroup
	for _, f := range form.All() {
		if !MayDo(c, f.Op) || f.Op.ID == "change.undo" {
			continue
		}
		id := groupOf(f)
		i := slices.IndexFunc(groups, func(g doGroup) bool { return g.ID == id })
		if i < 0 {
			groups, i = append(groups, doGroup{ID: id, Title: texts.Of("group." + id)}), len(groups)
		}
		groups[i].Links = append(
			groups[i].Links, frame.Link{Path: say.Address(say.DoPath, f.Op.ID), Text: texts.Each(f.Label)},
		)
	}
	shown := frame.Page{Title: texts.Of("do.all"), Section: say.DoPath, Body: groups}
	if len(groups) == 0 {
		shown.Empty = &frame.Empty{Text: texts.Of("step.noRole")}
	}
	c.Page(http.StatusOK, "doall", shown)
}

// groupOf returns the group of the actions that a form belongs to.
func groupOf(f *form.Form) string {
	resource, _, _ := strings.Cut(f.Op.ID, ".")
	return cmp.Or(doGroups[resource], "dns")
}

// actionIn returns what people call an action beside those on other kinds of objects.
func actionIn(f *form.Form) texts.Text {
	return texts.Of("do.title", "action", texts.Of("group."+groupOf(f)), "object", texts.Each(f.Label))
}

// formOf is [form.Of] where a form is a variable.
func formOf(operation string) *form.Form { return form.Of(operation) }

// doGroups are the groups of the actions, by resource. All others are about DNS.
var doGroups = map[string]string{
	"user": "people", "membership": "groups", "group": "groups", "computer": "computers", "ou": "ous",
	"bin": "bin",
}

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

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema/photo"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// [form.Of] returns a form for each operation that makes changes. The address of the form starts with "do".
// Typed values are checked with the rules of the API, and then planned by a dry run, see step.go. A form that
// was not accepted is stored as a draft with its own address, so that no typed value is lost.

const (
	draftName = "draft"
	BackName  = "back"
)

// Draft is a form that was not completed. It contains no secrets.
type Draft struct {
	Operation string
	Typed     url.Values
	Problems  []form.Problem
	Failed    *frame.Failure // failure of the dry run; nil if a field is wrong
	Status    int            // status of the failure
}

// answer returns the answer to the failed dry run, or nil if no dry run failed.
func (d Draft) answer() *frame.Answer {
	if d.Failed == nil {
		return nil
	}
	return &frame.Answer{Status: d.Status, Error: d.Failed}
}

// DoAddress returns the address of an operation's form. pairs contains alternating names and initial values.
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

// MayDo reports whether one of the person's roles has the right to an operation.
func MayDo(c *frame.Visit, op *ops.Operation) bool {
	return slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool {
		return call.AuthorizeRow(p, op) == nil
	})
}

// askedOperation returns the form at the address. If there is none, or the person may not use it, it sends an
// error page and returns nil.
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

// DoForm shows the form of an operation. It contains the values typed before or, if there are none, the
// values in the address and the values of the object to change.
func DoForm(c *frame.Visit) {
	f := askedOperation(c)
	if f == nil {
		return
	}
	d, kept := draftAt(c, f.Op.ID)
	if !kept {
		prefill(c, f, d.Typed)
	}
	ShowForm(c, f, d)
}

// draftAt returns the draft that the address names, and whether it was kept. If it was not, the draft has the
// values in the address.
func draftAt(c *frame.Visit, operation string) (d Draft, kept bool) {
	given := c.R.URL.Query()
	id := given.Get(draftName)
	if id == "" {
		return Draft{Typed: given}, false
	}
	if at, err := c.Session.Kept(c.R.Context(), id, &d); err == nil && at != 0 && d.Operation == operation {
		return d, true
	}
	gone := &frame.Failure{Message: c.Say("do.forgotten")}
	return Draft{Typed: given, Failed: gone, Status: http.StatusGone}, false
}

// readers maps kinds of objects to the operation that reads such an object, and the parameter that names it.
var readers = map[form.Pick][2]string{
	form.Person: {"user.get", "Username"}, form.Group: {"group.get", "GroupName"},
	form.Computer: {"computer.get", "ADComputerName"}, form.Unit: {"ou.get", "OUPath"},
	form.Deleted: {"bin.get", "Guid"},
}

// prefill adds the current values of the object, and records them as the values that the form showed.
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

// fieldFor returns the field of an operation's records that contains the value of a parameter, or "" if there
// is none.
func fieldFor(op *ops.Operation, param string) string {
	for _, field := range op.Reply.Shape.Fields {
		if field.Input == param || field.Input == "" && strings.EqualFold(field.Name, param) {
			return field.Name
		}
	}
	return ""
}

// textOf returns a value of a record as the text in its form field.
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

// fieldView is a field on a page.
type fieldView struct {
	ID, Name, Value, Was string
	Label, Help, Error   texts.Text
	Control              form.Control
	Choices              []frame.Choice
	Least, Most          int64
	Length               int  // zero if unlimited
	Demanded             bool // must not be empty
	Emptied              bool // may be emptied by ticking a box
	Open                 bool // choosing nothing is allowed
	HasWas               bool
	Ticked, Never        bool
	Suggest, Kind        string // address of suggestions and kind of object; empty if not a picker
}

func (v fieldView) Tick() bool   { return v.Control == form.Tick }
func (v fieldView) Choose() bool { return v.Control == form.Choose }
func (v fieldView) Lines() bool  { return v.Control == form.Lines }
func (v fieldView) Image() bool  { return v.Control == form.Image }
func (v fieldView) Secret() bool { return v.Control == form.Secret }
func (v fieldView) Day() bool    { return v.Control == form.Day }
func (v fieldView) Number() bool { return v.Control == form.Number }

// Limited reports whether a number has limits, Least and Most.
func (v fieldView) Limited() bool { return v.Most > 0 }

// Here returns the address of the field on its page.
func (v fieldView) Here() string { return "#" + v.ID }

// Described returns the ids of the elements that describe the field.
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
	Problems []fieldView  // fields with a mistake, for the summary
	General  []texts.Text // mistakes that concern several fields
	Count    texts.Text
	Wrong    bool
	Back     string
	File     bool
}

// fixedView is a field whose value is fixed by the page's address.
type fixedView struct {
	Name, Value, Text string
	Label             texts.Text
}

func ShowForm(c *frame.Visit, f *form.Form, d Draft) {
	body := formPage(say.Address(say.DoPath, f.Op.ID), backOf(c, f, d.Typed), d)
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
	title := texts.Each(f.Label)
	if target != nil && names[target.Name] != "" {
		title = texts.Of("do.title", "action", title, "object", names[target.Name])
	}
	showFormPage(c, d, frame.Page{Title: title, Section: sectionOf(f), Body: body})
}

// formPage returns the page of a form without its fields.
func formPage(action, back string, d Draft) FormPage {
	body := FormPage{
		Action: action, Back: back,
		Wrong: len(d.Problems) > 0, Count: texts.Count("do.problems", len(d.Problems)),
	}
	for _, p := range d.Problems {
		if p.Field == "" {
			body.General = append(body.General, texts.Each(p.Text))
		}
	}
	return body
}

// showFormPage sends the page of a form, with the failure of its draft.
func showFormPage(c *frame.Visit, d Draft, shown frame.Page) {
	status := cmp.Or(d.Status, http.StatusOK)
	if len(d.Problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	shown.Alert = frame.AlertOf(d.answer())
	c.Page(status, "do", shown)
}

// isFixed reports whether the value of a field is fixed by the page's address. That is the case for an
// identity, because people do not type identities.
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

// demandReason makes the reason a required field if the settings require a reason.
func (v *fieldView) demandReason(c *frame.Visit, f *form.Form) {
	if v.Name == ops.ReasonName && c.NeedsReason(f.Op.ID) {
		v.Demanded, v.Open = true, false
	}
}

// ticksFirst contains the boxes that are initially ticked although that is not the API's default.
var ticksFirst = map[string]bool{"ChangePassword": true, "ChangePasswordNextLogon": true}

// firstValues contains initial choices that are not the API's default.
var firstValues = map[string]string{"Generate": "words"}

// sectionOf returns the section of the menu to which a form belongs.
func sectionOf(f *form.Form) string {
	resource, _, _ := strings.Cut(f.Op.ID, ".")
	sections := map[string]string{
		"user": "people", "membership": "groups", "group": "groups", "computer": "computers", "ou": "ous",
		"bin": "bin", "change": "changes",
	}
	return cmp.Or(sections[resource], "zones")
}

// backOf returns the page from which a form was opened or, if that is unknown, the page of the object to
// change.
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

// kindNamed returns the kind of the objects that a field names, or nil if they have no pages.
func kindNamed(pick form.Pick) *frame.Kind {
	paths := map[form.Pick]string{form.Person: "people", form.Group: "groups", form.Computer: "computers"}
	return frame.KindAt(paths[pick])
}

// DoOperation handles a submitted form. It redirects to the preview of the change, or back to the form.
func DoOperation(c *frame.Visit) {
	f := askedOperation(c)
	if f == nil {
		return
	}
	typed := c.R.PostForm
	typed.Del(frame.TokenName)
	for name, values := range c.R.URL.Query() { // from a button whose address contains all values
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
	if len(problems) > 0 { // continue with the other fields, to show all mistakes at once
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
	s := &Step{
		Form: f, StepState: StepState{Given: call.Values(given), Typed: typed, Back: backOf(c, f, meant)},
	}
	if failed := planStep(c, s); failed != nil {
		leaveForm(c, f, refusedDraft(c, f, typed, failed))
		return
	}
	c.GoTo(say.Address("steps", s.ID))
}

// refusedDraft returns the draft of a form that the API refused, with the API's messages at the fields.
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

// leaveForm stores an incomplete form without its secrets, and redirects to its own address.
func leaveForm(c *frame.Visit, f *form.Form, d Draft) {
	d.Operation, d.Typed = f.Op.ID, frame.WithoutSecrets(f, d.Typed)
	if id, err := c.KeepNew(d); err == nil {
		c.GoTo(DoAddress(f.Op.ID, draftName, id))
		return
	}
	ShowForm(c, f, d) // this response at least keeps what was typed
}

// readImage adds the image of a form to the typed values, scaled down to the size that the directory stores.
func readImage(c *frame.Visit, f *form.Form, typed url.Values) *form.Problem {
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.Control != form.Image {
			continue
		}
		file, _, err := c.R.FormFile(field.Name)
		if err != nil {
			continue // the form reports that it is missing
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

// lastDay returns the last day on which an account can be used, derived from its expiry time.
func lastDay(c *frame.Visit, r say.Record) string {
	at, err := time.Parse(time.RFC3339, r.Text("accountExpires"))
	if err != nil {
		return ""
	}
	return at.In(c.DayZone()).Add(-time.Second).Format(time.DateOnly)
}

// doGroup contains the actions on one kind of object.
type doGroup struct {
	ID    string
	Title texts.Text
	Links []frame.Link
}

// DoAll shows all actions that the person may use.
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

// groupOf returns the group of actions to which a form belongs.
func groupOf(f *form.Form) string {
	resource, _, _ := strings.Cut(f.Op.ID, ".")
	return cmp.Or(doGroups[resource], "dns")
}

// actionIn returns the name of an action in a list with actions on other kinds of objects.
func actionIn(f *form.Form) texts.Text {
	return texts.Of("do.title", "action", texts.Of("group."+groupOf(f)), "object", texts.Each(f.Label))
}

// formOf calls [form.Of], for functions with a variable named form.
func formOf(operation string) *form.Form { return form.Of(operation) }

// doGroups maps resources to groups of actions. All other resources belong to DNS.
var doGroups = map[string]string{
	"user": "people", "membership": "groups", "group": "groups", "computer": "computers", "ou": "ous",
	"bin": "bin",
}

package work

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// StepPage shows the changes that a step would make or has made.
type StepPage struct {
	ID, Back   string
	Done, Good bool // confirmed; succeeded
	Saying     texts.Text
	Nothing    bool // there is nothing to change
	Lines      []stepLine
	Rows       []plannedRow
	Undo       say.Word
	Worth      []texts.Text // anything unusual
	Again      string       // address of the form
	Danger     bool
	Password   string
	Spelled    []spelledPart
	slip
	Left        texts.Text // for how long the password is still shown
	MembersStay bool
	Gone        bool // the generated password is no longer shown
	Next        string
	Parts       []copied
}

type copied struct{ Group, Action, Reason string }

// slip contains the account to which a password belongs.
type slip struct {
	Person, Account string
	Changes         bool // must be changed at the next logon
}

// stepLine is a sentence about something added or removed.
type stepLine struct {
	Mark, Icon string
	Text       texts.Text
}

// plannedRow is a value before and after a change.
type plannedRow struct {
	Object           string
	Field, Now, Then texts.Text
}

func ShowStep(c *frame.Visit, status int, s *Step, said *frame.Alert, password string) {
	body := StepPage{
		ID: s.ID, Back: s.Back, Saying: texts.Each(s.Says), Nothing: s.Plan.Effect == say.NoEffect,
		Undo: say.UndoWord(s.Plan.Operation, s.Plan.Undo), Again: frame.TypedAddress(s.Form, s.Typed),
		Danger: s.Form.Op.Effect == ops.Delete || dangers[s.Form.Op.ID], Password: password,
	}
	for _, o := range s.Plan.Objects {
		for _, change := range o.Changes {
			tellOf(c, &body, s.Form, o, change)
		}
	}
	body.Worth = worthOf(c, s)
	title := body.Saying
	if s.Result != nil {
		body.Done, body.Good = true, s.Result.Ok()
		said = resultOf(c, &body, s, password)
		if !s.Result.Ok() {
			title = texts.Of("step.notDone", "what", title)
		}
	}
	c.Page(status, "step", frame.Page{Title: title, Section: sectionOf(s.Form), Alert: said, Body: body})
}

// dangers contains the operations other than removals whose button warns of a danger.
var dangers = map[string]bool{"user.disable": true, "computer.disable": true}

// resultOf adds the result of a step to its page, and returns an alert if it has failures.
func resultOf(c *frame.Visit, body *StepPage, s *Step, password string) *frame.Alert {
	body.Next = withDone(s.landing(), s.ID)
	if s.Form.Op.ID == "membership.copy" {
		body.Parts = frame.Records[copied](s.Result)
	}
	if password != "" {
		left := passwordLife - time.Since(s.Confirmed)
		body.Spelled = spelled(password)
		body.addPerson(c, s)
		minutes := texts.Count("step.minutes", max(1, int((left+time.Minute-1)/time.Minute)))
		body.Left = texts.Of("pass.left", "n", minutes)
	} else if s.Password != nil {
		body.Gone = true
	}
	return frame.AlertOf(s.Result)
}

// addPerson adds the owner of the password to the slip.
func (p *StepPage) addPerson(c *frame.Visit, s *Step) {
	for _, o := range s.Plan.Objects {
		for _, r := range frame.Records[say.Record](c.Get("user.get", "Username", o.GUID)) {
			p.Person, p.Account = r.First("displayName", "name"), r.Text("username")
			p.Changes = r["changePasswordNextLogon"] == true
			return
		}
	}
}

// tellOf adds the description of one planned change to a page.
func tellOf(c *frame.Visit, body *StepPage, f *form.Form, o say.Planned, change say.PlannedChange) {
	name := say.LastOf(say.PathText(o.DistinguishedName))
	line := func(mark, icon, key string, pairs ...any) {
		body.Lines = append(body.Lines, stepLine{mark, icon, texts.Of(key, append(pairs, "object", name)...)})
	}
	switch {
	case change.Kind == say.SecretChange:
		line("", "key", "step.password")
	case change.Kind == say.MemberChange:
		body.MembersStay = true
		for _, one := range namesIn(change.Before) {
			line("−", "minus", "step.leaves", "member", one)
		}
		for _, one := range namesIn(change.After) {
			line("+", "plus", "step.joins", "member", one)
		}
	case change.Field == say.ExistsField && string(change.After) == "true":
		line("+", "plus", "step.created", "place", aboveOf(o.DistinguishedName))
	case change.Field == say.ExistsField:
		line("−", "minus", "step.deleted")
	default:
		body.Rows = append(body.Rows, plannedRow{
			name, nameOfField(c, f, change.Field), say.Shown(change.Before), say.Shown(change.After),
		})
	}
}

// aboveOf returns the path of an object's parent.
func aboveOf(dn string) string {
	_, above := say.CutDN(dn)
	return say.PathText(above)
}

// nameOfField returns the label of a field in a plan.
func nameOfField(c *frame.Visit, f *form.Form, field string) texts.Text {
	if key := "field." + field; texts.Has(key) {
		return texts.Of(key)
	}
	if f.Op.Reply.Shape != nil {
		for i := range f.Fields {
			if fieldFor(f.Op, f.Fields[i].Name) == field {
				return texts.Each(f.Fields[i].Label)
			}
		}
	}
	if words := texts.Each(form.LabelOf(field)); words != nil {
		return words
	}
	return texts.Raw(field)
}

// namesIn returns the names of the members in a value, which may be a single member, a list or null.
func namesIn(value json.RawMessage) []string {
	var all []string
	if json.Unmarshal(value, &all) != nil {
		var one *string
		if _ = json.Unmarshal(value, &one); one != nil {
			all = []string{*one}
		}
	}
	for i := range all {
		if strings.Contains(all[i], "DC=") {
			all[i] = say.LastOf(say.PathText(all[i]))
		}
	}
	return all
}

// worthOf returns anything unusual about a step: failed checks, warnings, and concurrent changes by others.
func worthOf(c *frame.Visit, s *Step) (all []texts.Text) {
	for _, check := range s.Plan.Checks {
		if check.State == schema.CheckFailed {
			all = append(
				all, texts.Each([2]string{check.Message, texts.Of("check.failed", "name", check.Name).In(texts.German)}),
			)
		}
	}
	for _, w := range s.Warned {
		all = append(all, w.Said())
	}
	if s.Result != nil {
		for _, w := range s.Result.Warnings {
			all = append(all, w.Said())
		}
	}
	return append(all, changedMeanwhile(c, s)...)
}

// changedMeanwhile describes other changes to the objects of a step since its preview.
func changedMeanwhile(c *frame.Visit, s *Step) (all []texts.Text) {
	if s.Plan.Made == "" || !c.May(identity.ChangeRead) {
		return nil
	}
	for _, o := range s.Plan.Objects {
		if o.GUID == "" {
			continue
		}
		since := c.Get("change.list", "Object", o.GUID, "Since", s.Plan.Made, "Limit", "5")
		for _, made := range frame.Records[say.Record](since) {
			if s.Result != nil && made.Text("id") == s.Result.ChangeID {
				continue
			}
			f := form.Of(made.Text("operation"))
			if f == nil || made.Text("outcome") != "done" {
				continue
			}
			all = append(all, texts.Of("step.meanwhile", "who", say.CallerIn(made), "action", texts.Each(f.Label),
				"object", say.LastOf(say.PathText(o.DistinguishedName))))
		}
	}
	return all
}

// doneName is the query parameter with the step about which a message is shown.
const doneName = "done"

// MessageOf returns the message about a completed step, or nil if there is none.
func MessageOf(c *frame.Visit) *frame.Done {
	id := c.R.URL.Query().Get(doneName)
	if c.R.Method != http.MethodGet || id == "" {
		return nil
	}
	s := stepAt(c, id)
	if s == nil || s.Result == nil || !s.Result.Ok() {
		return nil
	}
	m := &frame.Done{Text: texts.Of("step.done", "what", texts.Each(s.Says)), Notes: worthOf(c, s)}
	if s.Plan.Effect == say.NoEffect {
		m.Text = texts.Of("step.same", "what", texts.Each(s.Says))
	}
	change := s.Result.ChangeID
	if change == "" {
		return m
	}
	if c.May(identity.ChangeRead) {
		m.Path, m.More = say.Address("changes", change), texts.Of("step.see")
	}
	undo := form.Of("change.undo")
	if s.Form != undo && s.Form.Op.Undo.Never == "" && MayDo(c, undo.Op) {
		m.Asks = c.NeedsReason(undo.Op.ID)
		m.Undo = DoAddress(undo.Op.ID, "ChangeId", change, BackName, s.landing())
	}
	return m
}

// spelledPart is a part of a password, with its pronunciation.
type spelledPart struct {
	Text, Letters string
	Say           texts.Text
}

// spelled splits a password after each hyphen into the parts in which it is read out.
func spelled(password string) (all []spelledPart) {
	if !strings.Contains(password, "-") || strings.ContainsAny(password, "!#$%*+=?@_~") {
		return []spelledPart{{Text: password, Letters: say.Spell(password)}}
	}
	parts := strings.SplitAfter(password, "-")
	for _, part := range parts {
		word := strings.TrimSuffix(part, "-")
		key := "spell.small"
		switch {
		case word != "" && word[0] >= '0' && word[0] <= '9':
			key = "spell.digits"
		case word != strings.ToLower(word):
			key = "spell.capital"
		}
		if part != word {
			key += ".hyphen"
		}
		all = append(all, spelledPart{part, say.Spell(word), texts.Of(key, "word", strings.ToLower(word))})
	}
	return all
}

// listAgain restores the value of a field that accepts a list. Lists are stored as text.
func listAgain(field *form.Field, value any) any {
	if field == nil || !field.Many {
		return value
	}
	text, is := value.(string)
	if !is {
		return value
	}
	if strings.HasPrefix(text, "[") {
		return schema.Texts(text)
	}
	return schema.List(text)
}

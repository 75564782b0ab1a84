package ui

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/form"
)

// stepPage shows what a step would change, or what it did.
type stepPage struct {
	speaker
	*step
	Saying      string
	Nothing     bool // would change
	Lines       []stepLine
	Rows        []plannedRow
	Undo        word
	Worth       []string // that is worth knowing: only what is unusual
	Again       string   // address of the form
	Danger      bool
	Confirm     string // label of the button
	Password    string
	Spelled     []spelledPart
	Left        string // how long the password is shown
	MembersStay bool
	Seconds     int
	Gone        bool // a password was generated that is not shown any more
	Next        string
	Parts       []copied
}

type copied struct{ Group, Action, Reason string }

// stepLine is a sentence about what comes and goes.
type stepLine struct{ Mark, Icon, Text string }

// plannedRow is a value before and after.
type plannedRow struct{ Object, Field, Now, Then string }

// What the kinds of changes of a plan mean for its values.
const (
	secretChange = "secret" // they must not be shown
	memberChange = "member" // they are members that go and come
)

// The effect of a plan that changes nothing.
const noEffect = "none"

// existsField is the field of a plan that says whether the object is there.
const existsField = "exists"

func (c *visit) showStep(status int, s *step, said *alert, password string) {
	lang := c.lang()
	body := stepPage{
		speaker: c.speaker(), step: s, Saying: s.Says[lang], Nothing: s.Plan.Effect == noEffect,
		Undo: wordOf("plan.undo", s.Plan.Undo), Again: typedAddress(s.Form, s.Typed), Confirm: s.Form.Label[lang],
		Danger: s.Form.Op.Effect == ops.Delete || dangers[s.Form.Op.ID], Password: password,
	}
	for _, o := range s.Plan.Objects {
		for _, change := range o.Changes {
			c.tell(&body, o, change)
		}
	}
	body.Worth = c.worth(s)
	title := body.Saying
	if s.Result != nil {
		said = c.result(&body, s, password)
		if !s.Result.ok() {
			title += c.say("step.notDone")
		}
	}
	c.page(status, "step", page{Title: title, Section: sectionOf(s.Form), Alert: said, Body: body})
}

// dangers are the rows besides removals whose button is that of a danger.
var dangers = map[string]bool{"user.disable": true, "computer.disable": true}

// result adds what a step did, and returns what is wrong with it.
func (c *visit) result(body *stepPage, s *step, password string) *alert {
	body.Next = withDone(s.landing(), s.ID)
	if s.Form.Op.ID == "membership.copy" {
		body.Parts = records[copied](s.Result)
	}
	if password != "" {
		left := passwordLife - time.Since(s.shown)
		body.Spelled = spelled(password, c.speaker())
		body.Seconds = max(1, int(left.Seconds()))
		minutes := c.count("step.minutes", max(1, int((left+time.Minute-1)/time.Minute)))
		body.Left = c.say("pass.left", "n", minutes)
	} else if s.sealed != nil {
		body.Gone = true
	}
	return alertOf(s.Result)
}

// mostAddress limits an address with the values of a form.
const mostAddress = 6 << 10

// tell adds what a plan says of one change.
func (c *visit) tell(body *stepPage, o planned, change plannedChange) {
	name := lastOf(pathText(o.DistinguishedName))
	line := func(mark, icon, key string, pairs ...string) {
		body.Lines = append(body.Lines, stepLine{mark, icon, c.say(key, append(pairs, "object", name)...)})
	}
	switch {
	case change.Kind == secretChange:
		line("", "key", "step.password")
	case change.Kind == memberChange:
		body.MembersStay = true
		for _, one := range membersIn(change.Before) {
			line("−", "minus", "step.leaves", "member", one)
		}
		for _, one := range membersIn(change.After) {
			line("+", "plus", "step.joins", "member", one)
		}
	case change.Field == existsField && string(change.After) == "true":
		line("+", "plus", "step.created", "place", aboveOf(o.DistinguishedName))
	case change.Field == existsField:
		line("−", "minus", "step.deleted")
	default:
		body.Rows = append(body.Rows, plannedRow{
			name, c.fieldName(body.Form, change.Field), c.valueText(change.Before), c.valueText(change.After),
		})
	}
}

// aboveOf returns the path of what holds an object.
func aboveOf(dn string) string {
	_, above := cutDN(dn)
	return pathText(above)
}

// fieldName returns what people call a field of a plan.
func (c *visit) fieldName(f *form.Form, field string) string {
	if text := c.say("field." + field); text != "" {
		return text
	}
	if shape := f.Op.Reply.Shape; shape != nil {
		for i := range f.Fields {
			if fieldFor(f.Op, f.Fields[i].Name) == field {
				return f.Fields[i].Label[c.lang()]
			}
		}
	}
	if words := form.LabelOf(field); words[c.lang()] != "" {
		return words[c.lang()]
	}
	return label(field)
}

// valueText shows a value of a plan.
func (c *visit) valueText(value json.RawMessage) string {
	var v any
	_ = json.Unmarshal(value, &v) // an answer of ours
	switch v := v.(type) {
	case nil:
		return c.say("value.none")
	case bool:
		if v {
			return c.say("value.yes")
		}
		return c.say("value.no")
	case string:
		if v == "" {
			return c.say("value.none")
		}
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return moment(v)
		}
		if strings.Contains(v, ",DC=") {
			return pathText(v)
		}
		return v
	case []any:
		var parts []string
		for _, one := range v {
			text, _ := json.Marshal(one) // it was read from JSON
			parts = append(parts, c.valueText(text))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		var parts []string
		for _, name := range sortedKeys(v) {
			text, _ := json.Marshal(v[name]) // it was read from JSON
			if string(text) != "null" {
				parts = append(parts, c.valueText(text))
			}
		}
		return strings.Join(parts, " ")
	}
	return string(value)
}

func sortedKeys(m map[string]any) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// membersIn returns the names of the members in a value, which is one, a list or null.
func membersIn(value json.RawMessage) []string {
	var all []string
	if json.Unmarshal(value, &all) != nil {
		var one *string
		if _ = json.Unmarshal(value, &one); one != nil {
			all = []string{*one}
		}
	}
	for i := range all {
		if strings.Contains(all[i], "DC=") {
			all[i] = lastOf(pathText(all[i]))
		}
	}
	return all
}

// worth returns what is unusual: checks that failed, warnings, and what others have changed meanwhile.
func (c *visit) worth(s *step) (all []string) {
	for _, check := range s.Plan.Checks {
		if check.State == schema.CheckFailed {
			all = append(all, check.Message)
		}
	}
	for _, w := range s.Warned {
		all = append(all, w.Message)
	}
	if s.Result != nil {
		for _, w := range s.Result.Warnings {
			all = append(all, w.Message)
		}
	}
	return append(all, c.meanwhile(s)...)
}

// meanwhile says what was changed of the objects of a step since its preview, which it does not touch.
func (c *visit) meanwhile(s *step) (all []string) {
	if s.Plan.Made == "" || !c.may(identity.ChangeRead) {
		return nil
	}
	for _, o := range s.Plan.Objects {
		if o.GUID == "" {
			continue
		}
		for _, made := range records[record](c.get("change.list", "Object", o.GUID, "Since", s.Plan.Made, "Limit", "5")) {
			if s.Result != nil && made.Text("id") == s.Result.ChangeID {
				continue
			}
			f := form.Of(made.Text("operation"))
			if f == nil || made.Text("outcome") != "done" {
				continue
			}
			all = append(all, c.say("step.meanwhile", "who", callerIn(made), "action", f.Label[c.lang()],
				"object", lastOf(pathText(o.DistinguishedName))))
		}
	}
	return all
}

// doneName is the parameter of a page that names the step of its message.
const doneName = "done"

// doneMessage is what a page says about a step that was done.
type doneMessage struct {
	Text   string
	Notes  []string
	Change string // address of the change; empty: it is not known
	Undo   string // address of the form that undoes it; empty: that cannot be, or not by this person
	ID     string // of the change
	Label  string
	See    string
	From   string // the page
}

// message returns what the page says about a step; nil: nothing.
func (c *visit) message() *doneMessage {
	id := c.r.URL.Query().Get(doneName)
	if c.r.Method != http.MethodGet || id == "" {
		return nil
	}
	s := c.step(id)
	if s == nil || s.Result == nil || !s.Result.ok() {
		return nil
	}
	m := &doneMessage{
		Text: c.say("step.done", "what", s.Says[c.lang()]), Notes: c.worth(s), ID: s.Result.ChangeID,
		Label: c.say("step.undo"), See: c.say("step.see"), From: s.landing(),
	}
	if s.Plan.Effect == noEffect {
		m.Text = c.say("step.same", "what", s.Says[c.lang()])
	}
	if m.ID == "" {
		return m
	}
	if c.may(identity.ChangeRead) {
		m.Change = address("changes", m.ID)
	}
	if undo := form.Of("change.undo"); undo != nil && c.mayDo(undo.Op) && s.Form.Op.Undo.Never == "" && s.Form.Op.ID != "change.undo" {
		m.Undo = address(doPath, "change.undo")
	}
	return m
}

// spelledPart is a part of a password, and how it is said.
type spelledPart struct{ Text, Say, Letters string }

// spelled returns the parts of a password as they are read out: up to each hyphen.
func spelled(password string, s speaker) (all []spelledPart) {
	if !strings.Contains(password, "-") || strings.ContainsAny(password, "!#$%*+=?@_~") {
		return []spelledPart{{password, "", spell(password)}}
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
		say := s.Say(key, "word", strings.ToLower(word))
		if part != word {
			say += s.Say("spell.hyphen")
		}
		all = append(all, spelledPart{part, say, spell(word)})
	}
	return all
}

// listAgain returns a value of a step as it was before it was kept: a list is kept as its text.
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

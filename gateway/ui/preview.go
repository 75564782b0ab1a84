package ui

import (
	"encoding/json"
	"strings"
	"time"

	"adgateway/gateway/ui/texts"
)

// previewPage shows what a step would change.
type previewPage struct {
	*step
	Nothing bool // would change
	Rows    []plannedRow
	Undo    word
	Checks  []planCheckRow
}

// plannedRow is a change as a preview shows it: the value now and then, or what is added to
// and taken from a list, of which the rest stays.
type plannedRow struct {
	Object                   string
	Field, Now, Then, Effect texts.Text
}

type planCheckRow struct {
	Word    word
	Message string
}

// What the kinds of changes of a plan mean for its values.
const (
	secretChange = "secret" // they must not be shown
	memberChange = "member" // they are members that go and come
)

// The effect of a plan that changes nothing.
const noEffect = "none"

func (c *visit) showPreview(status int, s *step, said *alert) {
	body := previewPage{step: s, Nothing: s.Plan.Effect == noEffect, Undo: wordOf("plan.undo", s.Plan.Undo)}
	for _, o := range s.Plan.Objects {
		for _, change := range o.Changes {
			body.Rows = append(body.Rows, change.row(rdn(o.DistinguishedName)))
		}
	}
	for _, check := range s.Plan.Checks {
		body.Checks = append(body.Checks, planCheckRow{wordOf("check.state", check.State), check.Message})
	}
	c.page(status, "preview", page{Title: texts.Raw(s.Says), Section: s.Kind.path, Body: body, Alert: said})
}

func (p plannedChange) row(object string) plannedRow {
	row := plannedRow{Object: object, Field: label(p.Field)}
	switch p.Kind {
	case secretChange:
		row.Now, row.Then = texts.Of("value.secret"), texts.Of("value.newSecret")
	case memberChange:
		moved := append(marked("− ", p.Before), marked("+ ", p.After)...)
		row.Effect = texts.Of("value.members", "moved", strings.Join(moved, ", "))
	default:
		row.Now, row.Then = shown(p.Before), shown(p.After)
	}
	return row
}

// marked returns the members in a value, which is one, a list or null, with a mark.
func marked(mark string, value json.RawMessage) []string {
	var all []string
	if json.Unmarshal(value, &all) != nil {
		var one *string
		if _ = json.Unmarshal(value, &one); one != nil {
			all = []string{*one}
		}
	}
	for i := range all {
		all[i] = mark + rdn(all[i])
	}
	return all
}

// shown shows a value of a plan.
func shown(value json.RawMessage) texts.Text {
	var v any
	_ = json.Unmarshal(value, &v) // an answer of ours
	return valueText(v)
}

func valueText(v any) texts.Text {
	switch v := v.(type) {
	case nil:
		return texts.Of("word.none")
	case bool:
		if v {
			return texts.Of("word.yes")
		}
		return texts.Of("word.no")
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return texts.At(at.UTC())
		}
		return texts.Raw(rdn(v))
	case []any:
		var all []texts.Text
		for _, one := range v {
			all = append(all, valueText(one))
		}
		return texts.List(all...)
	}
	text, _ := json.Marshal(v) // it was read from JSON
	return texts.Raw(string(text))
}

package ui

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// changePage is the page of one change.
type changePage struct {
	ID      string
	Rows    []sideRow
	Facts   []say.Fact
	Later   []madeRow
	Undo    string // address of the form that undoes the change; empty if it is not offered
	Asks    bool   // Undo asks for a reason first
	NotUndo texts.Text
}

// sideRow is a value before and after a change.
type sideRow struct {
	Object        string
	Link          string // address of the object's page
	Field         texts.Text
	Before, After texts.Text
	Now           texts.Text // current value; nil if it is still After
}

// showChange shows one change.
func showChange(c *frame.Visit) {
	r := c.One(c.Get("change.get", "ChangeId", c.R.PathValue("id"), "Compare", "true"))
	if r == nil {
		return
	}
	body := changePage{ID: r.Text("id")}
	for _, o := range say.ObjectsIn(r) {
		name, link := say.NameOfDN(o.Text("distinguishedName")), ""
		if guid := o.Text("guid"); guid != "" {
			link = say.Address("objects", guid)
		}
		for _, change := range say.ListIn(o, "changes") {
			row := sideRow{Object: name, Link: link, Field: say.Label(change.Text("field"))}
			row.Before, row.After = say.ValueOf(change, "before"), say.ValueOf(change, "after")
			if change.Text("state") == "drifted" && change.Text("kind") != say.SecretChange {
				row.Now = say.ValueText(change["now"])
			}
			body.Rows = append(body.Rows, row)
		}
		if len(say.ListIn(o, "changes")) == 0 {
			body.Rows = append(
				body.Rows, sideRow{Object: name, Link: link, Field: texts.Of("effect." + r.Text("effect"))},
			)
		}
	}
	body.Facts = say.FactsOf(r, changeFacts)
	if undo := r.Text("undo"); undo == "none" {
		body.NotUndo = say.UndoWord(r.Text("operation"), undo).Text
	} else if c.May(identity.ChangeUndo) {
		body.Undo = say.Asking(say.Address("do", "change.undo"), "ChangeId", body.ID)
		body.Asks = c.NeedsReason("change.undo")
	}
	if objects := say.ObjectsIn(r); len(objects) > 0 && objects[0].Text("guid") != "" {
		later := frame.Records[say.Record](c.Listed(frame.List{
			Operation: "change.list", Key: "id", Before: frame.Newest, Most: 20,
			Values: map[string]any{"Object": objects[0].Text("guid"), "Since": r.Text("time")},
		}))
		for _, one := range later {
			if one.Text("id") != body.ID {
				body.Later = append(body.Later, madeRows([]say.Record{one})...)
			}
		}
	}
	c.Page(http.StatusOK, "change", frame.Page{Title: say.DidText(r), Section: "changes", Body: body})
}

// changeFacts are the facts about a change.
var changeFacts = []say.FactRow{
	{Label: "who", Show: func(r say.Record) say.Fact { return say.Fact{Text: texts.Raw(say.CallerIn(r))} }},
	{Label: "when", Show: say.At("time")},
	{Label: "result", Show: say.Flagged("outcome")},
	{Label: "server", Show: say.Plainly("server")},
	{Label: "reason", Show: say.Plainly("reason")},
	{Label: "undo", Show: func(r say.Record) say.Fact {
		return say.Fact{Words: []say.Word{say.UndoWord(r.Text("operation"), r["undo"])}}
	}},
	{Label: "undoes", Show: func(r say.Record) say.Fact {
		if id := r.Text("undoes"); id != "" {
			return say.Fact{Text: texts.Of("change.earlier"), Link: say.Address("changes", id)}
		}
		return say.Fact{}
	}},
	{Label: "undoneBy", Show: func(r say.Record) say.Fact {
		all, _ := r["undoneBy"].([]any)
		for _, one := range all {
			if id, is := one.(string); is {
				return say.Fact{Text: texts.Of("change.later"), Link: say.Address("changes", id)}
			}
		}
		return say.Fact{}
	}},
	{Label: "requestID", Show: say.Plainly("requestId")},
}

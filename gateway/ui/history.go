package ui

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// changePage is the page of one change.
type changePage struct {
	ID      string
	Rows    []sideRow
	Facts   []fact
	Later   []madeRow
	Undo    string // where the form goes that undoes it; empty: it is not offered
	NotUndo texts.Text
}

// sideRow is a value before and after a change.
type sideRow struct {
	Object        string
	Link          string // to the object
	Field         texts.Text
	Before, After texts.Text
	Now           texts.Text // nil: as after
}

// showChange shows one change.
func showChange(c *visit) {
	a := c.get("change.get", "ChangeId", c.r.PathValue("id"), "Compare", "true")
	found := records[record](a)
	if !a.ok() || len(found) != 1 {
		c.failed(a)
		return
	}
	r := found[0]
	body := changePage{ID: r.Text("id")}
	for _, o := range objectsIn(r) {
		name, link := nameOfDN(o.Text("distinguishedName")), ""
		if guid := o.Text("guid"); guid != "" {
			link = address("objects", guid)
		}
		for _, change := range listIn(o, "changes") {
			row := sideRow{Object: name, Link: link, Field: label(change.Text("field"))}
			row.Before, row.After = valueOf(change, "before"), valueOf(change, "after")
			if change.Text("state") == "drifted" && change.Text("kind") != secretChange {
				row.Now = valueText(change["now"])
			}
			body.Rows = append(body.Rows, row)
		}
		if len(listIn(o, "changes")) == 0 {
			body.Rows = append(
				body.Rows, sideRow{Object: name, Link: link, Field: texts.Of("effect." + r.Text("effect"))},
			)
		}
	}
	body.Facts = factsOf(r, changeFacts)
	if undo := r.Text("undo"); undo == "none" {
		body.NotUndo = wordOf("plan.undo", undo).Text
	} else if c.may(identity.ChangeUndo) {
		body.Undo = asking(address("do", "change.undo"), "ChangeId", body.ID)
	}
	if objects := objectsIn(r); len(objects) > 0 && objects[0].Text("guid") != "" {
		later := records[record](c.listed(list{
			operation: "change.list", key: "id", before: newest, most: 20,
			values: map[string]any{"Object": objects[0].Text("guid"), "Since": r.Text("time")},
		}))
		for _, one := range later {
			if one.Text("id") != body.ID {
				body.Later = append(body.Later, madeRows([]record{one})...)
			}
		}
	}
	c.page(http.StatusOK, "change", page{Title: didText(r), Section: "changes", Body: body})
}

// changeFacts are the facts about a change.
var changeFacts = []factRow{
	{"who", func(r record) fact { return fact{Text: texts.Raw(callerIn(r))} }, nil},
	{"when", at("time"), nil},
	{"result", flagged("outcome"), nil},
	{"server", plainly("server"), nil},
	{"reason", plainly("reason"), nil},
	{"undo", func(r record) fact { return fact{Words: []word{wordOf("plan.undo", r["undo"])}} }, nil},
	{"undoes", func(r record) fact {
		if id := r.Text("undoes"); id != "" {
			return fact{Text: texts.Of("change.earlier"), Link: address("changes", id)}
		}
		return fact{}
	}, nil},
	{"undoneBy", func(r record) fact {
		all, _ := r["undoneBy"].([]any)
		for _, one := range all {
			if id, is := one.(string); is {
				return fact{Text: texts.Of("change.later"), Link: address("changes", id)}
			}
		}
		return fact{}
	}, nil},
	{"requestID", plainly("requestId"), nil},
}

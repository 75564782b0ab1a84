package ui

import (
	"cmp"
	"net/url"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// listing is a row of the table of lists: what a list shows, and of which operation.
type listing struct {
	path      string // of its page, and its texts below "page."
	within    link   // the object that it is a part of, such as a zone
	section   string // of the menu; empty: path
	icon      string
	scope     identity.Scope
	operation string
	fixed     map[string]string // parameters that the list always has
	key       string            // the field that tells records apart
	before    func(a, b record) bool
	pages     bool // the operation has Limit and After
	rows      int  // of a page; 0: [perPage]
	searches  bool // it has Text
	columns   []column
	views     []view
	filters   []string // fields that can be filtered by, which have the texts "column."
	many      []many
	object    string // parameter that names an object in the operations for many
}

// address returns the address of the list's page.
func (l *listing) address() string {
	if l.within.Path != "" {
		return l.within.Path + "/" + url.PathEscape(l.path)
	}
	return address(l.path)
}

// title returns the heading of the list's page.
func (l *listing) title() texts.Text {
	title := texts.Of("page." + l.path)
	if l.within.Path != "" {
		return texts.Of("list.within", "what", title, "object", l.within.Text)
	}
	return title
}

// column is a column of a list. Its text has the key "column." and its name.
type column struct {
	name, class string
	cell        func(r record) cell
	order       string // the field that it is sorted by; empty: it is not
}

// cell is what stands in one place of a table.
type cell struct {
	Class, Label string
	Text         texts.Text
	Link, Time   string
	Words        []word
	Path         []string // of an organizational unit, from the top
	Last         string   // the end of the path, which is never cut
	Code         bool
}

// view is a filter that people often want. Its text has the key "view." and its id.
type view struct {
	id, filter string
	tone       color
	days       int  // since when, for changes
	tile       bool // it stands on the home page
}

// many is what can be done with all that are selected. Its text has the key "many." and its id.
type many struct {
	id, operation string
	scope         identity.Scope
	asks          string // a parameter that is asked for; its text is below "many."
	danger        bool
}

func textCell(fields ...string) func(record) cell {
	return func(r record) cell { return cell{Text: texts.Raw(r.first(fields...))} }
}

func timeCell(field string) func(record) cell {
	return func(r record) cell { return cell{Time: r.Text(field)} }
}

// nameCell shows the name of an object, which leads to its page.
func nameCell(path, key string, fields ...string) func(record) cell {
	return func(r record) cell {
		return cell{Text: texts.Raw(cmp.Or(r.first(fields...), r.Text(key))), Link: address(path, r.Text(key))}
	}
}

func pathCell(field string) func(record) cell {
	return func(r record) cell {
		parts := pathOf(r.Text(field))
		if len(parts) == 0 {
			return cell{}
		}
		return cell{Path: parts[:len(parts)-1], Last: parts[len(parts)-1], Link: address("ous", r.Text(field))}
	}
}

// stateFields are the fields that say how an account is, the most important first.
var stateFields = []string{"enabled", "lockedOut", "locked", "accountExpired", "changePasswordNextLogon"}

// accountState says in one word how an account is. The first that holds counts.
func accountState(r record) cell {
	for _, field := range stateFields {
		if w := wordOf("state."+field, r[field]); !w.Text.Empty() {
			return cell{Words: []word{w}}
		}
	}
	if r["enabled"] != true {
		return cell{}
	}
	return cell{Words: []word{wordOf("state", "active")}}
}

// stated adds to the record of an account what follows from its times.
func stated(r record, now time.Time) record {
	if at, err := time.Parse(time.RFC3339, r.Text("accountExpires")); err == nil {
		r["accountExpired"] = !at.After(now)
	}
	return r
}

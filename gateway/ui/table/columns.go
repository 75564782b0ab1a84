package table

import (
	"cmp"
	"net/url"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Listing is a row of the table of lists: what a list shows, and of which operation.
type Listing struct {
	Path      string     // of its page, and its texts below "page."
	Within    frame.Link // the object that it is a part of, such as a zone
	Section   string     // of the menu; empty: path
	Icon      string
	Scope     identity.Scope
	Operation string
	Fixed     map[string]string // parameters that the list always has
	Key       string            // the field that tells records apart
	Before    func(a, b say.Record) bool
	Pages     bool // the operation has Limit and After
	Rows      int  // of a page; 0: [perPage]
	Searches  bool // it has Text
	Columns   []Column
	Views     []View
	Filters   []string // fields that can be filtered by, which have the texts "column."
	Many      []Many
	Object    string                 // parameter that names an object in the operations for many
	AsRead    bool                   // without a sort the records stay as the operation gives them
	Above     func(*frame.Visit) any // what stands above the list; nil: nothing
}

// Address returns the address of the list's page.
func (l *Listing) Address() string {
	if l.Within.Path != "" {
		return l.Within.Path + "/" + url.PathEscape(l.Path)
	}
	return say.Address(l.Path)
}

// title returns the heading of the list's page.
func (l *Listing) title() texts.Text {
	title := texts.Of("page." + l.Path)
	if l.Within.Path != "" {
		return texts.Of("list.within", "what", title, "object", l.Within.Text)
	}
	return title
}

// Column is a column of a list. Its text has the key "column." and its name.
type Column struct {
	Name, Class string
	Cell        func(r say.Record) Cell
	Order       string // the field that it is sorted by; empty: it is not
}

// Cell is what stands in one place of a table.
type Cell struct {
	Class, Label string
	Text         texts.Text
	Link, Time   string
	Words        []say.Word
	Path         []string // of an organizational unit, from the top
	Last         string   // the end of the path, which is never cut
	Code         bool
	Whole        texts.Text // what is cut where there is no room; nil: nothing is
}

// nothing reports whether the cell is empty.
func (f Cell) nothing() bool {
	return f.Text.Empty() && f.Time == "" && len(f.Words) == 0 && f.Last == ""
}

// View is a filter that people often want. Its text has the key "view." and its id.
type View struct {
	ID, Filter string
	Tone       say.Color
	Days       int               // since when, for changes
	Values     map[string]string // parameters
	Tile       bool              // it stands on the home page
}

// Many is what can be done with all that are selected. Its text has the key "many." and its id.
type Many struct {
	ID, Operation string
	Scope         identity.Scope
	Asks          string // a parameter that is asked for; its text is below "many."
	Danger        bool
}

func TextCell(fields ...string) func(say.Record) Cell {
	return func(r say.Record) Cell { return Cell{Text: texts.Raw(r.First(fields...))} }
}

func TimeCell(field string) func(say.Record) Cell {
	return func(r say.Record) Cell { return Cell{Time: r.Text(field)} }
}

// NameCell shows the name of an object, which leads to its page.
func NameCell(path, key string, fields ...string) func(say.Record) Cell {
	return func(r say.Record) Cell {
		return Cell{Text: texts.Raw(cmp.Or(r.First(fields...), r.Text(key))), Link: say.Address(path, r.Text(key))}
	}
}

func PathCell(field string) func(say.Record) Cell {
	return func(r say.Record) Cell {
		parts := say.PathOf(r.Text(field))
		if len(parts) == 0 {
			return Cell{}
		}
		return Cell{Path: parts[:len(parts)-1], Last: parts[len(parts)-1], Link: say.Address("ous", r.Text(field))}
	}
}

// stateFields are the fields that say how an account is, the most important first.
var stateFields = []string{"enabled", "lockedOut", "locked", "accountExpired", "changePasswordNextLogon"}

// AccountState says in one word how an account is. The first that holds counts.
func AccountState(r say.Record) Cell {
	for _, field := range stateFields {
		if w := say.WordOf("state."+field, r[field]); !w.Text.Empty() {
			return Cell{Words: []say.Word{w}}
		}
	}
	if r["enabled"] != true {
		return Cell{}
	}
	return Cell{Words: []say.Word{say.WordOf("state", "active")}}
}

// Stated adds to the record of an account what follows from its times.
func Stated(r say.Record, now time.Time) say.Record {
	if at, err := time.Parse(time.RFC3339, r.Text("accountExpires")); err == nil {
		r["accountExpired"] = !at.After(now)
	}
	return r
}

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

// Listing describes a list, with its operation and the layout of its page.
type Listing struct {
	Path      string     // path of the page; its texts have the key "page." followed by Path
	Within    frame.Link // object that the list belongs to, such as a zone
	Section   string     // section of the menu; empty means Path
	Icon      string
	Scope     identity.Scope
	Operation string
	Fixed     map[string]string // constant parameters
	Key       string            // field that identifies a record
	Before    func(a, b say.Record) bool
	Pages     bool // the operation has Limit and After
	Rows      int  // rows per page; 0 means [PerPage]
	Searches  bool // the operation has Text
	Columns   []Column
	Views     []View
	Filters   []string // fields to filter by; their texts have the key "column." followed by the name
	Many      []Many
	Object    string                 // parameter that names the object in operations on the selection
	AsRead    bool                   // records stay in the order of the operation unless a sort is requested
	Above     func(*frame.Visit) any // content above the list; may be nil
}

// Address returns the address of the list's page.
func (l *Listing) Address() string {
	if l.Within.Path != "" {
		return l.Within.Path + "/" + url.PathEscape(l.Path)
	}
	return say.Address(l.Path)
}

// title returns the title of the list's page.
func (l *Listing) title() texts.Text {
	title := texts.Of("page." + l.Path)
	if l.Within.Path != "" {
		return texts.Of("list.within", "what", title, "object", l.Within.Text)
	}
	return title
}

// Column is a column of a list. The key of its text is "column." followed by Name.
type Column struct {
	Name, Class string
	Cell        func(r say.Record) Cell
	Order       string // fields to sort by; empty if the list cannot be sorted by the column
}

// Cell is the content of a table cell.
type Cell struct {
	Class, Label string
	Text         texts.Text
	Link, Time   string
	Words        []say.Word
	Path         []string // path of an organizational unit, topmost first
	Last         string   // last part of the path, which is never truncated
	Code         bool
	Whole        texts.Text // full text if Text may be truncated; otherwise nil
}

// nothing reports whether the cell is empty.
func (f Cell) nothing() bool {
	return f.Text.Empty() && f.Time == "" && len(f.Words) == 0 && f.Last == ""
}

// View is a quick view, which is a filter that people often need. The key of its text is "view." followed by
// ID.
type View struct {
	ID, Filter string
	Tone       say.Color
	Days       int               // number of days to show, for changes
	Values     map[string]string // parameters
	Tile       bool              // show it on the home page
}

// Many is an action on all selected objects. The key of its text is "many." followed by ID.
type Many struct {
	ID, Operation string
	Scope         identity.Scope
	Asks          string // parameter to ask for; the key of its text starts with "many."
	Danger        bool
}

func TextCell(fields ...string) func(say.Record) Cell {
	return func(r say.Record) Cell { return Cell{Text: texts.Raw(r.First(fields...))} }
}

func TimeCell(field string) func(say.Record) Cell {
	return func(r say.Record) Cell { return Cell{Time: r.Text(field)} }
}

// NameCell returns a cell with an object's name that links to its page.
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

// stateFields contains the fields that describe the state of an account, most important first.
var stateFields = []string{"enabled", "lockedOut", "locked", "accountExpired", "changePasswordNextLogon"}

// AccountState returns a cell with the state of an account, which is the word for the first field that
// applies.
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

// Stated adds fields that follow from the times of an account to its record. It modifies r and returns it.
func Stated(r say.Record, now time.Time) say.Record {
	if at, err := time.Parse(time.RFC3339, r.Text("accountExpires")); err == nil {
		r["accountExpired"] = !at.After(now)
	}
	return r
}

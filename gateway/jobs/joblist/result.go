package joblist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"adgateway/gateway/sheet"
)

// Outcome is the outcome of an item. Texts may be empty.
type Outcome struct {
	State    string
	Code     string // of the error
	Message  string
	ChangeID string
	GUID     string // of the object
	Sealed   string // secrets for the job's caller; see [ResultOptions]
}

// ResultOptions configure how a result is written.
type ResultOptions struct {
	Format Format                 // CSV or NDJSON, whatever the format of the list
	Secret func(name string) bool // reports which parameters to leave out; nil for none
	Sealed bool                   // whether to add a column Sealed, with the item's secrets as a sealed box

	Foreign bool // its reader did not submit the list
}

// Result writes the result of a job: the submitted columns without the secret ones, then State,
// Code, Message, ChangeId, Guid and, if requested, Sealed. If the list has a column of the same
// name, such a name gets the prefix Job. In NDJSON the members are named state, code, message,
// changeId, guid and sealed, and the cells of columns that are not parameters are in kept.
//
// A cell that somebody other than the reader may have written is defused, see [sheet.Defused]. This
// applies to the column Message, which may show values from the directory, and in a foreign result
// also to the submitted columns. For the submitter these stay unchanged, because a telephone number
// that begins with + must survive when rows of the result are submitted again. Sealed values stay
// unchanged, so they can be opened.
//
// A Result is not safe for concurrent use.
type Result struct {
	options ResultOptions
	list    *List
	csv     *sheet.Writer // nil for NDJSON
	json    *json.Encoder
	columns []column
	cells   []string
	begun   bool
	w       io.Writer
}

// column is a submitted column.
type column struct {
	name string
	cell func(*Item) string
}

// addition is a column that the result adds.
type addition struct {
	name string
	of   func(*Outcome) string
}

// additions are the columns that are added, in order.
var additions = []addition{
	{"State", func(o *Outcome) string { return o.State }},
	{"Code", func(o *Outcome) string { return o.Code }},
	{"Message", func(o *Outcome) string { return sheet.Defused(o.Message) }},
	{"ChangeId", func(o *Outcome) string { return o.ChangeID }},
	{"Guid", func(o *Outcome) string { return o.GUID }},
	{"Sealed", func(o *Outcome) string { return o.Sealed }},
}

// NewResult begins the result of a list. It uses Separator, BOM and Header of the list. Format determines the
// columns other than the parameters. The separator for a list that is not CSV is a comma.
func NewResult(w io.Writer, list *List, options ResultOptions) *Result {
	r := &Result{options: options, list: list, w: w}
	if r.options.Secret == nil {
		r.options.Secret = func(string) bool { return false }
	}
	if options.Format == CSV {
		r.csv = sheet.NewWriter(w, cmp.Or(list.Separator, ','))
		r.columns = r.submitted()
		return r
	}
	r.json = json.NewEncoder(w)
	r.json.SetEscapeHTML(false)
	return r
}

// submitted returns the columns of the list.
func (r *Result) submitted() []column {
	fixed := map[string]column{
		"operation": {"Operation", func(i *Item) string { return i.Operation }},
		"id":        {"Id", func(i *Item) string { return i.ID }},
		"ifmatch":   {"IfMatch", func(i *Item) string { return i.IfMatch }},
		"after":     {"After", func(i *Item) string { return strings.Join(i.After, " ") }},
	}
	var all []column
	if r.list.Format != CSV {
		for _, key := range []string{"id", "operation", "ifmatch", "after"} {
			all = append(all, fixed[key])
		}
	}
	for at, name := range r.list.Names() {
		heading := r.list.Header[at]
		c, ok := fixed[strings.ToLower(strings.ReplaceAll(name, "-", ""))]
		switch {
		case ok && r.list.Format == CSV:
			all = append(all, column{heading, c.cell})
		case heading == "", r.options.Secret(name), r.options.Secret(heading):
		case name == "":
			all = append(all, column{heading, func(i *Item) string { return i.Kept[at] }})
		default:
			all = append(all, column{heading, func(i *Item) string { return cellOf(i.Parameters, name) }})
		}
	}
	return all
}

// cellOf returns a parameter as a cell that is read back as the same value.
func cellOf(parameters map[string]any, name string) string {
	value, given := parameters[name]
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		if given && v == "" {
			return Clear
		}
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	default:
		text, _ := json.Marshal(v) // it was decoded from JSON
		return string(text)
	}
}

// Write adds an item, which may lack its parameters.
func (r *Result) Write(item Item, outcome Outcome) error {
	if r.json != nil {
		return r.line(item, outcome)
	}
	if err := r.begin(); err != nil {
		return err
	}
	r.cells = r.cells[:0]
	for _, c := range r.columns {
		r.cells = append(r.cells, r.shown(c.cell(&item)))
	}
	for _, c := range r.added() {
		r.cells = append(r.cells, c.of(&outcome))
	}
	return r.csv.Write(r.cells)
}

// Flush writes the rest. A CSV without items still gets its first row.
func (r *Result) Flush() error {
	if r.csv == nil {
		return nil
	}
	if err := r.begin(); err != nil {
		return err
	}
	return r.csv.Flush()
}

func (r *Result) added() []addition {
	if r.options.Sealed {
		return additions
	}
	return additions[:len(additions)-1]
}

// begin writes the first row, once.
func (r *Result) begin() error {
	if r.begun {
		return nil
	}
	r.begun = true
	if r.list.BOM {
		if _, err := io.WriteString(r.w, "\ufeff"); err != nil {
			return err
		}
	}
	var names []string
	for _, c := range r.columns {
		names = append(names, r.shown(c.name))
	}
	for _, c := range r.added() {
		name := c.name
		if slices.ContainsFunc(r.columns,
			func(submitted column) bool { return strings.EqualFold(submitted.name, name) }) {
			name = "Job" + name
		}
		names = append(names, name)
	}
	return r.csv.Write(names)
}

// shown returns a submitted cell, or the name of its column, in the form for the reader.
func (r *Result) shown(cell string) string {
	if r.options.Foreign {
		return sheet.Defused(cell)
	}
	return cell
}

// resultLine is an item of a result in NDJSON.
type resultLine struct {
	Line       int               `json:"line"`
	ID         string            `json:"id,omitempty"`
	Operation  string            `json:"operation,omitempty"`
	Parameters map[string]any    `json:"parameters,omitempty"`
	Kept       map[string]string `json:"kept,omitempty"`
	IfMatch    string            `json:"ifMatch,omitempty"`
	After      []string          `json:"after,omitempty"`
	State      string            `json:"state"`
	Code       string            `json:"code,omitempty"`
	Message    string            `json:"message,omitempty"`
	ChangeID   string            `json:"changeId,omitempty"`
	GUID       string            `json:"guid,omitempty"`
	Sealed     string            `json:"sealed,omitempty"`
}

func (r *Result) line(item Item, o Outcome) error {
	line := resultLine{
		Line: item.Line, ID: item.ID, Operation: item.Operation, IfMatch: item.IfMatch, After: item.After,
		State: o.State, Code: o.Code, Message: o.Message, ChangeID: o.ChangeID, GUID: o.GUID,
	}
	if r.options.Sealed {
		line.Sealed = o.Sealed
	}
	for name, value := range item.Parameters {
		if !r.options.Secret(name) {
			if line.Parameters == nil {
				line.Parameters = make(map[string]any, len(item.Parameters))
			}
			line.Parameters[name] = value
		}
	}
	for at, cell := range item.Kept {
		if heading := r.list.Header[at]; !r.options.Secret(heading) {
			if line.Kept == nil {
				line.Kept = make(map[string]string, len(item.Kept))
			}
			line.Kept[heading] = cell
		}
	}
	return r.json.Encode(line)
}

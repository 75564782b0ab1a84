// Package joblist reads the list of a bulk job, as written by spreadsheets and programs, and writes
// the list of its results. It knows nothing of HTTP or of operations; its caller knows the meaning
// of the columns.
//
// [Read] reads CSV (csv.go), NDJSON and JSON (json.go) through one reader that limits the size and
// checks the encoding (source.go). Faults of single items are collected as [Problem]s. A text that
// is not a list is an error: [*Unreadable] or [*TooLarge]. No message contains the value of a cell,
// which may be a password, but messages repeat ids and column names.
//
// [Order] determines which items must have ended before another may begin. [Result] writes the
// items back with their outcomes.
package joblist

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Format is the format of a list.
type Format string

// The formats of lists.
const (
	CSV    Format = "csv"    // text/csv; the first row has the names of the parameters
	NDJSON Format = "ndjson" // application/x-ndjson; one object per line
	JSON   Format = "json"   // application/json: {"items": [...]}
)

// Item is one item of a list, as written.
type Item struct {
	Line      int    // physical line where the item begins, from 1
	ID        string // "" if it has none
	Operation string // operationId; "" if the item does not name one
	// CSV: string, without empty cells; JSON: string, json.Number, bool, nil, []any, map[string]any
	Parameters map[string]any
	Columns    map[string]int // CSV: column number of each parameter, from 1, shared by all items; otherwise nil
	IfMatch    string
	After      []string       // ids of items that must have succeeded
	Kept       map[int]string `json:",omitempty"` // cells that are not parameters, by column from 0
	Invalid    bool           // whether a problem concerns this item, so that it cannot be run
}

// Problem is a fault of a list, in words for its author.
type Problem struct {
	Line    int    `json:"line"`             // physical line where the item begins, from 1
	Column  int    `json:"column,omitempty"` // CSV: cell, from 1; line that is not JSON: character
	ID      string `json:"id,omitempty"`     // of the item
	Field   string `json:"field,omitempty"`  // name of the column, parameter or member
	Message string `json:"message"`
}

// List is a list that was read.
type List struct {
	Format        Format
	Separator     rune     // CSV: comma, semicolon or tab
	BOM           bool     // the list began with a byte order mark
	Header        []string // column names (CSV), or parameter names in order of first use (JSON)
	Columns       []string `json:",omitempty"` // the names in [Columns]; nil if the header has the parameters
	HeaderLine    int      // CSV: physical line where the first row begins
	Items         []Item
	Problems      []Problem // the first [Limits.MaxProblems], in line order
	TotalProblems int
	// whether the list was not read to its end because of too many problems
	Cut bool `json:",omitempty"`
	// whether a problem concerns the header or the whole list, so that leaving out items does not help
	Broken bool
}

// Columns gives the columns of a CSV list, in place of the names in its first row.
type Columns struct {
	// Names contains the parameter of each column, in order. A column with an empty name is not a parameter, and
	// its cells are kept for the result.
	Names []string
	Data  bool // the first row contains data, not names
}

// Names returns the parameter of each column, or "" for a column that is not a parameter.
func (l *List) Names() []string {
	if l.Columns != nil {
		return l.Columns
	}
	return l.Header
}

// Limits bound a list.
type Limits struct {
	MaxItems    int   // zero for no limit
	MaxBytes    int64 // zero for no limit
	MaxLine     int   // bytes of an NDJSON line, a JSON item, or a CSV row; zero means 256 KiB
	MaxProblems int   // problems that are listed; zero means 1,000
	Stop        bool  // stop reading after that many problems
}

// Limits of texts that answers repeat.
const (
	longestID    = 100  // in characters
	longestName  = 100  // characters of a column name
	mostAfter    = 100  // ids in one After
	mostNames    = 1000 // columns, or different names of parameters; no operation has nearly as many parameters
	mostProblems = 1000
)

func (l Limits) orDefault() Limits {
	return Limits{
		MaxItems: cmp.Or(l.MaxItems, math.MaxInt), MaxBytes: cmp.Or(l.MaxBytes, math.MaxInt64),
		MaxLine: cmp.Or(l.MaxLine, 256<<10), MaxProblems: cmp.Or(l.MaxProblems, mostProblems), Stop: l.Stop,
	}
}

// Unreadable is the error for a text that is not a list: the position, the fault, and what to send
// instead.
type Unreadable struct {
	Line, Column int // Column counts characters; it is 0 if there is no position
	Message      string
}

func (e *Unreadable) Error() string {
	switch {
	case e.Line > 0 && e.Column > 0:
		return fmt.Sprintf("line %d, character %d: %s", e.Line, e.Column, e.Message)
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	default:
		return e.Message
	}
}

// TooLarge is the error for a list that exceeds a limit.
type TooLarge struct {
	Limit int64
	Items bool // the limit is a number of items; otherwise bytes
}

func (e *TooLarge) Error() string {
	if e.Items {
		return fmt.Sprintf("the list has more than %d items; send it in several jobs", e.Limit)
	}
	return fmt.Sprintf("the list is larger than %d bytes; send it in several jobs", e.Limit)
}

// errEnough ends the reading of a list that has reached the maximum number of problems.
var errEnough = errors.New("the list has as many problems as are listed")

// Read reads a list to its end. The error is [*Unreadable], [*TooLarge], or an error from r.
func Read(r io.Reader, format Format, limits Limits) (*List, error) {
	return read(r, format, Columns{}, limits)
}

// ReadColumns is [Read] for a CSV list with the given columns.
func ReadColumns(r io.Reader, columns Columns, limits Limits) (*List, error) {
	return read(r, CSV, columns, limits)
}

func read(r io.Reader, format Format, columns Columns, limits Limits) (*List, error) {
	limits = limits.orDefault()
	src, err := newSource(r, limits.MaxBytes)
	if err != nil {
		return nil, err
	}
	list := List{Format: format, BOM: src.bom, Columns: columns.Names}
	in := &reader{List: list, data: columns.Data, limits: limits}
	switch format {
	case CSV:
		err = in.readCSV(src)
	case NDJSON:
		err = in.readNDJSON(src)
	case JSON:
		err = in.readJSON(src)
	default:
		err = &Unreadable{Message: fmt.Sprintf("%q is no format of a list: csv, ndjson or json", string(format))}
	}
	if in.Cut = errors.Is(err, errEnough); in.Cut {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if len(in.Items) == 0 && in.TotalProblems == 0 {
		return nil, &Unreadable{Message: "the list has no items"}
	}
	return &in.List, nil
}

// reader is a list that is being read.
type reader struct {
	List
	data   bool // CSV: the list has no row of names
	limits Limits
	names  map[string]bool // JSON: names in the header
}

// add adds an item, and its faults.
func (r *reader) add(item Item, problems ...Problem) error {
	if len(r.Items) == r.limits.MaxItems {
		return &TooLarge{Limit: int64(r.limits.MaxItems), Items: true}
	}
	item.Invalid = len(problems) > 0
	r.Items = append(r.Items, item)
	for _, p := range problems {
		p.Line, p.ID = item.Line, item.ID
		r.problem(p)
	}
	if r.limits.Stop && r.TotalProblems >= r.limits.MaxProblems {
		return errEnough
	}
	return nil
}

func (r *reader) problem(p Problem) {
	if r.TotalProblems++; len(r.Problems) < r.limits.MaxProblems {
		r.Problems = append(r.Problems, p)
	}
}

// broken adds a problem with the list as a whole.
func (r *reader) broken(p Problem) {
	r.Broken = true
	r.problem(p)
}

// checkItem returns the faults of an item's ids, and shortens the ids to the length that answers repeat.
// Spaces and commas separate ids in the column After.
func checkItem(item *Item) (problems []Problem) {
	unfit := func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || c == ',' }
	wrong := func(field, format string, args ...any) {
		problems = append(problems, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case utf8.RuneCountInString(item.ID) > longestID:
		wrong("id", "The id is longer than %d characters.", longestID)
		item.ID = ""
	case strings.ContainsFunc(item.ID, unfit):
		wrong("id", "An id has no blanks, commas and control characters: they separate ids in After.")
		item.ID = ""
	}
	if len(item.After) > mostAfter {
		wrong("after", "An item comes after at most %d others. Let it come after the last of them.", mostAfter)
		item.After = nil
	}
	for _, id := range item.After {
		if id == "" || utf8.RuneCountInString(id) > longestID || strings.ContainsFunc(id, unfit) {
			wrong("after", "This has ids of 1 to %d characters, without blanks, commas and control characters.",
				longestID)
			item.After = nil
			break
		}
	}
	return problems
}

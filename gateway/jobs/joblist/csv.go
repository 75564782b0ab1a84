package joblist

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adgateway/gateway/sheet"
)

// separators are the possible separators of cells. If several are equally frequent, the first one
// wins.
const separators = ";\t,"

// longestHeader is the maximum length of the first row, including the lines above it, in bytes.
const longestHeader = 64 << 10

// Clear is the content of a cell for an empty text, because an empty cell counts as absent.
const Clear = "<clear>"

// columnsOf are the names, in any case, of the columns that are not parameters.
var columnsOf = map[string]func(*Item, string){
	"operation": func(i *Item, s string) { i.Operation = strings.TrimSpace(s) },
	"id":        func(i *Item, s string) { i.ID = strings.TrimSpace(s) },
	"ifmatch":   func(i *Item, s string) { i.IfMatch = strings.TrimSpace(s) },
	"after": func(i *Item, s string) {
		i.After = strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || c == ',' })
	},
}

// invisible are characters at the ends of cells that nobody typed: no-break spaces from web pages,
// and zero-width marks.
const invisible = "\u00a0\u202f\u2007\u200b\ufeff"

// typographic are quotation marks that word processors insert in place of ".
const typographic = "“”„‟«»"

// startsJSON matches the first line of a JSON document. It does not match a header row, because a column name
// with such a beginning would be quoted.
var startsJSON = regexp.MustCompile(`^\s*(\{\s*"|\[\s*\{?\s*"|[{[\s]+$)`)

// readCSV reads rows. It uses the quotes and positions of encoding/csv. In addition, it accepts
// lines that end with CR alone, detects the separator, and continues after an unreadable row.
func (r *reader) readCSV(src *source) error {
	in := bufio.NewReaderSize(src, longestHeader)
	skipped, err := r.preamble(in)
	if err != nil {
		return err
	}
	head, _ := in.Peek(longestHeader) // the next read returns the error again
	row := firstRow(head)
	if startsJSON.Match(row.text) {
		return &Unreadable{Line: 1, Message: "this is JSON; send it as application/json, or as " +
			"application/x-ndjson when it has one object a line"}
	}
	if r.Separator == 0 {
		r.Separator = separatorOf(row.text)
	}
	var text io.Reader = in
	if row.cr {
		text = &lineFeeds{in}
	}
	rows := csv.NewReader(text)
	rows.Comma, rows.FieldsPerRecord, rows.ReuseRecord = r.Separator, -1, true
	table := &table{reader: r, rows: rows, skipped: skipped}
	for {
		cells, err := rows.Read()
		var broken *csv.ParseError
		switch {
		case err == nil:
			err = table.row(cells)
		case errors.Is(err, io.EOF):
			return table.end()
		case errors.As(err, &broken):
			err = table.misquoted(broken, len(cells)+1)
		}
		if err != nil {
			return err
		}
	}
}

// preamble reads Excel's line sep=; if there is one, and returns the number of lines read.
func (r *reader) preamble(in *bufio.Reader) (int, error) {
	head, _ := in.Peek(16)
	line := bytes.TrimLeft(head, `"`)
	if len(line) < 5 || !strings.EqualFold(string(line[:4]), "sep=") {
		return 0, nil
	}
	separator, size := utf8.DecodeRune(line[4:])
	rest := bytes.TrimLeft(line[4+size:], `"`)
	ended := len(rest) == 0 || rest[0] == '\r' || rest[0] == '\n'
	if !ended || !strings.ContainsRune(separators, separator) {
		return 0, &Unreadable{Line: 1,
			Message: "sep= is followed by something else than a separator of cells: comma, semicolon or tab"}
	}
	r.Separator = separator
	end := len(head) - len(rest)
	switch {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		end += 2
	case len(rest) > 0:
		end++
	}
	_, err := in.Discard(end)
	return 1, err
}

// first is the first row that is not blank, without its line ending.
type first struct {
	text []byte
	cr   bool // lines end with CR alone
}

func firstRow(head []byte) first {
	quoted, begin := false, 0
	for i, c := range head {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted || c != '\r' && c != '\n':
		case len(bytes.Trim(head[begin:i], " \r\n"+separators)) == 0:
			begin = i + 1
		default:
			return first{head[begin:i], c == '\r' && (i+1 == len(head) || head[i+1] != '\n')}
		}
	}
	return first{text: head[begin:]}
}

// separatorOf returns the separator that is most frequent outside quotes, or a comma if there is
// none.
func separatorOf(row []byte) rune {
	counts := map[rune]int{}
	quoted := false
	for _, c := range string(row) {
		if c == '"' {
			quoted = !quoted
		} else if !quoted && strings.ContainsRune(separators, c) {
			counts[c]++
		}
	}
	best, most := ',', 0
	for _, c := range separators {
		if counts[c] > most {
			best, most = c, counts[c]
		}
	}
	return best
}

// lineFeeds turns CR into LF.
type lineFeeds struct{ r io.Reader }

func (l *lineFeeds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// table is a list with rows and columns.
type table struct {
	*reader
	rows    *csv.Reader
	skipped int                   // lines before those that rows counts
	columns map[string]int        // column numbers of the parameters
	unnamed map[int]bool          // reported columns that have cells but no name
	setters []func(*Item, string) // setter of each column; nil to ignore it
}

func (t *table) line() int {
	line, _ := t.rows.FieldPos(0)
	return line + t.skipped
}

// row reads a row with correct quotes.
func (t *table) row(cells []string) error {
	last, size := 0, 0
	for i, cell := range cells {
		size += len(cell)
		cells[i] = trimCell(sheet.OneBreak(cell))
		if strings.TrimSpace(cells[i]) != "" {
			last = i + 1
		}
	}
	switch {
	case last == 0: // blank, or only separators
		return nil
	case t.setters == nil && strings.Trim(strings.Join(cells, ""), " "+separators) == "":
		return nil
	case t.setters == nil && t.Columns != nil:
		if err := t.named(cells[:last]); err != nil || !t.data {
			return err
		}
	case t.setters == nil:
		return t.header(cells[:last])
	}
	item := Item{Line: t.line(), Columns: t.columns}
	if size > t.limits.MaxLine {
		return t.add(item, Problem{Message: fmt.Sprintf("The row is longer than %d bytes.", t.limits.MaxLine)})
	}
	item.Parameters = make(map[string]any, min(last, len(t.setters)))
	for i, cell := range cells[:last] {
		if i < len(t.setters) && t.setters[i] != nil && strings.TrimSpace(cell) != "" {
			t.setters[i](&item, cell)
		}
	}
	problems := t.misplaced(cells[:last])
	for _, p := range checkItem(&item) {
		p.Column = 1 + slices.IndexFunc(t.Names(),
			func(name string) bool { return strings.EqualFold(name, p.Field) })
		problems = append(problems, p)
	}
	return t.add(item, problems...)
}

// trimCell removes invisible characters other than spaces from the ends of a cell.
func trimCell(cell string) string {
	for {
		trimmed := strings.Trim(cell, invisible)
		inner := strings.Trim(trimmed, " ")
		if strings.Trim(inner, invisible) == inner { // there are none between the spaces
			return trimmed
		}
		cell = strings.Trim(inner, invisible)
	}
}

// header reads the column names.
func (t *table) header(names []string) error {
	line := t.line()
	if len(names) > mostNames {
		message := fmt.Sprintf("the first row, which has the names of the columns, has %d cells; a list has at "+
			"most %d columns", len(names), mostNames)
		return &Unreadable{Line: line, Message: message}
	}
	t.HeaderLine = line
	t.columns, t.unnamed = map[string]int{}, map[int]bool{}
	t.setters = make([]func(*Item, string), len(names))
	known := map[string]int{}
	for i, name := range names {
		name = strings.TrimSpace(strings.Clone(name))
		t.Header = append(t.Header, name)
		key := strings.ToLower(name)
		at, twice := known[key]
		wrong := func(message string) {
			t.broken(Problem{Line: line, Column: i + 1, Field: name,
				Message: message})
		}
		switch {
		case name == "": // only a problem if it has cells
			continue
		case utf8.RuneCountInString(name) > longestName || strings.ContainsFunc(name, unicode.IsControl):
			name = ""
			t.Header[i] = ""
			wrong(fmt.Sprintf("The name of the column is longer than %d characters or has a line break; the first "+
				"row has the names of the columns.", longestName))
			t.unnamed[i] = true
			continue
		case twice:
			wrong(fmt.Sprintf("Column %d has the same name. Remove or rename one of them.", at))
			continue
		case strings.ContainsAny(name, typographic):
			wrong(`The name has typographic quotation marks, as word processors write them. Remove them, or write ".`)
		}
		known[key] = i + 1
		t.setters[i] = t.setter(i, name)
	}
	return nil
}

// setter returns the setter of the column with the given name.
func (t *table) setter(i int, name string) func(*Item, string) {
	if own := columnsOf[strings.ReplaceAll(strings.ToLower(name), "-", "")]; own != nil {
		return own
	}
	t.columns[name] = i + 1
	return func(item *Item, cell string) {
		if strings.EqualFold(strings.TrimSpace(cell), Clear) {
			cell = ""
		}
		item.Parameters[name] = cell
	}
}

// named takes the columns from [Columns]. It takes the names by which the list calls them from the first row,
// if that row contains names.
func (t *table) named(first []string) error {
	t.HeaderLine, t.columns = t.line(), map[string]int{}
	t.Header, t.setters = make([]string, len(t.Columns)), make([]func(*Item, string), len(t.Columns))
	if len(first) > len(t.Columns) {
		message := fmt.Sprintf("the first row has %d cells, but Columns names %d columns; name each, and leave "+
			"the name empty for a column that is no parameter", len(first), len(t.Columns))
		return &Unreadable{Line: t.HeaderLine, Message: message}
	}
	for i, name := range t.Columns {
		if t.Header[i] = name; !t.data && i < len(first) {
			t.Header[i] = heading(first[i])
		}
		if t.Header[i] == "" {
			t.Header[i] = fmt.Sprintf("Column %d", i+1)
		}
		if t.setters[i] = t.keep(i); name != "" {
			t.setters[i] = t.setter(i, name)
		}
	}
	return nil
}

// keep returns the setter of a column that is not a parameter.
func (t *table) keep(i int) func(*Item, string) {
	return func(item *Item, cell string) {
		if item.Kept == nil {
			item.Kept = map[int]string{}
		}
		item.Kept[i] = strings.Clone(cell)
	}
}

// heading returns the name of a column that is only shown, in one line.
func heading(name string) string {
	blank := func(c rune) bool { return unicode.IsControl(c) || c == ' ' }
	name = strings.Join(strings.FieldsFunc(name, blank), " ")
	if runes := []rune(name); len(runes) > longestName {
		return string(runes[:longestName])
	}
	return name
}

// misplaced reports cells without a column, with the probable reason.
func (t *table) misplaced(cells []string) []Problem {
	hint := ""
	if slices.ContainsFunc(cells,
		func(cell string) bool { return strings.HasPrefix(cell, "“") || strings.HasPrefix(cell, "„") }) {
		hint = ` A cell begins with a typographic quotation mark; only " encloses separators.`
	}
	if columns := len(t.Header); len(cells) == 1 && columns > 2 {
		for _, other := range separators {
			if other != t.Separator && strings.Count(cells[0], string(other)) == columns-1 {
				return []Problem{{Message: fmt.Sprintf(
					"The row has one cell, the first row has %d, separated by %s. Use the same separator in all rows.",
					columns, separatorName(t.Separator))}}
			}
		}
	}
	if len(cells) > len(t.Header) {
		names := "the first row"
		if t.data {
			names = "Columns"
		}
		message := fmt.Sprintf("The row has %d cells, but %s names %d columns. A cell that contains "+
			"%s must be enclosed in \".%s",
			len(cells), names, len(t.Header), separatorName(t.Separator), hint)
		return []Problem{{Column: len(t.Header) + 1, Message: message}}
	}
	for i, cell := range cells {
		if t.setters[i] == nil && t.Header[i] == "" && strings.TrimSpace(cell) != "" && !t.unnamed[i] {
			t.unnamed[i] = true
			t.broken(Problem{Line: t.line(), Column: i + 1,
				Message: "The column has cells, but no name in the first row. Name it, or remove it."})
		}
	}
	return nil
}

func separatorName(separator rune) string {
	switch separator {
	case '\t':
		return "a tab"
	case ';':
		return "a semicolon"
	default:
		return "a comma"
	}
}

// misquoted reports a row with misplaced quotes. Reading continues on the line after the fault.
func (t *table) misquoted(err *csv.ParseError, column int) error {
	line := err.StartLine + t.skipped
	message := `A " is inside a cell that is not enclosed in quotes. Enclose the whole cell in ", and write "" for each " in it.`
	if errors.Is(err.Err, csv.ErrQuote) {
		message = `The " that begins this cell is not closed, or a " in it is not doubled. Write "" for each " in it.`
		if err.Line > err.StartLine {
			message += fmt.Sprintf(" That was found in line %d.", err.Line+t.skipped)
		}
	}
	if t.setters == nil {
		return &Unreadable{Line: line,
			Message: fmt.Sprintf("cell %d of the first row, which has the names of the columns: %s", column, message)}
	}
	return t.add(Item{Line: line, Columns: t.columns}, Problem{Column: column, Message: message})
}

// end makes the checks that need the whole list.
func (t *table) end() error {
	if t.setters == nil {
		return &Unreadable{Line: 1, Message: "the list is empty; its first row has the names of the columns"}
	}
	return nil
}

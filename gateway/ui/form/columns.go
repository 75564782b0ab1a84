package form

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sheet is a list as CSV: its text in UTF-8, and where its first row is.
type Sheet struct {
	text      []byte
	begin     int // of the first row
	separator byte
	heads     int // the number of the row that has the names of the columns
}

// Column is a column of a list.
type Column struct {
	Called string   // by the first row
	Values []string // of the first rows, for people who map it
	Field  string   // the parameter that it may be; empty: nothing fits
	Sure   bool     // it has the name of the parameter or its label
	Own    bool     // it belongs to the list itself, such as Id, and stays as it is
}

// samples is how many values of a column are shown.
const samples = 2

// ownColumns are the columns that lists have besides parameters.
var ownColumns = []string{"operation", "id", "ifmatch", "after"}

// ReadSheet reads a list. A list that is not in UTF-8 is taken for one in Latin-1, as spreadsheets write it.
func ReadSheet(list []byte) Sheet {
	if !utf8.Valid(list) {
		list = fromLatin(list)
	}
	list = bytes.TrimPrefix(list, []byte("\ufeff"))
	if !bytes.Contains(list, []byte{'\n'}) {
		list = bytes.ReplaceAll(list, []byte{'\r'}, []byte{'\n'})
	}
	s := Sheet{text: list}
	if bytes.HasPrefix(bytes.ToLower(bytes.TrimLeft(list, `"`)), []byte("sep=")) {
		s.begin = bytes.IndexByte(list, '\n') + 1
	}
	s.separator = separatorIn(list, s.begin)
	s.heads = -1
	s.each(func(row, _ int, cell []byte) {
		if s.heads < 0 && len(bytes.TrimSpace(cell)) > 0 {
			s.heads = row
		}
	})
	return s
}

// separatorIn returns what separates the cells of a list: what its line sep= says, or else the most frequent
// one of the first row that is not blank.
func separatorIn(list []byte, begin int) byte {
	if begin > 0 {
		if at := bytes.IndexByte(list, '=') + 1; at < begin && strings.IndexByte(";,\t", list[at]) >= 0 {
			return list[at]
		}
	}
	best, most := byte(','), 0
	for line := range bytes.Lines(list[begin:]) {
		if len(bytes.Trim(line, " \r\n;,\t")) == 0 {
			continue
		}
		for _, c := range []byte(";\t,") {
			if n := bytes.Count(line, []byte{c}); n > most {
				best, most = c, n
			}
		}
		break
	}
	return best
}

// each shows every cell as it is written, with its quotes.
func (s Sheet) each(show func(row, column int, cell []byte)) {
	row, column, begin := 0, 0, s.begin
	opened, quoted := false, false // the cell begins with a quote, and it is not closed
	for i := s.begin; i <= len(s.text); i++ {
		switch {
		case i == len(s.text):
		case s.text[i] == '"' && (opened || len(bytes.TrimSpace(s.text[begin:i])) == 0):
			opened, quoted = true, !quoted // a doubled one does so twice
			continue
		case quoted, s.text[i] != s.separator && s.text[i] != '\n':
			continue
		}
		show(row, column, s.text[begin:i])
		begin, column = i+1, column+1
		if i < len(s.text) && s.text[i] == '\n' {
			row, column = row+1, 0
		}
		opened, quoted = false, false
	}
}

// plainCell returns a cell without its quotes.
func plainCell(cell []byte) string {
	text := strings.TrimSpace(string(cell))
	if len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) {
		text = strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
	}
	return strings.TrimSpace(text)
}

// Columns returns the columns of a list whose rows are calls of the form's row, each with the parameter that
// it may be. No parameter is suggested twice.
func (f *Form) Columns(s Sheet) (all []Column) {
	s.each(func(row, column int, cell []byte) {
		switch {
		case row == s.heads:
			all = append(all, f.columnOf(plainCell(cell)))
		case row > s.heads && s.heads >= 0 && column < len(all) && len(all[column].Values) < samples:
			if text := plainCell(cell); text != "" {
				all[column].Values = append(all[column].Values, text)
			}
		}
	})
	for len(all) > 0 && all[len(all)-1].Called == "" && all[len(all)-1].Values == nil {
		all = all[:len(all)-1] // separators at the end of the rows
	}
	for _, sure := range []bool{true, false} {
		for i := range all {
			if one := &all[i]; one.Field != "" && one.Sure == sure {
				twice := func(other Column) bool { return other.Field == one.Field }
				first := slices.IndexFunc(all, twice)
				if first != i || sure != all[first].Sure {
					one.Field, one.Sure = "", false
				}
			}
		}
	}
	return all
}

// columnOf returns a column by what it is called.
func (f *Form) columnOf(called string) Column {
	c := Column{Called: called}
	name := simple(called)
	if c.Own = slices.Contains(ownColumns, name); c.Own || name == "" {
		return c
	}
	for i := range f.Fields {
		if simple(f.Fields[i].Name) == name {
			c.Field, c.Sure = f.Fields[i].Name, true
			return c
		}
	}
	longest := 0
	for i := range f.Fields {
		field := &f.Fields[i]
		general := labels[field.Name].label
		for _, word := range slices.Concat(general[:], field.Label[:], []string{field.Name}) {
			switch word = simple(word); {
			case word == "":
			case word == name && !c.Sure:
				c.Field, c.Sure = field.Name, true
			case c.Sure:
			case strings.Contains(word, name) || strings.Contains(name, word):
				common := min(len(word), len(name))
				if common == longest && c.Field != field.Name {
					c.Field = "" // two are as near
				} else if common > longest {
					c.Field, longest = field.Name, common
				}
			}
		}
	}
	return c
}

// simple returns the letters and digits of a name, small.
func simple(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Cell is a cell of a list, without its quotes.
type Cell struct {
	Line, Column int // in the file, from 1; of the list, from 0
	Text         string
}

// Changed is [Sheet.Renamed], in which each cell of a column that is not left out is what change makes of it.
func (s Sheet) Changed(names []string, change func(Cell) string) []byte {
	line, last := 1+bytes.Count(s.text[:s.begin], []byte{'\n'}), 0
	passed := 0 // line ends in the cells of the row
	return s.renamed(names, func(row, column int, cell []byte) []byte {
		for ; last < row; last++ {
			line, passed = line+1+passed, 0
		}
		passed += bytes.Count(cell, []byte{'\n'})
		if row <= s.heads || column >= len(names) || names[column] == "" {
			return cell
		}
		text := plainCell(bytes.TrimSuffix(cell, []byte("\r")))
		changed := change(Cell{Line: line, Column: column, Text: text})
		if changed == text {
			return cell
		}
		quoted := []byte(`"` + strings.ReplaceAll(changed, `"`, `""`) + `"`)
		if bytes.HasSuffix(cell, []byte("\r")) {
			quoted = append(quoted, '\r')
		}
		return quoted
	})
}

// Renamed returns the list with other names of its columns, of which an empty one leaves a column out. Lines
// and columns keep their numbers.
func (s Sheet) Renamed(names []string) []byte {
	return s.renamed(names, func(_, _ int, cell []byte) []byte { return cell })
}

func (s Sheet) renamed(names []string, changed func(row, column int, cell []byte) []byte) []byte {
	var out bytes.Buffer
	out.Write(s.text[:s.begin])
	last := 0
	s.each(func(row, column int, cell []byte) {
		switch {
		case column > 0:
			out.WriteByte(s.separator)
		case row > last:
			out.WriteByte('\n')
		}
		last = row
		cell = changed(row, column, cell)
		switch {
		case column >= len(names) || row < s.heads:
			out.Write(cell)
		case row == s.heads:
			out.WriteString(s.quoted(names[column]))
			if bytes.HasSuffix(cell, []byte("\r")) {
				out.WriteByte('\r')
			}
		case names[column] == "":
			out.Write(emptied(cell))
		default:
			out.Write(cell)
		}
	})
	return out.Bytes()
}

// quoted returns a text as a cell.
func (s Sheet) quoted(text string) string {
	if !strings.ContainsAny(text, "\"\r\n"+string(s.separator)) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// emptied returns a cell without its value, but with the line ends in it.
func emptied(cell []byte) []byte {
	lines := bytes.Count(cell, []byte{'\n'})
	var left []byte
	if lines > 0 {
		left = append(append([]byte{'"'}, bytes.Repeat([]byte{'\n'}, lines)...), '"')
	}
	if bytes.HasSuffix(cell, []byte("\r")) {
		left = append(left, '\r')
	}
	return left
}

// fromLatin returns a text in Latin-1 as UTF-8.
func fromLatin(text []byte) []byte {
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}

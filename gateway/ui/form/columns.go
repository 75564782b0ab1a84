package form

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sheet is a list in CSV format.
type Sheet struct {
	text      []byte
	begin     int // offset of the first row
	separator byte
	heads     int // number of the row with the column names; -1 if there is none
}

// Column is a column of a list.
type Column struct {
	Called string   // name in the list
	Values []string // first values, as examples for people who map the column; nil if Secret
	Field  string   // parameter that the column may contain; empty if none matches
	Sure   bool     // the name equals the name or the label of the parameter
	Secret bool     // the name suggests that the values are secrets
	Own    bool     // part of the list itself instead of a parameter, such as Id; it remains unchanged
}

// samples is the number of values of a column that are shown.
const samples = 2

// ownColumns contains the columns of a list that are not parameters.
var ownColumns = []string{"operation", "id", "ifmatch", "after"}

// ReadSheet reads a list. If the list is not valid UTF-8, ReadSheet decodes it as Latin-1, which spreadsheets
// write.
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

// separatorIn returns the separator of a list's cells. It is the one in the sep= line or, if there is no such
// line, the most frequent one in the first row that is not blank.
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

// each calls show for every cell, unmodified and with its quotes.
func (s Sheet) each(show func(row, column int, cell []byte)) {
	row, column, begin := 0, 0, s.begin
	// opened is set if the cell starts with a quote, and quoted while the quote is not closed
	opened, quoted := false, false
	for i := s.begin; i <= len(s.text); i++ {
		switch {
		case i == len(s.text):
		case s.text[i] == '"' && (opened || len(bytes.TrimSpace(s.text[begin:i])) == 0):
			opened, quoted = true, !quoted // a doubled quote toggles twice
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

// plainCell returns the value of a cell, without its quotes and surrounding spaces.
func plainCell(cell []byte) string {
	text := strings.TrimSpace(string(cell))
	if len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) {
		text = strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
	}
	return strings.TrimSpace(text)
}

// Columns returns the columns of a list of calls of the form's operation, each with the parameter that it may
// contain. It suggests no parameter twice.
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
	for i := range all {
		if field := f.Field(all[i].Field); all[i].Sure && field != nil {
			all[i].Secret = field.Control == Secret // such as PasswordNeverExpired, which is none
		} else {
			all[i].Secret = soundsSecret(all[i].Called)
		}
		if all[i].Secret {
			all[i].Values = nil
		}
	}
	for len(all) > 0 && all[len(all)-1].Called == "" && all[len(all)-1].Values == nil {
		all = all[:len(all)-1] // trailing separators
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

// secretWords are words in the names of columns that contain secrets. secretNames are whole names of such
// columns.
var secretWords, secretNames = []string{
	"password", "passwort", "kennwort", "passphrase", "passcode", "pwd", "secret", "geheim",
}, []string{"pass", "pw", "pin"}

// soundsSecret reports whether the name of a column suggests that it contains secrets.
func soundsSecret(called string) bool {
	name := simple(called)
	within := func(word string) bool { return strings.Contains(name, word) }
	if slices.ContainsFunc(secretWords, within) || slices.Contains(secretNames, name) {
		return true
	}
	for _, other := range forms {
		for i := range other.Fields {
			field := &other.Fields[i]
			if field.Control == Secret && slices.ContainsFunc(
				[]string{simple(field.Name), simple(field.Label[0]), simple(field.Label[1])}, within,
			) {
				return true
			}
		}
	}
	return false
}

// columnOf returns a column with the given heading, and the field that the heading suggests, if any.
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
					c.Field = "" // ambiguous
				} else if common > longest {
					c.Field, longest = field.Name, common
				}
			}
		}
	}
	return c
}

// simple returns the letters and digits of a name in lower case.
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
	Line, Column int // line in the file, from 1; column of the list, from 0
	Text         string
}

// Changed is like [Sheet.Renamed], but also replaces each cell of a named column with the result of change.
func (s Sheet) Changed(names []string, change func(Cell) string) []byte {
	line, last := 1+bytes.Count(s.text[:s.begin], []byte{'\n'}), 0
	passed := 0 // line breaks in the cells of the row
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

// Renamed returns the list with other column names. A column with an empty name is emptied. Lines and columns
// keep their numbers.
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

// quoted returns a text as a cell, in quotes if necessary.
func (s Sheet) quoted(text string) string {
	if !strings.ContainsAny(text, "\"\r\n"+string(s.separator)) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// emptied returns a cell without its value, but with its line breaks.
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

// fromLatin converts a text from Latin-1 to UTF-8.
func fromLatin(text []byte) []byte {
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}

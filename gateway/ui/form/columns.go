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
	heads     int  // number of the first row that is not blank; -1 if there is none
	data      bool // that row contains data; otherwise it contains the column names
}

// Column is a column of a list.
type Column struct {
	Called string   // name in the list
	Values []string // first values, as examples for people who map the column; nil if Secret
	Field  string   // parameter that the column may contain; empty if none matches
	Sure   bool     // the name equals the name or the label of the parameter
	Secret bool     // the values may be secrets, judging by the name
	Own    bool     // not a parameter but part of the list itself, such as Id; it is kept as it is
}

// samples is the number of values that are shown of a column.
const samples = 2

// ownColumns are the columns of a list that are not parameters.
var ownColumns = []string{"operation", "id", "ifmatch", "after"}

// ReadSheet reads a list. A list that is not valid UTF-8 is read as Latin-1, which spreadsheets write.
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

// WithoutNames returns the list with its first row treated as data.
func (s Sheet) WithoutNames() Sheet {
	s.data = true
	return s
}

// leastMatch is the minimum length of a text for which a field with a similar name shows that the text is a
// column name. Shorter texts are similar to some field by chance.
const leastMatch = 4

// Named reports whether the first row probably contains column names, because one of them is known.
func (f *Form) Named(s Sheet) bool {
	return slices.ContainsFunc(f.Columns(s), func(c Column) bool {
		return c.Own || c.Sure || c.Secret || c.Field != "" && len(simple(c.Called)) >= leastMatch
	})
}

// Operations returns the operation of each row, from the column for operations. It is empty if there is no
// such column.
func (s Sheet) Operations() map[int]string {
	at, all := -1, map[int]string{}
	s.each(func(row, column int, cell []byte) {
		switch text := plainCell(cell); {
		case s.data:
		case row == s.heads && simple(text) == "operation":
			at = column
		case row > s.heads && column == at && text != "":
			all[row] = text
		}
	})
	return all
}

// separatorIn returns the separator of a list's cells: the one in its sep= line, or else the most frequent
// one in the first row that is not blank.
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
		counts, quoted := map[byte]int{}, false
		for _, c := range line {
			if c == '"' {
				quoted = !quoted
			} else if !quoted {
				counts[c]++
			}
		}
		for _, c := range []byte(";\t,") {
			if counts[c] > most {
				best, most = c, counts[c]
			}
		}
		break
	}
	return best
}

// each calls show for every cell, unmodified and with its quotes.
func (s Sheet) each(show func(row, column int, cell []byte)) {
	row, column, begin := 0, 0, s.begin
	opened, quoted := false, false // opened: the cell starts with a quote; quoted: the quote is not closed
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
// contain. It suggests no parameter twice. In a list without column names, values that look like a password
// count as secret.
func (f *Form) Columns(s Sheet) (all []Column) {
	s.each(func(row, column int, cell []byte) {
		switch {
		case row == s.heads && !s.data:
			all = append(all, f.columnOf(plainCell(cell)))
			return
		case row == s.heads:
			all = append(all, Column{})
		}
		if row >= s.heads && s.heads >= 0 && column < len(all) && len(all[column].Values) < samples {
			if text := plainCell(cell); text != "" {
				all[column].Values = append(all[column].Values, text)
			}
		}
	})
	for len(all) > 0 && all[len(all)-1].Called == "" && all[len(all)-1].Values == nil {
		all = all[:len(all)-1] // trailing separators
	}
	for i := range all {
		if field := f.Field(all[i].Field); all[i].Sure && field != nil {
			all[i].Secret = field.Control == Secret // a field such as PasswordNeverExpired is not secret
		} else {
			all[i].Secret = soundsSecret(all[i].Called) || s.data && slices.ContainsFunc(all[i].Values, looksSecret)
		}
		if all[i].Secret {
			all[i].Values = nil
		}
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

// looksSecret reports whether a text looks like a password: one word with three kinds of characters.
func looksSecret(text string) bool {
	kinds := 0
	for _, is := range []func(rune) bool{unicode.IsUpper, unicode.IsLower, unicode.IsDigit, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}} {
		if strings.ContainsFunc(text, is) {
			kinds++
		}
	}
	return kinds > 2 && !strings.ContainsFunc(text, unicode.IsSpace)
}

// secretWords are words that occur in the names of columns that contain secrets. secretNames are whole names
// of such columns.
var secretWords, secretNames = []string{
	"password", "passwort", "kennwort", "passphrase", "passcode", "pwd", "secret", "geheim",
}, []string{"pass", "pw", "pin"}

// MayHaveSecrets reports whether a list may contain secrets, judging by its column names and first cells, or
// by its text if it is JSON.
func MayHaveSecrets(list []byte) bool {
	if text := bytes.TrimSpace(list); bytes.HasPrefix(text, []byte("{")) {
		return soundsSecret(string(text))
	}
	sheet, secret := ReadSheet(list), func(c Column) bool { return c.Secret }
	var f Form // the names of secrets are the same in every form
	return slices.ContainsFunc(f.Columns(sheet), secret) ||
		slices.ContainsFunc(f.Columns(sheet.WithoutNames()), secret)
}

// soundsSecret reports whether a column of this name may contain secrets.
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
	Row          int // as in [Sheet.Operations]
	Line, Column int // line in the file, from 1; column of the list, from 0
	Text         string
}

// Changed returns the list with each cell, except the column names, replaced by the result of change. Lines
// and columns keep their numbers.
func (s Sheet) Changed(change func(Cell) string) []byte {
	var out bytes.Buffer
	out.Write(s.text[:s.begin])
	line, last := 1+bytes.Count(s.text[:s.begin], []byte{'\n'}), 0
	passed := 0 // line breaks in the cells of the row
	s.each(func(row, column int, cell []byte) {
		switch {
		case column > 0:
			out.WriteByte(s.separator)
		case row > last:
			out.WriteByte('\n')
		}
		for ; last < row; last++ {
			line, passed = line+1+passed, 0
		}
		passed += bytes.Count(cell, []byte{'\n'})
		if text := plainCell(cell); row > s.heads || s.data && row == s.heads {
			if changed := change(Cell{row, line, column, text}); changed != text {
				cell = written(changed, cell)
			}
		}
		out.Write(cell)
	})
	return out.Bytes()
}

// written returns a text as a cell with as many line breaks as the cell that it replaces.
func written(text string, before []byte) []byte {
	cell := []byte(`"` + strings.ReplaceAll(text, `"`, `""`))
	lines := bytes.Count(before, []byte{'\n'}) - bytes.Count(cell, []byte{'\n'})
	cell = append(append(cell, bytes.Repeat([]byte{'\n'}, max(lines, 0))...), '"')
	if bytes.HasSuffix(before, []byte("\r")) {
		cell = append(cell, '\r')
	}
	return cell
}

// fromLatin converts a text from Latin-1 to UTF-8.
func fromLatin(text []byte) []byte {
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}

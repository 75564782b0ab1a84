package form

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Named returns a list as CSV whose columns have the names of parameters. People call them by the labels of
// the form, in any language, or by the names themselves. Columns that are neither keep their names, which
// the check of the list says. A list that is not in UTF-8 is taken for one in Latin-1, as spreadsheets
// write it.
func (f *Form) Named(list []byte) []byte {
	if !utf8.Valid(list) {
		list = fromLatin(list)
	}
	list = bytes.TrimPrefix(list, []byte("\ufeff"))
	before := 0
	if bytes.HasPrefix(bytes.ToLower(list), []byte("sep=")) {
		before = bytes.IndexByte(list, '\n') + 1
	}
	end := bytes.IndexByte(list[before:], '\n')
	if end < 0 {
		end = len(list) - before
	}
	header, rest := list[before:before+end], list[before+end:]
	var named bytes.Buffer
	named.Write(list[:before])
	cell := 0
	for i := 0; i <= len(header); i++ {
		if i < len(header) && !strings.ContainsRune(",;\t\r", rune(header[i])) {
			continue
		}
		named.WriteString(f.column(string(header[cell:i])))
		if i < len(header) {
			named.WriteByte(header[i])
		}
		cell = i + 1
	}
	named.Write(rest)
	return named.Bytes()
}

// column returns the parameter that a column is called by.
func (f *Form) column(called string) string {
	name := strings.TrimSpace(strings.Trim(strings.TrimSpace(called), `"`))
	for i := range f.Fields {
		field := &f.Fields[i]
		if strings.EqualFold(field.Name, name) {
			return field.Name
		}
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		for lang := range field.Label {
			if strings.EqualFold(field.Label[lang], name) || strings.EqualFold(labels[field.Name].label[lang], name) {
				return field.Name
			}
		}
	}
	return called
}

// fromLatin returns a text in Latin-1 as UTF-8.
func fromLatin(text []byte) []byte {
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}

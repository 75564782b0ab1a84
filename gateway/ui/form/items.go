package form

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A list in JSON names the parameters of each item. Its texts are replaced in place, so its lines keep their
// numbers.

// Forms are the forms of the operations in a list.
type Forms struct {
	All    *Form // the fields of all operations; nil if there are none
	common *Form
	named  map[int]string
}

// FormsOf returns the forms of a list: one for the common operation and one for each operation that rows or
// items name.
func FormsOf(common string, named map[int]string) Forms {
	f := Forms{common: Of(common), named: named}
	var all []*Form
	if f.common != nil {
		all = append(all, f.common)
	}
	for _, id := range named {
		if one := Of(id); one != nil && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	if len(all) > 0 {
		f.All = together(all)
	}
	return f
}

// Of returns the form of a row or an item, or nil if its operation has no form.
func (f Forms) Of(row int) *Form {
	if id, has := f.named[row]; has {
		return Of(id)
	}
	return f.common
}

// together returns a form with the fields of all forms. A field is required if each form with this field
// requires it. The form has no operation if there is more than one form.
func together(all []*Form) *Form {
	if len(all) == 1 {
		return all[0]
	}
	slices.SortFunc(all, func(a, b *Form) int { return bytes.Compare([]byte(a.Op.ID), []byte(b.Op.ID)) })
	f := &Form{}
	for _, one := range all {
		for _, field := range one.Fields {
			if f.Field(field.Name) != nil {
				continue
			}
			for _, other := range all {
				same := other.Field(field.Name)
				field.Required = field.Required && same != nil && same.Required && same.Default == ""
				if same != nil && same.Control == Secret {
					field.Control = Secret
				}
			}
			f.Fields = append(f.Fields, field)
		}
	}
	return f
}

// Item is an item of a list in JSON.
type Item struct {
	Operation string
	texts     []itemText
}

// itemText is a text in the parameters of an item.
type itemText struct {
	name, text string
	begin, end int // offsets in the list, including the quotes
}

// ReadItems returns the items of a list in JSON, with one object per line if lines is set. It ignores
// everything that is not an item, because the API reports such mistakes.
func ReadItems(list []byte, lines bool) (all []Item) {
	if lines {
		begin := 0
		for line := range bytes.Lines(list) {
			all = append(all, itemOf(part{raw: line, begin: begin}))
			begin += len(line)
		}
		return all
	}
	for _, member := range parts(part{raw: list}, '{') {
		if member.name != "items" {
			continue
		}
		for _, element := range parts(member, '[') {
			all = append(all, itemOf(element))
		}
	}
	return all
}

// Operations returns the operations that items name, by item.
func Operations(items []Item) map[int]string {
	all := map[int]string{}
	for i, item := range items {
		if item.Operation != "" {
			all[i] = item.Operation
		}
	}
	return all
}

// ChangedItems returns the list with each text in parameters replaced by the result of change. In the [Cell],
// Row is the index of the item, and Line the line of the text.
func ChangedItems(list []byte, items []Item, change func(name string, at Cell) string) []byte {
	var out bytes.Buffer
	line, counted, copied := 1, 0, 0
	for i, item := range items {
		for _, one := range item.texts {
			line += bytes.Count(list[counted:one.begin], []byte{'\n'})
			counted = one.begin
			if changed := change(one.name, Cell{Row: i, Line: line, Text: one.text}); changed != one.text {
				text, _ := json.Marshal(changed) // any text can be encoded
				out.Write(list[copied:one.begin])
				out.Write(text)
				copied = one.end
			}
		}
	}
	out.Write(list[copied:])
	return out.Bytes()
}

// part is a value in a list. In an object, it has a name.
type part struct {
	name  string
	raw   json.RawMessage
	begin int // offset in the list
}

// parts returns the values in an object or an array, up to the first mistake. It returns none if the value
// does not begin with opening.
func parts(in part, opening json.Delim) (all []part) {
	d := json.NewDecoder(bytes.NewReader(in.raw))
	if token, _ := d.Token(); token != opening {
		return nil
	}
	for d.More() {
		var one part
		if opening == '{' {
			token, err := d.Token()
			if err != nil {
				return all
			}
			one.name, _ = token.(string)
		}
		if d.Decode(&one.raw) != nil {
			return all
		}
		one.begin = in.begin + int(d.InputOffset()) - len(one.raw)
		all = append(all, one)
	}
	return all
}

func itemOf(value part) (item Item) {
	for _, member := range parts(value, '{') {
		switch member.name {
		case "operation":
			_ = json.Unmarshal(member.raw, &item.Operation) // it stays empty if the value is not a text
		case "parameters":
			for _, parameter := range parts(member, '{') {
				item.add(parameter.name, parameter)
				for _, element := range parts(parameter, '[') {
					item.add(parameter.name, element)
				}
			}
		}
	}
	return item
}

// add adds a value of a parameter if it is a text.
func (i *Item) add(name string, value part) {
	var text string
	if len(value.raw) > 0 && value.raw[0] == '"' && json.Unmarshal(value.raw, &text) == nil {
		i.texts = append(i.texts, itemText{name, text, value.begin, value.begin + len(value.raw)})
	}
}

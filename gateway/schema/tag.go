package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"adgateway/gateway/etag"
)

// Tagging says which members of a record its entity tag covers. A change of the list is
// a new version of the kind, so that no tag of an older gateway matches by accident.
type Tagging struct {
	Kind   string   // and version: "u1"
	Only   []string // fields; none: all but Except
	Except []string // that change by themselves, or belong to something else
	Set    []string // only the presence of a value counts
	Beside []string // members that scripts emit besides the fields, and that are not shown
	// Further reports that the tags cover the further attributes, too: the member further, which
	// scripts emit where a selection asks for the tag.
	Further bool
	// Alone reports that scripts emit these members only for a record that is read alone.
	Alone bool
}

// covers reports whether the tag covers a field.
func (t *Tagging) covers(field *Field) bool {
	if len(t.Only) > 0 {
		return slices.Contains(t.Only, field.Name)
	}
	return field.Packed == nil && field.Extra == nil && !slices.Contains(t.Except, field.Name)
}

// Covered returns the members that the tags of a shape cover, in order; none if it has no
// tags.
func (s *Shape) Covered() []string {
	s.All()
	return s.covered
}

// cover returns the members that the tags of a shape cover.
func (s *Shape) cover() []string {
	if s.Tag == nil {
		return nil
	}
	var names []string
	for i := range s.Fields {
		field := &s.Fields[i]
		if s.Tag.covers(field) {
			names = append(names, field.Name)
		}
		if field.Packed != nil && len(s.Tag.Only) == 0 && !slices.Contains(names, field.Packed.Member) {
			names = append(names, field.Packed.Member)
		}
	}
	return append(names, s.Tag.Beside...)
}

// Whole reports whether the selection reads every field that is always there.
func (s *Selection) Whole() bool {
	read := 0
	for _, field := range s.fields {
		if field.Extra == nil {
			read++
		}
	}
	return read == len(s.Shape.All().fields)
}

// ReadingAll returns the selection that reads every field that is always there, and what else the
// tag covers, and shows the same fields.
func (s *Selection) ReadingAll() *Selection {
	further := s.Shape.Tag != nil && s.Shape.Tag.Further
	if s.Whole() && s.further == further {
		return s
	}
	all := &Selection{Shape: s.Shape, index: map[string]int{}}
	for _, field := range s.fields {
		all.add(s.Shape.place(field))
	}
	for i := range s.Shape.Fields {
		if s.Shape.Fields[i].Extra == nil && !slices.Contains(s.fields, &s.Shape.Fields[i]) {
			all.add(i)
		}
	}
	all.further = further
	all.hidden = len(all.fields) - (len(s.fields) - s.hidden)
	all.complete()
	return all
}

// place returns the place of a field of the shape.
func (s *Shape) place(field *Field) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == field.Name })
}

// TagOf returns the tag of one record as a script emits it. The error names no value.
func (s *Shape) TagOf(record json.RawMessage) (string, error) {
	var tag string
	_, n, err := s.All().Render(nil, slices.Concat(json.RawMessage("["), record, json.RawMessage("]")), Style{Tagged: func(found string) { tag = found }})
	switch {
	case err != nil:
		return "", err
	case n != 1 || tag == "":
		return "", errors.New("a record without what its tag covers")
	}
	return tag, nil
}

// TagOfValues returns the tag of a record by the values of the members that it covers.
func (s *Shape) TagOfValues(values map[string]string) (string, error) {
	h := etag.New(s.Tag.Kind)
	for _, name := range s.Covered() {
		value, has := values[name]
		if !has {
			return "", errShape("%s lacks %s", s.Name, name)
		}
		h.Add([]byte(value))
	}
	return h.Tag(), nil
}

// tag makes the tag of a record that was appended, if the style wants one.
func (s *Selection) tag(to []byte, values []json.RawMessage, style Style) []byte {
	if s.Shape.Tag == nil || !style.Tags && style.Tagged == nil {
		return to
	}
	tag := s.tagOf(values)
	if style.Tagged != nil {
		style.Tagged(tag)
	}
	if style.Tags {
		to = append(to[:len(to)-1], `,"`+TagMember+`":`...)
		to = append(strconv.AppendQuote(to, tag), '}')
	}
	return to
}

// TagMember is the member of the records of a list that holds the tag, with its quotes.
const TagMember = "etag"

// tagOf returns the tag of a record whose values have been collected; empty if not all are
// there.
func (s *Selection) tagOf(values []json.RawMessage) string {
	h := etag.New(s.Shape.Tag.Kind)
	for _, name := range s.Shape.Covered() {
		at, known := s.slot(name)
		if !known || values[at] == nil {
			return ""
		}
		text := canonical(values[at])
		if slices.Contains(s.Shape.Tag.Set, name) {
			text = strconv.AppendBool(nil, len(text) > 0)
		}
		h.Add(text)
	}
	return h.Tag()
}

// slot returns the place of a member's value.
func (s *Selection) slot(name string) (int, bool) {
	at, known := s.index[name]
	if at < 0 {
		at = len(s.fields) - at - 1
	}
	return at, known
}

// canonical returns a value in one spelling: texts without their escapes, and no value
// as an empty text, which is how scripts emit it. The result may share its bytes with the
// value.
func canonical(value json.RawMessage) []byte {
	switch value[0] {
	case 'n':
		return nil
	case '"':
		if bytes.IndexByte(value, '\\') < 0 {
			return value[1 : len(value)-1]
		}
		return []byte(unquote(value))
	case '[':
		var list []string
		if json.Unmarshal(value, &list) != nil {
			return value
		}
		var text []byte
		for _, item := range list {
			text = strconv.AppendQuote(text, item)
		}
		return text
	default:
		return value
	}
}

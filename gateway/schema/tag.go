package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"adgateway/gateway/etag"
)

// Tagging determines which members of a record its entity tag covers. If the list changes, Kind must get a
// new version, so that no tag of an older gateway matches by accident.
type Tagging struct {
	Kind   string   // with a version: "u1"
	Only   []string // fields; nil means all but Except
	Except []string // fields that change by themselves, or that describe another object
	Set    []string // fields of which only the presence of a value counts
	Beside []string // members that scripts emit in addition to the fields, and that are not shown
	// Further reports whether the tags also cover the additional attributes: the member further, which
	// scripts emit if a selection includes the tag.
	Further bool
	// Alone reports whether scripts emit the members in Beside only for a record that is not part of a list.
	Alone bool
}

// covers reports whether the tag covers a field.
func (t *Tagging) covers(field *Field) bool {
	if len(t.Only) > 0 {
		return slices.Contains(t.Only, field.Name)
	}
	return field.Packed == nil && field.Extra == nil && !slices.Contains(t.Except, field.Name)
}

// Covered returns the members that the tags of a shape cover, in order. It is empty if the shape
// has no tags.
func (s *Shape) Covered() []string {
	s.All()
	return s.covered
}

// cover computes the members that the tags of a shape cover.
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

// Whole reports whether the selection reads every field that is always shown.
func (s *Selection) Whole() bool {
	read := 0
	for _, field := range s.fields {
		if field.Extra == nil {
			read++
		}
	}
	return read == len(s.Shape.All().fields)
}

// ReadingAll returns a selection that shows the same fields, but reads every field that is always
// shown and everything else that the tag covers.
func (s *Selection) ReadingAll() *Selection {
	switch {
	case s == s.Shape.All():
		return s.Shape.tagged
	case s.Whole() && s.further == s.Shape.tagged.further:
		return s
	}
	return s.extended()
}

// extended builds the selection that ReadingAll returns.
func (s *Selection) extended() *Selection {
	all := &Selection{Shape: s.Shape, index: map[string]int{}}
	for _, field := range s.fields {
		all.add(s.Shape.place(field))
	}
	for i := range s.Shape.Fields {
		if s.Shape.Fields[i].Extra == nil && !slices.Contains(s.fields, &s.Shape.Fields[i]) {
			all.add(i)
		}
	}
	all.further = s.Shape.Tag != nil && s.Shape.Tag.Further
	all.hidden = len(all.fields) - (len(s.fields) - s.hidden)
	all.complete()
	return all
}

// tagLine is the prefix of an attribute's line if it is only read for the tag.
const tagLine = "+"

// tagLines returns the lines of the additional attributes, as scripts get them if only the tag needs them.
func (s *Shape) tagLines() []string {
	var lines []string
	for i := range s.Fields {
		if extra := s.Fields[i].Extra; extra != nil {
			lines = append(lines, tagLine+extra.Line())
		}
	}
	return lines
}

// place returns the index of a field in the shape.
func (s *Shape) place(field *Field) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == field.Name })
}

// TagOf returns the tag of one record as emitted by a script. The error does not contain a value.
func (s *Shape) TagOf(record json.RawMessage) (string, error) {
	var tag string
	_, n, err := s.All().Render(nil, slices.Concat(json.RawMessage("["), record, json.RawMessage("]")),
		Style{Tagged: func(found string) { tag = found }})
	switch {
	case err != nil:
		return "", err
	case n != 1 || tag == "":
		return "", errors.New("a record without what its tag covers")
	}
	return tag, nil
}

// TagOfValues returns the tag of a record, given the values of the members that it covers.
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

// tag appends the tag of the record that was just appended, if the style includes it.
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

// TagMember is the member of listed records that holds the tag, including its quotes.
const TagMember = "etag"

// tagOf returns the tag of a record whose values have been collected, or "" if some are missing.
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

// slot returns the index of a member's value.
func (s *Selection) slot(name string) (int, bool) {
	at, known := s.index[name]
	if at < 0 {
		at = len(s.fields) - at - 1
	}
	return at, known
}

// canonical returns a value in a unique spelling. Strings have no escapes, and a missing value is an empty
// string, as in records that scripts emit. The result may share its bytes with the value.
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

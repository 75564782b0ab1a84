package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adgateway/ps"
)

// FieldType is the type of a record's field.
type FieldType uint8

// The types of fields.
const (
	TextField FieldType = iota
	BoolField
	GUIDField
	TimeField    // RFC 3339 in UTC with Z
	CountryField // alpha-2 code; in the classic dialect the English name
	TextListField
	NumberField     // a whole number
	ObjectField     // an object with the fields of Of
	ObjectListField // a list of such objects
)

func (t FieldType) String() string {
	return [...]string{"text", "a boolean", "a GUID", "a time in UTC", "a country code", "a list of text", "a whole number", "an object", "a list of objects"}[t]
}

// Field is one member of a record.
type Field struct {
	Name  string
	Type  FieldType
	Null  bool   // may be null; an empty text then becomes null
	Input string // name of the input if it differs; an alias in field lists
	SetBy string // the operations that set a field that is no input, for people
	Doc   string
	Enum  []string // possible values; nil: any

	// Attribute is the name under which scripts announce a change of the field, the
	// directory's unless it is the field's own. Empty: its name, or that of Packed.
	Attribute string

	Of []Field // of the objects in an ObjectField or ObjectListField, in declared order

	Packed *Packed // member that holds several fields, this one among them; nil: its own member

	// Classic is when the classic dialect shows the field; it is null otherwise. Nil:
	// always.
	Classic *Condition
	// Words are what the classic dialect shows in the field. Nil: its own value.
	Words *Words
}

// Words are the words of the classic dialect for the values of the field From. A value
// that Word lacks is shown as it is.
type Words struct {
	From string
	Word map[string]string
}

// Condition is about another field of a record: whether it has a value.
type Condition struct {
	Field string
	Set   bool
}

// Shape is the schema of a record: its fields in declared order. It must not be
// copied, nor changed once it is in use.
type Shape struct {
	Name   string // "User": schema name in the API document
	Fields []Field

	once sync.Once
	all  *Selection
}

// All returns the selection of every field.
func (s *Shape) All() *Selection {
	s.once.Do(func() {
		s.all = &Selection{Shape: s, index: map[string]int{}}
		for i := range s.Fields {
			s.all.add(i)
		}
	})
	return s.all
}

// Selection is a subset of the fields of a shape, in declared order. It is
// immutable.
type Selection struct {
	Shape  *Shape
	fields []*Field
	hidden int // the last of fields, which are read but not shown
	packed []*Packed
	index  map[string]int // by name of a member: index in fields, or -1-index in packed
}

func (s *Selection) add(field int) {
	f := &s.Shape.Fields[field]
	s.fields = append(s.fields, f)
	switch {
	case f.Packed == nil:
		s.index[f.Name] = len(s.fields) - 1
	case !slices.Contains(s.packed, f.Packed):
		s.packed = append(s.packed, f.Packed)
		s.index[f.Packed.Member] = -len(s.packed)
	}
}

// Classic returns the selection that the classic dialect shows: GUIDs and booleans are
// in every record, because clients of that family cannot do without. The fields that
// conditions are about are read, too.
func (s *Selection) Classic() *Selection {
	wanted := make([]bool, len(s.Shape.Fields))
	for i := range s.Shape.Fields {
		field := &s.Shape.Fields[i]
		wanted[i] = field.Type == BoolField || field.Type == GUIDField || slices.Contains(s.fields, field)
	}
	classic := &Selection{Shape: s.Shape, index: map[string]int{}}
	for i := range wanted {
		if wanted[i] {
			classic.add(i)
		}
	}
	for _, field := range classic.fields {
		if field.Classic == nil {
			continue
		}
		at := slices.IndexFunc(s.Shape.Fields, func(other Field) bool { return other.Name == field.Classic.Field })
		if !wanted[at] {
			wanted[at] = true
			classic.add(at)
			classic.hidden++
		}
	}
	return classic
}

// Names returns the names of the fields that are read.
func (s *Selection) Names() []string {
	names := make([]string, len(s.fields))
	for i, field := range s.fields {
		names[i] = field.Name
	}
	return names
}

var null = json.RawMessage("null")

// errShape returns an error about a script's record, for the log.
func errShape(format string, args ...any) error {
	return fmt.Errorf("record of the wrong shape: "+format, args...)
}

// Render checks a batch of records, a JSON array of objects, against the selection
// and calls each for every record, rewritten with its fields in declared order and
// without blanks. The bytes passed to each are valid until it returns. The error is
// that of each, or says how the batch differs from the shape; it never contains a
// value. Time and memory are linear in the size of the batch.
func (s *Selection) Render(batch json.RawMessage, style Style, each func(record []byte) error) error {
	w := scanner{data: batch}
	if !json.Valid(batch) || !utf8.Valid(batch) || w.peek() != '[' {
		return ps.ErrInvalidRecords
	}
	var record bytes.Buffer
	values := make([]json.RawMessage, len(s.fields)+len(s.packed))
	for more := w.enter(']'); more; more = w.next(']') {
		clear(values)
		if err := s.collect(&w, values); err != nil {
			return err
		}
		if err := s.unpack(values, style); err != nil {
			return err
		}
		record.Reset()
		if err := s.write(&record, values, style.Classic); err != nil {
			return err
		}
		if err := each(record.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// collect reads the values of one record into the slots of their fields.
func (s *Selection) collect(w *scanner, values []json.RawMessage) error {
	if w.peek() != '{' {
		return errShape("%s record is not an object", s.Shape.Name)
	}
	expected := 0 // scripts emit the declared order, so the guess is nearly always right
	for more := w.enter('}'); more; more = w.next('}') {
		name := w.key()
		place := expected
		if place >= len(s.fields) || string(name) != s.fields[place].Name || s.fields[place].Packed != nil {
			known := false
			if place, known = s.index[string(name)]; !known {
				return errShape("%s has no field with the name emitted after %d fields", s.Shape.Name, expected)
			}
			if place < 0 {
				place = len(s.fields) - place - 1
			}
		}
		if values[place] != nil {
			return errShape("%s has %s twice", s.Shape.Name, name)
		}
		values[place] = w.value()
		expected = place + 1
	}
	return nil
}

func (s *Selection) write(record *bytes.Buffer, values []json.RawMessage, classic bool) error {
	shown := len(s.fields) - s.hidden
	for i, field := range s.fields {
		value := values[i]
		if value == nil {
			return errShape("%s lacks %s", s.Shape.Name, field.Name)
		}
		if field.Null && string(value) == `""` || classic && !s.shows(field, values) {
			value = null // "" is how scripts emit an absent text
		}
		if !field.fits(value) {
			return errShape("%s is not %s in %s", field.Name, field.Type, s.Shape.Name)
		}
		if i >= shown {
			continue
		}
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		record.WriteByte(separator)
		record.WriteByte('"')
		record.WriteString(field.Name)
		record.WriteString(`":`)
		if classic {
			value = s.translate(field, value, values)
		}
		record.Write(value)
	}
	record.WriteByte('}')
	return nil
}

// translate returns the value that the classic dialect shows in a field.
func (s *Selection) translate(field *Field, value json.RawMessage, values []json.RawMessage) json.RawMessage {
	if field.Type == CountryField && value[0] == '"' {
		value, _ = json.Marshal(countryName(unquote(value)))
	}
	if field.Words == nil {
		return value
	}
	if at, known := s.index[field.Words.From]; known && values[at][0] == '"' {
		value = values[at]
	}
	if word, has := field.Words.Word[unquote(value)]; has {
		value, _ = json.Marshal(word)
	}
	return value
}

// shows reports whether the condition of a field is met.
func (s *Selection) shows(field *Field, values []json.RawMessage) bool {
	if field.Classic == nil {
		return true
	}
	at, known := s.index[field.Classic.Field]
	if !known {
		return true
	}
	value := values[at]
	return (len(value) > len(`""`) && value[0] == '"') == field.Classic.Set
}

// fits reports whether a JSON value has the field's type.
func (f *Field) fits(value json.RawMessage) bool {
	switch {
	case value[0] == 'n':
		return f.Null
	case f.Type == BoolField:
		return value[0] == 't' || value[0] == 'f'
	case f.Type == TextListField:
		var list []*string
		return json.Unmarshal(value, &list) == nil && !slices.Contains(list, nil)
	case f.Type == NumberField:
		_, err := strconv.ParseInt(string(value), 10, 64)
		return err == nil
	case f.Type == ObjectField:
		return fitsAll(f.Of, value)
	case f.Type == ObjectListField:
		var list []json.RawMessage
		return json.Unmarshal(value, &list) == nil && !slices.ContainsFunc(list, func(item json.RawMessage) bool { return !fitsAll(f.Of, item) })
	case value[0] != '"':
		return false
	case f.Type == GUIDField:
		return guidPattern.Match(value[1 : len(value)-1])
	case f.Type == TimeField:
		text := string(value[1 : len(value)-1])
		_, err := time.Parse(time.RFC3339, text)
		return err == nil && strings.HasSuffix(text, "Z")
	default:
		return true
	}
}

// fitsAll reports whether a value is an object with exactly the fields, in order.
func fitsAll(fields []Field, value json.RawMessage) bool {
	w := scanner{data: value}
	if w.peek() != '{' {
		return false
	}
	at := 0
	for more := w.enter('}'); more; more = w.next('}') {
		name := w.key()
		if at >= len(fields) || string(name) != fields[at].Name || !fields[at].fits(w.value()) {
			return false
		}
		at++
	}
	return at == len(fields)
}

// scanner walks over JSON that is known to be valid.
type scanner struct {
	data []byte
	at   int
}

// peek skips blanks and returns the byte that follows.
func (w *scanner) peek() byte {
	for w.at < len(w.data) {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
	return 0
}

// enter steps into an array or object and reports whether a member follows.
func (w *scanner) enter(end byte) bool {
	w.at++
	return w.closing(end)
}

// next steps over a comma or the end and reports whether a member follows.
func (w *scanner) next(end byte) bool {
	if w.peek() == ',' {
		w.at++
		return true
	}
	return w.closing(end)
}

func (w *scanner) closing(end byte) bool {
	if w.peek() == end {
		w.at++
		return false
	}
	return true
}

// key reads the name of a member and the colon.
func (w *scanner) key() []byte {
	w.peek()
	quoted := w.value()
	w.peek()
	w.at++
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(unquote(quoted))
}

// value reads a value of any type.
func (w *scanner) value() json.RawMessage {
	w.peek()
	start, depth := w.at, 0
	for w.at < len(w.data) {
		switch w.data[w.at] {
		case '"':
			w.skipString()
			if depth == 0 {
				return w.data[start:w.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return w.data[start:w.at]
			}
			if depth--; depth == 0 {
				w.at++
				return w.data[start:w.at]
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return w.data[start:w.at]
			}
		}
		w.at++
	}
	return w.data[start:w.at]
}

func (w *scanner) skipString() {
	for w.at++; w.data[w.at] != '"'; w.at++ {
		if w.data[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}

func unquote(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text) // value is a valid string
	return text
}

// Member returns the value of a member of a record written by [Selection.Render];
// nil if it has none.
func Member(record []byte, name string) json.RawMessage {
	w := scanner{data: record}
	for more := w.peek() == '{' && w.enter('}'); more; more = w.next('}') {
		if key, value := w.key(), w.value(); string(key) == name {
			return value
		}
	}
	return nil
}

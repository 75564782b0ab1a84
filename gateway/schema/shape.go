package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adgateway/gateway/attributes"
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
	ValueField      // any JSON
	DecimalField    // a number that need not be whole
)

func (t FieldType) String() string {
	return [...]string{"text", "a boolean", "a GUID", "a time in UTC", "a country code", "a list of text", "a whole number", "an object", "a list of objects", "a value", "a number"}[t]
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

	// Attribute is the name under which scripts announce a change of the field, the directory's
	// unless it is the field's own. Empty: its name, or the name of Packed.
	Attribute string

	// Extra is the attribute of a field that is shown only where a field list names it. Nil: the field is always
	// there.
	Extra *attributes.Attribute

	Optional bool // the gateway leaves it out where it does not apply; scripts never do

	// Secret marks a value that must be nowhere but in the answer that reveals it, and Sealed one that a
	// script emits as [Reveal] takes it.
	Secret, Sealed bool

	Of []Field // of the objects in an ObjectField or ObjectListField, in declared order

	Packed *Packed // member that holds several fields, this one among them; nil: its own member

	// Classic is when the classic dialect shows the field; it is null otherwise. Nil:
	// always.
	Classic *Condition
	// Words are the texts of the field in the classic dialect. Nil: its own value.
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
	Tag    *Tagging // nil: its records have no entity tags

	// Variants are the shapes that its records have instead, by the value of the member VariantOf,
	// which is not shown; nil: there are none.
	Variants  map[string]*Shape
	VariantOf string

	once    sync.Once
	all     *Selection
	covered []string // by tags
}

// All returns the selection of every field that is always there.
func (s *Shape) All() *Selection {
	s.once.Do(func() {
		s.all = &Selection{Shape: s, index: map[string]int{}}
		for i := range s.Fields {
			if s.Fields[i].Extra == nil {
				s.all.add(i)
			}
		}
		s.all.complete()
		s.covered = s.cover()
	})
	return s.all
}

// Selection is a subset of the fields of a shape, in declared order. It is
// immutable.
type Selection struct {
	Shape  *Shape
	fields []*Field
	labels []string // by field: its name in a record, with the comma and the colon
	hidden int      // the last of fields, which are read but not shown
	packed []*Packed
	beside []string // members that are read for the tag only, after complete
	// further reports that further attributes are read for the tag.
	further bool
	index   map[string]int // by name of a member: index in fields, or -1-index in packed, then beside
}

func (s *Selection) add(field int) {
	f := &s.Shape.Fields[field]
	s.fields = append(s.fields, f)
	s.labels = append(s.labels, `,"`+f.Name+`":`)
	switch {
	case f.Packed == nil:
		s.index[f.Name] = len(s.fields) - 1
	case !slices.Contains(s.packed, f.Packed):
		s.packed = append(s.packed, f.Packed)
		s.index[f.Packed.Member] = -len(s.packed)
	}
}

// complete ends the construction, after all fields have been added.
func (s *Selection) complete() {
	if s.Shape.Tag == nil {
		return
	}
	s.beside = s.Shape.Tag.Beside
	for i, name := range s.beside {
		s.index[name] = -1 - len(s.packed) - i
	}
}

// Classic returns the selection that the classic dialect shows: GUIDs and booleans are
// in every record, because clients of that family cannot do without. The fields that
// conditions are about are read, too.
func (s *Selection) Classic() *Selection {
	wanted := make([]bool, len(s.Shape.Fields))
	for i := range s.Shape.Fields {
		field := &s.Shape.Fields[i]
		always := (field.Type == BoolField || field.Type == GUIDField) && field.Extra == nil
		wanted[i] = always || slices.Contains(s.fields, field)
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
	classic.complete()
	return classic
}

// Names returns the names of the fields that are read. For one of the table of attributes it is the line
// of its attribute.
func (s *Selection) Names() []string {
	names := make([]string, len(s.fields))
	for i, field := range s.fields {
		names[i] = field.Name
		if field.Extra != nil {
			names[i] = field.Extra.Line()
		}
	}
	for i := range s.Shape.Fields {
		if extra := s.Shape.Fields[i].Extra; extra != nil && s.further {
			names = append(names, TagLine+extra.Line())
		}
	}
	return names
}

// TagLine begins the line of an attribute that is read for the tag only.
const TagLine = "+"

// Added returns the attributes of selected fields that not every forest has.
func (s *Selection) Added() (names []string) {
	for _, f := range s.fields {
		if f.Extra != nil && f.Extra.Added {
			names = append(names, f.Extra.LDAP)
		}
	}
	return names
}

var null = json.RawMessage("null")

// errShape returns an error about a script's record, for the log.
func errShape(format string, args ...any) error {
	return fmt.Errorf("record of the wrong shape: "+format, args...)
}

// Render checks a batch of records, a JSON array of objects, against the selection
// and appends every record, with its fields in declared order and without blanks, to
// the bytes, with commas between the records. It returns them and the number of records
// appended. The error says how the batch differs from JSON, then [ps.ErrInvalidRecords],
// or from the shape; it never contains a value. Time and memory are linear in the size
// of the batch.
func (s *Selection) Render(to []byte, batch json.RawMessage, style Style) ([]byte, int, error) {
	rendered, n, err := s.render(to, batch, style)
	if err == nil {
		return rendered, n, nil
	}
	if !json.Valid(batch) || !utf8.Valid(batch) { // what follows the first fault, too
		err = ps.ErrInvalidRecords
	}
	return nil, 0, err
}

// render reads the batch once.
func (s *Selection) render(to []byte, batch json.RawMessage, style Style) (rendered []byte, records int, err error) {
	w := scanner{data: batch}
	if w.peek() != '[' {
		return nil, 0, ps.ErrInvalidRecords
	}
	values := make([]json.RawMessage, len(s.fields)+len(s.packed)+len(s.beside))
	for more := w.enter(']'); more; more = w.next(']') {
		clear(values)
		if err := s.collect(&w, values); err != nil {
			return nil, 0, err
		}
		if err := s.unpack(values, style); err != nil {
			return nil, 0, err
		}
		if records++; records > 1 {
			to = append(to, ',')
		}
		if to, err = s.write(to, values, style.Classic); err != nil {
			return nil, 0, err
		}
		to = s.tag(to, values, style)
	}
	if !w.ended() {
		return nil, 0, ps.ErrInvalidRecords
	}
	return to, records, nil
}

// collect reads the values of one record into the slots of their fields.
func (s *Selection) collect(w *scanner, values []json.RawMessage) error {
	if w.peek() != '{' {
		return errShape("%s record is not an object", s.Shape.Name)
	}
	expected := 0 // scripts emit the declared order, so the guess is nearly always right
	for more := w.enter('}'); more; more = w.next('}') {
		place := expected
		if place >= len(s.fields) || s.fields[place].Packed != nil || !w.skip(s.labels[place][1:]) {
			name, known := w.key(), false
			if place, known = s.index[string(name)]; !known {
				return errShape("%s has no field with the name emitted after %d fields", s.Shape.Name, expected)
			}
			if place < 0 {
				place = len(s.fields) - place - 1
			}
		}
		if values[place] != nil {
			return errShape("%s has %s twice", s.Shape.Name, s.member(place))
		}
		if values[place] = w.value(); w.bad {
			return ps.ErrInvalidRecords
		}
		expected = place + 1
	}
	return nil
}

// member returns the name of the member whose value is at a place.
func (s *Selection) member(place int) string {
	if place < len(s.fields) {
		return s.fields[place].Name
	}
	if place -= len(s.fields); place < len(s.packed) {
		return s.packed[place].Member
	}
	return s.beside[place-len(s.packed)]
}

// write appends a record.
func (s *Selection) write(to []byte, values []json.RawMessage, classic bool) ([]byte, error) {
	shown, label := len(s.fields)-s.hidden, 1 // the first one without its comma
	to = append(to, '{')
	for i, field := range s.fields {
		value := values[i]
		if value == nil {
			return nil, errShape("%s lacks %s", s.Shape.Name, field.Name)
		}
		if field.Null && string(value) == `""` || classic && !s.shows(field, values) {
			value = null // "" is how scripts emit an absent text
		}
		if !field.fits(value) {
			return nil, errShape("%s is not %s in %s", field.Name, field.Type, s.Shape.Name)
		}
		if i >= shown {
			continue
		}
		to = append(to, s.labels[i][label:]...)
		label = 0
		if classic {
			value = s.translate(field, value, values)
		}
		to = append(to, value...)
	}
	return append(to, '}'), nil
}

// Known returns a record with only some known values, by the names of their fields. The others are
// null, as are values that do not fit their field.
func (s *Selection) Known(values map[string]json.RawMessage) []byte {
	to := []byte{'{'}
	for i, field := range s.fields[:len(s.fields)-s.hidden] {
		value := values[field.Name]
		if value == nil || !field.fits(value) {
			value = null
		}
		label := s.labels[i]
		if i == 0 {
			label = label[1:] // the first one without its comma
		}
		to = append(append(to, label...), value...)
	}
	return append(to, '}')
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
	case f.Type == ValueField:
		return true
	case f.Type == NumberField:
		_, err := strconv.ParseInt(string(value), 10, 64)
		return err == nil
	case f.Type == DecimalField:
		_, err := strconv.ParseFloat(string(value), 64)
		return err == nil
	case f.Type == ObjectField:
		return fitsAll(f.Of, value)
	case f.Type == ObjectListField:
		var list []json.RawMessage
		return json.Unmarshal(value, &list) == nil && !slices.ContainsFunc(list, func(item json.RawMessage) bool { return !fitsAll(f.Of, item) })
	case value[0] != '"':
		return false
	case f.Type == GUIDField:
		return isGUID(value[1 : len(value)-1])
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

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
	CountryField // alpha-2 code; the English name in the classic dialect
	TextListField
	NumberField     // a whole number
	ObjectField     // an object with the fields of Of
	ObjectListField // a list of such objects
	ValueField      // any JSON
	DecimalField    // a number that may have decimals
)

func (t FieldType) String() string {
	return [...]string{"text", "a boolean", "a GUID", "a time in UTC", "a country code", "a list of text",
		"a whole number", "an object", "a list of objects", "a value", "a number"}[t]
}

// Field is one member of a record.
type Field struct {
	Name  string
	Type  FieldType
	Null  bool   // may be null; "" then becomes null
	Input string // name of the input if it differs from Name; an alias in field lists
	SetBy string // text for people: the operations that set a field that is not an input
	Doc   string
	Enum  []string // possible values; nil for any

	// Attribute is the name under which scripts announce a change of the field: the attribute's LDAP
	// name, unless the announcement uses the field's own name. If it is empty, that name is Name, or
	// the member of Packed.
	Attribute string

	// Extra is the attribute of a field that is only shown if a field list names the field. It is nil for fields
	// that are always shown.
	Extra *attributes.Attribute

	Optional bool // whether the gateway omits the field where it does not apply; scripts never do

	// Secret marks a value that may only appear in the answer that reveals it. Sealed marks a value that scripts
	// emit in sealed form, see [Reveal].
	Secret, Sealed bool

	Of []Field // fields of the objects in an ObjectField or ObjectListField, in declared order

	Packed *Packed // member that holds several fields, including this one; nil if the field is a member itself

	// Classic is the condition under which the classic dialect shows the field, which is null
	// otherwise. Nil means always.
	Classic *Condition
	// Words are the texts of the field in the classic dialect. Nil means that the value is shown unchanged.
	Words *Words
}

// Words maps the values of the field From to words of the classic dialect. A value that is missing
// in Word is shown unchanged.
type Words struct {
	From string
	Word map[string]string
}

// Condition is met if another field of the record has a value.
type Condition struct {
	Field string
	Set   bool
}

// Shape is the schema of a record: its fields in declared order. It must not be copied, and not be
// changed once it is in use.
type Shape struct {
	Name   string // "User": name of the schema in the API document
	Fields []Field
	Tag    *Tagging // nil if its records have no entity tags

	// Variants are the shapes of records that differ by the value of the member VariantOf, which is
	// not shown. They are nil if there are none.
	Variants  map[string]*Shape
	VariantOf string

	once    sync.Once
	all     *Selection
	tagged  *Selection // shows the same as all, and reads everything that tags cover
	covered []string   // members that tags cover
	further []string   // lines of the additional attributes that tags cover
}

// All returns the selection of all fields that are always shown.
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
		s.tagged = s.all
		if s.Tag != nil && s.Tag.Further {
			s.further = s.tagLines()
			s.tagged = s.all.extended()
		}
	})
	return s.all
}

// Selection is a subset of the fields of a shape, in declared order. It is
// immutable.
type Selection struct {
	Shape  *Shape
	fields []*Field
	labels []string // one per field: its name in a record, with the comma and the colon
	hidden int      // number of fields at the end that are read but not shown
	packed []*Packed
	beside []string // members that are only read for the tag; set by complete
	// further reports whether additional attributes are read for the tag.
	further bool
	index   map[string]int // by member name: index in fields, or -1-index in packed, then beside
	read    ps.Value       // names of the fields, for scripts; set by complete
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

// complete finishes the construction, after all fields have been added.
func (s *Selection) complete() {
	s.read = s.names()
	if s.Shape.Tag == nil {
		return
	}
	s.beside = s.Shape.Tag.Beside
	for i, name := range s.beside {
		s.index[name] = -1 - len(s.packed) - i
	}
}

// Classic returns the selection that the classic dialect shows. GUIDs and booleans are in every
// record, because clients of that dialect rely on them. The fields that conditions refer to are
// read, too.
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

// Read returns the names of the fields that are read, as an argument of scripts. A field for an attribute of
// the table is represented by the attribute's line.
func (s *Selection) Read() ps.Value { return s.read }

func (s *Selection) names() ps.Value {
	names := make([]string, len(s.fields), len(s.fields)+len(s.Shape.further))
	for i, field := range s.fields {
		names[i] = field.Name
		if field.Extra != nil {
			names[i] = field.Extra.Line()
		}
	}
	if s.further {
		names = append(names, s.Shape.further...)
	}
	return ps.List(names)
}

// Shown returns the names of the fields that records show, in order.
func (s *Selection) Shown() []string {
	names := make([]string, len(s.fields)-s.hidden)
	for i := range names {
		names[i] = s.fields[i].Name
	}
	return names
}

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

// Render checks a batch of records, a JSON array of objects, against the selection. It appends
// every record to the bytes, with its fields in declared order, without whitespace, and separated
// by commas. It returns the bytes and the number of records appended. The error, which is
// [ps.ErrInvalidRecords] if the batch is not valid JSON, describes the difference from JSON or from
// the shape and never contains a value. Time and memory are linear in the size of the batch.
func (s *Selection) Render(to []byte, batch json.RawMessage, style Style) ([]byte, int, error) {
	rendered, n, err := s.render(to, batch, style)
	if err == nil {
		return rendered, n, nil
	}
	if !json.Valid(batch) || !utf8.Valid(batch) { // including the bytes after the first fault
		err = ps.ErrInvalidRecords
	}
	return nil, 0, err
}

// render makes a single pass over the batch.
func (s *Selection) render(
	to []byte, batch json.RawMessage, style Style,
) (rendered []byte, records int, err error) {
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

// collect stores the values of one record in the slots of their fields.
func (s *Selection) collect(w *scanner, values []json.RawMessage) error {
	if w.peek() != '{' {
		return errShape("%s record is not an object", s.Shape.Name)
	}
	expected := 0 // index of the field to expect, because scripts nearly always emit fields in declared order
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

// member returns the name of the member whose value is in a slot.
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
	shown, label := len(s.fields)-s.hidden, 1 // the first label without its comma
	to = append(to, '{')
	for i, field := range s.fields {
		value := values[i]
		if value == nil {
			return nil, errShape("%s lacks %s", s.Shape.Name, field.Name)
		}
		if field.Null && string(value) == `""` || classic && !s.shows(field, values) {
			value = null // scripts emit "" for a missing text
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

// Known returns a record that has only some known values, keyed by field name. All other fields are
// null, and so are values that do not fit their field.
func (s *Selection) Known(values map[string]json.RawMessage) []byte {
	to := []byte{'{'}
	for i, field := range s.fields[:len(s.fields)-s.hidden] {
		value := values[field.Name]
		if value == nil || !field.fits(value) {
			value = null
		}
		label := s.labels[i]
		if i == 0 {
			label = label[1:] // the first label without its comma
		}
		to = append(append(to, label...), value...)
	}
	return append(to, '}')
}

// translate returns the value that a field has in the classic dialect.
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
		return json.Unmarshal(value, &list) == nil &&
			!slices.ContainsFunc(list, func(item json.RawMessage) bool { return !fitsAll(f.Of, item) })
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

// fitsAll reports whether a value is an object with exactly these fields, in order.
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

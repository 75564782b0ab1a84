package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/ps"
)

// AttributeOf returns the attribute to which values of a kind are written, or nil if the kind is not for an
// attribute of the table.
func AttributeOf(k Kind) *attributes.Attribute {
	kind, is := k.(attributeKind)
	if !is {
		return nil
	}
	return kind.of
}

// attributeField returns the field that shows an attribute in records.
func attributeField(a *attributes.Attribute) Field {
	f := Field{Name: a.Field, Input: a.Input, Attribute: a.LDAP, Null: true, Doc: a.Doc, Extra: a}
	switch {
	case a.Most > 0:
		f.Type, f.Null = TextListField, false
	case a.Form == attributes.Integer:
		f.Type = NumberField
	}
	return f
}

func attributeFields(table []*attributes.Attribute) []Field {
	fields := make([]Field, len(table))
	for i, a := range table {
		fields[i] = attributeField(a)
	}
	return fields
}

// AttributeKind returns the kind of the values to write to an attribute.
func AttributeKind(a *attributes.Attribute) Kind { return attributeKind{base{"string[]"}, a} }

// attributeKind is the kind of a value of an attribute in the table, or of all its values. The script gets
// one line, see [attributes.Attribute.Line]. Text of [Decoded] is the value or, for several values, a JSON
// array of them.
type attributeKind struct {
	base
	of *attributes.Attribute
}

func (k attributeKind) Decode(raw any) (*Decoded, *FieldError) {
	values, problem := k.values(raw)
	if problem != nil {
		return nil, problem
	}
	for i, value := range values {
		if problem := k.check(value); problem != nil {
			return nil, problem
		}
		if slices.ContainsFunc(values[:i], func(other string) bool { return strings.EqualFold(other, value) }) {
			return nil, invalid("must not have a value twice")
		}
	}
	decoded := &Decoded{Values: []ps.Value{ps.List([]string{k.of.Line(values...)})}}
	if k.of.Most == 0 {
		decoded.Text = values[0]
	} else {
		decoded.Text = string(TextsOf(values))
	}
	return decoded, nil
}

// values returns the values that a raw value contains.
func (k attributeKind) values(raw any) ([]string, *FieldError) {
	var values []string
	switch raw := raw.(type) {
	case json.Number:
		if k.of.Form != attributes.Integer {
			return nil, invalid("must be text, not a number: put it in quotes")
		}
		values = []string{raw.String()}
	case Texts:
		values = raw.List()
	case List:
		values = strings.Split(string(raw), listSeparator)
	case string:
		values = []string{raw}
		if k.of.Most > 0 {
			values = strings.Split(raw, listSeparator)
			if strings.HasPrefix(raw, "[") && json.Unmarshal([]byte(raw), &values) != nil {
				return nil, invalid("must be values separated by commas, or an array of texts")
			}
		}
	default:
		return nil, invalid("must be %s, not %s", k.expected(), jsonType(raw))
	}
	switch {
	case k.of.Most == 0 && len(values) != 1:
		return nil, invalid("must be one value, not a list")
	case k.of.Most > 0 && len(values) > k.of.Most:
		return nil, invalid("must have at most %d values", k.of.Most)
	}
	if k.of.Most > 0 {
		for i := range values {
			values[i] = strings.Trim(values[i], " ")
		}
	}
	return values, nil
}

func (k attributeKind) expected() string {
	switch {
	case k.of.Most > 0:
		return "text or an array of texts"
	case k.of.Form == attributes.Integer:
		return "a whole number"
	}
	return "text"
}

// check checks one value.
func (k attributeKind) check(value string) *FieldError {
	if k.of.Form == attributes.Integer {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != value || n < 0 || n > int64(k.of.Limit) {
			return invalid("must be a whole number from 0 to %d", k.of.Limit)
		}
		return nil
	}
	if _, problem := text(value, k.of.Limit, false); problem != nil {
		return problem
	}
	switch {
	case value == "":
		return invalid("must not have an empty value")
	case k.of.Form == attributes.ASCII && strings.ContainsFunc(value, func(r rune) bool { return r > '~' }):
		return invalid("must contain only ASCII characters: %s cannot store others", k.of.LDAP)
	case k.of.Pattern != nil && !k.of.Pattern.MatchString(value):
		return invalid("%s", k.of.Must)
	}
	return nil
}

func (k attributeKind) Clear() []ps.Value { return []ps.Value{ps.List([]string{k.of.Line()})} }

func (k attributeKind) Doc() Doc {
	a := k.of
	doc := Doc{Type: "string", MaxLength: a.Limit, Example: a.Example}
	doc.Text = "Text for the LDAP attribute " + a.LDAP + "."
	switch {
	case a.Form == attributes.Integer:
		doc.Type, doc.MaxLength, doc.Max = "integer", 0, int64(a.Limit)
		doc.Text = "Whole number for the LDAP attribute " + a.LDAP + "."
	case a.Most > 0:
		doc.MaxLength = 0
		doc.Text = fmt.Sprintf("Up to %d values for the LDAP attribute %s, with at most %d characters each, "+
			"separated by commas; in JSON, also an array.", a.Most, a.LDAP, a.Limit)
	}
	if a.Added {
		doc.Text += " Exchange adds this attribute to the schema."
	}
	return doc
}

// TakesTexts reports whether values of the kind are lists whose items may contain commas.
func TakesTexts(k Kind) bool {
	a := AttributeOf(k)
	return NamesMembers(k) || Repeats(k) || a != nil && a.Most > 0
}

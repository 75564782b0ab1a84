package schema

import (
	"bytes"
	"encoding/json"
	"strings"

	"adgateway/gateway/attributes"
)

// Announced is one change of a property as scripts announce it. The values are text; "" means no
// value.
type Announced struct {
	Attribute, Before, After string
}

// FieldChange is a change of a field, with values as they appear in records.
type FieldChange struct {
	Field, Attribute string
	Before, After    json.RawMessage
}

// Changes returns the changes of fields that an announced change amounts to. An attribute that
// holds several fields yields those that differ. An attribute that no field shows keeps its own
// name.
func (s *Shape) Changes(announced Announced) []FieldChange {
	var changes []FieldChange
	if announced.Attribute == attributes.Photo.LDAP {
		before, after := announcedPhoto(announced.Before), announcedPhoto(announced.After)
		return append(changes, FieldChange{photoField, announced.Attribute, before, after})
	}
	for _, field := range s.announcedBy(announced) {
		change := FieldChange{field.Name, announced.Attribute, field.announced(announced.Before),
			field.announced(announced.After)}
		if field.Packed == nil || !bytes.Equal(change.Before, change.After) {
			changes = append(changes, change)
		}
	}
	return changes
}

// announcedBy returns the fields whose changes are announced under an attribute's name.
func (s *Shape) announcedBy(announced Announced) []*Field {
	var fields []*Field
	for i := range s.Fields {
		field := &s.Fields[i]
		name := field.Attribute
		switch {
		case field.Packed != nil:
			name = field.Packed.Member
		case name == "":
			name = field.Name
		}
		if name == announced.Attribute {
			fields = append(fields, field)
		}
	}
	if fields == nil {
		own := &Field{Name: announced.Attribute}
		if truth(announced.Before) != nil || truth(announced.After) != nil {
			own.Type = BoolField
		}
		fields = append(fields, own)
	}
	return fields
}

// announced returns an announced value as it appears in records.
func (f *Field) announced(text string) json.RawMessage {
	switch {
	case f.Packed != nil:
		if text != "" {
			text = " " + text // in records the GUID precedes it
		}
		fields, _ := f.Packed.unpack(text)
		if value, has := fields[f.Name]; has && string(value) != `""` {
			return value
		}
	case text == "":
	case f.Type == BoolField:
		if value := truth(text); value != nil {
			return value
		}
	case f.Type == NumberField:
		return json.RawMessage(text)
	case f.Type == TextListField:
		separator := listSeparator
		if f.Extra != nil {
			separator = attributes.ValueSeparator
		}
		value, _ := json.Marshal(strings.Split(text, separator))
		return value
	default:
		value, _ := json.Marshal(text)
		return value
	}
	return null
}

// truth returns PowerShell's text for a boolean as JSON, or nil for any other text.
func truth(text string) json.RawMessage {
	if text == "True" || text == "False" {
		return json.RawMessage(strings.ToLower(text))
	}
	return nil
}

// ChangeKind classifies a change of a property.
type ChangeKind string

// The kinds of changes.
const (
	SetsValue     ChangeKind = "set"
	ClearsValue   ChangeKind = "clear"
	Creates       ChangeKind = "create"
	Removes       ChangeKind = "remove"
	Renames       ChangeKind = "rename"
	Moves         ChangeKind = "move"
	SetsMember    ChangeKind = "member"
	SetsFlag      ChangeKind = "flag"
	SetsSecret    ChangeKind = "secret" // the value is never shown
	ServerChooses ChangeKind = "server" // the server chooses the value
)

// ChangeKinds returns all kinds of changes.
func ChangeKinds() []ChangeKind {
	return []ChangeKind{SetsValue, ClearsValue, Creates, Removes, Renames, Moves, SetsMember, SetsFlag,
		SetsSecret, ServerChooses}
}

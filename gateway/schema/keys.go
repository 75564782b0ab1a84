package schema

import (
	"encoding/json"
	"slices"
)

// keyFields are the fields that identify a record's object. A caller that may change an object but
// not read it gets only these. Action and reason describe the change itself.
var keyFields = []string{
	"guid", "name", "username", "samUsername", "samName", "computerName", "account", "distinguishedName", "path",
	"zone", "zoneName", "fqdn", "childName", "memberName", "memberDistinguishedName",
	"group", "action", "reason",
}

// IsKey reports whether a field identifies the object of its record.
func IsKey(name string) bool { return slices.Contains(keyFields, name) }

// Keys returns a selection that shows only those selected fields that identify a record's object. If no
// selected field does, it shows all such fields of the shape. The selection reads every field.
func (s *Selection) Keys() *Selection {
	keys := &Selection{Shape: s.Shape, index: map[string]int{}}
	for i := range s.Shape.Fields {
		if field := &s.Shape.Fields[i]; IsKey(field.Name) &&
			slices.Contains(s.fields[:len(s.fields)-s.hidden], field) {
			keys.add(i)
		}
	}
	if len(keys.fields) == 0 && s != s.Shape.All() {
		return s.Shape.All().Keys()
	}
	keys.complete()
	return keys.ReadingAll()
}

// KeysOf returns the members of a record that identify its object.
func KeysOf(record map[string]json.RawMessage) json.RawMessage {
	keys := []byte{'{'}
	for _, name := range keyFields {
		if value, has := record[name]; has {
			if len(keys) > 1 {
				keys = append(keys, ',')
			}
			keys = append(append(append(keys, '"'), name...), `":`...)
			keys = append(keys, value...)
		}
	}
	return append(keys, '}')
}

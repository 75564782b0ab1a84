package schema

import (
	"slices"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/gateway/filter"
)

// Extended is the shape and the filters of users in a gateway whose settings add attributes.
type Extended struct {
	shape *Shape
	class *filter.Class
}

// Extend adds attributes to the fields of users.
func Extend(table []*attributes.Attribute) Extended {
	fields := slices.Concat(User.Fields, attributeFields(table))
	return Extended{&Shape{Name: User.Name, Tag: User.Tag, Fields: fields}, filter.Users.With(table)}
}

// Of returns the extended shape of users if it is given that shape, else the shape itself.
func (e Extended) Of(s *Shape) *Shape {
	if s == User {
		return e.shape
	}
	return s
}

// Kind returns the kind in place of another one: one that is about users is about the extended ones.
func (e Extended) Kind(k Kind) Kind {
	switch kind := k.(type) {
	case fieldListKind:
		if kind.shape == User {
			return FieldList(e.shape)
		}
	case filterKind:
		if kind.class == filter.Users {
			return Filter(e.class)
		}
	}
	return k
}

// Twice returns the names of fields of a shape that another one of its fields has, and the attributes that
// several fields of the table of attributes are about, or one of them and another field.
func (s *Shape) Twice() (twice []string) {
	names, held := map[string]bool{}, map[string]bool{}
	for i := range s.Fields {
		f := &s.Fields[i]
		for _, name := range slices.Compact([]string{strings.ToLower(f.Name), strings.ToLower(f.Input)}) {
			if name != "" && names[name] {
				twice = append(twice, f.Name)
			}
			names[name] = true
		}
		attribute := f.Attribute
		if attribute == "" {
			attribute = f.Name
		}
		if f.Extra != nil && held[strings.ToLower(attribute)] {
			twice = append(twice, attribute)
		}
		held[strings.ToLower(attribute)] = true
	}
	return twice
}

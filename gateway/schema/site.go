package schema

import (
	"slices"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/gateway/filter"
)

// Extended is the users' shape and filters in a gateway whose settings add attributes.
type Extended struct {
	shape *Shape
	class *filter.Class
}

// Extend adds attributes to the fields of users.
func Extend(table []*attributes.Attribute) Extended {
	fields := slices.Concat(User.Fields, attributeFields(table))
	return Extended{&Shape{Name: User.Name, Tag: User.Tag, Fields: fields}, filter.Users.With(table)}
}

// Of returns the extended shape if s is the shape of users, and s otherwise.
func (e Extended) Of(s *Shape) *Shape {
	if s == User {
		return e.shape
	}
	return s
}

// Kind returns the extended kind if k refers to users, and k otherwise.
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

// Twice returns the field names that occur more than once in a shape, and the attributes that a
// field of the attribute table shares with another field.
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

package directory

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is an immutable copy of the requested attributes of an object at one
// moment. Attribute names are lDAPDisplayNames; case is ignored. The zero Object is
// empty.
type Object struct {
	DN      string   // escaped in the form of Active Directory
	GUID    GUID     // objectGUID
	SID     SID      // objectSid; zero if the object is not a principal
	Class   string   // the most specific structural class, e.g. "user"
	Classes []string // from "top" to Class; must not be changed

	defs []*Attribute // the requested attributes by key; may be shared
	ends []int32      // the end of the values of each attribute in vals
	vals []string     // raw values
}

// objectAttr is an attribute with its raw values.
type objectAttr struct {
	def  *Attribute
	vals []string
}

func (o *Object) at(i int) objectAttr {
	from := int32(0)
	if i > 0 {
		from = o.ends[i-1]
	}
	return objectAttr{o.defs[i], o.vals[from:o.ends[i]]}
}

// find returns an attribute. If it is absent, it has no values.
func (o *Object) find(name string) objectAttr {
	for i, def := range o.defs {
		if strings.EqualFold(def.Name, name) {
			return o.at(i)
		}
	}
	return objectAttr{}
}

func (o *Object) of(a *Attribute) objectAttr {
	for i, def := range o.defs {
		if def == a {
			return o.at(i)
		}
	}
	return objectAttr{}
}

// Names returns the attributes that have values in this copy, sorted without case.
func (o *Object) Names() []string {
	names := make([]string, 0, len(o.defs))
	for i, def := range o.defs {
		if len(o.at(i).vals) > 0 {
			names = append(names, def.Name)
		}
	}
	return names
}

// Values returns the values of an attribute in stored order, or nil if it is absent. The type depends
// on the syntax: string (text, names, OIDs), int32 (Integer, Enumeration), int64 (LargeInteger),
// bool, time.Time in UTC, or []byte (octets, SIDs, GUIDs). The caller may change the slice.
func (o *Object) Values(name string) []any {
	return o.find(name).values()
}

// ValuesOf is Values for an attribute of the schema.
func (o *Object) ValuesOf(a *Attribute) []any { return o.of(a).values() }

func (a objectAttr) values() []any {
	if len(a.vals) == 0 {
		return nil
	}
	out := make([]any, len(a.vals))
	for i, v := range a.vals {
		out[i] = a.def.decode(v)
	}
	return out
}

// Value returns the first of Values, or nil.
func (o *Object) Value(name string) any {
	return o.find(name).value()
}

// ValueOf is Value for an attribute of the schema.
func (o *Object) ValueOf(a *Attribute) any { return o.of(a).value() }

func (a objectAttr) value() any {
	if len(a.vals) == 0 {
		return nil
	}
	return a.def.decode(a.vals[0])
}

// String returns the first value as LDAP text, or "" if the attribute is absent. Octets are
// returned unchanged, GUIDs and SIDs in text form, times in generalized form.
func (o *Object) String(name string) string {
	a := o.find(name)
	if len(a.vals) == 0 {
		return ""
	}
	return a.def.text(a.vals[0])
}

// Strings returns all values in the form of String, or nil if the attribute is absent.
func (o *Object) Strings(name string) []string {
	a := o.find(name)
	if len(a.vals) == 0 {
		return nil
	}
	out := make([]string, len(a.vals))
	for i, v := range a.vals {
		out[i] = a.def.text(v)
	}
	return out
}

// Int returns the first value as a number. ok is false if the value is absent or not a number.
func (o *Object) Int(name string) (n int64, ok bool) {
	a := o.find(name)
	if len(a.vals) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(a.vals[0], 10, 64)
	return n, err == nil
}

// Time returns the first value as a time: a generalized time or a FILETIME (accountExpires, pwdLastSet, ...).
// ok is false if the value is absent, 0 or Never.
func (o *Object) Time(name string) (t time.Time, ok bool) {
	switch v := o.Value(name).(type) {
	case time.Time:
		return v, true
	case int64:
		return FromFileTime(v)
	}
	return time.Time{}, false
}

// Is reports whether the object has the class or one derived from it.
func (o *Object) Is(class string) bool { return hasName(o.Classes, class) }

// Selection is a list of requested attributes, looked up once for repeated reads. It
// is safe for concurrent use. It does not include attributes that are added to the
// schema later. The zero Selection is empty.
type Selection struct {
	all  bool
	defs []*Attribute // by key; if all is set, only computed attributes
}

// Select returns a Selection of names as in SearchRequest.Attributes.
func (s *Schema) Select(names ...string) *Selection {
	sel := &Selection{all: len(names) == 0 || slices.Contains(names, "*")}
	for _, name := range names {
		def, ok := s.Attribute(name)
		if ok && !def.hidden() && (!sel.all || def.Constructed) && !slices.Contains(sel.defs, def) {
			sel.defs = append(sel.defs, def)
		}
	}
	slices.SortFunc(sel.defs, byKey)
	return sel
}

// Never is the FILETIME that means never, for accountExpires.
const Never = int64(0x7FFFFFFFFFFFFFFF)

const fileTimeEpoch = 116444736000000000 // 1970-01-01 in 100 ns since 1601

// ToFileTime converts t to a Windows FILETIME: 100 ns units since 1601 in UTC.
func ToFileTime(t time.Time) int64 {
	return t.Unix()*10_000_000 + int64(t.Nanosecond()/100) + fileTimeEpoch
}

// FromFileTime converts a FILETIME to a time in UTC. ok is false for 0, negative numbers and Never.
func FromFileTime(n int64) (t time.Time, ok bool) {
	if n <= 0 || n == Never {
		return time.Time{}, false
	}
	n -= fileTimeEpoch
	return time.Unix(n/10_000_000, n%10_000_000*100).UTC(), true
}

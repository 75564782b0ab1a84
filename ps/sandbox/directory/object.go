package directory

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is what a read found: an immutable copy of the attributes asked for,
// as they were at one moment. It does not follow later writes. Names are
// lDAPDisplayNames and compare without case. The zero Object is empty.
type Object struct {
	// DN is the distinguished name, escaped as Active Directory does.
	DN string
	// GUID is the objectGUID; every object has one.
	GUID GUID
	// SID is the objectSid; zero for objects that are no principals.
	SID SID
	// Class is the most specific structural class, e.g. "user".
	Class string
	// Classes is the class chain from "top" to Class. Do not change it.
	Classes []string

	// The attributes asked for in the order of their names, lower-cased, where
	// the values of each end in vals, and the raw values. defs may be shared.
	defs []*Attribute
	ends []int32
	vals []string
}

// objectAttr is an attribute and its raw values, see Attribute.decode.
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

// find gives an attribute, without values when it is absent.
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

// Has tells whether the attribute has a value in this copy.
func (o *Object) Has(name string) bool { return len(o.find(name).vals) > 0 }

// Names are the attributes with values in this copy, sorted without case.
func (o *Object) Names() []string {
	names := make([]string, 0, len(o.defs))
	for i, def := range o.defs {
		if len(o.at(i).vals) > 0 {
			names = append(names, def.Name)
		}
	}
	return names
}

// Values are the attribute's values typed by its syntax, in stored order: a
// string (text, names, OIDs), int32 (Integer, Enumeration), int64
// (LargeInteger), bool, time.Time in UTC (times), or []byte (octets, SIDs,
// GUIDs). nil when the attribute is absent. The slice is the caller's.
func (o *Object) Values(name string) []any {
	return o.find(name).values()
}

// ValuesOf is Values of an attribute of the schema.
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

// Value is the first of Values, or nil.
func (o *Object) Value(name string) any {
	return o.find(name).value()
}

// ValueOf is Value of an attribute of the schema.
func (o *Object) ValueOf(a *Attribute) any { return o.of(a).value() }

func (a objectAttr) value() any {
	if len(a.vals) == 0 {
		return nil
	}
	return a.def.decode(a.vals[0])
}

// Count is the number of values; 0 when absent.
func (o *Object) Count(name string) int { return len(o.find(name).vals) }

// String is the first value as LDAP text ("" when absent). Octets come as they
// are; GUIDs and SIDs in their usual text form; times in generalized form.
func (o *Object) String(name string) string {
	a := o.find(name)
	if len(a.vals) == 0 {
		return ""
	}
	return a.def.text(a.vals[0])
}

// Strings are all values as String shows one; nil when absent.
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

// Int is the first value as a number; ok is false when it is absent or none.
func (o *Object) Int(name string) (n int64, ok bool) {
	a := o.find(name)
	if len(a.vals) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(a.vals[0], 10, 64)
	return n, err == nil
}

// Bool is the first value as a truth value; ok is false when it is absent.
func (o *Object) Bool(name string) (b, ok bool) {
	a := o.find(name)
	if len(a.vals) == 0 {
		return false, false
	}
	return a.vals[0] == "TRUE", true
}

// Bytes are the first value's octets; nil when absent.
func (o *Object) Bytes(name string) []byte {
	a := o.find(name)
	if len(a.vals) == 0 {
		return nil
	}
	return []byte(a.vals[0])
}

// Time is the first value as a moment: generalized times, and FILETIME numbers
// (accountExpires, pwdLastSet, ...). ok is false when it is absent, 0, or the
// number that means never.
func (o *Object) Time(name string) (t time.Time, ok bool) {
	switch v := o.Value(name).(type) {
	case time.Time:
		return v, true
	case int64:
		return FromFileTime(v)
	}
	return time.Time{}, false
}

// Is tells whether the object is of the class or of one derived from it.
func (o *Object) Is(class string) bool {
	for _, c := range o.Classes {
		if strings.EqualFold(c, class) {
			return true
		}
	}
	return false
}

// A Selection is a list of attributes that reads want, looked up in a schema: for
// lists that are used again. It may be used concurrently, with all domains of
// the schema; attributes the schema learns later are not in it. The zero
// Selection has no attribute.
type Selection struct {
	all  bool
	defs []*Attribute // by key; with all only what is not in all
}

// Select makes a Selection of names, as SearchRequest.Attributes has them.
func (s *Schema) Select(names ...string) *Selection {
	sel := &Selection{all: len(names) == 0 || slices.Contains(names, "*")}
	for _, name := range names {
		def, ok := s.Attribute(name)
		if ok && !def.hidden() && (!sel.all || def.Constructed) && !slices.Contains(sel.defs, def) {
			sel.defs = append(sel.defs, def)
		}
	}
	slices.SortFunc(sel.defs, func(a, b *Attribute) int { return strings.Compare(a.key, b.key) })
	return sel
}

// Never is the FILETIME that means never (accountExpires).
const Never = int64(0x7FFFFFFFFFFFFFFF)

const fileTimeEpoch = 116444736000000000 // 1970-01-01 in 100 ns since 1601

// ToFileTime is t as a Windows FILETIME (100 ns since 1601, UTC).
func ToFileTime(t time.Time) int64 {
	return t.Unix()*10_000_000 + int64(t.Nanosecond()/100) + fileTimeEpoch
}

// FromFileTime is the moment of a FILETIME; ok is false for 0, negative
// numbers and Never, which are no moments.
func FromFileTime(n int64) (t time.Time, ok bool) {
	if n <= 0 || n == Never {
		return time.Time{}, false
	}
	n -= fileTimeEpoch
	return time.Unix(n/10_000_000, n%10_000_000*100).UTC(), true
}

package change

import (
	"bytes"
	"encoding/json"
	"slices"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Difference is a property whose value differs from the plan: before the change or, if the values
// before are equal, after it. It never contains the values of secrets.
type Difference struct {
	Object   string          `json:"object"` // distinguished name
	Field    string          `json:"field"`
	Expected json.RawMessage `json:"expected"`
	Found    json.RawMessage `json:"found"`
}

// Drift returns the differences between the objects of a plan and those announced when it is applied: objects
// that were added, are missing or reordered, or have different values before or after. Values that the server
// chooses count as equal. It returns nil if there are no differences.
//
// Memberships are compared by the identity of groups and members: neither the names and places of groups and
// members nor the order of several groups matters.
func Drift(planned, found []Object) []Difference {
	var drift []Difference
	memberships := slices.ContainsFunc(planned, joins)
	if memberships {
		found = inOrderOf(planned, found)
	}
	for i := range max(len(planned), len(found)) {
		switch {
		case i >= len(found):
			drift = append(drift, missing(planned[i])...)
		case i >= len(planned):
			drift = append(drift, added(found[i])...)
		case !same(planned[i], found[i]):
			drift = append(drift, missing(planned[i])...)
			drift = append(drift, added(found[i])...)
		default:
			was := planned[i]
			if memberships {
				was.DistinguishedName = found[i].DistinguishedName
			}
			drift = append(drift, compare(was, found[i])...)
		}
	}
	return drift
}

// joins reports whether the planned changes of an object put members into a group, or take them out.
func joins(o Object) bool {
	return slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Attribute == "member" })
}

// inOrderOf returns the found objects in the order of the planned ones. Objects that were not
// planned come last.
func inOrderOf(planned, found []Object) []Object {
	at := func(o Object) int {
		if i := slices.IndexFunc(planned, func(p Object) bool { return same(p, o) }); i >= 0 {
			return i
		}
		return len(planned)
	}
	return slices.SortedStableFunc(slices.Values(found), func(a, b Object) int { return at(a) - at(b) })
}

// Named returns the objects of a plan that was made from the announcement was, with the names that
// the members have in this announcement. A member that is no longer announced keeps its name, unless
// another object has the name now: then the GUID stands for the member. The plan is not changed.
func (a Announcement) Named(planned []Object, was *ps.Intent) []Object {
	planned = slices.Clone(planned)
	for i := range planned {
		if !joins(planned[i]) {
			continue
		}
		planned[i].Changes = slices.Clone(planned[i].Changes)
		for n := range planned[i].Changes {
			if c := &planned[i].Changes[n]; c.Kind == schema.SetsMember {
				c.Before, c.After = a.memberNow(c.Before, was), a.memberNow(c.After, was)
			}
		}
	}
	return planned
}

// memberNow returns the current name of the member that value names in a plan made from was.
func (a Announcement) memberNow(value json.RawMessage, was *ps.Intent) json.RawMessage {
	var dn string
	if json.Unmarshal(value, &dn) != nil || dn == "" {
		return value
	}
	i := slices.IndexFunc(was.Objects, func(o ps.Intended) bool { return o.DN == dn })
	if i < 0 {
		return value
	}
	guid := was.Objects[i].GUID
	if now := a.nameOf(guid); now != guid {
		return text(now)
	}
	if slices.ContainsFunc(a.Intent.Objects, func(o ps.Intended) bool { return o.DN == dn }) {
		return text(guid)
	}
	return value
}

// Against returns the objects of an announcement for comparison with a plan. A planned object that
// already has its planned values is included, without changes.
func (a Announcement) Against(planned []Object) []Object {
	found := Of(a)
	for i, p := range planned {
		if slices.ContainsFunc(found, func(o Object) bool { return same(p, o) }) || !a.names(p) {
			continue
		}
		p.Changes = nil
		found = slices.Insert(found, min(i, len(found)), p)
	}
	return found
}

// names reports whether an object is among the announced ones.
func (a Announcement) names(o Object) bool {
	return slices.ContainsFunc(a.Intent.Objects, func(intended ps.Intended) bool {
		if o.GUID != nil || intended.GUID != "" {
			return o.GUID != nil && *o.GUID == intended.GUID
		}
		return o.DistinguishedName == intended.DN
	})
}

// same reports whether a and b are the same object. An object that has not been created yet is
// compared by name.
func same(a, b Object) bool {
	if a.GUID == nil || b.GUID == nil {
		return a.GUID == b.GUID && a.DistinguishedName == b.DistinguishedName
	}
	return *a.GUID == *b.GUID
}

// compare returns the differences between the planned and the found changes of an object. A planned change
// that is no longer announced has been made by others. A change that was not planned was not needed at that
// time, because the object already had the new value.
func compare(planned, found Object) []Difference {
	var drift []Difference
	differ := func(field string, expected, found json.RawMessage) {
		drift = append(drift, Difference{planned.DistinguishedName, field, expected, found})
	}
	if planned.DistinguishedName != found.DistinguishedName {
		differ("distinguishedName", text(planned.DistinguishedName), text(found.DistinguishedName))
	}
	for _, want := range planned.Changes {
		i := slices.IndexFunc(found.Changes, want.like)
		switch {
		case i < 0:
			differ(want.Field, want.Before, want.After)
		case !bytes.Equal(want.Before, found.Changes[i].Before):
			differ(want.Field, want.Before, found.Changes[i].Before)
		case !bytes.Equal(want.After, found.Changes[i].After):
			differ(want.Field, want.After, found.Changes[i].After)
		}
	}
	for _, got := range found.Changes {
		if !slices.ContainsFunc(planned.Changes, got.like) {
			differ(got.Field, got.After, got.Before)
		}
	}
	if drift == nil && !slices.EqualFunc(planned.Changes, found.Changes, Change.like) {
		differ("changes", text("the planned order"), text("another order"))
	}
	return drift
}

// like reports whether both changes affect the same property, record or member.
func (c Change) like(other Change) bool {
	if c.Kind != other.Kind || c.Field != other.Field || c.Attribute != other.Attribute {
		return false
	}
	if c.Kind == schema.SetsMember {
		return bytes.Equal(c.value(), other.value())
	}
	return c.Field != recordsField || bytes.Equal(c.Before, other.Before) && bytes.Equal(c.After, other.After)
}

// value returns the new value or, if the change clears it, the previous one.
func (c Change) value() json.RawMessage {
	if bytes.Equal(c.After, null) {
		return c.Before
	}
	return c.After
}

// missing returns the differences for a planned object that was not found. A group whose
// memberships are copied is not announced if the membership is already as planned.
func missing(o Object) []Difference {
	if !slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Kind != schema.SetsMember }) {
		unchanged := o
		unchanged.Changes = nil
		return compare(o, unchanged)
	}
	return []Difference{{o.DistinguishedName, "distinguishedName", text(o.DistinguishedName), null}}
}

// added returns the differences for an object that was not planned.
func added(o Object) []Difference {
	return []Difference{{o.DistinguishedName, "distinguishedName", null, text(o.DistinguishedName)}}
}

func text(s string) json.RawMessage {
	encoded, _ := json.Marshal(s) // a string always encodes
	return encoded
}

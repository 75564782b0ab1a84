package change

import (
	"bytes"
	"slices"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Left returns the objects of a change in the state in which the change left them, under their new names. It
// omits the objects whose GUIDs are in failed.
func Left(a Announcement, failed []string) []Object {
	left := Of(a)
	for i := range a.Intent.Objects {
		intended := &a.Intent.Objects[i]
		at := slices.IndexFunc(left, func(o Object) bool {
			return o.GUID != nil && *o.GUID == intended.GUID || o.GUID == nil && o.DistinguishedName == intended.DN
		})
		switch {
		case at < 0:
		case slices.Contains(failed, intended.GUID):
			left = slices.Delete(left, at, at+1)
		default:
			if name := NameAfter(intended); name != "" {
				left[at].DistinguishedName = name
			}
		}
	}
	return left
}

// NameAfter returns the new distinguished name of a renamed or moved object, or "" if the object
// keeps its name.
func NameAfter(object *ps.Intended) string {
	leaf, above, found := schema.CutDN(object.DN)
	if !found {
		return ""
	}
	kind, _, _ := strings.Cut(object.DN, "=")
	before := leaf + "," + above
	for _, c := range object.Changes {
		switch c.Name {
		case "name":
			leaf = schema.EscapeRDN(c.After)
		case Parent:
			above = c.After
		}
	}
	if before == leaf+","+above {
		return ""
	}
	return kind + "=" + leaf + "," + above
}

// Rebased returns the objects of a plan in the form in which a script must announce them if the changes in
// left were made after the plan. left contains the objects of these changes, starting with the latest
// change, see [Left]. found contains the announced objects, because a call may now have to write a value that
// already had the planned value before. Values that neither the plan nor left explains remain differences.
// The plan is not changed.
func Rebased(planned, found, left []Object) []Object {
	planned = slices.Clone(planned)
	for i, o := range found {
		is := func(other Object) bool { return same(other, o) }
		at := slices.IndexFunc(left, is)
		if at >= 0 && left[at].DistinguishedName == o.DistinguishedName && !slices.ContainsFunc(planned, is) {
			o.Changes = nil
			planned = slices.Insert(planned, min(i, len(planned)), o)
		}
	}
	for i := range planned {
		p := &planned[i]
		var announced []Change
		if at := slices.IndexFunc(found, func(o Object) bool { return same(o, *p) }); at >= 0 {
			announced = found[at].Changes
		}
		var latest []Change // the last change of each property, and all changes of records
		named := false
		for _, l := range left {
			if !same(l, *p) {
				continue
			}
			if !named {
				p.DistinguishedName, named = l.DistinguishedName, true
			}
			for _, c := range l.Changes {
				if c.Field == recordsField || !slices.ContainsFunc(latest, c.sets) {
					latest = append(latest, c)
				}
			}
		}
		p.Changes = rebased(p.Changes, announced, latest)
	}
	return planned
}

// rebased returns the planned changes of an object as they are after other changes of it. latest contains
// these changes, starting with the latest one. announced are the changes that are still needed.
func rebased(planned, announced, latest []Change) []Change {
	planned = slices.Clone(planned)
	for _, l := range slices.Backward(latest) {
		if bytes.Equal(l.Before, l.After) {
			continue // the server chose the value, or the value is secret
		}
		if at := slices.IndexFunc(planned, l.sets); at >= 0 {
			want := &planned[at]
			if want.Before = l.After; bytes.Equal(want.Before, want.After) {
				planned = slices.Delete(planned, at, at+1)
			}
			continue
		}
		at := slices.IndexFunc(announced, l.precedes)
		if at >= 0 {
			planned = slices.Insert(planned, min(at, len(planned)), announced[at])
		}
	}
	return planned
}

// sets reports whether both changes set the same property from their starting point. A membership is the
// property of its member, and a record that of its former text.
func (c Change) sets(other Change) bool {
	switch {
	case c.Field != other.Field || c.Attribute != other.Attribute:
		return false
	case c.Kind == schema.SetsMember || other.Kind == schema.SetsMember:
		return c.Kind == other.Kind && bytes.Equal(c.value(), other.value())
	case c.Field == recordsField:
		return c.like(other) || !bytes.Equal(c.Before, null) && bytes.Equal(c.Before, other.Before)
	}
	return true
}

// precedes reports whether the other change sets the same property, and begins with what this one has left. A
// record that this change has removed can only come back.
func (c Change) precedes(other Change) bool {
	if !bytes.Equal(c.After, other.Before) || c.Field != other.Field || c.Attribute != other.Attribute {
		return false
	}
	if c.Field == recordsField {
		return !bytes.Equal(c.After, null) || bytes.Equal(c.Before, other.After)
	}
	return c.sets(other)
}

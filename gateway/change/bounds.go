package change

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Bounds are the limits of a caller in the form in which they apply to changes. The zero value means no
// limits.
type Bounds struct {
	ous    []schema.Path
	limits identity.Limits
}

// BoundsOf returns the bounds for a caller's limits.
func BoundsOf(limits identity.Limits) Bounds {
	b := Bounds{limits: limits}
	for _, ou := range limits.OUs {
		if path, ok := schema.ParsePath(ou); ok {
			b.ous = append(b.ous, path)
		}
	}
	return b
}

// None reports whether there are no limits.
func (b Bounds) None() bool {
	return len(b.limits.OUs)+len(b.limits.Zones)+len(b.limits.Groups)+len(b.limits.Names) == 0
}

// Within reports whether a distinguished name lies within the caller's OUs.
func (b Bounds) Within(dn string) bool {
	if len(b.limits.OUs) == 0 {
		return true
	}
	path, ok := schema.ParsePath(dn)
	return ok && slices.ContainsFunc(b.ous, path.Within)
}

// Include reports whether a change is within the limits. Each of its objects must be within them, before or
// after the change.
func (b Bounds) Include(m Made) bool {
	if b.None() {
		return true
	}
	for i := range m.Intent.Objects {
		object := &m.Intent.Objects[i]
		if m.Op.Lane == ps.DNS && !b.seeName(m.Zone, object) {
			return false
		}
		if m.Op.Lane == ps.Directory && !b.seeObject(m.Op.Reply.Shape, i, object) {
			return false
		}
	}
	return true
}

func (b Bounds) seeName(zone string, object *ps.Intended) bool {
	if len(b.limits.Zones) > 0 && !b.inZone(cmp.Or(zone, object.Parent)) {
		return false
	}
	if len(b.limits.Names) == 0 {
		return true
	}
	names := []string{object.DN}
	for _, c := range object.Changes {
		if isRecord(c) {
			name, _, _ := strings.Cut(strings.TrimPrefix(c.Name, ttlPrefix), " ")
			names = append(names, name)
		}
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !ops.NameWithin(name, b.limits.Names) })
}

// inZone reports whether a zone is among those that the caller is limited to.
func (b Bounds) inZone(zone string) bool {
	return slices.ContainsFunc(b.limits.Zones, func(one string) bool { return strings.EqualFold(one, zone) })
}

// seeObject reports whether the caller may see the i-th object of a change.
func (b Bounds) seeObject(shape *schema.Shape, i int, object *ps.Intended) bool {
	dn := object.DN
	if dn == "" {
		dn = NameOfNew(shape, object)
	}
	inside := b.Within(dn)
	for _, c := range object.Changes {
		if c.Name == Parent {
			inside = inside || b.Within(c.After)
		}
	}
	if len(b.limits.Groups) == 0 || !isGroup(shape, i, object) {
		return inside
	}
	return b.isGroup(dn) || slices.ContainsFunc(b.limits.Groups, func(group string) bool {
		return strings.EqualFold(group, object.Account) ||
			strings.EqualFold(strings.Trim(group, "{}"), object.GUID) ||
			strings.HasPrefix(group, sidPrefix) && slices.Contains(object.Names, group)
	})
}

// nameOf returns the distinguished name of an object before the change. If the change moved the object
// into the limits, it returns the name after the move, because the former place is hidden.
func (b Bounds) nameOf(shape *schema.Shape, object *ps.Intended) string {
	dn := object.DN
	if dn == "" {
		dn = NameOfNew(shape, object)
	}
	if b.Within(dn) {
		return dn
	}
	for _, c := range object.Changes {
		if c.Name != Parent || !b.Within(c.After) {
			continue
		}
		if rdn, below := strings.CutSuffix(dn, c.Before); below {
			return rdn + c.After
		}
		return c.After
	}
	return dn
}

// sidPrefix begins the SIDs of groups.
const sidPrefix = "S-1-"

// isGroup reports whether the i-th object of a change is a group. Changes recorded by earlier versions
// do not name the class, but show it by their shape and by the members that change.
func isGroup(shape *schema.Shape, i int, object *ps.Intended) bool {
	return object.Class == "group" || shape == schema.Group || schema.ShowsMembers(shape) && i == 0 ||
		slices.ContainsFunc(object.Changes, func(c ps.IntendedChange) bool {
			return c.Name == Member || strings.HasPrefix(c.Name, MemberPrefix)
		})
}

// objectFields are the fields whose values are names of other objects.
var objectFields = []string{"manager", "managedBy", "ouPath", "path"}

// NamesObject reports whether the values of a field are names of other objects.
func NamesObject(field string) bool { return slices.Contains(objectFields, field) }

// Hide hides names of objects outside the limits in the values of a change.
func (b Bounds) Hide(c *Change) {
	if c.Attribute == "manager" || c.Attribute == "managedBy" || c.Attribute == Parent {
		c.Before, c.After = b.Hidden(c.Before), b.Hidden(c.After)
	}
}

// Hidden returns a value, or null if it is the name of an object outside the limits.
func (b Bounds) Hidden(value json.RawMessage) json.RawMessage {
	var dn string
	if json.Unmarshal(value, &dn) != nil || dn == "" || b.Within(dn) {
		return value
	}
	return null
}

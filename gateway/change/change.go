// Package change describes what a change does, in terms of the fields of records. [Of] derives the
// description from the announcement that a script makes before it changes anything. Dry runs show the
// description, plans are compared with it ([Drift]), and the history stores it. [Bounds] determine which
// callers may see a change, and [Made] how it is undone. The package looks nothing up.
package change

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Object is a changed object. An object that is yet to be created has no GUID.
type Object struct {
	GUID *string `json:"guid"`
	// current or future name; for a DNS record its full name
	DistinguishedName string   `json:"distinguishedName"`
	Changes           []Change `json:"changes"` // in the order of execution
}

// Change is a changed property, with the name of the record's field and the directory's name. A value is null
// if there is none, or if it is secret.
type Change struct {
	Field     string            `json:"field"`
	Attribute string            `json:"attribute"`
	Before    json.RawMessage   `json:"before"`
	After     json.RawMessage   `json:"after"`
	Kind      schema.ChangeKind `json:"kind"`
}

// Names of announced changes. A membership is announced with two objects, the group and the member.
const (
	Existence     = "exists"
	Protection    = "protected" // from accidental deletion
	Parent        = "parent"
	PasswordStamp = "pwdLastSet" // changes with the password, and determines when that must be changed
	Member        = "member"

	// MemberPrefix precedes the GUID of a member in a change of several members. Each member is announced as a
	// separate object after the group.
	MemberPrefix = ops.MemberChange
)

// recordsField stands for the records of DNS names.
const recordsField = "records"

// null is the JSON value null.
var null = json.RawMessage("null")

// Announcement describes what a script is about to change.
type Announcement struct {
	Intent *ps.Intent
	Shape  *schema.Shape // shape of the records that the script returns
	Secret bool          // one of the arguments is a password
}

// Of returns the changes that an announcement describes. It omits unchanged values, and objects
// without a change.
func Of(a Announcement) []Object {
	objects := []Object{}
	for i := range a.Intent.Objects {
		intended := &a.Intent.Objects[i]
		object := Object{DistinguishedName: intended.DN}
		if intended.GUID != "" {
			object.GUID = &intended.GUID
		}
		if intended.DN == "" {
			object.DistinguishedName = NameOfNew(a.Shape, intended)
		}
		for _, c := range Announced(intended) {
			object.Changes = append(object.Changes, a.Changes(intended, c)...)
		}
		if len(object.Changes) > 0 {
			objects = append(objects, object)
		}
	}
	return objects
}

// Announced returns the changes of an announced object, including the values that it gets at its
// creation.
func Announced(object *ps.Intended) []ps.IntendedChange {
	all := slices.Clone(object.Changes)
	for _, name := range slices.Sorted(maps.Keys(object.Also)) {
		all = append(all, ps.IntendedChange{Name: name, After: object.Also[name]})
	}
	return all
}

// NameOfNew returns the distinguished name of an object that is to be created.
func NameOfNew(shape *schema.Shape, object *ps.Intended) string {
	if object.Name == "" { // a DNS object
		return object.Parent
	}
	kind := "CN="
	if shape == schema.OU {
		kind = "OU="
	}
	return kind + schema.EscapeRDN(object.Name) + "," + object.Parent
}

// Changes returns the field changes that result from one announced change of an object.
func (a Announcement) Changes(object *ps.Intended, c ps.IntendedChange) []Change {
	switch {
	case !c.Renewed && c.Before == c.After:
		return nil
	case c.Name == PasswordStamp:
		return a.passwordChanges(c)
	case c.Name == Parent && a.Shape == schema.OU && strings.HasSuffix(object.DN, c.Before):
		// The field that shows the place of an OU is the OU's distinguished name.
		c.Before, c.After = object.DN, strings.TrimSuffix(object.DN, c.Before)+c.After
	case strings.HasPrefix(c.Name, MemberPrefix):
		dn := a.nameOf(strings.TrimPrefix(c.Name, MemberPrefix))
		c = ps.IntendedChange{Name: Member, Before: present(c.Before, dn), After: present(c.After, dn)}
	case c.Name == Member && len(a.Intent.Objects) > 1:
		c.Before, c.After = a.memberText(c.Before), a.memberText(c.After)
	case c.Renewed:
		return []Change{{Field: c.Name, Attribute: c.Name, Before: null, After: null, Kind: schema.ServerChooses}}
	case isRecord(c):
		return []Change{recordChange(c)}
	}
	var changes []Change
	for _, field := range a.Shape.Changes(schema.Announced{Attribute: c.Name, Before: c.Before,
		After: c.After}) {
		changes = append(changes, Change{field.Field, AttributeOf(field.Attribute), field.Before, field.After,
			kindOf(c, field)})
	}
	return changes
}

// attributes maps announced names to the attributes' LDAP names, where they differ.
var attributes = map[string]string{
	"enabled": "userAccountControl", "passwordNeverExpired": "userAccountControl", "lockedOut": "lockoutTime",
	"scope": "groupType", "protected": "nTSecurityDescriptor",
}

// AttributeOf returns the directory's name for an announced name.
func AttributeOf(announced string) string {
	if name, other := attributes[announced]; other {
		return name
	}
	if strings.HasPrefix(announced, MemberPrefix) {
		return Member
	}
	return announced
}

// isRecord reports whether an announced change concerns a single DNS record. Its name then consists
// of the record's name, type and data, while names of properties contain no spaces.
func isRecord(c ps.IntendedChange) bool { return strings.Contains(c.Name, " ") }

// recordChange returns the creation or removal of a DNS record.
func recordChange(c ps.IntendedChange) Change {
	if strings.HasPrefix(c.Name, ttlPrefix) {
		return Change{Field: "ttl", Attribute: c.Name, Before: seconds(c.Before), After: seconds(c.After),
			Kind: schema.SetsValue}
	}
	text, _ := json.Marshal(c.Name) // a string always encodes
	if c.After == "True" {
		return Change{Field: recordsField, Attribute: "dnsRecord", Before: null, After: text, Kind: schema.Creates}
	}
	return Change{Field: recordsField, Attribute: "dnsRecord", Before: text, After: null, Kind: schema.Removes}
}

// ttlPrefix precedes the name of a record whose time to live changes.
const ttlPrefix = "ttl "

// seconds returns a time to live, or null for a record that does not exist.
func seconds(text string) json.RawMessage {
	if text == "" || text == "False" {
		return null
	}
	return json.RawMessage(text)
}

// nameOf returns the distinguished name of an announced object, or its GUID if it has none.
func (a Announcement) nameOf(guid string) string {
	for i := range a.Intent.Objects {
		if object := &a.Intent.Objects[i]; strings.EqualFold(object.GUID, guid) {
			return cmp.Or(object.DN, guid)
		}
	}
	return guid
}

// present returns the name of a member in the group, or "" if it is not in the group.
func present(is, name string) string {
	if is != "True" {
		return ""
	}
	return name
}

// memberText returns the member's name in place of the announced text of a membership.
func (a Announcement) memberText(text string) string {
	return present(text, ops.MemberOf(a.Intent).DN)
}

// passwordChanges returns the field changes that result from a change of pwdLastSet.
func (a Announcement) passwordChanges(c ps.IntendedChange) []Change {
	var changes []Change
	if a.Secret {
		changes = append(changes, Change{Field: "password", Attribute: c.Name, Before: null, After: null,
			Kind: schema.SetsSecret})
	}
	const mustChange = "0"
	if before, after := c.Before == mustChange, c.After == mustChange; before != after {
		changes = append(changes, Change{"changePasswordNextLogon", c.Name, truth(before), truth(after),
			schema.SetsFlag})
	}
	return changes
}

func truth(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// kindOf classifies a change by its announced name and its values.
func kindOf(c ps.IntendedChange, field schema.FieldChange) schema.ChangeKind {
	switch c.Name {
	case Existence:
		if c.After == "True" {
			return schema.Creates
		}
		return schema.Removes
	case Member:
		return schema.SetsMember
	case Parent:
		return schema.Moves
	}
	switch isName := c.Name == "name" || c.Name == "sAMAccountName" || c.Name == "userPrincipalName"; {
	case isName && c.Before != "":
		return schema.Renames
	case string(field.After) == "true", string(field.After) == "false":
		return schema.SetsFlag
	case string(field.After) == "null":
		return schema.ClearsValue
	default:
		return schema.SetsValue
	}
}

// Fields returns the names of the changed fields, each once, in order.
func Fields(objects []Object) []string {
	var fields []string
	for _, object := range objects {
		for _, c := range object.Changes {
			if !slices.Contains(fields, c.Field) {
				fields = append(fields, c.Field)
			}
		}
	}
	return fields
}

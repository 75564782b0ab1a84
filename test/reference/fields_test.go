package reference

import (
	"cmp"
	"fmt"
	"strings"

	"adgateway/gateway/filter"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// fielded contains the records on the page of fields, with the filter class of their lists. The class is nil
// if the lists cannot be filtered.
var fielded = []struct {
	title string
	shape *schema.Shape
	class *filter.Class
}{
	{"Users", schema.User, filter.Users}, {"Groups", schema.Group, filter.Groups},
	{"Computers", schema.Computer, filter.Computers}, {"OUs", schema.OU, nil},
}

// changesOf returns the operations that create and change records of a shape.
func changesOf(shape *schema.Shape) (all []*ops.Operation) {
	for _, op := range ops.Table() {
		if op.Reply.Shape == shape && (op.Effect == ops.Create || strings.HasSuffix(op.ID, ".update")) {
			all = append(all, op)
		}
	}
	return all
}

// FieldsPage returns the page about the fields of records. For each field it has the parameter that sets the
// field, the attribute, and the filter operators. known contains the attributes of the schema in lower case.
func FieldsPage(known map[string]bool) string {
	var b strings.Builder
	b.WriteString("# Fields\n\n<!-- generated from the records and filters: do not edit -->\n\n" +
		"A field of a record, the parameter of create and update that sets it, its LDAP attribute, and the " +
		"operators of [filters](../find.md). **Bold** operators use an index. A field with `+` is shown only if " +
		"`ShowFields` names it.\n")
	for _, one := range fielded {
		fmt.Fprintf(&b, "\n## %s\n\n| Field | Type | Parameter | LDAP attribute | Filter |\n"+
			"|---|---|---|---|---|\n", one.title)
		operators, changes := operatorsOf(one.class), changesOf(one.shape)
		for i := range one.shape.Fields {
			f := &one.shape.Fields[i]
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", described(f), setBy(f, changes), attribute(f, known),
				operators[f.Name])
			delete(operators, f.Name)
		}
		if one.class == nil {
			continue
		}
		for _, name := range one.class.Names() { // fields for filters only
			if shown, ok := operators[name]; ok {
				fmt.Fprintf(&b, "| `%s` | in filters only | | | %s |\n", name, shown)
			}
		}
	}
	return b.String()
}

// operatorsOf returns the filter operators of each field of a class, in the form in which the page shows
// them.
func operatorsOf(class *filter.Class) map[string]string {
	all := map[string]string{}
	if class == nil {
		return all
	}
	for _, row := range class.Rows() {
		shown := "`" + row.Operators + "`"
		if row.Indexed {
			shown = "**" + shown + "**"
		}
		for _, name := range row.Fields {
			all[name] = shown
		}
	}
	return all
}

// described returns the name and the type of a field.
func described(f *schema.Field) string {
	name := "`" + f.Name + "`"
	if f.Extra != nil {
		name += " +"
	}
	kind := f.Type.String()
	if len(f.Enum) > 0 {
		kind = "`" + strings.Join(f.Enum, "`, `") + "`"
	}
	if f.Null {
		kind += ", or null"
	}
	return name + " | " + kind
}

// setBy returns the parameter that sets a field, or the operations that set it.
func setBy(f *schema.Field, changes []*ops.Operation) string {
	for _, op := range changes {
		for i := range op.Params {
			if p := &op.Params[i]; strings.EqualFold(p.Name, cmp.Or(f.Input, f.Name)) {
				return "`" + p.Name + "`"
			}
		}
	}
	return cell(f.SetBy)
}

// computed maps fields to their attributes if neither the name nor the declaration of the field contains the
// attribute.
var computed = map[string]string{
	"guid": "objectGUID", "sid": "objectSid", "created": "whenCreated", "modified": "whenChanged",
	"samUsername": "sAMAccountName", "enabled": "userAccountControl", "lockedOut": "lockoutTime",
	"changePasswordNextLogon": "pwdLastSet", "passwordNeverExpired": "userAccountControl",
	"passwordLastSet": "pwdLastSet", "lastLogon": "lastLogonTimestamp", "protected": "nTSecurityDescriptor",
	"homeFolderDirectory": "homeDirectory", "container": "objectClass",
	"scope": "groupType", "type": "groupType",
}

// attribute returns the LDAP name of a field's attribute, or "" if the field combines
// several attributes or has none.
func attribute(f *schema.Field, known map[string]bool) string {
	name := computed[f.Name]
	switch {
	case name != "":
	case f.Packed != nil:
		name = "userParameters"
	case known[strings.ToLower(f.Attribute)]:
		name = f.Attribute
	case known[strings.ToLower(f.Name)]:
		name = f.Name
	default:
		return ""
	}
	return "`" + name + "`"
}

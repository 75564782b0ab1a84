package adcmd

import (
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// changes collects the modifications of a command in the order in which the
// module sends them (facts E6): Remove, Add, Replace, Clear, then the named
// parameters.
type changes struct {
	c    *call
	list []directory.Change
	by   map[string]string // folded attribute -> parameter that changes it
}

func (c *call) newChanges() *changes { return &changes{c: c, by: map[string]string{}} }

// claim records that a parameter changes an attribute. It is an error if another parameter
// already changes it.
func (ch *changes) claim(attr, param string) error {
	key := fold(attr)
	if other, ok := ch.by[key]; ok && other != param {
		return ch.c.argument("twice", param)
	}
	ch.by[key] = param
	return nil
}

func (ch *changes) add(op directory.ChangeOp, attr string, values ...any) {
	ch.list = append(ch.list, directory.Change{Op: op, Name: attr, Values: values})
}

// attrParams maps parameters to attributes where the documentation names no valid attribute.
var attrParams = map[string]string{
	"UserPrincipalName": "userPrincipalName",
	"Manager":           "manager",
	"ManagedBy":         "managedBy",
}

// ldapName returns the attribute that a parameter sets, or "" if there is none.
func (c *call) ldapName(param string) string {
	if name, ok := attrParams[param]; ok {
		return name
	}
	if p := cmdlets.Must(c.row.name).Param(param); p != nil {
		return p.LDAPName
	}
	return ""
}

// references are the parameters that identify another object, with the class of that object.
var references = map[string]string{"Manager": "ADUser", "ManagedBy": "ADPrincipal"}

// parameters adds the bound named parameters. $null clears an attribute. An empty string is
// passed on to the directory, which rejects it (facts E7).
func (ch *changes) parameters() error {
	c := ch.c
	for _, param := range c.row.attrs {
		if !c.Has(param) || isAccountParam(param) || param == "GroupScope" || param == "GroupCategory" {
			continue
		}
		if err := ch.parameter(param); err != nil {
			return err
		}
	}
	return nil
}

func (ch *changes) parameter(param string) error {
	c := ch.c
	if row, ok := specialParams[param]; ok {
		return row(ch, param)
	}
	attr := c.ldapName(param)
	if attr == "" {
		return c.notSupported("the sandbox does not support -" + param)
	}
	if err := ch.claim(attr, param); err != nil {
		return err
	}
	v := c.bound(param)
	if v == nil {
		ch.add(directory.OpClear, attr)
		return nil
	}
	if class, ok := references[param]; ok {
		dn, err := c.reference(c.h.classes[class], v, param)
		if err != nil {
			return err
		}
		v = dn
	}
	text := dotnet.ToText(v)
	ch.add(directory.OpReplace, attr, text)
	return nil
}

// specialParams are the parameters that do more than set one string value.
var specialParams = map[string]func(ch *changes, param string) error{
	"AccountExpirationDate": (*changes).expiration,
	"ServicePrincipalNames": (*changes).principalNames,
}

// expiration sets accountExpires; $null becomes 0, which means never (facts E9).
func (ch *changes) expiration(param string) error {
	c := ch.c
	if err := ch.claim("accountExpires", param); err != nil {
		return err
	}
	n := int64(0)
	if d, ok := c.bound(param).(dotnet.DateTime); ok {
		if n, ok = c.h.fileTime(d); !ok {
			return c.throw(failure{typ: "System.ArgumentOutOfRangeException", message: c.say("fileTime"),
				param: "fileTime"})
		}
	}
	ch.add(directory.OpReplace, "accountExpires", n)
	return nil
}

// principalNames sets servicePrincipalName. New cmdlets pass a list of strings,
// Set cmdlets a hashtable with Add, Remove and Replace; $null clears.
func (ch *changes) principalNames(param string) error {
	const attr = "servicePrincipalName"
	if err := ch.claim(attr, param); err != nil {
		return err
	}
	v := ch.c.bound(param)
	table, ok := v.(*dotnet.Hashtable)
	if !ok {
		ch.add(directory.OpReplace, attr, dotnet.EnumerateAny(v)...)
		return nil
	}
	for i := 0; i < table.Len(); i++ {
		key, value := table.At(i)
		op, ok := map[string]directory.ChangeOp{
			"add": directory.OpAdd, "remove": directory.OpDelete, "replace": directory.OpReplace,
		}[fold(dotnet.ToText(key))]
		if !ok {
			return ch.c.invalidArgument(param, "Only the keys Add, Remove and Replace are known.")
		}
		ch.add(op, attr, dotnet.EnumerateAny(value)...)
	}
	return nil
}

// tables adds -Remove, -Add, -Replace and -Clear, which use LDAP names (facts
// E6).
func (ch *changes) tables() error {
	for _, t := range []struct {
		param string
		op    directory.ChangeOp
	}{{"Remove", directory.OpDelete}, {"Add", directory.OpAdd}, {"Replace", directory.OpReplace}} {
		if table, ok := ch.c.bound(t.param).(*dotnet.Hashtable); ok {
			if err := ch.table(t.param, t.op, table); err != nil {
				return err
			}
		}
	}
	for _, name := range ch.c.Strings("Clear") {
		attr, err := ch.attribute(name)
		if err != nil {
			return err
		}
		ch.by[fold(attr)] = "Clear"
		ch.add(directory.OpClear, attr)
	}
	return nil
}

// table adds one of the hashtables. $null values are rejected (facts E7).
func (ch *changes) table(param string, op directory.ChangeOp, table *dotnet.Hashtable) error {
	for i := 0; i < table.Len(); i++ {
		key, value := table.At(i)
		attr, err := ch.attribute(dotnet.ToText(key))
		if err != nil {
			return err
		}
		// Several tables may change the same attribute, for example to add one value and remove
		// another. A named parameter must not also change it.
		if param == "OtherAttributes" {
			err = ch.claim(attr, param)
		}
		if err != nil {
			return err
		}
		ch.by[fold(attr)] = param
		values, err := ch.c.values(param, value)
		if err != nil {
			return err
		}
		ch.add(op, attr, values...)
	}
	return nil
}

// attribute checks an LDAP name against the schema.
func (ch *changes) attribute(name string) (string, error) {
	a, ok := ch.c.h.Domain.Schema().Attribute(name)
	if !ok || name == "" {
		return "", ch.c.argument("noAttribute", name)
	}
	return a.Name, nil
}

// values converts the values of one attribute for the directory.
func (c *call) values(param string, v any) ([]any, error) {
	items := dotnet.EnumerateAny(v)
	if b, ok := v.(*dotnet.Bytes); ok {
		items = []any{b}
	}
	if len(items) == 0 {
		return nil, c.invalidArgument(param,
			"The argument is null, empty, or an element of the argument collection contains a null value.")
	}
	out := make([]any, len(items))
	for i, item := range items {
		value, ok := c.value(item)
		if !ok {
			return nil, c.invalidArgument(param,
				"The argument is null, empty, or an element of the argument collection contains a null value.")
		}
		out[i] = value
	}
	return out, nil
}

// value converts one value for the directory. ok is false for $null.
func (c *call) value(v any) (out any, ok bool) {
	switch v := v.(type) {
	case nil, dotnet.Nothing:
		return nil, false
	case *dotnet.Bytes:
		return v.B, true
	case dotnet.DateTime:
		return c.h.moment(v), true
	case dotnet.Guid:
		return directory.GUID(v), true
	case *dotnet.Instance:
		switch from := v.Data.(type) {
		case origin:
			return from.guid.Ref(), true
		case descriptor:
			return []byte(from), true
		}
		return identityText(v), true
	case string, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return v, true
	}
	return dotnet.ToText(v), true
}

// otherAttributes adds -OtherAttributes of the New cmdlets.
func (ch *changes) otherAttributes() error {
	const param = "OtherAttributes"
	if table, ok := ch.c.bound(param).(*dotnet.Hashtable); ok {
		return ch.table(param, directory.OpReplace, table)
	}
	return nil
}

// initial returns the changes as the attributes of a new object.
func (ch *changes) initial() []directory.Values {
	var out []directory.Values
	for _, change := range ch.list {
		if change.Op == directory.OpClear || len(change.Values) == 0 {
			continue
		}
		out = append(out, directory.Values{Name: change.Name, Values: change.Values})
	}
	return out
}

// has reports whether an attribute is changed.
func (ch *changes) has(attr string) bool {
	return slices.ContainsFunc(ch.list, func(change directory.Change) bool {
		return strings.EqualFold(change.Name, attr)
	})
}

// fallback sets an attribute that no parameter sets.
func (ch *changes) fallback(attr string, value any) {
	if !ch.has(attr) {
		ch.add(directory.OpReplace, attr, value)
	}
}

// write sends all changes as one modification. An empty list succeeds.
func (ch *changes) write(o *directory.Object, options directory.ModifyOptions) error {
	if len(ch.list) == 0 {
		return nil
	}
	if err := ch.c.dc.Modify(ch.c.ctx(), o.GUID.Ref(), ch.list, options); err != nil {
		return ch.c.fail(err)
	}
	return nil
}

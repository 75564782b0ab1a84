package dotnet

import "slices"

// objectView is $v.PSObject.
type objectView struct{ properties propertySet }

// Type returns PSObject.
func (o *objectView) Type() *Type { return TPSObject }

// Member returns Properties or TypeNames.
func (o *objectView) Member(name string) (any, bool) {
	switch x := o.properties.owner.(type) {
	case *PSObject:
		if EqualFold(name, "TypeNames") {
			return &typeNames{x}, true
		}
		return &o.properties, EqualFold(name, "Properties")
	case *Instance, *Exception, Object:
		return &o.properties, EqualFold(name, "Properties")
	}
	return nil, false
}

// Invoke finds no method.
func (o *objectView) Invoke(string, []any) (any, error) { return nil, ErrNoMethod }

// typeNames is PSObject.TypeNames of a custom object.
type typeNames struct{ owner *PSObject }

// Type returns a collection type.
func (t *typeNames) Type() *Type { return tCollection }

// Enumerate returns the names, most specific first.
func (t *typeNames) Enumerate() []any {
	var out []any
	for _, name := range t.owner.TypeNames {
		out = append(out, name)
	}
	return append(out, automation+"PSCustomObject", "System.Object")
}

// Member finds no property.
func (t *typeNames) Member(string) (any, bool) { return nil, false }

// Invoke supports Insert(0, name).
func (t *typeNames) Invoke(name string, args []any) (any, error) {
	if !EqualFold(name, "Insert") || len(args) != 2 || args[0] != any(int32(0)) {
		return nil, ErrNoMethod
	}
	text, ok := args[1].(string)
	if !ok || text == "" {
		return nil, ErrNoMethod
	}
	t.owner.TypeNames = slices.Insert(t.owner.TypeNames, 0, text)
	return Void, nil
}

// propertySet is PSObject.Properties.
type propertySet struct{ owner any }

// Type returns a collection type.
func (p *propertySet) Type() *Type { return tCollection }

// Enumerate returns a *PropertyInfo for each property.
func (p *propertySet) Enumerate() []any {
	infos := Properties(p.owner)
	out := make([]any, len(infos))
	for i, info := range infos {
		out[i] = info
	}
	return out
}

// Member finds no property. Names are read from the properties.
func (p *propertySet) Member(string) (any, bool) { return nil, false }

// Invoke supports Add, for a note property that the object does not have yet.
func (p *propertySet) Invoke(name string, args []any) (any, error) {
	if EqualFold(name, "Add") && len(args) == 1 {
		return p.add(args[0])
	}
	return nil, ErrNoMethod
}

// index returns the property with the given name, or nil.
func (p *propertySet) index(name any) (any, bool) {
	wanted, ok := name.(string)
	if !ok {
		return nil, false
	}
	if info := propertyOf(base(p.owner), wanted); info != nil {
		return info, true
	}
	return nil, true
}

// propertyOf returns the first of the properties with a name, or nil. It makes no list of them.
func propertyOf(v any, wanted string) *PropertyInfo {
	n := MakeName(wanted)
	if props := notes(v); props != nil {
		if i := props.find(wanted, n.hash); i >= 0 {
			name, _ := props.At(i)
			_, custom := v.(*PSObject)
			return &PropertyInfo{name, custom, v}
		}
	}
	if lister, ok := v.(interface{ PropertyNames() []string }); ok {
		for _, name := range lister.PropertyNames() {
			if EqualFold(name, wanted) {
				return &PropertyInfo{name, false, v}
			}
		}
	}
	for t := TypeOf(v); t != nil; t = t.Base {
		t.ready()
		if s := t.instance.find(&n); s != nil && s.property != nil {
			return &PropertyInfo{s.name, false, v}
		}
	}
	return nil
}

func (p *propertySet) add(v any) (any, error) {
	object, custom := p.owner.(*PSObject)
	note, ok := v.(*Instance)
	if !custom || !ok || note.Type != tNoteProperty {
		return nil, ErrNoMethod
	}
	name, _ := note.Props.Get("Name")
	value, _ := note.Props.Get("Value")
	if _, taken := object.Props.Get(name.(string)); taken {
		return nil, Refuse("Properties.Add() of a property that the object has")
	}
	object.Props.Set(name.(string), value)
	return Void, nil
}

// notes returns the settable properties of an object, or nil.
func notes(v any) *Props {
	switch x := v.(type) {
	case *PSObject:
		return &x.Props
	case *Instance:
		return &x.Props
	case *Exception:
		return &x.Props
	default:
		return nil
	}
}

// PropertyInfo is a property in the form of PSObject.Properties.
type PropertyInfo struct {
	Name  string
	Note  bool // a NoteProperty, otherwise a Property of the type
	Owner any
}

// Properties lists the properties of a value in order: its own, then the properties of its
// type and bases. A dictionary has properties such as Count and Keys.
func Properties(v any) []*PropertyInfo {
	var out []*PropertyInfo
	v = base(v)
	if props := notes(v); props != nil {
		_, custom := v.(*PSObject)
		infos := make([]PropertyInfo, props.Len())
		out = make([]*PropertyInfo, len(infos))
		for i := range infos {
			name, _ := props.At(i)
			infos[i] = PropertyInfo{name, custom, v}
			out[i] = &infos[i]
		}
	}
	if lister, ok := v.(interface{ PropertyNames() []string }); ok {
		for _, name := range lister.PropertyNames() {
			out = append(out, &PropertyInfo{name, false, v})
		}
	}
	for t := TypeOf(v); t != nil; t = t.Base {
		t.ready()
		for _, s := range t.instance.order {
			if s.property != nil && !slices.ContainsFunc(out,
				func(p *PropertyInfo) bool { return EqualFold(p.Name, s.name) }) {
				out = append(out, &PropertyInfo{s.name, false, v})
			}
		}
	}
	return out
}

// Value returns the value of the property, or nil if the getter fails.
func (p *PropertyInfo) Value() any {
	v, _, err := GetMember(p.Owner, p.Name)
	if err != nil {
		return nil
	}
	return v
}

// Type returns PSNoteProperty or PSProperty.
func (p *PropertyInfo) Type() *Type {
	if p.Note {
		return tNoteProperty
	}
	return tProperty
}

// Member returns Name or Value.
func (p *PropertyInfo) Member(name string) (any, bool) {
	switch {
	case EqualFold(name, "Name"):
		return p.Name, true
	case EqualFold(name, "Value"):
		return p.Value(), true
	}
	return nil, false
}

// Invoke finds no method.
func (p *PropertyInfo) Invoke(string, []any) (any, error) { return nil, ErrNoMethod }

var tNoteProperty, tProperty *Type

func declareProperties() {
	tProperty = Register(Class{Name: automation + "PSProperty"})
	aliases := []string{"psnoteproperty"}
	tNoteProperty = Register(Class{Name: automation + "PSNoteProperty", Aliases: aliases, New: []Member{
		Constructor("string,object", func(_ any, a []any) (any, error) {
			return NewInstance(tNoteProperty, "Name", a[0], "Value", a[1]), nil
		}),
	}})
}

package dotnet

import "slices"

// objectView is $v.PSObject.
type objectView struct{ value any }

// Type is PSObject.
func (o *objectView) Type() *Type { return TPSObject }

// Member reads Properties.
func (o *objectView) Member(name string) (any, bool) {
	switch o.value.(type) {
	case *PSObject, *Instance, *Exception, Object:
		return &propertySet{o.value}, EqualFold(name, "Properties")
	}
	return nil, false
}

// Invoke has no methods.
func (o *objectView) Invoke(string, []any) (any, error) { return nil, ErrNoMethod }

// propertySet is PSObject.Properties.
type propertySet struct{ owner any }

// Type is a collection.
func (p *propertySet) Type() *Type { return Lookup("System.Collections.ICollection") }

// Enumerate returns a *PropertyInfo for each property.
func (p *propertySet) Enumerate() []any {
	infos := Properties(p.owner)
	out := make([]any, len(infos))
	for i, info := range infos {
		out[i] = info
	}
	return out
}

// Member has none of its own: names are read from the properties.
func (p *propertySet) Member(string) (any, bool) { return nil, false }

// Invoke has one method, that of the index: it returns the property of a name, nil if
// there is none.
func (p *propertySet) Invoke(name string, args []any) (any, error) {
	if !EqualFold(name, "Item") || len(args) != 1 {
		return nil, ErrNoMethod
	}
	wanted, ok := args[0].(string)
	if !ok {
		return nil, ErrNoMethod
	}
	for _, info := range Properties(p.owner) {
		if EqualFold(info.Name, wanted) {
			return info, nil
		}
	}
	return nil, nil
}

// notes are the settable properties of an object, or nil.
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

// PropertyInfo is one property as PSObject.Properties shows it.
type PropertyInfo struct {
	Name  string
	Note  bool // a NoteProperty, else a Property of the type
	Owner any
}

// Properties lists the properties of a value in order: its own, then those of
// its type and bases. Of a dictionary those are Count, Keys and so on.
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
			if s.property != nil && !slices.ContainsFunc(out, func(p *PropertyInfo) bool { return EqualFold(p.Name, s.name) }) {
				out = append(out, &PropertyInfo{s.name, false, v})
			}
		}
	}
	return out
}

// Value reads the property; nil if the getter fails.
func (p *PropertyInfo) Value() any {
	v, _, err := GetMember(p.Owner, p.Name)
	if err != nil {
		return nil
	}
	return v
}

// Type is PSNoteProperty or PSProperty.
func (p *PropertyInfo) Type() *Type {
	if p.Note {
		return tNoteProperty
	}
	return tProperty
}

// Member reads Name and Value.
func (p *PropertyInfo) Member(name string) (any, bool) {
	switch {
	case EqualFold(name, "Name"):
		return p.Name, true
	case EqualFold(name, "Value"):
		return p.Value(), true
	}
	return nil, false
}

// Invoke has no methods.
func (p *PropertyInfo) Invoke(string, []any) (any, error) { return nil, ErrNoMethod }

var tNoteProperty, tProperty *Type

func declareProperties() {
	tProperty = Register(Class{Name: automation + "PSProperty"})
	tNoteProperty = Register(Class{Name: automation + "PSNoteProperty"})
}

package dotnet

import "slices"

// objectView is $v.PSObject: the properties, names of types and the value itself.
type objectView struct{ value any }

// Type is PSObject.
func (o *objectView) Type() *Type { return TPSObject }

// Member reads Properties, Members, Methods, TypeNames, BaseObject, ImmediateBaseObject.
func (o *objectView) Member(name string) (any, bool) {
	switch {
	case EqualFold(name, "Properties"), EqualFold(name, "Members"):
		return &propertySet{o.value}, true
	case EqualFold(name, "TypeNames"):
		return &List{Type: closed("System.Collections.ObjectModel.Collection", TString), Items: typeNames(o.value)}, true
	case EqualFold(name, "BaseObject"), EqualFold(name, "ImmediateBaseObject"):
		return o.value, true
	case EqualFold(name, "Methods"):
		out := &Array{}
		for t := TypeOf(o.value); t != nil; t = t.Base {
			t.ready()
			for _, s := range t.instance.order {
				if len(s.methods) > 0 {
					out.Items = append(out.Items, NewPSObject("Name", s.name, "MemberType", enumNamed(automation+"PSMemberTypes", "Method")))
				}
			}
		}
		return out, true
	}
	return nil, false
}

// Invoke has Copy only.
func (o *objectView) Invoke(name string, _ []any) (any, error) {
	if !EqualFold(name, "Copy") {
		return nil, ErrNoMethod
	}
	switch v := o.value.(type) {
	case *PSObject:
		return &PSObject{Props: v.Props.Clone(), TypeNames: v.TypeNames}, nil
	case *Hashtable:
		return v.Clone(), nil
	default:
		return v, nil
	}
}

func typeNames(v any) []any {
	var names []any
	if o, ok := v.(*PSObject); ok {
		for _, n := range o.TypeNames {
			names = append(names, n)
		}
	}
	for t := TypeOf(v); t != nil; t = t.Base {
		names = append(names, t.Name)
	}
	return names
}

// propertySet is PSObject.Properties: enumerable, indexed by name.
type propertySet struct{ owner any }

// Type is a collection.
func (p *propertySet) Type() *Type { return Lookup("System.Collections.ICollection") }

// Enumerate gives a *PropertyInfo for each property.
func (p *propertySet) Enumerate() []any {
	infos := Properties(p.owner)
	out := make([]any, len(infos))
	for i, info := range infos {
		out[i] = info
	}
	return out
}

// ByIndex is false: properties are looked up by name.
func (p *propertySet) ByIndex() bool { return false }

// Member has none of its own: names are enumerated over the properties.
func (p *propertySet) Member(string) (any, bool) { return nil, false }

// Invoke has Item, Match, Add and Remove.
func (p *propertySet) Invoke(name string, args []any) (any, error) {
	switch ToLower(name) {
	case "item", "get_item":
		if len(args) == 1 {
			return p.find(ToText(args[0])), nil
		}
	case "match":
		if len(args) == 1 {
			return p.match(ToText(args[0])), nil
		}
	case "remove":
		if len(args) == 1 {
			if props := notes(p.owner); props != nil {
				props.Delete(ToText(args[0]))
			}
			return Void, nil
		}
	case "add":
		if len(args) == 1 {
			return p.add(args[0])
		}
	}
	return nil, ErrNoMethod
}

func (p *propertySet) find(name string) any {
	for _, info := range Properties(p.owner) {
		if EqualFold(info.Name, name) {
			return info
		}
	}
	return nil
}

func (p *propertySet) match(pattern string) any {
	w := CompileWildcard(pattern, false)
	out := &Array{}
	for _, info := range Properties(p.owner) {
		if w.Match(info.Name) {
			out.Items = append(out.Items, info)
		}
	}
	return out
}

func (p *propertySet) add(v any) (any, error) {
	info, ok := v.(*PropertyInfo)
	props := notes(p.owner)
	if !ok || props == nil {
		return nil, RuntimeError("CannotAddPropertyOrMethod", InvalidOperation, nil, "Cannot add a property to this object.")
	}
	props.Set(info.Name, info.Value())
	return Void, nil
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

// AddProperty is Add-Member -NotePropertyName: ok is false for values that take
// no properties.
func AddProperty(v any, name string, value any) (ok bool) {
	props := notes(v)
	if props == nil {
		return false
	}
	props.Set(name, value)
	return true
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

// Value reads the property; a getter that fails gives nil.
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

// Member reads Name, Value, MemberType, TypeNameOfValue, IsSettable, IsGettable, IsInstance.
func (p *PropertyInfo) Member(name string) (any, bool) {
	switch {
	case EqualFold(name, "Name"):
		return p.Name, true
	case EqualFold(name, "Value"):
		return p.Value(), true
	case EqualFold(name, "MemberType"):
		if p.Note {
			return enumNamed(automation+"PSMemberTypes", "NoteProperty"), true
		}
		return enumNamed(automation+"PSMemberTypes", "Property"), true
	case EqualFold(name, "TypeNameOfValue"):
		if t := TypeOf(p.Value()); t != nil {
			return t.Name, true
		}
		return "System.Object", true
	case EqualFold(name, "IsSettable"):
		return p.Note, true
	case EqualFold(name, "IsGettable"):
		return true, true
	case EqualFold(name, "IsInstance"):
		return p.Note, true
	}
	return nil, false
}

// SetMember writes Value.
func (p *PropertyInfo) SetMember(name string, value any) error {
	if !EqualFold(name, "Value") {
		return missingProperty(name)
	}
	return SetMember(p.Owner, p.Name, value)
}

// Invoke has no methods.
func (p *PropertyInfo) Invoke(string, []any) (any, error) { return nil, ErrNoMethod }

// Text is the property as "type name=value".
func (p *PropertyInfo) Text() string {
	kind := "object"
	if t := TypeOf(p.Value()); t != nil {
		kind = t.Display()
	}
	return kind + " " + p.Name + "=" + ToText(p.Value())
}

var tNoteProperty, tProperty *Type

func declareProperties() {
	info := Register(Class{Name: automation + "PSMemberInfo"})
	property := Register(Class{Name: automation + "PSPropertyInfo", Base: info})
	tProperty = Register(Class{Name: automation + "PSProperty", Base: property})
	tNoteProperty = Register(Class{Name: automation + "PSNoteProperty", Base: property, New: []Member{
		Constructor("string,object", func(_ any, a []any) (any, error) {
			return &PropertyInfo{Text(a[0]), true, NewPSObject(Text(a[0]), a[1])}, nil
		}),
	}})
}

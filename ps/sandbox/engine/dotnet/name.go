package dotnet

import "strings"

// Name is the name of a member, or the text of a key, with its precomputed hash. It is
// immutable and safe for concurrent use.
type Name struct {
	text string
	key  any    // the text as a value; created when needed
	hash uint32 // ignoring case
}

// MakeName prepares a name for a few look-ups.
func MakeName(text string) Name { return Name{text: text, hash: foldHash(text)} }

// NewName prepares a name for many look-ups, such as a constant in a script.
func NewName(text string) *Name { return &Name{text: text, key: text, hash: foldHash(text)} }

// Names that this package looks up itself.
var (
	nameItem     = NewName("Item")
	nameParse    = NewName("Parse")
	nameToString = NewName("ToString")
)

// String returns the text.
func (n *Name) String() string { return n.text }

// Is reports whether the name equals other, ignoring case.
func (n *Name) Is(other string) bool { return EqualFold(n.text, other) }

// IsCount reports whether the name is Count or Length, which every value has.
func (n *Name) IsCount() bool { return n.Is("Count") || n.Is("Length") }

// value returns the name as a key.
func (n *Name) value() any {
	if n.key == nil {
		return n.text
	}
	return n.key
}

// Get returns a property of v; see GetMember.
func (n *Name) Get(v any) (value any, found bool, err error) {
	switch x := v.(type) {
	case nil, Nothing:
		if n.IsCount() {
			return int32(0), true, nil
		}
		return nil, false, nil
	case *Hashtable:
		if value, ok := x.memberKey(n); ok {
			return value, true, nil
		}
	case *PSObject:
		if value, ok := x.Props.get(n.text, n.hash); ok {
			return value, true, nil
		}
	case *Instance:
		if value, ok := x.Props.get(n.text, n.hash); ok {
			return value, true, nil
		}
	case *Exception:
		if value, ok := x.Props.get(n.text, n.hash); ok {
			return value, true, nil
		}
	case Object:
		if value, ok := x.Member(n.text); ok {
			return value, true, nil
		}
	}
	if s := TypeOf(v).find(n); s != nil && s.property != nil {
		value, err := s.property.Get(v)
		return value, true, err
	}
	if n.Is("PSObject") {
		return &objectView{propertySet{v}}, true, nil
	}
	if n.IsCount() && !isCollection(v) {
		return int32(1), true, nil
	}
	return nil, false, missing(v, n)
}

// missing refuses a property that a value of a .NET type may really have. For dictionaries, collections and
// objects of modules it refuses nothing, because they have only the properties that they show.
func missing(v any, n *Name) error {
	switch x := v.(type) {
	case *objectView, *PropertyInfo:
		return refuseMember(TypeOf(v), n.text)
	case *Instance:
		if x.Type.registered || strings.HasPrefix(x.Type.Name, automation) && !n.Is("PrivateData") &&
			!n.Is("Path") {
			return refuseMember(x.Type, n.text)
		}
		return nil
	case *Exception:
		if x.Type.registered {
			return refuseMember(x.Type, n.text)
		}
		return nil
	case *Hashtable, *PSObject, Object:
		return nil
	}
	if isCollection(v) {
		return nil
	}
	return refuseMember(TypeOf(v), n.text)
}

// memberKey finds a dictionary key by a member name. The key equals the name, or has the name as its text.
func (h *Hashtable) memberKey(n *Name) (any, bool) {
	if i := h.findName(n); i >= 0 {
		return h.t.entries[i].value, true
	}
	return nil, false
}

func (h *Hashtable) findName(n *Name) int { return h.findHashed(n.text, n.hash) }

// GetKey implements $v['name']; see GetIndex.
func (n *Name) GetKey(v any) (value any, found bool, err error) {
	if h, ok := v.(*Hashtable); ok && !h.typed() {
		if i := h.findName(n); i >= 0 {
			return h.t.entries[i].value, true, nil
		}
		return nil, false, nil
	}
	return GetIndex(v, n.value())
}

// SetKey implements $v['name'] = value; see SetIndex.
func (n *Name) SetKey(v, value any) error {
	if h, ok := v.(*Hashtable); ok && !h.typed() && h.Len() < MaxArrayLength {
		h.setHashed(n.value(), n.hash, value)
		return nil
	}
	return SetIndex(v, n.value(), value)
}

// Set writes a property of v; see SetMember.
func (n *Name) Set(v, value any) error {
	switch x := v.(type) {
	case *Hashtable:
		return n.SetKey(x, value)
	case *Instance:
		if i := x.Props.find(n.text, n.hash); i >= 0 && !strings.HasPrefix(x.Type.Name, automation) {
			x.Props.SetAt(i, base(value))
			return nil
		}
	case *PSObject:
		if i := x.Props.find(n.text, n.hash); i >= 0 {
			x.Props.SetAt(i, base(value))
			return nil
		}
	case Setter:
		return setFailure(x.SetMember(n.text, base(value)), n.text)
	}
	if t := TypeOf(v); t != nil {
		if s := t.find(n); s != nil && s.property != nil && s.property.Set != nil {
			return setFailure(s.property.Set(v, base(value)), n.text)
		}
	}
	return Refuse("an assignment to the member %s of [%s]", n.text, display(v))
}

// GetStatic implements [T]::name: a static property or field, or a value of an enumeration.
func (n *Name) GetStatic(t *Type) (any, error) {
	if t.Kind == KindEnum {
		if x, ok := t.valueOf(n.text); ok {
			return Enum{t, x}, nil
		}
	}
	s := t.findStatic(n)
	if s == nil || s.property == nil {
		return nil, refuseMember(t, n.text)
	}
	return s.property.Get(nil)
}

package dotnet

import "strings"

// Nothing is the type of AutomationNull: what a pipeline without output gives.
// It behaves like nil everywhere, but enumerates to no items.
type Nothing struct{}

// AutomationNull is "no output"; Void, the result of a method without result, is the same.
var (
	AutomationNull any = Nothing{}
	Void               = AutomationNull
)

// Char is System.Char: one UTF-16 unit.
type Char uint16

// TimeSpan is a length of time in ticks of 100 ns.
type TimeSpan int64

// DateTimeKind says what a DateTime is relative to.
type DateTimeKind uint8

// The kinds of DateTime.
const (
	Unspecified DateTimeKind = iota
	UTC
	Local
)

// DateTime is System.DateTime: ticks of 100 ns since 0001-01-01.
type DateTime struct {
	Ticks int64
	Kind  DateTimeKind
}

// Guid is System.Guid in the order of ToByteArray (and of AD's objectGUID).
type Guid [16]byte

// Version is System.Version; -1 marks a part that is not there.
type Version struct{ Major, Minor, Build, Revision int32 }

// BigInteger is a whole number beyond Int64, in decimal digits: JSON can hold
// one. Scripts can convert it and write it, not calculate with it.
type BigInteger string

// Enum is a value of an enumeration.
type Enum struct {
	Type  *Type
	Value int64
}

// Array is T[] for every T but byte.
type Array struct {
	Elem  *Type // nil means object
	Items []any
}

// Bytes is byte[].
type Bytes struct{ B []byte }

// List is List<T>, ArrayList, Stack<T>, Queue<T>, Collection<T> and the key and
// value collections of dictionaries: its Type says which. The top of a Stack is last.
type List struct {
	Type  *Type
	Items []any

	owner   *Hashtable // whose keys or values these are
	keys    bool       // the owner's keys
	version int        // counts changes that leave the length as it is; with an owner, its version when Items was read
}

// current are the items as they are now: those of keys and values follow their
// dictionary.
func (l *List) current() []any {
	if l.owner != nil && l.version != l.owner.version {
		l.read()
	}
	return l.Items
}

func (l *List) read() {
	l.version = l.owner.version
	if l.keys {
		l.Items = l.owner.Keys()
	} else {
		l.Items = l.owner.Values()
	}
}

// Ref is [ref]$variable.
type Ref struct {
	Get func() any
	Set func(any) error
}

// PSObject is a PSCustomObject: ordered, case-insensitive note properties.
type PSObject struct {
	Props     Props
	TypeNames []string // extra names in front of PSCustomObject (PSTypeName)
}

// Instance is an object of a module (ADUser, CimInstance, ...): a type and
// ordered, case-insensitive properties that Go code sets.
type Instance struct {
	Type  *Type
	Props Props
	Text  string // what ToString gives; empty: the type's name
	Data  any    // for the type's own methods
}

// DictionaryEntry is one pair of a Hashtable's enumerator.
type DictionaryEntry struct {
	Key, Value any
	Type       *Type // nil: System.Collections.DictionaryEntry; else KeyValuePair<K,V>
}

// SecureString holds a secret; it prints as its type name.
type SecureString struct {
	secret   string
	readOnly bool
}

// NewSecureString makes one from clear text.
func NewSecureString(clear string) *SecureString { return &SecureString{secret: clear} }

// Reveal gives the clear text.
func (s *SecureString) Reveal() string { return s.secret }

// PSCredential is a user name with a password.
type PSCredential struct {
	UserName string
	Password *SecureString
}

// base strips what only marks "no output".
func base(v any) any {
	if _, ok := v.(Nothing); ok {
		return nil
	}
	return v
}

// NewArray makes object[]; the slice is kept.
func NewArray(items ...any) *Array { return &Array{Items: items} }

// OneItem makes object[] of one item.
func OneItem(item any) *Array {
	a := &struct {
		Array
		room [1]any
	}{room: [1]any{item}}
	a.Items = a.room[:]
	return &a.Array
}

// StringArray makes string[].
func StringArray(items []string) *Array {
	a := &Array{Elem: TString, Items: make([]any, len(items))}
	for i, s := range items {
		a.Items[i] = s
	}
	return a
}

// ElemType is the element type, object when none is set.
func (a *Array) ElemType() *Type {
	if a.Elem == nil {
		return TObject
	}
	return a.Elem
}

// NewList makes List<object>; the slice is kept.
func NewList(items ...any) *List { return &List{Type: TListObject, Items: items} }

// NewCollection makes the Collection<PSObject> that Where, ForEach and
// ScriptBlock.Invoke give; the slice is kept.
func NewCollection(items ...any) *List {
	return &List{Type: closed("System.Collections.ObjectModel.Collection", TPSObject), Items: items}
}

// IsGenericList tells whether a value is a List<T>, which has a method ForEach
// of its own.
func IsGenericList(v any) bool {
	l, ok := v.(*List)
	return ok && strings.HasPrefix(l.Type.Name, "System.Collections.Generic.List`")
}

// NewPSObject makes a PSCustomObject from pairs of name and value.
func NewPSObject(pairs ...any) *PSObject {
	o := &PSObject{}
	setPairs(&o.Props, pairs)
	return o
}

// NewInstance makes an object of a module type from pairs of name and value.
func NewInstance(t *Type, pairs ...any) *Instance {
	o := &Instance{Type: t}
	setPairs(&o.Props, pairs)
	return o
}

func setPairs(p *Props, pairs []any) {
	p.Grow(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		p.Set(name, pairs[i+1])
	}
}

// EnumOf makes an enum value by name; it panics when there is none.
func EnumOf(t *Type, name string) Enum {
	v, ok := t.valueOf(name)
	if !ok {
		panic("dotnet: " + t.Name + " has no value " + name)
	}
	return Enum{t, v}
}

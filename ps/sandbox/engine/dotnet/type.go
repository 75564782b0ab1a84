package dotnet

import (
	"strings"
	"sync"
)

// Kind classifies types.
type Kind uint8

// The kinds of types.
const (
	KindClass Kind = iota
	KindStruct
	KindEnum
	KindInterface
	KindArray
	KindNullable
)

// Func is the body of a method or constructor. The arguments have been converted to the types of the
// signature; an argument for a "params T[]" is an *Array or *Bytes. Func may keep the arguments, but
// not the slice. self is nil for statics. An error is an *Exception (a .NET exception, which the
// caller wraps), an *ErrorRecord or a *LimitError. A method without result returns Void.
type Func func(self any, args []any) (any, error)

// Member is one row of a type: a property (Get, perhaps Set) or one overload of a method
// (Call). Sig lists the parameter types as text, separated by commas: "string,int", "params
// char[]"; "T", "K" and "V" are the type arguments of a generic type. Rows with the same
// name are overloads; the first one that accepts the arguments is called.
type Member struct {
	Name string
	Sig  string
	Get  func(self any) (any, error)
	Set  func(self, value any) error
	Call Func
	// Type is the property's type, to which Set's value is converted. Nil means object.
	Type *Type

	unsupported bool // known, but its use is refused

	params   []*Type // of Sig
	variadic bool    // the only parameter is a "params T[]"
}

// Property is a row for a read-only property.
func Property(name string, get func(self any) (any, error)) Member {
	return Member{Name: name, Get: get}
}

// Constant is a row for a property or static field with a fixed value.
func Constant(name string, value any) Member {
	return Member{Name: name, Get: func(any) (any, error) { return value, nil }}
}

// unsupportedProperty returns a row for a .NET property that would otherwise appear not to exist.
func unsupportedProperty(name string) Member {
	return Member{Name: name, unsupported: true,
		Get: func(self any) (any, error) { return nil, refuseMember(TypeOf(self), name) }}
}

// unsupportedMethods returns rows for .NET methods that would otherwise be looked up in the
// items of a collection.
func unsupportedMethods(names ...string) []Member {
	rows := make([]Member, len(names))
	for i, name := range names {
		rows[i] = Member{Name: name, unsupported: true,
			Call: func(self any, _ []any) (any, error) { return nil, refuseMember(TypeOf(self), name) }}
	}
	return rows
}

// Method is a row for one overload of a method.
func Method(name, sig string, call Func) Member {
	return Member{Name: name, Sig: sig, Call: call}
}

// methodOf is [Method] for a method of values that have the type T in Go.
func methodOf[T any](name, sig string, call func(self T, a []any) (any, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) { return call(self.(T), a) })
}

// Constructor is a row for one overload of a constructor.
func Constructor(sig string, call Func) Member {
	return Member{Name: "new", Sig: sig, Call: call}
}

// EnumValue is one name of an enumeration.
type EnumValue struct {
	Name  string
	Value int64
}

// Class declares a type.
type Class struct {
	Name       string   // full name
	Aliases    []string // accelerators: "int"
	Base       *Type    // nil for System.Object (System.ValueType, System.Enum)
	Implements []string // full names of interfaces that the base lacks
	Kind       Kind
	Under      *Type // underlying type of an enumeration, nil: Int32
	Values     []EnumValue
	New        []Member // constructors: Sig and Call
	Static     []Member
	Members    []Member
}

// Names returns the values of an enumeration, numbered from first.
func Names(first int64, names ...string) []EnumValue {
	out := make([]EnumValue, len(names))
	for i, name := range names {
		out[i] = EnumValue{name, first + int64(i)}
	}
	return out
}

// Type is a .NET type. Types are compared by identity and are safe for
// concurrent use.
type Type struct {
	Name   string // full name: "System.Int32"
	Base   *Type  // nil for System.Object and interfaces
	Kind   Kind
	Elem   *Type       // element type of an array, value type of a Nullable
	Args   []*Type     // arguments of a closed generic type
	Under  *Type       // underlying type of an enumeration
	Values []EnumValue // of an enumeration

	registered  bool // Lookup finds it
	accelerator string
	implements  []string
	class       *Class
	prepare     sync.Once
	instance    memberTable
	static      memberTable
	constructor *slot

	arrayOnce sync.Once
	array     *Type
}

// slot contains the members of a type with the same name.
type slot struct {
	name     string
	owner    *Type
	property *Member
	methods  []*Member
}

type memberTable struct {
	byName table[*slot]
	order  []*slot
}

func (m *memberTable) find(n *Name) *slot {
	i := m.byName.find(n.hash, func(s *slot) bool { return n.Is(s.name) })
	if i < 0 {
		return nil
	}
	return m.byName.entries[i].key
}

func (m *memberTable) add(owner *Type, row *Member) {
	name := MakeName(row.Name)
	s := m.find(&name)
	if s == nil {
		s = &slot{name: row.Name, owner: owner}
		m.byName.add(s, name.hash, nil)
		m.order = append(m.order, s)
	}
	if row.Get != nil || row.Set != nil {
		s.property = row
	} else {
		s.methods = append(s.methods, row)
	}
}

// find looks up a name in the type and its bases. A row of a derived type hides those of its base.
func (t *Type) find(n *Name) *slot {
	for ; t != nil; t = t.Base {
		t.ready()
		if s := t.instance.find(n); s != nil {
			return s
		}
	}
	return nil
}

// findStatic is find for static members.
func (t *Type) findStatic(n *Name) *slot {
	for ; t != nil; t = t.Base {
		t.ready()
		if s := t.static.find(n); s != nil {
			return s
		}
	}
	return nil
}

// ready converts the declaration to tables, once.
func (t *Type) ready() { t.prepare.Do(t.build) }

func (t *Type) build() {
	if t.class == nil {
		return
	}
	fill := func(m *memberTable, rows []Member) {
		for i := range rows {
			row := rows[i]
			t.parseSig(&row)
			m.add(t, &row)
		}
	}
	fill(&t.instance, t.class.Members)
	fill(&t.static, t.class.Static)
	if len(t.class.New) > 0 {
		t.constructor = &slot{name: "new", owner: t}
		for i := range t.class.New {
			row := t.class.New[i]
			t.parseSig(&row)
			t.constructor.methods = append(t.constructor.methods, &row)
		}
	}
}

// parseSig parses the parameter types. An unknown type is a mistake in a table and panics; a
// test builds every registered type.
func (t *Type) parseSig(row *Member) {
	if row.Call == nil || row.Sig == "" {
		return
	}
	for _, part := range splitTop(row.Sig) {
		part, row.variadic = strings.CutPrefix(strings.TrimSpace(part), "params ")
		p := t.sigType(part)
		if p == nil {
			panic("dotnet: " + t.Name + "." + row.Name + ": unknown type " + part)
		}
		row.params = append(row.params, p)
	}
}

func (t *Type) sigType(name string) *Type {
	base, isArray := strings.CutSuffix(name, "[]")
	index := -1
	switch base {
	case "T", "K":
		index = 0
	case "V":
		index = 1
	}
	if index < 0 || index >= len(t.Args) {
		return Lookup(name)
	}
	if isArray {
		return t.Args[index].Array()
	}
	return t.Args[index]
}

// splitTop splits at commas outside brackets.
func splitTop(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

// Array returns the type T[] of an element type.
func (t *Type) Array() *Type {
	t.arrayOnce.Do(func() {
		t.array = &Type{Name: t.Name + "[]", Base: TArray, Kind: KindArray, Elem: t}
	})
	return t.array
}

// ShortName returns the name without namespace: "Int32", "Object[]", "List`1".
func (t *Type) ShortName() string {
	if t.Kind == KindArray {
		return t.Elem.ShortName() + "[]"
	}
	name := t.Name
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	return name[strings.LastIndexByte(name, '+')+1:]
}

// Display returns the name in the form that PowerShell writes: "int", "string[]";
// "System.Guid" becomes "guid", and "List[object]" its full name.
func (t *Type) Display() string {
	switch {
	case t.accelerator != "" && t != TObject:
		return t.accelerator
	case t.Kind == KindArray:
		return t.Elem.Display() + "[]"
	default:
		return t.text((*Type).Display)
	}
}

// Text implements ToString() of the type: the full name, with generics in brackets.
func (t *Type) Text() string {
	if t.Kind == KindArray {
		return t.Elem.Text() + "[]"
	}
	return t.text((*Type).Text)
}

// text returns the full name with the names of its type arguments.
func (t *Type) text(argument func(*Type) string) string {
	switch {
	case len(t.Args) > 0:
		name, _, _ := strings.Cut(t.Name, "`")
		parts := make([]string, len(t.Args))
		for i, a := range t.Args {
			parts[i] = argument(a)
		}
		return name + "[" + strings.Join(parts, ",") + "]"
	default:
		return t.Name
	}
}

// FullName implements Type.FullName, in which arguments of generics include their assembly.
func (t *Type) FullName() string {
	switch {
	case t.Kind == KindArray:
		return t.Elem.FullName() + "[]"
	case len(t.Args) > 0:
		name, _, _ := strings.Cut(t.Name, "[")
		parts := make([]string, len(t.Args))
		for i, a := range t.Args {
			parts[i] = "[" + a.FullName() +
				", System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e]"
		}
		return name + "[" + strings.Join(parts, ",") + "]"
	default:
		return t.Name
	}
}

// IsValue reports whether the type is a struct or an enumeration.
func (t *Type) IsValue() bool {
	return t.Kind == KindStruct || t.Kind == KindEnum || t.Kind == KindNullable
}

// AssignableTo reports whether a value of type t is also of type base: the type itself, one
// of its bases, or one of their interfaces.
func (t *Type) AssignableTo(base *Type) bool {
	if t == nil || base == nil {
		return false
	}
	if t == base || base == TObject || base == TPSObject && t == TPSCustomObject {
		return true
	}
	if base.Kind == KindNullable {
		return t == base.Elem
	}
	if t.Kind == KindArray && base.Kind == KindArray && !t.Elem.IsValue() && t.Elem.AssignableTo(base.Elem) {
		return true
	}
	for u := t; u != nil; u = u.Base {
		if u == base {
			return true
		}
		if base.Kind == KindInterface && u.hasInterface(base) {
			return true
		}
	}
	return false
}

func (t *Type) hasInterface(i *Type) bool {
	for _, name := range t.implements {
		if name == i.Name {
			return true
		}
		if j := Lookup(name); j != nil && j != t && j.hasInterface(i) {
			return true
		}
	}
	return false
}

// valueOf finds an enumeration's value by name, ignoring case.
func (t *Type) valueOf(name string) (int64, bool) {
	for _, v := range t.Values {
		if EqualFold(v.Name, name) {
			return v.Value, true
		}
	}
	return 0, false
}

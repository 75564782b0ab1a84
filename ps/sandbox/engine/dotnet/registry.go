package dotnet

import (
	"strings"
	"sync"
)

// registry finds types by folded name. Types are registered during initialization; arrays
// and closed generics are added when they are first named.
var registry = struct {
	sync.RWMutex
	byName  map[string]*Type
	generic map[string]*generic // by folded full name without arity
	closed  map[closedName]*Type
	all     []*Type
}{byName: map[string]*Type{}, generic: map[string]*generic{}, closed: map[closedName]*Type{}}

// closedName identifies a closed generic type in Go code.
type closedName struct {
	name string
	args [2]*Type // no generic type has more
}

// generic is an open generic type. make returns its declaration for given arguments.
type generic struct {
	name  string // "System.Collections.Generic.List"
	arity int
	make  func(args []*Type) Class
}

// Define returns a type that Lookup does not find, such as a host's own [Console].
func Define(c Class) *Type {
	t := &Type{
		Name: c.Name, Base: c.Base, Kind: c.Kind, Under: c.Under,
		Values: c.Values, implements: c.Implements, class: &c,
	}
	if len(c.Aliases) > 0 {
		t.accelerator = c.Aliases[0]
	}
	switch {
	case t.Base != nil || t.Kind == KindInterface || c.Name == "System.Object":
	case t.Kind == KindEnum:
		t.Base = TEnum
	case t.Kind == KindStruct:
		t.Base = TValueType
	default:
		t.Base = TObject
	}
	if t.Kind == KindEnum && t.Under == nil {
		t.Under = TInt32
	}
	return t
}

// Register defines a type that Lookup finds by its name and aliases. It panics if a name is
// already in use, and is called only during initialization.
func Register(c Class) *Type {
	t := Define(c)
	t.registered = true
	registry.Lock()
	defer registry.Unlock()
	for _, name := range append([]string{c.Name}, c.Aliases...) {
		key := ToLower(name)
		if registry.byName[key] != nil {
			panic("dotnet: type registered twice: " + name)
		}
		registry.byName[key] = t
	}
	registry.all = append(registry.all, t)
	return t
}

func registerGeneric(name string, arity int, declare func(args []*Type) Class) {
	registry.generic[ToLower(name)] = &generic{name: name, arity: arity, make: declare}
}

// Lookup finds a type by its PowerShell name: an accelerator, a full name, a name below System,
// an array "T[]", or a generic "List[T]" by its full name. It returns nil if there is none.
func Lookup(name string) *Type {
	name = strings.TrimSpace(name)
	if t := lookupPlain(name); t != nil {
		return t
	}
	if inner, ok := strings.CutSuffix(name, "[]"); ok {
		if t := Lookup(inner); t != nil {
			return t.Array()
		}
		return nil
	}
	if open := strings.IndexByte(name, '['); open > 0 && strings.HasSuffix(name, "]") {
		return lookupGeneric(name[:open], name[open+1:len(name)-1])
	}
	return nil
}

func lookupPlain(name string) *Type {
	registry.RLock()
	defer registry.RUnlock()
	if t, ok := Folded(registry.byName, name); ok {
		return t
	}
	return registry.byName["system."+ToLower(name)]
}

func lookupGeneric(name, arguments string) *Type {
	name, _, _ = strings.Cut(name, "`")
	key := ToLower(strings.TrimSpace(name))
	g := registry.generic[key]
	if g == nil {
		g = registry.generic["system."+key]
	}
	if g == nil {
		return nil
	}
	var args []*Type
	for _, part := range splitTop(arguments) {
		part = strings.TrimSpace(part)
		if inner, ok := strings.CutPrefix(part, "["); ok {
			part, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), ",")
		}
		arg := Lookup(part)
		if arg == nil {
			return nil
		}
		args = append(args, arg)
	}
	if len(args) != g.arity {
		return nil
	}
	return closeGeneric(g, args)
}

// closed returns a closed generic type for Go code: closed("System.Nullable", TInt32).
func closed(name string, args ...*Type) *Type {
	key := closedName{name: name}
	copy(key.args[:], args)
	registry.RLock()
	t := registry.closed[key]
	registry.RUnlock()
	if t == nil {
		t = closeGeneric(registry.generic[ToLower(name)], args)
		registry.Lock()
		registry.closed[key] = t
		registry.Unlock()
	}
	return t
}

func closeGeneric(g *generic, args []*Type) *Type {
	var full strings.Builder
	full.WriteString(g.name)
	full.WriteByte('`')
	full.WriteByte('0' + byte(g.arity))
	full.WriteByte('[')
	for i, a := range args {
		if i > 0 {
			full.WriteByte(',')
		}
		full.WriteString(a.Name)
	}
	full.WriteByte(']')
	key := ToLower(full.String())
	registry.RLock()
	t := registry.byName[key]
	registry.RUnlock()
	if t != nil {
		return t
	}
	c := g.make(args)
	c.Name = full.String()
	t = Define(c)
	t.registered, t.Args = true, args
	if t.Kind == KindNullable {
		t.Elem = args[0]
	}
	registry.Lock()
	defer registry.Unlock()
	if known := registry.byName[key]; known != nil {
		return known
	}
	registry.byName[key] = t
	return t
}

package proxytest

import (
	"fmt"
	"strings"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

const (
	kitName   = "AdGateway.Sandbox"
	rootClass = "Microsoft.ActiveDirectory.Management.ADEntity"
)

// identity is the Data of an object that was created from a text.
type identity string

// number is the Data of an object that the sandbox knows.
type number int64

// kitModule returns a module with the types of sandbox.cs and of the modules.
func kitModule(l *link) *engine.Module {
	k := &kit{types: map[string]*dotnet.Type{}}
	for _, m := range sandbox.Declarations() {
		for _, t := range m.Types {
			k.types[t.Name] = k.typeOf(t)
		}
	}
	m := &engine.Module{Name: kitName, Types: []*dotnet.Type{k.kitType(), linkType(l), entryClass(k, l)}}
	for _, t := range k.types {
		m.Types = append(m.Types, t)
	}
	return m
}

type kit struct {
	types map[string]*dotnet.Type // by name
}

// typeOf returns a type of the modules. A type for directory objects is replaced by a type to which texts
// convert, as they convert to the types in C#.
func (k *kit) typeOf(t *dotnet.Type) *dotnet.Type {
	if made := k.types[t.Name]; made != nil {
		return made
	}
	base := t
	for base != nil && base.Name != rootClass {
		base = base.Base
	}
	if base == nil {
		return t
	}
	c := dotnet.Class{Name: t.Name}
	if t.Name != rootClass {
		c.Base = k.typeOf(t.Base)
	}
	var made *dotnet.Type
	ofIdentity := func(_ any, args []any) (any, error) {
		text := dotnet.ToText(args[0])
		return &dotnet.Instance{Type: made, Text: text, Data: identity(text)}, nil
	}
	c.New = []dotnet.Member{dotnet.Constructor("string", ofIdentity), dotnet.Constructor("guid", ofIdentity)}
	made = dotnet.Define(c)
	k.types[t.Name] = made
	return made
}

func (k *kit) find(name string) *dotnet.Type {
	if t := k.types[name]; t != nil {
		return t
	}
	return dotnet.Lookup(name)
}

func linkType(l *link) *dotnet.Type {
	return dotnet.Define(dotnet.Class{Name: kitName + ".Link", Static: []dotnet.Member{
		dotnet.Method("Open", "", func(any, []any) (any, error) {
			_, err := l.open()
			return dotnet.Void, err
		}),
		dotnet.Method("Send", "string", func(_ any, args []any) (any, error) {
			conn, err := l.open()
			if err == nil {
				err = send(conn, dotnet.ToText(args[0]))
			}
			return dotnet.Void, err
		}),
		dotnet.Method("Receive", "", func(any, []any) (any, error) {
			conn, err := l.open()
			if err != nil {
				return nil, err
			}
			return receive(conn)
		}),
		// the server releases them with the connection
		dotnet.Method("Released", "", func(any, []any) (any, error) { return "", nil }),
	}})
}

func entryClass(k *kit, l *link) *dotnet.Type {
	return dotnet.Define(dotnet.Class{Name: kitName + ".DirectoryEntry", New: []dotnet.Member{
		dotnet.Constructor("string", func(_ any, args []any) (any, error) {
			const name = "System.DirectoryServices.DirectoryEntry"
			return (&object{kit: k, link: l}).call(call{F: "new", Type: name}, args)
		}),
	}})
}

func (k *kit) kitType() *dotnet.Type {
	ofEntity := func(name string, get func(*dotnet.Instance) any) dotnet.Member {
		return dotnet.Method(name, "object", func(_ any, args []any) (any, error) {
			o, ok := args[0].(*dotnet.Instance)
			if !ok {
				return nil, fmt.Errorf("%s of %T", name, args[0])
			}
			return get(o), nil
		})
	}
	return dotnet.Define(dotnet.Class{Name: kitName + ".Kit", Static: []dotnet.Member{
		dotnet.Method("Make", "string,string,long,object[]", func(_ any, args []any) (any, error) { return k.make(args) }),
		dotnet.Method("IsEntity", "object", func(_ any, args []any) (any, error) {
			o, ok := args[0].(*dotnet.Instance)
			if !ok {
				return false, nil
			}
			switch o.Data.(type) {
			case identity, number:
				return true, nil
			}
			return false, nil
		}),
		ofEntity("IdOf", func(o *dotnet.Instance) any { id, _ := o.Data.(number); return int64(id) }),
		ofEntity("TextOf", func(o *dotnet.Instance) any { return o.Text }),
		ofEntity("TypeOf", func(o *dotnet.Instance) any { return o.Type.Name }),
		ofEntity("GivenOf", func(o *dotnet.Instance) any {
			if given, ok := o.Data.(identity); ok {
				return string(given)
			}
			return nil
		}),
		dotnet.Method("Parsed", "string,string", func(_ any, args []any) (any, error) {
			t := k.find(dotnet.ToText(args[0]))
			if t == dotnet.TIPAddress {
				return dotnet.Convert(args[1], t)
			}
			if t != nil {
				return dotnet.New(t, args[1:])
			}
			return args[1], nil
		}),
		dotnet.Method("Enumeration", "string,long", func(_ any, args []any) (any, error) {
			t := k.find(dotnet.ToText(args[0]))
			if t == nil || t.Kind != dotnet.KindEnum {
				return args[1], nil
			}
			return dotnet.Enum{Type: t, Value: args[1].(int64)}, nil
		}),
		dotnet.Method("Collection", "string,object[]", func(_ any, args []any) (any, error) {
			items := dotnet.EnumerateAny(args[1])
			if element, ok := strings.CutSuffix(dotnet.ToText(args[0]), "[]"); ok {
				return &dotnet.Array{Elem: k.find(element), Items: items}, nil
			}
			if t := k.types[dotnet.ToText(args[0])]; t != nil {
				return &dotnet.List{Type: t, Items: items}, nil
			}
			return dotnet.NewArray(items...), nil
		}),
		dotnet.Method("Reveal", "securestring", func(_ any, args []any) (any, error) {
			return args[0].(*dotnet.SecureString).Reveal(), nil
		}),
		dotnet.Method("Failure", "string,string,int,object,object[]", func(_ any, args []any) (any, error) { return k.failure(args), nil }),
	}})
}

func (k *kit) make(args []any) (any, error) {
	t := k.types[dotnet.ToText(args[0])]
	if t == nil {
		t = dotnet.Define(dotnet.Class{Name: dotnet.ToText(args[0])})
	}
	o := &dotnet.Instance{Type: t, Text: dotnet.ToText(args[1]), Data: number(args[2].(int64))}
	pairs := dotnet.EnumerateAny(args[3])
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Props.Set(dotnet.ToText(pairs[i]), pairs[i+1])
	}
	return o, nil
}

func (k *kit) failure(args []any) any {
	t := k.find(dotnet.ToText(args[0]))
	if t == nil || !t.AssignableTo(dotnet.TException) {
		t = dotnet.Define(dotnet.Class{Name: dotnet.ToText(args[0]), Base: dotnet.TException})
	}
	e := &dotnet.Exception{Type: t, Message: dotnet.ToText(args[1]), HResult: args[2].(int32)}
	e.Inner, _ = args[3].(*dotnet.Exception)
	pairs := dotnet.EnumerateAny(args[4])
	for i := 0; i+1 < len(pairs); i += 2 {
		e.Props.Set(dotnet.ToText(pairs[i]), pairs[i+1])
	}
	return e
}
